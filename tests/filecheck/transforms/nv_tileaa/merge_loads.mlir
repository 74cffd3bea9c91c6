// RUN: tilewright opt --pass merge-loads %s | filecheck %s
!ptrs = tensor<128x!nv_tileaa.ptr<f32>>
!tile = tensor<128xf32>
gpu.module @kernels attributes {nv_tileaa.target_spec = #nv_tileaa.target_spec<compute_capability = 90>} {
  // CHECK-LABEL: @same_address_same_token
  // CHECK: [[V:%[0-9]+]]:2 = nv_tileaa.load
  // CHECK-NOT: nv_tileaa.load
  // CHECK: nv_tileaa.addf [[V]]#0, [[V]]#0
  nv_tileaa.func @same_address_same_token(%x: !ptrs, %y: !ptrs) attributes {kernel_spec = #nv_tileaa.kernel_spec<num_warps = 4>} {
    %a, %t0 = nv_tileaa.load weak %x : !ptrs -> !tile
    %b, %t1 = nv_tileaa.load weak %x : !ptrs -> !tile
    %c = nv_tileaa.addf %a, %b : !tile
    %t = nv_tileaa.store weak %y, %c : !ptrs, !tile
    nv_tileaa.return
  }
  // The second load is ordered after a store: it may read another value.
  // CHECK-LABEL: @ordered_after_a_store
  // CHECK: nv_tileaa.load
  // CHECK: nv_tileaa.store
  // CHECK: nv_tileaa.load
  nv_tileaa.func @ordered_after_a_store(%x: !ptrs, %y: !ptrs) attributes {kernel_spec = #nv_tileaa.kernel_spec<num_warps = 4>} {
    %a, %t0 = nv_tileaa.load weak %x : !ptrs -> !tile
    %t1 = nv_tileaa.store weak %x, %a token = %t0 : !ptrs, !tile
    %b, %t2 = nv_tileaa.load weak %x token = %t1 : !ptrs -> !tile
    %c = nv_tileaa.addf %a, %b : !tile
    %t = nv_tileaa.store weak %y, %c : !ptrs, !tile
    nv_tileaa.return
  }
  // Another thread may write between two relaxed loads.
  // CHECK-LABEL: @relaxed
  // CHECK-COUNT-2: nv_tileaa.load relaxed
  nv_tileaa.func @relaxed(%x: !ptrs, %y: !ptrs) attributes {kernel_spec = #nv_tileaa.kernel_spec<num_warps = 4>} {
    %a, %t0 = nv_tileaa.load relaxed gpu %x : !ptrs -> !tile
    %b, %t1 = nv_tileaa.load relaxed gpu %x : !ptrs -> !tile
    %c = nv_tileaa.addf %a, %b : !tile
    %t = nv_tileaa.store weak %y, %c : !ptrs, !tile
    nv_tileaa.return
  }
}
