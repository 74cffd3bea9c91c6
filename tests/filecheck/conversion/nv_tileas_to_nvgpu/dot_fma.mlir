// Without tensor cores: A and B go to shared memory, one barrier, and one fma per element of the
// accumulator and per element along K, in order of K.
// RUN: tilewright opt --pass convert-tileas-to-nvgpu %s | filecheck %s
#a = #nv_tileas.layout<[8, 4], register = [], lane = [[0, 1], [0, 2], [1, 0], [2, 0], [4, 0]], warp = []>
#b = #nv_tileas.layout<[4, 8], register = [], lane = [[0, 1], [0, 2], [0, 4], [1, 0], [2, 0]], warp = []>
#c = #nv_tileas.layout<[8, 8], register = [[0, 1]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = []>
#one = #nv_tileas.layout<[1, 8, 2], offset = [[0, 1, 0], [0, 2, 0], [0, 4, 0], [0, 0, 1]]>
#held = #nv_tileas.layout<[2, 2, 32], register = [[1, 0, 0], [0, 1, 0]], lane = [[0, 0, 1], [0, 0, 2], [0, 0, 4], [0, 0, 8], [0, 0, 16]], warp = []>
#lines = #nv_tileas.layout<[2, 8, 32], register = [[1, 0, 0], [0, 1, 0], [0, 2, 0], [0, 4, 0]], lane = [[0, 0, 1], [0, 0, 2], [0, 0, 4], [0, 0, 8], [0, 0, 16]], warp = []>
gpu.module @kernels attributes {nv_tileaa.target_spec = #nv_tileaa.target_spec<compute_capability = 90>} {
  // CHECK-LABEL: @fma
  // CHECK-COUNT-2: llvm.store {{.*}} !llvm.ptr<3>
  // CHECK: gpu.barrier
  // CHECK: [[K0:%[0-9]+]] = vector.fma {{.*}}, %arg2 : vector<2xf32>
  // CHECK: [[K1:%[0-9]+]] = vector.fma {{.*}}, [[K0]] : vector<2xf32>
  // CHECK: [[K2:%[0-9]+]] = vector.fma {{.*}}, [[K1]] : vector<2xf32>
  // CHECK: vector.fma {{.*}}, [[K2]] : vector<2xf32>
  // CHECK-NOT: vector.fma
  // CHECK-NOT: gpu.barrier
  // CHECK: gpu.return
  nv_tileaa.func @fma(%a: tensor<8x4xf32, #a>, %b: tensor<4x8xf32, #b>, %c: tensor<8x8xf32, #c>) attributes {kernel_spec = #nv_tileaa.kernel_spec<num_warps = 1>, nv_tileas.scratch_bytes = 256 : i64} {
    %d = nv_tileas.dot %a, %b, %c {atom = #nv_tileas.atom<fma>, input_precision = "ieee", scratch = 0 : i64} : tensor<8x4xf32, #a>, tensor<4x8xf32, #b>, tensor<8x8xf32, #c>
    nv_tileaa.return
  }
  // Each thread holds the columns of B that it needs, and reads A, one for both matrices of the batch, from shared memory:
  // for four rows at a time all of K, without a barrier.
  // CHECK-LABEL: @lines
  // CHECK-NOT: gpu.barrier
  // CHECK: llvm.load {{.*}} {alignment = 16 : i64} : !llvm.ptr<3> -> vector<4xf32>
  // CHECK: [[K0:%[0-9]+]] = vector.fma {{.*}} : vector<8xf32>
  // CHECK: llvm.load {{.*}} -> vector<4xf32>
  // CHECK: vector.fma {{.*}}, [[K0]] : vector<8xf32>
  // CHECK: [[K2:%[0-9]+]] = vector.fma {{.*}} : vector<8xf32>
  // CHECK: vector.fma {{.*}}, [[K2]] : vector<8xf32>
  // CHECK-NOT: vector.fma
  // CHECK-NOT: llvm.load
  // CHECK: gpu.return
  nv_tileaa.func @lines(%a: tensor<1x8x2xf32, #one>, %b: tensor<2x2x32xf32, #held>, %c: tensor<2x8x32xf32, #lines>) attributes {kernel_spec = #nv_tileaa.kernel_spec<num_warps = 1>, nv_tileas.scratch_bytes = 64 : i64} {
    %d = nv_tileas.dot %a, %b, %c {atom = #nv_tileas.atom<fma>, input_precision = "ieee"} : tensor<1x8x2xf32, #one>, tensor<2x2x32xf32, #held>, tensor<2x8x32xf32, #lines>
    nv_tileaa.return
  }
}
