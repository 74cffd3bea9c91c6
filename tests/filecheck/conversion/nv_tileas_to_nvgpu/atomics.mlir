// RUN: tilewright opt --pass convert-tileas-to-nvgpu %s | filecheck %s
#line = #nv_tileas.layout<[32], register = [], lane = [[1], [2], [4], [8], [16]], warp = []>
#copies = #nv_tileas.layout<[32], register = [], lane = [[1], [2], [4], [8], [16]], warp = [[0]]>
!f32 = !nv_tileaa.ptr<f32>
#pairs = #nv_tileas.layout<[64], register = [[32]], lane = [[1], [2], [4], [8], [16]], warp = []>
!p = tensor<32x!f32, #line>
!pp = tensor<64x!f32, #pairs>
!vv = tensor<64xf32, #pairs>
!v = tensor<32xf32, #line>
!memory = !nv_tileaa.memref<32xf32, strides = [1]>
!tiles = !nv_tileaa.tiled_view<tile = [32], source = !memory>
gpu.module @kernels attributes {nv_tileaa.target_spec = #nv_tileaa.target_spec<compute_capability = 90>} {
  // The scope gpu is LLVM's "device"; relaxed is monotonic. Where the mask is false nothing happens.
  // CHECK-LABEL: @rmw
  // CHECK: scf.if
  // CHECK: llvm.atomicrmw fadd {{.*}} syncscope("device") monotonic : !llvm.ptr<1>, f32
  // CHECK-NOT: llvm.atomicrmw
  nv_tileaa.func @rmw(%p: !p, %v: !v, %m: tensor<32xi1, #line>) attributes {kernel_spec = #nv_tileaa.kernel_spec<num_warps = 1>} {
    %o, %t = nv_tileas.atomic_rmw relaxed gpu addf %p, %v mask = %m : !p, !v
    nv_tileaa.return
  }
  // Two warps hold the same element: one of them adds it.
  // CHECK-LABEL: @rmw_of_copies
  // CHECK: arith.cmpi
  // CHECK: scf.if
  // CHECK: llvm.atomicrmw fadd
  // CHECK-NOT: llvm.atomicrmw
  nv_tileaa.func @rmw_of_copies(%p: tensor<32x!f32, #copies>, %v: tensor<32xf32, #copies>) attributes {kernel_spec = #nv_tileaa.kernel_spec<num_warps = 2>} {
    %o, %t = nv_tileas.atomic_rmw relaxed gpu addf %p, %v : tensor<32x!f32, #copies>, tensor<32xf32, #copies>
    nv_tileaa.return
  }
  // A thread that updates several elements waits once, at fences.
  // CHECK-LABEL: @rmw_of_several
  // CHECK: llvm.fence syncscope("device") release
  // CHECK: llvm.atomicrmw fadd {{.*}} syncscope("device") monotonic
  // CHECK-NOT: llvm.fence
  // CHECK: llvm.atomicrmw fadd {{.*}} syncscope("device") monotonic
  // CHECK: llvm.fence syncscope("device") acquire
  nv_tileaa.func @rmw_of_several(%p: !pp, %v: !vv) attributes {kernel_spec = #nv_tileaa.kernel_spec<num_warps = 1>} {
    %o, %t = nv_tileas.atomic_rmw acq_rel gpu addf %p, %v : !pp, !vv
    nv_tileaa.return
  }
  // An acquire needs no fence before it, a release none after it.
  // CHECK-LABEL: @cas_of_several
  // CHECK-NOT: llvm.fence
  // CHECK: llvm.cmpxchg {{.*}} syncscope("block") monotonic monotonic
  // CHECK-NOT: llvm.fence
  // CHECK: llvm.cmpxchg {{.*}} syncscope("block") monotonic monotonic
  // CHECK: llvm.fence syncscope("block") acquire
  // CHECK: llvm.fence release
  // CHECK: llvm.cmpxchg {{.*}} monotonic monotonic
  // CHECK-NOT: llvm.fence
  nv_tileaa.func @cas_of_several(%p: !pp, %v: !vv) attributes {kernel_spec = #nv_tileaa.kernel_spec<num_warps = 1>} {
    %o, %t = nv_tileas.atomic_cas acquire tl_blk %p, %v, %v : !pp, !vv
    %o2, %t2 = nv_tileas.atomic_cas release sys %p, %v, %v : !pp, !vv
    nv_tileaa.return
  }
  // Floats are compared as bit patterns; a failed exchange does not release.
  // CHECK-LABEL: @cas
  // CHECK: llvm.cmpxchg {{.*}} syncscope("device") acq_rel acquire : !llvm.ptr<1>, i32
  nv_tileaa.func @cas(%p: !p, %v: !v) attributes {kernel_spec = #nv_tileaa.kernel_spec<num_warps = 1>} {
    %o, %t = nv_tileas.atomic_cas acq_rel gpu %p, %v, %v : !p, !v
    nv_tileaa.return
  }
  // CHECK-LABEL: @view
  // CHECK: llvm.atomicrmw fadd {{.*}} : !llvm.ptr<1>, f32
  nv_tileaa.func @view(%x: !f32, %v: !v, %i: i32) attributes {kernel_spec = #nv_tileaa.kernel_spec<num_warps = 1>} {
    %m = nv_tileaa.make_memref %x : !f32 -> !memory
    %b = nv_tileaa.block_tile %m : !tiles
    %t = nv_tileas.tiled_atomic_rmw relaxed gpu addf %v, %b[%i] : !v, i32 of !tiles
    nv_tileaa.return
  }
}
