// A GEMM by warp specialization in clusters of two CTAs, each with its own rows: the producer of each copies half of every tile of B to both, and
// its own tile of A. The grid counts clusters. M, N and K are no multiples of the tile, and stages are filled several times.
// RUN @gemm grid=2 block=160 arch=wgmma
// ARG a = small:456x328xf16:1
// ARG b = small:328x56xf16:2
// ARG c = zeros:456x56xf32
// ARG m = 456
// ARG n = 56
// ARG k = 328
// EXPECT c = wide_f16(a) @ wide_f16(b)
// Fewer iterations than stages, and no rows for the second CTA.
// RUN @gemm grid=1 block=160 arch=wgmma
// ARG a = small:128x16xf16:3
// ARG b = small:16x64xf16:4
// ARG c = zeros:128x64xf32
// ARG m = 128
// ARG n = 64
// ARG k = 16
// EXPECT c = wide_f16(a) @ wide_f16(b)
#c = #nv_tileas.layout<[128, 64], register = [[0, 1], [8, 0], [0, 8], [0, 16], [0, 32], [64, 0]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0]]>
#a = #nv_tileas.layout<[128, 64], offset = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [0, 32], [1, 8], [2, 16], [4, 32], [8, 0], [16, 0], [32, 0], [64, 0]]>
#b = #nv_tileas.layout<[64, 64], offset = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [0, 32], [1, 8], [2, 16], [4, 32], [8, 0], [16, 0], [32, 0]]>
!a = tensor<128x64xf16, #a>
!b = tensor<64x64xf16, #b>
!c = tensor<128x64xf32, #c>
!a_memory = !nv_tileaa.memref<?x?xf16, strides = [?, 1]>
!b_memory = !nv_tileaa.memref<?x?xf16, strides = [?, 1]>
!c_memory = !nv_tileaa.memref<?x?xf32, strides = [?, 1]>
!a_tiles = !nv_tileaa.tiled_view<tile = [128, 64], source = !a_memory>
!b_tiles = !nv_tileaa.tiled_view<tile = [64, 64], source = !b_memory>
!c_tiles = !nv_tileaa.tiled_view<tile = [128, 64], source = !c_memory>
!ring = !nv_tileas.pipeline<3, [!a, !b]>
!iterator = !nv_tileas.pipeline_iterator<3>
!a_map = !nv_tileas.tensor_map<!a_tiles, !a>
!b_map = !nv_tileas.tensor_map<!b_tiles, !b, parts = 2>
gpu.module @kernels {
  nv_tileaa.func @gemm(%a: !nv_tileaa.ptr<f16>, %b: !nv_tileaa.ptr<f16>, %c: !nv_tileaa.ptr<f32>, %m: i32, %n: i32, %k: i32)
      attributes {kernel_spec = #nv_tileaa.kernel_spec<num_ctas = 2, num_warps = 5>} {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c3 = arith.constant 3 : i32
    %c63 = arith.constant 63 : i32
    %c64 = arith.constant 64 : i32
    %c2 = arith.constant 2 : i32
    %x, %y, %z = nv_tileaa.get_program_id : i32, i32, i32
    %rank = nv_tileaa.get_cta_rank : i32
    %first = arith.muli %x, %c2 : i32
    %row = arith.addi %first, %rank : i32
    %k_up = arith.addi %k, %c63 : i32
    %steps = arith.divui %k_up, %c64 : i32
    %am = nv_tileaa.make_memref %a sizes(%m, %k : i32, i32) strides(%k : i32) : !nv_tileaa.ptr<f16> -> !a_memory
    %bm = nv_tileaa.make_memref %b sizes(%k, %n : i32, i32) strides(%n : i32) : !nv_tileaa.ptr<f16> -> !b_memory
    %cm = nv_tileaa.make_memref %c sizes(%m, %n : i32, i32) strides(%n : i32) : !nv_tileaa.ptr<f32> -> !c_memory
    %av = nv_tileaa.block_tile %am : !a_tiles
    %bv = nv_tileaa.block_tile %bm : !b_tiles
    %cv = nv_tileaa.block_tile %cm : !c_tiles
    %ring = nv_tileas.async.pipeline.create_pipeline : !ring
    nv_tileas.async.pipeline.agent_switch attributes {first = 4 : i32, warps = 1 : i32} {
      %maps:2 = nv_tileas.create_tensor_maps %av, %bv : !a_tiles, !b_tiles -> !a_map, !b_map
      %begin = nv_tileas.async.pipeline.create_iterator %ring : !ring -> !iterator
      %end = scf.for %i = %c0 to %steps step %c1 iter_args(%iterator = %begin) -> (!iterator) : i32 {
        %stage = nv_tileas.async.pipeline.producer_acquire %ring[%iterator] : !ring, !iterator
        nv_tileas.async.pipeline.producer_copy %ring, %stage, %maps#0[%row, %i] {engine = #nv_tileas.engine<tma>} : !ring, !a_map, i32, i32
        nv_tileas.async.pipeline.producer_copy %ring, %stage, %maps#1[%i, %c0] {engine = #nv_tileas.engine<tma>, multicast = 1 : i32, number = 1 : i32} : !ring, !b_map, i32, i32
        nv_tileas.async.pipeline.producer_commit %ring, %stage : !ring
        %next = nv_tileas.async.pipeline.inc_iter %iterator : !iterator
        scf.yield %next : !iterator
      }
      // All stages are empty again, in both CTAs: all copies are complete.
      %last = scf.for %i = %c0 to %c3 step %c1 iter_args(%iterator = %end) -> (!iterator) : i32 {
        %stage = nv_tileas.async.pipeline.producer_acquire %ring[%iterator] : !ring, !iterator
        %next = nv_tileas.async.pipeline.inc_iter %iterator : !iterator
        scf.yield %next : !iterator
      }
      nv_tileas.release_tensor_maps %maps#0, %maps#1 : !a_map, !b_map
      nv_tileas.async.pipeline.yield
    }
    nv_tileas.async.pipeline.agent_switch attributes {first = 0 : i32, warps = 4 : i32} {
      %begin = nv_tileas.async.pipeline.create_iterator %ring : !ring -> !iterator
      %zero = arith.constant dense<0.0> : !c
      %loop:2 = scf.for %i = %c0 to %steps step %c1 iter_args(%iterator = %begin, %acc = %zero) -> (!iterator, !c) : i32 {
        %stage = nv_tileas.async.pipeline.consumer_wait %ring[%iterator] : !ring, !iterator
        %u, %w = nv_tileas.async.pipeline.consumer_read %ring, %stage : !ring -> !a, !b
        %dot = nv_tileas.dot %u, %w, %acc {atom = #nv_tileas.atom<wgmma>} : !a, !b, !c
        nv_tileas.async.pipeline.consumer_release %ring, %stage : !ring
        %next = nv_tileas.async.pipeline.inc_iter %iterator : !iterator
        scf.yield %next, %dot : !iterator, !c
      }
      %t = nv_tileas.tiled_store weak %loop#1, %cv[%row, %c0] : !c, i32, i32 of !c_tiles
      nv_tileas.async.pipeline.yield
    }
    nv_tileaa.return
  }
}
