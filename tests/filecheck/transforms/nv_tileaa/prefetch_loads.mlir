// Software pipelining by one iteration, in registers: the prologue loads iteration 0, iteration i
// loads i + 1 under a mask that is false in the last one.
// RUN: tilewright opt --pass prefetch-loads,pipeline-loops %s | filecheck %s
// RUN: tilewright opt --pass 'record-requests{kept-tiles=0},prefetch-loads,pipeline-loops' %s | filecheck %s --check-prefix=NONE
!rows = !nv_tileaa.tiled_view<tile = [1, 512], source = !nv_tileaa.memref<64x?xf32, strides = [4096, 1]>, padding = zero>
!weights = !nv_tileaa.tiled_view<tile = [1, 512], source = !nv_tileaa.memref<1x?xf32, strides = [4096, 1]>, padding = zero>
!ptrs = tensor<128x!nv_tileaa.ptr<f32>>
!tile = tensor<128xf32>
gpu.module @kernels attributes {nv_tileaa.target_spec = #nv_tileaa.target_spec<compute_capability = 90>} {
  // CHECK-LABEL: @by_pointers
  // CHECK: [[FIRST:%[0-9]+]]:2 = nv_tileaa.load weak {{%[0-9]+}} mask
  // CHECK: scf.for [[I:%[a-z0-9]+]] = {{.*}} to [[N:%[a-z0-9_]+]] step [[STEP:%[a-z0-9_]+]] iter_args([[ACC:%[a-z0-9]+]] = {{.*}}, [[V:%[a-z0-9]+]] = [[FIRST]]#0)
  // CHECK: [[NEXT:%[0-9]+]] = nv_tileaa.addi [[I]], [[STEP]]
  // CHECK: nv_tileaa.cmpi slt, [[NEXT]], [[N]]
  // CHECK: [[LOADED:%[0-9]+]]:2 = nv_tileaa.load weak {{%[0-9]+}} mask
  // CHECK: nv_tileaa.addf [[ACC]], [[V]]
  // CHECK: scf.yield {{%[0-9]+}}, [[LOADED]]#0
  nv_tileaa.func @by_pointers(%x: !ptrs, %y: !ptrs, %n: i32) attributes {kernel_spec = #nv_tileaa.kernel_spec<num_warps = 4>} {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %zero = arith.constant dense<0.0> : !tile
    %sum = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero) -> (!tile) : i32 {
      %o = nv_tileaa.splat %i : i32 -> tensor<128xi32>
      %p = nv_tileaa.addptr %x, %o : !ptrs, tensor<128xi32>
      %v, %t = nv_tileaa.load weak %p : !ptrs -> !tile
      %s = nv_tileaa.addf %acc, %v : !tile
      scf.yield %s : !tile
    }
    %t = nv_tileaa.store weak %y, %sum : !ptrs, !tile
    nv_tileaa.return
  }
  // A load that is ordered after a store of the loop reads what that iteration wrote.
  // CHECK-LABEL: @ordered_in_the_loop
  // CHECK-NOT: nv_tileaa.load
  // CHECK: scf.for
  // CHECK: nv_tileaa.load
  // CHECK-NOT: nv_tileaa.load
  nv_tileaa.func @ordered_in_the_loop(%x: !ptrs, %n: i32) attributes {kernel_spec = #nv_tileaa.kernel_spec<num_warps = 4>} {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %t0 = nv_tileaa.create_mem_token : !nv_tileaa.mem_token
    %end = scf.for %i = %c0 to %n step %c1 iter_args(%t = %t0) -> (!nv_tileaa.mem_token) : i32 {
      %o = nv_tileaa.splat %i : i32 -> tensor<128xi32>
      %p = nv_tileaa.addptr %x, %o : !ptrs, tensor<128xi32>
      %v, %t1 = nv_tileaa.load weak %p token = %t : !ptrs -> !tile
      %t2 = nv_tileaa.store weak %p, %v token = %t1 : !ptrs, !tile
      scf.yield %t2 : !nv_tileaa.mem_token
    }
    nv_tileaa.return
  }
  // Both loops load the same rows, which `keep-tiles` keeps; the second one prefetches its weights.
  // CHECK-LABEL: @kept_rows
  // CHECK-NOT: nv_tileaa.tiled_load
  // CHECK: scf.for [[I:%[a-z0-9]+]] =
  // CHECK: nv_tileaa.tiled_load weak [[ROWS:%[a-z0-9]+]][{{%[0-9]+}}#0, [[I]]]
  // CHECK: nv_tileaa.tiled_load weak [[WEIGHTS:%[a-z0-9]+]][
  // CHECK: scf.for [[J:%[a-z0-9]+]] =
  // CHECK: nv_tileaa.tiled_load weak [[WEIGHTS]][
  // CHECK: nv_tileaa.tiled_load weak [[ROWS]][{{%[0-9]+}}#0, [[J]]]
  // NONE-LABEL: @kept_rows
  // NONE: nv_tileaa.tiled_load {{.*}} -> tensor<1x512xf32>
  // NONE: scf.for
  nv_tileaa.func @kept_rows(%rows: !rows, %weights: !weights, %n: i32) attributes {kernel_spec = #nv_tileaa.kernel_spec<num_warps = 4>} {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %zero = arith.constant dense<0.0> : tensor<1x512xf32>
    %block:3 = nv_tileaa.get_program_id : i32, i32, i32
    %sum = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<1x512xf32>) : i32 {
      %x:2 = nv_tileaa.tiled_load weak %rows[%block#0, %i] : i32, i32 of !rows -> tensor<1x512xf32>
      %next = nv_tileaa.addf %acc, %x#0 : tensor<1x512xf32>
      scf.yield %next : tensor<1x512xf32>
    }
    %product = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %sum) -> (tensor<1x512xf32>) : i32 {
      %x:2 = nv_tileaa.tiled_load weak %rows[%block#0, %i] : i32, i32 of !rows -> tensor<1x512xf32>
      %w:2 = nv_tileaa.tiled_load weak %weights[%c0, %i] : i32, i32 of !weights -> tensor<1x512xf32>
      %scaled = nv_tileaa.mulf %x#0, %w#0 : tensor<1x512xf32>
      %next = nv_tileaa.addf %acc, %scaled : tensor<1x512xf32>
      scf.yield %next : tensor<1x512xf32>
    }
    nv_tileaa.return
  }
}
