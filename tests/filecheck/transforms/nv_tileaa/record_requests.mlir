// What is asked of a kernel: a schedule goes before hints, and what cannot be followed is refused.
// RUN: tilewright opt --pass 'record-requests{warps=8 stages=0 in-flight=0}' %s | filecheck %s
// RUN: tilewright opt --pass 'record-requests' %s | filecheck %s --check-prefix=KEPT
// RUN: tilewright opt --pass 'record-requests{warps=8 agents=0 stages=3 level=1}' %s | filecheck %s --check-prefix=LIMITED
gpu.module @kernels attributes {nv_tileaa.target_spec = #nv_tileaa.target_spec<compute_capability = 90>} {
  // CHECK-LABEL: @hints
  // CHECK-SAME: kernel_spec<>
  // CHECK-SAME: asked<num_ctas = <2, entry>, occupancy = <3, entry>, in_flight = <0, schedule>, warps = <8, schedule>>
  // CHECK-SAME: refused<[<warps, "4 of entry: overridden by schedule">]>
  // KEPT-LABEL: @hints
  // KEPT-SAME: kernel_spec<>
  // KEPT-SAME: asked<num_ctas = <2, entry>, warps = <4, entry>, occupancy = <3, entry>>
  // KEPT-NOT: refused
  // A request that nothing is done is followed by doing nothing.
  // LIMITED-LABEL: @hints
  // LIMITED-SAME: asked<num_ctas = <2, entry>, warps = <4, entry>, occupancy = <3, entry>, level = <1, options>, agents = <0, schedule>>
  // LIMITED-SAME: refused<[<stages, "3 of schedule: schedules are followed from -O2 on">, <warps, "8 of schedule: schedules are followed from -O2 on">]>
  nv_tileaa.func @hints() attributes {kernel_spec = #nv_tileaa.kernel_spec<num_ctas = 2, num_warps = 4, occupancy = 3>} {
    nv_tileaa.return
  }
  // Beside requests, the specification is what passes have chosen.
  // CHECK-LABEL: @chosen
  // CHECK-SAME: kernel_spec<num_warps = 16>
  // CHECK-SAME: asked<occupancy = <2, entry>, in_flight = <0, schedule>, warps = <8, schedule>>
  // CHECK-NOT: refused
  // KEPT-LABEL: @chosen
  // KEPT-SAME: kernel_spec<num_warps = 16>
  // KEPT-SAME: asked<occupancy = <2, entry>>
  nv_tileaa.func @chosen() attributes {kernel_spec = #nv_tileaa.kernel_spec<num_warps = 16>, nv_tileaa.asked = #nv_tileaa.asked<occupancy = <2, entry>>} {
    nv_tileaa.return
  }
  // The CTAs of the cluster share tiles already.
  // CHECK-LABEL: @distributed
  // KEPT-LABEL: @distributed
  // KEPT-SAME: kernel_spec<num_ctas = 2>
  // KEPT-SAME: asked<warps = <4, entry>>
  nv_tileaa.func @distributed() attributes {kernel_spec = #nv_tileaa.kernel_spec<num_ctas = 2, num_warps = 4>} {
    %rank = nv_tileaa.get_cta_rank : i32
    nv_tileaa.return
  }
  // KEPT-LABEL: @unasked
  // KEPT-NOT: asked
  nv_tileaa.func @unasked() attributes {kernel_spec = #nv_tileaa.kernel_spec<>} {
    nv_tileaa.return
  }
}
