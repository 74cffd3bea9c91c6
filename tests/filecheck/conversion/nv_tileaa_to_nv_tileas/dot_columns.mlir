// Dots by mma.sync: where K of one lies along the columns of another, threads hold accumulators of one as B of the other.
// RUN: tilewright opt --pass convert-tileaa-to-tileas %s | filecheck %s
!x = !nv_tileaa.tiled_view<tile = [16, 256], source = !nv_tileaa.memref<16x256xf16, strides = [256, 1]>>
!w = !nv_tileaa.tiled_view<tile = [16, 16], source = !nv_tileaa.memref<16x16xf16, strides = [16, 1]>>
gpu.module @kernels attributes {nv_tileaa.target_spec = #nv_tileaa.target_spec<compute_capability = 90>} {
  // Columns of the first dot: those along K of the second, which are 16 apart; then warps, which have sectors of memory to themselves.
  // CHECK: #[[FIRST:layout[0-9]*]] = #nv_tileas.layout<[16, 256], register = {{\[}}[0, 16], [8, 0], [0, 1], [0, 2], [0, 128]], lane = {{\[}}[0, 32], [0, 64], [1, 0], [2, 0], [4, 0]], warp = {{\[}}[0, 8], [0, 4]]>
  // CHECK: #[[SECOND:layout[0-9]*]] = #nv_tileas.layout<[16, 256], register = {{\[}}[0, 1], [8, 0], [0, 8], [0, 16], [0, 32]], lane = {{\[}}[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = {{\[}}[0, 128], [0, 64]]>
  // CHECK-LABEL: @chain
  // CHECK: %[[D:.*]] = nv_tileas.dot {{.*}}atom = #nv_tileas.atom<mma_sync>{{.*}}, tensor<16x256xf16, #[[FIRST]]>
  // CHECK-NOT: convert_layout
  // CHECK: nv_tileas.dot {{.*}}atom = #nv_tileas.atom<mma_sync>{{.*}}, tensor<16x256xf16, #[[SECOND]]>
  nv_tileaa.func @chain(%x: !x, %w: !w, %y: !x) attributes {kernel_spec = #nv_tileaa.kernel_spec<num_warps = 4>} {
    %zero = arith.constant 0 : i32
    %none = arith.constant 0.0 : f16
    %token = nv_tileaa.create_mem_token : !nv_tileaa.mem_token
    %b, %t0 = nv_tileaa.tiled_load weak %x[%zero, %zero] token = %token : i32, i32 of !x -> tensor<16x256xf16>
    %a, %t1 = nv_tileaa.tiled_load weak %w[%zero, %zero] token = %token : i32, i32 of !w -> tensor<16x16xf16>
    %c = nv_tileaa.splat %none : f16 -> tensor<16x256xf16>
    %d = nv_tileaa.dot %a, %b, %c {input_precision = "ieee"} : tensor<16x16xf16>, tensor<16x256xf16>, tensor<16x256xf16>
    %e = nv_tileaa.negf %d : tensor<16x256xf16>
    %apart = nv_tileaa.view %e : tensor<16x256xf16> -> tensor<16x16x16xf16>
    %turned = nv_tileaa.permute %apart [1, 2, 0] : tensor<16x16x16xf16> -> tensor<16x16x16xf16>
    %f = nv_tileaa.view %turned : tensor<16x16x16xf16> -> tensor<16x256xf16>
    %g = nv_tileaa.dot %a, %f, %c {input_precision = "ieee"} : tensor<16x16xf16>, tensor<16x256xf16>, tensor<16x256xf16>
    %t2 = nv_tileaa.tiled_store weak %g, %y[%zero, %zero] token = %token : tensor<16x256xf16>, i32, i32 of !x
    nv_tileaa.return
  }
  // One dot has its columns in the default order, and so have two of which the second takes whole rows of the first.
  // CHECK-LABEL: @default
  // CHECK: nv_tileas.dot {{.*}}, tensor<16x256xf16, #[[DEFAULT:layout[0-9]*]]>
  // CHECK: nv_tileas.dot {{.*}}, tensor<16x256xf16, #[[DEFAULT]]>
  nv_tileaa.func @default(%x: !x, %w: !w, %y: !x) attributes {kernel_spec = #nv_tileaa.kernel_spec<num_warps = 4>} {
    %zero = arith.constant 0 : i32
    %none = arith.constant 0.0 : f16
    %token = nv_tileaa.create_mem_token : !nv_tileaa.mem_token
    %b, %t0 = nv_tileaa.tiled_load weak %x[%zero, %zero] token = %token : i32, i32 of !x -> tensor<16x256xf16>
    %a, %t1 = nv_tileaa.tiled_load weak %w[%zero, %zero] token = %token : i32, i32 of !w -> tensor<16x16xf16>
    %c = nv_tileaa.splat %none : f16 -> tensor<16x256xf16>
    %d = nv_tileaa.dot %a, %b, %c {input_precision = "ieee"} : tensor<16x16xf16>, tensor<16x256xf16>, tensor<16x256xf16>
    %e = nv_tileaa.dot %a, %b, %d {input_precision = "ieee"} : tensor<16x16xf16>, tensor<16x256xf16>, tensor<16x256xf16>
    %t2 = nv_tileaa.tiled_store weak %e, %y[%zero, %zero] token = %token : tensor<16x256xf16>, i32, i32 of !x
    nv_tileaa.return
  }
}
