// Layout constraints of parts of tiles, and of packed elements.
// RUN: tilewright opt --pass convert-tileaa-to-tileas %s | filecheck %s
// Concatenation adds a register: each thread holds the elements of both parts that it held before.
// CHECK: [[PART:#layout[0-9]*]] = #nv_tileas.layout<[128], register = [], lane = {{\[}}[1], [2], [4], [8], [16]], warp = {{\[}}[32], [64]]>
// CHECK: [[WHOLE:#layout[0-9]*]] = #nv_tileas.layout<[256], register = {{\[}}[128]], lane = {{\[}}[1], [2], [4], [8], [16]], warp = {{\[}}[32], [64]]>
// CHECK-LABEL: @parts
// CHECK: nv_tileas.cat {{.*}} : tensor<128xf32, [[PART]]>, tensor<128xf32, [[PART]]> -> tensor<256xf32, [[WHOLE]]>
// CHECK: nv_tileas.insert_slice {{.*}} : tensor<128xf32, [[PART]]>, tensor<256xf32, [[WHOLE]]>
// CHECK: nv_tileas.extract_slice {{.*}} : tensor<256xf32, [[WHOLE]]> -> tensor<128xf32, [[PART]]>
// CHECK: nv_tileas.extract {{.*}} -> f32
!f32 = !nv_tileaa.ptr<f32>
gpu.module @kernels attributes {nv_tileaa.target_spec = #nv_tileaa.target_spec<compute_capability = 90>} {
  nv_tileaa.func @parts(%x: !f32, %n: i32) attributes {kernel_spec = #nv_tileaa.kernel_spec<num_warps = 4>} {
    %i = nv_tileaa.make_range : tensor<128xi32>
    %xs = nv_tileaa.splat %x : !f32 -> tensor<128x!f32>
    %p = nv_tileaa.addptr %xs, %i : tensor<128x!f32>, tensor<128xi32>
    %a, %t = nv_tileaa.load weak %p : tensor<128x!f32> -> tensor<128xf32>
    %b = nv_tileaa.cat %a, %a axis = 0 : tensor<128xf32>, tensor<128xf32> -> tensor<256xf32>
    %c = nv_tileaa.insert_slice %a, %b[%n] : tensor<128xf32>, tensor<256xf32>
    %d = nv_tileaa.extract_slice %c[%n] : tensor<256xf32> -> tensor<128xf32>
    %e = nv_tileaa.extract %d[%n] : tensor<128xf32> -> f32
    %s = nv_tileaa.store weak %p, %d token = %t : tensor<128x!f32>, tensor<128xf32>
    %u = nv_tileaa.store weak %x, %e token = %s : !f32, f32
    nv_tileaa.return
  }
}
// -----
// The four bytes of an i32 are four registers of the thread that holds it.
// CHECK: register = {{\[}}[1], [2]], lane = {{\[}}[4], [8], [16], [32], [64]], warp = {{\[}}[128], [256]]
// CHECK-LABEL: @bytes
// CHECK: nv_tileas.pack {{.*}} : tensor<128xi32, {{#layout[0-9]*}}> -> tensor<512xi8, [[BYTES:#layout[0-9]*]]>
// CHECK: nv_tileas.unpack {{.*}} : tensor<512xi8, [[BYTES]]> -> tensor<128xf32, {{#layout[0-9]*}}>
!i32 = !nv_tileaa.ptr<i32>
gpu.module @kernels attributes {nv_tileaa.target_spec = #nv_tileaa.target_spec<compute_capability = 90>} {
  nv_tileaa.func @bytes(%x: !i32) attributes {kernel_spec = #nv_tileaa.kernel_spec<num_warps = 4>} {
    %i = nv_tileaa.make_range : tensor<128xi32>
    %xs = nv_tileaa.splat %x : !i32 -> tensor<128x!i32>
    %p = nv_tileaa.addptr %xs, %i : tensor<128x!i32>, tensor<128xi32>
    %a, %t = nv_tileaa.load weak %p : tensor<128x!i32> -> tensor<128xi32>
    %b = nv_tileaa.pack %a : tensor<128xi32> -> tensor<512xi8>
    %c = nv_tileaa.unpack %b : tensor<512xi8> -> tensor<128xf32>
    %d = nv_tileaa.bitcast %c : tensor<128xf32> to tensor<128xi32>
    %s = nv_tileaa.store weak %p, %d token = %t : tensor<128x!i32>, tensor<128xi32>
    nv_tileaa.return
  }
}
// -----
// Rows that are picked by index: the indices are where the rows are.
// CHECK-LABEL: @gather_scatter
// CHECK: nv_tileas.gather_load {{.*}} : tensor<32xi32, [[ROWS:#layout[0-9]*]]>, i32 of
// CHECK: nv_tileas.scatter_store {{.*}} tensor<32xi32, {{#layout[0-9]*}}>, i32 of
// CHECK: nv_tileas.tiled_atomic_rmw
!f32 = !nv_tileaa.ptr<f32>
!memory = !nv_tileaa.memref<64x32xf32, strides = [32, 1]>
!rows = !nv_tileaa.tiled_view<tile = [32, 32], source = !memory, sparse = 0>
!tiles = !nv_tileaa.tiled_view<tile = [32, 32], source = !memory>
gpu.module @kernels attributes {nv_tileaa.target_spec = #nv_tileaa.target_spec<compute_capability = 90>} {
  nv_tileaa.func @gather_scatter(%x: !f32) attributes {kernel_spec = #nv_tileaa.kernel_spec<num_warps = 4>} {
    %c0 = arith.constant 0 : i32
    %m = nv_tileaa.make_memref %x : !f32 -> !memory
    %v = nv_tileaa.block_tile %m : !rows
    %w = nv_tileaa.block_tile %m : !tiles
    %i = nv_tileaa.make_range : tensor<32xi32>
    %a, %t = nv_tileaa.gather_load weak %v[%i, %c0] : tensor<32xi32>, i32 of !rows -> tensor<32x32xf32>
    %s = nv_tileaa.scatter_store weak %a, %v[%i, %c0] token = %t : tensor<32x32xf32>, tensor<32xi32>, i32 of !rows
    %u = nv_tileaa.tiled_atomic_rmw relaxed gpu addf %a, %w[%c0, %c0] : tensor<32x32xf32>, i32, i32 of !tiles
    nv_tileaa.return
  }
}
// -----
// Small tiles are printed by one thread, which holds all elements in registers; asserts are not moved.
// CHECK: [[ALL:#layout[0-9]*]] = #nv_tileas.layout<[8], register = {{\[}}[1], [2], [4]], lane = {{\[}}[0], [0], [0], [0], [0]], warp = {{\[}}[0], [0]]>
// CHECK-LABEL: @print_assert
// CHECK: nv_tileas.convert_layout {{.*}} -> tensor<8xi32, [[ALL]]>
// CHECK: nv_tileas.print {{.*}} tensor<8xi32, [[ALL]]>
// CHECK-NOT: nv_tileas.convert_layout
// CHECK: nv_tileas.assert
!i32 = !nv_tileaa.ptr<i32>
gpu.module @kernels attributes {nv_tileaa.target_spec = #nv_tileaa.target_spec<compute_capability = 90>} {
  nv_tileaa.func @print_assert(%x: !i32) attributes {kernel_spec = #nv_tileaa.kernel_spec<num_warps = 4>} {
    %i = nv_tileaa.make_range : tensor<8xi32>
    %xs = nv_tileaa.splat %x : !i32 -> tensor<8x!i32>
    %p = nv_tileaa.addptr %xs, %i : tensor<8x!i32>, tensor<8xi32>
    %a, %t = nv_tileaa.load weak %p : tensor<8x!i32> -> tensor<8xi32>
    %u = nv_tileaa.print "%d", %a : tensor<8xi32>
    %c = nv_tileaa.cmpi slt, %a, %i : tensor<8xi32>
    nv_tileaa.assert %c, "wrong" : tensor<8xi1>
    nv_tileaa.return
  }
}
// -----
// A while loop carries a tile through its condition region in one layout.
// CHECK-LABEL: @while
// CHECK: scf.while {{.*}} -> tensor<512xf32, [[L:#layout[0-9]*]]>
// CHECK: scf.condition({{.*}}) {{.*}} : tensor<512xf32, [[L]]>
// CHECK: scf.yield {{.*}} : tensor<512xf32, [[L]]>
!f32 = !nv_tileaa.ptr<f32>
gpu.module @kernels attributes {nv_tileaa.target_spec = #nv_tileaa.target_spec<compute_capability = 90>} {
  nv_tileaa.func @while(%x: !f32, %n: i32) attributes {kernel_spec = #nv_tileaa.kernel_spec<num_warps = 4>} {
    %xa = nv_tileaa.assume #nv_tileaa.div_by<16>, %x : !f32
    %i = nv_tileaa.make_range : tensor<512xi32>
    %xs = nv_tileaa.splat %xa : !f32 -> tensor<512x!f32>
    %p = nv_tileaa.addptr %xs, %i : tensor<512x!f32>, tensor<512xi32>
    %a, %t = nv_tileaa.load weak %p : tensor<512x!f32> -> tensor<512xf32>
    %e = scf.while (%w = %a) : (tensor<512xf32>) -> tensor<512xf32> {
      %c = nv_tileaa.cmpi slt, %n, %n : i32
      scf.condition(%c) %w : tensor<512xf32>
    } do {
    ^bb0(%w: tensor<512xf32>):
      %d = nv_tileaa.addf %w, %w : tensor<512xf32>
      scf.yield %d : tensor<512xf32>
    }
    %s = nv_tileaa.store weak %p, %e token = %t : tensor<512x!f32>, tensor<512xf32>
    nv_tileaa.return
  }
}
