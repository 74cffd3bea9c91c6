// Where warp specialization is forced: short loops over small tiles copy by cp.async otherwise, as they are predicted to take less.
// RUN: tilewright opt --pass schedule-loops %s | filecheck %s
// RUN: tilewright opt --pass 'record-requests{agents=0},schedule-loops' %s | filecheck %s --check-prefix=NEVER
// RUN: tilewright opt --pass 'record-requests{agents=1 stages=4},schedule-loops' %s | filecheck %s --check-prefix=FORCED
#c = #nv_tileas.layout<[128, 64], register = [[0, 1], [8, 0], [0, 8], [0, 16], [0, 32]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0], [64, 0]]>
#a = #nv_tileas.layout<[128, 32], register = [[0, 1], [0, 2], [0, 4], [64, 0]], lane = [[0, 8], [0, 16], [1, 0], [2, 0], [4, 0]], warp = [[8, 0], [16, 0], [32, 0]]>
#b = #nv_tileas.layout<[32, 64], register = [[0, 1], [0, 2], [0, 4]], lane = [[0, 8], [0, 16], [0, 32], [1, 0], [2, 0]], warp = [[4, 0], [8, 0], [16, 0]]>
// Where wgmma reads A and B: rows of 64 and of 128 bytes, swizzled.
#a_placed = #nv_tileas.layout<[128, 32], offset = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [1, 0], [2, 8], [4, 16], [8, 0], [16, 0], [32, 0], [64, 0]]>
#b_placed = #nv_tileas.layout<[32, 64], offset = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [0, 32], [1, 8], [2, 16], [4, 32], [8, 0], [16, 0]]>
!a = tensor<128x32xf16, #a>
!b = tensor<32x64xf16, #b>
!a_placed = tensor<128x32xf16, #a_placed>
!b_placed = tensor<32x64xf16, #b_placed>
!c = tensor<128x64xf32, #c>
!a_tiles = !nv_tileaa.tiled_view<tile = [128, 32], source = !nv_tileaa.memref<512x512xf16, strides = [512, 1]>, padding = zero>
!b_tiles = !nv_tileaa.tiled_view<tile = [32, 64], source = !nv_tileaa.memref<512x64xf16, strides = [64, 1]>, padding = zero>
!c_tiles = !nv_tileaa.tiled_view<tile = [128, 64], source = !nv_tileaa.memref<512x64xf32, strides = [64, 1]>>
gpu.module @kernels attributes {nv_tileaa.target_spec = #nv_tileaa.target_spec<compute_capability = 90>} {
  // By TMA all stages are copied to early, and no dot is in flight: the other warpgroup keeps the tensor cores busy.
  // CHECK-LABEL: @persistent
  // CHECK-COUNT-2: nv_tileas.tiled_load {{.*}}nv_tileas.engine = #nv_tileas.engine<cp_async>
  // CHECK: nv_tileas.schedule<stages = 6, distance = 4, lag = 1>
  // NEVER-LABEL: @persistent
  // NEVER-COUNT-2: nv_tileas.tiled_load {{.*}}nv_tileas.engine = #nv_tileas.engine<cp_async>
  // NEVER: nv_tileas.dot {{.*}}nv_tileas.in_flight
  // NEVER: nv_tileas.schedule<stages = 6, distance = 4, lag = 1>
  // FORCED-LABEL: @persistent
  // FORCED: nv_tileas.schedule<stages = 4, distance = 4, lag = 0>
  nv_tileaa.func @persistent(%av: !a_tiles, %bv: !b_tiles, %cv: !c_tiles, %init: !c, %tiles: i32, %n: i32) attributes {kernel_spec = #nv_tileaa.kernel_spec<num_warps = 8>} {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    scf.for %i = %c0 to %tiles step %c1 : i32 {
      %sum = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %init) -> (!c) : i32 {
        %x:2 = nv_tileas.tiled_load weak %av[%i, %k] {vector = 8 : i32} : i32, i32 of !a_tiles -> !a
        %xp = nv_tileas.convert_layout %x#0 : !a -> !a_placed
        %y:2 = nv_tileas.tiled_load weak %bv[%k, %c0] {vector = 8 : i32} : i32, i32 of !b_tiles -> !b
        %yp = nv_tileas.convert_layout %y#0 : !b -> !b_placed
        %next = nv_tileas.dot %xp, %yp, %acc {atom = #nv_tileas.atom<wgmma>} : !a_placed, !b_placed, !c
        scf.yield %next : !c
      }
      %t = nv_tileas.tiled_store weak %sum, %cv[%i, %c0] : !c, i32, i32 of !c_tiles
    }
    nv_tileaa.return
  }
  // Tensor maps would cost more than they gain.
  // CHECK-LABEL: @one_shot
  // CHECK-COUNT-2: nv_tileas.tiled_load {{.*}}nv_tileas.engine = #nv_tileas.engine<cp_async>
  // CHECK: nv_tileas.dot {{.*}}nv_tileas.in_flight
  // CHECK: nv_tileas.schedule<stages = 6, distance = 5, lag = 0>
  // NEVER-LABEL: @one_shot
  // NEVER: nv_tileas.schedule<stages = 6, distance = 5, lag = 0>
  // FORCED-LABEL: @one_shot
  // FORCED-COUNT-2: nv_tileas.tiled_load {{.*}}nv_tileas.engine = #nv_tileas.engine<tma>
  // FORCED-NOT: nv_tileas.in_flight
  // FORCED: nv_tileas.schedule<stages = 4, distance = 4, lag = 0>
  nv_tileaa.func @one_shot(%av: !a_tiles, %bv: !b_tiles, %cv: !c_tiles, %init: !c, %tiles: i32, %n: i32) attributes {kernel_spec = #nv_tileaa.kernel_spec<num_warps = 8>} {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %sum = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %init) -> (!c) : i32 {
      %x:2 = nv_tileas.tiled_load weak %av[%c0, %k] {vector = 8 : i32} : i32, i32 of !a_tiles -> !a
      %xp = nv_tileas.convert_layout %x#0 : !a -> !a_placed
      %y:2 = nv_tileas.tiled_load weak %bv[%k, %c0] {vector = 8 : i32} : i32, i32 of !b_tiles -> !b
      %yp = nv_tileas.convert_layout %y#0 : !b -> !b_placed
      %next = nv_tileas.dot %xp, %yp, %acc {atom = #nv_tileas.atom<wgmma>} : !a_placed, !b_placed, !c
      scf.yield %next : !c
    }
    %t = nv_tileas.tiled_store weak %sum, %cv[%c0, %c0] : !c, i32, i32 of !c_tiles
    nv_tileaa.return
  }
}
