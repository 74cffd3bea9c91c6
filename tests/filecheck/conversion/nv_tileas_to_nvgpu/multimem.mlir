// Accesses of multimem addresses: threads that own elements access them if they are in bounds.
// RUN: tilewright opt --pass convert-tileas-to-nvgpu %s | filecheck %s
#layout = #nv_tileas.layout<[16], register = [], lane = [[1], [2], [4], [8], [0]], warp = [[0], [0]]>
!view = !nv_tileaa.tiled_view<tile = [16], source = !nv_tileaa.memref<100xf32, strides = [1]>, padding = zero>
gpu.module @kernels attributes {nv_tileaa.target_spec = #nv_tileaa.target_spec<compute_capability = 90>} {
  // Every thread loads, also those that only repeat an element; out of bounds the result is padding.
  // CHECK-LABEL: gpu.func @load_reduce
  // CHECK: [[INSIDE:%[a-z0-9]+]] = arith.cmpi ult
  // CHECK: nvvm.multimem.ld_reduce add {{.*}}, [[INSIDE]], {{.*}} {element = f32, order = #nvvm.access_order<relaxed>, scope = #nvvm.mem_scope<sys>} : !llvm.ptr<1> -> i32
  nv_tileaa.func @load_reduce(%p: !nv_tileaa.ptr<f32>, %i: i32) attributes {kernel_spec = #nv_tileaa.kernel_spec<num_warps = 4>} {
    %m = nv_tileaa.make_memref %p : !nv_tileaa.ptr<f32> -> !nv_tileaa.memref<100xf32, strides = [1]>
    %v = nv_tileaa.block_tile %m : !view
    %x, %t = nv_tileas.multimem_load_reduce relaxed sys addf %v[%i] : i32 of !view -> tensor<16xf32, #layout>
    nv_tileaa.return
  }
  // A store, and a reduction, is done by one of the threads that have the element.
  // CHECK-LABEL: gpu.func @store
  // CHECK: [[FIRST:%[a-z0-9]+]] = arith.cmpi eq
  // CHECK: [[INSIDE:%[a-z0-9]+]] = arith.cmpi ult
  // CHECK: [[OWNED:%[a-z0-9]+]] = arith.andi [[FIRST]], [[INSIDE]] : i1
  // CHECK: nvvm.multimem.st {{.*}}, [[OWNED]] : !llvm.ptr<1>, i32
  nv_tileaa.func @store(%p: !nv_tileaa.ptr<f32>, %i: i32, %x: f32) attributes {kernel_spec = #nv_tileaa.kernel_spec<num_warps = 4>} {
    %m = nv_tileaa.make_memref %p : !nv_tileaa.ptr<f32> -> !nv_tileaa.memref<100xf32, strides = [1]>
    %v = nv_tileaa.block_tile %m : !view
    %s = nv_tileas.splat %x : f32 -> tensor<16xf32, #layout>
    %t = nv_tileas.multimem_store weak %s, %v[%i] : tensor<16xf32, #layout>, i32 of !view
    nv_tileaa.return
  }
  // CHECK-LABEL: gpu.func @reduce
  // CHECK: [[FIRST:%[a-z0-9]+]] = arith.cmpi eq
  // CHECK: [[INSIDE:%[a-z0-9]+]] = arith.cmpi ult
  // CHECK: [[OWNED:%[a-z0-9]+]] = arith.andi [[FIRST]], [[INSIDE]] : i1
  // CHECK: nvvm.multimem.red add {{.*}}, [[OWNED]] {element = f32, order = #nvvm.access_order<relaxed>, scope = #nvvm.mem_scope<sys>} : !llvm.ptr<1>, i32
  nv_tileaa.func @reduce(%p: !nv_tileaa.ptr<f32>, %i: i32, %x: f32) attributes {kernel_spec = #nv_tileaa.kernel_spec<num_warps = 4>} {
    %m = nv_tileaa.make_memref %p : !nv_tileaa.ptr<f32> -> !nv_tileaa.memref<100xf32, strides = [1]>
    %v = nv_tileaa.block_tile %m : !view
    %s = nv_tileas.splat %x : f32 -> tensor<16xf32, #layout>
    %t = nv_tileas.multimem_reduce relaxed sys addf %s, %v[%i] : tensor<16xf32, #layout>, i32 of !view
    nv_tileaa.return
  }
}
