// Loops are rotated without being asked to where wgmma computes all dots, for two warpgroups or more, and their memory suffices.
// RUN: tilewright opt --pass rotate-dots %s | filecheck %s
!keys = !nv_tileaa.tiled_view<tile = [64, 128], source = !nv_tileaa.memref<64x?xf16, strides = [1, 64]>, padding = zero>
!values = !nv_tileaa.tiled_view<tile = [128, 64], source = !nv_tileaa.memref<?x64xf16, strides = [64, 1]>, padding = zero>
!key = tensor<64x128xf16>
!value = tensor<128x64xf16>
!f8_keys = !nv_tileaa.tiled_view<tile = [64, 128], source = !nv_tileaa.memref<64x?xf8E4M3FN, strides = [1, 64]>, padding = zero>
!f8_values = !nv_tileaa.tiled_view<tile = [128, 64], source = !nv_tileaa.memref<?x64xf8E4M3FN, strides = [64, 1]>, padding = zero>
gpu.module @kernels attributes {nv_tileaa.target_spec = #nv_tileaa.target_spec<compute_capability = 90>} {
  // CHECK-LABEL: @two_warpgroups
  // CHECK: scf.if
  // CHECK: scf.for
  nv_tileaa.func @two_warpgroups(%q: !value, %k: !keys, %v: !values, %init: tensor<128x64xf32>, %n: i32) attributes {kernel_spec = #nv_tileaa.kernel_spec<>} {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %zero = arith.constant dense<0.0> : tensor<128x128xf32>
    %sum = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %init) -> (tensor<128x64xf32>) : i32 {
      %key, %t0 = nv_tileaa.tiled_load weak %k[%c0, %i] : i32, i32 of !keys -> !key
      %s = nv_tileaa.dot %q, %key, %zero {input_precision = "tf32"} : !value, !key, tensor<128x128xf32>
      %p = nv_tileaa.fp_to_fp %s : tensor<128x128xf32> to tensor<128x128xf16>
      %value, %t1 = nv_tileaa.tiled_load weak %v[%i, %c0] : i32, i32 of !values -> !value
      %o = nv_tileaa.dot %p, %value, %acc {input_precision = "tf32"} : tensor<128x128xf16>, !value, tensor<128x64xf32>
      scf.yield %o : tensor<128x64xf32>
    }
    nv_tileaa.return
  }
  // A second block on the SM does more for one warpgroup.
  // CHECK-LABEL: @one_warpgroup
  // CHECK-NOT: scf.if
  nv_tileaa.func @one_warpgroup(%q: tensor<64x64xf16>, %k: !keys, %v: !values, %init: tensor<64x64xf32>, %n: i32) attributes {kernel_spec = #nv_tileaa.kernel_spec<num_warps = 4>} {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %zero = arith.constant dense<0.0> : tensor<64x128xf32>
    %sum = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %init) -> (tensor<64x64xf32>) : i32 {
      %key, %t0 = nv_tileaa.tiled_load weak %k[%c0, %i] : i32, i32 of !keys -> !key
      %s = nv_tileaa.dot %q, %key, %zero {input_precision = "tf32"} : tensor<64x64xf16>, !key, tensor<64x128xf32>
      %p = nv_tileaa.fp_to_fp %s : tensor<64x128xf32> to tensor<64x128xf16>
      %value, %t1 = nv_tileaa.tiled_load weak %v[%i, %c0] : i32, i32 of !values -> !value
      %o = nv_tileaa.dot %p, %value, %acc {input_precision = "tf32"} : tensor<64x128xf16>, !value, tensor<64x64xf32>
      scf.yield %o : tensor<64x64xf32>
    }
    nv_tileaa.return
  }
  // P of f8 is not in the registers that wgmma reads A from.
  // CHECK-LABEL: @f8
  // CHECK-NOT: scf.if
  nv_tileaa.func @f8(%q: tensor<128x64xf8E4M3FN>, %k: !f8_keys, %v: !f8_values, %init: tensor<128x64xf32>, %n: i32) attributes {kernel_spec = #nv_tileaa.kernel_spec<num_warps = 8>} {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %zero = arith.constant dense<0.0> : tensor<128x128xf32>
    %sum = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %init) -> (tensor<128x64xf32>) : i32 {
      %key, %t0 = nv_tileaa.tiled_load weak %k[%c0, %i] : i32, i32 of !f8_keys -> tensor<64x128xf8E4M3FN>
      %s = nv_tileaa.dot %q, %key, %zero {input_precision = "tf32"} : tensor<128x64xf8E4M3FN>, tensor<64x128xf8E4M3FN>, tensor<128x128xf32>
      %p = nv_tileaa.fp_to_fp %s : tensor<128x128xf32> to tensor<128x128xf8E4M3FN>
      %value, %t1 = nv_tileaa.tiled_load weak %v[%i, %c0] : i32, i32 of !f8_values -> tensor<128x64xf8E4M3FN>
      %o = nv_tileaa.dot %p, %value, %acc {input_precision = "tf32"} : tensor<128x128xf8E4M3FN>, tensor<128x64xf8E4M3FN>, tensor<128x64xf32>
      scf.yield %o : tensor<128x64xf32>
    }
    nv_tileaa.return
  }
  // The occupancy hint leaves too little shared memory for two stages: 2 * (16 + 16) KiB, and 16 KiB for Q.
  // CHECK-LABEL: @three_blocks
  // CHECK-NOT: scf.if
  nv_tileaa.func @three_blocks(%q: !value, %k: !keys, %v: !values, %init: tensor<128x64xf32>, %n: i32) attributes {kernel_spec = #nv_tileaa.kernel_spec<num_warps = 8, occupancy = 3>} {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %zero = arith.constant dense<0.0> : tensor<128x128xf32>
    %sum = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %init) -> (tensor<128x64xf32>) : i32 {
      %key, %t0 = nv_tileaa.tiled_load weak %k[%c0, %i] : i32, i32 of !keys -> !key
      %s = nv_tileaa.dot %q, %key, %zero {input_precision = "tf32"} : !value, !key, tensor<128x128xf32>
      %p = nv_tileaa.fp_to_fp %s : tensor<128x128xf32> to tensor<128x128xf16>
      %value, %t1 = nv_tileaa.tiled_load weak %v[%i, %c0] : i32, i32 of !values -> !value
      %o = nv_tileaa.dot %p, %value, %acc {input_precision = "tf32"} : tensor<128x128xf16>, !value, tensor<128x64xf32>
      scf.yield %o : tensor<128x64xf32>
    }
    nv_tileaa.return
  }
  // S takes 64 registers of a thread, P 32 and the accumulator 128; with what else there is, these are more than it has.
  // CHECK-LABEL: @wide
  // CHECK-NOT: scf.if
  nv_tileaa.func @wide(%q: !value, %k: !keys, %v: tensor<128x256x!nv_tileaa.ptr<f16>>, %init: tensor<128x256xf32>, %n: i32) attributes {kernel_spec = #nv_tileaa.kernel_spec<num_warps = 8>} {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %zero = arith.constant dense<0.0> : tensor<128x128xf32>
    %sum = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %init) -> (tensor<128x256xf32>) : i32 {
      %key, %t0 = nv_tileaa.tiled_load weak %k[%c0, %i] : i32, i32 of !keys -> !key
      %s = nv_tileaa.dot %q, %key, %zero {input_precision = "tf32"} : !value, !key, tensor<128x128xf32>
      %p = nv_tileaa.fp_to_fp %s : tensor<128x128xf32> to tensor<128x128xf16>
      %value, %t1 = nv_tileaa.load weak %v : tensor<128x256x!nv_tileaa.ptr<f16>> -> tensor<128x256xf16>
      %o = nv_tileaa.dot %p, %value, %acc {input_precision = "tf32"} : tensor<128x128xf16>, tensor<128x256xf16>, tensor<128x256xf32>
      scf.yield %o : tensor<128x256xf32>
    }
    nv_tileaa.return
  }
}
gpu.module @others attributes {nv_tileaa.target_spec = #nv_tileaa.target_spec<compute_capability = 80>} {
  // CHECK-LABEL: @without_wgmma
  // CHECK-NOT: scf.if
  nv_tileaa.func @without_wgmma(%q: !value, %k: !keys, %v: !values, %init: tensor<128x64xf32>, %n: i32) attributes {kernel_spec = #nv_tileaa.kernel_spec<num_warps = 8>} {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %zero = arith.constant dense<0.0> : tensor<128x128xf32>
    %sum = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %init) -> (tensor<128x64xf32>) : i32 {
      %key, %t0 = nv_tileaa.tiled_load weak %k[%c0, %i] : i32, i32 of !keys -> !key
      %s = nv_tileaa.dot %q, %key, %zero {input_precision = "tf32"} : !value, !key, tensor<128x128xf32>
      %p = nv_tileaa.fp_to_fp %s : tensor<128x128xf32> to tensor<128x128xf16>
      %value, %t1 = nv_tileaa.tiled_load weak %v[%i, %c0] : i32, i32 of !values -> !value
      %o = nv_tileaa.dot %p, %value, %acc {input_precision = "tf32"} : tensor<128x128xf16>, !value, tensor<128x64xf32>
      scf.yield %o : tensor<128x64xf32>
    }
    nv_tileaa.return
  }
}
