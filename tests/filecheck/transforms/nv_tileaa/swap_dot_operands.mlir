// Dots of 8-bit elements whose B is contiguous along N: the transposed dot, of which B is the first operand.
// RUN: tilewright opt --pass swap-dot-operands %s | filecheck %s
!m = !nv_tileaa.memref<?x?xf8E4M3FN, strides = [?, 1]>
!k_major = !nv_tileaa.memref<?x?xf8E4M3FN, strides = [1, ?]>
!av = !nv_tileaa.tiled_view<tile = [128, 32], source = !m, padding = zero>
!bv = !nv_tileaa.tiled_view<tile = [32, 64], source = !m, padding = zero>
!kv = !nv_tileaa.tiled_view<tile = [32, 64], source = !k_major, padding = zero>
!a = tensor<128x32xf8E4M3FN>
!b = tensor<32x64xf8E4M3FN>
!acc = tensor<128x64xf32>
gpu.module @kernels attributes {nv_tileaa.target_spec = #nv_tileaa.target_spec<compute_capability = 90>} {
  // The loop carries the transposed accumulator, with the rows of every sixteen reordered; what follows has it as before.
  // CHECK-LABEL: @gemm
  // CHECK: [[LOOP:%[0-9]+]] = scf.for {{.*}} iter_args([[ACC:%[a-z0-9]+]] = {{.*}}) -> (tensor<64x128xf32>)
  // CHECK: [[A:%[0-9]+]]:2 = nv_tileaa.tiled_load {{.*}} -> tensor<128x32xf8E4M3FN>
  // CHECK: [[B:%[0-9]+]]:2 = nv_tileaa.tiled_load {{.*}} -> tensor<32x64xf8E4M3FN>
  // CHECK: [[BT:%[0-9]+]] = nv_tileaa.permute [[B]]#0 [1, 0]
  // CHECK: [[APART:%[0-9]+]] = nv_tileaa.view [[BT]] : tensor<64x32xf8E4M3FN> -> tensor<4x8x2x32xf8E4M3FN>
  // CHECK: [[PAIRED:%[0-9]+]] = nv_tileaa.permute [[APART]] [0, 2, 1, 3]
  // CHECK: [[ROWS:%[0-9]+]] = nv_tileaa.view [[PAIRED]]
  // CHECK: [[AT:%[0-9]+]] = nv_tileaa.permute [[A]]#0 [1, 0]
  // CHECK: [[D:%[0-9]+]] = nv_tileaa.dot [[ROWS]], [[AT]], [[ACC]]
  // CHECK: scf.yield [[D]] : tensor<64x128xf32>
  // CHECK: [[SPLIT:%[0-9]+]] = nv_tileaa.view [[LOOP]] : tensor<64x128xf32> -> tensor<4x2x8x128xf32>
  // CHECK: nv_tileaa.permute [[SPLIT]] [0, 2, 1, 3]
  // CHECK: [[BACK:%[0-9]+]] = nv_tileaa.permute {{%[0-9]+}} [1, 0] : tensor<64x128xf32> -> tensor<128x64xf32>
  // CHECK: nv_tileaa.store weak {{%[a-z0-9]+}}, [[BACK]]
  nv_tileaa.func @gemm(%p: !m, %q: !m, %o: tensor<128x64x!nv_tileaa.ptr<f32>>, %n: i32) attributes {kernel_spec = #nv_tileaa.kernel_spec<num_warps = 4>} {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %none = arith.constant dense<0.0> : !acc
    %av = nv_tileaa.block_tile %p : !av
    %bv = nv_tileaa.block_tile %q : !bv
    %sum = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %none) -> (!acc) : i32 {
      %x, %t0 = nv_tileaa.tiled_load weak %av[%c0, %i] : i32, i32 of !av -> !a
      %y, %t1 = nv_tileaa.tiled_load weak %bv[%i, %c0] : i32, i32 of !bv -> !b
      %d = nv_tileaa.dot %x, %y, %acc : !a, !b, !acc
      scf.yield %d : !acc
    }
    %t = nv_tileaa.store weak %o, %sum : tensor<128x64x!nv_tileaa.ptr<f32>>, !acc
    nv_tileaa.return
  }
  // wgmma reads a K-major B as it is.
  // CHECK-LABEL: @k_major
  // CHECK-NOT: nv_tileaa.permute
  // CHECK: nv_tileaa.dot {{.*}} : tensor<128x32xf8E4M3FN>, tensor<32x64xf8E4M3FN>
  nv_tileaa.func @k_major(%p: !m, %q: !k_major, %o: tensor<128x64x!nv_tileaa.ptr<f32>>, %n: i32) attributes {kernel_spec = #nv_tileaa.kernel_spec<num_warps = 4>} {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %none = arith.constant dense<0.0> : !acc
    %av = nv_tileaa.block_tile %p : !av
    %bv = nv_tileaa.block_tile %q : !kv
    %sum = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %none) -> (!acc) : i32 {
      %x, %t0 = nv_tileaa.tiled_load weak %av[%c0, %i] : i32, i32 of !av -> !a
      %y, %t1 = nv_tileaa.tiled_load weak %bv[%i, %c0] : i32, i32 of !kv -> !b
      %d = nv_tileaa.dot %x, %y, %acc : !a, !b, !acc
      scf.yield %d : !acc
    }
    %t = nv_tileaa.store weak %o, %sum : tensor<128x64x!nv_tileaa.ptr<f32>>, !acc
    nv_tileaa.return
  }
}
