// Coalescing: neighbouring elements in memory are held by one thread, as many as 16 bytes have, then
// by neighbouring lanes, then by neighbouring warps.
// RUN: tilewright opt --pass convert-tileaa-to-tileas %s | filecheck %s

// 128 threads and 512 elements of 4 bytes: one 16-byte access per thread.
// CHECK: [[ROW:#layout[0-9]*]] = #nv_tileas.layout<[512], register = {{\[}}[1], [2]], lane = {{\[}}[4], [8], [16], [32], [64]], warp = {{\[}}[128], [256]]>
// CHECK-LABEL: @vectorized
// CHECK: nv_tileas.load {{.*}}{vector = 4 : i32} {{.*}} -> tensor<512xf32, [[ROW]]>
// CHECK-NOT: nv_tileas.convert_layout
// CHECK: nv_tileas.store {{.*}}{vector = 4 : i32} {{.*}} tensor<512xf32, [[ROW]]>
gpu.module @kernels attributes {nv_tileaa.target_spec = #nv_tileaa.target_spec<compute_capability = 90>} {
  nv_tileaa.func @vectorized(%x: !nv_tileaa.ptr<f32>, %y: !nv_tileaa.ptr<f32>) attributes {kernel_spec = #nv_tileaa.kernel_spec<num_warps = 4>} {
    %xa = nv_tileaa.assume #nv_tileaa.div_by<16>, %x : !nv_tileaa.ptr<f32>
    %ya = nv_tileaa.assume #nv_tileaa.div_by<16>, %y : !nv_tileaa.ptr<f32>
    %i = nv_tileaa.make_range : tensor<512xi32>
    %xs = nv_tileaa.splat %xa : !nv_tileaa.ptr<f32> -> tensor<512x!nv_tileaa.ptr<f32>>
    %ys = nv_tileaa.splat %ya : !nv_tileaa.ptr<f32> -> tensor<512x!nv_tileaa.ptr<f32>>
    %p = nv_tileaa.addptr %xs, %i : tensor<512x!nv_tileaa.ptr<f32>>, tensor<512xi32>
    %q = nv_tileaa.addptr %ys, %i : tensor<512x!nv_tileaa.ptr<f32>>, tensor<512xi32>
    %a, %t = nv_tileaa.load weak %p : tensor<512x!nv_tileaa.ptr<f32>> -> tensor<512xf32>
    %b = nv_tileaa.addf %a, %a : tensor<512xf32>
    %s = nv_tileaa.store weak %q, %b : tensor<512x!nv_tileaa.ptr<f32>>, tensor<512xf32>
    nv_tileaa.return
  }
}
// -----
// Without a known alignment an access has one element; neighbouring lanes still have neighbours.
// CHECK: [[ROW:#layout[0-9]*]] = #nv_tileas.layout<[512], register = {{.*}}, lane = {{\[}}[1], [2], [4], [8], [16]], warp =
// CHECK-LABEL: @unaligned
// CHECK-NOT: vector =
// CHECK: nv_tileas.load {{.*}} -> tensor<512xf32, [[ROW]]>
gpu.module @kernels attributes {nv_tileaa.target_spec = #nv_tileaa.target_spec<compute_capability = 90>} {
  nv_tileaa.func @unaligned(%x: !nv_tileaa.ptr<f32>) attributes {kernel_spec = #nv_tileaa.kernel_spec<num_warps = 4>} {
    %i = nv_tileaa.make_range : tensor<512xi32>
    %xs = nv_tileaa.splat %x : !nv_tileaa.ptr<f32> -> tensor<512x!nv_tileaa.ptr<f32>>
    %p = nv_tileaa.addptr %xs, %i : tensor<512x!nv_tileaa.ptr<f32>>, tensor<512xi32>
    %a, %t = nv_tileaa.load weak %p : tensor<512x!nv_tileaa.ptr<f32>> -> tensor<512xf32>
    nv_tileaa.return
  }
}
// -----
// A column-major tensor has stride 1 along dimension 0: lanes run down the columns. f16: 8 at once.
// CHECK: [[COLS:#layout[0-9]*]] = #nv_tileas.layout<[64, 64], register = {{\[}}[1, 0], [2, 0], [4, 0]{{.*}}, lane = {{\[}}[8, 0], [16, 0], [32, 0], [0, 1]
// CHECK-LABEL: @column_major
// CHECK: nv_tileas.tiled_load {{.*}}vector = 8 : i32{{.*}} -> tensor<64x64xf16, [[COLS]]>
!memory = !nv_tileaa.memref<64x64xf16, strides = [1, 64]>
!tiles = !nv_tileaa.tiled_view<tile = [64, 64], source = !memory>
gpu.module @kernels attributes {nv_tileaa.target_spec = #nv_tileaa.target_spec<compute_capability = 90>} {
  nv_tileaa.func @column_major(%x: !nv_tileaa.ptr<f16>) attributes {kernel_spec = #nv_tileaa.kernel_spec<num_warps = 4>} {
    %c0 = arith.constant 0 : i32
    %xa = nv_tileaa.assume #nv_tileaa.div_by<16>, %x : !nv_tileaa.ptr<f16>
    %m = nv_tileaa.make_memref %xa : !nv_tileaa.ptr<f16> -> !memory
    %v = nv_tileaa.block_tile %m : !tiles
    %a, %t = nv_tileaa.tiled_load weak %v[%c0, %c0] : i32, i32 of !tiles -> tensor<64x64xf16>
    nv_tileaa.return
  }
}
// -----
// An extent of 4n + 2 elements: a vector of four may be partly out of bounds.
// CHECK-LABEL: @a_vector_may_be_partly_out_of_bounds
// CHECK: nv_tileas.tiled_load {{.*}}{partial, vector = 4 : i32}
// CHECK: nv_tileas.tiled_load {{.*}}{in_bounds = array<i1: true>, vector = 4 : i32}
!memory = !nv_tileaa.memref<510xf32, strides = [1]>
!tiles = !nv_tileaa.tiled_view<tile = [512], source = !memory>
gpu.module @kernels attributes {nv_tileaa.target_spec = #nv_tileaa.target_spec<compute_capability = 90>} {
  nv_tileaa.func @a_vector_may_be_partly_out_of_bounds(%x: !nv_tileaa.ptr<f32>) attributes {kernel_spec = #nv_tileaa.kernel_spec<num_warps = 4>} {
    %c0 = arith.constant 0 : i32
    %xa = nv_tileaa.assume #nv_tileaa.div_by<16>, %x : !nv_tileaa.ptr<f32>
    %m = nv_tileaa.make_memref %xa : !nv_tileaa.ptr<f32> -> !memory
    %v = nv_tileaa.block_tile %m : !tiles
    %a, %t = nv_tileaa.tiled_load weak %v[%c0] : i32 of !tiles -> tensor<512xf32>
    %b, %u = nv_tileaa.tiled_load weak %v[%c0] {in_bounds = array<i1: true>} : i32 of !tiles -> tensor<512xf32>
    nv_tileaa.return
  }
}
// -----
// A mask that changes every two elements allows vectors of two. Atomic operations act per element.
// CHECK-LABEL: @mask_limits_the_vector
// CHECK: nv_tileas.load {{.*}}vector = 2 : i32
// CHECK-NOT: vector =
// CHECK: nv_tileas.atomic_rmw
gpu.module @kernels attributes {nv_tileaa.target_spec = #nv_tileaa.target_spec<compute_capability = 90>} {
  nv_tileaa.func @mask_limits_the_vector(%x: !nv_tileaa.ptr<f32>, %n: i32) attributes {kernel_spec = #nv_tileaa.kernel_spec<num_warps = 4>} {
    %xa = nv_tileaa.assume #nv_tileaa.div_by<16>, %x : !nv_tileaa.ptr<f32>
    %na = nv_tileaa.assume #nv_tileaa.div_by<2>, %n : i32
    %i = nv_tileaa.make_range : tensor<512xi32>
    %xs = nv_tileaa.splat %xa : !nv_tileaa.ptr<f32> -> tensor<512x!nv_tileaa.ptr<f32>>
    %ns = nv_tileaa.splat %na : i32 -> tensor<512xi32>
    %p = nv_tileaa.addptr %xs, %i : tensor<512x!nv_tileaa.ptr<f32>>, tensor<512xi32>
    %in = nv_tileaa.cmpi slt, %i, %ns : tensor<512xi32>
    %a, %t = nv_tileaa.load weak %p mask = %in : tensor<512x!nv_tileaa.ptr<f32>> -> tensor<512xf32>
    %o, %u = nv_tileaa.atomic_rmw relaxed gpu addf %p, %a : tensor<512x!nv_tileaa.ptr<f32>>, tensor<512xf32>
    nv_tileaa.return
  }
}
