// The first copies of a pipeline start before anything that waits for tiles which are loaded before it.
// RUN: tilewright opt --pass schedule-operations %s | filecheck %s
#rows = #nv_tileas.layout<[64, 32], register = [[0, 1], [0, 2], [0, 4], [32, 0]], lane = [[0, 8], [0, 16], [1, 0], [2, 0], [4, 0]], warp = [[8, 0], [16, 0]]>
// As mma.sync reads A and B: a conversion to #left goes through 4096 bytes of scratch memory.
#left = #nv_tileas.layout<[64, 32], register = [[0, 1], [8, 0], [0, 8], [0, 16]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0]]>
#right = #nv_tileas.layout<[32, 16], register = [[1, 0], [8, 0], [0, 8], [16, 0]], lane = [[2, 0], [4, 0], [0, 1], [0, 2], [0, 4]], warp = [[0, 0], [0, 0]]>
#c = #nv_tileas.layout<[64, 16], register = [[0, 1], [8, 0], [0, 8]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0]]>
#list = #nv_tileas.layout<[64], register = [[32]], lane = [[0], [0], [1], [2], [4]], warp = [[8], [16]]>
#placed = #nv_tileas.layout<[64, 32], offset = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [1, 0], [2, 8], [4, 16], [8, 0], [16, 0], [32, 0]]>
!tiles = !nv_tileaa.tiled_view<tile = [64, 32], source = !nv_tileaa.memref<640x320xf16, strides = [320, 1]>>
!rows = tensor<64x32xf16, #rows>
!left = tensor<64x32xf16, #left>
!right = tensor<32x16xf16, #right>
!c = tensor<64x16xf32, #c>
!indices = !nv_tileaa.tiled_view<tile = [64], source = !nv_tileaa.memref<640xi32, strides = [1]>>
!list = tensor<64xi32, #list>
!gathered = !nv_tileaa.tiled_view<tile = [64, 32], source = !nv_tileaa.memref<640x320xf16, strides = [320, 1]>, sparse = 0>
!p = !nv_tileas.pipeline<2, [tensor<64x32xf16, #placed>]>
!i = !nv_tileas.pipeline_iterator<2>
// 55 and 56 stages of 4096 bytes; a block has 232448 bytes.
!p55 = !nv_tileas.pipeline<55, [tensor<64x32xf16, #placed>]>
!i55 = !nv_tileas.pipeline_iterator<55>
!p56 = !nv_tileas.pipeline<56, [tensor<64x32xf16, #placed>]>
!i56 = !nv_tileas.pipeline_iterator<56>
gpu.module @kernels attributes {nv_tileaa.target_spec = #nv_tileaa.target_spec<compute_capability = 90>} {
  // The load itself, and what does not depend on it, stay before the copies.
  // CHECK-LABEL: @queries
  // CHECK: %[[Q:.*]]:2 = nv_tileas.tiled_load
  // CHECK-NEXT: %[[J:.*]] = arith.addi
  // CHECK-NEXT: create_pipeline
  // CHECK: producer_copy {{.*}}[%[[J]],
  // CHECK-NEXT: producer_commit
  // CHECK-NEXT: %[[M:.*]] = nv_tileaa.negf %[[Q]]#0
  // CHECK-NEXT: nv_tileas.convert_layout %[[M]]
  // CHECK-NEXT: scf.for
  nv_tileaa.func @queries(%q: !tiles, %k: !tiles, %n: i32) attributes {kernel_spec = #nv_tileaa.kernel_spec<num_warps = 4>} {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %x:2 = nv_tileas.tiled_load weak %q[%c0, %c0] : i32, i32 of !tiles -> !rows
    %m = nv_tileaa.negf %x#0 : !rows
    %j = arith.addi %n, %c1 : i32
    %y = nv_tileas.convert_layout %m : !rows -> !left
    %p = nv_tileas.async.pipeline.create_pipeline : !p
    %i = nv_tileas.async.pipeline.create_iterator %p : !p -> !i
    %s = nv_tileas.async.pipeline.producer_acquire %p[%i] : !p, !i
    nv_tileas.async.pipeline.producer_copy %p, %s, %k[%j, %c0] {tile = !rows, vector = 8 : i32} : !p, !tiles, i32, i32
    nv_tileas.async.pipeline.producer_commit %p, %s : !p
    scf.for %u = %c0 to %n step %c1 : i32 {
      %t = nv_tileas.async.pipeline.consumer_wait %p[%i] {pending = 0 : i32} : !p, !i
      %z = nv_tileas.async.pipeline.consumer_read %p, %t {number = 0 : i32} : !p -> !left
      %w = nv_tileaa.mulf %y, %z : !left
      nv_tileas.async.pipeline.consumer_release %p, %t : !p
    }
    nv_tileaa.return
  }
  // A load, which stays, needs what is computed of the rows that are loaded before it.
  // CHECK-LABEL: @chased
  // CHECK: %[[R:.*]]:2 = nv_tileas.tiled_load
  // CHECK-NEXT: %[[A:.*]] = nv_tileaa.addptr {{.*}}, %[[R]]#0
  // CHECK-NEXT: %[[X:.*]]:2 = nv_tileas.load weak %[[A]]
  // CHECK-NEXT: create_pipeline
  // CHECK: producer_commit
  // CHECK-NEXT: nv_tileaa.addi %[[X]]#0, %[[X]]#0
  // CHECK-NEXT: scf.for
  nv_tileaa.func @chased(%rows: !indices, %q: tensor<64x!nv_tileaa.ptr<i32>, #list>, %k: !tiles, %n: i32) attributes {kernel_spec = #nv_tileaa.kernel_spec<num_warps = 4>} {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %r:2 = nv_tileas.tiled_load weak %rows[%c0] : i32 of !indices -> !list
    %at = nv_tileaa.addptr %q, %r#0 : tensor<64x!nv_tileaa.ptr<i32>, #list>, !list
    %x:2 = nv_tileas.load weak %at : tensor<64x!nv_tileaa.ptr<i32>, #list> -> !list
    %m = nv_tileaa.addi %x#0, %x#0 : !list
    %p = nv_tileas.async.pipeline.create_pipeline : !p
    %i = nv_tileas.async.pipeline.create_iterator %p : !p -> !i
    %s = nv_tileas.async.pipeline.producer_acquire %p[%i] : !p, !i
    nv_tileas.async.pipeline.producer_copy %p, %s, %k[%c0, %c0] {tile = !rows, vector = 8 : i32} : !p, !tiles, i32, i32
    nv_tileas.async.pipeline.producer_commit %p, %s : !p
    scf.for %u = %c0 to %n step %c1 : i32 {
      %t = nv_tileas.async.pipeline.consumer_wait %p[%i] {pending = 0 : i32} : !p, !i
      %z = nv_tileas.async.pipeline.consumer_read %p, %t {number = 0 : i32} : !p -> !rows
      %w = nv_tileaa.addi %m, %m : !list
      nv_tileas.async.pipeline.consumer_release %p, %t : !p
    }
    nv_tileaa.return
  }
  // The copies need what is computed of the rows that are loaded. Nothing waits in what is computed of that.
  // CHECK-LABEL: @gathered
  // CHECK: %[[R:.*]]:2 = nv_tileas.tiled_load
  // CHECK-NEXT: %[[S:.*]] = nv_tileaa.addi %[[R]]#0, %[[R]]#0
  // CHECK-NEXT: nv_tileaa.muli %[[S]], %[[S]]
  // CHECK-NEXT: create_pipeline
  // CHECK: producer_copy {{.*}}[%[[S]],
  // CHECK-NEXT: producer_commit
  // CHECK-NEXT: nv_tileaa.subi %[[R]]#0, %[[R]]#0
  // CHECK-NEXT: scf.for
  nv_tileaa.func @gathered(%rows: !indices, %k: !gathered, %n: i32) attributes {kernel_spec = #nv_tileaa.kernel_spec<num_warps = 4>} {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %r:2 = nv_tileas.tiled_load weak %rows[%c0] : i32 of !indices -> !list
    %at = nv_tileaa.addi %r#0, %r#0 : !list
    %known = nv_tileaa.muli %at, %at : !list
    %other = nv_tileaa.subi %r#0, %r#0 : !list
    %p = nv_tileas.async.pipeline.create_pipeline : !p
    %i = nv_tileas.async.pipeline.create_iterator %p : !p -> !i
    %s = nv_tileas.async.pipeline.producer_acquire %p[%i] : !p, !i
    nv_tileas.async.pipeline.producer_copy %p, %s, %k[%at, %c0] {tile = !rows, vector = 8 : i32} : !p, !gathered, !list, i32
    nv_tileas.async.pipeline.producer_commit %p, %s : !p
    scf.for %u = %c0 to %n step %c1 : i32 {
      %t = nv_tileas.async.pipeline.consumer_wait %p[%i] {pending = 0 : i32} : !p, !i
      nv_tileas.async.pipeline.consumer_release %p, %t : !p
    }
    nv_tileaa.return
  }
  // A dot stays, with its operands.
  // CHECK-LABEL: @dot
  // CHECK: nv_tileas.tiled_load
  // CHECK-NEXT: nv_tileas.convert_layout
  // CHECK-NEXT: nv_tileas.dot
  // CHECK-NEXT: create_pipeline
  nv_tileaa.func @dot(%q: !tiles, %k: !tiles, %b: !right, %c: !c, %n: i32) attributes {kernel_spec = #nv_tileaa.kernel_spec<num_warps = 4>} {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %x:2 = nv_tileas.tiled_load weak %q[%c0, %c0] : i32, i32 of !tiles -> !rows
    %y = nv_tileas.convert_layout %x#0 : !rows -> !left
    %d = nv_tileas.dot %y, %b, %c {atom = #nv_tileas.atom<mma_sync>} : !left, !right, !c
    %p = nv_tileas.async.pipeline.create_pipeline : !p
    %i = nv_tileas.async.pipeline.create_iterator %p : !p -> !i
    %s = nv_tileas.async.pipeline.producer_acquire %p[%i] : !p, !i
    nv_tileas.async.pipeline.producer_copy %p, %s, %k[%c0, %c0] {tile = !rows, vector = 8 : i32} : !p, !tiles, i32, i32
    nv_tileas.async.pipeline.producer_commit %p, %s : !p
    scf.for %u = %c0 to %n step %c1 : i32 {
      %t = nv_tileas.async.pipeline.consumer_wait %p[%i] {pending = 0 : i32} : !p, !i
      nv_tileas.async.pipeline.consumer_release %p, %t : !p
    }
    nv_tileaa.return
  }
  // A store stays. What is before it moves, too, as nothing before the loop needs it.
  // CHECK-LABEL: @stored
  // CHECK: %[[Q:.*]]:2 = nv_tileas.tiled_load
  // CHECK-NEXT: nv_tileas.tiled_store
  // CHECK-NEXT: create_pipeline
  // CHECK: producer_commit
  // CHECK-NEXT: %[[M:.*]] = nv_tileaa.negf %[[Q]]#0
  // CHECK-NEXT: nv_tileaa.mulf %[[M]], %[[Q]]#0
  // CHECK-NEXT: scf.for
  nv_tileaa.func @stored(%q: !tiles, %k: !tiles, %n: i32) attributes {kernel_spec = #nv_tileaa.kernel_spec<num_warps = 4>} {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %x:2 = nv_tileas.tiled_load weak %q[%c0, %c0] : i32, i32 of !tiles -> !rows
    %m = nv_tileaa.negf %x#0 : !rows
    %o = nv_tileas.tiled_store weak %x#0, %q[%c1, %c0] : !rows, i32, i32 of !tiles
    %y = nv_tileaa.mulf %m, %x#0 : !rows
    %p = nv_tileas.async.pipeline.create_pipeline : !p
    %i = nv_tileas.async.pipeline.create_iterator %p : !p -> !i
    %s = nv_tileas.async.pipeline.producer_acquire %p[%i] : !p, !i
    nv_tileas.async.pipeline.producer_copy %p, %s, %k[%c0, %c0] {tile = !rows, vector = 8 : i32} : !p, !tiles, i32, i32
    nv_tileas.async.pipeline.producer_commit %p, %s : !p
    scf.for %u = %c0 to %n step %c1 : i32 {
      %t = nv_tileas.async.pipeline.consumer_wait %p[%i] {pending = 0 : i32} : !p, !i
      nv_tileas.async.pipeline.consumer_release %p, %t : !p
    }
    nv_tileaa.return
  }
  // A small load after the loop is issued before the loop, and before what waits there.
  // CHECK-LABEL: @small_load
  // CHECK: producer_commit
  // CHECK-NEXT: nv_tileas.tiled_load {{.*}} -> tensor<64xi32
  // CHECK-NEXT: nv_tileaa.negf
  // CHECK-NEXT: scf.for
  nv_tileaa.func @small_load(%q: !tiles, %rows: !indices, %k: !tiles, %n: i32) attributes {kernel_spec = #nv_tileaa.kernel_spec<num_warps = 4>} {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %x:2 = nv_tileas.tiled_load weak %q[%c0, %c0] : i32, i32 of !tiles -> !rows
    %m = nv_tileaa.negf %x#0 : !rows
    %p = nv_tileas.async.pipeline.create_pipeline : !p
    %i = nv_tileas.async.pipeline.create_iterator %p : !p -> !i
    %s = nv_tileas.async.pipeline.producer_acquire %p[%i] : !p, !i
    nv_tileas.async.pipeline.producer_copy %p, %s, %k[%c0, %c0] {tile = !rows, vector = 8 : i32} : !p, !tiles, i32, i32
    nv_tileas.async.pipeline.producer_commit %p, %s : !p
    scf.for %u = %c0 to %n step %c1 : i32 {
      %t = nv_tileas.async.pipeline.consumer_wait %p[%i] {pending = 0 : i32} : !p, !i
      nv_tileas.async.pipeline.consumer_release %p, %t : !p
    }
    %r:2 = nv_tileas.tiled_load weak %rows[%c0] : i32 of !indices -> !list
    nv_tileaa.return
  }
  // Tiles do not wait for the copies during another loop.
  // CHECK-LABEL: @earlier_loop
  // CHECK: nv_tileas.tiled_load
  // CHECK-NEXT: nv_tileaa.negf
  // CHECK-NEXT: scf.for
  // CHECK: create_pipeline
  nv_tileaa.func @earlier_loop(%q: !tiles, %k: !tiles, %n: i32) attributes {kernel_spec = #nv_tileaa.kernel_spec<num_warps = 4>} {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %x:2 = nv_tileas.tiled_load weak %q[%c0, %c0] : i32, i32 of !tiles -> !rows
    %m = nv_tileaa.negf %x#0 : !rows
    scf.for %u = %c0 to %n step %c1 : i32 {
      %o = nv_tileas.tiled_store weak %x#0, %q[%u, %c0] : !rows, i32, i32 of !tiles
    }
    %p = nv_tileas.async.pipeline.create_pipeline : !p
    %i = nv_tileas.async.pipeline.create_iterator %p : !p -> !i
    %s = nv_tileas.async.pipeline.producer_acquire %p[%i] : !p, !i
    nv_tileas.async.pipeline.producer_copy %p, %s, %k[%c0, %c0] {tile = !rows, vector = 8 : i32} : !p, !tiles, i32, i32
    nv_tileas.async.pipeline.producer_commit %p, %s : !p
    scf.for %u = %c0 to %n step %c1 : i32 {
      %t = nv_tileas.async.pipeline.consumer_wait %p[%i] {pending = 0 : i32} : !p, !i
      nv_tileas.async.pipeline.consumer_release %p, %t : !p
    }
    nv_tileaa.return
  }
  // A conversion has scratch memory beside 55 stages: 225280 and 4096 bytes, with 1024 to spare. Beside 56 it has not, and where two
  // blocks are to be resident neither.
  // CHECK-LABEL: @memory
  // CHECK: producer_commit
  // CHECK-NEXT: nv_tileas.convert_layout
  // CHECK-NEXT: scf.for
  // CHECK-LABEL: @no_memory
  // CHECK: nv_tileas.convert_layout
  // CHECK-NEXT: create_pipeline
  // CHECK-LABEL: @two_blocks
  // CHECK: nv_tileas.convert_layout
  // CHECK-NEXT: create_pipeline
  nv_tileaa.func @memory(%q: !tiles, %k: !tiles, %n: i32) attributes {kernel_spec = #nv_tileaa.kernel_spec<num_warps = 4>} {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %x:2 = nv_tileas.tiled_load weak %q[%c0, %c0] : i32, i32 of !tiles -> !rows
    %y = nv_tileas.convert_layout %x#0 : !rows -> !left
    %p = nv_tileas.async.pipeline.create_pipeline : !p55
    %i = nv_tileas.async.pipeline.create_iterator %p : !p55 -> !i55
    %s = nv_tileas.async.pipeline.producer_acquire %p[%i] : !p55, !i55
    nv_tileas.async.pipeline.producer_copy %p, %s, %k[%c0, %c0] {tile = !rows, vector = 8 : i32} : !p55, !tiles, i32, i32
    nv_tileas.async.pipeline.producer_commit %p, %s : !p55
    scf.for %u = %c0 to %n step %c1 : i32 {
      %t = nv_tileas.async.pipeline.consumer_wait %p[%i] {pending = 0 : i32} : !p55, !i55
      nv_tileas.async.pipeline.consumer_release %p, %t : !p55
    }
    nv_tileaa.return
  }
  nv_tileaa.func @no_memory(%q: !tiles, %k: !tiles, %n: i32) attributes {kernel_spec = #nv_tileaa.kernel_spec<num_warps = 4>} {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %x:2 = nv_tileas.tiled_load weak %q[%c0, %c0] : i32, i32 of !tiles -> !rows
    %y = nv_tileas.convert_layout %x#0 : !rows -> !left
    %p = nv_tileas.async.pipeline.create_pipeline : !p56
    %i = nv_tileas.async.pipeline.create_iterator %p : !p56 -> !i56
    %s = nv_tileas.async.pipeline.producer_acquire %p[%i] : !p56, !i56
    nv_tileas.async.pipeline.producer_copy %p, %s, %k[%c0, %c0] {tile = !rows, vector = 8 : i32} : !p56, !tiles, i32, i32
    nv_tileas.async.pipeline.producer_commit %p, %s : !p56
    scf.for %u = %c0 to %n step %c1 : i32 {
      %t = nv_tileas.async.pipeline.consumer_wait %p[%i] {pending = 0 : i32} : !p56, !i56
      nv_tileas.async.pipeline.consumer_release %p, %t : !p56
    }
    nv_tileaa.return
  }
  nv_tileaa.func @two_blocks(%q: !tiles, %k: !tiles, %n: i32) attributes {kernel_spec = #nv_tileaa.kernel_spec<num_warps = 4, occupancy = 2>} {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %x:2 = nv_tileas.tiled_load weak %q[%c0, %c0] : i32, i32 of !tiles -> !rows
    %y = nv_tileas.convert_layout %x#0 : !rows -> !left
    %p = nv_tileas.async.pipeline.create_pipeline : !p55
    %i = nv_tileas.async.pipeline.create_iterator %p : !p55 -> !i55
    %s = nv_tileas.async.pipeline.producer_acquire %p[%i] : !p55, !i55
    nv_tileas.async.pipeline.producer_copy %p, %s, %k[%c0, %c0] {tile = !rows, vector = 8 : i32} : !p55, !tiles, i32, i32
    nv_tileas.async.pipeline.producer_commit %p, %s : !p55
    scf.for %u = %c0 to %n step %c1 : i32 {
      %t = nv_tileas.async.pipeline.consumer_wait %p[%i] {pending = 0 : i32} : !p55, !i55
      nv_tileas.async.pipeline.consumer_release %p, %t : !p55
    }
    nv_tileaa.return
  }
  // No copy is started before the loop.
  // CHECK-LABEL: @no_copies
  // CHECK: nv_tileas.tiled_load
  // CHECK-NEXT: nv_tileaa.negf
  // CHECK-NEXT: create_pipeline
  nv_tileaa.func @no_copies(%q: !tiles, %n: i32) attributes {kernel_spec = #nv_tileaa.kernel_spec<num_warps = 4>} {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %x:2 = nv_tileas.tiled_load weak %q[%c0, %c0] : i32, i32 of !tiles -> !rows
    %m = nv_tileaa.negf %x#0 : !rows
    %p = nv_tileas.async.pipeline.create_pipeline : !p
    %i = nv_tileas.async.pipeline.create_iterator %p : !p -> !i
    scf.for %u = %c0 to %n step %c1 : i32 {
      %t = nv_tileas.async.pipeline.consumer_wait %p[%i] {pending = 0 : i32} : !p, !i
      nv_tileas.async.pipeline.consumer_release %p, %t : !p
    }
    nv_tileaa.return
  }
}
