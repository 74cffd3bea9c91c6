// Layout conversion by the cheapest means: registers, shuffles, shared memory.
// RUN: tilewright opt --pass convert-tileas-to-nvgpu %s | filecheck %s
#pair = #nv_tileas.layout<[64], register = [[1]], lane = [[2], [4], [8], [16], [32]], warp = []>
#swapped = #nv_tileas.layout<[128], register = [[2], [1]], lane = [[4], [8], [16], [32], [64]], warp = []>
#four = #nv_tileas.layout<[128], register = [[1], [2]], lane = [[4], [8], [16], [32], [64]], warp = []>
#line = #nv_tileas.layout<[32], register = [], lane = [[1], [2], [4], [8], [16]], warp = []>
#rotated = #nv_tileas.layout<[32], register = [], lane = [[2], [4], [8], [16], [1]], warp = []>
#warp0 = #nv_tileas.layout<[64], register = [], lane = [[1], [2], [4], [8], [16]], warp = [[32]]>
#warp1 = #nv_tileas.layout<[64], register = [], lane = [[2], [4], [8], [16], [32]], warp = [[1]]>
gpu.module @kernels attributes {nv_tileaa.target_spec = #nv_tileaa.target_spec<compute_capability = 90>} {
  // A permutation of registers: no data leaves the thread.
  // CHECK-LABEL: @registers
  // CHECK-NOT: gpu.shuffle
  // CHECK-NOT: gpu.barrier
  // CHECK: vector.shuffle %arg0, %arg0 [0, 2, 1, 3]
  nv_tileaa.func @registers(%a: tensor<128xf32, #four>) attributes {kernel_spec = #nv_tileaa.kernel_spec<num_warps = 1>} {
    %b = nv_tileas.convert_layout %a : tensor<128xf32, #four> -> tensor<128xf32, #swapped>
    nv_tileaa.return
  }
  // A permutation of lanes: one shuffle for each register, no shared memory, no barrier.
  // CHECK-LABEL: @lanes
  // CHECK-NOT: gpu.barrier
  // CHECK: gpu.shuffle idx
  // CHECK-NOT: gpu.shuffle
  // CHECK-NOT: gpu.barrier
  // CHECK: gpu.return
  nv_tileaa.func @lanes(%a: tensor<32xf32, #line>) attributes {kernel_spec = #nv_tileaa.kernel_spec<num_warps = 1>} {
    %b = nv_tileas.convert_layout %a : tensor<32xf32, #line> -> tensor<32xf32, #rotated>
    nv_tileaa.return
  }
  // Between warps: each thread stores its element, all wait once, each thread loads its new one.
  // CHECK-LABEL: @warps
  // CHECK-NOT: gpu.shuffle
  // CHECK: llvm.store {{.*}} !llvm.ptr<3>
  // CHECK: gpu.barrier
  // CHECK-NOT: gpu.barrier
  // CHECK: llvm.load {{.*}} !llvm.ptr<3>
  // CHECK-NOT: llvm.store
  // CHECK-NOT: gpu.barrier
  // CHECK: gpu.return
  nv_tileaa.func @warps(%a: tensor<64xf32, #warp0>) attributes {kernel_spec = #nv_tileaa.kernel_spec<num_warps = 2>, nv_tileas.scratch_bytes = 256 : i64} {
    %b = nv_tileas.convert_layout %a {scratch = 0 : i64} : tensor<64xf32, #warp0> -> tensor<64xf32, #warp1>
    nv_tileaa.return
  }
}
