// A warp stores the rows of the accumulators that it holds, in lines of 128 bytes.
// RUN: tilewright opt --pass move-conversions %s | filecheck %s
#c = #nv_tileas.layout<[64, 64], register = [[0, 1], [8, 0], [0, 8], [0, 16], [0, 32]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0]]>
#coalesced = #nv_tileas.layout<[64, 64], register = [[0, 1], [0, 2], [0, 4], [16, 0], [32, 0]], lane = [[0, 8], [0, 16], [0, 32], [1, 0], [2, 0]], warp = [[4, 0], [8, 0]]>
#transposed = #nv_tileas.layout<[64, 64], register = [[1, 0], [2, 0], [4, 0], [0, 16], [0, 32]], lane = [[8, 0], [16, 0], [32, 0], [0, 1], [0, 2]], warp = [[0, 4], [0, 8]]>
#lines = #nv_tileas.layout<[64, 64], register = [[2, 0], [4, 0], [8, 0], [16, 0], [32, 0]], lane = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16]], warp = [[0, 32], [1, 0]]>
!sums = !nv_tileaa.tiled_view<tile = [64, 64], source = !nv_tileaa.memref<?x?xf32, strides = [?, 1]>>
!tiles = !nv_tileaa.tiled_view<tile = [64, 64], source = !nv_tileaa.memref<?x?xf16, strides = [?, 1]>>
// CHECK-DAG: #[[C:.*]] = #nv_tileas.layout<[64, 64], register = {{.*}}, lane = {{\[\[}}0, 2], {{.*}}, warp = {{\[\[}}16, 0], [32, 0]]>
// CHECK-DAG: #[[LOCAL:.*]] = #nv_tileas.layout<[64, 64], register = {{\[\[}}0, 1], [0, 2], [0, 4], [4, 0], [8, 0]], lane = {{\[\[}}0, 8], [0, 16], [0, 32], [1, 0], [2, 0]], warp = {{\[\[}}16, 0], [32, 0]]>
// CHECK-DAG: #[[ADDED:.*]] = #nv_tileas.layout<[64, 64], register = {{.*}}, lane = {{\[\[}}0, 1], [0, 2], [0, 4], [0, 8], [0, 16]], warp = {{\[\[}}16, 0], [32, 0]]>
gpu.module @kernels attributes {nv_tileaa.target_spec = #nv_tileaa.target_spec<compute_capability = 90>} {
  // CHECK-LABEL: @store
  // CHECK: %[[T:.*]] = nv_tileas.convert_layout {{.*}} -> tensor<64x64xf16, #[[LOCAL]]>
  // CHECK: nv_tileas.tiled_store weak %[[T]]
  nv_tileaa.func @store(%x: tensor<64x64xf16, #c>, %v: !tiles, %i: i32) attributes {kernel_spec = #nv_tileaa.kernel_spec<num_warps = 4>} {
    %y = nv_tileas.convert_layout %x : tensor<64x64xf16, #c> -> tensor<64x64xf16, #coalesced>
    %t = nv_tileas.tiled_store weak %y, %v[%i, %i] {vector = 8 : i32} : tensor<64x64xf16, #coalesced>, i32, i32 of !tiles
    nv_tileaa.return
  }
  // The columns of a transposed tile that a warp holds are whole rows of memory.
  // CHECK-LABEL: @transposed
  // CHECK: nv_tileas.convert_layout {{.*}} -> tensor<64x64xf16, #[[MINE:.*]]>
  // CHECK: nv_tileas.permute {{.*}}tensor<64x64xf16, #[[MINE]]> ->
  nv_tileaa.func @transposed(%x: tensor<64x64xf16, #c>, %v: !tiles, %i: i32) attributes {kernel_spec = #nv_tileaa.kernel_spec<num_warps = 4>} {
    %y = nv_tileas.convert_layout %x : tensor<64x64xf16, #c> -> tensor<64x64xf16, #transposed>
    %z = nv_tileas.permute %y [1, 0] : tensor<64x64xf16, #transposed> -> tensor<64x64xf16, #coalesced>
    %t = nv_tileas.tiled_store weak %z, %v[%i, %i] {vector = 8 : i32} : tensor<64x64xf16, #coalesced>, i32, i32 of !tiles
    nv_tileaa.return
  }
  // A tile with another use keeps its layout.
  // CHECK-LABEL: @used_twice
  // CHECK: %[[Y:.*]] = nv_tileas.convert_layout {{.*}} -> tensor<64x64xf16, #[[COALESCED:.*]]>
  // CHECK: arith.addf %[[Y]], %[[Y]] : tensor<64x64xf16, #[[COALESCED]]>
  nv_tileaa.func @used_twice(%x: tensor<64x64xf16, #c>, %v: !tiles, %i: i32) attributes {kernel_spec = #nv_tileaa.kernel_spec<num_warps = 4>} {
    %y = nv_tileas.convert_layout %x : tensor<64x64xf16, #c> -> tensor<64x64xf16, #coalesced>
    %t = nv_tileas.tiled_store weak %y, %v[%i, %i] {vector = 8 : i32} : tensor<64x64xf16, #coalesced>, i32, i32 of !tiles
    %s = arith.addf %y, %y : tensor<64x64xf16, #coalesced>
    nv_tileaa.return
  }
  // An atomic operation that returns nothing is a store: 32 lanes add a line of 128 bytes.
  // CHECK-LABEL: @atomic
  // CHECK: %[[A:.*]] = nv_tileas.convert_layout {{.*}} -> tensor<64x64xf32, #[[ADDED]]>
  // CHECK: nv_tileas.tiled_atomic_rmw relaxed gpu addf %[[A]]
  nv_tileaa.func @atomic(%x: tensor<64x64xf32, #c>, %v: !sums, %i: i32) attributes {kernel_spec = #nv_tileaa.kernel_spec<num_warps = 4>} {
    %y = nv_tileas.convert_layout %x : tensor<64x64xf32, #c> -> tensor<64x64xf32, #lines>
    %t = nv_tileas.tiled_atomic_rmw relaxed gpu addf %y, %v[%i, %i] : tensor<64x64xf32, #lines>, i32, i32 of !sums
    nv_tileaa.return
  }
}
