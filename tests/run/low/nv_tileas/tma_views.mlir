// Views of different ranks, element types and orders of dimensions, copied by TMA: a transposed one, one with a batch dimension of 1, and one of
// rank 1. Their tensor maps have nothing in common, so each is encoded by itself.
// RUN @views block=160 arch=wgmma
// ARG x = random:40x72xf16:1
// ARG z = random:3x30x20xf32:2
// ARG v = random:500xi8:3
// ARG n = 72
// ARG p = 500
// ARG x_out = ones:128x64xf16
// ARG z_out = ones:2x32x32xf32
// ARG v_out = ones:1024xi8
// EXPECT x_out = np.pad(x.T, ((0, 56), (0, 24)))
// EXPECT z_out = np.pad(z[1:], ((0, 0), (0, 2), (0, 12)))
// EXPECT v_out = np.pad(v, (0, 524))
#x = #nv_tileas.layout<[64, 32], offset = [[1, 0], [2, 0], [4, 0], [8, 0], [16, 0], [32, 0], [8, 1], [16, 2], [32, 4], [0, 8], [0, 16]]>
#z = #nv_tileas.layout<[1, 32, 32], offset = [[0, 0, 1], [0, 0, 2], [0, 0, 4], [0, 0, 8], [0, 0, 16], [0, 1, 4], [0, 2, 8], [0, 4, 16], [0, 8, 0], [0, 16, 0]]>
#v = #nv_tileas.layout<[512], offset = [[1], [2], [4], [8], [16], [32], [64], [128], [256]]>
#x_tile = #nv_tileas.layout<[64, 32], register = [[4, 0], [8, 0], [16, 0], [32, 0]], lane = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16]], warp = [[1, 0], [2, 0]]>
#z_tile = #nv_tileas.layout<[1, 32, 32], register = [[0, 0, 1], [0, 0, 2], [0, 16, 0]], lane = [[0, 0, 4], [0, 0, 8], [0, 0, 16], [0, 1, 0], [0, 2, 0]], warp = [[0, 4, 0], [0, 8, 0]]>
#v_tile = #nv_tileas.layout<[512], register = [[1], [2]], lane = [[4], [8], [16], [32], [64]], warp = [[128], [256]]>
!x = tensor<64x32xf16, #x>
!z = tensor<1x32x32xf32, #z>
!v = tensor<512xi8, #v>
!x_tile = tensor<64x32xf16, #x_tile>
!z_tile = tensor<1x32x32xf32, #z_tile>
!v_tile = tensor<512xi8, #v_tile>
!x_memory = !nv_tileaa.memref<40x?xf16, strides = [?, 1]>
!z_memory = !nv_tileaa.memref<3x30x20xf32, strides = [600, 20, 1]>
!v_memory = !nv_tileaa.memref<?xi8, strides = [1]>
!x_out = !nv_tileaa.memref<128x64xf16, strides = [64, 1]>
!z_out = !nv_tileaa.memref<2x32x32xf32, strides = [1024, 32, 1]>
!v_out = !nv_tileaa.memref<1024xi8, strides = [1]>
// Rows of a tile are columns of memory.
!x_tiles = !nv_tileaa.tiled_view<tile = [64, 32], source = !x_memory, dims = [1, 0]>
!z_tiles = !nv_tileaa.tiled_view<tile = [1, 32, 32], source = !z_memory, padding = zero>
!v_tiles = !nv_tileaa.tiled_view<tile = [512], source = !v_memory>
!x_out_tiles = !nv_tileaa.tiled_view<tile = [64, 32], source = !x_out>
!z_out_tiles = !nv_tileaa.tiled_view<tile = [1, 32, 32], source = !z_out>
!v_out_tiles = !nv_tileaa.tiled_view<tile = [512], source = !v_out>
!ring = !nv_tileas.pipeline<1, [!x, !z, !v]>
!iterator = !nv_tileas.pipeline_iterator<1>
!x_map = !nv_tileas.tensor_map<!x_tiles, !x>
!z_map = !nv_tileas.tensor_map<!z_tiles, !z>
!v_map = !nv_tileas.tensor_map<!v_tiles, !v>
gpu.module @kernels {
  nv_tileaa.func @views(%x: !nv_tileaa.ptr<f16>, %z: !nv_tileaa.ptr<f32>, %v: !nv_tileaa.ptr<i8>, %n: i32, %p: i32,
      %x_out: !nv_tileaa.ptr<f16>, %z_out: !nv_tileaa.ptr<f32>, %v_out: !nv_tileaa.ptr<i8>)
      attributes {kernel_spec = #nv_tileaa.kernel_spec<num_warps = 5>} {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c2 = arith.constant 2 : i32
    %w0 = arith.constant 0 : i64
    %s0 = arith.constant 0 : i16
    %xm = nv_tileaa.make_memref %x sizes(%n : i32) strides(%n : i32) : !nv_tileaa.ptr<f16> -> !x_memory
    %zm = nv_tileaa.make_memref %z : !nv_tileaa.ptr<f32> -> !z_memory
    %vm = nv_tileaa.make_memref %v sizes(%p : i32) : !nv_tileaa.ptr<i8> -> !v_memory
    %xv = nv_tileaa.block_tile %xm : !x_tiles
    %zv = nv_tileaa.block_tile %zm : !z_tiles
    %vv = nv_tileaa.block_tile %vm : !v_tiles
    %x_out_m = nv_tileaa.make_memref %x_out : !nv_tileaa.ptr<f16> -> !x_out
    %z_out_m = nv_tileaa.make_memref %z_out : !nv_tileaa.ptr<f32> -> !z_out
    %v_out_m = nv_tileaa.make_memref %v_out : !nv_tileaa.ptr<i8> -> !v_out
    %x_out_v = nv_tileaa.block_tile %x_out_m : !x_out_tiles
    %z_out_v = nv_tileaa.block_tile %z_out_m : !z_out_tiles
    %v_out_v = nv_tileaa.block_tile %v_out_m : !v_out_tiles
    %ring = nv_tileas.async.pipeline.create_pipeline : !ring
    nv_tileas.async.pipeline.agent_switch attributes {first = 4 : i32, warps = 1 : i32} {
      %maps:3 = nv_tileas.create_tensor_maps %xv, %zv, %vv : !x_tiles, !z_tiles, !v_tiles -> !x_map, !z_map, !v_map
      %begin = nv_tileas.async.pipeline.create_iterator %ring : !ring -> !iterator
      %end = scf.for %i = %c0 to %c2 step %c1 iter_args(%outer = %begin) -> (!iterator) : i32 {
        %batch = arith.addi %i, %c1 : i32
        %rest = scf.for %j = %c0 to %c2 step %c1 iter_args(%iterator = %outer) -> (!iterator) : i32 {
          %stage = nv_tileas.async.pipeline.producer_acquire %ring[%iterator] : !ring, !iterator
          nv_tileas.async.pipeline.producer_copy %ring, %stage, %maps#0[%i, %j] {engine = #nv_tileas.engine<tma>} : !ring, !x_map, i32, i32
          nv_tileas.async.pipeline.producer_copy %ring, %stage, %maps#1[%batch, %w0, %s0] {engine = #nv_tileas.engine<tma>, number = 1 : i32} : !ring, !z_map, i32, i64, i16
          nv_tileas.async.pipeline.producer_copy %ring, %stage, %maps#2[%j] {engine = #nv_tileas.engine<tma>, number = 2 : i32} : !ring, !v_map, i32
          nv_tileas.async.pipeline.producer_commit %ring, %stage : !ring
          %next = nv_tileas.async.pipeline.inc_iter %iterator : !iterator
          scf.yield %next : !iterator
        }
        scf.yield %rest : !iterator
      }
      // The stage is empty again: all copies are complete.
      %stage = nv_tileas.async.pipeline.producer_acquire %ring[%end] : !ring, !iterator
      nv_tileas.release_tensor_maps %maps#0, %maps#1, %maps#2 : !x_map, !z_map, !v_map
      nv_tileas.async.pipeline.yield
    }
    nv_tileas.async.pipeline.agent_switch attributes {first = 0 : i32, warps = 4 : i32} {
      %begin = nv_tileas.async.pipeline.create_iterator %ring : !ring -> !iterator
      %end = scf.for %i = %c0 to %c2 step %c1 iter_args(%outer = %begin) -> (!iterator) : i32 {
        %rest = scf.for %j = %c0 to %c2 step %c1 iter_args(%iterator = %outer) -> (!iterator) : i32 {
          %stage = nv_tileas.async.pipeline.consumer_wait %ring[%iterator] : !ring, !iterator
          %a, %b, %c = nv_tileas.async.pipeline.consumer_read %ring, %stage : !ring -> !x_tile, !z_tile, !v_tile
          nv_tileas.async.pipeline.consumer_release %ring, %stage : !ring
          %t = nv_tileas.tiled_store weak %a, %x_out_v[%i, %j] : !x_tile, i32, i32 of !x_out_tiles
          %u = nv_tileas.tiled_store weak %b, %z_out_v[%i, %c0, %c0] {vector = 4 : i32} : !z_tile, i32, i32, i32 of !z_out_tiles
          %w = nv_tileas.tiled_store weak %c, %v_out_v[%j] {vector = 4 : i32} : !v_tile, i32 of !v_out_tiles
          %next = nv_tileas.async.pipeline.inc_iter %iterator : !iterator
          scf.yield %next : !iterator
        }
        scf.yield %rest : !iterator
      }
      nv_tileas.async.pipeline.yield
    }
    nv_tileaa.return
  }
}
