// Two warpgroups issue dots that overlap with other work one after the other.
// RUN: tilewright opt --pass order-warpgroups %s | filecheck %s
#a = #nv_tileas.layout<[128, 32], offset = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [1, 0], [2, 8], [4, 16], [8, 0], [16, 0], [32, 0], [64, 0]]>
#b = #nv_tileas.layout<[32, 16], offset = [[0, 1], [0, 2], [0, 4], [0, 8], [1, 0], [2, 0], [4, 8], [8, 0], [16, 0]]>
#c = #nv_tileas.layout<[128, 16], register = [[0, 1], [8, 0], [0, 8]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0], [64, 0]]>
// The rows of a warp are its own, as in #c; the rows of other warps.
#own_rows = #nv_tileas.layout<[128, 16], register = [[0, 1], [0, 2], [8, 0]], lane = [[0, 4], [0, 8], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0], [64, 0]]>
#other_rows = #nv_tileas.layout<[128, 16], register = [[0, 1], [64, 0], [0, 8]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[8, 0], [16, 0], [32, 0]]>
#half_a = #nv_tileas.layout<[64, 32], offset = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [1, 0], [2, 8], [4, 16], [8, 0], [16, 0], [32, 0]]>
#half_c = #nv_tileas.layout<[64, 16], register = [[0, 1], [8, 0], [0, 8]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0]]>
!a = tensor<128x32xf16, #a>
!b = tensor<32x16xf16, #b>
!c = tensor<128x16xf32, #c>
!own_rows = tensor<128x16xf32, #own_rows>
!other_rows = tensor<128x16xf32, #other_rows>
!half_a = tensor<64x32xf16, #half_a>
!half_c = tensor<64x16xf32, #half_c>
gpu.module @kernels attributes {nv_tileaa.target_spec = #nv_tileaa.target_spec<compute_capability = 90>} {
  // The first warpgroup goes first; work between the dots that stays in warps waits for nobody. Each loop has its own turns, a loop
  // with one dot none.
  // CHECK-LABEL: @overlapping
  // CHECK: agent_switch
  // CHECK-NEXT: nv_tileas.async.order.begin
  // CHECK: scf.for
  // CHECK-NEXT: nv_tileas.async.order.wait
  // CHECK-NEXT: %[[D0:.*]] = nv_tileas.dot
  // CHECK-NEXT: nv_tileas.convert_layout
  // CHECK-NEXT: %[[D1:.*]] = nv_tileas.dot
  // CHECK-NEXT: nv_tileas.async.order.arrive
  // CHECK-NEXT: nv_tileas.dot_wait %[[D0]]
  // CHECK: scf.for
  // CHECK-NEXT: nv_tileas.dot
  // CHECK-NOT: order
  // CHECK: scf.for
  // CHECK-NEXT: nv_tileas.async.order.wait
  // CHECK-COUNT-3: nv_tileas.dot %
  // CHECK-NEXT: nv_tileas.async.order.arrive
  // CHECK-NOT: order.wait
  // CHECK: nv_tileas.async.order.end
  // CHECK-NEXT: }
  // CHECK-NEXT: nv_tileaa.return
  nv_tileaa.func @overlapping(%a: !a, %b: !b, %x: !c, %n: i32) attributes {kernel_spec = #nv_tileaa.kernel_spec<num_warps = 12>} {
    nv_tileas.async.pipeline.agent_switch attributes {first = 0 : i32, warps = 8 : i32} {
      %c0 = arith.constant 0 : i32
      %c1 = arith.constant 1 : i32
      scf.for %i = %c0 to %n step %c1 : i32 {
        %d0 = nv_tileas.dot %a, %b, %x {asynchronous, atom = #nv_tileas.atom<wgmma>} : !a, !b, !c
        %y = nv_tileas.convert_layout %x : !c -> !own_rows
        %d1 = nv_tileas.dot %a, %b, %x {asynchronous, atom = #nv_tileas.atom<wgmma>} : !a, !b, !c
        %w0 = nv_tileas.dot_wait %d0 {pending = 1 : i32} : !c
        %w1 = nv_tileas.dot_wait %d1 : !c
      }
      scf.for %i = %c0 to %n step %c1 : i32 {
        %d = nv_tileas.dot %a, %b, %x {asynchronous, atom = #nv_tileas.atom<wgmma>} : !a, !b, !c
        %w = nv_tileas.dot_wait %d : !c
      }
      scf.for %i = %c0 to %n step %c1 : i32 {
        %d0 = nv_tileas.dot %a, %b, %x {asynchronous, atom = #nv_tileas.atom<wgmma>} : !a, !b, !c
        %d1 = nv_tileas.dot %a, %b, %x {asynchronous, atom = #nv_tileas.atom<wgmma>} : !a, !b, !c
        %d2 = nv_tileas.dot %a, %b, %x {asynchronous, atom = #nv_tileas.atom<wgmma>} : !a, !b, !c
        %w0 = nv_tileas.dot_wait %d0 {pending = 2 : i32} : !c
        %w1 = nv_tileas.dot_wait %d1 {pending = 1 : i32} : !c
        %w2 = nv_tileas.dot_wait %d2 : !c
      }
      nv_tileas.async.pipeline.yield
    }
    nv_tileaa.return
  }
  // Both warpgroups meet between the dots: at a barrier, at a conversion that goes across warps, perhaps in a region. The one whose turn
  // it is would wait for the other.
  // CHECK-LABEL: @meeting
  // CHECK-NOT: order
  // CHECK-LABEL: @one_warpgroup
  nv_tileaa.func @meeting(%a: !a, %b: !b, %x: !c, %n: i32, %holds: i1) attributes {kernel_spec = #nv_tileaa.kernel_spec<num_warps = 12>} {
    nv_tileas.async.pipeline.agent_switch attributes {first = 0 : i32, warps = 8 : i32} {
      %c0 = arith.constant 0 : i32
      %c1 = arith.constant 1 : i32
      scf.for %i = %c0 to %n step %c1 : i32 {
        %d0 = nv_tileas.dot %a, %b, %x {asynchronous, atom = #nv_tileas.atom<wgmma>} : !a, !b, !c
        nv_tileas.barrier
        %d1 = nv_tileas.dot %a, %b, %x {asynchronous, atom = #nv_tileas.atom<wgmma>} : !a, !b, !c
        %w0 = nv_tileas.dot_wait %d0 {pending = 1 : i32} : !c
        %w1 = nv_tileas.dot_wait %d1 : !c
      }
      scf.for %i = %c0 to %n step %c1 : i32 {
        %d0 = nv_tileas.dot %a, %b, %x {asynchronous, atom = #nv_tileas.atom<wgmma>} : !a, !b, !c
        %y = nv_tileas.convert_layout %x : !c -> !other_rows
        %d1 = nv_tileas.dot %a, %b, %x {asynchronous, atom = #nv_tileas.atom<wgmma>} : !a, !b, !c
        %w0 = nv_tileas.dot_wait %d0 {pending = 1 : i32} : !c
        %w1 = nv_tileas.dot_wait %d1 : !c
      }
      scf.for %i = %c0 to %n step %c1 : i32 {
        %d0 = nv_tileas.dot %a, %b, %x {asynchronous, atom = #nv_tileas.atom<wgmma>} : !a, !b, !c
        scf.if %holds {
          nv_tileas.barrier
        }
        %d1 = nv_tileas.dot %a, %b, %x {asynchronous, atom = #nv_tileas.atom<wgmma>} : !a, !b, !c
        %w0 = nv_tileas.dot_wait %d0 {pending = 1 : i32} : !c
        %w1 = nv_tileas.dot_wait %d1 : !c
      }
      nv_tileas.async.pipeline.yield
    }
    nv_tileaa.return
  }
  // CHECK-NOT: order
  // CHECK-LABEL: @in_flight
  nv_tileaa.func @one_warpgroup(%a: !half_a, %b: !b, %x: !half_c, %n: i32) attributes {kernel_spec = #nv_tileaa.kernel_spec<num_warps = 8>} {
    nv_tileas.async.pipeline.agent_switch attributes {first = 0 : i32, warps = 4 : i32} {
      %c0 = arith.constant 0 : i32
      %c1 = arith.constant 1 : i32
      scf.for %i = %c0 to %n step %c1 : i32 {
        %d0 = nv_tileas.dot %a, %b, %x {asynchronous, atom = #nv_tileas.atom<wgmma>} : !half_a, !b, !half_c
        %d1 = nv_tileas.dot %a, %b, %x {asynchronous, atom = #nv_tileas.atom<wgmma>} : !half_a, !b, !half_c
        %w0 = nv_tileas.dot_wait %d0 {pending = 1 : i32} : !half_c
        %w1 = nv_tileas.dot_wait %d1 : !half_c
      }
      nv_tileas.async.pipeline.yield
    }
    nv_tileaa.return
  }
  // A dot that is in flight at the end of the iteration leaves no work to overlap with. Dots that wait for themselves do not, either.
  // CHECK-NOT: order
  nv_tileaa.func @in_flight(%a: !a, %b: !b, %x: !c, %n: i32) attributes {kernel_spec = #nv_tileaa.kernel_spec<num_warps = 12>} {
    nv_tileas.async.pipeline.agent_switch attributes {first = 0 : i32, warps = 8 : i32} {
      %c0 = arith.constant 0 : i32
      %c1 = arith.constant 1 : i32
      %last = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %x) -> (!c) : i32 {
        %d0 = nv_tileas.dot %a, %b, %x {asynchronous, atom = #nv_tileas.atom<wgmma>} : !a, !b, !c
        %d1 = nv_tileas.dot %a, %b, %acc {asynchronous, atom = #nv_tileas.atom<wgmma>} : !a, !b, !c
        %w0 = nv_tileas.dot_wait %d0 {pending = 1 : i32} : !c
        scf.yield %d1 : !c
      }
      %w = nv_tileas.dot_wait %last : !c
      scf.for %i = %c0 to %n step %c1 : i32 {
        %d0 = nv_tileas.dot %a, %b, %x {atom = #nv_tileas.atom<wgmma>} : !a, !b, !c
        %d1 = nv_tileas.dot %a, %b, %x {atom = #nv_tileas.atom<wgmma>} : !a, !b, !c
      }
      nv_tileas.async.pipeline.yield
    }
    nv_tileaa.return
  }
}
