// Loops whose operations have stages and orders become a prologue, a steady state and an epilogue.
// RUN: tilewright opt --pass pipeline-loops %s | filecheck %s
!p = !nv_tileaa.ptr<i32>
module {
  // A dependent part, one stage later: the first iteration starts it, the last one ends after the loop. `%x` crosses; the address
  // is computed again, from the counter of the iteration before.
  // CHECK-LABEL: @later
  // CHECK: %[[EXISTS:.*]] = nv_tileaa.cmpi slt, %arg2, %arg3
  // CHECK-NEXT: %[[ALL:.*]] = scf.if %[[EXISTS]]
  // CHECK-NEXT: %[[X0:.*]] = nv_tileaa.muli %arg2, %arg2
  // CHECK-NEXT: %[[START:.*]] = nv_tileaa.addi %arg2, %[[ONE:.*]] : i32
  // CHECK: %[[LAST:.*]] = nv_tileaa.subi %arg3, %
  // CHECK-NEXT: %[[LOOP:.*]]:2 = scf.for %[[I:.*]] = %[[START]] to %arg3 step %[[ONE]] iter_args(%[[X:.*]] = %[[X0]], %[[S:.*]] = %arg4)
  // CHECK-NEXT: %[[BEFORE:.*]] = nv_tileaa.subi %[[I]], %[[ONE]]
  // CHECK-NEXT: %[[AT:.*]] = nv_tileaa.addptr %arg0, %[[BEFORE]]
  // CHECK-NEXT: %[[V:.*]]:2 = nv_tileaa.load weak %[[AT]]
  // CHECK-NEXT: %[[NEXT:.*]] = nv_tileaa.muli %[[I]], %[[I]]
  // CHECK-NEXT: %[[Y:.*]] = nv_tileaa.addi %[[X]], %[[V]]#0
  // CHECK-NEXT: %[[SUM:.*]] = nv_tileaa.addi %[[S]], %[[Y]]
  // CHECK-NEXT: scf.yield %[[NEXT]], %[[SUM]]
  // CHECK-NEXT: }
  // CHECK-NEXT: %[[ATEND:.*]] = nv_tileaa.addptr %arg0, %[[LAST]]
  // CHECK-NEXT: %[[W:.*]]:2 = nv_tileaa.load weak %[[ATEND]]
  // CHECK-NEXT: %[[Z:.*]] = nv_tileaa.addi %[[LOOP]]#0, %[[W]]#0
  // CHECK-NEXT: %[[END:.*]] = nv_tileaa.addi %[[LOOP]]#1, %[[Z]]
  // CHECK-NEXT: scf.yield %[[END]]
  // CHECK-NEXT: } else {
  // CHECK-NEXT: scf.yield %arg4
  nv_tileaa.func @later(%p: !p, %q: !p, %m: i32, %n: i32, %s0: i32) attributes {kernel_spec = #nv_tileaa.kernel_spec<>} {
    %c1 = arith.constant 1 : i32
    %sum = scf.for %i = %m to %n step %c1 iter_args(%s = %s0) -> (i32) : i32 {
      %x = nv_tileaa.muli %i, %i {nv_tileaa.at = #nv_tileaa.at<stage = 0, order = 1>} : i32
      %a = nv_tileaa.addptr %p, %i : !p, i32
      %v, %t = nv_tileaa.load weak %a {nv_tileaa.at = #nv_tileaa.at<stage = 1, order = 0>} : !p -> i32
      %y = nv_tileaa.addi %x, %v : i32
      %r = nv_tileaa.addi %s, %y {nv_tileaa.at = #nv_tileaa.at<stage = 1, order = 2>} : i32
      scf.yield %r : i32
    }
    %t = nv_tileaa.store weak %q, %sum : !p, i32
    nv_tileaa.return
  }
  // Two stages need two iterations. Otherwise the loop runs as it is written.
  // CHECK-LABEL: @two_stages
  // CHECK: %[[ANY:.*]] = nv_tileaa.cmpi slt, %arg2, %arg3
  // CHECK-NEXT: %[[SECOND:.*]] = nv_tileaa.addi %arg2,
  // CHECK-NEXT: %[[MORE:.*]] = nv_tileaa.cmpi slt, %[[SECOND]], %arg3
  // CHECK-NEXT: %[[BOTH:.*]] = nv_tileaa.andi %[[ANY]], %[[MORE]]
  // CHECK-NEXT: scf.if %[[BOTH]]
  // CHECK-COUNT-3: nv_tileaa.muli
  // CHECK: scf.for
  // CHECK-COUNT-2: nv_tileaa.muli
  // CHECK: scf.yield
  // CHECK: nv_tileaa.muli
  // CHECK: } else {
  // CHECK-NEXT: scf.for
  // CHECK-NOT: nv_tileaa.at
  // CHECK-LABEL: @early
  nv_tileaa.func @two_stages(%p: !p, %q: !p, %m: i32, %n: i32, %s0: i32) attributes {kernel_spec = #nv_tileaa.kernel_spec<>} {
    %c1 = arith.constant 1 : i32
    %sum = scf.for %i = %m to %n step %c1 iter_args(%s = %s0) -> (i32) : i32 {
      %x = nv_tileaa.muli %i, %i {nv_tileaa.at = #nv_tileaa.at<stage = 0, order = 0>} : i32
      %y = nv_tileaa.muli %x, %x {nv_tileaa.at = #nv_tileaa.at<stage = 1, order = 0>} : i32
      %r = nv_tileaa.addi %s, %y {nv_tileaa.at = #nv_tileaa.at<stage = 2, order = 0>} : i32
      scf.yield %r : i32
    }
    %t = nv_tileaa.store weak %q, %sum : !p, i32
    nv_tileaa.return
  }
  // A load of the next iteration, if that exists.
  // CHECK: %[[FIRST:.*]] = nv_tileaa.cmpi slt, %arg2, %arg3
  // CHECK: %[[A0:.*]]:2 = nv_tileaa.load weak %{{.*}} mask = %[[FIRST]]
  // CHECK: scf.for %[[I:.*]] = %arg2 to %arg3 step %[[ONE:.*]] iter_args(%[[S:.*]] = %arg4, %[[V:.*]] = %[[A0]]#0)
  // CHECK: %[[NEXT:.*]] = nv_tileaa.addi %[[I]], %[[ONE]]
  // CHECK: %[[EXISTS:.*]] = nv_tileaa.cmpi slt, %[[NEXT]], %arg3
  // CHECK: %[[B:.*]]:2 = nv_tileaa.load weak %{{.*}} mask = %[[EXISTS]]
  // CHECK: %[[R:.*]] = nv_tileaa.addi %[[S]], %[[V]]
  // CHECK-NEXT: scf.yield %[[R]], %[[B]]#0
  nv_tileaa.func @early(%p: !p, %q: !p, %m: i32, %n: i32, %s0: i32) attributes {kernel_spec = #nv_tileaa.kernel_spec<>} {
    %c1 = arith.constant 1 : i32
    %sum = scf.for %i = %m to %n step %c1 iter_args(%s = %s0) -> (i32) : i32 {
      %a = nv_tileaa.addptr %p, %i : !p, i32
      %v, %t = nv_tileaa.load weak %a {nv_tileaa.at = #nv_tileaa.at<stage = -1, order = 0>} : !p -> i32
      %r = nv_tileaa.addi %s, %v : i32
      scf.yield %r : i32
    }
    %t = nv_tileaa.store weak %q, %sum : !p, i32
    nv_tileaa.return
  }
}
