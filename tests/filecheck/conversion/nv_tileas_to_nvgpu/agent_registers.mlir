// Registers and scratch memory of agents: setmaxnreg in the whole warpgroups that an agent is part of, named barriers of its threads.
// RUN: tilewright opt --pass allocate,synchronize,convert-tileas-to-nvgpu %s | filecheck %s
#rows = #nv_tileas.layout<[32, 32], register = [[1, 0], [2, 0], [4, 0]], lane = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16]], warp = [[8, 0], [16, 0]]>
#cols = #nv_tileas.layout<[32, 32], register = [[0, 1], [0, 2], [0, 4]], lane = [[1, 0], [2, 0], [4, 0], [8, 0], [16, 0]], warp = [[0, 8], [0, 16]]>
!rows = tensor<32x32xf32, #rows>
!cols = tensor<32x32xf32, #cols>
gpu.module @sm_90 attributes {nv_tileaa.target_spec = #nv_tileaa.target_spec<compute_capability = 90>} {
  // 384 threads start with 168 registers each. One warp of the last warpgroup produces, but all four release registers.
  // CHECK-LABEL: gpu.func @registers
  // CHECK: [[T:%[0-9]+]] = arith.subi {{.*}}, %c256_
  // CHECK: [[GROUP:%[0-9]+]] = arith.cmpi ult, [[T]], %c128_
  // CHECK-NEXT: scf.if [[GROUP]]
  // CHECK-NEXT: cute_nvgpu.set_max_registers decrease 40
  // CHECK: [[WARP:%[0-9]+]] = arith.cmpi ult, [[T]], %c32_
  // CHECK-NEXT: scf.if [[WARP]]
  // CHECK: gpu.printf "producer
  // The consumers are two whole warpgroups: one branch.
  // CHECK: [[CONSUMERS:%[0-9]+]] = arith.cmpi ult, {{.*}}, %c256_
  // CHECK-NEXT: scf.if [[CONSUMERS]]
  // CHECK-NEXT: cute_nvgpu.set_max_registers increase 232
  // CHECK-NOT: arith.cmpi ult
  // CHECK: gpu.printf "consumer
  nv_tileaa.func @registers(%x: i32) attributes {kernel_spec = #nv_tileaa.kernel_spec<num_warps = 12>} {
    nv_tileas.async.pipeline.agent_switch attributes {first = 8 : i32, max_registers = 40 : i32, warps = 1 : i32} {
      %t = nv_tileas.print "producer %d", %x : i32
      nv_tileas.async.pipeline.yield
    }
    nv_tileas.async.pipeline.agent_switch attributes {first = 0 : i32, max_registers = 232 : i32, warps = 8 : i32} {
      %t = nv_tileas.print "consumer %d", %x : i32
      nv_tileas.async.pipeline.yield
    }
    nv_tileaa.return
  }
  // Another warp of the warpgroup that has released registers: its code is in the branch of the warpgroup.
  // CHECK-LABEL: gpu.func @shared_warpgroup
  // CHECK: [[T:%[0-9]+]] = arith.subi {{.*}}, %c256_
  // CHECK: scf.if
  // CHECK-NEXT: cute_nvgpu.set_max_registers decrease 40
  // CHECK: scf.if
  // CHECK: gpu.printf "producer
  // CHECK: [[U:%[0-9]+]] = arith.subi {{.*}}, %c288_
  // CHECK: [[OTHER:%[0-9]+]] = arith.cmpi ult, [[U]], %c32_
  // CHECK-NEXT: scf.if [[OTHER]]
  // CHECK: gpu.printf "other
  // CHECK-NEXT: }
  // CHECK-NEXT: }
  // CHECK: set_max_registers increase 232
  // CHECK-NOT: gpu.printf "other
  // CHECK: gpu.return
  nv_tileaa.func @shared_warpgroup(%x: i32) attributes {kernel_spec = #nv_tileaa.kernel_spec<num_warps = 12>} {
    nv_tileas.async.pipeline.agent_switch attributes {first = 8 : i32, max_registers = 40 : i32, warps = 1 : i32} {
      %t = nv_tileas.print "producer %d", %x : i32
      nv_tileas.async.pipeline.yield
    }
    nv_tileas.async.pipeline.agent_switch attributes {first = 9 : i32, warps = 1 : i32} {
      %t = nv_tileas.print "other %d", %x : i32
      nv_tileas.async.pipeline.yield
    }
    nv_tileas.async.pipeline.agent_switch attributes {first = 0 : i32, max_registers = 232 : i32, warps = 8 : i32} {
      %t = nv_tileas.print "consumer %d", %x : i32
      nv_tileas.async.pipeline.yield
    }
    nv_tileaa.return
  }
  // With two blocks on an SM, threads start with 80: 232 would be more than there are.
  // CHECK-LABEL: gpu.func @occupancy
  // CHECK: set_max_registers decrease 40
  // CHECK: set_max_registers increase 96
  nv_tileaa.func @occupancy(%x: i32) attributes {kernel_spec = #nv_tileaa.kernel_spec<num_warps = 12, occupancy = 2>} {
    nv_tileas.async.pipeline.agent_switch attributes {first = 8 : i32, max_registers = 40 : i32, warps = 1 : i32} {
      %t = nv_tileas.print "producer %d", %x : i32
      nv_tileas.async.pipeline.yield
    }
    nv_tileas.async.pipeline.agent_switch attributes {first = 0 : i32, max_registers = 96 : i32, warps = 8 : i32} {
      %t = nv_tileas.print "consumer %d", %x : i32
      nv_tileas.async.pipeline.yield
    }
    nv_tileaa.return
  }
  // Each agent exchanges data in areas of its own, two for the first and one of two for the second, and waits at a barrier of its own.
  // CHECK-LABEL: gpu.func @scratch
  // CHECK-SAME: memref<12288xi8, 3>
  // CHECK-NOT: gpu.barrier
  // CHECK: scf.if
  // CHECK: cute_nvgpu.stmatrix
  // CHECK: cute_nvgpu.named_barrier.sync [[FIRST:[0-9%a-z_]+]]
  // CHECK-NOT: gpu.barrier
  // CHECK: scf.if
  // CHECK: cute_nvgpu.stmatrix
  // CHECK-NOT: named_barrier.sync [[FIRST]]
  // CHECK: cute_nvgpu.named_barrier.sync
  // CHECK-NOT: gpu.barrier
  nv_tileaa.func @scratch(%x: f32) attributes {kernel_spec = #nv_tileaa.kernel_spec<num_warps = 8>} {
    nv_tileas.async.pipeline.agent_switch attributes {first = 0 : i32, warps = 4 : i32} {
      %a = nv_tileas.splat %x : f32 -> !rows
      %b = nv_tileas.convert_layout %a : !rows -> !cols
      nv_tileas.async.pipeline.yield
    }
    nv_tileas.async.pipeline.agent_switch attributes {first = 4 : i32, warps = 4 : i32} {
      %a = nv_tileas.splat %x : f32 -> !rows
      %b = nv_tileas.convert_layout %a : !rows -> !cols
      nv_tileas.async.pipeline.yield
    }
    nv_tileaa.return
  }
}
// Without setmaxnreg, only the branches remain.
gpu.module @sm_80 attributes {nv_tileaa.target_spec = #nv_tileaa.target_spec<compute_capability = 80>} {
  // CHECK-LABEL: gpu.func @no_registers
  // CHECK-NOT: set_max_registers
  // CHECK: [[T:%[0-9]+]] = arith.subi {{.*}}, %c256_
  // CHECK: [[WARP:%[0-9]+]] = arith.cmpi ult, [[T]], %c32_
  // CHECK-NEXT: scf.if [[WARP]]
  // CHECK-NOT: set_max_registers
  // CHECK: gpu.printf "producer
  // CHECK: [[CONSUMERS:%[0-9]+]] = arith.cmpi ult, {{.*}}, %c256_
  // CHECK-NEXT: scf.if [[CONSUMERS]]
  // CHECK-NOT: set_max_registers
  // CHECK: gpu.printf "consumer
  nv_tileaa.func @no_registers(%x: i32) attributes {kernel_spec = #nv_tileaa.kernel_spec<num_warps = 12>} {
    nv_tileas.async.pipeline.agent_switch attributes {first = 8 : i32, max_registers = 40 : i32, warps = 1 : i32} {
      %t = nv_tileas.print "producer %d", %x : i32
      nv_tileas.async.pipeline.yield
    }
    nv_tileas.async.pipeline.agent_switch attributes {first = 0 : i32, max_registers = 232 : i32, warps = 8 : i32} {
      %t = nv_tileas.print "consumer %d", %x : i32
      nv_tileas.async.pipeline.yield
    }
    nv_tileaa.return
  }
}
