// A dot whose result is added to an accumulator is computed slice by slice where registers do not suffice for both.
// RUN: tilewright opt --pass slice-dots %s | filecheck %s
// 128 registers of a thread; the last one of them counts rows.
#c = #nv_tileas.layout<[256, 128], register = [[0, 1], [8, 0], [0, 8], [0, 16], [0, 32], [0, 64], [128, 0]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0], [64, 0]]>
#a = #nv_tileas.layout<[256, 64], offset = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [0, 32], [1, 8], [2, 16], [4, 32], [8, 0], [16, 0], [32, 0], [64, 0], [128, 0]]>
#b = #nv_tileas.layout<[64, 128], offset = [[1, 0], [2, 0], [4, 0], [8, 0], [16, 0], [32, 0], [8, 1], [16, 2], [32, 4], [0, 8], [0, 16], [0, 32], [0, 64]]>
// The same for columns, in one warpgroup; B in memory is N by K.
#wide = #nv_tileas.layout<[64, 256], register = [[0, 1], [8, 0], [0, 8], [0, 16], [0, 32], [0, 64], [0, 128]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0]]>
#wide_a = #nv_tileas.layout<[64, 64], offset = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [0, 32], [1, 8], [2, 16], [4, 32], [8, 0], [16, 0], [32, 0]]>
#wide_b = #nv_tileas.layout<[64, 256], offset = [[1, 0], [2, 0], [4, 0], [8, 0], [16, 0], [32, 0], [8, 1], [16, 2], [32, 4], [0, 8], [0, 16], [0, 32], [0, 64], [0, 128]]>
#wide_rows = #nv_tileas.layout<[256, 64], offset = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [0, 32], [1, 8], [2, 16], [4, 32], [8, 0], [16, 0], [32, 0], [64, 0], [128, 0]]>
// 64 registers: both tiles fit.
#small = #nv_tileas.layout<[128, 128], register = [[0, 1], [8, 0], [0, 8], [0, 16], [0, 32], [0, 64]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0], [64, 0]]>
#small_a = #nv_tileas.layout<[128, 64], offset = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [0, 32], [1, 8], [2, 16], [4, 32], [8, 0], [16, 0], [32, 0], [64, 0]]>
!a = tensor<256x64xf16, #a>
!b = tensor<64x128xf16, #b>
!c = tensor<256x128xf32, #c>
!p = !nv_tileas.pipeline<2, [tensor<256x64xf16, #a>, tensor<64x128xf16, #b>]>
!once = !nv_tileas.pipeline<1, [tensor<256x64xf16, #a>, tensor<64x128xf16, #b>]>
!i = !nv_tileas.pipeline_iterator<2>
// 32 and 64 registers.
#narrow = #nv_tileas.layout<[64, 64], register = [[0, 1], [8, 0], [0, 8], [0, 16], [0, 32]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0]]>
#half = #nv_tileas.layout<[64, 128], register = [[0, 1], [8, 0], [0, 8], [0, 16], [0, 32], [0, 64]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0]]>
!narrow = tensor<64x64xf32, #narrow>
!half = tensor<64x128xf32, #half>
!tiles = !nv_tileaa.tiled_view<tile = [256, 128], source = !nv_tileaa.memref<256x128xf32, strides = [128, 1]>>
!i_once = !nv_tileas.pipeline_iterator<1>
!wide = tensor<64x256xf32, #wide>
!wide_a = tensor<64x64xf16, #wide_a>
!wide_b = tensor<64x256xf16, #wide_b>
!wide_rows = tensor<256x64xf16, #wide_rows>
!wide_p = !nv_tileas.pipeline<2, [tensor<64x64xf16, #wide_a>, tensor<256x64xf16, #wide_rows>]>
!small = tensor<128x128xf32, #small>
!small_a = tensor<128x64xf16, #small_a>
!small_p = !nv_tileas.pipeline<2, [tensor<128x64xf16, #small_a>, tensor<64x128xf16, #b>]>
gpu.module @kernels attributes {nv_tileaa.target_spec = #nv_tileaa.target_spec<compute_capability = 90>} {
  // Two slices of rows: the second is computed in the registers of the first, once that is added. Each reads its rows of A; all of B.
  // CHECK-LABEL: @rows
  // CHECK: scf.for {{.*}} iter_args(%[[SUM:.*]] = %{{.*}})
  // CHECK-NEXT: consumer_wait
  // CHECK-NEXT: %[[B:.*]] = {{.*}}consumer_read {{.*}}{number = 1 : i32}
  // CHECK-NEXT: %[[ZERO:.*]] = nv_tileas.splat %{{.*}} : f32 -> tensor<128x128xf32,
  // CHECK-NEXT: %[[A0:.*]] = {{.*}}consumer_read {{.*}}{at = array<i64: 0, 0>, number = 0 : i32} {{.*}} -> tensor<128x64xf16,
  // CHECK-NEXT: %[[D0:.*]] = nv_tileas.dot %[[A0]], %[[B]], %[[ZERO]] {atom = #nv_tileas.atom<wgmma>, overwrites}
  // CHECK-NEXT: arith.constant
  // CHECK-NEXT: arith.constant
  // CHECK-NEXT: %[[F0:.*]] = nv_tileas.extract_slice %[[SUM]][%c0_i32{{[_0-9]*}}, %c0_i32{{[_0-9]*}}]
  // CHECK-NEXT: %[[M0:.*]] = nv_tileaa.mulf %[[D0]], %[[F0]]
  // CHECK-NEXT: arith.constant
  // CHECK-NEXT: arith.constant
  // CHECK-NEXT: %[[S0:.*]] = nv_tileas.extract_slice %[[SUM]][%c0_i32{{[_0-9]*}}, %c0_i32{{[_0-9]*}}]
  // CHECK-NEXT: %[[N0:.*]] = nv_tileaa.addf %[[M0]], %[[S0]]
  // CHECK-NEXT: %[[A1:.*]] = {{.*}}consumer_read {{.*}}{at = array<i64: 128, 0>, number = 0 : i32} {{.*}} -> tensor<128x64xf16,
  // CHECK-NEXT: %[[D1:.*]] = nv_tileas.dot %[[A1]], %[[B]], %[[D0]] {atom = #nv_tileas.atom<wgmma>, overwrites}
  // CHECK-NEXT: arith.constant
  // CHECK-NEXT: arith.constant
  // CHECK-NEXT: %[[F1:.*]] = nv_tileas.extract_slice %[[SUM]][%c1_i32{{[_0-9]*}}, %c0_i32{{[_0-9]*}}]
  // CHECK-NEXT: %[[M1:.*]] = nv_tileaa.mulf %[[D1]], %[[F1]]
  // CHECK-NEXT: arith.constant
  // CHECK-NEXT: arith.constant
  // CHECK-NEXT: %[[S1:.*]] = nv_tileas.extract_slice %[[SUM]][%c1_i32{{[_0-9]*}}, %c0_i32{{[_0-9]*}}]
  // CHECK-NEXT: %[[N1:.*]] = nv_tileaa.addf %[[M1]], %[[S1]]
  // CHECK-NEXT: %[[N:.*]] = nv_tileas.cat %[[N0]], %[[N1]] axis = 0
  // CHECK-NEXT: consumer_release
  // CHECK-NEXT: scf.yield %[[N]]
  nv_tileaa.func @rows(%init: !c, %n: i32) attributes {kernel_spec = #nv_tileaa.kernel_spec<num_warps = 8>} {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %none = arith.constant 0.0 : f32
    %zero = nv_tileas.splat %none : f32 -> !c
    %p = nv_tileas.async.pipeline.create_pipeline : !p
    %i = nv_tileas.async.pipeline.create_iterator %p : !p -> !i
    %all = scf.for %k = %c0 to %n step %c1 iter_args(%sum = %init) -> (!c) : i32 {
      %t = nv_tileas.async.pipeline.consumer_wait %p[%i] {pending = 0 : i32} : !p, !i
      %a = nv_tileas.async.pipeline.consumer_read %p, %t {number = 0 : i32} : !p -> !a
      %b = nv_tileas.async.pipeline.consumer_read %p, %t {number = 1 : i32} : !p -> !b
      %d = nv_tileas.dot %a, %b, %zero {atom = #nv_tileas.atom<wgmma>} : !a, !b, !c
      %m = nv_tileaa.mulf %d, %sum : !c
      %next = nv_tileaa.addf %m, %sum : !c
      nv_tileas.async.pipeline.consumer_release %p, %t : !p
      scf.yield %next : !c
    }
    nv_tileaa.return
  }
  // Slices of columns read B through the change of its shape. An initial constant is zero, too.
  // CHECK-LABEL: @columns
  // CHECK: %[[ZERO:.*]] = arith.constant dense<0.000000e+00> : tensor<64x128xf32,
  // CHECK-NEXT: %[[R0:.*]] = {{.*}}consumer_read {{.*}}{at = array<i64: 0, 0>, number = 1 : i32} {{.*}} -> tensor<128x64xf16,
  // CHECK-NEXT: %[[B0:.*]] = nv_tileas.permute %[[R0]] {{.*}} -> tensor<64x128xf16,
  // CHECK-NEXT: %[[D0:.*]] = nv_tileas.dot %[[A:.*]], %[[B0]], %[[ZERO]] {atom = #nv_tileas.atom<wgmma>, overwrites}
  // CHECK: %[[R1:.*]] = {{.*}}consumer_read {{.*}}{at = array<i64: 128, 0>, number = 1 : i32} {{.*}} -> tensor<128x64xf16,
  // CHECK-NEXT: %[[B1:.*]] = nv_tileas.permute %[[R1]]
  // CHECK-NEXT: nv_tileas.dot %[[A]], %[[B1]], %[[D0]] {atom = #nv_tileas.atom<wgmma>, overwrites}
  // CHECK: nv_tileas.cat {{.*}} axis = 1
  nv_tileaa.func @columns(%init: !wide, %n: i32) attributes {kernel_spec = #nv_tileaa.kernel_spec<num_warps = 4>} {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %zero = arith.constant dense<0.0> : !wide
    %p = nv_tileas.async.pipeline.create_pipeline : !wide_p
    %i = nv_tileas.async.pipeline.create_iterator %p : !wide_p -> !i
    %all = scf.for %k = %c0 to %n step %c1 iter_args(%sum = %init) -> (!wide) : i32 {
      %t = nv_tileas.async.pipeline.consumer_wait %p[%i] {pending = 0 : i32} : !wide_p, !i
      %a = nv_tileas.async.pipeline.consumer_read %p, %t {number = 0 : i32} : !wide_p -> !wide_a
      %r = nv_tileas.async.pipeline.consumer_read %p, %t {number = 1 : i32} : !wide_p -> !wide_rows
      %b = nv_tileas.permute %r [1, 0] : !wide_rows -> !wide_b
      %d = nv_tileas.dot %a, %b, %zero {atom = #nv_tileas.atom<wgmma>} : !wide_a, !wide_b, !wide
      %next = nv_tileaa.addf %d, %sum : !wide
      nv_tileas.async.pipeline.consumer_release %p, %t : !wide_p
      scf.yield %next : !wide
    }
    nv_tileaa.return
  }
  // The loop carries another tile: it takes four slices for the registers to suffice. With a larger one it would take eight, and the dot
  // stays whole.
  // CHECK-LABEL: @four_slices
  // CHECK-COUNT-4: nv_tileas.dot {{.*}}overwrites} : {{.*}} tensor<64x64xf32,
  // CHECK: nv_tileas.cat {{.*}} -> tensor<64x128xf32,
  // CHECK-NEXT: nv_tileas.cat {{.*}} -> tensor<64x128xf32,
  // CHECK-NEXT: nv_tileas.cat {{.*}} -> tensor<64x256xf32,
  // CHECK-NEXT: consumer_release
  // CHECK-LABEL: @eight_slices
  // CHECK: nv_tileas.dot {{.*}} tensor<64x256xf32,
  // CHECK-NOT: overwrites
  // CHECK-LABEL: @small
  nv_tileaa.func @four_slices(%init: !wide, %kept: !narrow, %n: i32) attributes {kernel_spec = #nv_tileaa.kernel_spec<num_warps = 4>} {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %zero = arith.constant dense<0.0> : !wide
    %p = nv_tileas.async.pipeline.create_pipeline : !wide_p
    %i = nv_tileas.async.pipeline.create_iterator %p : !wide_p -> !i
    %all:2 = scf.for %k = %c0 to %n step %c1 iter_args(%sum = %init, %other = %kept) -> (!wide, !narrow) : i32 {
      %t = nv_tileas.async.pipeline.consumer_wait %p[%i] {pending = 0 : i32} : !wide_p, !i
      %a = nv_tileas.async.pipeline.consumer_read %p, %t {number = 0 : i32} : !wide_p -> !wide_a
      %r = nv_tileas.async.pipeline.consumer_read %p, %t {number = 1 : i32} : !wide_p -> !wide_rows
      %b = nv_tileas.permute %r [1, 0] : !wide_rows -> !wide_b
      %d = nv_tileas.dot %a, %b, %zero {atom = #nv_tileas.atom<wgmma>} : !wide_a, !wide_b, !wide
      %next = nv_tileaa.addf %d, %sum : !wide
      nv_tileas.async.pipeline.consumer_release %p, %t : !wide_p
      scf.yield %next, %other : !wide, !narrow
    }
    nv_tileaa.return
  }
  nv_tileaa.func @eight_slices(%init: !wide, %kept: !half, %n: i32) attributes {kernel_spec = #nv_tileaa.kernel_spec<num_warps = 4>} {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %zero = arith.constant dense<0.0> : !wide
    %p = nv_tileas.async.pipeline.create_pipeline : !wide_p
    %i = nv_tileas.async.pipeline.create_iterator %p : !wide_p -> !i
    %all:2 = scf.for %k = %c0 to %n step %c1 iter_args(%sum = %init, %other = %kept) -> (!wide, !half) : i32 {
      %t = nv_tileas.async.pipeline.consumer_wait %p[%i] {pending = 0 : i32} : !wide_p, !i
      %a = nv_tileas.async.pipeline.consumer_read %p, %t {number = 0 : i32} : !wide_p -> !wide_a
      %r = nv_tileas.async.pipeline.consumer_read %p, %t {number = 1 : i32} : !wide_p -> !wide_rows
      %b = nv_tileas.permute %r [1, 0] : !wide_rows -> !wide_b
      %d = nv_tileas.dot %a, %b, %zero {atom = #nv_tileas.atom<wgmma>} : !wide_a, !wide_b, !wide
      %next = nv_tileaa.addf %d, %sum : !wide
      nv_tileas.async.pipeline.consumer_release %p, %t : !wide_p
      scf.yield %next, %other : !wide, !half
    }
    nv_tileaa.return
  }
  // Registers suffice for both tiles; with two blocks on an SM they do not, nor in four slices.
  // CHECK: nv_tileas.dot {{.*}} : tensor<128x64xf16,
  // CHECK-NOT: overwrites
  // CHECK-LABEL: @two_blocks
  // CHECK: nv_tileas.dot {{.*}} : tensor<256x64xf16,
  // CHECK-NOT: overwrites
  // CHECK-LABEL: @own_accumulator
  nv_tileaa.func @small(%init: !small, %n: i32) attributes {kernel_spec = #nv_tileaa.kernel_spec<num_warps = 8>} {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %none = arith.constant 0.0 : f32
    %zero = nv_tileas.splat %none : f32 -> !small
    %p = nv_tileas.async.pipeline.create_pipeline : !small_p
    %i = nv_tileas.async.pipeline.create_iterator %p : !small_p -> !i
    %all = scf.for %k = %c0 to %n step %c1 iter_args(%sum = %init) -> (!small) : i32 {
      %t = nv_tileas.async.pipeline.consumer_wait %p[%i] {pending = 0 : i32} : !small_p, !i
      %a = nv_tileas.async.pipeline.consumer_read %p, %t {number = 0 : i32} : !small_p -> !small_a
      %b = nv_tileas.async.pipeline.consumer_read %p, %t {number = 1 : i32} : !small_p -> !b
      %d = nv_tileas.dot %a, %b, %zero {atom = #nv_tileas.atom<wgmma>} : !small_a, !b, !small
      %next = nv_tileaa.addf %d, %sum : !small
      nv_tileas.async.pipeline.consumer_release %p, %t : !small_p
      scf.yield %next : !small
    }
    nv_tileaa.return
  }
  nv_tileaa.func @two_blocks(%init: !c, %n: i32) attributes {kernel_spec = #nv_tileaa.kernel_spec<num_warps = 8, occupancy = 2>} {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %none = arith.constant 0.0 : f32
    %zero = nv_tileas.splat %none : f32 -> !c
    %p = nv_tileas.async.pipeline.create_pipeline : !p
    %i = nv_tileas.async.pipeline.create_iterator %p : !p -> !i
    %all = scf.for %k = %c0 to %n step %c1 iter_args(%sum = %init) -> (!c) : i32 {
      %t = nv_tileas.async.pipeline.consumer_wait %p[%i] {pending = 0 : i32} : !p, !i
      %a = nv_tileas.async.pipeline.consumer_read %p, %t {number = 0 : i32} : !p -> !a
      %b = nv_tileas.async.pipeline.consumer_read %p, %t {number = 1 : i32} : !p -> !b
      %d = nv_tileas.dot %a, %b, %zero {atom = #nv_tileas.atom<wgmma>} : !a, !b, !c
      %next = nv_tileaa.addf %d, %sum : !c
      nv_tileas.async.pipeline.consumer_release %p, %t : !p
      scf.yield %next : !c
    }
    nv_tileaa.return
  }
  // The dot has an accumulator of its own, which takes its result; or it is waited for later.
  // CHECK-NOT: overwrites
  // CHECK-LABEL: @asynchronous
  nv_tileaa.func @own_accumulator(%bias: !c, %init: !c, %n: i32) attributes {kernel_spec = #nv_tileaa.kernel_spec<num_warps = 8>} {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %none = arith.constant 0.0 : f32
    %zero = nv_tileas.splat %none : f32 -> !c
    %p = nv_tileas.async.pipeline.create_pipeline : !p
    %i = nv_tileas.async.pipeline.create_iterator %p : !p -> !i
    %all = scf.for %k = %c0 to %n step %c1 iter_args(%sum = %init) -> (!c) : i32 {
      %t = nv_tileas.async.pipeline.consumer_wait %p[%i] {pending = 0 : i32} : !p, !i
      %a = nv_tileas.async.pipeline.consumer_read %p, %t {number = 0 : i32} : !p -> !a
      %b = nv_tileas.async.pipeline.consumer_read %p, %t {number = 1 : i32} : !p -> !b
      %d = nv_tileas.dot %a, %b, %bias {atom = #nv_tileas.atom<wgmma>} : !a, !b, !c
      %next = nv_tileaa.addf %d, %sum : !c
      nv_tileas.async.pipeline.consumer_release %p, %t : !p
      scf.yield %next : !c
    }
    nv_tileaa.return
  }
  // CHECK-NOT: overwrites
  // CHECK-LABEL: @used_twice
  nv_tileaa.func @asynchronous(%init: !c, %n: i32) attributes {kernel_spec = #nv_tileaa.kernel_spec<num_warps = 8>} {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %none = arith.constant 0.0 : f32
    %zero = nv_tileas.splat %none : f32 -> !c
    %p = nv_tileas.async.pipeline.create_pipeline : !p
    %i = nv_tileas.async.pipeline.create_iterator %p : !p -> !i
    %all = scf.for %k = %c0 to %n step %c1 iter_args(%sum = %init) -> (!c) : i32 {
      %t = nv_tileas.async.pipeline.consumer_wait %p[%i] {pending = 0 : i32} : !p, !i
      %a = nv_tileas.async.pipeline.consumer_read %p, %t {number = 0 : i32} : !p -> !a
      %b = nv_tileas.async.pipeline.consumer_read %p, %t {number = 1 : i32} : !p -> !b
      %f = nv_tileas.dot %a, %b, %zero {asynchronous, atom = #nv_tileas.atom<wgmma>} : !a, !b, !c
      %d = nv_tileas.dot_wait %f : !c
      %next = nv_tileaa.addf %d, %sum : !c
      nv_tileas.async.pipeline.consumer_release %p, %t : !p
      scf.yield %next : !c
    }
    nv_tileaa.return
  }
  // The whole dot is used after the sum, by an operation that is not element-wise; or one of its users has no tile that the loop carries.
  // CHECK-NOT: overwrites
  // CHECK-LABEL: @without_carried
  nv_tileaa.func @used_twice(%init: !c, %out: !tiles, %n: i32) attributes {kernel_spec = #nv_tileaa.kernel_spec<num_warps = 8>} {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %none = arith.constant 0.0 : f32
    %zero = nv_tileas.splat %none : f32 -> !c
    %p = nv_tileas.async.pipeline.create_pipeline : !p
    %i = nv_tileas.async.pipeline.create_iterator %p : !p -> !i
    %all = scf.for %k = %c0 to %n step %c1 iter_args(%sum = %init) -> (!c) : i32 {
      %t = nv_tileas.async.pipeline.consumer_wait %p[%i] {pending = 0 : i32} : !p, !i
      %a = nv_tileas.async.pipeline.consumer_read %p, %t {number = 0 : i32} : !p -> !a
      %b = nv_tileas.async.pipeline.consumer_read %p, %t {number = 1 : i32} : !p -> !b
      %d = nv_tileas.dot %a, %b, %zero {atom = #nv_tileas.atom<wgmma>} : !a, !b, !c
      %next = nv_tileaa.addf %d, %sum : !c
      %s = nv_tileas.tiled_store weak %d, %out[%c0, %c0] : !c, i32, i32 of !tiles
      nv_tileas.async.pipeline.consumer_release %p, %t : !p
      scf.yield %next : !c
    }
    nv_tileaa.return
  }
  // CHECK-NOT: overwrites
  // CHECK-LABEL: @unrolled
  nv_tileaa.func @without_carried(%init: !c, %n: i32) attributes {kernel_spec = #nv_tileaa.kernel_spec<num_warps = 8>} {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %none = arith.constant 0.0 : f32
    %zero = nv_tileas.splat %none : f32 -> !c
    %p = nv_tileas.async.pipeline.create_pipeline : !p
    %i = nv_tileas.async.pipeline.create_iterator %p : !p -> !i
    %all = scf.for %k = %c0 to %n step %c1 iter_args(%sum = %init) -> (!c) : i32 {
      %t = nv_tileas.async.pipeline.consumer_wait %p[%i] {pending = 0 : i32} : !p, !i
      %a = nv_tileas.async.pipeline.consumer_read %p, %t {number = 0 : i32} : !p -> !a
      %b = nv_tileas.async.pipeline.consumer_read %p, %t {number = 1 : i32} : !p -> !b
      %d = nv_tileas.dot %a, %b, %zero {atom = #nv_tileas.atom<wgmma>} : !a, !b, !c
      %m = nv_tileaa.negf %d : !c
      %next = nv_tileaa.addf %m, %sum : !c
      nv_tileas.async.pipeline.consumer_release %p, %t : !p
      scf.yield %next : !c
    }
    nv_tileaa.return
  }
  // A loop of a known number of iterations may be unrolled completely, so that no tile is carried.
  // CHECK-NOT: overwrites
  // CHECK-LABEL: @released
  nv_tileaa.func @unrolled(%init: !c, %n: i32) attributes {kernel_spec = #nv_tileaa.kernel_spec<num_warps = 8>} {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c3 = arith.constant 3 : i32
    %none = arith.constant 0.0 : f32
    %zero = nv_tileas.splat %none : f32 -> !c
    %p = nv_tileas.async.pipeline.create_pipeline : !p
    %i = nv_tileas.async.pipeline.create_iterator %p : !p -> !i
    %all = scf.for %k = %c0 to %c3 step %c1 iter_args(%sum = %init) -> (!c) : i32 {
      %t = nv_tileas.async.pipeline.consumer_wait %p[%i] {pending = 0 : i32} : !p, !i
      %a = nv_tileas.async.pipeline.consumer_read %p, %t {number = 0 : i32} : !p -> !a
      %b = nv_tileas.async.pipeline.consumer_read %p, %t {number = 1 : i32} : !p -> !b
      %d = nv_tileas.dot %a, %b, %zero {atom = #nv_tileas.atom<wgmma>} : !a, !b, !c
      %next = nv_tileaa.addf %d, %sum : !c
      nv_tileas.async.pipeline.consumer_release %p, %t : !p
      scf.yield %next : !c
    }
    nv_tileaa.return
  }
  // The stage is released before the last slice is computed; or it is the only one, and copied to again.
  // CHECK-NOT: overwrites
  // CHECK-LABEL: @copied_to
  nv_tileaa.func @released(%init: !c, %n: i32) attributes {kernel_spec = #nv_tileaa.kernel_spec<num_warps = 8>} {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %none = arith.constant 0.0 : f32
    %zero = nv_tileas.splat %none : f32 -> !c
    %p = nv_tileas.async.pipeline.create_pipeline : !p
    %i = nv_tileas.async.pipeline.create_iterator %p : !p -> !i
    %all = scf.for %k = %c0 to %n step %c1 iter_args(%sum = %init) -> (!c) : i32 {
      %t = nv_tileas.async.pipeline.consumer_wait %p[%i] {pending = 0 : i32} : !p, !i
      %a = nv_tileas.async.pipeline.consumer_read %p, %t {number = 0 : i32} : !p -> !a
      %b = nv_tileas.async.pipeline.consumer_read %p, %t {number = 1 : i32} : !p -> !b
      %d = nv_tileas.dot %a, %b, %zero {atom = #nv_tileas.atom<wgmma>} : !a, !b, !c
      nv_tileas.async.pipeline.consumer_release %p, %t : !p
      %next = nv_tileaa.addf %d, %sum : !c
      scf.yield %next : !c
    }
    nv_tileaa.return
  }
  // CHECK-NOT: overwrites
  // CHECK-LABEL: @a_part
  nv_tileaa.func @copied_to(%init: !c, %n: i32) attributes {kernel_spec = #nv_tileaa.kernel_spec<num_warps = 8>} {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %none = arith.constant 0.0 : f32
    %zero = nv_tileas.splat %none : f32 -> !c
    %p = nv_tileas.async.pipeline.create_pipeline : !once
    %i = nv_tileas.async.pipeline.create_iterator %p : !once -> !i_once
    %all = scf.for %k = %c0 to %n step %c1 iter_args(%sum = %init) -> (!c) : i32 {
      %t = nv_tileas.async.pipeline.consumer_wait %p[%i] {pending = 0 : i32} : !once, !i_once
      %a = nv_tileas.async.pipeline.consumer_read %p, %t {number = 0 : i32} : !once -> !a
      %b = nv_tileas.async.pipeline.consumer_read %p, %t {number = 1 : i32} : !once -> !b
      %d = nv_tileas.dot %a, %b, %zero {atom = #nv_tileas.atom<wgmma>} : !a, !b, !c
      %u = nv_tileas.async.pipeline.producer_acquire %p[%i] : !once, !i_once
      %next = nv_tileaa.addf %d, %sum : !c
      nv_tileas.async.pipeline.consumer_release %p, %t : !once
      scf.yield %next : !c
    }
    nv_tileaa.return
  }
  // A is not in a stage of this iteration.
  // CHECK-NOT: overwrites
  nv_tileaa.func @a_part(%x: !a, %init: !c, %n: i32) attributes {kernel_spec = #nv_tileaa.kernel_spec<num_warps = 8>} {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %none = arith.constant 0.0 : f32
    %zero = nv_tileas.splat %none : f32 -> !c
    %p = nv_tileas.async.pipeline.create_pipeline : !p
    %i = nv_tileas.async.pipeline.create_iterator %p : !p -> !i
    %all = scf.for %k = %c0 to %n step %c1 iter_args(%sum = %init) -> (!c) : i32 {
      %t = nv_tileas.async.pipeline.consumer_wait %p[%i] {pending = 0 : i32} : !p, !i
      %b = nv_tileas.async.pipeline.consumer_read %p, %t {number = 1 : i32} : !p -> !b
      %d = nv_tileas.dot %x, %b, %zero {atom = #nv_tileas.atom<wgmma>} : !a, !b, !c
      %next = nv_tileaa.addf %d, %sum : !c
      nv_tileas.async.pipeline.consumer_release %p, %t : !p
      scf.yield %next : !c
    }
    nv_tileaa.return
  }
}
