// Tokens on a dependence chain through an async copy become mbarriers; other tokens stay.
// RUN: tilewright opt --pass materialize-async %s | filecheck %s
#row = #nv_tileas.layout<[256], register = [[1]], lane = [[2], [4], [8], [16], [32]], warp = [[64], [128]]>
!f32 = !nv_tileaa.ptr<f32>
!tile = tensor<256xf32, #row>
!buffer = !nv_tileas.buffer<shared, 2, 256xf32>
!token = !nv_tileaa.mem_token
gpu.module @kernels attributes {nv_tileaa.target_spec = #nv_tileaa.target_spec<compute_capability = 90>} {
  // The reader waits for the copy; the reader itself needs no token of a barrier.
  // CHECK-LABEL: @copy_then_read
  // CHECK: [[T:%[0-9]+]] = nv_tileas.async.create_token {{.*}}!nv_tileas.async.token
  // CHECK: [[C:%[0-9]+]] = nv_tileas.async.copy {{.*}} token = [[T]]
  // CHECK-NEXT: nv_tileas.async.wait [[C]]
  // CHECK: nv_tileas.read_buffer
  nv_tileaa.func @copy_then_read(%x: !f32) attributes {kernel_spec = #nv_tileaa.kernel_spec<num_warps = 4>} {
    %c0 = arith.constant 0 : i32
    %b = nv_tileas.alloc_tensor : !buffer
    %t0 = nv_tileaa.create_mem_token : !token
    %t1 = nv_tileas.async.copy %x, %b[%c0] token = %t0 : !f32, !buffer, !token
    %a, %t2 = nv_tileas.read_buffer %b[%c0] token = %t1 : !token : !buffer -> !tile
    nv_tileaa.return
  }
  // Two chains take two mbarriers.
  // CHECK-LABEL: @two_chains
  // CHECK: nv_tileas.async.create_token {slot = [[FIRST:[0-9]+]] : i32}
  // CHECK-NOT: slot = [[FIRST]] :
  // CHECK: nv_tileas.async.create_token {slot = {{[0-9]+}} : i32}
  nv_tileaa.func @two_chains(%x: !f32) attributes {kernel_spec = #nv_tileaa.kernel_spec<num_warps = 4>} {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %b = nv_tileas.alloc_tensor : !buffer
    %t0 = nv_tileaa.create_mem_token : !token
    %u0 = nv_tileaa.create_mem_token : !token
    %t1 = nv_tileas.async.copy %x, %b[%c0] token = %t0 : !f32, !buffer, !token
    %u1 = nv_tileas.async.copy %x, %b[%c1] token = %u0 : !f32, !buffer, !token
    %a, %t2 = nv_tileas.read_buffer %b[%c0] token = %t1 : !token : !buffer -> !tile
    %d, %u2 = nv_tileas.read_buffer %b[%c1] token = %u1 : !token : !buffer -> !tile
    nv_tileaa.return
  }
  // The copy overwrites a buffer that threads read: they arrive at a barrier first.
  // CHECK-LABEL: @copy_after_read
  // CHECK: nv_tileas.read_buffer
  // CHECK: nv_tileas.barrier
  // CHECK-NEXT: nv_tileas.async.copy
  nv_tileaa.func @copy_after_read(%x: !f32) attributes {kernel_spec = #nv_tileaa.kernel_spec<num_warps = 4>} {
    %c0 = arith.constant 0 : i32
    %b = nv_tileas.alloc_tensor : !buffer
    %t0 = nv_tileaa.create_mem_token : !token
    %t1 = nv_tileas.async.copy %x, %b[%c0] token = %t0 : !f32, !buffer, !token
    %a, %t2 = nv_tileas.read_buffer %b[%c0] token = %t1 : !token : !buffer -> !tile
    %t3 = nv_tileas.async.copy %x, %b[%c0] token = %t2 : !f32, !buffer, !token
    nv_tileaa.return
  }
  // Each stage of a pipeline has a full and an empty mbarrier: the second starts after 2 * 3.
  // CHECK-LABEL: @pipelines
  // CHECK: create_pipeline {slot = 0 : i32}
  // CHECK: create_pipeline {slot = 6 : i32}
  nv_tileaa.func @pipelines() attributes {kernel_spec = #nv_tileaa.kernel_spec<num_warps = 4>} {
    %p = nv_tileas.async.pipeline.create_pipeline : !nv_tileas.pipeline<3, [f32]>
    %q = nv_tileas.async.pipeline.create_pipeline : !nv_tileas.pipeline<2, [f32]>
    nv_tileaa.return
  }
  // No copy, no mbarrier.
  // CHECK-LABEL: @threads_only
  // CHECK-NOT: nv_tileas.async
  // CHECK: !nv_tileaa.mem_token
  nv_tileaa.func @threads_only(%x: !f32) attributes {kernel_spec = #nv_tileaa.kernel_spec<num_warps = 4>} {
    %t0 = nv_tileaa.create_mem_token : !token
    %a, %t1 = nv_tileas.load weak %x token = %t0 : !f32 -> f32
    nv_tileaa.return
  }
}
