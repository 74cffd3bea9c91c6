// RUN: tilewright opt --pass convert-tileas-to-nvgpu %s | filecheck %s
#four = #nv_tileas.layout<[4, 32], register = [[1, 0], [2, 0]], lane = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16]], warp = []>
#line = #nv_tileas.layout<[32], register = [], lane = [[1], [2], [4], [8], [16]], warp = []>
#one = #nv_tileas.layout<[4], register = [[1], [2]], lane = [[0], [0], [0], [0], [0]], warp = []>
#wide = #nv_tileas.layout<[128], register = [], lane = [[1], [2], [4], [8], [16]], warp = [[32], [64]]>
gpu.module @kernels attributes {nv_tileaa.target_spec = #nv_tileaa.target_spec<compute_capability = 90>} {
  // Along registers: n - 1 additions in a tree of depth log2 n, no communication.
  // CHECK-LABEL: @registers
  // CHECK-NOT: gpu.shuffle
  // CHECK: arith.addf {{.*}} : vector<2xf32>
  // CHECK: arith.addf {{.*}} : vector<1xf32>
  // CHECK-NOT: arith.addf
  // CHECK: gpu.return
  nv_tileaa.func @registers(%a: tensor<4x32xf32, #four>) attributes {kernel_spec = #nv_tileaa.kernel_spec<num_warps = 1>} {
    %r = nv_tileas.reduce %a {axis = 0 : i32} : tensor<4x32xf32, #four> -> tensor<32xf32, #line> {
    ^bb0(%x: f32, %y: f32):
      %z = nv_tileaa.addf %x, %y : f32
      nv_tileas.yield %z : f32
    }
    nv_tileaa.return
  }
  // Along the 32 lanes of a warp: log2 32 = 5 butterfly shuffles.
  // CHECK-LABEL: @lanes
  // CHECK-COUNT-5: gpu.shuffle xor
  // CHECK-NOT: gpu.shuffle
  // CHECK-NOT: gpu.barrier
  // CHECK: gpu.return
  nv_tileaa.func @lanes(%a: tensor<32xf32, #line>) attributes {kernel_spec = #nv_tileaa.kernel_spec<num_warps = 1>} {
    %r = nv_tileas.reduce %a {axis = 0 : i32} : tensor<32xf32, #line> -> f32 {
    ^bb0(%x: f32, %y: f32):
      %z = nv_tileaa.addf %x, %y : f32
      nv_tileas.yield %z : f32
    }
    nv_tileaa.return
  }
  // An i32 of each lane: one instruction, if the body is an operation that has one.
  // CHECK-LABEL: @words
  // CHECK: gpu.subgroup_reduce maxui {{.*}} : (i32) -> i32
  // CHECK-NOT: gpu.subgroup_reduce
  // CHECK-COUNT-5: gpu.shuffle xor
  // CHECK-NOT: gpu.shuffle
  // CHECK: gpu.return
  nv_tileaa.func @words(%a: tensor<32xi32, #line>) attributes {kernel_spec = #nv_tileaa.kernel_spec<num_warps = 1>} {
    %r = nv_tileas.reduce %a {axis = 0 : i32} : tensor<32xi32, #line> -> i32 {
    ^bb0(%x: i32, %y: i32):
      %z = arith.maxui %x, %y : i32
      nv_tileas.yield %z : i32
    }
    %p = nv_tileas.reduce %a {axis = 0 : i32} : tensor<32xi32, #line> -> i32 {
    ^bb0(%x: i32, %y: i32):
      %z = nv_tileaa.muli %x, %y : i32
      nv_tileas.yield %z : i32
    }
    nv_tileaa.return
  }
  // Along four warps: a slot of shared memory for each, and one barrier.
  // CHECK-LABEL: @warps
  // CHECK-COUNT-5: gpu.shuffle xor
  // CHECK: llvm.store {{.*}} !llvm.ptr<3>
  // CHECK: gpu.barrier
  // CHECK-NOT: gpu.barrier
  // CHECK: llvm.load {{.*}} !llvm.ptr<3>
  // CHECK-NOT: gpu.barrier
  // CHECK: gpu.return
  nv_tileaa.func @warps(%a: tensor<128xf32, #wide>) attributes {kernel_spec = #nv_tileaa.kernel_spec<num_warps = 4>, nv_tileas.scratch_bytes = 16 : i64} {
    %r = nv_tileas.reduce %a {axis = 0 : i32, scratch = 0 : i64} : tensor<128xf32, #wide> -> f32 {
    ^bb0(%x: f32, %y: f32):
      %z = nv_tileaa.addf %x, %y : f32
      nv_tileas.yield %z : f32
    }
    nv_tileaa.return
  }
}
