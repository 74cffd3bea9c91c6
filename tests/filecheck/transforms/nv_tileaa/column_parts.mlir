// 256×256 accumulators: the loop over K, and the store that follows it, run for each half of the columns.
// RUN: tilewright opt --pass plan-splits{forms=loop} --pass tile %s | filecheck %s
!m = !nv_tileaa.memref<?x?xf16, strides = [?, 1]>
!o = !nv_tileaa.memref<?x?xf16, strides = [?, 1]>
!av = !nv_tileaa.tiled_view<tile = [256, 64], source = !m, padding = zero>
!bv = !nv_tileaa.tiled_view<tile = [64, 256], source = !m, padding = zero>
!cv = !nv_tileaa.tiled_view<tile = [256, 256], source = !o>
!acc = tensor<256x256xf32>
gpu.module @kernels attributes {nv_tileaa.target_spec = #nv_tileaa.target_spec<compute_capability = 90>} {
  // CHECK-LABEL: @gemm
  // CHECK: [[COUNT:%[a-z0-9_]+]] = arith.constant 2 : i32
  // CHECK: scf.for [[PART:%[a-z0-9]+]] = {{%[a-z0-9_]+}} to [[COUNT]] step
  // CHECK: [[B:%[0-9]+]] = nv_tileaa.block_tile {{%[a-z0-9]+}} : !nv_tileaa.tiled_view<tile = [64, 128],
  // CHECK: [[SUM:%[0-9]+]] = scf.for {{.*}} -> (tensor<256x128xf32>)
  // CHECK: nv_tileaa.tiled_load {{.*}} -> tensor<256x64xf16>
  // CHECK: nv_tileaa.tiled_load weak [[B]]{{.*}} {sliced} {{.*}} -> tensor<64x128xf16>
  // CHECK: nv_tileaa.dot {{.*}} tensor<256x128xf32>
  // CHECK: [[HALF:%[0-9]+]] = nv_tileaa.fp_to_fp [[SUM]] : tensor<256x128xf32> to tensor<256x128xf16>
  // CHECK: nv_tileaa.tiled_store weak [[HALF]], {{.*}} {sliced}
  nv_tileaa.func @gemm(%p: !m, %q: !m, %r: !o, %n: i32) attributes {kernel_spec = #nv_tileaa.kernel_spec<>} {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %none = arith.constant dense<0.0> : !acc
    %av = nv_tileaa.block_tile %p : !av
    %bv = nv_tileaa.block_tile %q : !bv
    %cv = nv_tileaa.block_tile %r : !cv
    %sum = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %none) -> (!acc) : i32 {
      %x, %t0 = nv_tileaa.tiled_load weak %av[%c0, %i] : i32, i32 of !av -> tensor<256x64xf16>
      %y, %t1 = nv_tileaa.tiled_load weak %bv[%i, %c0] : i32, i32 of !bv -> tensor<64x256xf16>
      %d = nv_tileaa.dot %x, %y, %acc : tensor<256x64xf16>, tensor<64x256xf16>, !acc
      scf.yield %d : !acc
    }
    %h = nv_tileaa.fp_to_fp %sum : !acc to tensor<256x256xf16>
    %t = nv_tileaa.tiled_store weak %h, %cv[%c0, %c0] : tensor<256x256xf16>, i32, i32 of !cv
    nv_tileaa.return
  }
  // A load whose token orders the store after it must not come after a store.
  // CHECK-LABEL: @ordered
  // CHECK: nv_tileaa.dot {{.*}} tensor<256x256xf32>
  nv_tileaa.func @ordered(%p: !m, %q: !m, %r: !o, %n: i32) attributes {kernel_spec = #nv_tileaa.kernel_spec<>} {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %none = arith.constant dense<0.0> : !acc
    %first = nv_tileaa.create_mem_token : !nv_tileaa.mem_token
    %av = nv_tileaa.block_tile %p : !av
    %bv = nv_tileaa.block_tile %q : !bv
    %cv = nv_tileaa.block_tile %r : !cv
    %sum, %after = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %none, %t = %first) -> (!acc, !nv_tileaa.mem_token) : i32 {
      %x, %t0 = nv_tileaa.tiled_load weak %av[%c0, %i] token = %t : i32, i32 of !av -> tensor<256x64xf16>
      %y, %t1 = nv_tileaa.tiled_load weak %bv[%i, %c0] token = %t0 : i32, i32 of !bv -> tensor<64x256xf16>
      %d = nv_tileaa.dot %x, %y, %acc : tensor<256x64xf16>, tensor<64x256xf16>, !acc
      scf.yield %d, %t1 : !acc, !nv_tileaa.mem_token
    }
    %h = nv_tileaa.fp_to_fp %sum : !acc to tensor<256x256xf16>
    %s = nv_tileaa.tiled_store weak %h, %cv[%c0, %c0] token = %after : tensor<256x256xf16>, i32, i32 of !cv
    nv_tileaa.return
  }
}
