// Loops over K: each iteration becomes two, with tiles of half the length along K, so that three
// stages of 32 KiB, of 96 KiB together, become three of 16 KiB, which sm_80 has.
// RUN: tilewright opt --pass plan-splits{forms=k_loop} --pass tile %s | filecheck %s
!a = !nv_tileaa.memref<?x?xf16, strides = [?, 1]>
!av = !nv_tileaa.tiled_view<tile = [128, 64], source = !nv_tileaa.memref<?x?xf16, strides = [?, 1]>, padding = zero>
!bv = !nv_tileaa.tiled_view<tile = [64, 128], source = !nv_tileaa.memref<?x?xf16, strides = [?, 1]>, padding = zero>
!acc = tensor<128x128xf32>
gpu.module @kernels attributes {nv_tileaa.target_spec = #nv_tileaa.target_spec<compute_capability = 80>} {
  // CHECK-LABEL: @gemm
  // CHECK: [[TWO:%[a-z0-9_]+]] = arith.constant 2 : i32
  // CHECK: [[FIRST:%[0-9]+]] = nv_tileaa.muli {{%[a-z0-9_]+}}, [[TWO]] : i32
  // CHECK: [[END:%[0-9]+]] = nv_tileaa.muli {{%[0-9]+}}, [[TWO]] : i32
  // CHECK: [[A:%[0-9]+]] = nv_tileaa.block_tile {{%[a-z0-9]+}} : !nv_tileaa.tiled_view<tile = [128, 32],
  // CHECK: [[B:%[0-9]+]] = nv_tileaa.block_tile {{%[a-z0-9]+}} : !nv_tileaa.tiled_view<tile = [32, 128],
  // CHECK: scf.for [[I:%[a-z0-9]+]] = [[FIRST]] to [[END]] step {{.*}} iter_args([[ACC:%[a-z0-9]+]] =
  // CHECK: [[X:%[0-9]+]]:2 = nv_tileaa.tiled_load weak [[A]][{{%[a-z0-9_]+}}, [[I]]] {sliced}
  // CHECK: [[Y:%[0-9]+]]:2 = nv_tileaa.tiled_load weak [[B]][[[I]], {{%[a-z0-9_]+}}] {sliced}
  // CHECK: [[Z:%[0-9]+]] = nv_tileaa.mulf [[X]]#0, {{%[0-9]+}} : tensor<128x32xf16>
  // CHECK: [[D:%[0-9]+]] = nv_tileaa.dot [[Z]], [[Y]]#0, [[ACC]]
  // CHECK: scf.yield [[D]]
  nv_tileaa.func @gemm(%p: !a, %q: !a, %o: tensor<128x128x!nv_tileaa.ptr<f32>>, %s: f16, %k: i32) attributes {kernel_spec = #nv_tileaa.kernel_spec<num_warps = 8>} {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c64 = arith.constant 64 : i32
    %none = arith.constant dense<0.0> : !acc
    %n = nv_tileaa.divi %k, %c64 signed : i32
    %scales = nv_tileaa.splat %s : f16 -> tensor<128x64xf16>
    %av = nv_tileaa.block_tile %p : !av
    %bv = nv_tileaa.block_tile %q : !bv
    %sum = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %none) -> (!acc) : i32 {
      %x, %t0 = nv_tileaa.tiled_load weak %av[%c0, %i] : i32, i32 of !av -> tensor<128x64xf16>
      %y, %t1 = nv_tileaa.tiled_load weak %bv[%i, %c0] : i32, i32 of !bv -> tensor<64x128xf16>
      %z = nv_tileaa.mulf %x, %scales : tensor<128x64xf16>
      %d = nv_tileaa.dot %z, %y, %acc {input_precision = "tf32"} : tensor<128x64xf16>, tensor<64x128xf16>, !acc
      scf.yield %d : !acc
    }
    %t = nv_tileaa.store weak %o, %sum : tensor<128x128x!nv_tileaa.ptr<f32>>, !acc
    nv_tileaa.return
  }
  // A part has another counter than its tile: nothing changes.
  // CHECK-LABEL: @uses_the_counter
  // CHECK-NOT: muli
  // CHECK: scf.for
  // CHECK-NOT: sliced
  // CHECK: nv_tileaa.dot {{.*}} tensor<128x64xf16>, tensor<64x128xf16>
  nv_tileaa.func @uses_the_counter(%p: !a, %q: !a, %o: tensor<128x128x!nv_tileaa.ptr<f32>>, %n: i32) attributes {kernel_spec = #nv_tileaa.kernel_spec<num_warps = 8>} {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %none = arith.constant dense<0.0> : !acc
    %av = nv_tileaa.block_tile %p : !av
    %bv = nv_tileaa.block_tile %q : !bv
    %sum = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %none) -> (!acc) : i32 {
      %x, %t0 = nv_tileaa.tiled_load weak %av[%c0, %i] : i32, i32 of !av -> tensor<128x64xf16>
      %y, %t1 = nv_tileaa.tiled_load weak %bv[%i, %c0] : i32, i32 of !bv -> tensor<64x128xf16>
      %is = nv_tileaa.splat %i : i32 -> tensor<128x64xi32>
      %fs = arith.sitofp %is : tensor<128x64xi32> to tensor<128x64xf16>
      %z = nv_tileaa.mulf %x, %fs : tensor<128x64xf16>
      %d = nv_tileaa.dot %z, %y, %acc {input_precision = "tf32"} : tensor<128x64xf16>, tensor<64x128xf16>, !acc
      scf.yield %d : !acc
    }
    %t = nv_tileaa.store weak %o, %sum : tensor<128x128x!nv_tileaa.ptr<f32>>, !acc
    nv_tileaa.return
  }
}
