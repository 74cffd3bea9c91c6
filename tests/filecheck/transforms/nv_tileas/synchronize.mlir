// A token orders two accesses of a block; a barrier is needed only if two threads may touch the
// same element, and one of them writes it.
// RUN: tilewright opt --pass synchronize %s | filecheck %s
#owned = #nv_tileas.layout<[128], register = [], lane = [[1], [2], [4], [8], [16]], warp = [[32], [64]]>
#replicated = #nv_tileas.layout<[64], register = [], lane = [[1], [2], [4], [8], [16]], warp = [[32], [0]]>
!ptrs = tensor<128x!nv_tileaa.ptr<f32>, #owned>
!tile = tensor<128xf32, #owned>
!ptrs64 = tensor<64x!nv_tileaa.ptr<f32>, #replicated>
!tile64 = tensor<64xf32, #replicated>
gpu.module @kernels attributes {nv_tileaa.target_spec = #nv_tileaa.target_spec<compute_capability = 90>} {
  // Each thread loads and stores its own element: program order is enough.
  // CHECK-LABEL: @same_thread
  // CHECK-NOT: nv_tileas.barrier
  nv_tileaa.func @same_thread(%p: !ptrs) attributes {kernel_spec = #nv_tileaa.kernel_spec<num_warps = 4>} {
    %a, %t0 = nv_tileas.load weak %p : !ptrs -> !tile
    %t1 = nv_tileas.store weak %p, %a token = %t0 : !ptrs, !tile
    %t2 = nv_tileas.store weak %p, %a token = %t1 : !ptrs, !tile
    nv_tileaa.return
  }
  // Different addresses: element i of one access may be element j of the other.
  // CHECK-LABEL: @other_addresses
  // CHECK: nv_tileas.store
  // CHECK-NEXT: nv_tileas.barrier
  // CHECK-NEXT: nv_tileas.load
  // CHECK-NOT: nv_tileas.barrier
  nv_tileaa.func @other_addresses(%p: !ptrs, %q: !ptrs, %a: !tile) attributes {kernel_spec = #nv_tileaa.kernel_spec<num_warps = 4>} {
    %t1 = nv_tileas.store weak %p, %a : !ptrs, !tile
    %b, %t2 = nv_tileas.load weak %q token = %t1 : !ptrs -> !tile
    %t3 = nv_tileas.store weak %q, %b token = %t2 : !ptrs, !tile
    nv_tileaa.return
  }
  // Without a token there is no order to keep.
  // CHECK-LABEL: @unordered
  // CHECK-NOT: nv_tileas.barrier
  nv_tileaa.func @unordered(%p: !ptrs, %q: !ptrs, %a: !tile) attributes {kernel_spec = #nv_tileaa.kernel_spec<num_warps = 4>} {
    %t1 = nv_tileas.store weak %p, %a : !ptrs, !tile
    %b, %t2 = nv_tileas.load weak %q : !ptrs -> !tile
    nv_tileaa.return
  }
  // Two loads never conflict.
  // CHECK-LABEL: @loads
  // CHECK-NOT: nv_tileas.barrier
  nv_tileaa.func @loads(%p: !ptrs, %q: !ptrs) attributes {kernel_spec = #nv_tileaa.kernel_spec<num_warps = 4>} {
    %a, %t1 = nv_tileas.load weak %p : !ptrs -> !tile
    %b, %t2 = nv_tileas.load weak %q token = %t1 : !ptrs -> !tile
    nv_tileaa.return
  }
  // Two warps hold each element and one of them stores it: the other must not load before.
  // CHECK-LABEL: @replicated_elements
  // CHECK: nv_tileas.store
  // CHECK-NEXT: nv_tileas.barrier
  // CHECK-NEXT: nv_tileas.load
  nv_tileaa.func @replicated_elements(%p: !ptrs64, %a: !tile64) attributes {kernel_spec = #nv_tileaa.kernel_spec<num_warps = 4>} {
    %t1 = nv_tileas.store weak %p, %a : !ptrs64, !tile64
    %b, %t2 = nv_tileas.load weak %p token = %t1 : !ptrs64 -> !tile64
    nv_tileaa.return
  }
  // A release publishes the writes of all threads: they arrive first. An acquire holds all back.
  // CHECK-LABEL: @release_acquire
  // CHECK: nv_tileas.store weak
  // CHECK-NEXT: nv_tileas.barrier
  // CHECK-NEXT: nv_tileas.store release
  // CHECK: nv_tileas.load acquire
  // CHECK-NEXT: nv_tileas.barrier
  // CHECK-NEXT: nv_tileas.store weak
  nv_tileaa.func @release_acquire(%p: !ptrs, %q: !ptrs, %a: !tile) attributes {kernel_spec = #nv_tileaa.kernel_spec<num_warps = 4>} {
    %t1 = nv_tileas.store weak %p, %a : !ptrs, !tile
    %t2 = nv_tileas.store release gpu %q, %a token = %t1 : !ptrs, !tile
    %b, %t3 = nv_tileas.load acquire gpu %q token = %t2 : !ptrs -> !tile
    %t4 = nv_tileas.store weak %p, %b token = %t3 : !ptrs, !tile
    nv_tileaa.return
  }
  // The address changes with the iteration: an iteration loads what another thread stored before.
  // CHECK-LABEL: @loop_carried
  // CHECK: scf.for
  // CHECK: nv_tileas.barrier
  // CHECK-NEXT: nv_tileas.load
  // CHECK: nv_tileas.store
  nv_tileaa.func @loop_carried(%p: !ptrs, %n: i32) attributes {kernel_spec = #nv_tileaa.kernel_spec<num_warps = 4>} {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %t0 = nv_tileaa.create_mem_token : !nv_tileaa.mem_token
    %end = scf.for %i = %c0 to %n step %c1 iter_args(%t = %t0) -> (!nv_tileaa.mem_token) : i32 {
      %o = nv_tileas.splat %i : i32 -> tensor<128xi32, #owned>
      %q = nv_tileaa.addptr %p, %o : !ptrs, tensor<128xi32, #owned>
      %a, %t1 = nv_tileas.load weak %q token = %t : !ptrs -> !tile
      %t2 = nv_tileas.store weak %q, %a token = %t1 : !ptrs, !tile
      scf.yield %t2 : !nv_tileaa.mem_token
    }
    nv_tileaa.return
  }
}
