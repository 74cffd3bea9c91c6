// A histogram in shared memory: clear, barrier, one atomic increment per element in range, barrier, read.
// RUN: tilewright opt --pass convert-tileas-to-nvgpu %s | filecheck %s
#line = #nv_tileas.layout<[32], register = [], lane = [[1], [2], [4], [8], [16]], warp = []>
gpu.module @kernels attributes {nv_tileaa.target_spec = #nv_tileaa.target_spec<compute_capability = 90>} {
  // CHECK-LABEL: @histogram
  // CHECK: arith.cmpi ult, %arg0
  // CHECK: llvm.store {{.*}} !llvm.ptr<3>
  // CHECK-NEXT: gpu.barrier
  // CHECK: scf.if
  // CHECK: llvm.atomicrmw add {{.*}} syncscope("block") monotonic : !llvm.ptr<3>, i32
  // CHECK: gpu.barrier
  // CHECK-NEXT: llvm.load {{.*}} !llvm.ptr<3>
  nv_tileaa.func @histogram(%a: tensor<32xi32, #line>) attributes {kernel_spec = #nv_tileaa.kernel_spec<num_warps = 1>, nv_tileas.scratch_bytes = 128 : i64} {
    %h = nv_tileas.histogram %a {scratch = 0 : i64} : tensor<32xi32, #line> -> tensor<32xi32, #line>
    nv_tileaa.return
  }
}
