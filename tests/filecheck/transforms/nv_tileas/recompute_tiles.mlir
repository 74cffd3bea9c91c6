// Tiles from before a loop with dots are computed where the loop uses them, if it has no registers for them. Each tile of 64x64 has 32
// registers of a thread. Six blocks of 128 threads leave 80 registers, less 40 for addresses and the like; four leave 128.
// RUN: tilewright opt --pass recompute-tiles %s | filecheck %s
#a = #nv_tileas.layout<[64, 32], offset = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [1, 0], [2, 8], [4, 16], [8, 0], [16, 0], [32, 0]]>
#b = #nv_tileas.layout<[32, 64], offset = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [0, 32], [1, 8], [2, 16], [4, 32], [8, 0], [16, 0]]>
#c = #nv_tileas.layout<[64, 64], register = [[0, 1], [8, 0], [0, 8], [0, 16], [0, 32]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0]]>
#columns = #nv_tileas.layout<[64], register = [[1], [8], [16], [32]], lane = [[2], [4], [0], [0], [0]], warp = [[0], [0]]>
#row = #nv_tileas.layout<[1, 64], register = [[0, 1], [0, 8], [0, 16], [0, 32]], lane = [[0, 2], [0, 4], [0, 0], [0, 0], [0, 0]], warp = [[0, 0], [0, 0]]>
!a = tensor<64x32xf16, #a>
!b = tensor<32x64xf16, #b>
!c = tensor<64x64xf32, #c>
!i = tensor<64x64xi32, #c>
!m = tensor<64x64xi1, #c>
gpu.module @kernels attributes {nv_tileaa.target_spec = #nv_tileaa.target_spec<compute_capability = 90>} {
  // The accumulator and the tile do not fit together. What computed the tile before the loop is gone; scalars stay there.
  // CHECK-LABEL: @recomputed
  // CHECK-NOT: nv_tileas.make_range
  // CHECK: arith.addf %arg3, %arg3 : f32
  // CHECK: scf.for
  // CHECK-NEXT: %[[DOT:.*]] = nv_tileas.dot
  // CHECK-NEXT: %[[RANGE:.*]] = nv_tileas.make_range {repeated}
  // CHECK-NEXT: %[[ROW:.*]] = nv_tileas.view %[[RANGE]]
  // CHECK-NEXT: %[[WIDE:.*]] = nv_tileas.broadcast %[[ROW]]
  // CHECK-NEXT: %[[FLOATS:.*]] = arith.sitofp %[[WIDE]]
  // CHECK-NEXT: %[[RATES:.*]] = nv_tileas.splat
  // CHECK-NEXT: %[[TILE:.*]] = nv_tileaa.mulf %[[FLOATS]], %[[RATES]]
  // CHECK-NEXT: nv_tileaa.mulf %[[DOT]], %[[TILE]]
  nv_tileaa.func @recomputed(%a: !a, %b: !b, %init: !c, %r: f32, %n: i32) attributes {kernel_spec = #nv_tileaa.kernel_spec<num_warps = 4, occupancy = 6>} {
    %c1 = arith.constant 1 : i32
    %rate = arith.addf %r, %r : f32
    %range = nv_tileas.make_range : tensor<64xi32, #columns>
    %row = nv_tileas.view %range : tensor<64xi32, #columns> -> tensor<1x64xi32, #row>
    %wide = nv_tileas.broadcast %row : tensor<1x64xi32, #row> -> !i
    %floats = arith.sitofp %wide : !i to !c
    %rates = nv_tileas.splat %rate : f32 -> !c
    %tile = nv_tileaa.mulf %floats, %rates : !c
    %last = scf.for %i = %n to %n step %c1 iter_args(%acc = %init) -> (!c) : i32 {
      %d = nv_tileas.dot %a, %b, %acc {atom = #nv_tileas.atom<wgmma>} : !a, !b, !c
      %e = nv_tileaa.mulf %d, %tile : !c
      scf.yield %e : !c
    }
    nv_tileaa.return
  }
  // A tile that is used after the loop, too, is also computed before it.
  // CHECK-LABEL: @used_later
  // CHECK: nv_tileas.make_range : tensor
  // CHECK: %[[TILE:.*]] = arith.sitofp
  // CHECK: scf.for
  // CHECK: nv_tileas.make_range {repeated}
  // CHECK: %[[AGAIN:.*]] = arith.sitofp
  // CHECK-NEXT: nv_tileaa.mulf %{{.*}}, %[[AGAIN]]
  // CHECK: nv_tileaa.negf %[[TILE]]
  nv_tileaa.func @used_later(%a: !a, %b: !b, %init: !c, %n: i32) attributes {kernel_spec = #nv_tileaa.kernel_spec<num_warps = 4, occupancy = 6>} {
    %c1 = arith.constant 1 : i32
    %range = nv_tileas.make_range : tensor<64xi32, #columns>
    %row = nv_tileas.view %range : tensor<64xi32, #columns> -> tensor<1x64xi32, #row>
    %wide = nv_tileas.broadcast %row : tensor<1x64xi32, #row> -> !i
    %tile = arith.sitofp %wide : !i to !c
    %last = scf.for %i = %n to %n step %c1 iter_args(%acc = %init) -> (!c) : i32 {
      %d = nv_tileas.dot %a, %b, %acc {atom = #nv_tileas.atom<wgmma>} : !a, !b, !c
      %e = nv_tileaa.mulf %d, %tile : !c
      scf.yield %e : !c
    }
    %f = nv_tileaa.negf %tile : !c
    nv_tileaa.return
  }
  // With the registers of four blocks, both fit.
  // CHECK-LABEL: @fits
  // CHECK-NOT: repeated
  nv_tileaa.func @fits(%a: !a, %b: !b, %init: !c, %n: i32) attributes {kernel_spec = #nv_tileaa.kernel_spec<num_warps = 4, occupancy = 4>} {
    %c1 = arith.constant 1 : i32
    %range = nv_tileas.make_range : tensor<64xi32, #columns>
    %row = nv_tileas.view %range : tensor<64xi32, #columns> -> tensor<1x64xi32, #row>
    %wide = nv_tileas.broadcast %row : tensor<1x64xi32, #row> -> !i
    %tile = arith.sitofp %wide : !i to !c
    %last = scf.for %i = %n to %n step %c1 iter_args(%acc = %init) -> (!c) : i32 {
      %d = nv_tileas.dot %a, %b, %acc {atom = #nv_tileas.atom<wgmma>} : !a, !b, !c
      %e = nv_tileaa.mulf %d, %tile : !c
      scf.yield %e : !c
    }
    nv_tileaa.return
  }
  // Without the tile there would still be too few registers: for another one, which cannot be computed anew.
  // CHECK-LABEL: @too_many
  // CHECK-NOT: repeated
  nv_tileaa.func @too_many(%a: !a, %b: !b, %init: !c, %other: !c, %n: i32) attributes {kernel_spec = #nv_tileaa.kernel_spec<num_warps = 4, occupancy = 6>} {
    %c1 = arith.constant 1 : i32
    %range = nv_tileas.make_range : tensor<64xi32, #columns>
    %row = nv_tileas.view %range : tensor<64xi32, #columns> -> tensor<1x64xi32, #row>
    %wide = nv_tileas.broadcast %row : tensor<1x64xi32, #row> -> !i
    %tile = arith.sitofp %wide : !i to !c
    %last = scf.for %i = %n to %n step %c1 iter_args(%acc = %init) -> (!c) : i32 {
      %d = nv_tileas.dot %a, %b, %acc {atom = #nv_tileas.atom<wgmma>} : !a, !b, !c
      %e = nv_tileaa.mulf %d, %tile : !c
      %f = nv_tileaa.mulf %e, %other : !c
      scf.yield %f : !c
    }
    nv_tileaa.return
  }
  // A division takes too many instructions to be repeated for each element.
  // CHECK-LABEL: @slow
  // CHECK-NOT: repeated
  nv_tileaa.func @slow(%a: !a, %b: !b, %init: !c, %r: f32, %n: i32) attributes {kernel_spec = #nv_tileaa.kernel_spec<num_warps = 4, occupancy = 6>} {
    %c1 = arith.constant 1 : i32
    %range = nv_tileas.make_range : tensor<64xi32, #columns>
    %row = nv_tileas.view %range : tensor<64xi32, #columns> -> tensor<1x64xi32, #row>
    %wide = nv_tileas.broadcast %row : tensor<1x64xi32, #row> -> !i
    %floats = arith.sitofp %wide : !i to !c
    %rates = nv_tileas.splat %r : f32 -> !c
    %tile = nv_tileaa.divf %floats, %rates : !c
    %last = scf.for %i = %n to %n step %c1 iter_args(%acc = %init) -> (!c) : i32 {
      %d = nv_tileas.dot %a, %b, %acc {atom = #nv_tileas.atom<wgmma>} : !a, !b, !c
      %e = nv_tileaa.mulf %d, %tile : !c
      scf.yield %e : !c
    }
    nv_tileaa.return
  }
  // Only as many tiles as needed: 24 registers are missing, and a tile of 32 is enough without one of 16.
  // CHECK-LABEL: @larger
  // CHECK: %[[NARROW:.*]] = nv_tileaa.trunci
  // CHECK: scf.for
  // CHECK: nv_tileas.make_range {repeated}
  // CHECK-NOT: repeated
  // CHECK: nv_tileaa.exti %[[NARROW]]
  nv_tileaa.func @larger(%a: !a, %b: !b, %init: !c, %n: i32) attributes {kernel_spec = #nv_tileaa.kernel_spec<num_warps = 4, occupancy = 4>} {
    %c1 = arith.constant 1 : i32
    %range = nv_tileas.make_range : tensor<64xi32, #columns>
    %row = nv_tileas.view %range : tensor<64xi32, #columns> -> tensor<1x64xi32, #row>
    %wide = nv_tileas.broadcast %row : tensor<1x64xi32, #row> -> !i
    %sum = nv_tileaa.addi %wide, %wide : !i
    %narrow = nv_tileaa.trunci %sum : !i to tensor<64x64xi16, #c>
    %tile = arith.sitofp %wide : !i to !c
    %last = scf.for %i = %n to %n step %c1 iter_args(%acc = %init) -> (!c) : i32 {
      %d = nv_tileas.dot %a, %b, %acc {atom = #nv_tileas.atom<wgmma>} : !a, !b, !c
      %e = nv_tileaa.mulf %d, %tile : !c
      %more = nv_tileaa.exti %narrow signed : tensor<64x64xi16, #c> to !i
      %g = arith.sitofp %more : !i to !c
      %f = nv_tileaa.mulf %e, %g : !c
      scf.yield %f : !c
    }
    nv_tileaa.return
  }
  // 8 registers are missing, and the smaller tile is enough.
  // CHECK-LABEL: @smaller
  // CHECK: %[[TILE:.*]] = arith.sitofp
  // CHECK: scf.for
  // CHECK: nv_tileaa.mulf %{{.*}}, %[[TILE]]
  // CHECK: nv_tileas.make_range {repeated}
  // CHECK: %[[NARROW:.*]] = nv_tileaa.trunci
  // CHECK-NEXT: nv_tileaa.addi %[[NARROW]], %[[NARROW]]
  nv_tileaa.func @smaller(%a: !a, %b: !b, %init: !c, %other: tensor<64x64xf16, #c>, %n: i32) attributes {kernel_spec = #nv_tileaa.kernel_spec<num_warps = 4, occupancy = 4>} {
    %c1 = arith.constant 1 : i32
    %range = nv_tileas.make_range : tensor<64xi32, #columns>
    %row = nv_tileas.view %range : tensor<64xi32, #columns> -> tensor<1x64xi32, #row>
    %wide = nv_tileas.broadcast %row : tensor<1x64xi32, #row> -> !i
    %narrow = nv_tileaa.trunci %wide : !i to tensor<64x64xi16, #c>
    %tile = arith.sitofp %wide : !i to !c
    %last = scf.for %i = %n to %n step %c1 iter_args(%acc = %init) -> (!c) : i32 {
      %d = nv_tileas.dot %a, %b, %acc {atom = #nv_tileas.atom<wgmma>} : !a, !b, !c
      %e = nv_tileaa.mulf %d, %tile : !c
      %f = nv_tileaa.addi %narrow, %narrow : tensor<64x64xi16, #c>
      %g = nv_tileaa.negf %other : tensor<64x64xf16, #c>
      scf.yield %e : !c
    }
    nv_tileaa.return
  }
  // LLVM compares where a mask is used, so that it takes no registers in the loop.
  // CHECK-LABEL: @mask
  // CHECK-NOT: repeated
  nv_tileaa.func @mask(%a: !a, %b: !b, %init: !c, %m: i32, %n: i32) attributes {kernel_spec = #nv_tileaa.kernel_spec<num_warps = 4, occupancy = 6>} {
    %c1 = arith.constant 1 : i32
    %zero = arith.constant dense<0.0> : !c
    %range = nv_tileas.make_range : tensor<64xi32, #columns>
    %row = nv_tileas.view %range : tensor<64xi32, #columns> -> tensor<1x64xi32, #row>
    %wide = nv_tileas.broadcast %row : tensor<1x64xi32, #row> -> !i
    %ends = nv_tileas.splat %m : i32 -> !i
    %mask = nv_tileaa.cmpi slt, %wide, %ends : !i
    %last = scf.for %i = %n to %n step %c1 iter_args(%acc = %init) -> (!c) : i32 {
      %d = nv_tileas.dot %a, %b, %acc {atom = #nv_tileas.atom<wgmma>} : !a, !b, !c
      %e = nv_tileaa.select %mask, %d, %zero : !m, !c
      scf.yield %e : !c
    }
    nv_tileaa.return
  }
}
