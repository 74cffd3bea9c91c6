// Tiled views: addresses from strides, predicates from extents.
// RUN: tilewright opt --pass convert-tileas-to-nvgpu %s | filecheck %s
#row = #nv_tileas.layout<[128], register = [[1], [2]], lane = [[4], [8], [16], [32], [64]], warp = []>
!f32 = !nv_tileaa.ptr<f32>
!memory = !nv_tileaa.memref<?xf32, strides = [1]>
!tiles = !nv_tileaa.tiled_view<tile = [128], source = !memory, padding = zero>
!static = !nv_tileaa.memref<1024xf32, strides = [1]>
!whole = !nv_tileaa.tiled_view<tile = [128], source = !static>
gpu.module @kernels attributes {nv_tileaa.target_spec = #nv_tileaa.target_spec<compute_capability = 90>} {
  // The start of a vector is compared with the extent, as unsigned, for loads and for stores; an element
  // out of bounds reads as the padding.
  // CHECK-LABEL: @bounds
  // CHECK: [[N:%[0-9]+]] = arith.extui %arg1 : i32 to i64
  // CHECK: [[IN:%[0-9]+]] = arith.cmpi ult, {{%[0-9]+}}, [[N]] : i64
  // CHECK: arith.constant dense<0.000000e+00> : vector<4xf32>
  // CHECK: nvvm.ld.global {{%[0-9]+}}, [[IN]], {{.*}} {bytes = 16 : i32}
  // CHECK: [[IN2:%[0-9]+]] = arith.cmpi ult, {{%[0-9]+}}, [[N]] : i64
  // CHECK: nvvm.st.global {{%[0-9]+}}, {{%[0-9]+}}, [[IN2]] {bytes = 16 : i32}
  nv_tileaa.func @bounds(%x: !f32, %n: i32, %i: i32) attributes {kernel_spec = #nv_tileaa.kernel_spec<num_warps = 1>} {
    %m = nv_tileaa.make_memref %x sizes(%n : i32) : !f32 -> !memory
    %v = nv_tileaa.block_tile %m : !tiles
    %a, %t = nv_tileas.tiled_load weak %v[%i] {vector = 4 : i32} : i32 of !tiles -> tensor<128xf32, #row>
    %s = nv_tileas.tiled_store weak %a, %v[%i] token = %t {vector = 4 : i32} : tensor<128xf32, #row>, i32 of !tiles
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
