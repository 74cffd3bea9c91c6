// The order of two warpgroups: each waits at a named barrier of its own, after those of the agents, for the arrival of the other one.
// RUN: tilewright opt --pass allocate,synchronize,convert-tileas-to-nvgpu %s | filecheck %s
gpu.module @sm_90 attributes {nv_tileaa.target_spec = #nv_tileaa.target_spec<compute_capability = 90>} {
  // Two agents have the barriers 1 and 2: the warpgroups have 3 and 4.
  // CHECK-LABEL: gpu.func @order
  // CHECK: gpu.printf "producer
  // The second warpgroup arrives for the first one.
  // CHECK: [[SECOND:%[0-9]+]] = arith.cmpi eq, {{.*}}, %c1_
  // CHECK-NEXT: scf.if [[SECOND]]
  // CHECK: cute_nvgpu.named_barrier.arrive %c3_{{.*}}, %c256_
  // CHECK: [[GROUP:%[0-9]+]] = arith.shrui {{.*}}, %c7_
  // CHECK: [[OWN:%[0-9]+]] = arith.addi [[GROUP]], %c3_
  // CHECK: cute_nvgpu.named_barrier.sync [[OWN]], %c256_
  // CHECK: [[OTHER:%[0-9]+]] = arith.xori {{.*}}, %c1_
  // CHECK: [[THEIRS:%[0-9]+]] = arith.addi [[OTHER]], %c3_
  // CHECK: cute_nvgpu.named_barrier.arrive [[THEIRS]], %c256_
  // The first one waits for the last arrival, so that none is left.
  // CHECK: [[FIRST:%[0-9]+]] = arith.cmpi eq, {{.*}}, %c0_
  // CHECK-NEXT: scf.if [[FIRST]]
  // CHECK: cute_nvgpu.named_barrier.sync %c3_{{.*}}, %c256_
  nv_tileaa.func @order(%x: i32) attributes {kernel_spec = #nv_tileaa.kernel_spec<num_warps = 12>} {
    nv_tileas.async.pipeline.agent_switch attributes {first = 8 : i32, warps = 1 : i32} {
      %t = nv_tileas.print "producer %d", %x : i32
      nv_tileas.async.pipeline.yield
    }
    nv_tileas.async.pipeline.agent_switch attributes {first = 0 : i32, warps = 8 : i32} {
      nv_tileas.async.order.begin
      nv_tileas.async.order.wait
      nv_tileas.async.order.arrive
      nv_tileas.async.order.end
      nv_tileas.async.pipeline.yield
    }
    nv_tileaa.return
  }
}
