// Multicast: each CTA of a cluster copies a part of a tile to all CTAs that share it, and consumers release a stage in every CTA that copies to it.
// RUN: tilewright opt --pass allocate,synchronize,convert-tileas-to-nvgpu %s | filecheck %s
#a = #nv_tileas.layout<[32, 64], offset = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [0, 32], [1, 8], [2, 16], [4, 32], [8, 0], [16, 0]]>
#b = #nv_tileas.layout<[16, 128], offset = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [0, 32], [1, 8], [2, 16], [4, 32], [8, 0], [0, 64]]>
!a = tensor<32x64xf16, #a>
!b = tensor<16x128xf16, #b>
!a_tiles = !nv_tileaa.tiled_view<tile = [32, 64], source = !nv_tileaa.memref<256x512xf16, strides = [512, 1]>>
!b_tiles = !nv_tileaa.tiled_view<tile = [16, 128], source = !nv_tileaa.memref<256x512xf16, strides = [512, 1]>>
!a_map = !nv_tileas.tensor_map<!a_tiles, !a>
!b_map = !nv_tileas.tensor_map<!b_tiles, !b>
!a_halves = !nv_tileas.tensor_map<!a_tiles, !a, parts = 2>
!b_halves = !nv_tileas.tensor_map<!b_tiles, !b, parts = 2>
!b_quarters = !nv_tileas.tensor_map<!b_tiles, !b, parts = 4>
!ring = !nv_tileas.pipeline<2, [!a, !b]>
!iterator = !nv_tileas.pipeline_iterator<2>
gpu.module @kernels attributes {nv_tileaa.target_spec = #nv_tileaa.target_spec<compute_capability = 90>} {
  // Two CTAs share B, which has two boxes: each copies one of them, and expects the bytes of both. A stage has four consumer warps in each CTA.
  // Two CTAs share B, which has two boxes: each copies one of them, and expects the bytes of both. A stage has four consumer warps in each CTA.
  // CHECK-LABEL: gpu.func @two
  // CHECK: nvgpu.mbarrier.init {{.*}}[%c0], %c1
  // CHECK: nvgpu.mbarrier.init {{.*}}[%c1{{.*}}], %c1
  // CHECK: nvgpu.mbarrier.init {{.*}}[%c2], %c8
  // CHECK: nvgpu.mbarrier.init {{.*}}[%c3], %c8
  // CHECK: cute_nvgpu.fence.mbarrier_init
  // All threads of the cluster wait until the barriers of all CTAs are initialized.
  // CHECK-NOT: gpu.barrier
  // CHECK: cute_nvgpu.cluster.arrive aligned
  // CHECK-NEXT: cute_nvgpu.cluster.wait aligned
  // The first copy arrives at the barrier of its own CTA.
  // CHECK: nvgpu.mbarrier.arrive.expect_tx {{.*}}, %c8192
  // CHECK: nvgpu.tma.async.load
  // CHECK-NOT: multicast_mask
  // CHECK: [[COLUMN:%.*]] = arith.muli {{.*}}, %c128_i32
  // CHECK: [[ID:%.*]] = gpu.cluster_block_id x
  // CHECK: [[RANK:%.*]] = arith.index_cast [[ID]]
  // CHECK: [[PART:%.*]] = arith.andi [[RANK]], %c1
  // CHECK: [[START:%.*]] = arith.muli [[PART]], %c64_i32
  // CHECK: [[OFFSET:%.*]] = arith.muli [[PART]], %c2048_i32
  // CHECK: [[FIRST:%.*]] = arith.addi [[COLUMN]], [[START]]
  // CHECK: arith.addi {{.*}}, [[OFFSET]]
  // CHECK: [[X:%.*]] = arith.index_cast [[FIRST]]
  // CHECK: nvgpu.tma.async.load {{%.*}}[[[X]], {{.*}}], {{.*}} multicast_mask = %c3_i16 : {{.*}}memref<16x64xf16, 3>
  // CHECK-NOT: nvgpu.tma.async.load
  // Of the consumers, lane 0 of each warp arrives in this CTA, lane 1 in the other.
  // CHECK: nvgpu.mbarrier.try_wait.parity
  // CHECK: cute_nvgpu.warp_sync
  // CHECK: [[LANE:%.*]] = arith.andi {{.*}}, %c31
  // CHECK: arith.cmpi ult, [[LANE]], %c2_i32
  // CHECK-NEXT: scf.if
  // CHECK: [[ID:%.*]] = gpu.cluster_block_id x
  // CHECK: [[RANK:%.*]] = arith.index_cast [[ID]]
  // CHECK: [[CTA:%.*]] = arith.xori [[RANK]], [[LANE]]
  // CHECK: cute_nvgpu.mbarrier.arrive_remote {{.*}}, [[CTA]]
  nv_tileaa.func @two(%av: !a_tiles, %bv: !b_tiles, %i: i32)
      attributes {kernel_spec = #nv_tileaa.kernel_spec<num_ctas = 2, num_warps = 5>} {
    %ring = nv_tileas.async.pipeline.create_pipeline {slot = 0 : i32} : !ring
    nv_tileas.async.pipeline.agent_switch attributes {first = 4 : i32, warps = 1 : i32} {
      %maps:2 = nv_tileas.create_tensor_maps %av, %bv : !a_tiles, !b_tiles -> !a_map, !b_halves
      %begin = nv_tileas.async.pipeline.create_iterator %ring : !ring -> !iterator
      %s = nv_tileas.async.pipeline.producer_acquire %ring[%begin] : !ring, !iterator
      nv_tileas.async.pipeline.producer_copy %ring, %s, %maps#0[%i, %i] {engine = #nv_tileas.engine<tma>} : !ring, !a_map, i32, i32
      nv_tileas.async.pipeline.producer_copy %ring, %s, %maps#1[%i, %i] {engine = #nv_tileas.engine<tma>, multicast = 1 : i32, number = 1 : i32} : !ring, !b_halves, i32, i32
      nv_tileas.async.pipeline.producer_commit %ring, %s : !ring
      nv_tileas.release_tensor_maps %maps#0, %maps#1 : !a_map, !b_halves
      nv_tileas.async.pipeline.yield
    }
    nv_tileas.async.pipeline.agent_switch attributes {first = 0 : i32, warps = 4 : i32} {
      %begin = nv_tileas.async.pipeline.create_iterator %ring : !ring -> !iterator
      %s = nv_tileas.async.pipeline.consumer_wait %ring[%begin] : !ring, !iterator
      nv_tileas.async.pipeline.consumer_release %ring, %s : !ring
      nv_tileas.async.pipeline.yield
    }
    nv_tileaa.return
  }
  // Four CTAs copy two halves of both boxes: the low bit of the rank chooses 8 of 16 rows, the other bit the columns.
  // CHECK-LABEL: gpu.func @four
  // CHECK: nvgpu.mbarrier.init {{.*}}[%c2], %c16
  // CHECK: nvgpu.mbarrier.init {{.*}}[%c3], %c16
  // CHECK: nvgpu.mbarrier.arrive.expect_tx {{.*}}, %c8192
  // CHECK: gpu.cluster_block_id x
  // CHECK: arith.muli {{.*}}, %c8_i32
  // CHECK: arith.muli {{.*}}, %c64_i32
  // CHECK: arith.muli {{.*}}, %c1024_i32
  // CHECK: nvgpu.tma.async.load {{.*}} multicast_mask = %c15_i16 : {{.*}}memref<8x64xf16, 3>
  // CHECK-NOT: nvgpu.tma.async.load
  // CHECK: arith.cmpi ult, {{.*}}, %c4_i32
  // CHECK: cute_nvgpu.mbarrier.arrive_remote
  nv_tileaa.func @four(%av: !a_tiles, %bv: !b_tiles, %i: i32)
      attributes {kernel_spec = #nv_tileaa.kernel_spec<num_ctas = 4, num_warps = 5>} {
    %ring = nv_tileas.async.pipeline.create_pipeline {slot = 0 : i32} : !ring
    nv_tileas.async.pipeline.agent_switch attributes {first = 4 : i32, warps = 1 : i32} {
      %maps:2 = nv_tileas.create_tensor_maps %av, %bv : !a_tiles, !b_tiles -> !a_map, !b_quarters
      %begin = nv_tileas.async.pipeline.create_iterator %ring : !ring -> !iterator
      %s = nv_tileas.async.pipeline.producer_acquire %ring[%begin] : !ring, !iterator
      nv_tileas.async.pipeline.producer_copy %ring, %s, %maps#0[%i, %i] {engine = #nv_tileas.engine<tma>} : !ring, !a_map, i32, i32
      nv_tileas.async.pipeline.producer_copy %ring, %s, %maps#1[%i, %i] {engine = #nv_tileas.engine<tma>, multicast = 3 : i32, number = 1 : i32} : !ring, !b_quarters, i32, i32
      nv_tileas.async.pipeline.producer_commit %ring, %s : !ring
      nv_tileas.release_tensor_maps %maps#0, %maps#1 : !a_map, !b_quarters
      nv_tileas.async.pipeline.yield
    }
    nv_tileas.async.pipeline.agent_switch attributes {first = 0 : i32, warps = 4 : i32} {
      %begin = nv_tileas.async.pipeline.create_iterator %ring : !ring -> !iterator
      %s = nv_tileas.async.pipeline.consumer_wait %ring[%begin] : !ring, !iterator
      nv_tileas.async.pipeline.consumer_release %ring, %s : !ring
      nv_tileas.async.pipeline.yield
    }
    nv_tileaa.return
  }
  // CTAs share A with the CTA of the other high bit, and B with that of the other low bit: three of four copy to a stage.
  // CHECK-LABEL: gpu.func @rows_and_columns
  // CHECK: nvgpu.mbarrier.init {{.*}}[%c2], %c12
  // CHECK: nvgpu.mbarrier.init {{.*}}[%c3], %c12
  // A goes to CTAs 0 and 2, or to 1 and 3.
  // CHECK: [[RANK:%.*]] = arith.index_cast %cluster_block_id_x
  // CHECK: [[HIGH:%.*]] = arith.shrui [[RANK]], %c1
  // CHECK: [[PART:%.*]] = arith.andi [[HIGH]], %c1
  // CHECK: arith.muli [[PART]], %c16_i32
  // CHECK: [[LOW:%.*]] = arith.andi [[RANK]], %c1
  // CHECK: [[BITS:%.*]] = arith.shli %c5_i32, [[LOW]]
  // CHECK: [[MASK:%.*]] = arith.trunci [[BITS]] : i32 to i16
  // CHECK: nvgpu.tma.async.load {{.*}} multicast_mask = [[MASK]]
  // B goes to CTAs 0 and 1, or to 2 and 3.
  // CHECK: [[LOW:%.*]] = arith.andi {{.*}}, %c2_i32
  // CHECK: [[BITS:%.*]] = arith.shli %c3_i32, [[LOW]]
  // CHECK: [[MASK:%.*]] = arith.trunci [[BITS]] : i32 to i16
  // CHECK: nvgpu.tma.async.load {{.*}} multicast_mask = [[MASK]]
  // CHECK: arith.cmpi ult, {{.*}}, %c3_i32
  nv_tileaa.func @rows_and_columns(%av: !a_tiles, %bv: !b_tiles, %i: i32)
      attributes {kernel_spec = #nv_tileaa.kernel_spec<num_ctas = 4, num_warps = 5>} {
    %ring = nv_tileas.async.pipeline.create_pipeline {slot = 0 : i32} : !ring
    nv_tileas.async.pipeline.agent_switch attributes {first = 4 : i32, warps = 1 : i32} {
      %maps:2 = nv_tileas.create_tensor_maps %av, %bv : !a_tiles, !b_tiles -> !a_halves, !b_halves
      %begin = nv_tileas.async.pipeline.create_iterator %ring : !ring -> !iterator
      %s = nv_tileas.async.pipeline.producer_acquire %ring[%begin] : !ring, !iterator
      nv_tileas.async.pipeline.producer_copy %ring, %s, %maps#0[%i, %i] {engine = #nv_tileas.engine<tma>, multicast = 2 : i32} : !ring, !a_halves, i32, i32
      nv_tileas.async.pipeline.producer_copy %ring, %s, %maps#1[%i, %i] {engine = #nv_tileas.engine<tma>, multicast = 1 : i32, number = 1 : i32} : !ring, !b_halves, i32, i32
      nv_tileas.async.pipeline.producer_commit %ring, %s : !ring
      nv_tileas.release_tensor_maps %maps#0, %maps#1 : !a_halves, !b_halves
      nv_tileas.async.pipeline.yield
    }
    nv_tileas.async.pipeline.agent_switch attributes {first = 0 : i32, warps = 4 : i32} {
      %begin = nv_tileas.async.pipeline.create_iterator %ring : !ring -> !iterator
      %s = nv_tileas.async.pipeline.consumer_wait %ring[%begin] : !ring, !iterator
      nv_tileas.async.pipeline.consumer_release %ring, %s : !ring
      nv_tileas.async.pipeline.yield
    }
    nv_tileaa.return
  }
  // Only A is shared, with the CTA of the other high bit: lanes 0 and 2 arrive.
  // CHECK-LABEL: gpu.func @columns
  // CHECK: nvgpu.mbarrier.init {{.*}}[%c2], %c8
  // CHECK: [[LANE:%.*]] = arith.andi {{.*}}, %c31
  // CHECK: [[BITS:%.*]] = arith.shrui %c5_i32, [[LANE]]
  // CHECK: [[BIT:%.*]] = arith.andi [[BITS]], %c1
  // CHECK: arith.cmpi ne, [[BIT]], %c0
  nv_tileaa.func @columns(%av: !a_tiles, %bv: !b_tiles, %i: i32)
      attributes {kernel_spec = #nv_tileaa.kernel_spec<num_ctas = 4, num_warps = 5>} {
    %ring = nv_tileas.async.pipeline.create_pipeline {slot = 0 : i32} : !ring
    nv_tileas.async.pipeline.agent_switch attributes {first = 4 : i32, warps = 1 : i32} {
      %maps:2 = nv_tileas.create_tensor_maps %av, %bv : !a_tiles, !b_tiles -> !a_halves, !b_map
      %begin = nv_tileas.async.pipeline.create_iterator %ring : !ring -> !iterator
      %s = nv_tileas.async.pipeline.producer_acquire %ring[%begin] : !ring, !iterator
      nv_tileas.async.pipeline.producer_copy %ring, %s, %maps#0[%i, %i] {engine = #nv_tileas.engine<tma>, multicast = 2 : i32} : !ring, !a_halves, i32, i32
      nv_tileas.async.pipeline.producer_copy %ring, %s, %maps#1[%i, %i] {engine = #nv_tileas.engine<tma>, number = 1 : i32} : !ring, !b_map, i32, i32
      nv_tileas.async.pipeline.producer_commit %ring, %s : !ring
      nv_tileas.release_tensor_maps %maps#0, %maps#1 : !a_halves, !b_map
      nv_tileas.async.pipeline.yield
    }
    nv_tileas.async.pipeline.agent_switch attributes {first = 0 : i32, warps = 4 : i32} {
      %begin = nv_tileas.async.pipeline.create_iterator %ring : !ring -> !iterator
      %s = nv_tileas.async.pipeline.consumer_wait %ring[%begin] : !ring, !iterator
      nv_tileas.async.pipeline.consumer_release %ring, %s : !ring
      nv_tileas.async.pipeline.yield
    }
    nv_tileaa.return
  }
  // A cluster whose CTAs share nothing: each has barriers of its own.
  // CHECK-LABEL: gpu.func @not_shared
  // CHECK: nvgpu.mbarrier.init {{.*}}[%c2], %c4
  // CHECK-NOT: cute_nvgpu.cluster
  // CHECK-NOT: multicast_mask
  // CHECK-NOT: arrive_remote
  // CHECK: gpu.return
  nv_tileaa.func @not_shared(%av: !a_tiles, %bv: !b_tiles, %i: i32)
      attributes {kernel_spec = #nv_tileaa.kernel_spec<num_ctas = 2, num_warps = 5>} {
    %ring = nv_tileas.async.pipeline.create_pipeline {slot = 0 : i32} : !ring
    nv_tileas.async.pipeline.agent_switch attributes {first = 4 : i32, warps = 1 : i32} {
      %maps:2 = nv_tileas.create_tensor_maps %av, %bv : !a_tiles, !b_tiles -> !a_map, !b_map
      %begin = nv_tileas.async.pipeline.create_iterator %ring : !ring -> !iterator
      %s = nv_tileas.async.pipeline.producer_acquire %ring[%begin] : !ring, !iterator
      nv_tileas.async.pipeline.producer_copy %ring, %s, %maps#0[%i, %i] {engine = #nv_tileas.engine<tma>} : !ring, !a_map, i32, i32
      nv_tileas.async.pipeline.producer_copy %ring, %s, %maps#1[%i, %i] {engine = #nv_tileas.engine<tma>, number = 1 : i32} : !ring, !b_map, i32, i32
      nv_tileas.async.pipeline.producer_commit %ring, %s : !ring
      nv_tileas.release_tensor_maps %maps#0, %maps#1 : !a_map, !b_map
      nv_tileas.async.pipeline.yield
    }
    nv_tileas.async.pipeline.agent_switch attributes {first = 0 : i32, warps = 4 : i32} {
      %begin = nv_tileas.async.pipeline.create_iterator %ring : !ring -> !iterator
      %s = nv_tileas.async.pipeline.consumer_wait %ring[%begin] : !ring, !iterator
      nv_tileas.async.pipeline.consumer_release %ring, %s : !ring
      nv_tileas.async.pipeline.yield
    }
    nv_tileaa.return
  }
}
