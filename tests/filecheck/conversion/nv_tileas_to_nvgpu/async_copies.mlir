// A bulk copy: one elected thread arms the mbarrier with the byte count and issues the copy; all threads
// wait for its phase. Two stages of 256 f32 are 2048 bytes.
// RUN: tilewright opt --pass allocate,synchronize,convert-tileas-to-nvgpu %s | filecheck %s
#row = #nv_tileas.layout<[256], register = [[1]], lane = [[2], [4], [8], [16], [32]], warp = [[64], [128]]>
!f32 = !nv_tileaa.ptr<f32>
!buffer = !nv_tileas.buffer<shared, 2, 256xf32>
!token = !nv_tileas.async.token
gpu.module @kernels attributes {nv_tileaa.target_spec = #nv_tileaa.target_spec<compute_capability = 90>} {
  // CHECK-LABEL: @copy
  // CHECK-SAME: workgroup({{.*}}: memref<2048xi8, 3>
  // CHECK: [[BARRIER:%[0-9]+]] = nvgpu.mbarrier.create
  // CHECK: scf.if
  // CHECK: nvgpu.mbarrier.init [[BARRIER]]
  // CHECK-NEXT: cute_nvgpu.fence.mbarrier_init
  // CHECK: gpu.barrier
  // The address in shared memory is that of stage %s, 1024 bytes each.
  // CHECK: arith.muli %arg1, %c1024
  // Only copies write to a buffer: no proxy fence.
  // CHECK-NOT: fence.proxy_async
  // CHECK: scf.if
  // CHECK-NOT: fence.proxy_async
  // CHECK: nvgpu.mbarrier.arrive.expect_tx [[BARRIER]]{{.*}}, %c1024
  // CHECK: cute_nvgpu.bulk.load {{.*}}, 1024 :
  // CHECK: nvgpu.mbarrier.try_wait.parity [[BARRIER]]
  // CHECK: llvm.load {{.*}} {alignment = 8 : i64} : !llvm.ptr<3>
  nv_tileaa.func @copy(%x: !f32, %s: i32) attributes {kernel_spec = #nv_tileaa.kernel_spec<num_warps = 4>} {
    %b = nv_tileas.alloc_tensor : !buffer
    %t0 = nv_tileas.async.create_token {slot = 0 : i32} : !token
    %t1 = nv_tileas.async.copy %x, %b[%s] token = %t0 : !f32, !buffer, !token
    nv_tileas.async.wait %t1 : !token
    %m = nv_tileaa.create_mem_token : !nv_tileaa.mem_token
    %a, %t2 = nv_tileas.read_buffer %b[%s] token = %m : !nv_tileaa.mem_token : !buffer -> tensor<256xf32, #row>
    nv_tileaa.return
  }
}
