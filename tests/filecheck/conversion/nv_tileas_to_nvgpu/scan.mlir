// RUN: tilewright opt --pass convert-tileas-to-nvgpu %s | filecheck %s
#line = #nv_tileas.layout<[32], register = [], lane = [[1], [2], [4], [8], [16]], warp = []>
#wide = #nv_tileas.layout<[512], register = [[1], [2]], lane = [[4], [8], [16], [32], [64]], warp = [[128], [256]]>
gpu.module @kernels attributes {nv_tileaa.target_spec = #nv_tileaa.target_spec<compute_capability = 90>} {
  // Hillis and Steele: log2 32 = 5 steps of distances 1, 2, 4, 8, 16, each a shuffle up.
  // CHECK-LABEL: @lanes
  // CHECK: gpu.shuffle up {{.*}}, %c1_
  // CHECK: gpu.shuffle up {{.*}}, %c2_
  // CHECK: gpu.shuffle up {{.*}}, %c4_
  // CHECK: gpu.shuffle up {{.*}}, %c8_
  // CHECK: gpu.shuffle up {{.*}}, %c16_
  // CHECK-NOT: gpu.barrier
  // CHECK: gpu.return
  nv_tileaa.func @lanes(%a: tensor<32xi32, #line>) attributes {kernel_spec = #nv_tileaa.kernel_spec<num_warps = 1>} {
    %h = nv_tileas.scan %a {axis = 0 : i32, inclusive = true} : tensor<32xi32, #line> -> tensor<32xi32, #line> {
    ^bb0(%x: i32, %y: i32):
      %z = nv_tileaa.addi %x, %y : i32
      nv_tileas.yield %z : i32
    }
    nv_tileaa.return
  }
  // In reverse, values come from higher lanes.
  // CHECK-LABEL: @reverse
  // CHECK-NOT: gpu.shuffle up
  // CHECK: gpu.shuffle down {{.*}}, %c1_
  nv_tileaa.func @reverse(%a: tensor<32xi32, #line>) attributes {kernel_spec = #nv_tileaa.kernel_spec<num_warps = 1>} {
    %h = nv_tileas.scan %a {axis = 0 : i32, inclusive = true, reverse} : tensor<32xi32, #line> -> tensor<32xi32, #line> {
    ^bb0(%x: i32, %y: i32):
      %z = nv_tileaa.addi %x, %y : i32
      nv_tileas.yield %z : i32
    }
    nv_tileaa.return
  }
  // Across warps: the sums of the warps go through shared memory, once.
  // CHECK-LABEL: @warps
  // CHECK: llvm.store {{.*}} !llvm.ptr<3>
  // CHECK: gpu.barrier
  // CHECK-NOT: gpu.barrier
  // CHECK: llvm.load {{.*}} !llvm.ptr<3>
  nv_tileaa.func @warps(%a: tensor<512xi32, #wide>) attributes {kernel_spec = #nv_tileaa.kernel_spec<num_warps = 4>, nv_tileas.scratch_bytes = 16 : i64} {
    %h = nv_tileas.scan %a {axis = 0 : i32, inclusive = true, scratch = 0 : i64} : tensor<512xi32, #wide> -> tensor<512xi32, #wide> {
    ^bb0(%x: i32, %y: i32):
      %z = nv_tileaa.addi %x, %y : i32
      nv_tileas.yield %z : i32
    }
    nv_tileaa.return
  }
}
