// Warp specialization with several pipelines: tiles that are used together have a stage of their own, also outside of loops.
// RUN: tilewright opt --pass specialize-warps %s | filecheck %s
#s = #nv_tileas.layout<[64, 64], register = [[0, 1], [8, 0], [0, 8], [0, 16], [0, 32]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0]]>
#o = #nv_tileas.layout<[64, 32], register = [[0, 1], [8, 0], [0, 8], [0, 16]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0]]>
#k = #nv_tileas.layout<[64, 64], register = [[0, 1], [0, 2], [0, 4], [16, 0], [32, 0]], lane = [[0, 8], [0, 16], [0, 32], [1, 0], [2, 0]], warp = [[4, 0], [8, 0]]>
#v = #nv_tileas.layout<[64, 32], register = [[0, 1], [0, 2], [0, 4], [32, 0]], lane = [[0, 8], [0, 16], [1, 0], [2, 0], [4, 0]], warp = [[8, 0], [16, 0]]>
// Where wgmma reads them: rows of 128 and of 64 bytes, swizzled.
#k_placed = #nv_tileas.layout<[64, 64], offset = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [0, 32], [1, 8], [2, 16], [4, 32], [8, 0], [16, 0], [32, 0]]>
#v_placed = #nv_tileas.layout<[64, 32], offset = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [1, 0], [2, 8], [4, 16], [8, 0], [16, 0], [32, 0]]>
!s = tensor<64x64xf32, #s>
!p = tensor<64x64xf16, #s>
!o = tensor<64x32xf32, #o>
!k = tensor<64x64xf16, #k>
!v = tensor<64x32xf16, #v>
!k_placed = tensor<64x64xf16, #k_placed>
!v_placed = tensor<64x32xf16, #v_placed>
!k_tiles = !nv_tileaa.tiled_view<tile = [64, 64], source = !nv_tileaa.memref<64x512xf16, strides = [512, 1]>, padding = zero>
!v_tiles = !nv_tileaa.tiled_view<tile = [64, 32], source = !nv_tileaa.memref<512x32xf16, strides = [32, 1]>, padding = zero>
!w_tiles = !nv_tileaa.tiled_view<tile = [64, 64], source = !nv_tileaa.memref<512x64xf16, strides = [64, 1]>, padding = zero>
gpu.module @kernels attributes {nv_tileaa.target_spec = #nv_tileaa.target_spec<compute_capability = 90>} {
  // A rotated loop: the first dot of an iteration, then the second one of the iteration before. Tiles before and after the loop are copied to the same pipelines.
  // CHECK-LABEL: @rotated
  // CHECK: %[[K:.*]] = nv_tileas.async.pipeline.create_pipeline {drained} : !nv_tileas.pipeline<2, [tensor<64x64xf16
  // CHECK-NEXT: %[[V:.*]] = nv_tileas.async.pipeline.create_pipeline {drained} : !nv_tileas.pipeline<2, [tensor<64x32xf16
  // CHECK: agent_switch attributes {first = 4
  // CHECK: %[[MAPS:.*]]:2 = nv_tileas.create_tensor_maps %arg1, %arg2
  // CHECK-NEXT: %[[K0:.*]] = nv_tileas.async.pipeline.create_iterator %[[K]]
  // CHECK-NEXT: %[[V0:.*]] = nv_tileas.async.pipeline.create_iterator %[[V]]
  // CHECK: %[[END:.*]]:2 = scf.if
  // CHECK: %[[EMPTY:.*]] = nv_tileas.async.pipeline.producer_acquire %[[K]][%[[K0]]]
  // CHECK-NEXT: producer_copy %[[K]], %[[EMPTY]], %[[MAPS]]#0[%c0{{.*}}, %c0{{.*}}]
  // CHECK-NEXT: producer_commit %[[K]], %[[EMPTY]]
  // CHECK-NEXT: %[[K1:.*]] = nv_tileas.async.pipeline.inc_iter %[[K0]]
  // CHECK-NEXT: %[[AFTER:.*]]:2 = scf.for %[[J:.*]] = {{.*}}iter_args(%[[KI:.*]] = %[[K1]], %[[VI:.*]] = %[[V0]])
  // CHECK-NEXT: %[[EMPTY:.*]] = nv_tileas.async.pipeline.producer_acquire %[[K]][%[[KI]]]
  // CHECK-NEXT: producer_copy %[[K]], %[[EMPTY]], %[[MAPS]]#0[%c0{{.*}}, %[[J]]]
  // CHECK-NEXT: producer_commit %[[K]], %[[EMPTY]]
  // CHECK-NEXT: %[[KN:.*]] = nv_tileas.async.pipeline.inc_iter %[[KI]]
  // CHECK-NEXT: %[[BEFORE:.*]] = arith.subi %[[J]]
  // CHECK-NEXT: %[[EMPTY:.*]] = nv_tileas.async.pipeline.producer_acquire %[[V]][%[[VI]]]
  // CHECK-NEXT: producer_copy %[[V]], %[[EMPTY]], %[[MAPS]]#1[%[[BEFORE]]
  // CHECK-NEXT: producer_commit %[[V]], %[[EMPTY]]
  // CHECK-NEXT: %[[VN:.*]] = nv_tileas.async.pipeline.inc_iter %[[VI]]
  // CHECK-NEXT: scf.yield %[[KN]], %[[VN]]
  // CHECK: producer_acquire %[[V]][%[[AFTER]]#1]
  // CHECK-NEXT: producer_copy %[[V]]
  // CHECK-NEXT: producer_commit %[[V]]
  // CHECK-NEXT: %[[VL:.*]] = nv_tileas.async.pipeline.inc_iter %[[AFTER]]#1
  // CHECK-NEXT: scf.yield %[[AFTER]]#0, %[[VL]]
  // CHECK-NEXT: } else {
  // CHECK-NEXT: scf.yield %[[K0]], %[[V0]]
  // CHECK-NEXT: }
  // All stages of both are released at the end.
  // CHECK-NEXT: producer_acquire %[[K]][%[[END]]#0]
  // CHECK: producer_acquire %[[K]]
  // CHECK-NEXT: producer_acquire %[[V]][%[[END]]#1]
  // CHECK: producer_acquire %[[V]]
  // CHECK-NEXT: release_tensor_maps
  // Q stays with the consumers. They wait for a stage right before its first use, and release it once the dot that reads it is complete.
  // CHECK: agent_switch attributes {max_registers = 240
  // CHECK: tiled_load weak %arg0
  // CHECK: scf.if
  // CHECK: %[[FULL:.*]] = nv_tileas.async.pipeline.consumer_wait %[[K]]
  // CHECK-NEXT: %[[TILE:.*]] = nv_tileas.async.pipeline.consumer_read %[[K]], %[[FULL]]
  // CHECK-NEXT: inc_iter
  // CHECK-NEXT: nv_tileas.dot %{{.*}}, %[[TILE]],
  // CHECK-NEXT: consumer_release %[[K]], %[[FULL]]
  // CHECK: scf.for
  // CHECK-NEXT: %[[K_FULL:.*]] = nv_tileas.async.pipeline.consumer_wait %[[K]]
  // CHECK-NEXT: %[[TILE:.*]] = nv_tileas.async.pipeline.consumer_read %[[K]], %[[K_FULL]]
  // CHECK-NEXT: inc_iter
  // CHECK-NEXT: nv_tileas.dot %{{.*}}, %[[TILE]], {{.*}}asynchronous
  // CHECK-NOT: consumer_release
  // CHECK: %[[V_FULL:.*]] = nv_tileas.async.pipeline.consumer_wait %[[V]]
  // CHECK-NEXT: %[[TILE:.*]] = nv_tileas.async.pipeline.consumer_read %[[V]], %[[V_FULL]]
  // CHECK-NEXT: inc_iter
  // CHECK-NEXT: nv_tileas.dot %{{.*}}, %[[TILE]], {{.*}}asynchronous
  // CHECK-NEXT: nv_tileas.dot_wait {{.*}}pending = 1
  // CHECK-NEXT: consumer_release %[[K]], %[[K_FULL]]
  // CHECK-NEXT: nv_tileaa.fp_to_fp
  // CHECK-NEXT: nv_tileas.dot_wait
  // CHECK-NEXT: consumer_release %[[V]], %[[V_FULL]]
  // CHECK-NEXT: scf.yield
  // CHECK: consumer_wait %[[V]]
  // CHECK: nv_tileas.dot
  // CHECK-NEXT: consumer_release %[[V]]
  nv_tileaa.func @rotated(%qv: !k_tiles, %kv: !k_tiles, %vv: !v_tiles, %zero_s: !s, %zero_o: !o, %n: i32, %out: !nv_tileaa.tiled_view<tile = [64, 32], source = !nv_tileaa.memref<64x32xf32, strides = [32, 1]>>) attributes {kernel_spec = #nv_tileaa.kernel_spec<num_warps = 4>} {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %q:2 = nv_tileas.tiled_load weak %qv[%c0, %c0] {vector = 8 : i32} : i32, i32 of !k_tiles -> !k
    %qp = nv_tileas.convert_layout %q#0 : !k -> !k_placed
    %any = arith.cmpi slt, %c0, %n : i32
    %sum = scf.if %any -> (!o) {
      %k0:2 = nv_tileas.tiled_load weak %kv[%c0, %c0] {nv_tileas.engine = #nv_tileas.engine<tma>, vector = 8 : i32} : i32, i32 of !k_tiles -> !k
      %k0p = nv_tileas.convert_layout %k0#0 : !k -> !k_placed
      %s0 = nv_tileas.dot %qp, %k0p, %zero_s {atom = #nv_tileas.atom<wgmma>} : !k_placed, !k_placed, !s
      %p0 = nv_tileaa.fp_to_fp %s0 : !s to !p
      %last:2 = scf.for %j = %c1 to %n step %c1 iter_args(%acc = %zero_o, %p = %p0) -> (!o, !p) : i32 {
        %k:2 = nv_tileas.tiled_load weak %kv[%c0, %j] {nv_tileas.engine = #nv_tileas.engine<tma>, vector = 8 : i32} : i32, i32 of !k_tiles -> !k
        %kp = nv_tileas.convert_layout %k#0 : !k -> !k_placed
        %s = nv_tileas.dot %qp, %kp, %zero_s {asynchronous, atom = #nv_tileas.atom<wgmma>} : !k_placed, !k_placed, !s
        %before = arith.subi %j, %c1 : i32
        %v:2 = nv_tileas.tiled_load weak %vv[%before, %c0] {nv_tileas.engine = #nv_tileas.engine<tma>, vector = 8 : i32} : i32, i32 of !v_tiles -> !v
        %vp = nv_tileas.convert_layout %v#0 : !v -> !v_placed
        %pp = nv_tileas.convert_layout %p : !p -> !k_placed
        %o = nv_tileas.dot %pp, %vp, %acc {asynchronous, atom = #nv_tileas.atom<wgmma>} : !k_placed, !v_placed, !o
        %s1 = nv_tileas.dot_wait %s {pending = 1 : i32} : !s
        %p1 = nv_tileaa.fp_to_fp %s1 : !s to !p
        %o1 = nv_tileas.dot_wait %o : !o
        scf.yield %o1, %p1 : !o, !p
      } {nv_tileas.schedule = #nv_tileas.schedule<stages = 2, distance = 2, lag = 0>}
      %m = arith.subi %n, %c1 : i32
      %vl:2 = nv_tileas.tiled_load weak %vv[%m, %c0] {nv_tileas.engine = #nv_tileas.engine<tma>, vector = 8 : i32} : i32, i32 of !v_tiles -> !v
      %vlp = nv_tileas.convert_layout %vl#0 : !v -> !v_placed
      %pl = nv_tileas.convert_layout %last#1 : !p -> !k_placed
      %ol = nv_tileas.dot %pl, %vlp, %last#0 {atom = #nv_tileas.atom<wgmma>} : !k_placed, !v_placed, !o
      scf.yield %ol : !o
    } else {
      scf.yield %zero_o : !o
    }
    %t = nv_tileas.tiled_store weak %sum, %out[%c0, %c0] : !o, i32, i32 of !nv_tileaa.tiled_view<tile = [64, 32], source = !nv_tileaa.memref<64x32xf32, strides = [32, 1]>>
    nv_tileaa.return
  }
  // Tiles of one type share a pipeline, also if they are used one after the other: an iteration has two of its stages.
  // CHECK-LABEL: @one_type
  // CHECK: %[[P:.*]] = nv_tileas.async.pipeline.create_pipeline {drained} : !nv_tileas.pipeline<3, [tensor<64x64xf16
  // CHECK-NOT: create_pipeline
  // CHECK: scf.for %[[J:.*]] = {{.*}}iter_args(%[[I0:.*]] =
  // CHECK-NEXT: producer_acquire %[[P]][%[[I0]]]
  // CHECK-NEXT: producer_copy {{.*}}#0[%c0{{.*}}, %[[J]]]
  // CHECK-NEXT: producer_commit
  // CHECK-NEXT: %[[I1:.*]] = nv_tileas.async.pipeline.inc_iter %[[I0]]
  // CHECK-NEXT: producer_acquire %[[P]][%[[I1]]]
  // CHECK-NEXT: producer_copy {{.*}}#1[%[[J]], %c0
  // CHECK-NEXT: producer_commit
  // CHECK-NEXT: %[[I2:.*]] = nv_tileas.async.pipeline.inc_iter %[[I1]]
  // CHECK-NEXT: scf.yield %[[I2]]
  // CHECK: agent_switch attributes {max_registers = 240
  // CHECK: scf.for {{.*}}, %[[I0:.*]] = %{{.*}}) ->
  // CHECK-NEXT: %[[FULL:.*]] = nv_tileas.async.pipeline.consumer_wait %[[P]][%[[I0]]]
  // CHECK-NEXT: consumer_read
  // CHECK-NEXT: %[[I1:.*]] = nv_tileas.async.pipeline.inc_iter %[[I0]]
  // CHECK-NEXT: nv_tileas.dot
  // CHECK-NEXT: consumer_release %[[P]], %[[FULL]]
  // CHECK: %[[FULL:.*]] = nv_tileas.async.pipeline.consumer_wait %[[P]][%[[I1]]]
  // CHECK-NEXT: consumer_read
  // CHECK-NEXT: %[[I2:.*]] = nv_tileas.async.pipeline.inc_iter %[[I1]]
  // CHECK-NEXT: nv_tileas.dot
  // CHECK-NEXT: consumer_release %[[P]], %[[FULL]]
  // CHECK-NEXT: scf.yield %{{.*}}, %[[I2]]
  nv_tileaa.func @one_type(%qv: !k_tiles, %kv: !k_tiles, %wv: !w_tiles, %zero: !s, %n: i32) attributes {kernel_spec = #nv_tileaa.kernel_spec<num_warps = 4>} {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %q:2 = nv_tileas.tiled_load weak %qv[%c0, %c0] {vector = 8 : i32} : i32, i32 of !k_tiles -> !k
    %qp = nv_tileas.convert_layout %q#0 : !k -> !k_placed
    %sum = scf.for %j = %c0 to %n step %c1 iter_args(%acc = %zero) -> (!s) : i32 {
      %k:2 = nv_tileas.tiled_load weak %kv[%c0, %j] {nv_tileas.engine = #nv_tileas.engine<tma>, vector = 8 : i32} : i32, i32 of !k_tiles -> !k
      %kp = nv_tileas.convert_layout %k#0 : !k -> !k_placed
      %w:2 = nv_tileas.tiled_load weak %wv[%j, %c0] {nv_tileas.engine = #nv_tileas.engine<tma>, vector = 8 : i32} : i32, i32 of !w_tiles -> !k
      %wp = nv_tileas.convert_layout %w#0 : !k -> !k_placed
      %s = nv_tileas.dot %qp, %kp, %zero {atom = #nv_tileas.atom<wgmma>} : !k_placed, !k_placed, !s
      %p = nv_tileaa.fp_to_fp %s : !s to !p
      %next = nv_tileas.dot %p, %wp, %acc {atom = #nv_tileas.atom<wgmma>} : !p, !k_placed, !s
      scf.yield %next : !s
    } {nv_tileas.schedule = #nv_tileas.schedule<stages = 3, distance = 3, lag = 0>}
    nv_tileaa.return
  }
}
