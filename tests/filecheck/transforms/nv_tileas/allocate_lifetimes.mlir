// Pipelines and tiles in shared memory take memory while they are live; a barrier precedes the reuse of memory that may still be read.
// RUN: tilewright opt --pass allocate --pass synchronize %s | filecheck %s
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
#row_major = #nv_tileas.layout<[64, 16], register = [[8, 0], [16, 0], [32, 0]], lane = [[0, 1], [0, 2], [0, 4], [0, 8], [1, 0]], warp = [[2, 0], [4, 0]]>
!row_major = tensor<64x16xf32, #row_major>
!pipeline = !nv_tileas.pipeline<1, [tensor<64x32xf16, #a_placed>, tensor<32x16xf16, #b_placed>]>
!iterator = !nv_tileas.pipeline_iterator<1>
#small = #nv_tileas.layout<[4, 4], register = [], lane = [[0, 1], [0, 2], [1, 0], [2, 0], [0, 0]], warp = []>
#matrix = #nv_tileas.layout<[4, 4], offset = [[1, 0], [2, 0], [0, 1], [0, 2]]>
#other = #nv_tileas.layout<[4, 64], register = [[0, 1], [0, 2], [0, 4]], lane = [[1, 0], [2, 0], [0, 8], [0, 16], [0, 32]], warp = []>
#lines = #nv_tileas.layout<[4, 64], register = [[0, 1], [1, 0], [2, 0]], lane = [[0, 2], [0, 4], [0, 8], [0, 16], [0, 32]], warp = []>
gpu.module @kernels attributes {nv_tileaa.target_spec = #nv_tileaa.target_spec<compute_capability = 90>} {
  // A has 64 * 32 * 2 bytes and B 32 * 16 * 2. All threads store both, and wgmma reads what other threads stored.
  // CHECK-LABEL: @live_together
  // CHECK-SAME: nv_tileas.scratch_bytes = 5120
  // CHECK: nv_tileas.convert_layout {{.*}}scratch = 0 : i64
  // CHECK-NEXT: nv_tileas.proxy_fence
  // CHECK-NEXT: nv_tileas.convert_layout {{.*}}scratch = 4096 : i64
  // CHECK-NEXT: nv_tileas.proxy_fence
  // CHECK-NEXT: nv_tileas.barrier
  // CHECK-NEXT: nv_tileas.dot
  nv_tileaa.func @live_together(%x: !a, %y: !b, %init: !c) attributes {kernel_spec = #nv_tileaa.kernel_spec<num_warps = 4>} {
    %xp = nv_tileas.convert_layout %x : !a -> !a_placed
    %yp = nv_tileas.convert_layout %y : !b -> !b_placed
    %sum = nv_tileas.dot %xp, %yp, %init {atom = #nv_tileas.atom<wgmma>} : !a_placed, !b_placed, !c
    nv_tileaa.return
  }
  // The second A is stored after the first dot, where the first A is no longer live; other warps may still read it.
  // CHECK-LABEL: @one_after_the_other
  // CHECK-SAME: nv_tileas.scratch_bytes = 5120
  // CHECK: nv_tileas.convert_layout %arg1 {scratch = 4096 : i64}
  // CHECK: nv_tileas.convert_layout %arg0 {scratch = 0 : i64}
  // CHECK: nv_tileas.dot
  // CHECK-NEXT: nv_tileas.barrier
  // CHECK-NEXT: nv_tileas.convert_layout %arg0 {scratch = 0 : i64}
  // CHECK-NEXT: nv_tileas.proxy_fence
  // CHECK-NEXT: nv_tileas.barrier
  // CHECK-NEXT: nv_tileas.dot
  nv_tileaa.func @one_after_the_other(%x: !a, %y: !b, %init: !c) attributes {kernel_spec = #nv_tileaa.kernel_spec<num_warps = 4>} {
    %yp = nv_tileas.convert_layout %y : !b -> !b_placed
    %first = nv_tileas.convert_layout %x : !a -> !a_placed
    %sum = nv_tileas.dot %first, %yp, %init {atom = #nv_tileas.atom<wgmma>} : !a_placed, !b_placed, !c
    %second = nv_tileas.convert_layout %x : !a -> !a_placed
    %more = nv_tileas.dot %second, %yp, %sum {atom = #nv_tileas.atom<wgmma>} : !a_placed, !b_placed, !c
    nv_tileaa.return
  }
  // The conversion after the loop goes through 64 * 16 * 4 bytes, all of them in the stage, which the last dot may still read.
  // CHECK-LABEL: @epilogue
  // CHECK: create_pipeline {scratch = 0 : i64}
  // CHECK: scf.for
  // CHECK: nv_tileas.dot
  // CHECK: scf.yield
  // CHECK-NEXT: }
  // CHECK-NEXT: nv_tileas.barrier
  // CHECK-NEXT: nv_tileas.convert_layout {{.*}}scratch = 0 : i64
  nv_tileaa.func @epilogue(%av: !a_tiles, %bv: !b_tiles, %init: !c, %n: i32) attributes {kernel_spec = #nv_tileaa.kernel_spec<num_warps = 4>} {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %p = nv_tileas.async.pipeline.create_pipeline : !pipeline
    %i = nv_tileas.async.pipeline.create_iterator %p : !pipeline -> !iterator
    %empty = nv_tileas.async.pipeline.producer_acquire %p[%i] : !pipeline, !iterator
    nv_tileas.async.pipeline.producer_copy %p, %empty, %av[%c0, %c0] {tile = !a, vector = 8 : i32} : !pipeline, !a_tiles, i32, i32
    nv_tileas.async.pipeline.producer_copy %p, %empty, %bv[%c0, %c0] {number = 1 : i32, tile = !b, vector = 4 : i32} : !pipeline, !b_tiles, i32, i32
    nv_tileas.async.pipeline.producer_commit %p, %empty : !pipeline
    %sum = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %init) -> (!c) : i32 {
      %full = nv_tileas.async.pipeline.consumer_wait %p[%i] {pending = 0 : i32} : !pipeline, !iterator
      %x = nv_tileas.async.pipeline.consumer_read %p, %full {number = 0 : i32} : !pipeline -> !a_placed
      %y = nv_tileas.async.pipeline.consumer_read %p, %full {number = 1 : i32} : !pipeline -> !b_placed
      %next = nv_tileas.dot %x, %y, %acc {atom = #nv_tileas.atom<wgmma>} : !a_placed, !b_placed, !c
      nv_tileas.async.pipeline.consumer_release %p, %full : !pipeline
      scf.yield %next : !c
    }
    %out = nv_tileas.convert_layout %sum : !c -> !row_major
    nv_tileaa.return
  }
  // The same where threads store B in each iteration: the barrier before the dot comes before its read of A, which the conversion still has to wait for.
  // CHECK-LABEL: @epilogue_with_a_stored_operand
  // CHECK: create_pipeline {scratch = 0 : i64}
  // CHECK: scf.for
  // CHECK: nv_tileas.convert_layout {{.*}}scratch = 5120 : i64
  // CHECK-NEXT: nv_tileas.proxy_fence
  // CHECK-NEXT: nv_tileas.barrier
  // CHECK-NEXT: nv_tileas.dot
  // CHECK: scf.yield
  // CHECK-NEXT: }
  // CHECK-NEXT: nv_tileas.barrier
  // CHECK-NEXT: nv_tileas.convert_layout {{.*}}scratch = 0 : i64
  nv_tileaa.func @epilogue_with_a_stored_operand(%av: !a_tiles, %bv: !b_tiles, %z: !b, %init: !c, %n: i32) attributes {kernel_spec = #nv_tileaa.kernel_spec<num_warps = 4>} {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %p = nv_tileas.async.pipeline.create_pipeline : !pipeline
    %i = nv_tileas.async.pipeline.create_iterator %p : !pipeline -> !iterator
    %empty = nv_tileas.async.pipeline.producer_acquire %p[%i] : !pipeline, !iterator
    nv_tileas.async.pipeline.producer_copy %p, %empty, %av[%c0, %c0] {tile = !a, vector = 8 : i32} : !pipeline, !a_tiles, i32, i32
    nv_tileas.async.pipeline.producer_copy %p, %empty, %bv[%c0, %c0] {number = 1 : i32, tile = !b, vector = 4 : i32} : !pipeline, !b_tiles, i32, i32
    nv_tileas.async.pipeline.producer_commit %p, %empty : !pipeline
    %sum = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %init) -> (!c) : i32 {
      %full = nv_tileas.async.pipeline.consumer_wait %p[%i] {pending = 0 : i32} : !pipeline, !iterator
      %x = nv_tileas.async.pipeline.consumer_read %p, %full {number = 0 : i32} : !pipeline -> !a_placed
      %y = nv_tileas.convert_layout %z : !b -> !b_placed
      %next = nv_tileas.dot %x, %y, %acc {atom = #nv_tileas.atom<wgmma>} : !a_placed, !b_placed, !c
      nv_tileas.async.pipeline.consumer_release %p, %full : !pipeline
      scf.yield %next : !c
    }
    %out = nv_tileas.convert_layout %sum : !c -> !row_major
    nv_tileaa.return
  }
  // An asynchronous dot reads its operands until the wait: a tile that is stored before it has other memory than one after it.
  // CHECK-LABEL: @until_the_wait
  // CHECK-SAME: nv_tileas.scratch_bytes = 9216
  // CHECK: nv_tileas.convert_layout %arg1 {scratch = 8192 : i64}
  // CHECK-NEXT: nv_tileas.proxy_fence
  // CHECK-NEXT: nv_tileas.convert_layout %arg0 {scratch = 0 : i64}
  // CHECK-NEXT: nv_tileas.proxy_fence
  // CHECK-NEXT: nv_tileas.barrier
  // CHECK-NEXT: nv_tileas.dot {{.*}}asynchronous
  // CHECK-NEXT: nv_tileas.convert_layout %arg0 {scratch = 4096 : i64}
  // CHECK-NEXT: nv_tileas.proxy_fence
  // CHECK-NEXT: nv_tileas.dot_wait
  // CHECK-NEXT: nv_tileas.barrier
  // CHECK-NEXT: nv_tileas.dot
  // CHECK-NEXT: nv_tileas.convert_layout %arg0 {scratch = 0 : i64}
  // CHECK-NEXT: nv_tileas.proxy_fence
  // CHECK-NEXT: nv_tileas.barrier
  // CHECK-NEXT: nv_tileas.dot
  nv_tileaa.func @until_the_wait(%x: !a, %y: !b, %init: !c) attributes {kernel_spec = #nv_tileaa.kernel_spec<num_warps = 4>} {
    %yp = nv_tileas.convert_layout %y : !b -> !b_placed
    %first = nv_tileas.convert_layout %x : !a -> !a_placed
    %d = nv_tileas.dot %first, %yp, %init {asynchronous, atom = #nv_tileas.atom<wgmma>} : !a_placed, !b_placed, !c
    %second = nv_tileas.convert_layout %x : !a -> !a_placed
    %sum = nv_tileas.dot_wait %d : !c
    %more = nv_tileas.dot %second, %yp, %sum {atom = #nv_tileas.atom<wgmma>} : !a_placed, !b_placed, !c
    %third = nv_tileas.convert_layout %x : !a -> !a_placed
    %all = nv_tileas.dot %third, %yp, %more {atom = #nv_tileas.atom<wgmma>} : !a_placed, !b_placed, !c
    nv_tileaa.return
  }
  // Where the wait is in another block, the tile has its memory to the end.
  // CHECK-LABEL: @waited_for_elsewhere
  // CHECK-SAME: nv_tileas.scratch_bytes = 9216
  // CHECK: nv_tileas.dot_wait
  // CHECK-NEXT: nv_tileas.convert_layout %arg0 {scratch = 4096 : i64}
  nv_tileaa.func @waited_for_elsewhere(%x: !a, %y: !b, %init: !c, %holds: i1) attributes {kernel_spec = #nv_tileaa.kernel_spec<num_warps = 4>} {
    %yp = nv_tileas.convert_layout %y : !b -> !b_placed
    %first = nv_tileas.convert_layout %x : !a -> !a_placed
    %d = scf.if %holds -> (!c) {
      %e = nv_tileas.dot %first, %yp, %init {asynchronous, atom = #nv_tileas.atom<wgmma>} : !a_placed, !b_placed, !c
      scf.yield %e : !c
    } else {
      scf.yield %init : !c
    }
    %sum = nv_tileas.dot_wait %d : !c
    %second = nv_tileas.convert_layout %x : !a -> !a_placed
    %more = nv_tileas.dot %second, %yp, %sum {atom = #nv_tileas.atom<wgmma>} : !a_placed, !b_placed, !c
    nv_tileaa.return
  }
  // The barrier before the second dot precedes the end of the first one: another barrier is needed before the next iteration stores its A.
  // CHECK-LABEL: @in_flight_at_a_barrier
  // CHECK: scf.for
  // CHECK-NEXT: nv_tileas.barrier
  // CHECK-NEXT: nv_tileas.convert_layout %arg0
  // CHECK-NEXT: nv_tileas.proxy_fence
  // CHECK-NEXT: nv_tileas.barrier
  // CHECK-NEXT: nv_tileas.dot {{.*}}asynchronous
  // CHECK-NEXT: nv_tileas.convert_layout %arg0
  // CHECK-NEXT: nv_tileas.proxy_fence
  // CHECK-NEXT: nv_tileas.barrier
  // CHECK-NEXT: nv_tileas.dot {{.*}}asynchronous
  // CHECK-NEXT: nv_tileas.dot_wait
  // CHECK-NEXT: nv_tileas.dot_wait
  // CHECK-NEXT: nv_tileaa.mulf
  // CHECK-NEXT: scf.yield
  nv_tileaa.func @in_flight_at_a_barrier(%x: !a, %y: !b, %init: !c, %n: i32) attributes {kernel_spec = #nv_tileaa.kernel_spec<num_warps = 4>} {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %yp = nv_tileas.convert_layout %y : !b -> !b_placed
    %sum = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %init) -> (!c) : i32 {
      %first = nv_tileas.convert_layout %x : !a -> !a_placed
      %d = nv_tileas.dot %first, %yp, %init {asynchronous, atom = #nv_tileas.atom<wgmma>} : !a_placed, !b_placed, !c
      %second = nv_tileas.convert_layout %x : !a -> !a_placed
      %e = nv_tileas.dot %second, %yp, %acc {asynchronous, atom = #nv_tileas.atom<wgmma>} : !a_placed, !b_placed, !c
      %s = nv_tileas.dot_wait %d {pending = 1 : i32} : !c
      %o = nv_tileas.dot_wait %e {late} : !c
      %next = nv_tileaa.mulf %s, %o : !c
      scf.yield %next : !c
    }
    nv_tileaa.return
  }
  // A dot by FMA stages B through scratch memory, and reads A from its placement, after the barrier in between. A is
  // written again in the next iteration: a barrier precedes it.
  // CHECK-LABEL: @staged_beside_a_placement
  // CHECK: scf.for
  // CHECK: nv_tileas.barrier
  // CHECK-NEXT: nv_tileas.convert_layout {{.*}}scratch = 0 : i64
  // CHECK-NEXT: nv_tileas.dot {{.*}}scratch = 128 : i64
  // CHECK: scf.yield
  nv_tileaa.func @staged_beside_a_placement(%a: tensor<4x4xf32, #small>, %b: tensor<4x64xf32, #other>, %c: tensor<4x64xf32, #lines>, %n: i32) attributes {kernel_spec = #nv_tileaa.kernel_spec<num_warps = 1>} {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %sum = scf.for %i = %c0 to %n step %c1 iter_args(%x = %c) -> (tensor<4x64xf32, #lines>) : i32 {
      %p = nv_tileas.convert_layout %a : tensor<4x4xf32, #small> -> tensor<4x4xf32, #matrix>
      %d = nv_tileas.dot %p, %b, %x {atom = #nv_tileas.atom<fma>} : tensor<4x4xf32, #matrix>, tensor<4x64xf32, #other>, tensor<4x64xf32, #lines>
      scf.yield %d : tensor<4x64xf32, #lines>
    }
    nv_tileaa.return
  }
}
