// Warp specialization: each agent is a range of warps under a branch; stages of a pipeline are guarded
// by a full and an empty mbarrier each.
// RUN: tilewright opt --pass allocate,synchronize,convert-tileas-to-nvgpu %s | filecheck %s
#one = #nv_tileas.layout<[64], register = [[1]], lane = [[2], [4], [8], [16], [32]], warp = []>
#two = #nv_tileas.layout<[64], register = [], lane = [[1], [2], [4], [8], [16]], warp = [[32]]>
!ring = !nv_tileas.pipeline<2, [tensor<64xf32>]>
!stage = !nv_tileas.pipeline_iterator<2>
gpu.module @kernels attributes {nv_tileaa.target_spec = #nv_tileaa.target_spec<compute_capability = 90>} {
  // Two stages: four mbarriers. One producer warp arrives at the full ones, two consumer warps at the others.
  // Two stages of 64 f32 are 512 bytes.
  // CHECK-LABEL: @pipeline
  // CHECK-SAME: workgroup({{.*}}: memref<512xi8, 3>
  // CHECK: [[B:%[0-9]+]] = nvgpu.mbarrier.create {{.*}}num_barriers = 4
  // CHECK-COUNT-2: nvgpu.mbarrier.init [[B]]{{.*}}, %c1{{(_[0-9]+)?}} :
  // CHECK-COUNT-2: nvgpu.mbarrier.init [[B]]{{.*}}, %c2{{(_[0-9]+)?}} :
  // CHECK: gpu.barrier
  // The producer waits until a stage is empty, writes it, and arrives at its full mbarrier: one lane, after
  // the stores of all.
  // CHECK: [[P:%[0-9]+]] = arith.cmpi ult, {{%[0-9]+}}, %c32_
  // CHECK: scf.if [[P]]
  // CHECK: nvgpu.mbarrier.try_wait.parity [[B]]
  // CHECK: llvm.store {{.*}} !llvm.ptr<3>
  // CHECK: cute_nvgpu.warp_sync
  // CHECK-NEXT: [[E1:%[0-9]+]] = cute_nvgpu.elect_one
  // CHECK-NEXT: scf.if [[E1]]
  // CHECK: nvgpu.mbarrier.arrive [[B]]
  // The iterator wraps around at the number of stages, flips the parity, and remembers that it has wrapped.
  // CHECK: [[NEXT:%[0-9]+]] = arith.addi
  // CHECK: [[WRAPS:%[0-9]+]] = arith.cmpi eq, [[NEXT]], %c2_
  // CHECK: [[FLIPPED:%[0-9]+]] = arith.xori {{.*}}, %c1_
  // CHECK: [[PHASE:%[0-9]+]] = arith.ori [[FLIPPED]], %c2_
  // CHECK: arith.select [[WRAPS]], {{.*}}, [[NEXT]]
  // CHECK: arith.select [[WRAPS]], [[PHASE]],
  // CHECK: nvgpu.mbarrier.try_wait.parity [[B]]
  // CHECK: mbarrier.expect_tx [[B]]{{.*}}, %c256
  // CHECK: cute_nvgpu.bulk.load {{.*}}, 256 :
  // CHECK: cute_nvgpu.warp_sync
  // CHECK-NEXT: [[E2:%[0-9]+]] = cute_nvgpu.elect_one
  // CHECK-NEXT: scf.if [[E2]]
  // CHECK: nvgpu.mbarrier.arrive [[B]]
  // The consumer, warps 1 and 2, counts its threads from 0.
  // CHECK: [[T:%[0-9]+]] = arith.subi {{%[0-9]+}}, %c32_
  // CHECK: [[C:%[0-9]+]] = arith.cmpi ult, [[T]], %c64_
  // CHECK: scf.if [[C]]
  // CHECK: nvgpu.mbarrier.try_wait.parity [[B]]
  // Lanes read consecutive words, as ldmatrix gives them to lanes.
  // CHECK: nvgpu.ldmatrix {{.*}}numTiles = 1 : i32
  // CHECK: cute_nvgpu.warp_sync
  // CHECK-NEXT: [[E3:%[0-9]+]] = cute_nvgpu.elect_one
  // CHECK-NEXT: scf.if [[E3]]
  // CHECK: nvgpu.mbarrier.arrive [[B]]
  // A barrier of an agent is a named barrier of its threads alone.
  // CHECK: cute_nvgpu.named_barrier.sync
  nv_tileaa.func @pipeline(%x: f32, %p: !nv_tileaa.ptr<f32>) attributes {kernel_spec = #nv_tileaa.kernel_spec<num_warps = 3>} {
    %ring = nv_tileas.async.pipeline.create_pipeline {slot = 0 : i32} : !ring
    nv_tileas.async.pipeline.agent_switch attributes {first = 0 : i32, warps = 1 : i32} {
      %i = nv_tileas.async.pipeline.create_iterator %ring : !ring -> !stage
      %row = nv_tileas.splat %x : f32 -> tensor<64xf32, #one>
      %s = nv_tileas.async.pipeline.producer_acquire %ring[%i] : !ring, !stage
      nv_tileas.async.pipeline.producer_write %ring, %s, %row : !ring, tensor<64xf32, #one>
      nv_tileas.async.pipeline.producer_commit %ring, %s : !ring
      %next = nv_tileas.async.pipeline.inc_iter %i : !stage
      %s2 = nv_tileas.async.pipeline.producer_acquire %ring[%next] : !ring, !stage
      nv_tileas.async.pipeline.producer_copy %ring, %s2, %p : !ring, !nv_tileaa.ptr<f32>
      nv_tileas.async.pipeline.producer_commit %ring, %s2 : !ring
      nv_tileas.async.pipeline.yield
    }
    nv_tileas.async.pipeline.agent_switch attributes {first = 1 : i32, warps = 2 : i32} {
      %i = nv_tileas.async.pipeline.create_iterator %ring : !ring -> !stage
      %s = nv_tileas.async.pipeline.consumer_wait %ring[%i] : !ring, !stage
      %row = nv_tileas.async.pipeline.consumer_read %ring, %s : !ring -> tensor<64xf32, #two>
      nv_tileas.async.pipeline.consumer_release %ring, %s : !ring
      nv_tileas.barrier
      nv_tileas.async.pipeline.yield
    }
    nv_tileaa.return
  }
  // CHECK-LABEL: @null
  // CHECK-NOT: null_token
  // CHECK: gpu.return
  nv_tileaa.func @null() attributes {kernel_spec = #nv_tileaa.kernel_spec<num_warps = 1>} {
    %none = nv_tileas.async.pipeline.create_null_token : !nv_tileaa.mem_token
    nv_tileaa.return
  }
}
