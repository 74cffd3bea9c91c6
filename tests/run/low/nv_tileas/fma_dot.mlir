// An FMA dot that reads A from a tile in shared memory, K-major and swizzled, and stages B in two slices of K. In each of two iterations A is
// stored again, after all threads have read it.
// RUN @gemm block=128 arch=base
// ARG a = small:4x256xf32:1
// ARG b = small:256x64xf32:2
// ARG c = zeros:4x64xf32
// EXPECT c = a @ b
// RUN @gemm block=128 arch=sm_80
// ARG a = small:4x256xf32:3
// ARG b = small:256x64xf32:4
// ARG c = zeros:4x64xf32
// EXPECT c = a @ b
#a = #nv_tileas.layout<[4, 128], register = [[0, 1], [0, 2]], lane = [[0, 4], [0, 8], [0, 16], [0, 32], [0, 64]], warp = [[1, 0], [2, 0]]>
#stored = #nv_tileas.layout<[4, 128], offset = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [0, 32], [0, 64], [1, 4], [2, 8]]>
#b = #nv_tileas.layout<[128, 64], register = [[0, 1], [0, 2], [8, 0], [16, 0], [32, 0], [64, 0]], lane = [[0, 4], [0, 8], [0, 16], [0, 32], [1, 0]], warp = [[2, 0], [4, 0]]>
#c = #nv_tileas.layout<[4, 64], register = [[0, 1]], lane = [[0, 2], [0, 4], [0, 8], [0, 16], [0, 32]], warp = [[1, 0], [2, 0]]>
!a = tensor<4x128xf32, #a>
!stored = tensor<4x128xf32, #stored>
!b = tensor<128x64xf32, #b>
!c = tensor<4x64xf32, #c>
!a_tiles = !nv_tileaa.tiled_view<tile = [4, 128], source = !nv_tileaa.memref<4x256xf32, strides = [256, 1]>>
!b_tiles = !nv_tileaa.tiled_view<tile = [128, 64], source = !nv_tileaa.memref<256x64xf32, strides = [64, 1]>>
!c_tiles = !nv_tileaa.tiled_view<tile = [4, 64], source = !nv_tileaa.memref<4x64xf32, strides = [64, 1]>>
gpu.module @kernels {
  nv_tileaa.func @gemm(%a: !nv_tileaa.ptr<f32>, %b: !nv_tileaa.ptr<f32>, %c: !nv_tileaa.ptr<f32>)
      attributes {kernel_spec = #nv_tileaa.kernel_spec<num_warps = 4>} {
    %zero = arith.constant 0 : i32
    %one = arith.constant 1 : i32
    %two = arith.constant 2 : i32
    %none = arith.constant 0.0 : f32
    %token = nv_tileaa.create_mem_token : !nv_tileaa.mem_token
    %a_memory = nv_tileaa.make_memref %a : !nv_tileaa.ptr<f32> -> !nv_tileaa.memref<4x256xf32, strides = [256, 1]>
    %b_memory = nv_tileaa.make_memref %b : !nv_tileaa.ptr<f32> -> !nv_tileaa.memref<256x64xf32, strides = [64, 1]>
    %c_memory = nv_tileaa.make_memref %c : !nv_tileaa.ptr<f32> -> !nv_tileaa.memref<4x64xf32, strides = [64, 1]>
    %a_tiles = nv_tileaa.block_tile %a_memory : !a_tiles
    %b_tiles = nv_tileaa.block_tile %b_memory : !b_tiles
    %c_tiles = nv_tileaa.block_tile %c_memory : !c_tiles
    %start = nv_tileas.splat %none : f32 -> !c
    %sum = scf.for %i = %zero to %two step %one iter_args(%x = %start) -> (!c) : i32 {
      %left, %t0 = nv_tileas.tiled_load weak %a_tiles[%zero, %i] token = %token : i32, i32 of !a_tiles -> !a
      %right, %t1 = nv_tileas.tiled_load weak %b_tiles[%i, %zero] token = %token : i32, i32 of !b_tiles -> !b
      %tile = nv_tileas.convert_layout %left : !a -> !stored
      %d = nv_tileas.dot %tile, %right, %x {atom = #nv_tileas.atom<fma>, input_precision = "ieee"} : !stored, !b, !c
      scf.yield %d : !c
    }
    %t2 = nv_tileas.tiled_store weak %sum, %c_tiles[%zero, %zero] token = %token : !c, i32, i32 of !c_tiles
    nv_tileaa.return
  }
}
