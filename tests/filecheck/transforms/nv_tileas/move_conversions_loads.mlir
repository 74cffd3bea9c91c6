// Conversions between a loaded tile and a dot move to the load, where a stage is read in the layout of the dot.
// RUN: tilewright opt --pass move-conversions %s | filecheck %s
#rows = #nv_tileas.layout<[64, 64], register = [[0, 1], [0, 2], [0, 4], [16, 0], [32, 0]], lane = [[0, 8], [0, 16], [0, 32], [1, 0], [2, 0]], warp = [[4, 0], [8, 0]]>
#left = #nv_tileas.layout<[64, 64], register = [[0, 1], [8, 0], [0, 8], [0, 16], [0, 32]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0]]>
// As #rows, with two registers exchanged.
#swapped = #nv_tileas.layout<[64, 64], register = [[0, 1], [0, 2], [0, 4], [32, 0], [16, 0]], lane = [[0, 8], [0, 16], [0, 32], [1, 0], [2, 0]], warp = [[4, 0], [8, 0]]>
#placed = #nv_tileas.layout<[64, 64], offset = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [0, 32], [1, 8], [2, 16], [4, 32], [8, 0], [16, 0], [32, 0]]>
#column = #nv_tileas.layout<[64, 1], register = [[16, 0], [32, 0]], lane = [[0, 0], [0, 0], [0, 0], [1, 0], [2, 0]], warp = [[4, 0], [8, 0]]>
#single = #nv_tileas.layout<[64], register = [], lane = [[1], [2], [4], [8], [16]], warp = [[32], [0]]>
#own_rows = #nv_tileas.layout<[64], register = [[16], [32]], lane = [[0], [0], [0], [1], [2]], warp = [[4], [8]]>
!list = !nv_tileaa.tiled_view<tile = [64], source = !nv_tileaa.memref<256xi32, strides = [1]>>
!gathered = !nv_tileaa.tiled_view<tile = [64, 64], source = !nv_tileaa.memref<72x272xf16, strides = [272, 1]>, padding = zero, sparse = 0>
!x = tensor<64x64xf16, #rows>
!y = tensor<64x64xf16, #left>
!s = tensor<64x1xf16, #column>
!tiles = !nv_tileaa.tiled_view<tile = [64, 64], source = !nv_tileaa.memref<72x272xf16, strides = [272, 1]>, padding = zero>
!nan_tiles = !nv_tileaa.tiled_view<tile = [64, 64], source = !nv_tileaa.memref<72x272xf16, strides = [272, 1]>, padding = nan>
gpu.module @kernels attributes {nv_tileaa.target_spec = #nv_tileaa.target_spec<compute_capability = 80>} {
  // Splats are free in any layout, and made before the loop if they were.
  // CHECK-LABEL: @scaled
  // CHECK: %[[S:.*]] = nv_tileas.splat %{{.*}} : f16 -> tensor<64x64xf16, #[[LEFT:.*]]>
  // CHECK-NEXT: scf.for
  // CHECK: %[[X:.*]]:2 = nv_tileas.tiled_load
  // CHECK-NEXT: %[[Y:.*]] = nv_tileas.convert_layout %[[X]]#0 : tensor<64x64xf16, #[[ROWS:.*]]> -> tensor<64x64xf16, #[[LEFT]]>
  // CHECK-NEXT: %[[M:.*]] = nv_tileaa.mulf %[[Y]], %[[S]] : tensor<64x64xf16, #[[LEFT]]>
  // CHECK-NEXT: %[[N:.*]] = nv_tileaa.negf %[[M]] : tensor<64x64xf16, #[[LEFT]]>
  // CHECK-NEXT: nv_tileaa.addf %{{.*}}, %[[N]]
  // CHECK-NEXT: scf.yield
  nv_tileaa.func @scaled(%v: !tiles, %s: f16, %init: !y, %n: i32) attributes {kernel_spec = #nv_tileaa.kernel_spec<num_warps = 4>} {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %scales = nv_tileas.splat %s : f16 -> !x
    %sum = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %init) -> (!y) : i32 {
      %x:2 = nv_tileas.tiled_load weak %v[%c0, %k] {vector = 8 : i32} : i32, i32 of !tiles -> !x
      %m = nv_tileaa.mulf %x#0, %scales : !x
      %u = nv_tileaa.negf %m : !x
      %y = nv_tileas.convert_layout %u : !x -> !y
      %next = nv_tileaa.addf %acc, %y : !y
      scf.yield %next : !y
    }
    nv_tileaa.return
  }
  // A column of scales from before the loop is converted there, and broadcast where it was.
  // CHECK-LABEL: @column
  // CHECK: %[[C:.*]] = nv_tileas.convert_layout %{{.*}} : tensor<64x1xf16, #{{.*}}> -> tensor<64x1xf16, #{{.*}}>
  // CHECK-NEXT: scf.for
  // CHECK: %[[X:.*]]:2 = nv_tileas.tiled_load
  // CHECK-NEXT: %[[Y:.*]] = nv_tileas.convert_layout %[[X]]#0
  // CHECK-NEXT: %[[S:.*]] = nv_tileas.broadcast %[[C]] : tensor<64x1xf16, #{{.*}}> -> tensor<64x64xf16, #[[LEFT:.*]]>
  // CHECK-NEXT: nv_tileaa.mulf %[[Y]], %[[S]] : tensor<64x64xf16, #[[LEFT]]>
  // CHECK-NOT: convert_layout
  nv_tileaa.func @column(%v: !tiles, %s: !s, %init: !y, %n: i32) attributes {kernel_spec = #nv_tileaa.kernel_spec<num_warps = 4>} {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %sum = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %init) -> (!y) : i32 {
      %x:2 = nv_tileas.tiled_load weak %v[%c0, %k] {vector = 8 : i32} : i32, i32 of !tiles -> !x
      %scales = nv_tileas.broadcast %s : !s -> !x
      %m = nv_tileaa.mulf %x#0, %scales : !x
      %y = nv_tileas.convert_layout %m : !x -> !y
      %next = nv_tileaa.addf %acc, %y : !y
      scf.yield %next : !y
    }
    nv_tileaa.return
  }
  // A whole tile from before the loop is converted there: once, not in each iteration.
  // CHECK-LABEL: @two_tiles
  // CHECK: %[[C:.*]] = nv_tileas.convert_layout
  // CHECK-NEXT: scf.for
  // CHECK: %[[X:.*]]:2 = nv_tileas.tiled_load
  // CHECK-NEXT: %[[Y:.*]] = nv_tileas.convert_layout %[[X]]#0
  // CHECK-NEXT: nv_tileaa.mulf %[[Y]], %[[C]]
  nv_tileaa.func @two_tiles(%v: !tiles, %scales: !x, %init: !y, %n: i32) attributes {kernel_spec = #nv_tileaa.kernel_spec<num_warps = 4>} {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %sum = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %init) -> (!y) : i32 {
      %x:2 = nv_tileas.tiled_load weak %v[%c0, %k] {vector = 8 : i32} : i32, i32 of !tiles -> !x
      %m = nv_tileaa.mulf %x#0, %scales : !x
      %y = nv_tileas.convert_layout %m : !x -> !y
      %next = nv_tileaa.addf %acc, %y : !y
      scf.yield %next : !y
    }
    nv_tileaa.return
  }
  // The result of mulf is used in its own layout, too: it would be computed twice.
  // CHECK-LABEL: @two_uses
  // CHECK: %[[M:.*]] = nv_tileaa.mulf
  // CHECK-NEXT: nv_tileas.convert_layout %[[M]]
  nv_tileaa.func @two_uses(%v: !tiles, %init: !y, %other: !x, %n: i32) attributes {kernel_spec = #nv_tileaa.kernel_spec<num_warps = 4>} {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %sum:2 = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %init, %acc1 = %other) -> (!y, !x) : i32 {
      %x:2 = nv_tileas.tiled_load weak %v[%c0, %k] {vector = 8 : i32} : i32, i32 of !tiles -> !x
      %m = nv_tileaa.mulf %x#0, %x#0 : !x
      %y = nv_tileas.convert_layout %m : !x -> !y
      %next = nv_tileaa.addf %acc, %y : !y
      %next1 = nv_tileaa.addf %acc1, %m : !x
      scf.yield %next, %next1 : !y, !x
    }
    nv_tileaa.return
  }
  // cp.async cannot pad with NaN: the tile passes through registers, to a stage that is read alike.
  // CHECK-LABEL: @through_registers
  // CHECK: %[[X:.*]]:2 = nv_tileas.tiled_load
  // CHECK: nv_tileas.convert_layout %[[X]]#0
  nv_tileaa.func @through_registers(%v: !nan_tiles, %init: !y, %n: i32) attributes {kernel_spec = #nv_tileaa.kernel_spec<num_warps = 4>} {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %sum = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %init) -> (!y) : i32 {
      %x:2 = nv_tileas.tiled_load weak %v[%c0, %k] {vector = 8 : i32} : i32, i32 of !nan_tiles -> !x
      %m = nv_tileaa.mulf %x#0, %x#0 : !x
      %y = nv_tileas.convert_layout %m : !x -> !y
      %next = nv_tileaa.addf %acc, %y : !y
      scf.yield %next : !y
    }
    nv_tileaa.return
  }
  // Each thread loads the indices of the rows that it gathers.
  // CHECK-LABEL: @gathered
  // CHECK: scf.for
  // CHECK-NEXT: %[[I:.*]]:2 = nv_tileas.tiled_load weak %{{.*}}[%{{.*}}] : i32 of {{.*}} -> tensor<64xi32, #[[INDICES:.*]]>
  // CHECK-NEXT: nv_tileas.gather_load weak %{{.*}}[%[[I]]#0, %{{.*}}] {{.*}} : tensor<64xi32, #[[INDICES]]>
  // CHECK-NOT: tensor<64xi32
  nv_tileaa.func @gathered(%v: !gathered, %list: !list, %init: !x, %n: i32) attributes {kernel_spec = #nv_tileaa.kernel_spec<num_warps = 4>} {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %sum = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %init) -> (!x) : i32 {
      %i:2 = nv_tileas.tiled_load weak %list[%k] : i32 of !list -> tensor<64xi32, #single>
      %j = nv_tileas.convert_layout %i#0 : tensor<64xi32, #single> -> tensor<64xi32, #own_rows>
      %x:2 = nv_tileas.gather_load weak %v[%j, %c0] {vector = 8 : i32} : tensor<64xi32, #own_rows>, i32 of !gathered -> !x
      %next = nv_tileaa.addf %acc, %x#0 : !x
      scf.yield %next : !x
    }
    nv_tileaa.return
  }
  // No load is reached: the conversion would only be replaced by another one.
  // CHECK-LABEL: @no_load
  // CHECK: %[[M:.*]] = nv_tileaa.negf
  // CHECK-NEXT: nv_tileas.convert_layout %[[M]]
  nv_tileaa.func @no_load(%v: !tiles, %s: !s, %init: !y, %other: !x, %n: i32) attributes {kernel_spec = #nv_tileaa.kernel_spec<num_warps = 4>} {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %sum:2 = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %init, %acc1 = %other) -> (!y, !x) : i32 {
      %x:2 = nv_tileas.tiled_load weak %v[%c0, %k] {vector = 8 : i32} : i32, i32 of !tiles -> !x
      %scales = nv_tileas.broadcast %s : !s -> !x
      %m = nv_tileaa.negf %scales : !x
      %y = nv_tileas.convert_layout %m : !x -> !y
      %next = nv_tileaa.addf %acc, %y : !y
      %next1 = nv_tileaa.addf %acc1, %x#0 : !x
      scf.yield %next, %next1 : !y, !x
    }
    nv_tileaa.return
  }
  // A load outside of loops has no stage.
  // CHECK-LABEL: @no_loop
  // CHECK: %[[M:.*]] = nv_tileaa.mulf
  // CHECK-NEXT: nv_tileas.convert_layout %[[M]]
  nv_tileaa.func @no_loop(%v: !tiles, %k: i32) attributes {kernel_spec = #nv_tileaa.kernel_spec<num_warps = 4>} {
    %x:2 = nv_tileas.tiled_load weak %v[%k, %k] {vector = 8 : i32} : i32, i32 of !tiles -> !x
    %m = nv_tileaa.mulf %x#0, %x#0 : !x
    %y = nv_tileas.convert_layout %m : !x -> !y
    %z = nv_tileaa.negf %y : !y
    nv_tileaa.return
  }
  // Memory that wgmma reads is written from registers, in any layout.
  // CHECK-LABEL: @to_shared_memory
  // CHECK: %[[M:.*]] = nv_tileaa.mulf
  // CHECK-NEXT: nv_tileas.convert_layout %[[M]]
  nv_tileaa.func @to_shared_memory(%v: !tiles, %n: i32) attributes {kernel_spec = #nv_tileaa.kernel_spec<num_warps = 4>} {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    scf.for %k = %c0 to %n step %c1 : i32 {
      %x:2 = nv_tileas.tiled_load weak %v[%c0, %k] {vector = 8 : i32} : i32, i32 of !tiles -> !x
      %m = nv_tileaa.mulf %x#0, %x#0 : !x
      %y = nv_tileas.convert_layout %m : !x -> tensor<64x64xf16, #placed>
      scf.yield
    }
    nv_tileaa.return
  }
  // A permutation of registers costs nothing.
  // CHECK-LABEL: @within_threads
  // CHECK: %[[M:.*]] = nv_tileaa.mulf
  // CHECK-NEXT: nv_tileas.convert_layout %[[M]]
  nv_tileaa.func @within_threads(%v: !tiles, %init: tensor<64x64xf16, #swapped>, %n: i32) attributes {kernel_spec = #nv_tileaa.kernel_spec<num_warps = 4>} {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %sum = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %init) -> (tensor<64x64xf16, #swapped>) : i32 {
      %x:2 = nv_tileas.tiled_load weak %v[%c0, %k] {vector = 8 : i32} : i32, i32 of !tiles -> !x
      %m = nv_tileaa.mulf %x#0, %x#0 : !x
      %y = nv_tileas.convert_layout %m : !x -> tensor<64x64xf16, #swapped>
      %next = nv_tileaa.addf %acc, %y : tensor<64x64xf16, #swapped>
      scf.yield %next : tensor<64x64xf16, #swapped>
    }
    nv_tileaa.return
  }
}
