// Stores by TMA in a specialized kernel: a third agent encodes the maps, the consumers read them from a pipeline.
// RUN: tilewright opt --pass specialize-warps %s | filecheck %s
#c = #nv_tileas.layout<[64, 128], register = [[0, 1], [8, 0], [0, 8], [0, 16], [0, 32], [0, 64]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0]]>
#rows = #nv_tileas.layout<[64, 128], register = [[0, 1], [0, 2], [0, 4], [2, 0], [4, 0], [8, 0]], lane = [[0, 8], [0, 16], [0, 32], [0, 64], [1, 0]], warp = [[16, 0], [32, 0]]>
#a = #nv_tileas.layout<[64, 32], register = [[0, 1], [0, 2], [0, 4], [32, 0]], lane = [[0, 8], [0, 16], [1, 0], [2, 0], [4, 0]], warp = [[8, 0], [16, 0]]>
#b = #nv_tileas.layout<[32, 128], register = [[0, 1], [0, 2], [0, 4], [8, 0], [16, 0]], lane = [[0, 8], [0, 16], [0, 32], [0, 64], [1, 0]], warp = [[2, 0], [4, 0]]>
#a_placed = #nv_tileas.layout<[64, 32], offset = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [1, 0], [2, 8], [4, 16], [8, 0], [16, 0], [32, 0]]>
#b_placed = #nv_tileas.layout<[32, 128], offset = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [0, 32], [1, 8], [2, 16], [4, 32], [8, 0], [16, 0], [0, 64]]>
!a = tensor<64x32xf16, #a>
!b = tensor<32x128xf16, #b>
!a_placed = tensor<64x32xf16, #a_placed>
!b_placed = tensor<32x128xf16, #b_placed>
!c = tensor<64x128xf32, #c>
!half = tensor<64x128xf16, #c>
!stored = tensor<64x128xf16, #rows>
!a_tiles = !nv_tileaa.tiled_view<tile = [64, 32], source = !nv_tileaa.memref<512x512xf16, strides = [512, 1]>, padding = zero>
!b_tiles = !nv_tileaa.tiled_view<tile = [32, 128], source = !nv_tileaa.memref<512x128xf16, strides = [128, 1]>, padding = zero>
!memory = !nv_tileaa.memref<512x128xf16, strides = [128, 1]>
!c_tiles = !nv_tileaa.tiled_view<tile = [64, 128], source = !memory>
gpu.module @kernels attributes {nv_tileaa.target_spec = #nv_tileaa.target_spec<compute_capability = 90>} {
  // CHECK-LABEL: @persistent
  // CHECK: nv_tileas.async.pipeline.create_pipeline {drained} : !nv_tileas.pipeline<4,
  // CHECK: %[[RING:.*]] = nv_tileas.async.pipeline.create_pipeline {drained} : !nv_tileas.pipeline<1, [!nv_tileas.tensor_map<
  // The view is created before the agents, for the map; the consumers have their own.
  // CHECK: %[[VIEW:.*]] = nv_tileaa.block_tile %arg2
  // CHECK: agent_switch attributes {first = 4 : i32, max_registers = 40 : i32, warps = 1 : i32}
  // CHECK: create_tensor_maps %arg0, %arg1
  // A warp beside the producer, so that no copy waits for the maps of stores. It releases them when the consumers have released the stage.
  // CHECK: agent_switch attributes {first = 5 : i32, warps = 1 : i32}
  // CHECK-NEXT: %[[MAP:.*]] = nv_tileas.create_tensor_maps %[[VIEW]]
  // CHECK-NEXT: %[[I0:.*]] = nv_tileas.async.pipeline.create_iterator %[[RING]]
  // CHECK-NEXT: %[[EMPTY:.*]] = nv_tileas.async.pipeline.producer_acquire %[[RING]][%[[I0]]]
  // CHECK-NEXT: producer_write %[[RING]], %[[EMPTY]], %[[MAP]]
  // CHECK-NEXT: producer_commit %[[RING]], %[[EMPTY]]
  // CHECK-NEXT: %[[I1:.*]] = nv_tileas.async.pipeline.inc_iter %[[I0]]
  // CHECK-NEXT: producer_acquire %[[RING]][%[[I1]]]
  // CHECK-NEXT: release_tensor_maps %[[MAP]]
  // CHECK: agent_switch attributes {max_registers = 240 : i32, warps = 4 : i32}
  // CHECK: %[[OWN:.*]] = nv_tileaa.block_tile %arg2
  // CHECK: %[[FULL:.*]] = nv_tileas.async.pipeline.consumer_wait %[[RING]]
  // CHECK-NEXT: %[[READ:.*]] = nv_tileas.async.pipeline.consumer_read %[[RING]], %[[FULL]]
  // Two stages for each of four warps.
  // CHECK-NEXT: %[[BUFFER:.*]] = nv_tileas.alloc_tensor : !nv_tileas.buffer<shared, 8, 16x64xf16>
  // CHECK: scf.for
  // CHECK: scf.for
  // CHECK: %[[HALF:.*]] = nv_tileaa.fp_to_fp
  // CHECK-NOT: nv_tileas.convert_layout
  // CHECK: nv_tileas.async.tiled_store weak %[[HALF]], %[[OWN]][%{{.*}}, %{{.*}}] map = %[[READ]] buffer = %[[BUFFER]]
  // CHECK: }
  // CHECK: nv_tileas.async.store_wait
  // CHECK-NEXT: consumer_release %[[RING]], %[[FULL]]
  nv_tileaa.func @persistent(%av: !a_tiles, %bv: !b_tiles, %memory: !memory, %init: !c, %tiles: i32, %n: i32) attributes {kernel_spec = #nv_tileaa.kernel_spec<num_warps = 4>} {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    scf.for %i = %c0 to %tiles step %c1 : i32 {
      %sum = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %init) -> (!c) : i32 {
        %x:2 = nv_tileas.tiled_load weak %av[%i, %k] {nv_tileas.engine = #nv_tileas.engine<tma>, vector = 8 : i32} : i32, i32 of !a_tiles -> !a
        %xp = nv_tileas.convert_layout %x#0 : !a -> !a_placed
        %y:2 = nv_tileas.tiled_load weak %bv[%k, %c0] {nv_tileas.engine = #nv_tileas.engine<tma>, vector = 8 : i32} : i32, i32 of !b_tiles -> !b
        %yp = nv_tileas.convert_layout %y#0 : !b -> !b_placed
        %next = nv_tileas.dot %xp, %yp, %acc {atom = #nv_tileas.atom<wgmma>} : !a_placed, !b_placed, !c
        scf.yield %next : !c
      } {nv_tileas.schedule = #nv_tileas.schedule<stages = 4, distance = 4, lag = 0>}
      %half = nv_tileaa.fp_to_fp %sum : !c to !half
      %stored = nv_tileas.convert_layout %half : !half -> !stored
      %cv = nv_tileaa.block_tile %memory : !c_tiles
      %t = nv_tileas.tiled_store weak %stored, %cv[%i, %c0] {nv_tileas.engine = #nv_tileas.engine<tma>, nv_tileas.store_stages = 2 : i32, vector = 8 : i32} : !stored, i32, i32 of !c_tiles
    }
    nv_tileaa.return
  }
}
