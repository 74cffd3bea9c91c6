// FMA dots of short K: threads have whole columns of the result and of B, and read A from shared memory.
// RUN: tilewright opt --pass convert-tileaa-to-tileas %s | filecheck %s
!tiles = !nv_tileaa.tiled_view<tile = [16, 512], source = !nv_tileaa.memref<16x512xf32, strides = [512, 1]>>
!small = !nv_tileaa.tiled_view<tile = [16, 16], source = !nv_tileaa.memref<16x16xf32, strides = [16, 1]>>
!out = !nv_tileaa.tiled_view<tile = [16, 256], source = !nv_tileaa.memref<16x256xf32, strides = [256, 1]>>
!batch = !nv_tileaa.tiled_view<tile = [1, 64, 64], source = !nv_tileaa.memref<1x64x64xf32, strides = [4096, 64, 1]>>
gpu.module @kernels attributes {nv_tileaa.target_spec = #nv_tileaa.target_spec<compute_capability = 90>} {
  // The load has the layout of the slice: pairs of registers, then lanes. A pair of columns of a thread is stored at once.
  // CHECK: #[[LINES:layout[0-9]*]] = #nv_tileas.layout<[16, 256], register = {{\[}}[0, 1], [1, 0], [2, 0], [4, 0], [8, 0]], lane = {{\[}}[0, 2], [0, 4], [0, 8], [0, 16], [0, 32]], warp = {{\[}}[0, 64], [0, 128]]>
  // CHECK: #[[MATRIX:layout[0-9]*]] = #nv_tileas.layout<[16, 16], offset =
  // CHECK-LABEL: @columns
  // CHECK: nv_tileas.tiled_load {{.*}}vector = 2 : i32{{.*}} -> tensor<16x512xf32
  // CHECK-NOT: convert_layout
  // CHECK: %[[B:.*]] = nv_tileas.extract_slice {{.*}} -> tensor<16x256xf32, #[[LINES]]>
  // CHECK: %[[A:.*]] = nv_tileas.convert_layout {{.*}} -> tensor<16x16xf32, #[[MATRIX]]>
  // CHECK: %[[D:.*]] = nv_tileas.dot %[[A]], %[[B]], {{.*}}atom = #nv_tileas.atom<fma>{{.*}}, tensor<16x256xf32, #[[LINES]]>
  // CHECK-NOT: convert_layout
  // CHECK: nv_tileas.tiled_store weak %[[D]], {{.*}}vector = 2 : i32
  nv_tileaa.func @columns(%p: !nv_tileaa.ptr<f32>, %w: !small, %q: !nv_tileaa.ptr<f32>) attributes {kernel_spec = #nv_tileaa.kernel_spec<num_warps = 4>} {
    %zero = arith.constant 0 : i32
    %none = arith.constant 0.0 : f32
    %p16 = nv_tileaa.assume #nv_tileaa.div_by<16>, %p : !nv_tileaa.ptr<f32>
    %q16 = nv_tileaa.assume #nv_tileaa.div_by<16>, %q : !nv_tileaa.ptr<f32>
    %source = nv_tileaa.make_memref %p16 : !nv_tileaa.ptr<f32> -> !nv_tileaa.memref<16x512xf32, strides = [512, 1]>
    %target = nv_tileaa.make_memref %q16 : !nv_tileaa.ptr<f32> -> !nv_tileaa.memref<16x256xf32, strides = [256, 1]>
    %x = nv_tileaa.block_tile %source : !tiles
    %y = nv_tileaa.block_tile %target : !out
    %token = nv_tileaa.create_mem_token : !nv_tileaa.mem_token
    %pair, %t0 = nv_tileaa.tiled_load weak %x[%zero, %zero] token = %token : i32, i32 of !tiles -> tensor<16x512xf32>
    %b = nv_tileaa.extract_slice %pair[%zero, %zero] : tensor<16x512xf32> -> tensor<16x256xf32>
    %a, %t1 = nv_tileaa.tiled_load weak %w[%zero, %zero] token = %token : i32, i32 of !small -> tensor<16x16xf32>
    %c = nv_tileaa.splat %none : f32 -> tensor<16x256xf32>
    %d = nv_tileaa.dot %a, %b, %c {input_precision = "ieee"} : tensor<16x16xf32>, tensor<16x256xf32>, tensor<16x256xf32>
    %t2 = nv_tileaa.tiled_store weak %d, %y[%zero, %zero] token = %token : tensor<16x256xf32>, i32, i32 of !out
    nv_tileaa.return
  }
  // The one matrix of a batch is not broadcast; blocks of the result take it, too.
  // CHECK-LABEL: @batches
  // CHECK: nv_tileas.dot {{.*}} : tensor<1x64x64xf32, {{.*}}>, tensor<2x64x64xf32
  nv_tileaa.func @batches(%w: !batch, %x: f32) attributes {kernel_spec = #nv_tileaa.kernel_spec<num_warps = 4>} {
    %zero = arith.constant 0 : i32
    %token = nv_tileaa.create_mem_token : !nv_tileaa.mem_token
    %a, %t0 = nv_tileaa.tiled_load weak %w[%zero, %zero, %zero] token = %token : i32, i32, i32 of !batch -> tensor<1x64x64xf32>
    %b = nv_tileaa.splat %x : f32 -> tensor<2x64x64xf32>
    %c = nv_tileaa.splat %x : f32 -> tensor<2x64x64xf32>
    %all = nv_tileaa.broadcast %a : tensor<1x64x64xf32> -> tensor<2x64x64xf32>
    %d = nv_tileaa.dot %all, %b, %c {input_precision = "ieee"} : tensor<2x64x64xf32>, tensor<2x64x64xf32>, tensor<2x64x64xf32>
    nv_tileaa.return
  }
}
