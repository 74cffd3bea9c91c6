// Tiled views: addresses from strides, predicates from extents.
// RUN: tilewright opt --pass convert-tileas-to-nvgpu %s | filecheck %s
#row = #nv_tileas.layout<[128], register = [[1], [2]], lane = [[4], [8], [16], [32], [64]], warp = []>
#long = #nv_tileas.layout<[512], register = [[1], [2], [128], [256]], lane = [[4], [8], [16], [32], [64]], warp = []>
!f32 = !nv_tileaa.ptr<f32>
!memory = !nv_tileaa.memref<?xf32, strides = [1]>
!wide = !nv_tileaa.tiled_view<tile = [512], source = !memory, padding = zero>
!tiles = !nv_tileaa.tiled_view<tile = [128], source = !memory, padding = zero>
!static = !nv_tileaa.memref<1024xf32, strides = [1]>
!whole = !nv_tileaa.tiled_view<tile = [128], source = !static>
gpu.module @kernels attributes {nv_tileaa.target_spec = #nv_tileaa.target_spec<compute_capability = 90>} {
  // With several accesses of a thread: how many elements of the tile are in bounds, min(n - start, 512), or 0
  // if it starts past the end, all unsigned; the start of a vector within the tile is compared with that, for
  // loads and for stores. An element out of bounds reads as the padding.
  // CHECK-LABEL: @bounds
  // CHECK: [[N:%[0-9]+]] = arith.extui %arg1 : i32 to i64
  // CHECK: [[START:%[0-9]+]] = arith.muli {{%[0-9]+}}, %c512_i64
  // CHECK: [[BEGINS:%[0-9]+]] = arith.cmpi ult, [[START]], [[N]] : i64
  // CHECK: [[REST:%[0-9]+]] = arith.subi [[N]], [[START]] : i64
  // CHECK: [[WITHIN:%[0-9]+]] = arith.minui [[REST]], %c512_i64
  // CHECK: [[SHORT:%[0-9]+]] = arith.trunci [[WITHIN]] : i64 to i32
  // CHECK: [[LIMIT:%[0-9]+]] = arith.select [[BEGINS]], [[SHORT]], %c0_i32
  // CHECK: [[IN:%[0-9]+]] = arith.cmpi ult, {{%[0-9]+}}, [[LIMIT]] : i32
  // CHECK: arith.constant dense<0.000000e+00> : vector<16xf32>
  // CHECK: nvvm.ld.global {{%[0-9]+}}, [[IN]], {{.*}} {bytes = 16 : i32}
  // CHECK: [[LIMIT2:%[0-9]+]] = arith.select {{%[0-9]+}}, {{%[0-9]+}}, %c0_i32
  // CHECK: [[IN2:%[0-9]+]] = arith.cmpi ult, {{%[0-9]+}}, [[LIMIT2]] : i32
  // CHECK: nvvm.st.global {{%[0-9]+}}, {{%[0-9]+}}, [[IN2]] {bytes = 16 : i32}
  nv_tileaa.func @bounds(%x: !f32, %n: i32, %i: i32) attributes {kernel_spec = #nv_tileaa.kernel_spec<num_warps = 1>} {
    %m = nv_tileaa.make_memref %x sizes(%n : i32) : !f32 -> !memory
    %v = nv_tileaa.block_tile %m : !wide
    %a, %t = nv_tileas.tiled_load weak %v[%i] {vector = 4 : i32} : i32 of !wide -> tensor<512xf32, #long>
    %s = nv_tileas.tiled_store weak %a, %v[%i] token = %t {vector = 4 : i32} : tensor<512xf32, #long>, i32 of !wide
    nv_tileaa.return
  }
  // With one access, its index is compared with the size of the tensor.
  // CHECK-LABEL: @one_access
  // CHECK: [[N:%[0-9]+]] = arith.extui %arg1 : i32 to i64
  // CHECK: [[START:%[0-9]+]] = arith.muli {{%[0-9]+}}, %c128_i64
  // CHECK: [[INDEX:%[0-9]+]] = arith.addi [[START]], {{%[0-9]+}} : i64
  // CHECK-NOT: arith.minui
  // CHECK: [[IN:%[0-9]+]] = arith.cmpi ult, [[INDEX]], [[N]] : i64
  // CHECK: nvvm.ld.global {{%[0-9]+}}, [[IN]], {{.*}} {bytes = 16 : i32}
  nv_tileaa.func @one_access(%x: !f32, %n: i32, %i: i32) attributes {kernel_spec = #nv_tileaa.kernel_spec<num_warps = 1>} {
    %m = nv_tileaa.make_memref %x sizes(%n : i32) : !f32 -> !memory
    %v = nv_tileaa.block_tile %m : !tiles
    %a, %t = nv_tileas.tiled_load weak %v[%i] {vector = 4 : i32} : i32 of !tiles -> tensor<128xf32, #row>
    %s = nv_tileas.tiled_store weak %a, %v[%i] token = %t {vector = 4 : i32} : tensor<128xf32, #row>, i32 of !tiles
    nv_tileaa.return
  }
  // Where a tile may end within a vector, elements are accessed in a branch that is rarely taken.
  // CHECK-LABEL: @partial
  // CHECK: [[REST:%[0-9]+]] = arith.andi {{%[0-9]+}}, %c3_i32
  // CHECK: [[WHOLE:%[0-9]+]] = arith.cmpi eq, [[REST]], %c0_i32
  // CHECK: scf.if [[WHOLE]]
  // CHECK: nvvm.ld.global {{.*}} {bytes = 16 : i32}
  // CHECK: } else {
  // CHECK: nvvm.ld.global {{.*}} {bytes = 16 : i32}
  // CHECK: nvvm.ld.global {{.*}} {bytes = 4 : i32}
  // CHECK: } {branch_weights = array<i32: 1000, 1>}
  nv_tileaa.func @partial(%x: !f32, %n: i32, %i: i32) attributes {kernel_spec = #nv_tileaa.kernel_spec<num_warps = 1>} {
    %m = nv_tileaa.make_memref %x sizes(%n : i32) : !f32 -> !memory
    %v = nv_tileaa.block_tile %m : !wide
    %a, %t = nv_tileas.tiled_load weak %v[%i] {partial, vector = 4 : i32} : i32 of !wide -> tensor<512xf32, #long>
    nv_tileaa.return
  }
  // An access that is assumed in bounds has no predicate.
  // CHECK-LABEL: @in_bounds
  // CHECK-NOT: arith.cmpi
  // CHECK: nvvm.ld.global {{%[0-9]+}} {bytes = 16 : i32}
  nv_tileaa.func @in_bounds(%x: !f32, %i: i32) attributes {kernel_spec = #nv_tileaa.kernel_spec<num_warps = 1>} {
    %m = nv_tileaa.make_memref %x : !f32 -> !static
    %v = nv_tileaa.block_tile %m : !whole
    %a, %t = nv_tileas.tiled_load weak %v[%i] {in_bounds = array<i1: true>, vector = 4 : i32} : i32 of !whole -> tensor<128xf32, #row>
    nv_tileaa.return
  }
  // ceil(n / 128) tiles.
  // CHECK-LABEL: @extent
  // CHECK: [[N:%[0-9]+]] = arith.extui %arg1 : i32 to i64
  // CHECK: arith.trunci [[N]]
  // CHECK: [[UP:%[0-9]+]] = arith.addi [[N]], %c127_i64
  // CHECK: arith.divui [[UP]], %c128_i64
  nv_tileaa.func @extent(%x: !f32, %n: i32) attributes {kernel_spec = #nv_tileaa.kernel_spec<num_warps = 1>} {
    %m = nv_tileaa.make_memref %x sizes(%n : i32) : !f32 -> !memory
    %v = nv_tileaa.block_tile %m : !tiles
    %d = nv_tileaa.get_dim_size %m 0 : !memory -> i32
    %e = nv_tileaa.get_dim_size %v 0 : !tiles -> i32
    nv_tileaa.return
  }
}
