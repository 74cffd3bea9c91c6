// The CTAs of a cluster share the tiles of a kernel: a bit of the rank selects a half.
// RUN: tilewright opt --pass plan-splits{forms=cta} --pass tile %s | filecheck %s
!m = !nv_tileaa.memref<?x?xf16, strides = [?, 1]>
!o = !nv_tileaa.memref<?x?xf32, strides = [?, 1]>
!av = !nv_tileaa.tiled_view<tile = [128, 64], source = !m, padding = zero>
!bv = !nv_tileaa.tiled_view<tile = [64, 128], source = !m, padding = zero>
!cv = !nv_tileaa.tiled_view<tile = [128, 128], source = !o>
!acc = tensor<128x128xf32>
!row = !nv_tileaa.memref<?xf32, strides = [1]>
!rv = !nv_tileaa.tiled_view<tile = [128], source = !row, padding = zero>
gpu.module @kernels attributes {nv_tileaa.target_spec = #nv_tileaa.target_spec<compute_capability = 90>} {
  // M is halved: A, the accumulator and the stored tile. B is whole, and both CTAs load it.
  // CHECK-LABEL: @dot
  // CHECK-SAME: num_ctas = 2
  // CHECK: [[RANK:%[0-9]+]] = nv_tileaa.get_cta_rank
  // CHECK: [[ROW:%[0-9]+]] = nv_tileaa.addi
  // CHECK: nv_tileaa.block_tile {{.*}}tile = [64, 64]
  // CHECK: scf.for {{.*}} -> (tensor<64x128xf32>)
  // CHECK: nv_tileaa.tiled_load weak {{%[0-9]+}}{{\[}}[[ROW]], {{.*}} {sliced} {{.*}} -> tensor<64x64xf16>
  // CHECK: nv_tileaa.tiled_load weak {{.*}} {nv_tileaa.cluster_shared = 1 : i32} {{.*}} -> tensor<64x128xf16>
  // CHECK: nv_tileaa.dot {{.*}} tensor<64x128xf32>
  // CHECK: nv_tileaa.tiled_store weak {{.*}} {sliced} : tensor<64x128xf32>
  nv_tileaa.func @dot(%p: !m, %q: !m, %r: !o, %n: i32, %i: i32) attributes {kernel_spec = #nv_tileaa.kernel_spec<>, nv_tileaa.asked = #nv_tileaa.asked<num_ctas = <2, entry>>} {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %none = arith.constant dense<0.0> : !acc
    %av = nv_tileaa.block_tile %p : !av
    %bv = nv_tileaa.block_tile %q : !bv
    %cv = nv_tileaa.block_tile %r : !cv
    %sum = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %none) -> (!acc) : i32 {
      %x, %t0 = nv_tileaa.tiled_load weak %av[%i, %k] : i32, i32 of !av -> tensor<128x64xf16>
      %y, %t1 = nv_tileaa.tiled_load weak %bv[%k, %c0] : i32, i32 of !bv -> tensor<64x128xf16>
      %d = nv_tileaa.dot %x, %y, %acc : tensor<128x64xf16>, tensor<64x128xf16>, !acc
      scf.yield %d : !acc
    }
    %t = nv_tileaa.tiled_store weak %sum, %cv[%i, %c0] : !acc, i32, i32 of !cv
    nv_tileaa.return
  }
  // Four CTAs: M is halved by bit 0, N by bit 1, so that each operand is loaded by two of them.
  // CHECK-LABEL: @dot_of_four
  // CHECK-SAME: num_ctas = 4
  // CHECK: nv_tileaa.tiled_load {{.*}} {nv_tileaa.cluster_shared = 2 : i32, sliced} {{.*}} -> tensor<64x64xf16>
  // CHECK: nv_tileaa.tiled_load {{.*}} {nv_tileaa.cluster_shared = 1 : i32, sliced} {{.*}} -> tensor<64x64xf16>
  // CHECK: nv_tileaa.tiled_store {{.*}} tensor<64x64xf32>
  nv_tileaa.func @dot_of_four(%p: !m, %q: !m, %r: !o, %i: i32) attributes {kernel_spec = #nv_tileaa.kernel_spec<>, nv_tileaa.asked = #nv_tileaa.asked<num_ctas = <4, entry>>} {
    %c0 = arith.constant 0 : i32
    %none = arith.constant dense<0.0> : !acc
    %av = nv_tileaa.block_tile %p : !av
    %bv = nv_tileaa.block_tile %q : !bv
    %cv = nv_tileaa.block_tile %r : !cv
    %x, %t0 = nv_tileaa.tiled_load weak %av[%i, %c0] : i32, i32 of !av -> tensor<128x64xf16>
    %y, %t1 = nv_tileaa.tiled_load weak %bv[%c0, %c0] : i32, i32 of !bv -> tensor<64x128xf16>
    %d = nv_tileaa.dot %x, %y, %none : tensor<128x64xf16>, tensor<64x128xf16>, !acc
    %t = nv_tileaa.tiled_store weak %d, %cv[%i, %c0] : !acc, i32, i32 of !cv
    nv_tileaa.return
  }
  // Ranges are offset by the half, pointers and masks computed from them are halves; a row is reduced whole.
  // CHECK-LABEL: @pointers
  // CHECK: [[RANGE:%[0-9]+]] = nv_tileaa.make_range : tensor<64xi32>
  // CHECK: nv_tileaa.addi [[RANGE]]
  // CHECK: nv_tileaa.load weak {{.*}} -> tensor<64x16xf32>
  // CHECK: nv_tileaa.reduce {{.*}} -> tensor<64xf32>
  // CHECK: nv_tileaa.store weak {{.*}} tensor<64xf32>
  nv_tileaa.func @pointers(%p: !nv_tileaa.ptr<f32>, %q: !nv_tileaa.ptr<f32>, %n: i32) attributes {kernel_spec = #nv_tileaa.kernel_spec<>, nv_tileaa.asked = #nv_tileaa.asked<num_ctas = <2, entry>>} {
    %row = nv_tileaa.make_range : tensor<128xi32>
    %rows = nv_tileaa.expand_dims %row {axis = 1 : i64} : tensor<128xi32> -> tensor<128x1xi32>
    %at = nv_tileaa.broadcast %rows : tensor<128x1xi32> -> tensor<128x16xi32>
    %ps = nv_tileaa.splat %p : !nv_tileaa.ptr<f32> -> tensor<128x16x!nv_tileaa.ptr<f32>>
    %pp = nv_tileaa.addptr %ps, %at : tensor<128x16x!nv_tileaa.ptr<f32>>, tensor<128x16xi32>
    %end = nv_tileaa.splat %n : i32 -> tensor<128x16xi32>
    %mask = nv_tileaa.cmpi slt, %at, %end : tensor<128x16xi32>
    %x, %t0 = nv_tileaa.load weak %pp mask = %mask : tensor<128x16x!nv_tileaa.ptr<f32>> -> tensor<128x16xf32>
    %sum = nv_tileaa.reduce %x {axis = 1 : i32} : tensor<128x16xf32> -> tensor<128xf32> {
    ^bb0(%a: f32, %b: f32):
      %c = nv_tileaa.addf %a, %b : f32
      nv_tileaa.yield %c : f32
    }
    %qs = nv_tileaa.splat %q : !nv_tileaa.ptr<f32> -> tensor<128x!nv_tileaa.ptr<f32>>
    %qp = nv_tileaa.addptr %qs, %row : tensor<128x!nv_tileaa.ptr<f32>>, tensor<128xi32>
    %t1 = nv_tileaa.store weak %qp, %sum : tensor<128x!nv_tileaa.ptr<f32>>, tensor<128xf32>
    nv_tileaa.return
  }
  // Scalars are written, and text is printed, by the first CTA.
  // CHECK-LABEL: @effects
  // CHECK: [[FIRST:%[0-9]+]] = nv_tileaa.cmpi eq
  // CHECK: scf.if [[FIRST]] -> (!nv_tileaa.mem_token)
  // CHECK-NEXT: nv_tileaa.store weak
  // CHECK: scf.if [[FIRST]] {
  // CHECK-NEXT: nv_tileaa.atomic_rmw relaxed
  // CHECK: scf.if [[FIRST]] {
  // CHECK-NEXT: nv_tileaa.print
  // CHECK: nv_tileaa.tiled_store weak {{.*}} tensor<64xf32>
  nv_tileaa.func @effects(%p: !nv_tileaa.ptr<i32>, %r: !row, %i: i32, %z: f32) attributes {kernel_spec = #nv_tileaa.kernel_spec<>, nv_tileaa.asked = #nv_tileaa.asked<num_ctas = <2, entry>>} {
    %rv = nv_tileaa.block_tile %r : !rv
    %t0 = nv_tileaa.store weak %p, %i : !nv_tileaa.ptr<i32>, i32
    %old, %t1 = nv_tileaa.atomic_rmw relaxed gpu add %p, %i token = %t0 : !nv_tileaa.ptr<i32>, i32
    %t2 = nv_tileaa.print "%d", %i : i32
    %x = nv_tileaa.splat %z : f32 -> tensor<128xf32>
    %t3 = nv_tileaa.tiled_store weak %x, %rv[%i] : tensor<128xf32>, i32 of !rv
    nv_tileaa.return
  }
  // Values of branches and loops are halved on every path; tiles with an extent of one are whole.
  // CHECK-LABEL: @control_flow
  // CHECK: scf.if {{.*}} -> (tensor<64xf32>)
  // CHECK: scf.while {{.*}} (tensor<64xf32>, i32) -> tensor<64xf32>
  nv_tileaa.func @control_flow(%r: !row, %i: i32, %c: i1) attributes {kernel_spec = #nv_tileaa.kernel_spec<>, nv_tileaa.asked = #nv_tileaa.asked<num_ctas = <2, entry>>} {
    %c1 = arith.constant 1 : i32
    %one = arith.constant dense<1.0> : tensor<128xf32>
    %rv = nv_tileaa.block_tile %r : !rv
    %x, %t0 = nv_tileaa.tiled_load weak %rv[%i] : i32 of !rv -> tensor<128xf32>
    %y = scf.if %c -> (tensor<128xf32>) {
      scf.yield %one : tensor<128xf32>
    } else {
      scf.yield %x : tensor<128xf32>
    }
    %z = scf.while (%u = %y, %n = %i) : (tensor<128xf32>, i32) -> tensor<128xf32> {
      %more = nv_tileaa.cmpi slt, %n, %c1 : i32
      scf.condition(%more) %u : tensor<128xf32>
    } do {
    ^bb0(%v: tensor<128xf32>):
      %w = nv_tileaa.addf %v, %one : tensor<128xf32>
      scf.yield %w, %c1 : tensor<128xf32>, i32
    }
    %t1 = nv_tileaa.tiled_store weak %z, %rv[%i] : tensor<128xf32>, i32 of !rv
    nv_tileaa.return
  }
  // A kernel whose tiles are shared already stays as it is.
  // CHECK-LABEL: @shared_already
  // CHECK: nv_tileaa.store weak {{.*}} tensor<64xi32>
  nv_tileaa.func @shared_already(%p: !nv_tileaa.ptr<i32>) attributes {kernel_spec = #nv_tileaa.kernel_spec<num_ctas = 2>} {
    %rank = nv_tileaa.get_cta_rank : i32
    %q = nv_tileaa.addptr %p, %rank : !nv_tileaa.ptr<i32>, i32
    %ps = nv_tileaa.splat %q : !nv_tileaa.ptr<i32> -> tensor<64x!nv_tileaa.ptr<i32>>
    %x = nv_tileaa.splat %rank : i32 -> tensor<64xi32>
    %t = nv_tileaa.store weak %ps, %x : tensor<64x!nv_tileaa.ptr<i32>>, tensor<64xi32>
    nv_tileaa.return
  }
}
