// Software pipelining by one iteration, in registers: the prologue loads iteration 0, iteration i
// loads i + 1 under a mask that is false in the last one.
// RUN: tilewright opt --pass prefetch-loads %s | filecheck %s
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
}
