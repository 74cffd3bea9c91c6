// Tiles of dots without the half that is out of bounds wherever it is stored.
// RUN: tilewright opt --pass plan-splits{forms=first} --pass tile %s | filecheck %s
!m = !nv_tileaa.memref<?x?xf16, strides = [?, 1]>
!one = !nv_tileaa.memref<1x?xf32, strides = [?, 1]>
!many = !nv_tileaa.memref<40x?xf32, strides = [?, 1]>
!any = !nv_tileaa.memref<?x?xf32, strides = [?, 1]>
!av = !nv_tileaa.tiled_view<tile = [64, 64], source = !m, padding = zero>
!bv = !nv_tileaa.tiled_view<tile = [64, 128], source = !m, padding = zero>
!cv = !nv_tileaa.tiled_view<tile = [64, 128], source = !one>
!dv = !nv_tileaa.tiled_view<tile = [64, 128], source = !many>
!ev = !nv_tileaa.tiled_view<tile = [64, 128], source = !any>
!acc = tensor<64x128xf32>
gpu.module @kernels attributes {nv_tileaa.target_spec = #nv_tileaa.target_spec<compute_capability = 90>} {
  // One row is stored: an instruction has 16. A is loaded from where its tile begins.
  // CHECK-LABEL: @row
  // CHECK: [[C2:%[a-z0-9_]+]] = arith.constant 2 : i64
  // CHECK: nv_tileaa.muli {{.*}}, [[C2]]
  // CHECK: nv_tileaa.block_tile {{.*}}tile = [16, 64]
  // CHECK: scf.for {{.*}} -> (tensor<16x128xf32>)
  // CHECK: nv_tileaa.tiled_load {{.*}} -> tensor<16x64xf16>
  // CHECK: nv_tileaa.tiled_load {{.*}} -> tensor<64x128xf16>
  // CHECK: nv_tileaa.dot {{.*}} tensor<16x128xf32>
  // CHECK: nv_tileaa.tiled_store weak {{.*}} : tensor<16x128xf32>
  nv_tileaa.func @row(%p: !m, %q: !m, %r: !one, %n: i32, %i: i32) attributes {kernel_spec = #nv_tileaa.kernel_spec<>} {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %none = arith.constant dense<0.0> : !acc
    %av = nv_tileaa.block_tile %p : !av
    %bv = nv_tileaa.block_tile %q : !bv
    %cv = nv_tileaa.block_tile %r : !cv
    %sum = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %none) -> (!acc) : i32 {
      %x, %t0 = nv_tileaa.tiled_load weak %av[%i, %k] : i32, i32 of !av -> tensor<64x64xf16>
      %y, %t1 = nv_tileaa.tiled_load weak %bv[%k, %c0] : i32, i32 of !bv -> tensor<64x128xf16>
      %d = nv_tileaa.dot %x, %y, %acc : tensor<64x64xf16>, tensor<64x128xf16>, !acc
      scf.yield %d : !acc
    }
    %t = nv_tileaa.tiled_store weak %sum, %cv[%i, %c0] : !acc, i32, i32 of !cv
    nv_tileaa.return
  }
  // 40 of 64 rows, and a number of rows that is not known.
  // CHECK-LABEL: @rows
  // CHECK: nv_tileaa.dot {{.*}} tensor<64x128xf32>
  nv_tileaa.func @rows(%p: !m, %q: !m, %r: !many, %s: !any, %i: i32) attributes {kernel_spec = #nv_tileaa.kernel_spec<>} {
    %c0 = arith.constant 0 : i32
    %none = arith.constant dense<0.0> : !acc
    %av = nv_tileaa.block_tile %p : !av
    %bv = nv_tileaa.block_tile %q : !bv
    %dv = nv_tileaa.block_tile %r : !dv
    %ev = nv_tileaa.block_tile %s : !ev
    %x, %t0 = nv_tileaa.tiled_load weak %av[%i, %c0] : i32, i32 of !av -> tensor<64x64xf16>
    %y, %t1 = nv_tileaa.tiled_load weak %bv[%c0, %c0] : i32, i32 of !bv -> tensor<64x128xf16>
    %d = nv_tileaa.dot %x, %y, %none : tensor<64x64xf16>, tensor<64x128xf16>, !acc
    %t = nv_tileaa.tiled_store weak %d, %dv[%i, %c0] : !acc, i32, i32 of !dv
    %u = nv_tileaa.tiled_store weak %d, %ev[%i, %c0] : !acc, i32, i32 of !ev
    nv_tileaa.return
  }
  // The same dot is stored whole elsewhere.
  // CHECK-LABEL: @twice
  // CHECK: nv_tileaa.dot {{.*}} tensor<64x128xf32>
  nv_tileaa.func @twice(%p: !m, %q: !m, %r: !one, %s: !any, %i: i32) attributes {kernel_spec = #nv_tileaa.kernel_spec<>} {
    %c0 = arith.constant 0 : i32
    %none = arith.constant dense<0.0> : !acc
    %av = nv_tileaa.block_tile %p : !av
    %bv = nv_tileaa.block_tile %q : !bv
    %cv = nv_tileaa.block_tile %r : !cv
    %ev = nv_tileaa.block_tile %s : !ev
    %x, %t0 = nv_tileaa.tiled_load weak %av[%i, %c0] : i32, i32 of !av -> tensor<64x64xf16>
    %y, %t1 = nv_tileaa.tiled_load weak %bv[%c0, %c0] : i32, i32 of !bv -> tensor<64x128xf16>
    %d = nv_tileaa.dot %x, %y, %none : tensor<64x64xf16>, tensor<64x128xf16>, !acc
    %t = nv_tileaa.tiled_store weak %d, %cv[%i, %c0] : !acc, i32, i32 of !cv
    %u = nv_tileaa.tiled_store weak %d, %ev[%i, %c0] : !acc, i32, i32 of !ev
    nv_tileaa.return
  }
  // The rows are added to each other.
  // CHECK-LABEL: @reduced
  // CHECK: nv_tileaa.dot {{.*}} tensor<64x128xf32>
  nv_tileaa.func @reduced(%p: !m, %q: !m, %r: !one, %i: i32) attributes {kernel_spec = #nv_tileaa.kernel_spec<>} {
    %c0 = arith.constant 0 : i32
    %none = arith.constant dense<0.0> : !acc
    %av = nv_tileaa.block_tile %p : !av
    %bv = nv_tileaa.block_tile %q : !bv
    %cv = nv_tileaa.block_tile %r : !cv
    %x, %t0 = nv_tileaa.tiled_load weak %av[%i, %c0] : i32, i32 of !av -> tensor<64x64xf16>
    %y, %t1 = nv_tileaa.tiled_load weak %bv[%c0, %c0] : i32, i32 of !bv -> tensor<64x128xf16>
    %d = nv_tileaa.dot %x, %y, %none : tensor<64x64xf16>, tensor<64x128xf16>, !acc
    %sum = nv_tileaa.reduce %d {axis = 0 : i32, identities = [0.0 : f32]} : !acc -> tensor<128xf32> {
    ^bb0(%l: f32, %h: f32):
      %a = nv_tileaa.addf %l, %h : f32
      nv_tileaa.yield %a : f32
    }
    %e = nv_tileaa.expand_dims %sum {axis = 0 : i64} : tensor<128xf32> -> tensor<1x128xf32>
    %b = nv_tileaa.broadcast %e : tensor<1x128xf32> -> !acc
    %f = nv_tileaa.addf %d, %b : !acc
    %t = nv_tileaa.tiled_store weak %f, %cv[%i, %c0] : !acc, i32, i32 of !cv
    nv_tileaa.return
  }
}
