// Which loads a loop copies early, in how many stages, and which dots overlap with the next iteration.
// RUN: tilewright opt --pass schedule-loops %s | filecheck %s
// RUN: tilewright opt --pass 'record-requests{stages=3 in-flight=1},schedule-loops' %s | filecheck %s --check-prefix=FORCED
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
  // Of six stages one is read, and five are copied to: other blocks on the SM multiply while a dot of this one is waited for.
  // CHECK-LABEL: @gemm
  // CHECK: nv_tileas.tiled_load {{.*}}nv_tileas.engine = #nv_tileas.engine<cp_async>
  // CHECK: nv_tileas.tiled_load {{.*}}nv_tileas.engine = #nv_tileas.engine<cp_async>
  // CHECK: nv_tileas.dot {{.*}}nv_tileas.in_flight
  // CHECK: nv_tileas.schedule<stages = 6, distance = 5, lag = 0>
  // FORCED-LABEL: @gemm
  // FORCED: nv_tileas.dot {{.*}}nv_tileas.in_flight
  // FORCED: nv_tileas.schedule<stages = 3, distance = 1, lag = 1>
  nv_tileaa.func @gemm(%av: !a_tiles, %bv: !b_tiles, %init: !c, %n: i32) attributes {kernel_spec = #nv_tileaa.kernel_spec<num_warps = 4>} {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %sum = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %init) -> (!c) : i32 {
      %x:2 = nv_tileas.tiled_load weak %av[%c0, %k] {vector = 8 : i32} : i32, i32 of !a_tiles -> !a
      %xp = nv_tileas.convert_layout %x#0 : !a -> !a_placed
      %y:2 = nv_tileas.tiled_load weak %bv[%k, %c0] {vector = 4 : i32} : i32, i32 of !b_tiles -> !b
      %yp = nv_tileas.convert_layout %y#0 : !b -> !b_placed
      %next = nv_tileas.dot %xp, %yp, %acc {atom = #nv_tileas.atom<wgmma>} : !a_placed, !b_placed, !c
      scf.yield %next : !c
    }
    nv_tileaa.return
  }
  // The accumulator is read in the loop, so the dot is complete at the end of its iteration.
  // CHECK-LABEL: @read_accumulator
  // CHECK-NOT: nv_tileas.in_flight
  // CHECK: nv_tileas.schedule<stages = 6, distance = 5, lag = 0>
  nv_tileaa.func @read_accumulator(%av: !a_tiles, %bv: !b_tiles, %init: !c, %n: i32) attributes {kernel_spec = #nv_tileaa.kernel_spec<num_warps = 4>} {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %sum = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %init) -> (!c) : i32 {
      %x:2 = nv_tileas.tiled_load weak %av[%c0, %k] {vector = 8 : i32} : i32, i32 of !a_tiles -> !a
      %xp = nv_tileas.convert_layout %x#0 : !a -> !a_placed
      %y:2 = nv_tileas.tiled_load weak %bv[%k, %c0] {vector = 4 : i32} : i32, i32 of !b_tiles -> !b
      %yp = nv_tileas.convert_layout %y#0 : !b -> !b_placed
      %product = nv_tileas.dot %xp, %yp, %acc {atom = #nv_tileas.atom<wgmma>} : !a_placed, !b_placed, !c
      %next = nv_tileaa.addf %product, %init : !c
      scf.yield %next : !c
    }
    nv_tileaa.return
  }
  // Each thread uses only what it loaded: no barrier, and all stages of 8 KiB are ahead.
  // CHECK-LABEL: @private
  // CHECK: nv_tileas.tiled_load {{.*}}nv_tileas.engine = #nv_tileas.engine<cp_async>
  // CHECK: nv_tileas.schedule<stages = 4, distance = 4, lag = 0>
  // FORCED-LABEL: @private
  // FORCED: nv_tileas.schedule<stages = 3, distance = 3, lag = 0>
  nv_tileaa.func @private(%xv: !row_tiles, %init: !rows, %n: i32) attributes {kernel_spec = #nv_tileaa.kernel_spec<num_warps = 4>} {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %sum = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %init) -> (!rows) : i32 {
      %x:2 = nv_tileas.tiled_load weak %xv[%i, %c0] {vector = 4 : i32} : i32, i32 of !row_tiles -> !rows
      %next = nv_tileaa.addf %acc, %x#0 : !rows
      scf.yield %next : !rows
    }
    nv_tileaa.return
  }
  // The load waits for a store of the iteration before.
  // CHECK-LABEL: @ordered
  // CHECK-NOT: nv_tileas.schedule
  // CHECK-NOT: nv_tileas.engine
  // FORCED-LABEL: @ordered
  // FORCED-NOT: nv_tileas.schedule
  nv_tileaa.func @ordered(%xv: !row_tiles, %n: i32, %before: !nv_tileaa.mem_token) attributes {kernel_spec = #nv_tileaa.kernel_spec<num_warps = 4>} {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %last = scf.for %i = %c0 to %n step %c1 iter_args(%t = %before) -> (!nv_tileaa.mem_token) : i32 {
      %x:2 = nv_tileas.tiled_load weak %xv[%i, %c0] token = %t {vector = 4 : i32} : i32, i32 of !row_tiles -> !rows
      %s = nv_tileas.tiled_store weak %x#0, %xv[%i, %c1] token = %x#1 : !rows, i32, i32 of !row_tiles
      scf.yield %s : !nv_tileaa.mem_token
    }
    nv_tileaa.return
  }
}
