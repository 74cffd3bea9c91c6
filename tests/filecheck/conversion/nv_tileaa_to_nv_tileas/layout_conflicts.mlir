// Layout conflicts: where an operation requires another layout than its operand has, the operand is
// converted, once.
// RUN: tilewright opt --pass convert-tileaa-to-tileas %s | filecheck %s
// Operands of a reduction are combined element by element: the second takes the layout of the first.
// CHECK-LABEL: @reduce
// CHECK-COUNT-2: nv_tileas.tiled_load
// CHECK: nv_tileas.convert_layout
// CHECK-NOT: nv_tileas.convert_layout
// CHECK: nv_tileas.reduce {{.*}} : tensor<32x32xf32, [[L:#layout[0-9]*]]>, tensor<32x32xf32, [[L]]> ->
!f32 = !nv_tileaa.ptr<f32>
!rows = !nv_tileaa.memref<32x32xf32, strides = [32, 1]>
!row_tiles = !nv_tileaa.tiled_view<tile = [32, 32], source = !rows>
!cols = !nv_tileaa.memref<32x32xf32, strides = [1, 32]>
!col_tiles = !nv_tileaa.tiled_view<tile = [32, 32], source = !cols>
gpu.module @kernels attributes {nv_tileaa.target_spec = #nv_tileaa.target_spec<compute_capability = 90>} {
  nv_tileaa.func @reduce(%x: !f32, %y: !f32, %n: i32, %c: i1) attributes {kernel_spec = #nv_tileaa.kernel_spec<num_warps = 4>} {
    %c0 = arith.constant 0 : i32
    %mx = nv_tileaa.make_memref %x : !f32 -> !rows
    %vx = nv_tileaa.block_tile %mx : !row_tiles
    %my = nv_tileaa.make_memref %y : !f32 -> !cols
    %vy = nv_tileaa.block_tile %my : !col_tiles
    %a, %t = nv_tileaa.tiled_load weak %vx[%c0, %c0] : i32, i32 of !row_tiles -> tensor<32x32xf32>
    %b, %u = nv_tileaa.tiled_load weak %vy[%c0, %c0] : i32, i32 of !col_tiles -> tensor<32x32xf32>
    %r:2 = nv_tileaa.reduce %a, %b {axis = 0 : i32} : tensor<32x32xf32>, tensor<32x32xf32> -> tensor<32xf32>, tensor<32xf32> {
    ^bb0(%p: f32, %q: f32, %v: f32, %w: f32):
      nv_tileaa.yield %p, %v : f32, f32
    }
    nv_tileaa.return
  }
}
// -----
// Both parts of a concatenation have one layout.
// CHECK-LABEL: @cat
// CHECK: nv_tileas.convert_layout
// CHECK: nv_tileas.cat {{.*}} : tensor<32x32xf32, [[L:#layout[0-9]*]]>, tensor<32x32xf32, [[L]]> ->
!f32 = !nv_tileaa.ptr<f32>
!rows = !nv_tileaa.memref<32x32xf32, strides = [32, 1]>
!row_tiles = !nv_tileaa.tiled_view<tile = [32, 32], source = !rows>
!cols = !nv_tileaa.memref<32x32xf32, strides = [1, 32]>
!col_tiles = !nv_tileaa.tiled_view<tile = [32, 32], source = !cols>
gpu.module @kernels attributes {nv_tileaa.target_spec = #nv_tileaa.target_spec<compute_capability = 90>} {
  nv_tileaa.func @cat(%x: !f32, %y: !f32, %n: i32, %c: i1) attributes {kernel_spec = #nv_tileaa.kernel_spec<num_warps = 4>} {
    %c0 = arith.constant 0 : i32
    %mx = nv_tileaa.make_memref %x : !f32 -> !rows
    %vx = nv_tileaa.block_tile %mx : !row_tiles
    %my = nv_tileaa.make_memref %y : !f32 -> !cols
    %vy = nv_tileaa.block_tile %my : !col_tiles
    %a, %t = nv_tileaa.tiled_load weak %vx[%c0, %c0] : i32, i32 of !row_tiles -> tensor<32x32xf32>
    %b, %u = nv_tileaa.tiled_load weak %vy[%c0, %c0] : i32, i32 of !col_tiles -> tensor<32x32xf32>
    %r = nv_tileaa.cat %a, %b axis = 0 : tensor<32x32xf32>, tensor<32x32xf32> -> tensor<64x32xf32>
    nv_tileaa.return
  }
}
// -----
// A slice is a set of whole registers: each thread holds the same elements of every slice.
// CHECK-LABEL: @slices
// CHECK: [[B:%[0-9]+]] = nv_tileas.convert_layout {{.*}} -> tensor<32x32xf32, [[WHOLE:#layout[0-9]*]]>
// CHECK: nv_tileas.extract_slice [[B]]
// CHECK: nv_tileaa.addf
// CHECK: nv_tileas.insert_slice {{.*}}, [[B]]{{.*}} tensor<32x32xf32, [[WHOLE]]>
// CHECK: nv_tileas.convert_layout
// CHECK: nv_tileas.tiled_store
!f32 = !nv_tileaa.ptr<f32>
!rows = !nv_tileaa.memref<32x32xf32, strides = [32, 1]>
!row_tiles = !nv_tileaa.tiled_view<tile = [32, 32], source = !rows>
!cols = !nv_tileaa.memref<32x32xf32, strides = [1, 32]>
!col_tiles = !nv_tileaa.tiled_view<tile = [32, 32], source = !cols>
!half_tiles = !nv_tileaa.tiled_view<tile = [16, 32], source = !rows>
gpu.module @kernels attributes {nv_tileaa.target_spec = #nv_tileaa.target_spec<compute_capability = 90>} {
  nv_tileaa.func @slices(%x: !f32, %y: !f32, %n: i32, %c: i1) attributes {kernel_spec = #nv_tileaa.kernel_spec<num_warps = 4>} {
    %c0 = arith.constant 0 : i32
    %mx = nv_tileaa.make_memref %x : !f32 -> !rows
    %vx = nv_tileaa.block_tile %mx : !row_tiles
    %my = nv_tileaa.make_memref %y : !f32 -> !cols
    %vy = nv_tileaa.block_tile %my : !col_tiles
    %a, %t = nv_tileaa.tiled_load weak %vx[%c0, %c0] : i32, i32 of !row_tiles -> tensor<32x32xf32>
    %b, %u = nv_tileaa.tiled_load weak %vy[%c0, %c0] : i32, i32 of !col_tiles -> tensor<32x32xf32>
    %vh = nv_tileaa.block_tile %mx : !half_tiles
    %half:2 = nv_tileaa.tiled_load weak %vh[%c0, %c0] : i32, i32 of !half_tiles -> tensor<16x32xf32>
    %e = nv_tileaa.extract_slice %b[%n, %c0] : tensor<32x32xf32> -> tensor<16x32xf32>
    %s = nv_tileaa.addf %e, %half#0 : tensor<16x32xf32>
    %i = nv_tileaa.insert_slice %s, %b[%n, %c0] : tensor<16x32xf32>, tensor<32x32xf32>
    %z = nv_tileaa.tiled_store weak %i, %vy[%c0, %c0] token = %u : tensor<32x32xf32>, i32, i32 of !col_tiles
    nv_tileaa.return
  }
}
// -----
// A change of shape into a tile with another layout: its source is converted before it.
// CHECK-LABEL: @view
// CHECK: nv_tileas.convert_layout {{.*}} : tensor<1024xf32
// CHECK: nv_tileas.view
// CHECK: nv_tileaa.addf
!f32 = !nv_tileaa.ptr<f32>
!rows = !nv_tileaa.memref<32x32xf32, strides = [32, 1]>
!row_tiles = !nv_tileaa.tiled_view<tile = [32, 32], source = !rows>
!cols = !nv_tileaa.memref<32x32xf32, strides = [1, 32]>
!col_tiles = !nv_tileaa.tiled_view<tile = [32, 32], source = !cols>
gpu.module @kernels attributes {nv_tileaa.target_spec = #nv_tileaa.target_spec<compute_capability = 90>} {
  nv_tileaa.func @view(%x: !f32, %y: !f32, %n: i32, %c: i1) attributes {kernel_spec = #nv_tileaa.kernel_spec<num_warps = 4>} {
    %c0 = arith.constant 0 : i32
    %mx = nv_tileaa.make_memref %x : !f32 -> !rows
    %vx = nv_tileaa.block_tile %mx : !row_tiles
    %my = nv_tileaa.make_memref %y : !f32 -> !cols
    %vy = nv_tileaa.block_tile %my : !col_tiles
    %a, %t = nv_tileaa.tiled_load weak %vx[%c0, %c0] : i32, i32 of !row_tiles -> tensor<32x32xf32>
    %b, %u = nv_tileaa.tiled_load weak %vy[%c0, %c0] : i32, i32 of !col_tiles -> tensor<32x32xf32>
    %i = nv_tileaa.make_range : tensor<1024xi32>
    %xs = nv_tileaa.splat %x : !f32 -> tensor<1024x!f32>
    %ps = nv_tileaa.addptr %xs, %i : tensor<1024x!f32>, tensor<1024xi32>
    %v, %w = nv_tileaa.load weak %ps : tensor<1024x!f32> -> tensor<1024xf32>
    %r = nv_tileaa.view %v : tensor<1024xf32> -> tensor<32x32xf32>
    %s = nv_tileaa.addf %r, %b : tensor<32x32xf32>
    nv_tileaa.return
  }
}
// -----
// A row that is broadcast to a tile with other owners: the row is converted, not the tile.
// CHECK-LABEL: @broadcast
// CHECK: nv_tileas.convert_layout {{.*}} : tensor<1x32xf32
// CHECK: nv_tileas.broadcast
// CHECK: nv_tileaa.addf
!f32 = !nv_tileaa.ptr<f32>
!rows = !nv_tileaa.memref<32x32xf32, strides = [32, 1]>
!row_tiles = !nv_tileaa.tiled_view<tile = [32, 32], source = !rows>
!cols = !nv_tileaa.memref<32x32xf32, strides = [1, 32]>
!col_tiles = !nv_tileaa.tiled_view<tile = [32, 32], source = !cols>
gpu.module @kernels attributes {nv_tileaa.target_spec = #nv_tileaa.target_spec<compute_capability = 90>} {
  nv_tileaa.func @broadcast(%x: !f32, %y: !f32, %n: i32, %c: i1) attributes {kernel_spec = #nv_tileaa.kernel_spec<num_warps = 4>} {
    %c0 = arith.constant 0 : i32
    %mx = nv_tileaa.make_memref %x : !f32 -> !rows
    %vx = nv_tileaa.block_tile %mx : !row_tiles
    %my = nv_tileaa.make_memref %y : !f32 -> !cols
    %vy = nv_tileaa.block_tile %my : !col_tiles
    %a, %t = nv_tileaa.tiled_load weak %vx[%c0, %c0] : i32, i32 of !row_tiles -> tensor<32x32xf32>
    %b, %u = nv_tileaa.tiled_load weak %vy[%c0, %c0] : i32, i32 of !col_tiles -> tensor<32x32xf32>
    %i = nv_tileaa.make_range : tensor<32xi32>
    %xs = nv_tileaa.splat %x : !f32 -> tensor<32x!f32>
    %ps = nv_tileaa.addptr %xs, %i : tensor<32x!f32>, tensor<32xi32>
    %v, %w = nv_tileaa.load weak %ps : tensor<32x!f32> -> tensor<32xf32>
    %e = nv_tileaa.expand_dims %v {axis = 0 : i64} : tensor<32xf32> -> tensor<1x32xf32>
    %r = nv_tileaa.broadcast %e : tensor<1x32xf32> -> tensor<32x32xf32>
    %s = nv_tileaa.addf %r, %b : tensor<32x32xf32>
    nv_tileaa.return
  }
}
// -----
// A constant that enters a loop, or leaves a branch or a loop, is materialized in the layout that the
// tile has there.
// CHECK-LABEL: @control_flow
// CHECK: nv_tileas.splat {{.*}} -> tensor<32x32xf32, [[L:#layout[0-9]*]]>
// CHECK: scf.while {{.*}} -> tensor<32x32xf32, [[L]]>
// CHECK: scf.condition{{.*}} : tensor<32x32xf32, [[L]]>
// CHECK: scf.if {{.*}} -> (tensor<32x32xf32, [[L]]>)
// CHECK: nv_tileas.tiled_store {{.*}} : tensor<32x32xf32, [[L]]>
!f32 = !nv_tileaa.ptr<f32>
!rows = !nv_tileaa.memref<32x32xf32, strides = [32, 1]>
!row_tiles = !nv_tileaa.tiled_view<tile = [32, 32], source = !rows>
!cols = !nv_tileaa.memref<32x32xf32, strides = [1, 32]>
!col_tiles = !nv_tileaa.tiled_view<tile = [32, 32], source = !cols>
gpu.module @kernels attributes {nv_tileaa.target_spec = #nv_tileaa.target_spec<compute_capability = 90>} {
  nv_tileaa.func @control_flow(%x: !f32, %y: !f32, %n: i32, %c: i1) attributes {kernel_spec = #nv_tileaa.kernel_spec<num_warps = 4>} {
    %c0 = arith.constant 0 : i32
    %mx = nv_tileaa.make_memref %x : !f32 -> !rows
    %vx = nv_tileaa.block_tile %mx : !row_tiles
    %my = nv_tileaa.make_memref %y : !f32 -> !cols
    %vy = nv_tileaa.block_tile %my : !col_tiles
    %a, %t = nv_tileaa.tiled_load weak %vx[%c0, %c0] : i32, i32 of !row_tiles -> tensor<32x32xf32>
    %b, %u = nv_tileaa.tiled_load weak %vy[%c0, %c0] : i32, i32 of !col_tiles -> tensor<32x32xf32>
    %f0 = arith.constant 0.0 : f32
    %f1 = arith.constant 1.0 : f32
    %init = nv_tileaa.splat %f0 : f32 -> tensor<32x32xf32>
    %other = nv_tileaa.splat %f1 : f32 -> tensor<32x32xf32>
    %e = scf.while (%w = %init) : (tensor<32x32xf32>) -> tensor<32x32xf32> {
      %go = nv_tileaa.cmpi slt, %n, %c0 : i32
      scf.condition(%go) %other : tensor<32x32xf32>
    } do {
    ^bb0(%w: tensor<32x32xf32>):
      %d = nv_tileaa.addf %w, %b : tensor<32x32xf32>
      scf.yield %d : tensor<32x32xf32>
    }
    %g = scf.if %c -> (tensor<32x32xf32>) {
      scf.yield %e : tensor<32x32xf32>
    } else {
      scf.yield %other : tensor<32x32xf32>
    }
    %z = nv_tileaa.tiled_store weak %g, %vy[%c0, %c0] token = %u : tensor<32x32xf32>, i32, i32 of !col_tiles
    nv_tileaa.return
  }
}
// -----
// Four bytes of a word are held by one thread, whatever the layout of the bytes in memory.
// CHECK-LABEL: @unpack
// CHECK: nv_tileas.load
// CHECK: nv_tileas.convert_layout
// CHECK: nv_tileas.unpack
// CHECK: nv_tileas.atomic_cas
!i8 = !nv_tileaa.ptr<i8>
!i32 = !nv_tileaa.ptr<i32>
gpu.module @kernels attributes {nv_tileaa.target_spec = #nv_tileaa.target_spec<compute_capability = 90>} {
  nv_tileaa.func @unpack(%x: !i8, %y: !i32) attributes {kernel_spec = #nv_tileaa.kernel_spec<num_warps = 4>} {
    %i = nv_tileaa.make_range : tensor<512xi32>
    %xs = nv_tileaa.splat %x : !i8 -> tensor<512x!i8>
    %p = nv_tileaa.addptr %xs, %i : tensor<512x!i8>, tensor<512xi32>
    %a, %t = nv_tileaa.load weak %p : tensor<512x!i8> -> tensor<512xi8>
    %w = nv_tileaa.unpack %a : tensor<512xi8> -> tensor<128xi32>
    %ys = nv_tileaa.splat %y : !i32 -> tensor<128x!i32>
    %o, %u = nv_tileaa.atomic_cas relaxed gpu %ys, %w, %w : tensor<128x!i32>, tensor<128xi32>
    nv_tileaa.return
  }
}
// -----
// A tile that is loaded element by element joins one that is loaded and stored in vectors: it is
// converted, since strided elements would take more memory transactions.
// CHECK-LABEL: @expand_dims
// CHECK: nv_tileas.convert_layout {{.*}} : tensor<1024xf32
// CHECK: nv_tileas.expand_dims {{.*}} -> tensor<1x1024xf32, [[L:#layout[0-9]*]]>
// CHECK: nv_tileaa.addf {{.*}} : tensor<1x1024xf32, [[L]]>
!f32 = !nv_tileaa.ptr<f32>
gpu.module @kernels attributes {nv_tileaa.target_spec = #nv_tileaa.target_spec<compute_capability = 90>} {
  nv_tileaa.func @expand_dims(%x: !f32, %y: !f32) attributes {kernel_spec = #nv_tileaa.kernel_spec<num_warps = 4>} {
    %i = nv_tileaa.make_range : tensor<1024xi32>
    %xs = nv_tileaa.splat %x : !f32 -> tensor<1024x!f32>
    %p = nv_tileaa.addptr %xs, %i : tensor<1024x!f32>, tensor<1024xi32>
    %a, %t = nv_tileaa.load weak %p : tensor<1024x!f32> -> tensor<1024xf32>
    %ya = nv_tileaa.assume #nv_tileaa.div_by<16>, %y : !f32
    %j = nv_tileaa.expand_dims %i {axis = 0 : i64} : tensor<1024xi32> -> tensor<1x1024xi32>
    %ys = nv_tileaa.splat %ya : !f32 -> tensor<1x1024x!f32>
    %q = nv_tileaa.addptr %ys, %j : tensor<1x1024x!f32>, tensor<1x1024xi32>
    %b, %u = nv_tileaa.load weak %q : tensor<1x1024x!f32> -> tensor<1x1024xf32>
    %e = nv_tileaa.expand_dims %a {axis = 0 : i64} : tensor<1024xf32> -> tensor<1x1024xf32>
    %s = nv_tileaa.addf %e, %b : tensor<1x1024xf32>
    %v = nv_tileaa.store weak %q, %s : tensor<1x1024x!f32>, tensor<1x1024xf32>
    nv_tileaa.return
  }
}
