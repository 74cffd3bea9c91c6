// Loops are rotated without being asked to where wgmma computes all dots, and memory and registers suffice.
// RUN: tilewright opt --pass plan-kernel,rotate-dots,pipeline-loops %s | filecheck %s
!keys = !nv_tileaa.tiled_view<tile = [64, 128], source = !nv_tileaa.memref<64x?xf16, strides = [1, 64]>, padding = zero>
!values = !nv_tileaa.tiled_view<tile = [128, 64], source = !nv_tileaa.memref<?x64xf16, strides = [64, 1]>, padding = zero>
!query = !nv_tileaa.tiled_view<tile = [64, 64], source = !nv_tileaa.memref<1x64xf16, strides = [64, 1]>, padding = zero>
!long_keys = !nv_tileaa.tiled_view<tile = [128, 128], source = !nv_tileaa.memref<?x128xf16, strides = [128, 1]>, dims = [1, 0], padding = zero>
!long_values = !nv_tileaa.tiled_view<tile = [128, 128], source = !nv_tileaa.memref<?x128xf16, strides = [128, 1]>, padding = zero>
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
  // Blocks with one warpgroup overlap with a second one on the SM, too.
  // CHECK-LABEL: @one_warpgroup
  // CHECK-SAME: num_warps = 4, occupancy = 2
  // CHECK: scf.if
  // CHECK: scf.for
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
  // 128 registers of scores and of the result of a dot, 64 of the accumulator that is added to it,
  // 32 of P and others: more than a thread can have.
  // CHECK-LABEL: @separate_accumulator
  // CHECK-NOT: scf.if
  nv_tileaa.func @separate_accumulator(%q: tensor<128x128xf16>, %k: !long_keys, %v: !long_values, %init: tensor<128x128xf32>, %n: i32) attributes {kernel_spec = #nv_tileaa.kernel_spec<>} {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %zero = arith.constant dense<0.0> : tensor<128x128xf32>
    %sum = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %init) -> (tensor<128x128xf32>) : i32 {
      %key, %t0 = nv_tileaa.tiled_load weak %k[%c0, %i] : i32, i32 of !long_keys -> tensor<128x128xf16>
      %s = nv_tileaa.dot %q, %key, %zero {input_precision = "tf32"} : tensor<128x128xf16>, tensor<128x128xf16>, tensor<128x128xf32>
      %p = nv_tileaa.fp_to_fp %s : tensor<128x128xf32> to tensor<128x128xf16>
      %value, %t1 = nv_tileaa.tiled_load weak %v[%i, %c0] : i32, i32 of !long_values -> tensor<128x128xf16>
      %o = nv_tileaa.dot %p, %value, %zero {input_precision = "tf32"} : tensor<128x128xf16>, tensor<128x128xf16>, tensor<128x128xf32>
      %next = nv_tileaa.addf %acc, %o : tensor<128x128xf32>
      scf.yield %next : tensor<128x128xf32>
    }
    nv_tileaa.return
  }
  // The producer loads the number of a page, with which K and V are loaded.
  // CHECK-LABEL: @pages
  // CHECK-SAME: num_warps = 4, occupancy = 2
  // CHECK: scf.if
  nv_tileaa.func @pages(%q: tensor<64x64xf16>, %k: !keys, %v: !values, %numbers: !nv_tileaa.ptr<i32>, %init: tensor<64x64xf32>, %n: i32) attributes {kernel_spec = #nv_tileaa.kernel_spec<num_warps = 4>} {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %zero = arith.constant dense<0.0> : tensor<64x128xf32>
    %sum = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %init) -> (tensor<64x64xf32>) : i32 {
      %at = nv_tileaa.addptr %numbers, %i : !nv_tileaa.ptr<i32>, i32
      %page, %t = nv_tileaa.load weak %at : !nv_tileaa.ptr<i32> -> i32
      %key, %t0 = nv_tileaa.tiled_load weak %k[%c0, %page] : i32, i32 of !keys -> !key
      %s = nv_tileaa.dot %q, %key, %zero {input_precision = "tf32"} : tensor<64x64xf16>, !key, tensor<64x128xf32>
      %p = nv_tileaa.fp_to_fp %s : tensor<64x128xf32> to tensor<64x128xf16>
      %value, %t1 = nv_tileaa.tiled_load weak %v[%page, %c0] : i32, i32 of !values -> !value
      %o = nv_tileaa.dot %p, %value, %acc {input_precision = "tf32"} : tensor<64x128xf16>, !value, tensor<64x64xf32>
      scf.yield %o : tensor<64x64xf32>
    }
    nv_tileaa.return
  }
  // Without a producer, one warpgroup spends the time on copies.
  // CHECK-LABEL: @through_pointers
  // CHECK-NOT: occupancy
  // CHECK-NOT: scf.if
  nv_tileaa.func @through_pointers(%q: tensor<64x64xf16>, %k: !keys, %v: tensor<128x64x!nv_tileaa.ptr<f16>>, %init: tensor<64x64xf32>, %n: i32) attributes {kernel_spec = #nv_tileaa.kernel_spec<num_warps = 4>} {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %zero = arith.constant dense<0.0> : tensor<64x128xf32>
    %sum = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %init) -> (tensor<64x64xf32>) : i32 {
      %key, %t0 = nv_tileaa.tiled_load weak %k[%c0, %i] : i32, i32 of !keys -> !key
      %s = nv_tileaa.dot %q, %key, %zero {input_precision = "tf32"} : tensor<64x64xf16>, !key, tensor<64x128xf32>
      %p = nv_tileaa.fp_to_fp %s : tensor<64x128xf32> to tensor<64x128xf16>
      %value, %t1 = nv_tileaa.load weak %v : tensor<128x64x!nv_tileaa.ptr<f16>> -> !value
      %o = nv_tileaa.dot %p, %value, %acc {input_precision = "tf32"} : tensor<64x128xf16>, !value, tensor<64x64xf32>
      scf.yield %o : tensor<64x64xf32>
    }
    nv_tileaa.return
  }
  // CHECK-LABEL: @unaligned
  // CHECK-NOT: scf.if
  nv_tileaa.func @unaligned(%q: tensor<64x64xf16>, %kp: !nv_tileaa.ptr<f16>, %v: !values, %init: tensor<64x64xf32>, %n: i32) attributes {kernel_spec = #nv_tileaa.kernel_spec<num_warps = 4>} {
    %columns = nv_tileaa.assume #nv_tileaa.bounded<0, ?>, %n : i32
    %km = nv_tileaa.make_memref %kp sizes(%columns : i32) : !nv_tileaa.ptr<f16> -> !nv_tileaa.memref<64x?xf16, strides = [1, 64]>
    %k = nv_tileaa.block_tile %km : !keys
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
  // Two blocks of 64x128 accumulators, and 216 registers for a thread of the consumers; of three blocks, 120.
  // CHECK-LABEL: @three_blocks_of_one_warpgroup
  // CHECK-NOT: scf.if
  nv_tileaa.func @three_blocks_of_one_warpgroup(%q: tensor<64x64xf16>, %k: !keys, %v: !values, %init: tensor<64x64xf32>, %n: i32) attributes {kernel_spec = #nv_tileaa.kernel_spec<num_warps = 4, occupancy = 3>} {
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
  // One query of 64: the rest is padding.
  // CHECK-LABEL: @decoding
  // CHECK-NOT: scf.if
  nv_tileaa.func @decoding(%queries: !query, %k: !keys, %v: !values, %init: tensor<64x64xf32>, %n: i32) attributes {kernel_spec = #nv_tileaa.kernel_spec<num_warps = 4>} {
    %first = arith.constant 0 : i32
    %q, %t = nv_tileaa.tiled_load weak %queries[%first, %first] : i32, i32 of !query -> tensor<64x64xf16>
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
  // Two stages of K and of V are 128 KiB. Three of both fit into the half of an SM, if K has its dimensions in the order of memory.
  // CHECK-LABEL: @one_pipeline
  // CHECK: block_tile %{{.*}} : !nv_tileaa.tiled_view<tile = [128, 128], source = !nv_tileaa.memref<?x128xf16, strides = [128, 1]>, padding = zero>
  // CHECK: scf.if
  // CHECK: scf.for %[[I:.*]] = {{.*}} to
  // CHECK: tiled_load weak %{{.*}}[%[[I]], %c0_i32] {in_bounds = array<i1: false, true>}
  // CHECK-NEXT: permute %{{.*}} [1, 0]
  nv_tileaa.func @one_pipeline(%q: tensor<64x128xf16>, %kp: !nv_tileaa.ptr<f16>, %v: !long_values, %init: tensor<64x128xf32>, %n: i32) attributes {kernel_spec = #nv_tileaa.kernel_spec<num_warps = 4, occupancy = 2>} {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %zero = arith.constant dense<0.0> : tensor<64x128xf32>
    %aligned = nv_tileaa.assume #nv_tileaa.div_by<16>, %kp : !nv_tileaa.ptr<f16>
    %rows = nv_tileaa.assume #nv_tileaa.bounded<0, ?>, %n : i32
    %km = nv_tileaa.make_memref %aligned sizes(%rows : i32) : !nv_tileaa.ptr<f16> -> !nv_tileaa.memref<?x128xf16, strides = [128, 1]>
    %k = nv_tileaa.block_tile %km : !long_keys
    %sum = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %init) -> (tensor<64x128xf32>) : i32 {
      %key, %t0 = nv_tileaa.tiled_load weak %k[%c0, %i] {in_bounds = array<i1: true, false>} : i32, i32 of !long_keys -> tensor<128x128xf16>
      %s = nv_tileaa.dot %q, %key, %zero {input_precision = "tf32"} : tensor<64x128xf16>, tensor<128x128xf16>, tensor<64x128xf32>
      %p = nv_tileaa.fp_to_fp %s : tensor<64x128xf32> to tensor<64x128xf16>
      %value, %t1 = nv_tileaa.tiled_load weak %v[%i, %c0] : i32, i32 of !long_values -> tensor<128x128xf16>
      %o = nv_tileaa.dot %p, %value, %acc {input_precision = "tf32"} : tensor<64x128xf16>, tensor<128x128xf16>, tensor<64x128xf32>
      scf.yield %o : tensor<64x128xf32>
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
