// wgmma: A and B are stored to shared memory, made visible to the async proxy, and read by
// instructions of m64nNk16, here two along K = 32.
// RUN: tilewright opt --pass allocate,synchronize,convert-tileas-to-nvgpu %s | filecheck %s
#a = #nv_tileas.layout<[64, 32], register = [[4, 0], [8, 0], [16, 0], [32, 0]], lane = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16]], warp = [[1, 0], [2, 0]]>
#b = #nv_tileas.layout<[32, 8], register = [[16, 0]], lane = [[0, 1], [0, 2], [0, 4], [1, 0], [2, 0]], warp = [[4, 0], [8, 0]]>
#c = #nv_tileas.layout<[64, 8], register = [[0, 1], [8, 0]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0]]>
#fragments = #nv_tileas.layout<[64, 32], register = [[0, 1], [8, 0], [0, 8], [0, 16]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0]]>
// Where wgmma reads them: K-major, rows of 64 bytes, of which the 16-byte chunks are swizzled.
#placed_a = #nv_tileas.layout<[64, 32], offset = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [1, 0], [2, 8], [4, 16], [8, 0], [16, 0], [32, 0]]>
#placed_b = #nv_tileas.layout<[32, 8], offset = [[1, 0], [2, 0], [4, 0], [8, 0], [16, 0], [0, 1], [8, 2], [16, 4]]>
gpu.module @kernels attributes {nv_tileaa.target_spec = #nv_tileaa.target_spec<compute_capability = 90>} {
  // CHECK-LABEL: @wgmma
  // A takes 64 * 32 * 2 bytes, and B 32 * 8 * 2.
  // CHECK-SAME: workgroup({{.*}}: memref<4608xi8, 3> {llvm.align = 1024
  // A thread makes its stores visible to the async proxy, then to the other threads.
  // CHECK-COUNT-16: llvm.store {{.*}} !llvm.ptr<3>
  // CHECK: cute_nvgpu.fence.proxy_async shared_cta
  // CHECK-NOT: gpu.barrier
  // CHECK-COUNT-2: llvm.store {{.*}} !llvm.ptr<3>
  // CHECK: cute_nvgpu.fence.proxy_async shared_cta
  // CHECK-NOT: llvm.store
  // CHECK: gpu.barrier
  // The fence is directly before the issue, so that both become one piece of inline PTX.
  // CHECK: [[C:%[0-9]+]] = cute_nvgpu.wgmma.fence
  // CHECK-NEXT: cute_nvgpu.wgmma.issue {{.*}}, [[C]] steps 2
  // CHECK-NEXT: cute_nvgpu.wgmma.commit
  // CHECK-NEXT: cute_nvgpu.wgmma.wait 0
  // CHECK-NOT: mma.sync
  // CHECK: gpu.return
  nv_tileaa.func @wgmma(%a: tensor<64x32xf16, #a>, %b: tensor<32x8xf16, #b>, %c: tensor<64x8xf32, #c>) attributes {kernel_spec = #nv_tileaa.kernel_spec<num_warps = 4>} {
    %placed_a = nv_tileas.convert_layout %a : tensor<64x32xf16, #a> -> tensor<64x32xf16, #placed_a>
    %placed_b = nv_tileas.convert_layout %b : tensor<32x8xf16, #b> -> tensor<32x8xf16, #placed_b>
    %d = nv_tileas.dot %placed_a, %placed_b, %c {atom = #nv_tileas.atom<wgmma>, input_precision = "ieee"} : tensor<64x32xf16, #placed_a>, tensor<32x8xf16, #placed_b>, tensor<64x8xf32, #c>
    nv_tileaa.return
  }
  // Two dots in flight: each is a group of its own. The first wait leaves the second dot running.
  // CHECK-LABEL: @asynchronous
  // CHECK: cute_nvgpu.wgmma.issue
  // CHECK: cute_nvgpu.wgmma.commit
  // CHECK-NOT: cute_nvgpu.wgmma.wait
  // CHECK: cute_nvgpu.wgmma.issue
  // CHECK: cute_nvgpu.wgmma.commit
  // CHECK: cute_nvgpu.wgmma.wait 1
  // CHECK: cute_nvgpu.wgmma.wait 0
  // CHECK-NOT: cute_nvgpu.wgmma.wait
  // CHECK: gpu.return
  nv_tileaa.func @asynchronous(%a: tensor<64x32xf16, #a>, %b: tensor<32x8xf16, #b>, %c: tensor<64x8xf32, #c>) attributes {kernel_spec = #nv_tileaa.kernel_spec<num_warps = 4>} {
    %placed_a = nv_tileas.convert_layout %a : tensor<64x32xf16, #a> -> tensor<64x32xf16, #placed_a>
    %placed_b = nv_tileas.convert_layout %b : tensor<32x8xf16, #b> -> tensor<32x8xf16, #placed_b>
    %d = nv_tileas.dot %placed_a, %placed_b, %c {asynchronous, atom = #nv_tileas.atom<wgmma>, input_precision = "ieee"} : tensor<64x32xf16, #placed_a>, tensor<32x8xf16, #placed_b>, tensor<64x8xf32, #c>
    %e = nv_tileas.dot %placed_a, %placed_b, %c {asynchronous, atom = #nv_tileas.atom<wgmma>, input_precision = "ieee"} : tensor<64x32xf16, #placed_a>, tensor<32x8xf16, #placed_b>, tensor<64x8xf32, #c>
    %f = nv_tileas.dot_wait %d {pending = 1 : i32} : tensor<64x8xf32, #c>
    %g = nv_tileas.dot_wait %e : tensor<64x8xf32, #c>
    nv_tileaa.return
  }
  // A in registers: two instructions take four registers of two elements each. Only B is in shared memory.
  // CHECK-LABEL: @registers
  // CHECK-SAME: workgroup({{.*}}: memref<512xi8, 3>
  // CHECK-COUNT-2: llvm.store {{.*}} !llvm.ptr<3>
  // CHECK-NOT: llvm.store
  // CHECK: cute_nvgpu.wgmma.issue {{.*}}steps 2
  // CHECK-SAME: vector<16xf16>
  // CHECK-NEXT: cute_nvgpu.wgmma.commit
  // CHECK: gpu.return
  nv_tileaa.func @registers(%a: tensor<64x32xf16, #fragments>, %b: tensor<32x8xf16, #b>, %c: tensor<64x8xf32, #c>) attributes {kernel_spec = #nv_tileaa.kernel_spec<num_warps = 4>} {
    %placed_b = nv_tileas.convert_layout %b : tensor<32x8xf16, #b> -> tensor<32x8xf16, #placed_b>
    %d = nv_tileas.dot %a, %placed_b, %c {atom = #nv_tileas.atom<wgmma>, input_precision = "ieee"} : tensor<64x32xf16, #fragments>, tensor<32x8xf16, #placed_b>, tensor<64x8xf32, #c>
    nv_tileaa.return
  }
  // The wait for a dot ties its accumulator, and the registers of A, which so are not written before. A late one stays after what
  // precedes it.
  // CHECK-LABEL: @held
  // CHECK: cute_nvgpu.wgmma.issue {{.*}}steps 2
  // CHECK: cute_nvgpu.wgmma.commit
  // CHECK-NOT: cute_nvgpu.wgmma.wait
  // CHECK: arith.mulf
  // CHECK: cute_nvgpu.nanosleep %c0_i32
  // CHECK-NEXT: [[W:%[0-9]+]]:2 = cute_nvgpu.wgmma.wait 0, %{{[0-9]+}}, %arg0 : vector<4xf32>, vector<16xf16>
  // CHECK-NEXT: arith.negf [[W]]#0
  // CHECK: gpu.return
  nv_tileaa.func @held(%a: tensor<64x32xf16, #fragments>, %b: tensor<32x8xf16, #b>, %c: tensor<64x8xf32, #c>) attributes {kernel_spec = #nv_tileaa.kernel_spec<num_warps = 4>} {
    %placed_b = nv_tileas.convert_layout %b : tensor<32x8xf16, #b> -> tensor<32x8xf16, #placed_b>
    %d = nv_tileas.dot %a, %placed_b, %c {asynchronous, atom = #nv_tileas.atom<wgmma>, input_precision = "ieee"} : tensor<64x32xf16, #fragments>, tensor<32x8xf16, #placed_b>, tensor<64x8xf32, #c>
    %x = nv_tileaa.mulf %c, %c : tensor<64x8xf32, #c>
    %e = nv_tileas.dot_wait %d held %a {late} : tensor<64x8xf32, #c>, tensor<64x32xf16, #fragments>
    %f = nv_tileaa.negf %e : tensor<64x8xf32, #c>
    nv_tileaa.return
  }
}
