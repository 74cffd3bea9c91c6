// RUN: tilewright opt --pass unroll-loops %s | filecheck %s
!ptrs = tensor<128x!nv_tileaa.ptr<f32>>
!tile = tensor<128xf32>
gpu.module @kernels attributes {nv_tileaa.target_spec = #nv_tileaa.target_spec<compute_capability = 90>} {
  // Four iterations become four independent loads, which are in flight together.
  // CHECK-LABEL: @short_trip_count
  // CHECK-NOT: scf.for
  // CHECK-COUNT-4: nv_tileaa.load
  // CHECK-NOT: nv_tileaa.load
  nv_tileaa.func @short_trip_count(%x: !ptrs, %y: !ptrs) attributes {kernel_spec = #nv_tileaa.kernel_spec<num_warps = 4>} {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c4 = arith.constant 4 : i32
    %zero = arith.constant dense<0.0> : !tile
    %sum = scf.for %i = %c0 to %c4 step %c1 iter_args(%acc = %zero) -> (!tile) : i32 {
      %o = nv_tileaa.splat %i : i32 -> tensor<128xi32>
      %p = nv_tileaa.addptr %x, %o : !ptrs, tensor<128xi32>
      %v, %t = nv_tileaa.load weak %p : !ptrs -> !tile
      %s = nv_tileaa.addf %acc, %v : !tile
      scf.yield %s : !tile
    }
    %t = nv_tileaa.store weak %y, %sum : !ptrs, !tile
    nv_tileaa.return
  }
  // More iterations than loads that help: the loop stays.
  // CHECK-LABEL: @long_trip_count
  // CHECK: scf.for
  // CHECK: nv_tileaa.load
  // CHECK-NOT: nv_tileaa.load
  nv_tileaa.func @long_trip_count(%x: !ptrs, %y: !ptrs) attributes {kernel_spec = #nv_tileaa.kernel_spec<num_warps = 4>} {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c64 = arith.constant 64 : i32
    %zero = arith.constant dense<0.0> : !tile
    %sum = scf.for %i = %c0 to %c64 step %c1 iter_args(%acc = %zero) -> (!tile) : i32 {
      %o = nv_tileaa.splat %i : i32 -> tensor<128xi32>
      %p = nv_tileaa.addptr %x, %o : !ptrs, tensor<128xi32>
      %v, %t = nv_tileaa.load weak %p : !ptrs -> !tile
      %s = nv_tileaa.addf %acc, %v : !tile
      scf.yield %s : !tile
    }
    %t = nv_tileaa.store weak %y, %sum : !ptrs, !tile
    nv_tileaa.return
  }
  // Without a load there is no latency to hide.
  // CHECK-LABEL: @no_load
  // CHECK: scf.for
  nv_tileaa.func @no_load(%x: !tile, %y: !ptrs) attributes {kernel_spec = #nv_tileaa.kernel_spec<num_warps = 4>} {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c4 = arith.constant 4 : i32
    %sum = scf.for %i = %c0 to %c4 step %c1 iter_args(%acc = %x) -> (!tile) : i32 {
      %s = nv_tileaa.addf %acc, %acc : !tile
      scf.yield %s : !tile
    }
    %t = nv_tileaa.store weak %y, %sum : !ptrs, !tile
    nv_tileaa.return
  }
}
