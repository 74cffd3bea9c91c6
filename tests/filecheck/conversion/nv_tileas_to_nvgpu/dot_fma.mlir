// Without tensor cores: A and B go to shared memory, one barrier, and one fma per element of the
// accumulator and per element along K, in order of K.
// RUN: tilewright opt --pass convert-tileas-to-nvgpu %s | filecheck %s
#a = #nv_tileas.layout<[8, 4], register = [], lane = [[0, 1], [0, 2], [1, 0], [2, 0], [4, 0]], warp = []>
#b = #nv_tileas.layout<[4, 8], register = [], lane = [[0, 1], [0, 2], [0, 4], [1, 0], [2, 0]], warp = []>
#c = #nv_tileas.layout<[8, 8], register = [[0, 1]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = []>
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
}
