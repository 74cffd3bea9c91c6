// Where CTAs of a cluster multicast tiles: what several of them load and a producer copies by TMA.
// RUN: tilewright opt --pass schedule-loops %s | filecheck %s
// RUN: tilewright opt --pass 'record-requests{multicast=0},schedule-loops' %s | filecheck %s --check-prefix=NEVER
// RUN: tilewright opt --pass 'record-requests{agents=0},schedule-loops' %s | filecheck %s --check-prefix=NEVER
// RUN: tilewright opt --pass 'record-requests{multicast=1},schedule-loops' %s | filecheck %s
// NEVER-NOT: nv_tileas.multicast
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
  // CTAs have rows of their own, and share B.
  // CHECK-LABEL: @two
  // CHECK: nv_tileas.tiled_load {{.*}}%arg0{{.*}}{nv_tileas.engine = #nv_tileas.engine<tma>, vector = 8 : i32}
  // CHECK: nv_tileas.tiled_load {{.*}}%arg1{{.*}}nv_tileas.multicast = 1 : i32
  nv_tileaa.func @two(%av: !a_tiles, %bv: !b_tiles, %cv: !c_tiles, %init: !c, %tiles: i32, %n: i32) attributes {kernel_spec = #nv_tileaa.kernel_spec<num_ctas = 2, num_warps = 8>} {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %rank = nv_tileaa.get_cta_rank : i32
    scf.for %i = %c0 to %tiles step %c1 : i32 {
      %row = arith.addi %i, %rank : i32
      %sum = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %init) -> (!c) : i32 {
        %x:2 = nv_tileas.tiled_load weak %av[%row, %k] {vector = 8 : i32} : i32, i32 of !a_tiles -> !a
        %xp = nv_tileas.convert_layout %x#0 : !a -> !a_placed
        %y:2 = nv_tileas.tiled_load weak %bv[%k, %c0] {nv_tileaa.cluster_shared = 1 : i32, vector = 8 : i32} : i32, i32 of !b_tiles -> !b
        %yp = nv_tileas.convert_layout %y#0 : !b -> !b_placed
        %next = nv_tileas.dot %xp, %yp, %acc {atom = #nv_tileas.atom<wgmma>} : !a_placed, !b_placed, !c
        scf.yield %next : !c
      }
      %t = nv_tileas.tiled_store weak %sum, %cv[%row, %c0] : !c, i32, i32 of !c_tiles
    }
    nv_tileaa.return
  }
  // B has four parts of 8 rows: of eight CTAs, each four multicast.
  // CHECK-LABEL: @eight
  // CHECK: nv_tileas.tiled_load {{.*}}%arg1{{.*}}nv_tileas.multicast = 3 : i32
  nv_tileaa.func @eight(%av: !a_tiles, %bv: !b_tiles, %cv: !c_tiles, %init: !c, %tiles: i32, %n: i32) attributes {kernel_spec = #nv_tileaa.kernel_spec<num_ctas = 8, num_warps = 8>} {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %rank = nv_tileaa.get_cta_rank : i32
    scf.for %i = %c0 to %tiles step %c1 : i32 {
      %row = arith.addi %i, %rank : i32
      %sum = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %init) -> (!c) : i32 {
        %x:2 = nv_tileas.tiled_load weak %av[%row, %k] {vector = 8 : i32} : i32, i32 of !a_tiles -> !a
        %xp = nv_tileas.convert_layout %x#0 : !a -> !a_placed
        %y:2 = nv_tileas.tiled_load weak %bv[%k, %c0] {nv_tileaa.cluster_shared = 7 : i32, vector = 8 : i32} : i32, i32 of !b_tiles -> !b
        %yp = nv_tileas.convert_layout %y#0 : !b -> !b_placed
        %next = nv_tileas.dot %xp, %yp, %acc {atom = #nv_tileas.atom<wgmma>} : !a_placed, !b_placed, !c
        scf.yield %next : !c
      }
      %t = nv_tileas.tiled_store weak %sum, %cv[%row, %c0] : !c, i32, i32 of !c_tiles
    }
    nv_tileaa.return
  }
  // Some CTAs share A, others share B.
  // CHECK-LABEL: @both
  // CHECK: nv_tileas.tiled_load {{.*}}%arg0{{.*}}nv_tileas.multicast = 2 : i32
  // CHECK: nv_tileas.tiled_load {{.*}}%arg1{{.*}}nv_tileas.multicast = 1 : i32
  nv_tileaa.func @both(%av: !a_tiles, %bv: !b_tiles, %cv: !c_tiles, %init: !c, %tiles: i32, %n: i32) attributes {kernel_spec = #nv_tileaa.kernel_spec<num_ctas = 4, num_warps = 8>} {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %rank = nv_tileaa.get_cta_rank : i32
    scf.for %i = %c0 to %tiles step %c1 : i32 {
      %row = arith.addi %i, %rank : i32
      %sum = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %init) -> (!c) : i32 {
        %x:2 = nv_tileas.tiled_load weak %av[%row, %k] {nv_tileaa.cluster_shared = 2 : i32, vector = 8 : i32} : i32, i32 of !a_tiles -> !a
        %xp = nv_tileas.convert_layout %x#0 : !a -> !a_placed
        %y:2 = nv_tileas.tiled_load weak %bv[%k, %c0] {nv_tileaa.cluster_shared = 1 : i32, vector = 8 : i32} : i32, i32 of !b_tiles -> !b
        %yp = nv_tileas.convert_layout %y#0 : !b -> !b_placed
        %next = nv_tileas.dot %xp, %yp, %acc {atom = #nv_tileas.atom<wgmma>} : !a_placed, !b_placed, !c
        scf.yield %next : !c
      }
      %t = nv_tileas.tiled_store weak %sum, %cv[%row, %c0] : !c, i32, i32 of !c_tiles
    }
    nv_tileaa.return
  }
  // CTAs with different iterations have no stages in common.
  // CHECK-LABEL: @iterations
  // CHECK: nv_tileas.engine<tma>
  // CHECK-NOT: nv_tileas.multicast
  nv_tileaa.func @iterations(%av: !a_tiles, %bv: !b_tiles, %cv: !c_tiles, %init: !c, %tiles: i32, %n: i32) attributes {kernel_spec = #nv_tileaa.kernel_spec<num_ctas = 2, num_warps = 8>} {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %rank = nv_tileaa.get_cta_rank : i32
    scf.for %i = %c0 to %tiles step %c1 : i32 {
      %row = arith.addi %i, %rank : i32
      %sum = scf.for %k = %rank to %n step %c1 iter_args(%acc = %init) -> (!c) : i32 {
        %x:2 = nv_tileas.tiled_load weak %av[%row, %k] {vector = 8 : i32} : i32, i32 of !a_tiles -> !a
        %xp = nv_tileas.convert_layout %x#0 : !a -> !a_placed
        %y:2 = nv_tileas.tiled_load weak %bv[%k, %c0] {nv_tileaa.cluster_shared = 1 : i32, vector = 8 : i32} : i32, i32 of !b_tiles -> !b
        %yp = nv_tileas.convert_layout %y#0 : !b -> !b_placed
        %next = nv_tileas.dot %xp, %yp, %acc {atom = #nv_tileas.atom<wgmma>} : !a_placed, !b_placed, !c
        scf.yield %next : !c
      }
      %t = nv_tileas.tiled_store weak %sum, %cv[%row, %c0] : !c, i32, i32 of !c_tiles
    }
    nv_tileaa.return
  }
  // Nothing is shared.
  // CHECK-LABEL: @alone
  // CHECK: nv_tileas.engine<tma>
  // CHECK-NOT: nv_tileas.multicast
  nv_tileaa.func @alone(%av: !a_tiles, %bv: !b_tiles, %cv: !c_tiles, %init: !c, %tiles: i32, %n: i32) attributes {kernel_spec = #nv_tileaa.kernel_spec<num_ctas = 2, num_warps = 8>} {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %rank = nv_tileaa.get_cta_rank : i32
    scf.for %i = %c0 to %tiles step %c1 : i32 {
      %row = arith.addi %i, %rank : i32
      %sum = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %init) -> (!c) : i32 {
        %x:2 = nv_tileas.tiled_load weak %av[%row, %k] {vector = 8 : i32} : i32, i32 of !a_tiles -> !a
        %xp = nv_tileas.convert_layout %x#0 : !a -> !a_placed
        %y:2 = nv_tileas.tiled_load weak %bv[%k, %c0] {vector = 8 : i32} : i32, i32 of !b_tiles -> !b
        %yp = nv_tileas.convert_layout %y#0 : !b -> !b_placed
        %next = nv_tileas.dot %xp, %yp, %acc {atom = #nv_tileas.atom<wgmma>} : !a_placed, !b_placed, !c
        scf.yield %next : !c
      }
      %t = nv_tileas.tiled_store weak %sum, %cv[%row, %c0] : !c, i32, i32 of !c_tiles
    }
    nv_tileaa.return
  }
}
