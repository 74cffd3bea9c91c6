// Warp specialization: a producer warp copies by TMA through the loops and branches around a pipelined loop, the other warps compute.
// RUN: tilewright opt --pass specialize-warps %s | filecheck %s
#c = #nv_tileas.layout<[64, 16], register = [[0, 1], [8, 0], [0, 8]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0]]>
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
!a_tiles = !nv_tileaa.tiled_view<tile = [64, 32], source = !nv_tileaa.memref<72x152xf16, strides = [152, 1]>, padding = zero>
!b_tiles = !nv_tileaa.tiled_view<tile = [32, 16], source = !nv_tileaa.memref<152x16xf16, strides = [16, 1]>, padding = zero>
!c_tiles = !nv_tileaa.tiled_view<tile = [64, 16], source = !nv_tileaa.memref<128x16xf32, strides = [16, 1]>>
gpu.module @kernels attributes {nv_tileaa.target_spec = #nv_tileaa.target_spec<compute_capability = 90>} {
  // The block has a warpgroup more, of which one warp produces. Each agent computes the scalars that it needs.
  // CHECK-LABEL: @persistent
  // CHECK-SAME: num_warps = 8
  // CHECK: %[[P:.*]] = nv_tileas.async.pipeline.create_pipeline {drained} : !nv_tileas.pipeline<4,
  // CHECK-NEXT: agent_switch attributes {first = 4 : i32, max_registers = 40 : i32, warps = 1 : i32}
  // CHECK: %[[MAPS:.*]]:2 = nv_tileas.create_tensor_maps %arg0, %arg1
  // CHECK: %[[I0:.*]] = nv_tileas.async.pipeline.create_iterator %[[P]]
  // CHECK: %[[C0:.*]] = arith.constant 0
  // The iterator passes through the outer loop: stages of the next tile are filled as soon as they are empty.
  // CHECK: %[[END:.*]] = scf.for %[[I:.*]] = %[[C0]] to %arg4 {{.*}}iter_args(%[[OUTER:.*]] = %[[I0]]) -> (!nv_tileas.pipeline_iterator<4>)
  // CHECK-NEXT: %[[INNER_END:.*]] = scf.for %[[K:.*]] = %[[C0]] to %arg5 {{.*}}iter_args(%[[AT:.*]] = %[[OUTER]]) -> (!nv_tileas.pipeline_iterator<4>)
  // CHECK-NEXT: %[[EMPTY:.*]] = nv_tileas.async.pipeline.producer_acquire %[[P]][%[[AT]]]
  // CHECK-NEXT: producer_copy %[[P]], %[[EMPTY]], %[[MAPS]]#0[%[[I]], %[[K]]] {engine = #nv_tileas.engine<tma>}
  // CHECK-NEXT: producer_copy %[[P]], %[[EMPTY]], %[[MAPS]]#1[%[[K]], %[[C0]]] {engine = #nv_tileas.engine<tma>, number = 1
  // CHECK-NEXT: producer_commit %[[P]], %[[EMPTY]]
  // CHECK-NEXT: %[[FOLLOWING:.*]] = nv_tileas.async.pipeline.inc_iter %[[AT]]
  // CHECK-NEXT: scf.yield %[[FOLLOWING]]
  // CHECK-NEXT: }
  // CHECK-NEXT: scf.yield %[[INNER_END]]
  // CHECK-NEXT: }
  // The maps are in use until all four stages are released.
  // CHECK-NEXT: producer_acquire %[[P]][%[[END]]]
  // CHECK-COUNT-3: producer_acquire
  // CHECK-NOT: producer_acquire
  // CHECK: release_tensor_maps %[[MAPS]]#0, %[[MAPS]]#1
  // CHECK: agent_switch attributes {max_registers = 240 : i32, warps = 4 : i32}
  // CHECK: create_iterator %[[P]]
  // CHECK: scf.for
  // CHECK-NEXT: %[[SUM:.*]]:2 = scf.for {{.*}}iter_args(%{{.*}} = %arg3, %[[AT:.*]] =
  // CHECK-NEXT: %[[FULL:.*]] = nv_tileas.async.pipeline.consumer_wait %[[P]][%[[AT]]]
  // CHECK-NEXT: %[[A:.*]] = nv_tileas.async.pipeline.consumer_read %[[P]], %[[FULL]] {number = 0
  // CHECK-NEXT: %[[B:.*]] = nv_tileas.async.pipeline.consumer_read %[[P]], %[[FULL]] {number = 1
  // CHECK-NEXT: nv_tileas.dot %[[A]], %[[B]]
  // CHECK-NOT: asynchronous
  // CHECK: consumer_release %[[P]], %[[FULL]]
  // CHECK-NEXT: nv_tileas.async.pipeline.inc_iter %[[AT]]
  // CHECK: tiled_store weak %[[SUM]]#0
  // CHECK-NEXT: scf.yield %[[SUM]]#1
  // CHECK-NOT: nv_tileas.schedule
  nv_tileaa.func @persistent(%av: !a_tiles, %bv: !b_tiles, %cv: !c_tiles, %init: !c, %tiles: i32, %n: i32) attributes {kernel_spec = #nv_tileaa.kernel_spec<num_warps = 4>} {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    scf.for %i = %c0 to %tiles step %c1 : i32 {
      %sum = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %init) -> (!c) : i32 {
        %x:2 = nv_tileas.tiled_load weak %av[%i, %k] {nv_tileas.engine = #nv_tileas.engine<tma>, vector = 8 : i32} : i32, i32 of !a_tiles -> !a
        %xp = nv_tileas.convert_layout %x#0 : !a -> !a_placed
        %y:2 = nv_tileas.tiled_load weak %bv[%k, %c0] {nv_tileas.engine = #nv_tileas.engine<tma>, vector = 4 : i32} : i32, i32 of !b_tiles -> !b
        %yp = nv_tileas.convert_layout %y#0 : !b -> !b_placed
        %next = nv_tileas.dot %xp, %yp, %acc {atom = #nv_tileas.atom<wgmma>} : !a_placed, !b_placed, !c
        scf.yield %next : !c
      } {nv_tileas.schedule = #nv_tileas.schedule<stages = 4, distance = 4, lag = 0>}
      %t = nv_tileas.tiled_store weak %sum, %cv[%i, %c0] : !c, i32, i32 of !c_tiles
    }
    nv_tileaa.return
  }
  // Both agents take the branch for the same tiles; the iterator stays as it is for the others.
  // CHECK-LABEL: @branch
  // CHECK: agent_switch attributes {first = 4
  // CHECK: scf.for %[[I:.*]] = {{.*}}iter_args(%[[OUTER:.*]] =
  // CHECK-NEXT: %[[BIT:.*]] = arith.andi %[[I]]
  // CHECK-NEXT: %[[ODD:.*]] = arith.cmpi eq, %[[BIT]]
  // CHECK-NEXT: %[[AFTER:.*]] = scf.if %[[ODD]] -> (!nv_tileas.pipeline_iterator<4>)
  // CHECK-NEXT: scf.for {{.*}} = %[[OUTER]])
  // CHECK: producer_commit
  // CHECK: } else {
  // CHECK-NEXT: scf.yield %[[OUTER]]
  // CHECK-NEXT: }
  // CHECK-NEXT: scf.yield %[[AFTER]]
  // CHECK: agent_switch attributes {max_registers = 240
  // CHECK: scf.for %[[I:.*]] = {{.*}}iter_args(%[[OUTER:.*]] =
  // CHECK-NEXT: %[[BIT:.*]] = arith.andi %[[I]]
  // CHECK-NEXT: %[[ODD:.*]] = arith.cmpi eq, %[[BIT]]
  // CHECK-NEXT: %[[AFTER:.*]] = scf.if %[[ODD]] -> (!nv_tileas.pipeline_iterator<4>)
  // CHECK-NEXT: scf.for
  // CHECK-NEXT: consumer_wait
  // CHECK: tiled_store
  // CHECK: } else {
  // CHECK-NEXT: scf.yield %[[OUTER]]
  // CHECK-NEXT: }
  // CHECK-NEXT: scf.yield %[[AFTER]]
  nv_tileaa.func @branch(%av: !a_tiles, %bv: !b_tiles, %cv: !c_tiles, %init: !c, %tiles: i32, %n: i32) attributes {kernel_spec = #nv_tileaa.kernel_spec<num_warps = 4>} {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    scf.for %i = %c0 to %tiles step %c1 : i32 {
      %bit = arith.andi %i, %c1 : i32
      %odd = arith.cmpi eq, %bit, %c1 : i32
      scf.if %odd {
        %sum = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %init) -> (!c) : i32 {
          %x:2 = nv_tileas.tiled_load weak %av[%i, %k] {nv_tileas.engine = #nv_tileas.engine<tma>, vector = 8 : i32} : i32, i32 of !a_tiles -> !a
          %xp = nv_tileas.convert_layout %x#0 : !a -> !a_placed
          %y:2 = nv_tileas.tiled_load weak %bv[%k, %c0] {nv_tileas.engine = #nv_tileas.engine<tma>, vector = 4 : i32} : i32, i32 of !b_tiles -> !b
          %yp = nv_tileas.convert_layout %y#0 : !b -> !b_placed
          %next = nv_tileas.dot %xp, %yp, %acc {atom = #nv_tileas.atom<wgmma>} : !a_placed, !b_placed, !c
          scf.yield %next : !c
        } {nv_tileas.schedule = #nv_tileas.schedule<stages = 4, distance = 4, lag = 0>}
        %t = nv_tileas.tiled_store weak %sum, %cv[%i, %c0] : !c, i32, i32 of !c_tiles
      }
    }
    nv_tileaa.return
  }
  // The producer carries the row that the copies need, not the tile; what is computed from its last value is computed by both agents.
  // CHECK-LABEL: @carried
  // CHECK: agent_switch attributes {first = 4
  // CHECK: %[[LAST:.*]]:2 = scf.for %[[I:.*]] = {{.*}}iter_args(%[[ROW:.*]] = %c1{{.*}}, %[[AT:.*]] = %{{.*}}) -> (i32, !nv_tileas.pipeline_iterator<4>)
  // CHECK-NEXT: scf.for %[[K:.*]] = {{.*}} = %[[AT]])
  // CHECK: producer_copy {{.*}}#0[%[[ROW]], %[[K]]]
  // CHECK: %[[NEXT:.*]] = arith.addi %[[ROW]], %[[I]]
  // CHECK-NEXT: scf.yield %[[NEXT]],
  // CHECK-NEXT: }
  // CHECK-NEXT: %[[COUNT:.*]] = arith.addi %[[LAST]]#0, %c1
  // CHECK-NEXT: scf.for {{.*}} to %[[COUNT]] {{.*}} = %[[LAST]]#1)
  // CHECK: release_tensor_maps
  // CHECK: agent_switch attributes {max_registers = 240
  // CHECK: %[[LAST:.*]]:3 = scf.for
  // CHECK: %[[COUNT:.*]] = arith.addi %[[LAST]]#1, %c1
  // CHECK-NEXT: scf.for {{.*}} to %[[COUNT]] {{.*}} = %[[LAST]]#2)
  // CHECK: tiled_store
  nv_tileaa.func @carried(%av: !a_tiles, %bv: !b_tiles, %cv: !c_tiles, %init: !c, %tiles: i32, %n: i32) attributes {kernel_spec = #nv_tileaa.kernel_spec<num_warps = 4>} {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %last:2 = scf.for %i = %c0 to %tiles step %c1 iter_args(%whole = %init, %row = %c1) -> (!c, i32) : i32 {
      %sum = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %init) -> (!c) : i32 {
        %x:2 = nv_tileas.tiled_load weak %av[%row, %k] {nv_tileas.engine = #nv_tileas.engine<tma>, vector = 8 : i32} : i32, i32 of !a_tiles -> !a
        %xp = nv_tileas.convert_layout %x#0 : !a -> !a_placed
        %y:2 = nv_tileas.tiled_load weak %bv[%k, %c0] {nv_tileas.engine = #nv_tileas.engine<tma>, vector = 4 : i32} : i32, i32 of !b_tiles -> !b
        %yp = nv_tileas.convert_layout %y#0 : !b -> !b_placed
        %next = nv_tileas.dot %xp, %yp, %acc {atom = #nv_tileas.atom<wgmma>} : !a_placed, !b_placed, !c
        scf.yield %next : !c
      } {nv_tileas.schedule = #nv_tileas.schedule<stages = 4, distance = 4, lag = 0>}
      %more = nv_tileaa.addf %whole, %sum : !c
      %next_row = arith.addi %row, %i : i32
      scf.yield %more, %next_row : !c, i32
    }
    %end = arith.addi %last#1, %c1 : i32
    %after = scf.for %k = %c0 to %end step %c1 iter_args(%acc = %init) -> (!c) : i32 {
      %x:2 = nv_tileas.tiled_load weak %av[%c0, %k] {nv_tileas.engine = #nv_tileas.engine<tma>, vector = 8 : i32} : i32, i32 of !a_tiles -> !a
      %xp = nv_tileas.convert_layout %x#0 : !a -> !a_placed
      %y:2 = nv_tileas.tiled_load weak %bv[%k, %c0] {nv_tileas.engine = #nv_tileas.engine<tma>, vector = 4 : i32} : i32, i32 of !b_tiles -> !b
      %yp = nv_tileas.convert_layout %y#0 : !b -> !b_placed
      %next = nv_tileas.dot %xp, %yp, %acc {atom = #nv_tileas.atom<wgmma>} : !a_placed, !b_placed, !c
      scf.yield %next : !c
    } {nv_tileas.schedule = #nv_tileas.schedule<stages = 4, distance = 4, lag = 0>}
    %both = nv_tileaa.addf %last#0, %after : !c
    %t = nv_tileas.tiled_store weak %both, %cv[%c0, %c0] : !c, i32, i32 of !c_tiles
    nv_tileaa.return
  }
  // Loops that threads copy for are left to materialize-schedule.
  // CHECK-LABEL: @scheduled_by_cp_async
  // CHECK-SAME: num_warps = 4
  // CHECK-NOT: agent_switch
  // CHECK: nv_tileas.schedule
  nv_tileaa.func @scheduled_by_cp_async(%av: !a_tiles, %bv: !b_tiles, %cv: !c_tiles, %init: !c, %tiles: i32, %n: i32) attributes {kernel_spec = #nv_tileaa.kernel_spec<num_warps = 4>} {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %sum = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %init) -> (!c) : i32 {
      %x:2 = nv_tileas.tiled_load weak %av[%c0, %k] {nv_tileas.engine = #nv_tileas.engine<cp_async>, vector = 8 : i32} : i32, i32 of !a_tiles -> !a
      %xp = nv_tileas.convert_layout %x#0 : !a -> !a_placed
      %y:2 = nv_tileas.tiled_load weak %bv[%k, %c0] {nv_tileas.engine = #nv_tileas.engine<cp_async>, vector = 4 : i32} : i32, i32 of !b_tiles -> !b
      %yp = nv_tileas.convert_layout %y#0 : !b -> !b_placed
      %next = nv_tileas.dot %xp, %yp, %acc {atom = #nv_tileas.atom<wgmma>} : !a_placed, !b_placed, !c
      scf.yield %next : !c
    } {nv_tileas.schedule = #nv_tileas.schedule<stages = 4, distance = 3, lag = 0>}
    nv_tileaa.return
  }
}
