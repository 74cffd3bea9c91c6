// RUN: tilewright opt --pass allocate --pass materialize-async --verify-diagnostics %s
gpu.module @kernels attributes {nv_tileaa.target_spec = #nv_tileaa.target_spec<compute_capability = 90>} {
  nv_tileaa.func @buffers_beyond_shared_memory() attributes {kernel_spec = #nv_tileaa.kernel_spec<num_warps = 4>} {
    // expected-error@+1 {{'@buffers_beyond_shared_memory' uses too much shared data (0x40000 bytes, 0x38c00 max)}}
    %b = nv_tileas.alloc_tensor : !nv_tileas.buffer<shared, 4, 128x128xf32>
    nv_tileaa.return
  }
}
// -----
!f32 = !nv_tileaa.ptr<f32>
!buffer = !nv_tileas.buffer<shared, 1, 256xf32>
!token = !nv_tileaa.mem_token
gpu.module @kernels attributes {nv_tileaa.target_spec = #nv_tileaa.target_spec<compute_capability = 90>} {
  nv_tileaa.func @producers_without_copies(%x: !f32) attributes {kernel_spec = #nv_tileaa.kernel_spec<num_warps = 4>} {
    %c0 = arith.constant 0 : i32
    %b = nv_tileas.alloc_tensor : !buffer
    // expected-error@+1 {{expected 2 copies that take the token, as many as it has producers, got 1}}
    %t0 = nv_tileaa.create_mem_token {producers = 2 : i32} : !token
    %t1 = nv_tileas.async.copy %x, %b[%c0] token = %t0 : !f32, !buffer, !token
    nv_tileaa.return
  }
}
