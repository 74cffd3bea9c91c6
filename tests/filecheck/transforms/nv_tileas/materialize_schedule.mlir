// The pipeline of a scheduled loop: a prologue, and in each iteration one wait, the reads, the copies of a later iteration and a release.
// RUN: tilewright opt --pass materialize-schedule %s | filecheck %s
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
#rows = #nv_tileas.layout<[16, 128], register = [[0, 1], [0, 2], [4, 0], [8, 0]], lane = [[0, 4], [0, 8], [0, 16], [0, 32], [0, 64]], warp = [[1, 0], [2, 0]]>
!rows = tensor<16x128xf32, #rows>
!row_tiles = !nv_tileaa.tiled_view<tile = [16, 128], source = !nv_tileaa.memref<170x128xf32, strides = [128, 1]>, padding = zero>
gpu.module @kernels attributes {nv_tileaa.target_spec = #nv_tileaa.target_spec<compute_capability = 90>} {
  // Without an iteration the loop is skipped: no dot is in flight then.
  // CHECK-LABEL: @gemm
  // CHECK: %[[SOME:.*]] = nv_tileaa.cmpi slt
  // CHECK: scf.if %[[SOME]]
  // CHECK: %[[P:.*]] = nv_tileas.async.pipeline.create_pipeline : !nv_tileas.pipeline<4,
  // The prologue copies two iterations, each only if it exists, and commits both in any case.
  // CHECK: %[[T0:.*]] = nv_tileas.async.pipeline.producer_acquire
  // CHECK-NEXT: scf.if
  // CHECK-NEXT: nv_tileas.async.pipeline.producer_copy %[[P]], %[[T0]]
  // CHECK-NEXT: nv_tileas.async.pipeline.producer_copy %[[P]], %[[T0]], {{.*}}number = 1
  // CHECK-NEXT: }
  // CHECK-NEXT: nv_tileas.async.pipeline.producer_commit %[[P]], %[[T0]]
  // CHECK: %[[T1:.*]] = nv_tileas.async.pipeline.producer_acquire
  // CHECK: nv_tileas.async.pipeline.producer_commit %[[P]], %[[T1]]
  // The copies of the iteration after this one may be pending at the wait.
  // CHECK: %[[FOR:.*]]:3 = scf.for
  // CHECK-NEXT: %[[FULL:.*]] = nv_tileas.async.pipeline.consumer_wait {{.*}}pending = 1
  // CHECK-NEXT: %[[A:.*]] = nv_tileas.async.pipeline.consumer_read %[[P]], %[[FULL]] {number = 0
  // CHECK-NEXT: %[[B:.*]] = nv_tileas.async.pipeline.consumer_read %[[P]], %[[FULL]] {number = 1
  // CHECK-NOT: convert_layout
  // CHECK: %[[DOT:.*]] = nv_tileas.dot %[[A]], %[[B]], {{.*}}asynchronous
  // The copies after the dot, which they would delay; the dot before is complete at the release.
  // CHECK: nv_tileas.async.pipeline.producer_acquire
  // CHECK-NEXT: scf.if
  // CHECK: nv_tileas.async.pipeline.producer_commit
  // CHECK: nv_tileas.dot_wait %[[DOT]] {pending = 1
  // CHECK-NEXT: nv_tileas.async.pipeline.consumer_release %[[P]], %[[FULL]] {lag = 1
  // CHECK: scf.yield
  // CHECK-NEXT: }
  // CHECK-NEXT: %[[SUM:.*]] = nv_tileas.dot_wait %[[FOR]]#0 :
  // CHECK-NEXT: scf.yield %[[SUM]]
  // CHECK-NEXT: } else {
  // CHECK-NEXT: scf.yield %arg2
  nv_tileaa.func @gemm(%av: !a_tiles, %bv: !b_tiles, %init: !c, %n: i32) attributes {kernel_spec = #nv_tileaa.kernel_spec<num_warps = 4>} {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %sum = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %init) -> (!c) : i32 {
      %x:2 = nv_tileas.tiled_load weak %av[%c0, %k] {nv_tileas.engine = #nv_tileas.engine<cp_async>, vector = 8 : i32} : i32, i32 of !a_tiles -> !a
      %xp = nv_tileas.convert_layout %x#0 : !a -> !a_placed
      %y:2 = nv_tileas.tiled_load weak %bv[%k, %c0] {nv_tileas.engine = #nv_tileas.engine<cp_async>, vector = 4 : i32} : i32, i32 of !b_tiles -> !b
      %yp = nv_tileas.convert_layout %y#0 : !b -> !b_placed
      %next = nv_tileas.dot %xp, %yp, %acc {atom = #nv_tileas.atom<wgmma>, nv_tileas.in_flight} : !a_placed, !b_placed, !c
      scf.yield %next : !c
    } {nv_tileas.schedule = #nv_tileas.schedule<stages = 4, distance = 2, lag = 1>}
    nv_tileaa.return
  }
  // CHECK-LABEL: @private
  // CHECK-NOT: scf.if
  // CHECK: create_pipeline {private} : !nv_tileas.pipeline<2,
  // CHECK: producer_commit
  // CHECK: producer_commit
  // CHECK: scf.for
  // CHECK-NEXT: %[[FULL:.*]] = nv_tileas.async.pipeline.consumer_wait {{.*}}pending = 1
  // CHECK-NEXT: %[[X:.*]] = nv_tileas.async.pipeline.consumer_read
  // The stage that was just read is copied to at once.
  // CHECK: producer_acquire
  // CHECK: producer_commit
  // CHECK: nv_tileaa.addf {{.*}}, %[[X]]
  // CHECK: consumer_release %{{.*}}, %[[FULL]] :
  // CHECK-NOT: nv_tileas.tiled_load
  nv_tileaa.func @private(%xv: !row_tiles, %init: !rows, %n: i32) attributes {kernel_spec = #nv_tileaa.kernel_spec<num_warps = 4>} {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %sum = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %init) -> (!rows) : i32 {
      %x:2 = nv_tileas.tiled_load weak %xv[%i, %c0] {nv_tileas.engine = #nv_tileas.engine<cp_async>, vector = 4 : i32} : i32, i32 of !row_tiles -> !rows
      %next = nv_tileaa.addf %acc, %x#0 : !rows
      scf.yield %next : !rows
    } {nv_tileas.schedule = #nv_tileas.schedule<stages = 2, distance = 2, lag = 0>}
    nv_tileaa.return
  }
  // The index of a tile is loaded, if its iteration exists, one iteration before it is copied with.
  // CHECK-LABEL: @indexed
  // CHECK: %[[I0:.*]] = scf.if %[[FIRST:.*]] -> (i32) {
  // CHECK-NEXT: %[[A0:.*]] = nv_tileaa.addptr
  // CHECK-NEXT: %[[L0:.*]]:2 = nv_tileas.load weak %[[A0]]
  // CHECK-NEXT: scf.yield %[[L0]]#0
  // CHECK-NEXT: } else {
  // CHECK-NEXT: %[[ZERO:.*]] = arith.constant 0
  // CHECK-NEXT: scf.yield %[[ZERO]]
  // CHECK: %[[I1:.*]] = scf.if %{{.*}} -> (i32) {
  // CHECK: scf.if %[[FIRST]] {
  // CHECK-NEXT: producer_copy {{.*}}[%[[I0]], %{{.*}}]
  // CHECK: scf.for {{.*}}iter_args({{.*}}, %[[INDEX:.*]] = %[[I1]]) ->
  // CHECK: scf.if %[[COPIES:.*]] {
  // CHECK-NEXT: producer_copy {{.*}}[%[[INDEX]], %{{.*}}]
  // CHECK: %[[NEXT:.*]] = scf.if %[[FOLLOWS:.*]] -> (i32) {
  // CHECK: nv_tileas.load weak
  // CHECK-NOT: nv_tileas.load
  // CHECK: scf.yield {{.*}}, %[[NEXT]] :
  nv_tileaa.func @indexed(%xv: !row_tiles, %list: !nv_tileaa.ptr<i32>, %init: !rows, %n: i32) attributes {kernel_spec = #nv_tileaa.kernel_spec<num_warps = 4>} {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %sum = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %init) -> (!rows) : i32 {
      %p = nv_tileaa.addptr %list, %i : !nv_tileaa.ptr<i32>, i32
      %k:2 = nv_tileas.load weak %p : !nv_tileaa.ptr<i32> -> i32
      %x:2 = nv_tileas.tiled_load weak %xv[%k#0, %c0] {nv_tileas.engine = #nv_tileas.engine<cp_async>, vector = 4 : i32} : i32, i32 of !row_tiles -> !rows
      %next = nv_tileaa.addf %acc, %x#0 : !rows
      scf.yield %next : !rows
    } {nv_tileas.schedule = #nv_tileas.schedule<stages = 1, distance = 1, lag = 0>}
    nv_tileaa.return
  }
}
