// wgmma: A and B go to shared memory, are made visible to the async proxy, and are read by
// instructions of m64nNk16, here two along K = 32.
// RUN: tilewright opt --pass convert-tileas-to-nvgpu %s | filecheck %s
#a = #nv_tileas.layout<[64, 32], register = [[4, 0], [8, 0], [16, 0], [32, 0]], lane = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16]], warp = [[1, 0], [2, 0]]>
#b = #nv_tileas.layout<[32, 8], register = [[16, 0]], lane = [[0, 1], [0, 2], [0, 4], [1, 0], [2, 0]], warp = [[4, 0], [8, 0]]>
#c = #nv_tileas.layout<[64, 8], register = [[0, 1], [8, 0]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0]]>
gpu.module @kernels attributes {nv_tileaa.target_spec = #nv_tileaa.target_spec<compute_capability = 90>} {
  // CHECK-LABEL: @wgmma
  // CHECK: llvm.align = 1024
  // CHECK: llvm.store {{.*}} !llvm.ptr<3>
  // CHECK: cute_nvgpu.fence.proxy_async shared_cta
  // CHECK-NEXT: gpu.barrier
  // CHECK: [[C:%[0-9]+]] = cute_nvgpu.wgmma.fence
  // CHECK: cute_nvgpu.wgmma.issue {{.*}}, [[C]] steps 2
  // CHECK-NEXT: cute_nvgpu.wgmma.commit
  // CHECK-NEXT: cute_nvgpu.wgmma.wait 0
  // CHECK-NOT: mma.sync
  // CHECK: gpu.return
  nv_tileaa.func @wgmma(%a: tensor<64x32xf16, #a>, %b: tensor<32x8xf16, #b>, %c: tensor<64x8xf32, #c>) attributes {kernel_spec = #nv_tileaa.kernel_spec<num_warps = 4>, nv_tileas.scratch_alignment = 1024 : i64, nv_tileas.scratch_bytes = 5120 : i64} {
    %d = nv_tileas.dot %a, %b, %c {atom = #nv_tileas.atom<wgmma>, input_precision = "ieee", scratch = 0 : i64} : tensor<64x32xf16, #a>, tensor<32x8xf16, #b>, tensor<64x8xf32, #c>
    nv_tileaa.return
  }
}
