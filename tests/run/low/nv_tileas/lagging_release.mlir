// Warp specialization with wgmma: a warpgroup stores A and B to the stages, another reads them in place. One dot is in flight, so each
// release empties the stage of the iteration before; the first one of the second dot empties the last stage of the first dot.
// RUN @gemm block=256 arch=wgmma
// ARG a = small:64x448xf16:1
// ARG b = small:448x16xf16:2
// ARG c = zeros:2x64x16xf32
// EXPECT c = np.stack([a[:, :224].astype(np.float32) @ b[:224].astype(np.float32), a[:, 224:].astype(np.float32) @ b[224:].astype(np.float32)])
#c = #nv_tileas.layout<[64, 16], register = [[0, 1], [8, 0], [0, 8]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0]]>
#c_tile = #nv_tileas.layout<[1, 64, 16], register = [[0, 0, 1], [0, 8, 0], [0, 0, 8]], lane = [[0, 0, 2], [0, 0, 4], [0, 1, 0], [0, 2, 0], [0, 4, 0]], warp = [[0, 16, 0], [0, 32, 0]]>
#a = #nv_tileas.layout<[64, 32], register = [[0, 1], [0, 2], [0, 4], [32, 0]], lane = [[0, 8], [0, 16], [1, 0], [2, 0], [4, 0]], warp = [[8, 0], [16, 0]]>
#b = #nv_tileas.layout<[32, 16], register = [[0, 1], [0, 2]], lane = [[0, 4], [0, 8], [1, 0], [2, 0], [4, 0]], warp = [[8, 0], [16, 0]]>
// Where wgmma reads A and B: rows of 64 and of 32 bytes, swizzled.
#a_placed = #nv_tileas.layout<[64, 32], offset = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [1, 0], [2, 8], [4, 16], [8, 0], [16, 0], [32, 0]]>
#b_placed = #nv_tileas.layout<[32, 16], offset = [[0, 1], [0, 2], [0, 4], [0, 8], [1, 0], [2, 0], [4, 8], [8, 0], [16, 0]]>
!a = tensor<64x32xf16, #a>
!b = tensor<32x16xf16, #b>
!a_placed = tensor<64x32xf16, #a_placed>
!b_placed = tensor<32x16xf16, #b_placed>
!c = tensor<64x16xf32, #c>
!c_tile = tensor<1x64x16xf32, #c_tile>
!a_memory = !nv_tileaa.memref<64x448xf16, strides = [448, 1]>
!b_memory = !nv_tileaa.memref<448x16xf16, strides = [16, 1]>
!c_memory = !nv_tileaa.memref<2x64x16xf32, strides = [1024, 16, 1]>
!a_tiles = !nv_tileaa.tiled_view<tile = [64, 32], source = !a_memory>
!b_tiles = !nv_tileaa.tiled_view<tile = [32, 16], source = !b_memory>
!c_tiles = !nv_tileaa.tiled_view<tile = [1, 64, 16], source = !c_memory>
!ring = !nv_tileas.pipeline<3, [tensor<64x32xf16, #a_placed>, tensor<32x16xf16, #b_placed>]>
!iterator = !nv_tileas.pipeline_iterator<3>
gpu.module @kernels {
  nv_tileaa.func @gemm(%a: !nv_tileaa.ptr<f16>, %b: !nv_tileaa.ptr<f16>, %c: !nv_tileaa.ptr<f32>) attributes {kernel_spec = #nv_tileaa.kernel_spec<num_warps = 8>} {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c2 = arith.constant 2 : i32
    %c7 = arith.constant 7 : i32
    %c14 = arith.constant 14 : i32
    %am = nv_tileaa.make_memref %a : !nv_tileaa.ptr<f16> -> !a_memory
    %bm = nv_tileaa.make_memref %b : !nv_tileaa.ptr<f16> -> !b_memory
    %cm = nv_tileaa.make_memref %c : !nv_tileaa.ptr<f32> -> !c_memory
    %av = nv_tileaa.block_tile %am : !a_tiles
    %bv = nv_tileaa.block_tile %bm : !b_tiles
    %cv = nv_tileaa.block_tile %cm : !c_tiles
    %ring = nv_tileas.async.pipeline.create_pipeline : !ring
    nv_tileas.async.pipeline.agent_switch attributes {first = 0 : i32, warps = 4 : i32} {
      %begin = nv_tileas.async.pipeline.create_iterator %ring : !ring -> !iterator
      %end = scf.for %k = %c0 to %c14 step %c1 iter_args(%iterator = %begin) -> (!iterator) : i32 {
        %x:2 = nv_tileas.tiled_load weak %av[%c0, %k] {vector = 8 : i32} : i32, i32 of !a_tiles -> !a
        %y:2 = nv_tileas.tiled_load weak %bv[%k, %c0] {vector = 4 : i32} : i32, i32 of !b_tiles -> !b
        %stage = nv_tileas.async.pipeline.producer_acquire %ring[%iterator] : !ring, !iterator
        nv_tileas.async.pipeline.producer_write %ring, %stage, %x#0, %y#0 : !ring, !a, !b
        nv_tileas.async.pipeline.producer_commit %ring, %stage : !ring
        %next = nv_tileas.async.pipeline.inc_iter %iterator : !iterator
        scf.yield %next : !iterator
      }
      nv_tileas.async.pipeline.yield
    }
    nv_tileas.async.pipeline.agent_switch attributes {first = 4 : i32, warps = 4 : i32} {
      %begin = nv_tileas.async.pipeline.create_iterator %ring : !ring -> !iterator
      %zero = arith.constant dense<0.0> : !c
      %end = scf.for %tile = %c0 to %c2 step %c1 iter_args(%start = %begin) -> (!iterator) : i32 {
        %loop:2 = scf.for %k = %c0 to %c7 step %c1 iter_args(%iterator = %start, %acc = %zero) -> (!iterator, !c) : i32 {
          %stage = nv_tileas.async.pipeline.consumer_wait %ring[%iterator] : !ring, !iterator
          %x, %y = nv_tileas.async.pipeline.consumer_read %ring, %stage : !ring -> !a_placed, !b_placed
          %dot = nv_tileas.dot %x, %y, %acc {asynchronous, atom = #nv_tileas.atom<wgmma>} : !a_placed, !b_placed, !c
          %more = nv_tileas.dot_wait %dot {pending = 1 : i32} : !c
          nv_tileas.async.pipeline.consumer_release %ring, %stage {lag = 1 : i32} : !ring
          %next = nv_tileas.async.pipeline.inc_iter %iterator : !iterator
          scf.yield %next, %more : !iterator, !c
        }
        %sum = nv_tileas.dot_wait %loop#1 : !c
        %out = nv_tileas.view %sum : !c -> !c_tile
        %t = nv_tileas.tiled_store weak %out, %cv[%tile, %c0, %c0] : !c_tile, i32, i32, i32 of !c_tiles
        scf.yield %loop#0 : !iterator
      }
      nv_tileas.async.pipeline.yield
    }
    nv_tileaa.return
  }
}
