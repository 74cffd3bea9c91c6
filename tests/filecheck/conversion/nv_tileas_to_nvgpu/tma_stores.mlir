// Stores by TMA: a warp writes a box to its stage of shared memory when TMA has read the one before, and one lane stores it.
// RUN: tilewright opt --pass allocate,synchronize,materialize-async,convert-tileas-to-nvgpu %s | filecheck %s
#c = #nv_tileas.layout<[64, 256], register = [[0, 1], [8, 0], [0, 8], [0, 16], [0, 32], [0, 64], [0, 128]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0]]>
#staged = #nv_tileas.layout<[64, 256], offset = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [0, 32], [1, 8], [2, 16], [4, 32], [8, 0], [32, 0], [16, 0], [0, 64], [0, 128]]>
#words = #nv_tileas.layout<[64, 32], register = [[0, 1], [8, 0], [0, 8], [0, 16]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0]]>
#staged_words = #nv_tileas.layout<[64, 32], offset = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [1, 4], [2, 8], [4, 16], [8, 0], [32, 0], [16, 0]]>
!half = tensor<64x256xf16, #c>
!words = tensor<64x32xf32, #words>
!tiles = !nv_tileaa.tiled_view<tile = [64, 256], source = !nv_tileaa.memref<512x512xf16, strides = [512, 1]>>
!word_tiles = !nv_tileaa.tiled_view<tile = [64, 32], source = !nv_tileaa.memref<512x512xf32, strides = [512, 1]>>
!map = !nv_tileas.tensor_map<!tiles, tensor<64x256xf16, #staged>>
!word_map = !nv_tileas.tensor_map<!word_tiles, tensor<64x32xf32, #staged_words>>
!buffer = !nv_tileas.buffer<shared, 8, 16x64xf16>
!word_buffer = !nv_tileas.buffer<shared, 4, 16x32xf32>
!ring = !nv_tileas.pipeline<1, [!map, !word_map]>
!iterator = !nv_tileas.pipeline_iterator<1>
gpu.module @kernels attributes {nv_tileaa.target_spec = #nv_tileaa.target_spec<compute_capability = 90>} {
  // CHECK-LABEL: gpu.func @stores
  // The stage of the pipeline has the slot of the maps, and what is added to a coordinate.
  // CHECK: scf.if
  // CHECK: [[SLOT:%.*]] = arith.index_cast {{.*}} : index to i32
  // CHECK: llvm.store [[SLOT]], {{.*}} : i32, !llvm.ptr<3>
  // CHECK: llvm.store {{.*}} : i32, !llvm.ptr<3>
  // CHECK: nvgpu.mbarrier.arrive
  // The slot is released after the consumers have released the stage.
  // CHECK: nvgpu.mbarrier.try_wait.parity
  // CHECK: cute_nvgpu.slot.release
  // The consumers fence, since the mbarrier orders the generic proxy alone.
  // CHECK: nvgpu.mbarrier.try_wait.parity
  // CHECK: [[SLOTS:%.*]] = memref.get_global @stores_tensor_maps
  // CHECK: [[READ:%.*]] = llvm.load {{.*}} -> i32
  // CHECK: [[NUMBER:%.*]] = arith.index_cast [[READ]]
  // CHECK: [[MAP:%.*]] = cute_nvgpu.tensormap.at [[SLOTS]][[[NUMBER]], %c0]
  // CHECK: nvgpu.tma.fence.descriptor [[MAP]]
  // CHECK: [[WORD_MAP:%.*]] = cute_nvgpu.tensormap.at {{.*}} %c32]
  // CHECK: nvgpu.tma.fence.descriptor [[WORD_MAP]]
  // Nothing is stored to a tile that coordinates do not reach, nor to an empty tensor.
  // CHECK: [[ROW:%.*]] = arith.cmpi ult, %arg4, %c33554432
  // CHECK: [[COLUMN:%.*]] = arith.cmpi ult, %arg4, %c8388608
  // CHECK: [[REACHED:%.*]] = arith.andi [[ROW]], [[COLUMN]]
  // CHECK: [[FILLED:%.*]] = arith.cmpi eq
  // CHECK-NEXT: [[STORED:%.*]] = arith.andi [[REACHED]], [[FILLED]]
  // The first of four boxes in two stages: at most the box before it may be read still.
  // CHECK: cute_nvgpu.elect_one
  // CHECK-NEXT: scf.if
  // CHECK-NEXT: cute_nvgpu.tma.wait 1 read
  // CHECK: cute_nvgpu.warp_sync
  // CHECK-COUNT-4: cute_nvgpu.stmatrix
  // CHECK-NOT: cute_nvgpu.stmatrix
  // CHECK: cute_nvgpu.fence.proxy_async shared_cta
  // CHECK-NEXT: cute_nvgpu.warp_sync
  // CHECK-NEXT: [[ELECTED:%.*]] = cute_nvgpu.elect_one
  // CHECK-NEXT: scf.if [[ELECTED]]
  // CHECK-NEXT: scf.if [[STORED]]
  // CHECK: nvgpu.tma.async.store {{.*}} to [[MAP]]
  // CHECK-NEXT: }
  // CHECK-NEXT: cute_nvgpu.tma.commit
  // CHECK-NEXT: cute_nvgpu.tma.wait 1 read
  // CHECK: cute_nvgpu.warp_sync
  // CHECK-COUNT-4: cute_nvgpu.stmatrix
  // CHECK-COUNT-3: nvgpu.tma.async.store {{.*}} to [[MAP]]
  // CHECK-NEXT: }
  // CHECK-NEXT: cute_nvgpu.tma.commit
  // Nothing is written after the last box of a tile.
  // CHECK-NOT: cute_nvgpu.tma.wait 1
  // Words of 32 bits are stored in pairs. There is one stage: the box before has been read.
  // CHECK: cute_nvgpu.tma.wait 0 read
  // CHECK-COUNT-8: llvm.store {{.*}} : i64, !llvm.ptr<3>
  // CHECK: cute_nvgpu.fence.proxy_async shared_cta
  // CHECK: nvgpu.tma.async.store {{.*}} to [[WORD_MAP]]
  // A reduction names the outermost coordinate first.
  // CHECK: cute_nvgpu.tma.reduce add {{.*}}[%c0{{.*}}, %c0{{.*}}] to [[WORD_MAP]]
  // CHECK-NEXT: }
  // CHECK-NEXT: cute_nvgpu.tma.commit
  // The lane that has committed the stores waits until they are complete.
  // CHECK: [[ELECTED:%.*]] = cute_nvgpu.elect_one
  // CHECK-NEXT: scf.if [[ELECTED]]
  // CHECK-NEXT: cute_nvgpu.tma.wait 0
  // CHECK-NOT: read
  // CHECK: cute_nvgpu.warp_sync
  // CHECK: nvgpu.mbarrier.arrive
  nv_tileaa.func @stores(%x: !half, %y: !words, %view: !tiles, %words: !word_tiles, %i: i32) attributes {kernel_spec = #nv_tileaa.kernel_spec<num_warps = 8>} {
    %ring = nv_tileas.async.pipeline.create_pipeline : !ring
    nv_tileas.async.pipeline.agent_switch attributes {first = 4 : i32, warps = 1 : i32} {
      %maps:2 = nv_tileas.create_tensor_maps %view, %words : !tiles, !word_tiles -> !map, !word_map
      %i0 = nv_tileas.async.pipeline.create_iterator %ring : !ring -> !iterator
      %empty = nv_tileas.async.pipeline.producer_acquire %ring[%i0] : !ring, !iterator
      nv_tileas.async.pipeline.producer_write %ring, %empty, %maps#0, %maps#1 : !ring, !map, !word_map
      nv_tileas.async.pipeline.producer_commit %ring, %empty : !ring
      %i1 = nv_tileas.async.pipeline.inc_iter %i0 : !iterator
      %again = nv_tileas.async.pipeline.producer_acquire %ring[%i1] : !ring, !iterator
      nv_tileas.release_tensor_maps %maps#0, %maps#1 : !map, !word_map
    }
    nv_tileas.async.pipeline.agent_switch attributes {warps = 4 : i32} {
      %i0 = nv_tileas.async.pipeline.create_iterator %ring : !ring -> !iterator
      %full = nv_tileas.async.pipeline.consumer_wait %ring[%i0] : !ring, !iterator
      %maps:2 = nv_tileas.async.pipeline.consumer_read %ring, %full : !ring -> !map, !word_map
      %buffer = nv_tileas.alloc_tensor : !buffer
      %word_buffer = nv_tileas.alloc_tensor : !word_buffer
      %t0 = nv_tileas.async.tiled_store weak %x, %view[%i, %i] map = %maps#0 buffer = %buffer : !half, i32, i32 of !tiles, !map, !buffer
      %t1 = nv_tileas.async.tiled_store weak %y, %words[%i, %i] map = %maps#1 buffer = %word_buffer : !words, i32, i32 of !word_tiles, !word_map, !word_buffer
      %t2 = nv_tileas.async.tiled_store relaxed gpu %y, %words[%i, %i] map = %maps#1 buffer = %word_buffer {rmw_mode = #nv_tileaa.rmw_mode<addf>} : !words, i32, i32 of !word_tiles, !word_map, !word_buffer
      nv_tileas.async.store_wait
      nv_tileas.async.pipeline.consumer_release %ring, %full : !ring
    }
    nv_tileaa.return
  }
}
