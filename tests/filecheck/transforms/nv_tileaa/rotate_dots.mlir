// A dot that depends on another one of its iteration runs in the next iteration.
// RUN: tilewright opt --pass 'record-requests{rotate=1},rotate-dots,pipeline-loops' %s | filecheck %s
// RUN: tilewright opt --pass 'record-requests{rotate=0},rotate-dots,pipeline-loops' %s | filecheck %s --check-prefix=NEVER
!tiles = !nv_tileaa.tiled_view<tile = [16, 16], source = !nv_tileaa.memref<?x16xf16, strides = [16, 1]>, padding = zero>
!ptrs = tensor<16x16x!nv_tileaa.ptr<f16>>
!half = tensor<16x16xf16>
!tile = tensor<16x16xf32>
!row = tensor<16xf32>
// NEVER-NOT: scf.if
gpu.module @kernels attributes {nv_tileaa.target_spec = #nv_tileaa.target_spec<compute_capability = 90>} {
  // Under the condition that there is an iteration: the first dot of iteration 0 and what is computed from it; a loop that carries P
  // and the scaled accumulator; and the second dot of the last iteration. V is loaded where it is multiplied, and what needs the
  // second dot is computed last.
  // CHECK-LABEL: @attention
  // CHECK: %[[EXISTS:.*]] = nv_tileaa.cmpi slt, %[[C0:.*]], %arg5
  // CHECK-NEXT: %[[ALL:.*]]:2 = scf.if %[[EXISTS]]
  // CHECK-NEXT: %[[K0:.*]]:2 = nv_tileaa.tiled_load weak %arg1[%[[C0]], %[[C0]]]
  // CHECK-NEXT: nv_tileaa.dot %arg0, %[[K0]]#0
  // CHECK: %[[M0:.*]] = nv_tileaa.maxf %arg3, %{{.*}} : tensor<16xf32>
  // CHECK-NOT: tiled_load
  // CHECK: %[[E0:.*]] = nv_tileaa.exp %
  // CHECK-NEXT: %[[P0:.*]] = nv_tileaa.fp_to_fp %[[E0]]
  // CHECK-NEXT: %[[ACC0:.*]] = nv_tileaa.mulf %arg4
  // CHECK-NEXT: %[[START:.*]] = nv_tileaa.addi %[[C0]], %[[C1:.*]] : i32
  // CHECK: %[[END:.*]] = nv_tileaa.subi %arg5, %{{.*}} : i32
  // CHECK-NEXT: %[[LOOP:.*]]:3 = scf.for %[[I:.*]] = %[[START]] to %arg5 step %[[C1]] iter_args(%[[M:.*]] = %[[M0]], %[[P:.*]] = %[[P0]], %[[ACC:.*]] = %[[ACC0]])
  // CHECK-NEXT: %[[K:.*]]:2 = nv_tileaa.tiled_load weak %arg1[%[[I]], %[[C0]]]
  // CHECK-NEXT: %[[S:.*]] = nv_tileaa.dot %arg0, %[[K]]#0
  // CHECK-NEXT: %[[BEFORE:.*]] = nv_tileaa.subi %[[I]], %[[C1]]
  // CHECK-NEXT: %[[V:.*]]:2 = nv_tileaa.tiled_load weak %arg2[%[[BEFORE]], %[[C0]]]
  // CHECK-NEXT: %[[O:.*]] = nv_tileaa.dot %[[P]], %[[V]]#0, %[[ACC]]
  // CHECK-NEXT: nv_tileaa.reduce %[[S]]
  // CHECK: %[[NEXTM:.*]] = nv_tileaa.maxf %[[M]], %{{.*}} : tensor<16xf32>
  // CHECK: %[[E:.*]] = nv_tileaa.exp %
  // CHECK-NEXT: %[[NEXTP:.*]] = nv_tileaa.fp_to_fp %[[E]]
  // CHECK-NEXT: %[[NEXTACC:.*]] = nv_tileaa.mulf %[[O]]
  // CHECK-NEXT: scf.yield %[[NEXTM]], %[[NEXTP]], %[[NEXTACC]] :
  // CHECK-NEXT: }
  // CHECK-NEXT: %[[LASTV:.*]]:2 = nv_tileaa.tiled_load weak %arg2[%[[END]], %[[C0]]]
  // CHECK-NEXT: %[[LAST:.*]] = nv_tileaa.dot %[[LOOP]]#1, %[[LASTV]]#0, %[[LOOP]]#2
  // CHECK-NEXT: scf.yield %[[LOOP]]#0, %[[LAST]]
  // CHECK-NEXT: } else {
  // CHECK-NEXT: scf.yield %arg3, %arg4
  // CHECK-NEXT: }
  nv_tileaa.func @attention(%q: !half, %k: !tiles, %v: !tiles, %m0: !row, %init: !tile, %n: i32) attributes {kernel_spec = #nv_tileaa.kernel_spec<num_warps = 4>} {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %zero = arith.constant dense<0.0> : !tile
    %top, %sum = scf.for %i = %c0 to %n step %c1 iter_args(%m = %m0, %acc = %init) -> (!row, !tile) : i32 {
      %key, %t0 = nv_tileaa.tiled_load weak %k[%i, %c0] : i32, i32 of !tiles -> !half
      %s = nv_tileaa.dot %q, %key, %zero {input_precision = "tf32"} : !half, !half, !tile
      %here = nv_tileaa.reduce %s {axis = 1 : i32, identities = [0xFF800000 : f32]} : !tile -> !row {
      ^bb0(%a: f32, %b: f32):
        %r = nv_tileaa.maxf %a, %b : f32
        nv_tileaa.yield %r : f32
      }
      %larger = nv_tileaa.maxf %m, %here : !row
      %column = nv_tileaa.expand_dims %larger {axis = 1 : i64} : !row -> tensor<16x1xf32>
      %tops = nv_tileaa.broadcast %column : tensor<16x1xf32> -> !tile
      %below = nv_tileaa.subf %s, %tops : !tile
      %e = nv_tileaa.exp %below : !tile
      %shrunk = nv_tileaa.mulf %acc, %tops : !tile
      %p = nv_tileaa.fp_to_fp %e : !tile to !half
      %value, %t1 = nv_tileaa.tiled_load weak %v[%i, %c0] : i32, i32 of !tiles -> !half
      %o = nv_tileaa.dot %p, %value, %shrunk {input_precision = "tf32"} : !half, !half, !tile
      scf.yield %larger, %o : !row, !tile
    }
    nv_tileaa.return
  }
  // Other bounds and steps, and an unsigned comparison. The accumulator is carried as it is.
  // CHECK-LABEL: @step
  // CHECK: nv_tileaa.cmpi ult, %arg4, %arg5
  // CHECK: nv_tileaa.tiled_load weak %arg1[%arg4
  // CHECK: %[[P0:.*]] = nv_tileaa.fp_to_fp
  // CHECK-NEXT: %[[START:.*]] = nv_tileaa.addi %arg4, %arg6
  // CHECK: %[[MOST:.*]] = nv_tileaa.subi %arg5, %{{.*}} : i32
  // CHECK-NEXT: %[[SPAN:.*]] = nv_tileaa.subi %[[MOST]], %arg4
  // CHECK-NEXT: %[[STEPS:.*]] = nv_tileaa.divi %[[SPAN]], %arg6 unsigned
  // CHECK-NEXT: %[[COVERED:.*]] = nv_tileaa.muli %[[STEPS]], %arg6
  // CHECK-NEXT: %[[END:.*]] = nv_tileaa.addi %arg4, %[[COVERED]]
  // CHECK-NEXT: %[[LOOP:.*]]:2 = scf.for unsigned %[[I:.*]] = %[[START]] to %arg5 step %arg6 iter_args(%[[P:.*]] = %[[P0]], %[[ACC:.*]] = %arg3)
  // CHECK: %[[BEFORE:.*]] = nv_tileaa.subi %[[I]], %arg6
  // CHECK-NEXT: %[[V:.*]]:2 = nv_tileaa.tiled_load weak %arg2[%[[BEFORE]]
  // CHECK-NEXT: %[[O:.*]] = nv_tileaa.dot %[[P]], %[[V]]#0, %[[ACC]]
  // CHECK-NEXT: %[[NEXT:.*]] = nv_tileaa.fp_to_fp
  // CHECK-NEXT: scf.yield %[[NEXT]], %[[O]] :
  // CHECK: nv_tileaa.tiled_load weak %arg2[%[[END]]
  nv_tileaa.func @step(%q: !half, %k: !tiles, %v: !tiles, %init: !tile, %first: i32, %n: i32, %step: i32) attributes {kernel_spec = #nv_tileaa.kernel_spec<num_warps = 4>} {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %zero = arith.constant dense<0.0> : !tile
    %sum = scf.for unsigned %i = %first to %n step %step iter_args(%acc = %init) -> (!tile) : i32 {
      %key, %t0 = nv_tileaa.tiled_load weak %k[%i, %c0] : i32, i32 of !tiles -> !half
      %s = nv_tileaa.dot %q, %key, %zero {input_precision = "tf32"} : !half, !half, !tile
      %p = nv_tileaa.fp_to_fp %s : !tile to !half
      %value, %t1 = nv_tileaa.tiled_load weak %v[%i, %c0] : i32, i32 of !tiles -> !half
      %o = nv_tileaa.dot %p, %value, %acc {input_precision = "tf32"} : !half, !half, !tile
      scf.yield %o : !tile
    }
    nv_tileaa.return
  }
  // A dot from zero that is added to the accumulator: the addition follows what runs beside the dot.
  // CHECK-LABEL: @separate_accumulator
  // CHECK: scf.for %[[I:.*]] = %{{.*}} iter_args(%[[P:.*]] = %{{.*}}, %[[ACC:.*]] = %arg3)
  // CHECK: %[[S:.*]] = nv_tileaa.dot %arg0
  // CHECK: %[[O:.*]] = nv_tileaa.dot %[[P]], %{{.*}}, %[[ZERO:cst.*]] {
  // CHECK-NEXT: %[[NEXT:.*]] = nv_tileaa.fp_to_fp %[[S]]
  // CHECK-NEXT: %[[SUM:.*]] = nv_tileaa.addf %[[ACC]], %[[O]]
  // CHECK-NEXT: scf.yield %[[NEXT]], %[[SUM]]
  // CHECK: %[[LAST:.*]] = nv_tileaa.dot
  // CHECK-NEXT: nv_tileaa.addf %{{.*}}#1, %[[LAST]]
  nv_tileaa.func @separate_accumulator(%q: !half, %k: !tiles, %v: !tiles, %init: !tile, %n: i32) attributes {kernel_spec = #nv_tileaa.kernel_spec<num_warps = 4>} {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %zero = arith.constant dense<0.0> : !tile
    %sum = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %init) -> (!tile) : i32 {
      %key, %t0 = nv_tileaa.tiled_load weak %k[%i, %c0] : i32, i32 of !tiles -> !half
      %s = nv_tileaa.dot %q, %key, %zero {input_precision = "tf32"} : !half, !half, !tile
      %p = nv_tileaa.fp_to_fp %s : !tile to !half
      %value, %t1 = nv_tileaa.tiled_load weak %v[%i, %c0] : i32, i32 of !tiles -> !half
      %o = nv_tileaa.dot %p, %value, %zero {input_precision = "tf32"} : !half, !half, !tile
      %next = nv_tileaa.addf %acc, %o : !tile
      scf.yield %next : !tile
    }
    nv_tileaa.return
  }
  // All dots but the last one come first.
  // CHECK-LABEL: @several_first_dots
  // CHECK: scf.for %[[I:.*]] = %{{.*}} iter_args(%[[P:.*]] = %{{.*}}, %[[ACC:.*]] = %arg3
  // CHECK: %[[S:.*]] = nv_tileaa.dot %arg0
  // CHECK: %[[D:.*]] = nv_tileaa.dot %arg0
  // CHECK: nv_tileaa.dot %[[P]], %{{.*}}, %[[ACC]]
  // CHECK-NEXT: nv_tileaa.mulf %[[S]], %[[D]]
  nv_tileaa.func @several_first_dots(%q: !half, %k: !tiles, %v: !tiles, %init: !tile, %n: i32) attributes {kernel_spec = #nv_tileaa.kernel_spec<num_warps = 4>} {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %zero = arith.constant dense<0.0> : !tile
    %sum = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %init) -> (!tile) : i32 {
      %key, %t0 = nv_tileaa.tiled_load weak %k[%i, %c0] : i32, i32 of !tiles -> !half
      %s = nv_tileaa.dot %q, %key, %zero {input_precision = "tf32"} : !half, !half, !tile
      %other, %t2 = nv_tileaa.tiled_load weak %v[%i, %c1] : i32, i32 of !tiles -> !half
      %d = nv_tileaa.dot %q, %other, %zero {input_precision = "tf32"} : !half, !half, !tile
      %both = nv_tileaa.mulf %s, %d : !tile
      %p = nv_tileaa.fp_to_fp %both : !tile to !half
      %value, %t1 = nv_tileaa.tiled_load weak %v[%i, %c0] : i32, i32 of !tiles -> !half
      %o = nv_tileaa.dot %p, %value, %acc {input_precision = "tf32"} : !half, !half, !tile
      scf.yield %o : !tile
    }
    nv_tileaa.return
  }
  // Both loads need the address of the first one, which is computed again for the iteration before.
  // CHECK-LABEL: @shared_addresses
  // CHECK: scf.for %[[I:[a-z0-9]+]] =
  // CHECK-NEXT: %[[AT:.*]] = nv_tileaa.splat %[[I]]
  // CHECK-NEXT: nv_tileaa.addptr %arg1, %[[AT]]
  // CHECK: nv_tileaa.dot %arg0
  // CHECK-NEXT: %[[BEFORE:.*]] = nv_tileaa.subi %[[I]]
  // CHECK-NEXT: %[[AT1:.*]] = nv_tileaa.splat %[[BEFORE]]
  // CHECK-NEXT: %[[PTRS1:.*]] = nv_tileaa.addptr %arg1, %[[AT1]]
  // CHECK-NEXT: %[[NEXT:.*]] = nv_tileaa.addptr %[[PTRS1]], %[[AT1]]
  // CHECK-NEXT: %[[V:.*]]:2 = nv_tileaa.load weak %[[NEXT]]
  // CHECK-NEXT: nv_tileaa.dot %{{.*}}, %[[V]]#0
  nv_tileaa.func @shared_addresses(%q: !half, %x: !ptrs, %init: !tile, %n: i32) attributes {kernel_spec = #nv_tileaa.kernel_spec<num_warps = 4>} {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %zero = arith.constant dense<0.0> : !tile
    %sum = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %init) -> (!tile) : i32 {
      %at = nv_tileaa.splat %i : i32 -> tensor<16x16xi32>
      %ptrs = nv_tileaa.addptr %x, %at : !ptrs, tensor<16x16xi32>
      %key, %t0 = nv_tileaa.load weak %ptrs : !ptrs -> !half
      %s = nv_tileaa.dot %q, %key, %zero {input_precision = "tf32"} : !half, !half, !tile
      %p = nv_tileaa.fp_to_fp %s : !tile to !half
      %next = nv_tileaa.addptr %ptrs, %at : !ptrs, tensor<16x16xi32>
      %value, %t1 = nv_tileaa.load weak %next : !ptrs -> !half
      %o = nv_tileaa.dot %p, %value, %acc {input_precision = "tf32"} : !half, !half, !tile
      scf.yield %o : !tile
    }
    nv_tileaa.return
  }
  // What is computed from the second dot follows what runs beside it. A carried value may become another one: here, the accumulator before the last dot.
  // CHECK-LABEL: @after_the_last_dot
  // CHECK: %[[LOOP:.*]]:3 = scf.for %{{.*}} iter_args(%{{.*}} = %arg3, %[[P:.*]] = %{{.*}}, %[[ACC:.*]] = %arg3
  // CHECK: %[[O:.*]] = nv_tileaa.dot %[[P]], %{{.*}}, %[[ACC]]
  // CHECK-NEXT: %[[NEXT:.*]] = nv_tileaa.fp_to_fp
  // CHECK-NEXT: %[[Z:.*]] = nv_tileaa.negf %[[O]]
  // CHECK-NEXT: scf.yield %[[Z]], %[[NEXT]], %[[Z]] :
  // CHECK-NEXT: }
  // CHECK: %[[LAST:.*]] = nv_tileaa.dot %[[LOOP]]#1, %{{.*}}, %[[LOOP]]#2
  // CHECK-NEXT: %[[LASTZ:.*]] = nv_tileaa.negf %[[LAST]]
  // CHECK-NEXT: scf.yield %[[LASTZ]], %[[LOOP]]#0
  nv_tileaa.func @after_the_last_dot(%q: !half, %k: !tiles, %v: !tiles, %init: !tile, %n: i32) attributes {kernel_spec = #nv_tileaa.kernel_spec<num_warps = 4>} {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %zero = arith.constant dense<0.0> : !tile
    %sum, %old = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %init, %w = %init) -> (!tile, !tile) : i32 {
      %key, %t0 = nv_tileaa.tiled_load weak %k[%i, %c0] : i32, i32 of !tiles -> !half
      %s = nv_tileaa.dot %q, %key, %zero {input_precision = "tf32"} : !half, !half, !tile
      %p = nv_tileaa.fp_to_fp %s : !tile to !half
      %value, %t1 = nv_tileaa.tiled_load weak %v[%i, %c0] : i32, i32 of !tiles -> !half
      %o = nv_tileaa.dot %p, %value, %acc {input_precision = "tf32"} : !half, !half, !tile
      %z = nv_tileaa.negf %o : !tile
      scf.yield %z, %acc : !tile, !tile
    }
    nv_tileaa.return
  }
  // A loop that goes on where another ends, as with a causal mask: it takes over the last dot of the first loop. Both share the first part
  // of the first iteration, but for what only one of them computes.
  // CHECK-LABEL: @consecutive
  // CHECK: %[[END:.*]] = arith.minsi %arg4, %arg5
  // CHECK: %[[EXISTS:.*]] = nv_tileaa.cmpi slt, %[[C0:.*]], %arg4
  // CHECK-NEXT: %[[STARTS:.*]] = nv_tileaa.cmpi slt, %[[C0]], %[[END]]
  // CHECK-NEXT: scf.if %[[EXISTS]]
  // CHECK-NEXT: %[[ONE:.*]] = nv_tileaa.addi %[[C0]],
  // CHECK-NEXT: nv_tileaa.tiled_load weak %arg1[%[[C0]], %[[C0]]]
  // CHECK-NEXT: %[[S:.*]] = nv_tileaa.dot %arg0
  // CHECK-NEXT: %[[SEEN:.*]] = scf.if %[[STARTS]]
  // CHECK-NEXT: scf.yield %[[S]]
  // CHECK-NEXT: } else {
  // CHECK-NEXT: %[[NEG:.*]] = nv_tileaa.negf %[[S]]
  // CHECK-NEXT: scf.yield %[[NEG]]
  // CHECK-NEXT: }
  // CHECK-NEXT: %[[P0:.*]] = nv_tileaa.fp_to_fp %[[SEEN]]
  // CHECK-NEXT: %[[PASSED:.*]]:2 = scf.for %{{.*}} = %[[ONE]] to %[[END]] {{.*}} iter_args(%{{.*}} = %[[P0]], %{{.*}} = %arg3)
  // CHECK-COUNT-2: nv_tileaa.dot
  // CHECK-NOT: nv_tileaa.dot
  // CHECK: %[[FROM:.*]] = arith.maxsi %[[ONE]], %[[END]]
  // CHECK: %[[LAST:.*]] = nv_tileaa.subi %arg4,
  // CHECK: %[[LOOP:.*]]:2 = scf.for %[[I:.*]] = %[[FROM]] to %arg4 {{.*}} iter_args(%[[P:.*]] = %[[PASSED]]#0, %[[ACC:.*]] = %[[PASSED]]#1)
  // CHECK: nv_tileaa.dot %arg0
  // CHECK: nv_tileaa.dot %[[P]], %{{.*}}, %[[ACC]]
  // CHECK: nv_tileaa.negf
  // CHECK: nv_tileaa.tiled_load weak %arg2[%[[LAST]], %[[C0]]]
  // CHECK-NEXT: nv_tileaa.dot %[[LOOP]]#0, %{{.*}}, %[[LOOP]]#1
  nv_tileaa.func @consecutive(%q: !half, %k: !tiles, %v: !tiles, %init: !tile, %n: i32, %middle: i32) attributes {kernel_spec = #nv_tileaa.kernel_spec<num_warps = 4>} {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %zero = arith.constant dense<0.0> : !tile
    %end = arith.minsi %n, %middle : i32
    %masked = arith.maxsi %c0, %middle : i32
    %sum = scf.for %i = %c0 to %end step %c1 iter_args(%acc = %init) -> (!tile) : i32 {
      %key, %t0 = nv_tileaa.tiled_load weak %k[%i, %c0] : i32, i32 of !tiles -> !half
      %s = nv_tileaa.dot %q, %key, %zero {input_precision = "tf32"} : !half, !half, !tile
      %p = nv_tileaa.fp_to_fp %s : !tile to !half
      %value, %t1 = nv_tileaa.tiled_load weak %v[%i, %c0] : i32, i32 of !tiles -> !half
      %o = nv_tileaa.dot %p, %value, %acc {input_precision = "tf32"} : !half, !half, !tile
      scf.yield %o : !tile
    }
    %all = scf.for %i = %masked to %n step %c1 iter_args(%acc = %sum) -> (!tile) : i32 {
      %key, %t0 = nv_tileaa.tiled_load weak %k[%i, %c0] : i32, i32 of !tiles -> !half
      %s = nv_tileaa.dot %q, %key, %zero {input_precision = "tf32"} : !half, !half, !tile
      %mask = nv_tileaa.negf %s : !tile
      %p = nv_tileaa.fp_to_fp %mask : !tile to !half
      %value, %t1 = nv_tileaa.tiled_load weak %v[%i, %c0] : i32, i32 of !tiles -> !half
      %o = nv_tileaa.dot %p, %value, %acc {input_precision = "tf32"} : !half, !half, !tile
      scf.yield %o : !tile
    }
    nv_tileaa.return
  }
  // What one loop loads must not be loaded for the other: each has a first part of its own, of which one is executed.
  // CHECK-LABEL: @consecutive_bias
  // CHECK: %[[END:.*]] = arith.minui %arg5, %arg6
  // CHECK: %[[BIASED:.*]] = arith.maxui %[[C0:.*]], %arg6
  // CHECK: %[[STARTS:.*]] = nv_tileaa.cmpi ult, %[[C0]], %[[END]]
  // CHECK: %[[ONE:.*]] = nv_tileaa.addi %[[C0]],
  // CHECK-NEXT: %[[PASSED:.*]]:2 = scf.if %[[STARTS]]
  // CHECK-NEXT: nv_tileaa.tiled_load weak %arg1[%[[C0]], %[[C0]]]
  // CHECK: scf.for unsigned %{{.*}} = %[[ONE]] to %[[END]]
  // CHECK-COUNT-2: nv_tileaa.dot
  // CHECK-NOT: nv_tileaa.dot
  // CHECK: } else {
  // CHECK-NEXT: nv_tileaa.tiled_load weak %arg1[%[[BIASED]], %[[C0]]]
  // CHECK-NEXT: nv_tileaa.dot %arg0
  // CHECK-NEXT: nv_tileaa.tiled_load weak %arg3[%[[BIASED]], %[[C0]]]
  // CHECK: %[[FROM:.*]] = arith.maxui %[[ONE]], %[[END]]
  // CHECK: scf.for unsigned %{{.*}} = %[[FROM]] to %arg5 {{.*}} iter_args(%{{.*}} = %[[PASSED]]#0, %{{.*}} = %[[PASSED]]#1)
  nv_tileaa.func @consecutive_bias(%q: !half, %k: !tiles, %v: !tiles, %bias: !tiles, %init: !tile, %n: i32, %middle: i32) attributes {kernel_spec = #nv_tileaa.kernel_spec<num_warps = 4>} {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %zero = arith.constant dense<0.0> : !tile
    %end = arith.minui %n, %middle : i32
    %biased = arith.maxui %c0, %middle : i32
    %sum = scf.for unsigned %i = %c0 to %end step %c1 iter_args(%acc = %init) -> (!tile) : i32 {
      %key, %t0 = nv_tileaa.tiled_load weak %k[%i, %c0] : i32, i32 of !tiles -> !half
      %s = nv_tileaa.dot %q, %key, %zero {input_precision = "tf32"} : !half, !half, !tile
      %p = nv_tileaa.fp_to_fp %s : !tile to !half
      %value, %t1 = nv_tileaa.tiled_load weak %v[%i, %c0] : i32, i32 of !tiles -> !half
      %o = nv_tileaa.dot %p, %value, %acc {input_precision = "tf32"} : !half, !half, !tile
      scf.yield %o : !tile
    }
    %all = scf.for unsigned %i = %biased to %n step %c1 iter_args(%acc = %sum) -> (!tile) : i32 {
      %key, %t0 = nv_tileaa.tiled_load weak %k[%i, %c0] : i32, i32 of !tiles -> !half
      %s = nv_tileaa.dot %q, %key, %zero {input_precision = "tf32"} : !half, !half, !tile
      %b, %t2 = nv_tileaa.tiled_load weak %bias[%i, %c0] : i32, i32 of !tiles -> !half
      %wide = nv_tileaa.fp_to_fp %b : !half to !tile
      %more = nv_tileaa.addf %s, %wide : !tile
      %p = nv_tileaa.fp_to_fp %more : !tile to !half
      %value, %t1 = nv_tileaa.tiled_load weak %v[%i, %c0] : i32, i32 of !tiles -> !half
      %o = nv_tileaa.dot %p, %value, %acc {input_precision = "tf32"} : !half, !half, !tile
      scf.yield %o : !tile
    }
    nv_tileaa.return
  }
  // The addition has other operands in each loop, which are chosen before it; so it is shared, and what is computed from it.
  // CHECK-LABEL: @consecutive_rows
  // CHECK: scf.if
  // CHECK: %[[S:.*]] = nv_tileaa.dot %arg0
  // CHECK-NEXT: %[[LEFT:.*]] = scf.if %[[STARTS:.*]] -> (tensor<16x16xf32>) {
  // CHECK-NEXT: scf.yield %[[S]]
  // CHECK-NEXT: } else {
  // CHECK-NEXT: %[[SCALED:.*]] = nv_tileaa.mulf %[[S]], %arg4
  // CHECK-NEXT: scf.yield %[[SCALED]]
  // CHECK-NEXT: }
  // CHECK-NEXT: %[[RIGHT:.*]] = scf.if %[[STARTS]] -> (tensor<16x16xf32>) {
  // CHECK-NEXT: scf.yield %arg4
  // CHECK-NEXT: } else {
  // CHECK-NEXT: scf.yield %[[S]]
  // CHECK-NEXT: }
  // CHECK-NEXT: %[[T:.*]] = nv_tileaa.addf %[[LEFT]], %[[RIGHT]]
  // CHECK-NEXT: %[[ROW:.*]] = nv_tileaa.reduce %[[T]]
  // CHECK: %[[M:.*]] = nv_tileaa.maxf %arg3, %[[ROW]]
  // CHECK-NEXT: %[[P:.*]] = nv_tileaa.fp_to_fp %[[T]]
  // CHECK-NEXT: scf.for {{.*}} iter_args(%{{.*}} = %[[M]], %{{.*}} = %[[P]], %{{.*}} = %arg4)
  nv_tileaa.func @consecutive_rows(%q: !half, %k: !tiles, %v: !tiles, %m0: !row, %init: !tile, %n: i32, %middle: i32) attributes {kernel_spec = #nv_tileaa.kernel_spec<num_warps = 4>} {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %zero = arith.constant dense<0.0> : !tile
    %end = arith.minsi %n, %middle : i32
    %later = arith.maxsi %c0, %middle : i32
    %top, %sum = scf.for %i = %c0 to %end step %c1 iter_args(%m = %m0, %acc = %init) -> (!row, !tile) : i32 {
      %key, %t0 = nv_tileaa.tiled_load weak %k[%i, %c0] : i32, i32 of !tiles -> !half
      %s = nv_tileaa.dot %q, %key, %zero {input_precision = "tf32"} : !half, !half, !tile
      %t = nv_tileaa.addf %s, %init : !tile
      %here = nv_tileaa.reduce %t {axis = 1 : i32, identities = [0xFF800000 : f32]} : !tile -> !row {
      ^bb0(%a: f32, %b: f32):
        %r = nv_tileaa.maxf %a, %b : f32
        nv_tileaa.yield %r : f32
      }
      %larger = nv_tileaa.maxf %m, %here : !row
      %p = nv_tileaa.fp_to_fp %t : !tile to !half
      %value, %t1 = nv_tileaa.tiled_load weak %v[%i, %c0] : i32, i32 of !tiles -> !half
      %o = nv_tileaa.dot %p, %value, %acc {input_precision = "tf32"} : !half, !half, !tile
      scf.yield %larger, %o : !row, !tile
    }
    %last, %all = scf.for %i = %later to %n step %c1 iter_args(%m = %top, %acc = %sum) -> (!row, !tile) : i32 {
      %key, %t0 = nv_tileaa.tiled_load weak %k[%i, %c0] : i32, i32 of !tiles -> !half
      %s = nv_tileaa.dot %q, %key, %zero {input_precision = "tf32"} : !half, !half, !tile
      %scaled = nv_tileaa.mulf %s, %init : !tile
      %t = nv_tileaa.addf %scaled, %s : !tile
      %here = nv_tileaa.reduce %t {axis = 1 : i32, identities = [0xFF800000 : f32]} : !tile -> !row {
      ^bb0(%a: f32, %b: f32):
        %r = nv_tileaa.maxf %a, %b : f32
        nv_tileaa.yield %r : f32
      }
      %larger = nv_tileaa.maxf %m, %here : !row
      %p = nv_tileaa.fp_to_fp %t : !tile to !half
      %value, %t1 = nv_tileaa.tiled_load weak %v[%i, %c0] : i32, i32 of !tiles -> !half
      %o = nv_tileaa.dot %p, %value, %acc {input_precision = "tf32"} : !half, !half, !tile
      scf.yield %larger, %o : !row, !tile
    }
    nv_tileaa.return
  }
  // Conversions from other types are not the same operation.
  // CHECK-LABEL: @consecutive_types
  // CHECK: %[[S:.*]] = nv_tileaa.dot %arg0
  // CHECK-NEXT: %[[P:.*]] = scf.if %{{.*}} -> (tensor<16x16xf16>) {
  // CHECK-NEXT: %[[P1:.*]] = nv_tileaa.fp_to_fp %[[S]] : tensor<16x16xf32> to tensor<16x16xf16>
  // CHECK-NEXT: scf.yield %[[P1]]
  // CHECK-NEXT: } else {
  // CHECK-NEXT: %[[WIDE:.*]] = nv_tileaa.fp_to_fp %[[S]] : tensor<16x16xf32> to tensor<16x16xf64>
  // CHECK-NEXT: %[[P2:.*]] = nv_tileaa.fp_to_fp %[[WIDE]] : tensor<16x16xf64> to tensor<16x16xf16>
  // CHECK-NEXT: scf.yield %[[P2]]
  // CHECK: scf.for {{.*}} iter_args(%{{.*}} = %[[P]],
  nv_tileaa.func @consecutive_types(%q: !half, %k: !tiles, %v: !tiles, %init: !tile, %n: i32, %middle: i32) attributes {kernel_spec = #nv_tileaa.kernel_spec<num_warps = 4>} {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %zero = arith.constant dense<0.0> : !tile
    %end = arith.minsi %n, %middle : i32
    %later = arith.maxsi %c0, %middle : i32
    %sum = scf.for %i = %c0 to %end step %c1 iter_args(%acc = %init) -> (!tile) : i32 {
      %key, %t0 = nv_tileaa.tiled_load weak %k[%i, %c0] : i32, i32 of !tiles -> !half
      %s = nv_tileaa.dot %q, %key, %zero {input_precision = "tf32"} : !half, !half, !tile
      %p = nv_tileaa.fp_to_fp %s : !tile to !half
      %value, %t1 = nv_tileaa.tiled_load weak %v[%i, %c0] : i32, i32 of !tiles -> !half
      %o = nv_tileaa.dot %p, %value, %acc {input_precision = "tf32"} : !half, !half, !tile
      scf.yield %o : !tile
    }
    %all = scf.for %i = %later to %n step %c1 iter_args(%acc = %sum) -> (!tile) : i32 {
      %key, %t0 = nv_tileaa.tiled_load weak %k[%i, %c0] : i32, i32 of !tiles -> !half
      %s = nv_tileaa.dot %q, %key, %zero {input_precision = "tf32"} : !half, !half, !tile
      %wide = nv_tileaa.fp_to_fp %s : !tile to tensor<16x16xf64>
      %p = nv_tileaa.fp_to_fp %wide : tensor<16x16xf64> to !half
      %value, %t1 = nv_tileaa.tiled_load weak %v[%i, %c0] : i32, i32 of !tiles -> !half
      %o = nv_tileaa.dot %p, %value, %acc {input_precision = "tf32"} : !half, !half, !tile
      scf.yield %o : !tile
    }
    nv_tileaa.return
  }
  // The loops have reductions that differ: so have their first parts.
  // CHECK-LABEL: @consecutive_reductions
  // CHECK: scf.if %{{.*}} -> (tensor<16xf32>, tensor<16x16xf32>) {
  // CHECK: scf.if %{{.*}} -> (tensor<16xf32>, tensor<16x16xf16>, tensor<16x16xf32>) {
  // CHECK: nv_tileaa.dot
  // CHECK: scf.for
  // CHECK: } else {
  // CHECK: nv_tileaa.dot
  // CHECK: scf.for
  nv_tileaa.func @consecutive_reductions(%q: !half, %k: !tiles, %v: !tiles, %m0: !row, %init: !tile, %n: i32, %middle: i32) attributes {kernel_spec = #nv_tileaa.kernel_spec<num_warps = 4>} {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %zero = arith.constant dense<0.0> : !tile
    %end = arith.minsi %n, %middle : i32
    %later = arith.maxsi %c0, %middle : i32
    %top, %sum = scf.for %i = %c0 to %end step %c1 iter_args(%m = %m0, %acc = %init) -> (!row, !tile) : i32 {
      %key, %t0 = nv_tileaa.tiled_load weak %k[%i, %c0] : i32, i32 of !tiles -> !half
      %s = nv_tileaa.dot %q, %key, %zero {input_precision = "tf32"} : !half, !half, !tile
      %here = nv_tileaa.reduce %s {axis = 1 : i32, identities = [0xFF800000 : f32]} : !tile -> !row {
      ^bb0(%a: f32, %b: f32):
        %r = nv_tileaa.maxf %a, %b : f32
        nv_tileaa.yield %r : f32
      }
      %larger = nv_tileaa.maxf %m, %here : !row
      %p = nv_tileaa.fp_to_fp %s : !tile to !half
      %value, %t1 = nv_tileaa.tiled_load weak %v[%i, %c0] : i32, i32 of !tiles -> !half
      %o = nv_tileaa.dot %p, %value, %acc {input_precision = "tf32"} : !half, !half, !tile
      scf.yield %larger, %o : !row, !tile
    }
    %last, %all = scf.for %i = %later to %n step %c1 iter_args(%m = %top, %acc = %sum) -> (!row, !tile) : i32 {
      %key, %t0 = nv_tileaa.tiled_load weak %k[%i, %c0] : i32, i32 of !tiles -> !half
      %s = nv_tileaa.dot %q, %key, %zero {input_precision = "tf32"} : !half, !half, !tile
      %here = nv_tileaa.reduce %s {axis = 1 : i32, identities = [0xFF800000 : f32]} : !tile -> !row {
      ^bb0(%a: f32, %b: f32):
        %r = nv_tileaa.minf %a, %b : f32
        nv_tileaa.yield %r : f32
      }
      %larger = nv_tileaa.maxf %m, %here : !row
      %p = nv_tileaa.fp_to_fp %s : !tile to !half
      %value, %t1 = nv_tileaa.tiled_load weak %v[%i, %c0] : i32, i32 of !tiles -> !half
      %o = nv_tileaa.dot %p, %value, %acc {input_precision = "tf32"} : !half, !half, !tile
      scf.yield %larger, %o : !row, !tile
    }
    nv_tileaa.return
  }
  // As in the gradient of attention: the last dot multiplies a tile of another one. The loop would carry it in registers.
  // CHECK-LABEL: @shared_tile
  // CHECK-NOT: scf.if
  nv_tileaa.func @shared_tile(%q: !half, %k: !tiles, %v: !tiles, %init: !tile, %n: i32) attributes {kernel_spec = #nv_tileaa.kernel_spec<num_warps = 4>} {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %zero = arith.constant dense<0.0> : !tile
    %sum = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %init) -> (!tile) : i32 {
      %key, %t0 = nv_tileaa.tiled_load weak %k[%i, %c0] : i32, i32 of !tiles -> !half
      %s = nv_tileaa.dot %q, %key, %zero {input_precision = "tf32"} : !half, !half, !tile
      %other, %t2 = nv_tileaa.tiled_load weak %v[%i, %c1] : i32, i32 of !tiles -> !half
      %d = nv_tileaa.dot %q, %other, %zero {input_precision = "tf32"} : !half, !half, !tile
      %both = nv_tileaa.mulf %s, %d : !tile
      %p = nv_tileaa.fp_to_fp %both : !tile to !half
      %o = nv_tileaa.dot %p, %key, %acc {input_precision = "tf32"} : !half, !half, !tile
      scf.yield %o : !tile
    }
    nv_tileaa.return
  }
  // Nothing is delayed past a store, which may write what is loaded.
  // CHECK-LABEL: @store
  // CHECK-NOT: scf.if
  nv_tileaa.func @store(%q: !half, %k: !tiles, %v: !tiles, %init: !tile, %n: i32) attributes {kernel_spec = #nv_tileaa.kernel_spec<num_warps = 4>} {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %zero = arith.constant dense<0.0> : !tile
    %sum = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %init) -> (!tile) : i32 {
      %key, %t0 = nv_tileaa.tiled_load weak %k[%i, %c0] : i32, i32 of !tiles -> !half
      %s = nv_tileaa.dot %q, %key, %zero {input_precision = "tf32"} : !half, !half, !tile
      %p = nv_tileaa.fp_to_fp %s : !tile to !half
      %value, %t1 = nv_tileaa.tiled_load weak %v[%i, %c0] : i32, i32 of !tiles -> !half
      %o = nv_tileaa.dot %p, %value, %acc {input_precision = "tf32"} : !half, !half, !tile
      %t2 = nv_tileaa.tiled_store weak %p, %k[%i, %c0] : !half, i32, i32 of !tiles
      scf.yield %o : !tile
    }
    nv_tileaa.return
  }
  // A load that is ordered after other accesses stays where it is.
  // CHECK-LABEL: @ordered_load
  // CHECK-NOT: scf.if
  nv_tileaa.func @ordered_load(%q: !half, %k: !tiles, %v: !tiles, %init: !tile, %n: i32) attributes {kernel_spec = #nv_tileaa.kernel_spec<num_warps = 4>} {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %zero = arith.constant dense<0.0> : !tile
    %t = nv_tileaa.tiled_store weak %q, %k[%c0, %c0] : !half, i32, i32 of !tiles
    %sum = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %init) -> (!tile) : i32 {
      %key, %t0 = nv_tileaa.tiled_load weak %k[%i, %c0] : i32, i32 of !tiles -> !half
      %s = nv_tileaa.dot %q, %key, %zero {input_precision = "tf32"} : !half, !half, !tile
      %p = nv_tileaa.fp_to_fp %s : !tile to !half
      %value, %t1 = nv_tileaa.tiled_load weak %v[%i, %c0] token = %t : i32, i32 of !tiles -> !half
      %o = nv_tileaa.dot %p, %value, %acc {input_precision = "tf32"} : !half, !half, !tile
      scf.yield %o : !tile
    }
    nv_tileaa.return
  }
  // And so does one that other accesses are ordered after.
  // CHECK-LABEL: @ordering_load
  // CHECK-NOT: scf.if
  nv_tileaa.func @ordering_load(%q: !half, %k: !tiles, %v: !tiles, %init: !tile, %n: i32) attributes {kernel_spec = #nv_tileaa.kernel_spec<num_warps = 4>} {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %zero = arith.constant dense<0.0> : !tile
    %t = nv_tileaa.create_mem_token : !nv_tileaa.mem_token
    %sum, %after = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %init, %token = %t) -> (!tile, !nv_tileaa.mem_token) : i32 {
      %key, %t0 = nv_tileaa.tiled_load weak %k[%i, %c0] : i32, i32 of !tiles -> !half
      %s = nv_tileaa.dot %q, %key, %zero {input_precision = "tf32"} : !half, !half, !tile
      %p = nv_tileaa.fp_to_fp %s : !tile to !half
      %value, %t1 = nv_tileaa.tiled_load weak %v[%i, %c0] : i32, i32 of !tiles -> !half
      %o = nv_tileaa.dot %p, %value, %acc {input_precision = "tf32"} : !half, !half, !tile
      scf.yield %o, %t1 : !tile, !nv_tileaa.mem_token
    }
    nv_tileaa.return
  }
  // The first dot needs the second one of the iteration before.
  // CHECK-LABEL: @depends_on_the_accumulator
  // CHECK-NOT: scf.if
  nv_tileaa.func @depends_on_the_accumulator(%q: !half, %k: !tiles, %v: !tiles, %init: !tile, %n: i32) attributes {kernel_spec = #nv_tileaa.kernel_spec<num_warps = 4>} {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %zero = arith.constant dense<0.0> : !tile
    %sum = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %init) -> (!tile) : i32 {
      %key, %t0 = nv_tileaa.tiled_load weak %k[%i, %c0] : i32, i32 of !tiles -> !half
      %s = nv_tileaa.dot %q, %key, %acc {input_precision = "tf32"} : !half, !half, !tile
      %p = nv_tileaa.fp_to_fp %s : !tile to !half
      %value, %t1 = nv_tileaa.tiled_load weak %v[%i, %c0] : i32, i32 of !tiles -> !half
      %o = nv_tileaa.dot %p, %value, %acc {input_precision = "tf32"} : !half, !half, !tile
      scf.yield %o : !tile
    }
    nv_tileaa.return
  }
  // The same through another carried value.
  // CHECK-LABEL: @depends_on_a_tile_of_it
  // CHECK-NOT: scf.if
  nv_tileaa.func @depends_on_a_tile_of_it(%q: !half, %k: !tiles, %v: !tiles, %init: !tile, %n: i32) attributes {kernel_spec = #nv_tileaa.kernel_spec<num_warps = 4>} {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %zero = arith.constant dense<0.0> : !tile
    %sum, %old = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %init, %w = %q) -> (!tile, !half) : i32 {
      %key, %t0 = nv_tileaa.tiled_load weak %k[%i, %c0] : i32, i32 of !tiles -> !half
      %s = nv_tileaa.dot %w, %key, %zero {input_precision = "tf32"} : !half, !half, !tile
      %p = nv_tileaa.fp_to_fp %s : !tile to !half
      %value, %t1 = nv_tileaa.tiled_load weak %v[%i, %c0] : i32, i32 of !tiles -> !half
      %o = nv_tileaa.dot %p, %value, %acc {input_precision = "tf32"} : !half, !half, !tile
      %x = nv_tileaa.fp_to_fp %o : !tile to !half
      scf.yield %o, %x : !tile, !half
    }
    nv_tileaa.return
  }
  // CHECK-LABEL: @one_dot
  // CHECK-NOT: scf.if
  nv_tileaa.func @one_dot(%q: !half, %k: !tiles, %v: !tiles, %init: !tile, %n: i32) attributes {kernel_spec = #nv_tileaa.kernel_spec<num_warps = 4>} {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %zero = arith.constant dense<0.0> : !tile
    %sum = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %init) -> (!tile) : i32 {
      %key, %t0 = nv_tileaa.tiled_load weak %k[%i, %c0] : i32, i32 of !tiles -> !half
      %o = nv_tileaa.dot %q, %key, %acc {input_precision = "tf32"} : !half, !half, !tile
      scf.yield %o : !tile
    }
    nv_tileaa.return
  }
  // CHECK-LABEL: @independent
  // CHECK-NOT: scf.if
  nv_tileaa.func @independent(%q: !half, %k: !tiles, %v: !tiles, %init: !tile, %n: i32) attributes {kernel_spec = #nv_tileaa.kernel_spec<num_warps = 4>} {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %zero = arith.constant dense<0.0> : !tile
    %sum, %more = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %init, %w = %init) -> (!tile, !tile) : i32 {
      %key, %t0 = nv_tileaa.tiled_load weak %k[%i, %c0] : i32, i32 of !tiles -> !half
      %s = nv_tileaa.dot %q, %key, %w {input_precision = "tf32"} : !half, !half, !tile
      %value, %t1 = nv_tileaa.tiled_load weak %v[%i, %c0] : i32, i32 of !tiles -> !half
      %o = nv_tileaa.dot %q, %value, %acc {input_precision = "tf32"} : !half, !half, !tile
      scf.yield %o, %s : !tile, !tile
    }
    nv_tileaa.return
  }
  // B of the second dot would go through shared memory.
  // CHECK-LABEL: @as_b
  // CHECK-NOT: scf.if
  nv_tileaa.func @as_b(%q: !half, %k: !tiles, %v: !tiles, %init: !tile, %n: i32) attributes {kernel_spec = #nv_tileaa.kernel_spec<num_warps = 4>} {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %zero = arith.constant dense<0.0> : !tile
    %sum = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %init) -> (!tile) : i32 {
      %key, %t0 = nv_tileaa.tiled_load weak %k[%i, %c0] : i32, i32 of !tiles -> !half
      %s = nv_tileaa.dot %q, %key, %zero {input_precision = "tf32"} : !half, !half, !tile
      %p = nv_tileaa.fp_to_fp %s : !tile to !half
      %value, %t1 = nv_tileaa.tiled_load weak %v[%i, %c0] : i32, i32 of !tiles -> !half
      %o = nv_tileaa.dot %value, %p, %acc {input_precision = "tf32"} : !half, !half, !tile
      scf.yield %o : !tile
    }
    nv_tileaa.return
  }
}
