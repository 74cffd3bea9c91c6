// Copies into a stage of shared memory by cp.async, one group for each; a tile is taken when at most the
// given number of later groups is in flight.
// RUN: tilewright opt --pass convert-tileas-to-nvgpu %s | filecheck %s
#row = #nv_tileas.layout<[128], register = [[1], [2]], lane = [[4], [8], [16], [32], [64]], warp = []>
!f32 = !nv_tileaa.ptr<f32>
!memory = !nv_tileaa.memref<1024xf32, strides = [1]>
!tiles = !nv_tileaa.tiled_view<tile = [128], source = !memory>
!buffer = !nv_tileas.buffer<shared, 2, 128xf32>
gpu.module @kernels attributes {nv_tileaa.target_spec = #nv_tileaa.target_spec<compute_capability = 80>} {
  // CHECK-LABEL: @staged
  // CHECK: nvvm.cp.async.shared.global {{.*}}, 16, cache = cg
  // CHECK-NOT: nvvm.cp.async.shared.global
  // CHECK: nvvm.cp.async.commit.group
  // CHECK: nvvm.cp.async.wait.group 1
  // CHECK: llvm.load {{.*}} !llvm.ptr<3>
  nv_tileaa.func @staged(%x: !f32, %i: i32, %s: i32, %c: i1) attributes {kernel_spec = #nv_tileaa.kernel_spec<num_warps = 1>} {
    %m = nv_tileaa.make_memref %x : !f32 -> !memory
    %v = nv_tileaa.block_tile %m : !tiles
    %b = nv_tileas.alloc_tensor : !buffer
    nv_tileas.stage_load %v[%i], %b[%s] if %c {tile = tensor<128xf32, #row>, vector = 4 : i32} : i32 of !tiles, !buffer
    %a = nv_tileas.take_staged %b[%s] {pending = 1 : i32, vector = 4 : i32} : !buffer -> tensor<128xf32, #row>
    nv_tileaa.return
  }
}
