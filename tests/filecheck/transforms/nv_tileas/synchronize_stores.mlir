// A store by TMA is in flight until a wait for it: before what tokens order after it, and before a release.
// RUN: tilewright opt --pass synchronize %s | filecheck %s
#c = #nv_tileas.layout<[64, 64], register = [[0, 1], [8, 0], [0, 8], [0, 16], [0, 32]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0]]>
#rows = #nv_tileas.layout<[64, 64], register = [[0, 1], [0, 2], [0, 4], [16, 0], [32, 0]], lane = [[0, 8], [0, 16], [0, 32], [1, 0], [2, 0]], warp = [[4, 0], [8, 0]]>
// Rows of four warps, each 16 of them as a box: the bits of the warp change places, so that no box has rows of two.
#staged = #nv_tileas.layout<[64, 64], offset = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [0, 32], [1, 8], [2, 16], [4, 32], [8, 0], [32, 0], [16, 0]]>
!half = tensor<64x64xf16, #c>
!loaded = tensor<64x64xf16, #rows>
!tiles = !nv_tileaa.tiled_view<tile = [64, 64], source = !nv_tileaa.memref<512x512xf16, strides = [512, 1]>>
!map = !nv_tileas.tensor_map<!tiles, tensor<64x64xf16, #staged>>
!buffer = !nv_tileas.buffer<shared, 4, 16x64xf16>
gpu.module @kernels attributes {nv_tileaa.target_spec = #nv_tileaa.target_spec<compute_capability = 90>} {
  // Another thread than the one that waits loads: a barrier follows the wait.
  // CHECK-LABEL: @load
  // CHECK: nv_tileas.async.tiled_store
  // CHECK-NEXT: nv_tileas.async.store_wait
  // CHECK-NEXT: nv_tileas.barrier
  // CHECK-NEXT: nv_tileas.tiled_load
  nv_tileaa.func @load(%x: !half, %view: !tiles, %map: !map, %i: i32) attributes {kernel_spec = #nv_tileaa.kernel_spec<num_warps = 4>} {
    %buffer = nv_tileas.alloc_tensor : !buffer
    %t0 = nv_tileas.async.tiled_store weak %x, %view[%i, %i] map = %map buffer = %buffer : !half, i32, i32 of !tiles, !map, !buffer
    %y:2 = nv_tileas.tiled_load weak %view[%i, %i] token = %t0 : i32, i32 of !tiles -> !loaded
    nv_tileaa.return
  }
  // Lanes of the same warp load: the wait suffices.
  // CHECK-LABEL: @load_in_warps
  // CHECK: nv_tileas.async.tiled_store
  // CHECK-NEXT: nv_tileas.async.store_wait
  // CHECK-NEXT: nv_tileas.tiled_load
  nv_tileaa.func @load_in_warps(%x: !half, %view: !tiles, %map: !map, %i: i32) attributes {kernel_spec = #nv_tileaa.kernel_spec<num_warps = 4>} {
    %buffer = nv_tileas.alloc_tensor : !buffer
    %t0 = nv_tileas.async.tiled_store weak %x, %view[%i, %i] map = %map buffer = %buffer : !half, i32, i32 of !tiles, !map, !buffer
    %y:2 = nv_tileas.tiled_load weak %view[%i, %i] token = %t0 : i32, i32 of !tiles -> !half
    nv_tileaa.return
  }
  // Without a token nothing waits.
  // CHECK-LABEL: @unordered
  // CHECK-NOT: store_wait
  // CHECK-NOT: nv_tileas.barrier
  // CHECK: nv_tileaa.return
  nv_tileaa.func @unordered(%x: !half, %view: !tiles, %map: !map, %i: i32) attributes {kernel_spec = #nv_tileaa.kernel_spec<num_warps = 4>} {
    %buffer = nv_tileas.alloc_tensor : !buffer
    %t0 = nv_tileas.async.tiled_store weak %x, %view[%i, %i] map = %map buffer = %buffer : !half, i32, i32 of !tiles, !map, !buffer
    %y:2 = nv_tileas.tiled_load weak %view[%i, %i] : i32, i32 of !tiles -> !loaded
    nv_tileaa.return
  }
  // The same warp stores the same box again: its stores are not ordered before they are complete. No other warp is concerned.
  // CHECK-LABEL: @stores_of_a_loop
  // CHECK: scf.for
  // CHECK-NEXT: nv_tileas.async.store_wait
  // CHECK-NEXT: nv_tileas.async.tiled_store
  // CHECK-NOT: nv_tileas.barrier
  // CHECK: nv_tileaa.return
  nv_tileaa.func @stores_of_a_loop(%x: !half, %view: !tiles, %map: !map, %n: i32, %t: !nv_tileaa.mem_token) attributes {kernel_spec = #nv_tileaa.kernel_spec<num_warps = 4>} {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %buffer = nv_tileas.alloc_tensor : !buffer
    %end = scf.for %i = %c0 to %n step %c1 iter_args(%before = %t) -> (!nv_tileaa.mem_token) : i32 {
      %t0 = nv_tileas.async.tiled_store weak %x, %view[%i, %c0] map = %map buffer = %buffer token = %before : !half, i32, i32 of !tiles, !map, !buffer
      scf.yield %t0 : !nv_tileaa.mem_token
    }
    nv_tileaa.return
  }
  // A barrier does not complete the store: the release waits for it. After the wait it needs none.
  // CHECK-LABEL: @release
  // CHECK: nv_tileas.async.tiled_store
  // CHECK-NEXT: nv_tileas.barrier
  // CHECK-NEXT: nv_tileas.async.store_wait
  // CHECK-NEXT: nv_tileas.barrier
  // CHECK-NEXT: nv_tileas.atomic_rmw
  // CHECK-NOT: store_wait
  // CHECK: nv_tileaa.return
  nv_tileaa.func @release(%x: !half, %view: !tiles, %map: !map, %i: i32, %p: !nv_tileaa.ptr<i32>) attributes {kernel_spec = #nv_tileaa.kernel_spec<num_warps = 4>} {
    %buffer = nv_tileas.alloc_tensor : !buffer
    %t0 = nv_tileas.async.tiled_store weak %x, %view[%i, %i] map = %map buffer = %buffer : !half, i32, i32 of !tiles, !map, !buffer
    nv_tileas.barrier
    %old, %t1 = nv_tileas.atomic_rmw release gpu add %p, %i token = %t0 : !nv_tileaa.ptr<i32>, i32
    %old2, %t2 = nv_tileas.atomic_rmw release gpu add %p, %i token = %t1 : !nv_tileaa.ptr<i32>, i32
    nv_tileaa.return
  }
}
