// Functions, grid coordinates, barriers and tokens.
// RUN: tilewright opt --pass convert-tileas-to-nvgpu %s | filecheck %s
gpu.module @kernels attributes {nv_tileaa.target_spec = #nv_tileaa.target_spec<compute_capability = 90>} {
  // CHECK-LABEL: gpu.func @kernel
  // CHECK-SAME: kernel attributes {known_block_size = array<i32: 128, 1, 1>
  // CHECK-COUNT-3: gpu.block_id
  // CHECK-COUNT-3: gpu.grid_dim
  // CHECK: gpu.barrier
  // CHECK-NOT: token
  // CHECK: gpu.return
  nv_tileaa.func @kernel() attributes {kernel_spec = #nv_tileaa.kernel_spec<num_warps = 4>} {
    %b:3 = nv_tileaa.get_program_id : i32, i32, i32
    %c:3 = nv_tileaa.get_num_programs : i32, i32, i32
    nv_tileas.barrier
    %t = nv_tileaa.create_mem_token : !nv_tileaa.mem_token
    %u = nv_tileaa.join_mem_token [%t, %t] : !nv_tileaa.mem_token
    nv_tileaa.return
  }
  // The CTAs of a cluster run one program: its id and the number of programs are those of clusters.
  // CHECK-LABEL: gpu.func @cluster
  // CHECK-SAME: known_cluster_size = array<i32: 2, 1, 1>
  // CHECK-SAME: nvvm.blocksareclusters
  // CHECK-COUNT-3: gpu.cluster_id
  // CHECK-COUNT-3: gpu.cluster_dim
  // CHECK: gpu.cluster_block_id x upper_bound 2
  nv_tileaa.func @cluster() attributes {kernel_spec = #nv_tileaa.kernel_spec<num_ctas = 2, num_warps = 4>} {
    %b:3 = nv_tileaa.get_program_id : i32, i32, i32
    %c:3 = nv_tileaa.get_num_programs : i32, i32, i32
    %r = nv_tileaa.get_cta_rank : i32
    nv_tileaa.return
  }
  // A CTA that is no part of a cluster has rank 0.
  // CHECK-LABEL: gpu.func @no_cluster
  // CHECK-NOT: cluster
  // CHECK: arith.constant 0 : i32
  nv_tileaa.func @no_cluster() attributes {kernel_spec = #nv_tileaa.kernel_spec<num_warps = 4>} {
    %r = nv_tileaa.get_cta_rank : i32
    nv_tileaa.return
  }
  // sm_90 cannot cancel the launch of a block: there is never another program id.
  // CHECK-LABEL: @cancel
  // CHECK: [[NO:%[a-z0-9]+]] = arith.constant false
  // CHECK: arith.select [[NO]]
  nv_tileaa.func @cancel(%x: i32, %y: i32) attributes {kernel_spec = #nv_tileaa.kernel_spec<num_warps = 1>} {
    %id, %t = nv_tileaa.cancel_next_program_id : !nv_tileaa.program_id
    %valid = nv_tileaa.is_valid_program_id %id
    %z = nv_tileaa.select %valid, %x, %y : i1, i32
    nv_tileaa.return
  }
  // Programmatic dependent launch exists since sm_90.
  // CHECK-LABEL: @dependent_launch
  // CHECK: cute_nvgpu.grid.launch_dependents
  // CHECK: cute_nvgpu.grid.wait
  nv_tileaa.func @dependent_launch() attributes {kernel_spec = #nv_tileaa.kernel_spec<num_warps = 1>} {
    %t = nv_tileaa.launch_dependents : !nv_tileaa.mem_token
    %u = nv_tileaa.wait_on_dependencies token = %t : !nv_tileaa.mem_token
    nv_tileaa.return
  }
  // Accesses through aliased addresses of other threads are visible after a barrier between fences.
  // CHECK-LABEL: @fence_alias
  // CHECK: nvvm.fence.proxy {kind = #nvvm.proxy_kind<alias>}
  // CHECK-NEXT: gpu.barrier
  // CHECK-NEXT: nvvm.fence.proxy {kind = #nvvm.proxy_kind<alias>}
  nv_tileaa.func @fence_alias() attributes {kernel_spec = #nv_tileaa.kernel_spec<num_warps = 4>} {
    %t = nv_tileaa.create_mem_token : !nv_tileaa.mem_token
    %f = nv_tileaa.fence_alias token = %t : !nv_tileaa.mem_token
    nv_tileaa.return
  }
  // One thread sleeps: the others wait for it at a barrier.
  // CHECK-LABEL: @sleep
  // CHECK: [[FIRST:%[a-z0-9]+]] = arith.cmpi eq
  // CHECK-NEXT: scf.if [[FIRST]] {
  // CHECK-NEXT: cute_nvgpu.nanosleep %arg0
  nv_tileaa.func @sleep(%ns: i32) attributes {kernel_spec = #nv_tileaa.kernel_spec<num_warps = 4>} {
    nv_tileas.sleep %ns
    nv_tileaa.return
  }
  // Directives for the compiler have no code.
  // CHECK-LABEL: @directives
  // CHECK-NOT: nv_tileaa
  // CHECK: arith.addi %arg0, %arg0
  nv_tileaa.func @directives(%x: i32) attributes {kernel_spec = #nv_tileaa.kernel_spec<num_warps = 1>} {
    nv_tileaa.message "note"
    nv_tileaa.mark_for_reuse %x : i32
    %y = nv_tileaa.optimization_barrier %x : i32
    %z = nv_tileaa.addi %y, %y : i32
    nv_tileaa.return
  }
  // Memory that a whole block shares comes from the device heap: one thread allocates and frees it.
  // CHECK-LABEL: @alloca
  // CHECK: arith.cmpi eq
  // CHECK-NEXT: scf.if
  // CHECK: arith.constant 64 : i64
  // CHECK: llvm.call @malloc
  // CHECK: gpu.barrier
  // CHECK: llvm.load
  // CHECK: gpu.barrier
  // CHECK: scf.if
  // CHECK: llvm.call @free
  nv_tileaa.func @alloca() attributes {kernel_spec = #nv_tileaa.kernel_spec<num_warps = 4>} {
    %a = nv_tileaa.alloca 16 align 4 : !nv_tileaa.ptr<f32>
    nv_tileaa.return
  }
}
