// Copies into a stage of a pipeline by cp.async, one group for each stage; a stage is full when at most
// the given number of later groups is in flight.
// RUN: tilewright opt --pass allocate,synchronize,convert-tileas-to-nvgpu %s | filecheck %s
#row = #nv_tileas.layout<[128], register = [[1], [2]], lane = [[4], [8], [16], [32], [64]], warp = []>
#turned = #nv_tileas.layout<[128], register = [[32], [64]], lane = [[1], [2], [4], [8], [16]], warp = []>
#half = #nv_tileas.layout<[64], register = [[32]], lane = [[1], [2], [4], [8], [16]], warp = []>
!f32 = !nv_tileaa.ptr<f32>
!memory = !nv_tileaa.memref<1024xf32, strides = [1]>
!tiles = !nv_tileaa.tiled_view<tile = [128], source = !memory>
!ring = !nv_tileas.pipeline<2, [tensor<128xf32>]>
!stage = !nv_tileas.pipeline_iterator<2>
gpu.module @kernels attributes {nv_tileaa.target_spec = #nv_tileaa.target_spec<compute_capability = 80>} {
  // Each thread copies 16 bytes, and reads what it copied: no barrier. Threads count their own groups, so
  // that no mbarriers are needed.
  // CHECK-LABEL: @private
  // CHECK-NOT: mbarrier
  // CHECK-NOT: gpu.barrier
  // CHECK: nvgpu.device_async_copy {{.*}}, 16, {{.*}}{bypassL1}
  // CHECK-NOT: nvgpu.device_async_copy
  // CHECK: nvgpu.device_async_create_group
  // CHECK-NOT: gpu.barrier
  // CHECK: %[[GROUPS:.*]] = cute_nvgpu.device_async_groups
  // CHECK: nvgpu.device_async_wait %[[GROUPS]] {numGroups = 1 : i32}
  // CHECK-NOT: gpu.barrier
  // CHECK: llvm.load {{.*}} !llvm.ptr<3>
  nv_tileaa.func @private(%x: !f32, %i: i32) attributes {kernel_spec = #nv_tileaa.kernel_spec<num_warps = 1>} {
    %m = nv_tileaa.make_memref %x : !f32 -> !memory
    %v = nv_tileaa.block_tile %m : !tiles
    %ring = nv_tileas.async.pipeline.create_pipeline {private} : !ring
    %first = nv_tileas.async.pipeline.create_iterator %ring : !ring -> !stage
    %free = nv_tileas.async.pipeline.producer_acquire %ring[%first] : !ring, !stage
    nv_tileas.async.pipeline.producer_copy %ring, %free, %v[%i] {tile = tensor<128xf32, #row>, vector = 4 : i32} : !ring, !tiles, i32
    nv_tileas.async.pipeline.producer_commit %ring, %free : !ring
    %full = nv_tileas.async.pipeline.consumer_wait %ring[%first] {pending = 1 : i32} : !ring, !stage
    %a = nv_tileas.async.pipeline.consumer_read %ring, %full {number = 0 : i32} : !ring -> tensor<128xf32, #row>
    nv_tileas.async.pipeline.consumer_release %ring, %full : !ring
    nv_tileaa.return
  }
  // Lines of the copied tile are the first to be evicted from L2.
  // CHECK-LABEL: @streamed
  // CHECK: %[[POLICY:.*]] = nvvm.createpolicy.fractional evict_first
  // CHECK: cute_nvgpu.device_async_copy {{.*}}, 16, {{.*}} cache_hint %[[POLICY]] {bypassL1} :
  // CHECK: nvgpu.device_async_create_group
  nv_tileaa.func @streamed(%x: !f32, %i: i32) attributes {kernel_spec = #nv_tileaa.kernel_spec<num_warps = 1>} {
    %m = nv_tileaa.make_memref %x : !f32 -> !memory
    %v = nv_tileaa.block_tile %m : !tiles
    %ring = nv_tileas.async.pipeline.create_pipeline {private} : !ring
    %first = nv_tileas.async.pipeline.create_iterator %ring : !ring -> !stage
    %free = nv_tileas.async.pipeline.producer_acquire %ring[%first] : !ring, !stage
    nv_tileas.async.pipeline.producer_copy %ring, %free, %v[%i] {evict_first, tile = tensor<128xf32, #row>, vector = 4 : i32} : !ring, !tiles, i32
    nv_tileas.async.pipeline.producer_commit %ring, %free : !ring
    %full = nv_tileas.async.pipeline.consumer_wait %ring[%first] {pending = 0 : i32} : !ring, !stage
    nv_tileas.async.pipeline.consumer_release %ring, %full : !ring
    nv_tileaa.return
  }
  // Threads read what others copied: after the wait for its own copies, each waits for all threads.
  // CHECK-LABEL: @block
  // CHECK-NOT: mbarrier
  // CHECK: nvgpu.device_async_copy {{.*}}, 16, {{.*}}{bypassL1}
  // CHECK: nvgpu.device_async_create_group
  // CHECK-NOT: gpu.barrier
  // CHECK: nvgpu.device_async_wait {{.*}} {numGroups = 0 : i32}
  // CHECK: gpu.barrier
  // CHECK: !llvm.ptr<3>
  // CHECK-NOT: gpu.barrier
  // CHECK: gpu.return
  nv_tileaa.func @block(%x: !f32, %i: i32) attributes {kernel_spec = #nv_tileaa.kernel_spec<num_warps = 1>} {
    %m = nv_tileaa.make_memref %x : !f32 -> !memory
    %v = nv_tileaa.block_tile %m : !tiles
    %ring = nv_tileas.async.pipeline.create_pipeline : !ring
    %first = nv_tileas.async.pipeline.create_iterator %ring : !ring -> !stage
    %free = nv_tileas.async.pipeline.producer_acquire %ring[%first] : !ring, !stage
    nv_tileas.async.pipeline.producer_copy %ring, %free, %v[%i] {tile = tensor<128xf32, #row>, vector = 4 : i32} : !ring, !tiles, i32
    nv_tileas.async.pipeline.producer_commit %ring, %free : !ring
    %full = nv_tileas.async.pipeline.consumer_wait %ring[%first] {pending = 0 : i32} : !ring, !stage
    %a = nv_tileas.async.pipeline.consumer_read %ring, %full {number = 0 : i32} : !ring -> tensor<128xf32, #turned>
    nv_tileas.async.pipeline.consumer_release %ring, %full : !ring
    nv_tileaa.return
  }
  // Through pointers: the first pointer of four is the address, and where its mask is false no byte is read.
  // CHECK-LABEL: @gathered
  // CHECK: %[[POINTERS:.*]]:4 = vector.to_elements %arg0
  // CHECK: %[[MASK:.*]]:4 = vector.to_elements %arg1
  // CHECK: %[[FROM:.*]] = llvm.inttoptr %[[POINTERS]]#0
  // CHECK: %[[READ:.*]] = arith.extui %[[MASK]]#0 : i1 to i32
  // CHECK: %[[BYTES:.*]] = arith.shli %[[READ]], %{{.*}} : i32
  // CHECK: %[[SOURCE:.*]] = cute_nvgpu.buffer_at %[[FROM]] : !llvm.ptr<1> to memref<16xi8, #gpu.address_space<global>>
  // CHECK: %[[COUNT:.*]] = arith.index_cast %[[BYTES]] : i32 to index
  // CHECK: nvgpu.device_async_copy %[[SOURCE]][%{{.*}}], %{{.*}}[%{{.*}}], 16, %[[COUNT]] {bypassL1} :
  // CHECK-NOT: nvgpu.device_async_copy
  // CHECK: gpu.return
  nv_tileaa.func @gathered(%x: tensor<128x!f32, #row>, %m: tensor<128xi1, #row>) attributes {kernel_spec = #nv_tileaa.kernel_spec<num_warps = 1>} {
    %ring = nv_tileas.async.pipeline.create_pipeline {private} : !ring
    %first = nv_tileas.async.pipeline.create_iterator %ring : !ring -> !stage
    %free = nv_tileas.async.pipeline.producer_acquire %ring[%first] : !ring, !stage
    nv_tileas.async.pipeline.producer_copy %ring, %free, %x mask = %m {tile = tensor<128xf32, #row>, vector = 4 : i32} : !ring, tensor<128x!f32, #row>
    nv_tileas.async.pipeline.producer_commit %ring, %free : !ring
    %full = nv_tileas.async.pipeline.consumer_wait %ring[%first] {pending = 0 : i32} : !ring, !stage
    nv_tileas.async.pipeline.consumer_release %ring, %full : !ring
    nv_tileaa.return
  }
  // A part of a stage: the second half of 128 elements is 256 bytes after the first.
  // CHECK-LABEL: @part
  // CHECK: gpu.barrier
  // CHECK: %[[ADDRESS:.*]] = llvm.getelementptr %{{.*}}[256]
  // CHECK: %[[ROW:.*]] = cute_nvgpu.buffer_at %[[ADDRESS]]
  // CHECK: nvgpu.ldmatrix %[[ROW]]{{.*}}numTiles = 2
  // CHECK-NOT: nvgpu.ldmatrix
  // CHECK: gpu.return
  nv_tileaa.func @part(%x: !f32, %i: i32) attributes {kernel_spec = #nv_tileaa.kernel_spec<num_warps = 1>} {
    %ring = nv_tileas.async.pipeline.create_pipeline : !ring
    %first = nv_tileas.async.pipeline.create_iterator %ring : !ring -> !stage
    %full = nv_tileas.async.pipeline.consumer_wait %ring[%first] {pending = 0 : i32} : !ring, !stage
    %a = nv_tileas.async.pipeline.consumer_read %ring, %full {number = 0 : i32, at = array<i64: 64>} : !ring -> tensor<64xf32, #half>
    nv_tileas.async.pipeline.consumer_release %ring, %full : !ring
    nv_tileaa.return
  }
}
