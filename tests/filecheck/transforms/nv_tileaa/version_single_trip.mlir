// Loops that load the same tiles: with one iteration each tile is loaded once, and there is no loop.
// RUN: tilewright opt --pass version-single-trip %s | filecheck %s
// RUN: tilewright opt --pass 'record-requests{single-trip=0},version-single-trip' %s | filecheck %s --check-prefix=NONE
!memory = !nv_tileaa.memref<64x?xf32, strides = [4096, 1]>
!rows = !nv_tileaa.tiled_view<tile = [1, 512], source = !memory, padding = zero>
!plain = !nv_tileaa.tiled_view<tile = [1, 512], source = !memory>
!tile = tensor<1x512xf32>
gpu.module @kernels attributes {nv_tileaa.target_spec = #nv_tileaa.target_spec<compute_capability = 90>} {
  // What the second loop loads beside the rows is loaded before the reduction, too.
  // CHECK-LABEL: @norm
  // CHECK-SAME: [[ROWS:%[a-z0-9]+]]: !nv_tileaa.tiled_view{{.*}}, [[PLAIN:%[a-z0-9]+]]: !nv_tileaa.tiled_view{{.*}}, [[N:%[a-z0-9]+]]: i32
  // CHECK: [[SINGLE:%[0-9]+]] = nv_tileaa.cmpi eq, [[N]], %c1_i32 : i32
  // CHECK: [[OUT:%[0-9]+]] = scf.if [[SINGLE]] -> (tensor<1x512xf32>) {
  // CHECK-NOT: scf.for
  // CHECK: [[X:%[0-9]+]]:2 = nv_tileaa.tiled_load weak {{%[a-z0-9]+}}[{{%[0-9]+}}#0, %c0_i32]
  // CHECK-NEXT: [[W:%[0-9]+]]:2 = nv_tileaa.tiled_load weak {{%[a-z0-9]+}}[%c0_i32, %c0_i32]
  // CHECK-NOT: nv_tileaa.tiled_load
  // CHECK: [[SUM:%[0-9]+]] = nv_tileaa.addf {{%[a-z0-9_]+}}, [[X]]#0
  // CHECK: nv_tileaa.reduce [[SUM]]
  // CHECK-NOT: nv_tileaa.tiled_load
  // CHECK: nv_tileaa.mulf [[X]]#0, [[W]]#0
  // CHECK: scf.yield
  // CHECK: } else {
  // CHECK: scf.for
  // CHECK: nv_tileaa.tiled_load
  // CHECK: nv_tileaa.reduce
  // CHECK: scf.for
  // CHECK: nv_tileaa.tiled_load
  // CHECK: nv_tileaa.tiled_load
  // CHECK: scf.yield
  // CHECK: nv_tileaa.tiled_store weak [[OUT]]
  // NONE-LABEL: @norm
  // NONE-NOT: scf.if
  nv_tileaa.func @norm(%x: !rows, %y: !plain, %n: i32) attributes {kernel_spec = #nv_tileaa.kernel_spec<num_warps = 4>} {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %zero = arith.constant dense<0.0> : !tile
    %t0 = nv_tileaa.create_mem_token : !nv_tileaa.mem_token
    %b:3 = nv_tileaa.get_program_id : i32, i32, i32
    %sum = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero) -> (!tile) : i32 {
      %v, %t = nv_tileaa.tiled_load weak %x[%b#0, %i] token = %t0 : i32, i32 of !rows -> !tile
      %s = nv_tileaa.addf %acc, %v : !tile
      scf.yield %s : !tile
    }
    %r = nv_tileaa.reduce %sum {axis = 1 : i32, identities = [0.000000e+00 : f32]} : !tile -> tensor<1xf32> {
    ^bb0(%one: f32, %other: f32):
      %both = nv_tileaa.addf %one, %other : f32
      nv_tileaa.yield %both : f32
    }
    %e = nv_tileaa.expand_dims %r {axis = 1 : i64} : tensor<1xf32> -> tensor<1x1xf32>
    %m = nv_tileaa.broadcast %e : tensor<1x1xf32> -> !tile
    %out = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %m) -> (!tile) : i32 {
      %v, %t = nv_tileaa.tiled_load weak %x[%b#0, %i] token = %t0 : i32, i32 of !rows -> !tile
      %w, %u = nv_tileaa.tiled_load weak %y[%c0, %i] token = %t0 : i32, i32 of !plain -> !tile
      %p = nv_tileaa.mulf %v, %w : !tile
      %s = nv_tileaa.addf %acc, %p : !tile
      scf.yield %s : !tile
    }
    %t1 = nv_tileaa.tiled_store weak %out, %y[%b#0, %c0] token = %t0 : !tile, i32, i32 of !plain
    nv_tileaa.return
  }
  // A load that a token orders after a store of the first loop is not the first one's.
  // CHECK-LABEL: @ordered
  // CHECK-NOT: scf.if
  nv_tileaa.func @ordered(%x: !plain, %n: i32) attributes {kernel_spec = #nv_tileaa.kernel_spec<num_warps = 4>} {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %t0 = nv_tileaa.create_mem_token : !nv_tileaa.mem_token
    %b:3 = nv_tileaa.get_program_id : i32, i32, i32
    %end = scf.for %i = %c0 to %n step %c1 iter_args(%t = %t0) -> (!nv_tileaa.mem_token) : i32 {
      %v, %t1 = nv_tileaa.tiled_load weak %x[%b#0, %i] token = %t : i32, i32 of !plain -> !tile
      %d = nv_tileaa.addf %v, %v : !tile
      %t2 = nv_tileaa.tiled_store weak %d, %x[%b#0, %i] token = %t1 : !tile, i32, i32 of !plain
      scf.yield %t2 : !nv_tileaa.mem_token
    }
    scf.for %i = %c0 to %n step %c1 : i32 {
      %v, %t1 = nv_tileaa.tiled_load weak %x[%b#0, %i] token = %end : i32, i32 of !plain -> !tile
      %d = nv_tileaa.addf %v, %v : !tile
      %t2 = nv_tileaa.tiled_store weak %d, %x[%b#0, %i] token = %t1 : !tile, i32, i32 of !plain
    }
    nv_tileaa.return
  }
}
