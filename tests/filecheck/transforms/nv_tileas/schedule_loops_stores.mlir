// Where consumers of a specialized kernel store by TMA: if it is forced, and each warp holds boxes of aligned rows.
// RUN: tilewright opt --pass 'record-requests{agents=1 tma-stores=1},schedule-loops' %s | filecheck %s
// RUN: tilewright opt --pass 'record-requests{agents=1 tma-stores=0},schedule-loops' %s | filecheck %s --check-prefix=NEVER
// RUN: tilewright opt --pass 'record-requests{agents=0 tma-stores=1},schedule-loops' %s | filecheck %s --check-prefix=NEVER
#c = #nv_tileas.layout<[64, 128], register = [[0, 1], [8, 0], [0, 8], [0, 16], [0, 32], [0, 64]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0]]>
#rows = #nv_tileas.layout<[64, 128], register = [[0, 1], [0, 2], [0, 4], [2, 0], [4, 0], [8, 0]], lane = [[0, 8], [0, 16], [0, 32], [0, 64], [1, 0]], warp = [[16, 0], [32, 0]]>
#a = #nv_tileas.layout<[64, 32], register = [[0, 1], [0, 2], [0, 4], [32, 0]], lane = [[0, 8], [0, 16], [1, 0], [2, 0], [4, 0]], warp = [[8, 0], [16, 0]]>
#b = #nv_tileas.layout<[32, 128], register = [[0, 1], [0, 2], [0, 4], [8, 0], [16, 0]], lane = [[0, 8], [0, 16], [0, 32], [0, 64], [1, 0]], warp = [[2, 0], [4, 0]]>
#a_placed = #nv_tileas.layout<[64, 32], offset = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [1, 0], [2, 8], [4, 16], [8, 0], [16, 0], [32, 0]]>
#b_placed = #nv_tileas.layout<[32, 128], offset = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [0, 32], [1, 8], [2, 16], [4, 32], [8, 0], [16, 0], [0, 64]]>
!a = tensor<64x32xf16, #a>
!b = tensor<32x128xf16, #b>
!a_placed = tensor<64x32xf16, #a_placed>
!b_placed = tensor<32x128xf16, #b_placed>
!c = tensor<64x128xf32, #c>
!half = tensor<64x128xf16, #c>
!stored = tensor<64x128xf16, #rows>
!ptr = !nv_tileaa.ptr<f16>
!a_tiles = !nv_tileaa.tiled_view<tile = [64, 32], source = !nv_tileaa.memref<512x512xf16, strides = [512, 1]>, padding = zero>
!b_tiles = !nv_tileaa.tiled_view<tile = [32, 128], source = !nv_tileaa.memref<512x128xf16, strides = [128, 1]>, padding = zero>
!memory = !nv_tileaa.memref<512x128xf16, strides = [128, 1]>
!c_tiles = !nv_tileaa.tiled_view<tile = [64, 128], source = !memory>
gpu.module @kernels attributes {nv_tileaa.target_spec = #nv_tileaa.target_spec<compute_capability = 90>} {
  // The tile is stored from the layout of the accumulators: a warp has two boxes of 16 x 64. The store that a token orders after one by
  // threads is left to threads: it would need a proxy fence.
  // CHECK-LABEL: @stores
  // CHECK: nv_tileas.tiled_store weak {{.*}}nv_tileas.engine = #nv_tileas.engine<tma>, nv_tileas.store_stages = 2 : i32
  // CHECK: nv_tileas.tiled_store
  // CHECK-NOT: nv_tileas.engine
  // CHECK: nv_tileas.tiled_store
  // CHECK-NOT: nv_tileas.engine
  // NEVER-LABEL: @stores
  // NEVER: nv_tileas.convert_layout
  // NEVER-NOT: nv_tileas.store_stages
  // NEVER: nv_tileaa.return
  nv_tileaa.func @stores(%av: !a_tiles, %bv: !b_tiles, %p: !ptr, %q: !ptr, %init: !c, %n: i32) attributes {kernel_spec = #nv_tileaa.kernel_spec<num_warps = 4>} {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %p16 = nv_tileaa.assume #nv_tileaa.div_by<16>, %p : !ptr
    %memory = nv_tileaa.make_memref %p16 : !ptr -> !memory
    %cv = nv_tileaa.block_tile %memory : !c_tiles
    %unaligned = nv_tileaa.make_memref %q : !ptr -> !memory
    %dv = nv_tileaa.block_tile %unaligned : !c_tiles
    %sum = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %init) -> (!c) : i32 {
      %x:2 = nv_tileas.tiled_load weak %av[%c0, %k] {vector = 8 : i32} : i32, i32 of !a_tiles -> !a
      %xp = nv_tileas.convert_layout %x#0 : !a -> !a_placed
      %y:2 = nv_tileas.tiled_load weak %bv[%k, %c0] {vector = 8 : i32} : i32, i32 of !b_tiles -> !b
      %yp = nv_tileas.convert_layout %y#0 : !b -> !b_placed
      %next = nv_tileas.dot %xp, %yp, %acc {atom = #nv_tileas.atom<wgmma>} : !a_placed, !b_placed, !c
      scf.yield %next : !c
    }
    %half = nv_tileaa.fp_to_fp %sum : !c to !half
    %stored = nv_tileas.convert_layout %half : !half -> !stored
    %t0 = nv_tileas.tiled_store weak %stored, %cv[%c0, %c0] {vector = 8 : i32} : !stored, i32, i32 of !c_tiles
    %t1 = nv_tileas.tiled_store weak %stored, %dv[%c0, %c0] : !stored, i32, i32 of !c_tiles
    %t2 = nv_tileas.tiled_store weak %stored, %cv[%c1, %c0] token = %t1 {vector = 8 : i32} : !stored, i32, i32 of !c_tiles
    nv_tileaa.return
  }
}
