// Dots of a loop that follow each other are all issued; each is waited for before its first use.
// RUN: tilewright opt --pass schedule-loops %s | filecheck %s
#a = #nv_tileas.layout<[64, 32], offset = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [1, 0], [2, 8], [4, 16], [8, 0], [16, 0], [32, 0]]>
#b = #nv_tileas.layout<[32, 16], offset = [[0, 1], [0, 2], [0, 4], [0, 8], [1, 0], [2, 0], [4, 8], [8, 0], [16, 0]]>
#c = #nv_tileas.layout<[64, 16], register = [[0, 1], [8, 0], [0, 8]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0]]>
#a_registers = #nv_tileas.layout<[64, 32], register = [[0, 1], [8, 0], [0, 8], [0, 16]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0]]>
#b_registers = #nv_tileas.layout<[32, 16], register = [[1, 0], [8, 0], [0, 8], [16, 0]], lane = [[2, 0], [4, 0], [0, 1], [0, 2], [0, 4]], warp = [[0, 0], [0, 0]]>
!a = tensor<64x32xf16, #a>
!b = tensor<32x16xf16, #b>
!c = tensor<64x16xf32, #c>
!p = tensor<64x32xf16, #a_registers>
!r = tensor<32x16xf16, #b_registers>
gpu.module @kernels attributes {nv_tileaa.target_spec = #nv_tileaa.target_spec<compute_capability = 90>} {
  // As in a rotated loop: A of the second dot is in registers, which nothing may overwrite before the wait. What runs beside that dot
  // stays before its wait, which is the late one.
  // CHECK-LABEL: @rotated
  // CHECK: scf.for {{.*}} iter_args(%[[P:.*]] = %arg2, %[[ACC:.*]] = %arg3)
  // CHECK-NEXT: %[[S:.*]] = nv_tileas.dot %arg0, %arg1, %{{.*}} {asynchronous, atom = #nv_tileas.atom<wgmma>
  // CHECK-NEXT: %[[O:.*]] = nv_tileas.dot %[[P]], %arg1, %[[ACC]] {asynchronous, atom = #nv_tileas.atom<wgmma>
  // CHECK-NEXT: %[[SW:.*]] = nv_tileas.dot_wait %[[S]] {pending = 1 : i32} : tensor<64x16xf32
  // CHECK-NEXT: %[[N:.*]] = nv_tileaa.negf %[[SW]]
  // CHECK-NEXT: %[[M:.*]] = nv_tileaa.mulf %[[N]], %[[N]]
  // CHECK-NEXT: %[[OW:.*]] = nv_tileas.dot_wait %[[O]] held %[[P]] {late} : tensor<64x16xf32, {{.*}}>, tensor<64x32xf16
  // CHECK-NEXT: %[[NEXT:.*]] = nv_tileaa.mulf %[[OW]], %[[M]]
  // CHECK-NEXT: scf.yield %[[P]], %[[NEXT]]
  nv_tileaa.func @rotated(%a: !a, %b: !b, %p: !p, %init: !c, %n: i32) attributes {kernel_spec = #nv_tileaa.kernel_spec<num_warps = 4>} {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %zero = arith.constant dense<0.0> : !c
    %last, %sum = scf.for %i = %c0 to %n step %c1 iter_args(%w = %p, %acc = %init) -> (!p, !c) : i32 {
      %s = nv_tileas.dot %a, %b, %zero {atom = #nv_tileas.atom<wgmma>} : !a, !b, !c
      %o = nv_tileas.dot %w, %b, %acc {atom = #nv_tileas.atom<wgmma>} : !p, !b, !c
      %x = nv_tileaa.negf %s : !c
      %y = nv_tileaa.mulf %x, %x : !c
      %z = nv_tileaa.mulf %o, %y : !c
      scf.yield %w, %z : !p, !c
    }
    nv_tileaa.return
  }
  // The second dot is used before the first one. A use in a region is one of the operation around it; control flow after the last wait
  // is in no dot's way.
  // CHECK-LABEL: @three
  // CHECK: %[[D0:.*]] = nv_tileas.dot {{.*}}asynchronous
  // CHECK-NEXT: %[[D1:.*]] = nv_tileas.dot {{.*}}asynchronous
  // CHECK-NEXT: %[[D2:.*]] = nv_tileas.dot {{.*}}asynchronous
  // CHECK-NEXT: %[[W1:.*]] = nv_tileas.dot_wait %[[D1]] {pending = 1 : i32}
  // CHECK-NEXT: nv_tileaa.negf %[[W1]]
  // CHECK-NEXT: %[[W0:.*]] = nv_tileas.dot_wait %[[D0]] {pending = 2 : i32}
  // CHECK-NEXT: nv_tileaa.negf %[[W0]]
  // CHECK-NEXT: %[[W2:.*]] = nv_tileas.dot_wait %[[D2]] {late}
  // CHECK-NEXT: scf.if
  // CHECK-NEXT: nv_tileaa.negf %[[W2]]
  nv_tileaa.func @three(%a: !a, %b: !b, %init: !c, %n: i32, %holds: i1) attributes {kernel_spec = #nv_tileaa.kernel_spec<num_warps = 4>} {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %zero = arith.constant dense<0.0> : !c
    %sum = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %init) -> (!c) : i32 {
      %d0 = nv_tileas.dot %a, %b, %zero {atom = #nv_tileas.atom<wgmma>} : !a, !b, !c
      %d1 = nv_tileas.dot %a, %b, %zero {atom = #nv_tileas.atom<wgmma>} : !a, !b, !c
      %d2 = nv_tileas.dot %a, %b, %acc {atom = #nv_tileas.atom<wgmma>} : !a, !b, !c
      %x = nv_tileaa.negf %d1 : !c
      %y = nv_tileaa.negf %d0 : !c
      %z = scf.if %holds -> (!c) {
        %v = nv_tileaa.negf %d2 : !c
        scf.yield %v : !c
      } else {
        scf.yield %y : !c
      }
      scf.yield %z : !c
    }
    nv_tileaa.return
  }
  // Dots that only the terminator uses may run on into the next iteration: `schedule-loops` decides that. Unused ones are not its concern.
  // CHECK-LABEL: @carried
  // CHECK-NOT: asynchronous
  // CHECK-NOT: dot_wait
  nv_tileaa.func @carried(%a: !a, %b: !b, %init: !c, %n: i32) attributes {kernel_spec = #nv_tileaa.kernel_spec<num_warps = 4>} {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %sum, %more = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %init, %w = %init) -> (!c, !c) : i32 {
      %d0 = nv_tileas.dot %a, %b, %acc {atom = #nv_tileas.atom<wgmma>} : !a, !b, !c
      %d1 = nv_tileas.dot %a, %b, %w {atom = #nv_tileas.atom<wgmma>} : !a, !b, !c
      scf.yield %d0, %d1 : !c, !c
    }
    nv_tileaa.return
  }
  // CHECK-LABEL: @unused
  // CHECK-NOT: asynchronous
  // CHECK-NOT: dot_wait
  nv_tileaa.func @unused(%a: !a, %b: !b, %init: !c, %n: i32) attributes {kernel_spec = #nv_tileaa.kernel_spec<num_warps = 4>} {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %zero = arith.constant dense<0.0> : !c
    %sum = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %init) -> (!c) : i32 {
      %d0 = nv_tileas.dot %a, %b, %zero {atom = #nv_tileas.atom<wgmma>} : !a, !b, !c
      %d1 = nv_tileas.dot %a, %b, %acc {atom = #nv_tileas.atom<wgmma>} : !a, !b, !c
      %x = nv_tileaa.negf %d1 : !c
      scf.yield %x : !c
    }
    nv_tileaa.return
  }
  // One dot, and dots outside of loops.
  // CHECK-LABEL: @alone
  // CHECK-NOT: asynchronous
  // CHECK-NOT: dot_wait
  nv_tileaa.func @alone(%a: !a, %b: !b, %init: !c, %n: i32) attributes {kernel_spec = #nv_tileaa.kernel_spec<num_warps = 4>} {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %zero = arith.constant dense<0.0> : !c
    %sum = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %init) -> (!c) : i32 {
      %d = nv_tileas.dot %a, %b, %acc {atom = #nv_tileas.atom<wgmma>} : !a, !b, !c
      scf.yield %d : !c
    }
    %e = nv_tileas.dot %a, %b, %zero {atom = #nv_tileas.atom<wgmma>} : !a, !b, !c
    %f = nv_tileas.dot %a, %b, %sum {atom = #nv_tileas.atom<wgmma>} : !a, !b, !c
    %g = nv_tileaa.addf %e, %f : !c
    nv_tileaa.return
  }
  // A promoted dot reads its accumulators, and waits for all dots before that.
  // CHECK-LABEL: @promoted
  // CHECK-NOT: asynchronous
  // CHECK-NOT: dot_wait
  nv_tileaa.func @promoted(%a: !a, %b: !b, %init: !c, %n: i32) attributes {kernel_spec = #nv_tileaa.kernel_spec<num_warps = 4>} {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %zero = arith.constant dense<0.0> : !c
    %sum = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %init) -> (!c) : i32 {
      %s = nv_tileas.dot %a, %b, %zero {atom = #nv_tileas.atom<wgmma>} : !a, !b, !c
      %o = nv_tileas.dot %a, %b, %acc {atom = #nv_tileas.atom<wgmma>, promoted} : !a, !b, !c
      %z = nv_tileaa.mulf %o, %s : !c
      scf.yield %z : !c
    }
    nv_tileaa.return
  }
  // mma.sync is complete when it has been issued.
  // CHECK-LABEL: @by_mma_sync
  // CHECK-NOT: asynchronous
  // CHECK-NOT: dot_wait
  nv_tileaa.func @by_mma_sync(%a: !a, %b: !b, %p: !p, %r: !r, %init: !c, %n: i32) attributes {kernel_spec = #nv_tileaa.kernel_spec<num_warps = 4>} {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %zero = arith.constant dense<0.0> : !c
    %sum = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %init) -> (!c) : i32 {
      %s = nv_tileas.dot %a, %b, %zero {atom = #nv_tileas.atom<wgmma>} : !a, !b, !c
      %o = nv_tileas.dot %p, %r, %acc {atom = #nv_tileas.atom<mma_sync>} : !p, !r, !c
      %z = nv_tileaa.mulf %o, %s : !c
      scf.yield %z : !c
    }
    nv_tileaa.return
  }
  // The first dot is used before the last one is issued.
  // CHECK-LABEL: @used_between
  // CHECK-NOT: asynchronous
  // CHECK-NOT: dot_wait
  nv_tileaa.func @used_between(%a: !a, %b: !b, %init: !c, %n: i32) attributes {kernel_spec = #nv_tileaa.kernel_spec<num_warps = 4>} {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %zero = arith.constant dense<0.0> : !c
    %sum = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %init) -> (!c) : i32 {
      %s = nv_tileas.dot %a, %b, %zero {atom = #nv_tileas.atom<wgmma>} : !a, !b, !c
      %x = nv_tileaa.negf %s : !c
      %o = nv_tileas.dot %a, %b, %acc {atom = #nv_tileas.atom<wgmma>} : !a, !b, !c
      %z = nv_tileaa.mulf %o, %x : !c
      scf.yield %z : !c
    }
    nv_tileaa.return
  }
  // So is the second of three here; a wait for it would let one dot be in flight, which is that dot.
  // CHECK-LABEL: @second_used_between
  // CHECK-NOT: asynchronous
  // CHECK-NOT: dot_wait
  nv_tileaa.func @second_used_between(%a: !a, %b: !b, %init: !c, %n: i32) attributes {kernel_spec = #nv_tileaa.kernel_spec<num_warps = 4>} {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %zero = arith.constant dense<0.0> : !c
    %sum = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %init) -> (!c) : i32 {
      %s = nv_tileas.dot %a, %b, %zero {atom = #nv_tileas.atom<wgmma>} : !a, !b, !c
      %t = nv_tileas.dot %a, %b, %zero {atom = #nv_tileas.atom<wgmma>} : !a, !b, !c
      %x = nv_tileaa.negf %t : !c
      %o = nv_tileas.dot %a, %b, %acc {atom = #nv_tileas.atom<wgmma>} : !a, !b, !c
      %y = nv_tileaa.mulf %s, %x : !c
      %z = nv_tileaa.mulf %o, %y : !c
      scf.yield %z : !c
    }
    nv_tileaa.return
  }
  // The last dot itself uses the first one.
  // CHECK-LABEL: @accumulated
  // CHECK-NOT: asynchronous
  // CHECK-NOT: dot_wait
  nv_tileaa.func @accumulated(%a: !a, %b: !b, %init: !c, %n: i32) attributes {kernel_spec = #nv_tileaa.kernel_spec<num_warps = 4>} {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %sum = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %init) -> (!c) : i32 {
      %s = nv_tileas.dot %a, %b, %acc {atom = #nv_tileas.atom<wgmma>} : !a, !b, !c
      %o = nv_tileas.dot %a, %b, %s {atom = #nv_tileas.atom<wgmma>} : !a, !b, !c
      %z = nv_tileaa.negf %o : !c
      scf.yield %z : !c
    }
    nv_tileaa.return
  }
  // ptxas would wait for all dots at a branch.
  // CHECK-LABEL: @control_flow
  // CHECK-NOT: asynchronous
  // CHECK-NOT: dot_wait
  nv_tileaa.func @control_flow(%a: !a, %b: !b, %init: !c, %n: i32, %holds: i1) attributes {kernel_spec = #nv_tileaa.kernel_spec<num_warps = 4>} {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %zero = arith.constant dense<0.0> : !c
    %sum = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %init) -> (!c) : i32 {
      %s = nv_tileas.dot %a, %b, %zero {atom = #nv_tileas.atom<wgmma>} : !a, !b, !c
      %o = nv_tileas.dot %a, %b, %acc {atom = #nv_tileas.atom<wgmma>} : !a, !b, !c
      %x = scf.if %holds -> (!c) {
        %v = nv_tileaa.negf %s : !c
        scf.yield %v : !c
      } else {
        scf.yield %init : !c
      }
      %z = nv_tileaa.mulf %o, %x : !c
      scf.yield %z : !c
    }
    nv_tileaa.return
  }
}
