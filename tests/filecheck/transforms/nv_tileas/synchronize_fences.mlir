// What threads store is fenced before wgmma reads it, or before a bulk copy overwrites it, through the async proxy.
// RUN: tilewright opt --pass allocate --pass synchronize %s | filecheck %s
// Nothing is inserted twice.
// RUN: tilewright opt --pass allocate --pass synchronize --pass allocate --pass synchronize %s | filecheck %s
#c = #nv_tileas.layout<[64, 16], register = [[0, 1], [8, 0], [0, 8]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0]]>
#a = #nv_tileas.layout<[64, 32], register = [[0, 1], [0, 2], [0, 4], [32, 0]], lane = [[0, 8], [0, 16], [1, 0], [2, 0], [4, 0]], warp = [[8, 0], [16, 0]]>
#b = #nv_tileas.layout<[32, 16], register = [[0, 1], [0, 2]], lane = [[0, 4], [0, 8], [1, 0], [2, 0], [4, 0]], warp = [[8, 0], [16, 0]]>
#a_placed = #nv_tileas.layout<[64, 32], offset = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [1, 0], [2, 8], [4, 16], [8, 0], [16, 0], [32, 0]]>
#b_placed = #nv_tileas.layout<[32, 16], offset = [[0, 1], [0, 2], [0, 4], [0, 8], [1, 0], [2, 0], [4, 8], [8, 0], [16, 0]]>
!a = tensor<64x32xf16, #a>
!b = tensor<32x16xf16, #b>
!a_placed = tensor<64x32xf16, #a_placed>
!b_placed = tensor<32x16xf16, #b_placed>
!c = tensor<64x16xf32, #c>
!a_tiles = !nv_tileaa.tiled_view<tile = [64, 32], source = !nv_tileaa.memref<72x152xf16, strides = [152, 1]>, padding = zero>
!b_tiles = !nv_tileaa.tiled_view<tile = [32, 16], source = !nv_tileaa.memref<152x16xf16, strides = [16, 1]>, padding = zero>
!pipeline = !nv_tileas.pipeline<1, [tensor<64x32xf16, #a_placed>, tensor<32x16xf16, #b_placed>]>
!iterator = !nv_tileas.pipeline_iterator<1>
#small = #nv_tileas.layout<[4, 4], register = [], lane = [[0, 1], [0, 2], [1, 0], [2, 0], [0, 0]], warp = []>
#matrix = #nv_tileas.layout<[4, 4], offset = [[1, 0], [2, 0], [0, 1], [0, 2]]>
#other = #nv_tileas.layout<[4, 64], register = [[0, 1], [0, 2], [0, 4]], lane = [[1, 0], [2, 0], [0, 8], [0, 16], [0, 32]], warp = []>
#lines = #nv_tileas.layout<[4, 64], register = [[0, 1], [1, 0], [2, 0]], lane = [[0, 2], [0, 4], [0, 8], [0, 16], [0, 32]], warp = []>
!bytes = !nv_tileas.pipeline<2, [tensor<256xf32>]>
!bytes_iterator = !nv_tileas.pipeline_iterator<2>
gpu.module @kernels attributes {nv_tileaa.target_spec = #nv_tileaa.target_spec<compute_capability = 90>} {
  // Threads store both operands: each fences what it has stored, then all wait for each other.
  // CHECK-LABEL: @stored_operands
  // CHECK: nv_tileas.convert_layout
  // CHECK-NEXT: nv_tileas.proxy_fence
  // CHECK-NEXT: nv_tileas.convert_layout
  // CHECK-NEXT: nv_tileas.proxy_fence
  // CHECK-NEXT: nv_tileas.barrier
  // CHECK-NEXT: nv_tileas.dot
  nv_tileaa.func @stored_operands(%x: !a, %y: !b, %init: !c) attributes {kernel_spec = #nv_tileaa.kernel_spec<num_warps = 4>} {
    %xp = nv_tileas.convert_layout %x : !a -> !a_placed
    %yp = nv_tileas.convert_layout %y : !b -> !b_placed
    %sum = nv_tileas.dot %xp, %yp, %init {atom = #nv_tileas.atom<wgmma>} : !a_placed, !b_placed, !c
    nv_tileaa.return
  }
  // Threads multiply by FMA what other threads have stored, all through the generic proxy.
  // CHECK-LABEL: @fma
  // CHECK-NOT: nv_tileas.proxy_fence
  // CHECK: nv_tileaa.return
  nv_tileaa.func @fma(%a: tensor<4x4xf32, #small>, %b: tensor<4x64xf32, #other>, %c: tensor<4x64xf32, #lines>) attributes {kernel_spec = #nv_tileaa.kernel_spec<num_warps = 1>} {
    %p = nv_tileas.convert_layout %a : tensor<4x4xf32, #small> -> tensor<4x4xf32, #matrix>
    %d = nv_tileas.dot %p, %b, %c {atom = #nv_tileas.atom<fma>} : tensor<4x4xf32, #matrix>, tensor<4x64xf32, #other>, tensor<4x64xf32, #lines>
    nv_tileaa.return
  }
  // A thread waits for its own copies, fences them, and waits for the other threads.
  // CHECK-LABEL: @copied_operands
  // CHECK: consumer_wait
  // CHECK-NEXT: nv_tileas.proxy_fence
  // CHECK-NEXT: nv_tileas.barrier
  // CHECK-NEXT: consumer_read
  // CHECK-NOT: nv_tileas.barrier
  // CHECK: nv_tileaa.return
  nv_tileaa.func @copied_operands(%av: !a_tiles, %bv: !b_tiles, %init: !c) attributes {kernel_spec = #nv_tileaa.kernel_spec<num_warps = 4>} {
    %c0 = arith.constant 0 : i32
    %p = nv_tileas.async.pipeline.create_pipeline : !pipeline
    %i = nv_tileas.async.pipeline.create_iterator %p : !pipeline -> !iterator
    %empty = nv_tileas.async.pipeline.producer_acquire %p[%i] : !pipeline, !iterator
    nv_tileas.async.pipeline.producer_copy %p, %empty, %av[%c0, %c0] {tile = !a, vector = 8 : i32} : !pipeline, !a_tiles, i32, i32
    nv_tileas.async.pipeline.producer_copy %p, %empty, %bv[%c0, %c0] {number = 1 : i32, tile = !b, vector = 4 : i32} : !pipeline, !b_tiles, i32, i32
    nv_tileas.async.pipeline.producer_commit %p, %empty : !pipeline
    %full = nv_tileas.async.pipeline.consumer_wait %p[%i] {pending = 0 : i32} : !pipeline, !iterator
    %x = nv_tileas.async.pipeline.consumer_read %p, %full {number = 0 : i32} : !pipeline -> !a_placed
    %y = nv_tileas.async.pipeline.consumer_read %p, %full {number = 1 : i32} : !pipeline -> !b_placed
    %next = nv_tileas.dot %x, %y, %init {atom = #nv_tileas.atom<wgmma>} : !a_placed, !b_placed, !c
    nv_tileas.async.pipeline.consumer_release %p, %full : !pipeline
    nv_tileaa.return
  }
  // Between agents, mbarriers make the copies of all threads known to the consumers, who fence.
  // CHECK-LABEL: @copied_by_an_agent
  // CHECK: producer_copy
  // CHECK-NEXT: producer_copy
  // CHECK-NEXT: producer_commit
  // CHECK: consumer_wait
  // CHECK-NEXT: nv_tileas.proxy_fence
  // CHECK-NEXT: consumer_read
  // CHECK-NOT: nv_tileas.barrier
  // CHECK: nv_tileaa.return
  nv_tileaa.func @copied_by_an_agent(%av: !a_tiles, %bv: !b_tiles, %init: !c) attributes {kernel_spec = #nv_tileaa.kernel_spec<num_warps = 8>} {
    %c0 = arith.constant 0 : i32
    %p = nv_tileas.async.pipeline.create_pipeline : !pipeline
    nv_tileas.async.pipeline.agent_switch attributes {first = 4 : i32, warps = 4 : i32} {
      %i = nv_tileas.async.pipeline.create_iterator %p : !pipeline -> !iterator
      %empty = nv_tileas.async.pipeline.producer_acquire %p[%i] : !pipeline, !iterator
      nv_tileas.async.pipeline.producer_copy %p, %empty, %av[%c0, %c0] {tile = !a, vector = 8 : i32} : !pipeline, !a_tiles, i32, i32
      nv_tileas.async.pipeline.producer_copy %p, %empty, %bv[%c0, %c0] {number = 1 : i32, tile = !b, vector = 4 : i32} : !pipeline, !b_tiles, i32, i32
      nv_tileas.async.pipeline.producer_commit %p, %empty : !pipeline
      nv_tileas.async.pipeline.yield
    }
    nv_tileas.async.pipeline.agent_switch attributes {first = 0 : i32, warps = 4 : i32} {
      %i = nv_tileas.async.pipeline.create_iterator %p : !pipeline -> !iterator
      %full = nv_tileas.async.pipeline.consumer_wait %p[%i] : !pipeline, !iterator
      %x = nv_tileas.async.pipeline.consumer_read %p, %full {number = 0 : i32} : !pipeline -> !a_placed
      %y = nv_tileas.async.pipeline.consumer_read %p, %full {number = 1 : i32} : !pipeline -> !b_placed
      %next = nv_tileas.dot %x, %y, %init {atom = #nv_tileas.atom<wgmma>} : !a_placed, !b_placed, !c
      nv_tileas.async.pipeline.consumer_release %p, %full : !pipeline
      nv_tileas.async.pipeline.yield
    }
    nv_tileaa.return
  }
  // An agent stores the operands: it fences before it says that the stage is full.
  // CHECK-LABEL: @stored_by_an_agent
  // CHECK: producer_write
  // CHECK-NEXT: nv_tileas.proxy_fence
  // CHECK-NEXT: producer_commit
  // CHECK: consumer_wait
  // CHECK-NEXT: consumer_read
  nv_tileaa.func @stored_by_an_agent(%x: f16, %init: !c) attributes {kernel_spec = #nv_tileaa.kernel_spec<num_warps = 8>} {
    %p = nv_tileas.async.pipeline.create_pipeline : !pipeline
    nv_tileas.async.pipeline.agent_switch attributes {first = 4 : i32, warps = 4 : i32} {
      %a = nv_tileas.splat %x : f16 -> !a
      %b = nv_tileas.splat %x : f16 -> !b
      %i = nv_tileas.async.pipeline.create_iterator %p : !pipeline -> !iterator
      %empty = nv_tileas.async.pipeline.producer_acquire %p[%i] : !pipeline, !iterator
      nv_tileas.async.pipeline.producer_write %p, %empty, %a, %b : !pipeline, !a, !b
      nv_tileas.async.pipeline.producer_commit %p, %empty : !pipeline
      nv_tileas.async.pipeline.yield
    }
    nv_tileas.async.pipeline.agent_switch attributes {first = 0 : i32, warps = 4 : i32} {
      %i = nv_tileas.async.pipeline.create_iterator %p : !pipeline -> !iterator
      %full = nv_tileas.async.pipeline.consumer_wait %p[%i] : !pipeline, !iterator
      %u = nv_tileas.async.pipeline.consumer_read %p, %full {number = 0 : i32} : !pipeline -> !a_placed
      %v = nv_tileas.async.pipeline.consumer_read %p, %full {number = 1 : i32} : !pipeline -> !b_placed
      %next = nv_tileas.dot %u, %v, %init {atom = #nv_tileas.atom<wgmma>} : !a_placed, !b_placed, !c
      nv_tileas.async.pipeline.consumer_release %p, %full : !pipeline
      nv_tileas.async.pipeline.yield
    }
    nv_tileaa.return
  }
  // The pipeline has memory that threads have stored to before it was created, and is copied to in bulk.
  // CHECK-LABEL: @copied_over_stores
  // CHECK: nv_tileas.dot
  // CHECK-NEXT: nv_tileas.proxy_fence
  // CHECK-NEXT: create_pipeline
  // CHECK: producer_acquire
  // CHECK-NEXT: producer_copy
  nv_tileaa.func @copied_over_stores(%x: !a, %y: !b, %init: !c, %q: !nv_tileaa.ptr<f32>) attributes {kernel_spec = #nv_tileaa.kernel_spec<num_warps = 8>} {
    %xp = nv_tileas.convert_layout %x : !a -> !a_placed
    %yp = nv_tileas.convert_layout %y : !b -> !b_placed
    %sum = nv_tileas.dot %xp, %yp, %init {atom = #nv_tileas.atom<wgmma>} : !a_placed, !b_placed, !c
    %p = nv_tileas.async.pipeline.create_pipeline : !bytes
    nv_tileas.async.pipeline.agent_switch attributes {first = 0 : i32, warps = 4 : i32} {
      %i = nv_tileas.async.pipeline.create_iterator %p : !bytes -> !bytes_iterator
      %s = nv_tileas.async.pipeline.producer_acquire %p[%i] : !bytes, !bytes_iterator
      nv_tileas.async.pipeline.producer_copy %p, %s, %q : !bytes, !nv_tileaa.ptr<f32>
      nv_tileas.async.pipeline.producer_commit %p, %s : !bytes
      nv_tileas.async.pipeline.yield
    }
    nv_tileas.async.pipeline.agent_switch attributes {first = 4 : i32, warps = 4 : i32} {
      %i = nv_tileas.async.pipeline.create_iterator %p : !bytes -> !bytes_iterator
      %f = nv_tileas.async.pipeline.consumer_wait %p[%i] : !bytes, !bytes_iterator
      nv_tileas.async.pipeline.consumer_release %p, %f : !bytes
      nv_tileas.async.pipeline.yield
    }
    nv_tileaa.return
  }
}
