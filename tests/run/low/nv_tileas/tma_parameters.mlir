// A producer warp copies tiles by TMA through a tensor map that is a parameter, and four consumer warps store them. What is out of bounds is zero.
// RUN @tiles grid=2 block=160 arch=wgmma
// DATA x = random:150x200xf16:1
// MAP map = x box=64x64 swizzle=128
// ARG offset = 0
// ARG y = ones:192x256xf16
// EXPECT y = np.pad(x, ((0, 42), (0, 56)))
// A tensor without elements: its map has one, and all coordinates are out of bounds.
// RUN @tiles grid=2 block=160 arch=wgmma
// DATA x = ones:8x8xf16
// MAP map = x box=64x64 swizzle=128 dims=1x1
// ARG offset = 1073741824
// ARG y = ones:192x256xf16
// EXPECT y = np.zeros_like(y)
#swizzled = #nv_tileas.layout<[64, 128], offset = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [0, 32], [1, 8], [2, 16], [4, 32], [8, 0], [16, 0], [32, 0], [0, 64]]>
#tile = #nv_tileas.layout<[64, 128], register = [[0, 1], [0, 2], [0, 4], [8, 0], [16, 0], [32, 0]], lane = [[0, 8], [0, 16], [0, 32], [0, 64], [1, 0]], warp = [[2, 0], [4, 0]]>
!tile = tensor<64x128xf16, #tile>
!memory = !nv_tileaa.memref<?x?xf16, strides = [?, 1]>
!out = !nv_tileaa.memref<192x256xf16, strides = [256, 1]>
!tiles = !nv_tileaa.tiled_view<tile = [64, 128], source = !memory>
!out_tiles = !nv_tileaa.tiled_view<tile = [64, 128], source = !out>
!ring = !nv_tileas.pipeline<2, [tensor<64x128xf16, #swizzled>]>
!iterator = !nv_tileas.pipeline_iterator<2>
!map = !nv_tileas.tensor_map<!tiles, tensor<64x128xf16, #swizzled>>
gpu.module @kernels {
  nv_tileaa.func @tiles(%map: !map, %y: !nv_tileaa.ptr<f16>)
      attributes {kernel_spec = #nv_tileaa.kernel_spec<num_warps = 5>} {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c3 = arith.constant 3 : i32
    %column, %row, %layer = nv_tileaa.get_program_id : i32, i32, i32
    %ym = nv_tileaa.make_memref %y : !nv_tileaa.ptr<f16> -> !out
    %yv = nv_tileaa.block_tile %ym : !out_tiles
    %ring = nv_tileas.async.pipeline.create_pipeline : !ring
    nv_tileas.async.pipeline.agent_switch attributes {first = 4 : i32, warps = 1 : i32} {
      nv_tileas.prefetch_tensor_maps %map : !map
      %begin = nv_tileas.async.pipeline.create_iterator %ring : !ring -> !iterator
      %end = scf.for %i = %c0 to %c3 step %c1 iter_args(%iterator = %begin) -> (!iterator) : i32 {
        %stage = nv_tileas.async.pipeline.producer_acquire %ring[%iterator] : !ring, !iterator
        nv_tileas.async.pipeline.producer_copy %ring, %stage, %map[%i, %column] {engine = #nv_tileas.engine<tma>} : !ring, !map, i32, i32
        nv_tileas.async.pipeline.producer_commit %ring, %stage : !ring
        %next = nv_tileas.async.pipeline.inc_iter %iterator : !iterator
        scf.yield %next : !iterator
      }
      nv_tileas.async.pipeline.yield
    }
    nv_tileas.async.pipeline.agent_switch attributes {first = 0 : i32, warps = 4 : i32} {
      %begin = nv_tileas.async.pipeline.create_iterator %ring : !ring -> !iterator
      %end = scf.for %i = %c0 to %c3 step %c1 iter_args(%iterator = %begin) -> (!iterator) : i32 {
        %stage = nv_tileas.async.pipeline.consumer_wait %ring[%iterator] : !ring, !iterator
        %tile = nv_tileas.async.pipeline.consumer_read %ring, %stage : !ring -> !tile
        nv_tileas.async.pipeline.consumer_release %ring, %stage : !ring
        %t = nv_tileas.tiled_store weak %tile, %yv[%i, %column] {vector = 8 : i32} : !tile, i32, i32 of !out_tiles
        %next = nv_tileas.async.pipeline.inc_iter %iterator : !iterator
        scf.yield %next : !iterator
      }
      nv_tileas.async.pipeline.yield
    }
    nv_tileaa.return
  }
}
