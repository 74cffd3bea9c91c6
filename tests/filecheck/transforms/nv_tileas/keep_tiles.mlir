// Tiles that several loops load: the first ones stay in shared memory, and later loops read them there.
// RUN: tilewright opt --pass 'record-requests{kept-tiles=4},keep-tiles' %s | filecheck %s
// RUN: tilewright opt --pass 'record-requests{kept-tiles=0},keep-tiles' %s | filecheck %s --check-prefix=NONE
// NONE-NOT: nv_tileas.async.pipeline
#row = #nv_tileas.layout<[1, 512], register = [[0, 1], [0, 2]], lane = [[0, 4], [0, 8], [0, 16], [0, 32], [0, 64]], warp = [[0, 128], [0, 256]]>
#other = #nv_tileas.layout<[1, 512], register = [[0, 1], [0, 256]], lane = [[0, 2], [0, 4], [0, 8], [0, 16], [0, 32]], warp = [[0, 64], [0, 128]]>
!row = tensor<1x512xf32, #row>
!other = tensor<1x512xf32, #other>
!tiles = !nv_tileaa.tiled_view<tile = [1, 512], source = !nv_tileaa.memref<64x?xf32, strides = [4096, 1]>, padding = zero>
!padded = !nv_tileaa.tiled_view<tile = [1, 512], source = !nv_tileaa.memref<64x?xf32, strides = [4096, 1]>, padding = neg_inf>
gpu.module @kernels attributes {nv_tileaa.target_spec = #nv_tileaa.target_spec<compute_capability = 90>} {
  // All copies are started before the first loop, and waited for; each loop reads the stages in its first iterations,
  // and goes on where they end.
  // CHECK-LABEL: @two_loops
  // CHECK: %[[RING:.*]] = nv_tileas.async.pipeline.create_pipeline {private} : !nv_tileas.pipeline<4,
  // CHECK: %[[START:.*]] = nv_tileas.async.pipeline.create_iterator %[[RING]]
  // CHECK: %[[EXISTS:.*]] = nv_tileaa.cmpi slt, %[[LOWER:.*]], %[[UPPER:.*]] : i32
  // CHECK: %[[DIFFERENCE:.*]] = nv_tileaa.subi %[[UPPER]], %[[LOWER]]
  // CHECK: %[[SPAN:.*]] = nv_tileaa.select %[[EXISTS]], %[[DIFFERENCE]], %{{.*}}
  // CHECK: %[[IS_LONG:.*]] = nv_tileaa.cmpi ult, %[[DISTANCE:.*]], %[[SPAN]]
  // CHECK: %[[REACHED:.*]] = nv_tileaa.addi %[[LOWER]], %[[DISTANCE]]
  // CHECK: %[[MIDDLE:.*]] = nv_tileaa.select %[[IS_LONG]], %[[REACHED]], %[[UPPER]] : i1, i32
  // CHECK: scf.for %[[I:.*]] = %[[LOWER]] to %[[MIDDLE]] step %{{.*}} iter_args(%[[STAGE:.*]] = %[[START]])
  // CHECK: nv_tileas.async.pipeline.producer_copy %[[RING]], %{{.*}}, %{{.*}}[%{{.*}}, %[[I]]]
  // CHECK: nv_tileas.async.pipeline.producer_commit %[[RING]]
  // CHECK: nv_tileas.async.pipeline.inc_iter %[[STAGE]] {no_wrap}
  // CHECK: nv_tileas.async.pipeline.consumer_wait %[[RING]][%[[START]]] {pending = 0 : i32}
  // CHECK: %[[FIRST:.*]]:2 = scf.for %{{.*}} = %[[LOWER]] to %[[MIDDLE]] step
  // CHECK-NOT: nv_tileas.tiled_load
  // CHECK: nv_tileas.async.pipeline.consumer_wait %[[RING]][%{{.*}}] {pending = 3 : i32}
  // CHECK: nv_tileas.async.pipeline.consumer_read %[[RING]]
  // CHECK: %[[GOES_ON:.*]] = nv_tileaa.cmpi slt, %[[MIDDLE]], %[[UPPER]] : i32
  // CHECK: scf.if %[[GOES_ON]]
  // CHECK: nv_tileas.tiled_load
  // CHECK: scf.for %{{.*}} = %[[MIDDLE]] to %[[UPPER]] step %{{.*}} iter_args(%{{.*}} = %[[FIRST]]#0,
  // CHECK-NOT: consumer_read
  // CHECK: nv_tileas.tiled_load
  // CHECK: } else {
  // CHECK: scf.yield %[[FIRST]]#0
  // CHECK: } {branch_weights = array<i32: 1, 1000>}
  // CHECK: scf.for %{{.*}} = %[[LOWER]] to %[[MIDDLE]] step %{{.*}} iter_args(%{{.*}}, %{{.*}} = %[[START]])
  // CHECK: nv_tileas.async.pipeline.consumer_read %[[RING]]
  // CHECK: scf.for %{{.*}} = %[[MIDDLE]] to %[[UPPER]] step
  // CHECK: nv_tileas.tiled_load
  // NONE-LABEL: @two_loops
  nv_tileaa.func @two_loops(%rows: !tiles, %init: !row, %lower: i32, %upper: i32) attributes {kernel_spec = #nv_tileaa.kernel_spec<num_warps = 4>} {
    %c1 = arith.constant 1 : i32
    %block:3 = nv_tileaa.get_program_id : i32, i32, i32
    %sum = scf.for %i = %lower to %upper step %c1 iter_args(%acc = %init) -> (!row) : i32 {
      %x:2 = nv_tileas.tiled_load weak %rows[%block#0, %i] {vector = 4 : i32} : i32, i32 of !tiles -> !row
      %next = nv_tileaa.addf %acc, %x#0 : !row
      scf.yield %next : !row
    }
    %product = scf.for %i = %lower to %upper step %c1 iter_args(%acc = %sum) -> (!row) : i32 {
      %x:2 = nv_tileas.tiled_load weak %rows[%block#0, %i] {vector = 4 : i32} : i32, i32 of !tiles -> !row
      %next = nv_tileaa.mulf %acc, %x#0 : !row
      scf.yield %next : !row
    }
    nv_tileaa.return
  }
  // A thread would have to read what others have copied.
  // CHECK-LABEL: @other_layout
  // CHECK-NOT: nv_tileas.async.pipeline
  nv_tileaa.func @other_layout(%rows: !tiles, %init: !row, %first: !other, %lower: i32, %upper: i32) attributes {kernel_spec = #nv_tileaa.kernel_spec<num_warps = 4>} {
    %c1 = arith.constant 1 : i32
    %block:3 = nv_tileaa.get_program_id : i32, i32, i32
    %sum = scf.for %i = %lower to %upper step %c1 iter_args(%acc = %init) -> (!row) : i32 {
      %x:2 = nv_tileas.tiled_load weak %rows[%block#0, %i] {vector = 4 : i32} : i32, i32 of !tiles -> !row
      %next = nv_tileaa.addf %acc, %x#0 : !row
      scf.yield %next : !row
    }
    %product = scf.for %i = %lower to %upper step %c1 iter_args(%acc = %first) -> (!other) : i32 {
      %x:2 = nv_tileas.tiled_load weak %rows[%block#0, %i] {vector = 2 : i32} : i32, i32 of !tiles -> !other
      %next = nv_tileaa.mulf %acc, %x#0 : !other
      scf.yield %next : !other
    }
    nv_tileaa.return
  }
  // The second load waits for a store.
  // CHECK-LABEL: @ordered
  // CHECK-NOT: nv_tileas.async.pipeline
  nv_tileaa.func @ordered(%rows: !tiles, %init: !row, %lower: i32, %upper: i32) attributes {kernel_spec = #nv_tileaa.kernel_spec<num_warps = 4>} {
    %c1 = arith.constant 1 : i32
    %block:3 = nv_tileaa.get_program_id : i32, i32, i32
    %sum = scf.for %i = %lower to %upper step %c1 iter_args(%acc = %init) -> (!row) : i32 {
      %x:2 = nv_tileas.tiled_load weak %rows[%block#0, %i] {vector = 4 : i32} : i32, i32 of !tiles -> !row
      %next = nv_tileaa.addf %acc, %x#0 : !row
      scf.yield %next : !row
    }
    %stored = nv_tileas.tiled_store weak %sum, %rows[%block#0, %lower] : !row, i32, i32 of !tiles
    %product = scf.for %i = %lower to %upper step %c1 iter_args(%acc = %init) -> (!row) : i32 {
      %x:2 = nv_tileas.tiled_load weak %rows[%block#0, %i] token = %stored {vector = 4 : i32} : i32, i32 of !tiles -> !row
      %next = nv_tileaa.mulf %acc, %x#0 : !row
      scf.yield %next : !row
    }
    nv_tileaa.return
  }
  // What `cp.async` cannot pad is stored from registers, by the first loop.
  // CHECK-LABEL: @other_padding
  // CHECK: %[[RING:.*]] = nv_tileas.async.pipeline.create_pipeline {private} : !nv_tileas.pipeline<4,
  // CHECK-NOT: producer_copy
  // CHECK: %[[SPAN:.*]] = nv_tileaa.select
  // CHECK: %[[IS_LONG:.*]] = nv_tileaa.cmpi ult, %{{.*}}, %[[SPAN]]
  // CHECK: %[[MIDDLE:.*]] = nv_tileaa.select %[[IS_LONG]], %{{.*}}, %[[UPPER:.*]] : i1, i32
  // CHECK: scf.for %{{.*}} = %{{.*}} to %[[MIDDLE]] step %{{.*}} iter_args(%{{.*}}, %{{.*}}, %[[TILE:.*]] = %{{.*}}#0)
  // CHECK: %[[STAGE:.*]] = nv_tileas.async.pipeline.producer_acquire %[[RING]]
  // CHECK: nv_tileas.async.pipeline.producer_write %[[RING]], %[[STAGE]], %[[TILE]]
  // CHECK: nv_tileas.async.pipeline.producer_commit %[[RING]], %[[STAGE]]
  // CHECK: scf.for %{{.*}} = %[[MIDDLE]] to %[[UPPER]] step
  // CHECK: scf.for %{{.*}} to %[[MIDDLE]] step
  // CHECK-NOT: nv_tileas.tiled_load
  // CHECK: nv_tileas.async.pipeline.consumer_read %[[RING]]
  // CHECK: scf.for %{{.*}} = %[[MIDDLE]] to %[[UPPER]] step
  nv_tileaa.func @other_padding(%rows: !padded, %init: !row, %lower: i32, %upper: i32) attributes {kernel_spec = #nv_tileaa.kernel_spec<num_warps = 4>} {
    %c1 = arith.constant 1 : i32
    %block:3 = nv_tileaa.get_program_id : i32, i32, i32
    %largest = scf.for %i = %lower to %upper step %c1 iter_args(%acc = %init) -> (!row) : i32 {
      %x:2 = nv_tileas.tiled_load weak %rows[%block#0, %i] {vector = 4 : i32} : i32, i32 of !padded -> !row
      %next = nv_tileaa.maxf %acc, %x#0 : !row
      scf.yield %next : !row
    }
    %sum = scf.for %i = %lower to %upper step %c1 iter_args(%acc = %largest) -> (!row) : i32 {
      %x:2 = nv_tileas.tiled_load weak %rows[%block#0, %i] {vector = 4 : i32} : i32, i32 of !padded -> !row
      %next = nv_tileaa.addf %acc, %x#0 : !row
      scf.yield %next : !row
    }
    nv_tileaa.return
  }
}
