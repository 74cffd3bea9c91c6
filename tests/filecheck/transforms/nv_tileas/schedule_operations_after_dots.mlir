// Reductions across warps are computed after the dots of their loop that do not need the result.
// RUN: tilewright opt --pass schedule-operations %s | filecheck %s
// Two warps have half of the columns each: a sum of columns is exchanged between them.
#c = #nv_tileas.layout<[16, 16], register = [[0, 1], [8, 0]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[0, 8]]>
#a = #nv_tileas.layout<[16, 16], register = [[0, 1], [8, 0], [0, 8]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[0, 0]]>
#b = #nv_tileas.layout<[16, 16], register = [[1, 0], [8, 0]], lane = [[2, 0], [4, 0], [0, 1], [0, 2], [0, 4]], warp = [[0, 8]]>
#row = #nv_tileas.layout<[16], register = [[8]], lane = [[0], [0], [1], [2], [4]], warp = [[0]]>
#row_sum = #nv_tileas.layout<[16, 1], register = [[8, 0]], lane = [[0, 0], [0, 0], [1, 0], [2, 0], [4, 0]], warp = [[0, 0]]>
// 32 and 64 registers of a thread.
#most = #nv_tileas.layout<[16, 128], register = [[0, 1], [8, 0], [0, 16], [0, 32], [0, 64]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[0, 8]]>
#more = #nv_tileas.layout<[16, 256], register = [[0, 1], [8, 0], [0, 16], [0, 32], [0, 64], [0, 128]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[0, 8]]>
// Each warp has all columns of its rows.
#own_rows = #nv_tileas.layout<[16, 16], register = [[0, 1], [0, 8]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[8, 0]]>
#own_row = #nv_tileas.layout<[16], register = [], lane = [[0], [0], [1], [2], [4]], warp = [[8]]>
!a = tensor<16x16xf16, #a>
!b = tensor<16x16xf16, #b>
!c = tensor<16x16xf32, #c>
!r = tensor<16xf32, #row>
!s = tensor<16x1xf32, #row_sum>
!most = tensor<16x128xf32, #most>
!more = tensor<16x256xf32, #more>
!own_rows = tensor<16x16xf32, #own_rows>
!own_row = tensor<16xf32, #own_row>
!row_tiles = !nv_tileaa.tiled_view<tile = [16], source = !nv_tileaa.memref<16xf32, strides = [1]>>
gpu.module @kernels attributes {nv_tileaa.target_spec = #nv_tileaa.target_spec<compute_capability = 80>} {
  // What depends on a reduction moves with it, also in a region. Several keep their order.
  // CHECK-LABEL: @after_the_dots
  // CHECK: scf.for {{.*}} iter_args(%[[ACC:.*]] = %{{.*}}, %[[SUM:.*]] = %{{.*}}, %[[MORE:.*]] = %{{[^)]*}})
  // CHECK-NEXT: nv_tileas.dot
  // CHECK-NEXT: nv_tileaa.mulf %[[SUM]], %[[SUM]]
  // CHECK-NEXT: %[[DOT:.*]] = nv_tileas.dot
  // CHECK-NEXT: %[[R:.*]] = nv_tileas.reduce %{{.*}} : tensor<16x16xf32,
  // CHECK: %[[R1:.*]] = nv_tileaa.addf %[[SUM]], %[[R]]
  // CHECK: %[[R2:.*]] = scf.if
  // CHECK-NEXT: nv_tileaa.negf %[[R1]]
  // CHECK: %[[M:.*]] = nv_tileas.reduce %{{.*}} : tensor<16x128xf32,
  // CHECK: %[[M1:.*]] = nv_tileaa.addf %[[MORE]], %[[M]]
  // CHECK-NEXT: scf.yield %[[DOT]], %[[R2]], %[[M1]]
  nv_tileaa.func @after_the_dots(%a: !a, %b: !b, %x: !c, %y: !most, %init: !c, %none: !r, %n: i32, %holds: i1) attributes {kernel_spec = #nv_tileaa.kernel_spec<num_warps = 2>} {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %all:3 = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %init, %sum = %none, %more = %none) -> (!c, !r, !r) : i32 {
      %r = nv_tileas.reduce %x {axis = 1 : i32} : !c -> !r {
      ^bb0(%u: f32, %v: f32):
        %w = nv_tileaa.addf %u, %v : f32
        nv_tileas.yield %w : f32
      }
      %r1 = nv_tileaa.addf %sum, %r : !r
      %d0 = nv_tileas.dot %a, %b, %acc {atom = #nv_tileas.atom<mma_sync>} : !a, !b, !c
      %r2 = scf.if %holds -> (!r) {
        %minus = nv_tileaa.negf %r1 : !r
        scf.yield %minus : !r
      } else {
        scf.yield %r1 : !r
      }
      %m = nv_tileas.reduce %y {axis = 1 : i32} : !most -> !r {
      ^bb0(%u: f32, %v: f32):
        %w = nv_tileaa.addf %u, %v : f32
        nv_tileas.yield %w : f32
      }
      %other = nv_tileaa.mulf %sum, %sum : !r
      %m1 = nv_tileaa.addf %more, %m : !r
      %d1 = nv_tileas.dot %a, %b, %d0 {atom = #nv_tileas.atom<mma_sync>} : !a, !b, !c
      scf.yield %d1, %r2, %m1 : !c, !r, !r
    }
    nv_tileaa.return
  }
  // Both reductions come before what depends on both.
  // CHECK-LABEL: @together
  // CHECK: scf.for
  // CHECK-NEXT: nv_tileas.dot
  // CHECK-NEXT: %[[R:.*]] = nv_tileas.reduce
  // CHECK: %[[M:.*]] = nv_tileas.reduce
  // CHECK: nv_tileaa.addf %[[R]], %[[M]]
  nv_tileaa.func @together(%a: !a, %b: !b, %x: !c, %y: !most, %none: !r, %n: i32) attributes {kernel_spec = #nv_tileaa.kernel_spec<num_warps = 2>} {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %all = scf.for %i = %c0 to %n step %c1 iter_args(%sum = %none) -> (!r) : i32 {
      %r = nv_tileas.reduce %x {axis = 1 : i32} : !c -> !r {
      ^bb0(%u: f32, %v: f32):
        %w = nv_tileaa.addf %u, %v : f32
        nv_tileas.yield %w : f32
      }
      %m = nv_tileas.reduce %y {axis = 1 : i32} : !most -> !r {
      ^bb0(%u: f32, %v: f32):
        %w = nv_tileaa.addf %u, %v : f32
        nv_tileas.yield %w : f32
      }
      %both = nv_tileaa.addf %r, %m : !r
      %d = nv_tileas.dot %a, %b, %x {atom = #nv_tileas.atom<mma_sync>} : !a, !b, !c
      scf.yield %both : !r
    }
    nv_tileaa.return
  }
  // The last dot, or one before it, needs the result.
  // CHECK-LABEL: @needed
  // CHECK: scf.for
  // CHECK-NEXT: nv_tileas.reduce
  // CHECK: nv_tileas.dot
  // CHECK-LABEL: @needed_by_an_earlier_one
  // CHECK: scf.for
  // CHECK-NEXT: nv_tileas.reduce
  // CHECK: nv_tileas.dot
  // CHECK: nv_tileas.dot
  nv_tileaa.func @needed(%a: !a, %b: !b, %x: !c, %n: i32) attributes {kernel_spec = #nv_tileaa.kernel_spec<num_warps = 2>} {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    scf.for %i = %c0 to %n step %c1 : i32 {
      %r = nv_tileas.reduce %x {axis = 1 : i32} : !c -> !r {
      ^bb0(%u: f32, %v: f32):
        %w = nv_tileaa.addf %u, %v : f32
        nv_tileas.yield %w : f32
      }
      %s = nv_tileas.expand_dims %r {axis = 1 : i64} : !r -> !s
      %z = nv_tileas.broadcast %s : !s -> !c
      %d = nv_tileas.dot %a, %b, %z {atom = #nv_tileas.atom<mma_sync>} : !a, !b, !c
    }
    nv_tileaa.return
  }
  nv_tileaa.func @needed_by_an_earlier_one(%a: !a, %b: !b, %x: !c, %n: i32) attributes {kernel_spec = #nv_tileaa.kernel_spec<num_warps = 2>} {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    scf.for %i = %c0 to %n step %c1 : i32 {
      %r = nv_tileas.reduce %x {axis = 1 : i32} : !c -> !r {
      ^bb0(%u: f32, %v: f32):
        %w = nv_tileaa.addf %u, %v : f32
        nv_tileas.yield %w : f32
      }
      %s = nv_tileas.expand_dims %r {axis = 1 : i64} : !r -> !s
      %z = nv_tileas.broadcast %s : !s -> !c
      %d0 = nv_tileas.dot %a, %b, %z {atom = #nv_tileas.atom<mma_sync>} : !a, !b, !c
      %d1 = nv_tileas.dot %a, %b, %x {atom = #nv_tileas.atom<mma_sync>} : !a, !b, !c
    }
    nv_tileaa.return
  }
  // A store of the result stays before the dot, and the reduction with it.
  // CHECK-LABEL: @stored
  // CHECK: scf.for
  // CHECK-NEXT: nv_tileas.reduce
  // CHECK: nv_tileas.tiled_store
  // CHECK-NEXT: nv_tileas.dot
  nv_tileaa.func @stored(%a: !a, %b: !b, %x: !c, %out: !row_tiles, %n: i32) attributes {kernel_spec = #nv_tileaa.kernel_spec<num_warps = 2>} {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    scf.for %i = %c0 to %n step %c1 : i32 {
      %r = nv_tileas.reduce %x {axis = 1 : i32} : !c -> !r {
      ^bb0(%u: f32, %v: f32):
        %w = nv_tileaa.addf %u, %v : f32
        nv_tileas.yield %w : f32
      }
      %t = nv_tileas.tiled_store weak %r, %out[%c0] : !r, i32 of !row_tiles
      %d = nv_tileas.dot %a, %b, %x {atom = #nv_tileas.atom<mma_sync>} : !a, !b, !c
    }
    nv_tileaa.return
  }
  // Warps exchange nothing; or the tile would take registers that the dot needs.
  // CHECK-LABEL: @within_warps
  // CHECK: scf.for
  // CHECK-NEXT: nv_tileas.reduce
  // CHECK: nv_tileas.dot
  // CHECK-LABEL: @large
  // CHECK: scf.for
  // CHECK-NEXT: nv_tileas.reduce
  // CHECK: nv_tileas.dot
  nv_tileaa.func @within_warps(%a: !a, %b: !b, %x: !c, %y: !own_rows, %n: i32) attributes {kernel_spec = #nv_tileaa.kernel_spec<num_warps = 2>} {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    scf.for %i = %c0 to %n step %c1 : i32 {
      %r = nv_tileas.reduce %y {axis = 1 : i32} : !own_rows -> !own_row {
      ^bb0(%u: f32, %v: f32):
        %w = nv_tileaa.addf %u, %v : f32
        nv_tileas.yield %w : f32
      }
      %d = nv_tileas.dot %a, %b, %x {atom = #nv_tileas.atom<mma_sync>} : !a, !b, !c
    }
    nv_tileaa.return
  }
  nv_tileaa.func @large(%a: !a, %b: !b, %x: !c, %y: !more, %n: i32) attributes {kernel_spec = #nv_tileaa.kernel_spec<num_warps = 2>} {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    scf.for %i = %c0 to %n step %c1 : i32 {
      %r = nv_tileas.reduce %y {axis = 1 : i32} : !more -> !r {
      ^bb0(%u: f32, %v: f32):
        %w = nv_tileaa.addf %u, %v : f32
        nv_tileas.yield %w : f32
      }
      %d = nv_tileas.dot %a, %b, %x {atom = #nv_tileas.atom<mma_sync>} : !a, !b, !c
    }
    nv_tileaa.return
  }
  // Threads themselves compute one of the dots.
  // CHECK-LABEL: @other_dots
  // CHECK: scf.for
  // CHECK-NEXT: nv_tileas.reduce
  // CHECK: nv_tileas.dot
  nv_tileaa.func @other_dots(%a: !a, %b: !b, %x: !c, %p: !c, %q: !c, %n: i32) attributes {kernel_spec = #nv_tileaa.kernel_spec<num_warps = 2>} {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    scf.for %i = %c0 to %n step %c1 : i32 {
      %r = nv_tileas.reduce %x {axis = 1 : i32} : !c -> !r {
      ^bb0(%u: f32, %v: f32):
        %w = nv_tileaa.addf %u, %v : f32
        nv_tileas.yield %w : f32
      }
      %d0 = nv_tileas.dot %p, %q, %x {atom = #nv_tileas.atom<fma>} : !c, !c, !c
      %d1 = nv_tileas.dot %a, %b, %x {atom = #nv_tileas.atom<mma_sync>} : !a, !b, !c
    }
    nv_tileaa.return
  }
  // No iteration follows that would be the first to read the result.
  // CHECK-LABEL: @no_loop
  // CHECK-NEXT: nv_tileas.reduce
  // CHECK: nv_tileas.dot
  nv_tileaa.func @no_loop(%a: !a, %b: !b, %x: !c) attributes {kernel_spec = #nv_tileaa.kernel_spec<num_warps = 2>} {
    %r = nv_tileas.reduce %x {axis = 1 : i32} : !c -> !r {
    ^bb0(%u: f32, %v: f32):
      %w = nv_tileaa.addf %u, %v : f32
      nv_tileas.yield %w : f32
    }
    %d = nv_tileas.dot %a, %b, %x {atom = #nv_tileas.atom<mma_sync>} : !a, !b, !c
    nv_tileaa.return
  }
}
