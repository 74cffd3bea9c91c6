// Who arrives at the full mbarrier of a stage, and where the mbarriers of a pipeline end.
// RUN: tilewright opt --pass allocate,synchronize,convert-tileas-to-nvgpu %s | filecheck %s
#one = #nv_tileas.layout<[64], register = [[1]], lane = [[2], [4], [8], [16], [32]], warp = []>
#c = #nv_tileas.layout<[64], offset = [[1], [2], [4], [8], [16], [32]]>
!c = tensor<64xf32, #c>
!c_tiles = !nv_tileaa.tiled_view<tile = [64], source = !nv_tileaa.memref<4096xf32, strides = [1]>>
!c_map = !nv_tileas.tensor_map<!c_tiles, !c>
!mixed = !nv_tileas.pipeline<2, [!c, tensor<64xf32>]>
!row = !nv_tileas.pipeline<2, [tensor<64xf32>]>
!iterator = !nv_tileas.pipeline_iterator<2>
gpu.module @kernels attributes {nv_tileaa.target_spec = #nv_tileaa.target_spec<compute_capability = 90>} {
  // The warp arrives after the stores of its lanes, not at the copy by TMA.
  // CHECK-LABEL: gpu.func @mixed
  // CHECK-NOT: nvgpu.mbarrier.arrive
  // CHECK: cute_nvgpu.mbarrier.expect_tx {{.*}}, %c256
  // CHECK-NOT: nvgpu.mbarrier.arrive
  // CHECK: nvgpu.tma.async.load
  // CHECK-NOT: nvgpu.mbarrier.arrive
  // CHECK: llvm.store {{.*}} !llvm.ptr<3>
  // CHECK: cute_nvgpu.warp_sync
  // CHECK: nvgpu.mbarrier.arrive %
  nv_tileaa.func @mixed(%view: !c_tiles, %x: f32, %i: i32)
      attributes {kernel_spec = #nv_tileaa.kernel_spec<num_warps = 2>} {
    %ring = nv_tileas.async.pipeline.create_pipeline {slot = 0 : i32} : !mixed
    nv_tileas.async.pipeline.agent_switch attributes {first = 1 : i32, warps = 1 : i32} {
      %map = nv_tileas.create_tensor_maps %view : !c_tiles -> !c_map
      %row = nv_tileas.splat %x : f32 -> tensor<64xf32, #one>
      %begin = nv_tileas.async.pipeline.create_iterator %ring : !mixed -> !iterator
      %s = nv_tileas.async.pipeline.producer_acquire %ring[%begin] : !mixed, !iterator
      nv_tileas.async.pipeline.producer_copy %ring, %s, %map[%i] {engine = #nv_tileas.engine<tma>} : !mixed, !c_map, i32
      nv_tileas.async.pipeline.producer_write %ring, %s, %row {number = 1 : i32} : !mixed, tensor<64xf32, #one>
      nv_tileas.async.pipeline.producer_commit %ring, %s : !mixed
      nv_tileas.release_tensor_maps %map : !c_map
      nv_tileas.async.pipeline.yield
    }
    nv_tileaa.return
  }
  // The producer has waited for the consumers: one of its lanes ends the mbarriers, after the waits of all. No barrier of the CTA
  // delays the consumers.
  // CHECK-LABEL: gpu.func @drained
  // CHECK: nvgpu.mbarrier.arrive %
  // CHECK-COUNT-2: nvgpu.mbarrier.try_wait.parity
  // CHECK-NEXT: cute_nvgpu.warp_sync
  // CHECK-NEXT: [[E:%[0-9]+]] = cute_nvgpu.elect_one
  // CHECK-NEXT: scf.if [[E]]
  // CHECK-COUNT-4: cute_nvgpu.mbarrier.invalidate
  // CHECK-NOT: cute_nvgpu.mbarrier.invalidate
  // CHECK-NOT: gpu.barrier
  // CHECK: gpu.return
  nv_tileaa.func @drained(%x: f32) attributes {kernel_spec = #nv_tileaa.kernel_spec<num_warps = 2>} {
    %ring = nv_tileas.async.pipeline.create_pipeline {drained, slot = 0 : i32} : !row
    nv_tileas.async.pipeline.agent_switch attributes {first = 1 : i32, warps = 1 : i32} {
      %row = nv_tileas.splat %x : f32 -> tensor<64xf32, #one>
      %begin = nv_tileas.async.pipeline.create_iterator %ring : !row -> !iterator
      %s = nv_tileas.async.pipeline.producer_acquire %ring[%begin] : !row, !iterator
      nv_tileas.async.pipeline.producer_write %ring, %s, %row : !row, tensor<64xf32, #one>
      nv_tileas.async.pipeline.producer_commit %ring, %s : !row
      %next = nv_tileas.async.pipeline.inc_iter %begin : !iterator
      %last = nv_tileas.async.pipeline.producer_acquire %ring[%next] : !row, !iterator
      %end = nv_tileas.async.pipeline.inc_iter %next : !iterator
      %done = nv_tileas.async.pipeline.producer_acquire %ring[%end] : !row, !iterator
      nv_tileas.async.pipeline.yield
    }
    nv_tileas.async.pipeline.agent_switch attributes {first = 0 : i32, warps = 1 : i32} {
      %begin = nv_tileas.async.pipeline.create_iterator %ring : !row -> !iterator
      %s = nv_tileas.async.pipeline.consumer_wait %ring[%begin] : !row, !iterator
      nv_tileas.async.pipeline.consumer_release %ring, %s : !row
      nv_tileas.async.pipeline.yield
    }
    nv_tileaa.return
  }
}
