// Agents run at the same time: each has scratch areas of its own, and waits for its own threads alone.
// RUN: tilewright opt --pass allocate --pass synchronize %s | filecheck %s
#rows = #nv_tileas.layout<[32, 32], register = [[1, 0], [2, 0], [4, 0]], lane = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16]], warp = [[8, 0], [16, 0]]>
#cols = #nv_tileas.layout<[32, 32], register = [[0, 1], [0, 2], [0, 4]], lane = [[1, 0], [2, 0], [4, 0], [8, 0], [16, 0]], warp = [[0, 8], [0, 16]]>
!rows = tensor<32x32xf32, #rows>
!cols = tensor<32x32xf32, #cols>
!ring = !nv_tileas.pipeline<2, [tensor<256xf32>]>
gpu.module @kernels attributes {nv_tileaa.target_spec = #nv_tileaa.target_spec<compute_capability = 90>} {
  // Twice 4096 bytes for the first agent, above them as many for the second. In each the areas alternate.
  // CHECK-LABEL: @two_agents
  // CHECK-SAME: nv_tileas.scratch_bytes = 16384
  // CHECK: agent_switch
  // CHECK: nv_tileas.convert_layout {{.*}}scratch = 0 : i64
  // CHECK-NEXT: nv_tileas.convert_layout {{.*}}scratch = 4096 : i64
  // CHECK: agent_switch
  // CHECK: nv_tileas.convert_layout {{.*}}scratch = 8192 : i64
  // CHECK-NEXT: nv_tileas.convert_layout {{.*}}scratch = 12288 : i64
  nv_tileaa.func @two_agents(%x: f32) attributes {kernel_spec = #nv_tileaa.kernel_spec<num_warps = 8>} {
    nv_tileas.async.pipeline.agent_switch attributes {first = 0 : i32, warps = 4 : i32} {
      %a = nv_tileas.splat %x : f32 -> !rows
      %b = nv_tileas.convert_layout %a : !rows -> !cols
      %c = nv_tileas.convert_layout %b : !cols -> !rows
      nv_tileas.async.pipeline.yield
    }
    nv_tileas.async.pipeline.agent_switch attributes {first = 4 : i32, warps = 4 : i32} {
      %a = nv_tileas.splat %x : f32 -> !rows
      %b = nv_tileas.convert_layout %a : !rows -> !cols
      %c = nv_tileas.convert_layout %b : !cols -> !rows
      nv_tileas.async.pipeline.yield
    }
    nv_tileaa.return
  }
  // Both are above the stages of a pipeline: two of 1024 bytes.
  // CHECK-LABEL: @above_a_pipeline
  // CHECK-SAME: nv_tileas.scratch_bytes = 14336
  // CHECK: create_pipeline {scratch = 0
  // CHECK: nv_tileas.convert_layout {{.*}}scratch = 2048 : i64
  // CHECK: agent_switch
  // CHECK: nv_tileas.convert_layout {{.*}}scratch = 10240 : i64
  nv_tileaa.func @above_a_pipeline(%x: f32, %p: !nv_tileaa.ptr<f32>) attributes {kernel_spec = #nv_tileaa.kernel_spec<num_warps = 8>} {
    %ring = nv_tileas.async.pipeline.create_pipeline : !ring
    nv_tileas.async.pipeline.agent_switch attributes {first = 0 : i32, warps = 4 : i32} {
      %i = nv_tileas.async.pipeline.create_iterator %ring : !ring -> !nv_tileas.pipeline_iterator<2>
      %s = nv_tileas.async.pipeline.producer_acquire %ring[%i] : !ring, !nv_tileas.pipeline_iterator<2>
      nv_tileas.async.pipeline.producer_copy %ring, %s, %p : !ring, !nv_tileaa.ptr<f32>
      nv_tileas.async.pipeline.producer_commit %ring, %s : !ring
      %a = nv_tileas.splat %x : f32 -> !rows
      %b = nv_tileas.convert_layout %a : !rows -> !cols
      nv_tileas.async.pipeline.yield
    }
    nv_tileas.async.pipeline.agent_switch attributes {first = 4 : i32, warps = 4 : i32} {
      %i = nv_tileas.async.pipeline.create_iterator %ring : !ring -> !nv_tileas.pipeline_iterator<2>
      %a = nv_tileas.splat %x : f32 -> !rows
      %b = nv_tileas.convert_layout %a : !rows -> !cols
      %s = nv_tileas.async.pipeline.consumer_wait %ring[%i] : !ring, !nv_tileas.pipeline_iterator<2>
      nv_tileas.async.pipeline.consumer_release %ring, %s : !ring
      nv_tileas.async.pipeline.yield
    }
    nv_tileaa.return
  }
}
