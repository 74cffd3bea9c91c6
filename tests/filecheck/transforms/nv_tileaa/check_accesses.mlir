// `--sanitize=memcheck`: every access is preceded by an assertion on its index or its address.
// RUN: tilewright opt --pass check-accesses %s | filecheck %s
!f32 = !nv_tileaa.ptr<f32>
!memory = !nv_tileaa.memref<?xf32, strides = [1]>
!tiles = !nv_tileaa.tiled_view<tile = [64], source = !memory>
gpu.module @kernels {
  // The index is compared with the number of tiles of the view, as unsigned: -1 is out of bounds too.
  // CHECK-LABEL: @tile_index
  // CHECK: [[TILES:%[0-9]+]] = nv_tileaa.get_dim_size {{.*}} 0
  // CHECK: [[BELOW:%[0-9]+]] = nv_tileaa.cmpi ult, {{%[0-9]+}}, [[TILES]]
  // CHECK: nv_tileaa.xori [[BELOW]]
  // CHECK: scf.if
  // CHECK: nv_tileaa.print {{.*}}outside of its view
  // CHECK: nv_tileaa.assert {{.*}}load_view_tko outside of its view
  // CHECK: nv_tileaa.tiled_load
  nv_tileaa.func @tile_index(%x: !f32, %n: i32, %i: i32) attributes {kernel_spec = #nv_tileaa.kernel_spec<>} {
    %m = nv_tileaa.make_memref %x sizes(%n : i32) : !f32 -> !memory
    %v = nv_tileaa.block_tile %m : !tiles
    %a, %t = nv_tileaa.tiled_load weak %v[%i] : i32 of !tiles -> tensor<64xf32>
    nv_tileaa.return
  }
  // An f32 is aligned to 4 bytes: the low two bits of its address are zero. Masked elements are exempt.
  // CHECK-LABEL: @address
  // CHECK: nv_tileaa.ptr_to_int
  // CHECK-DAG: [[LOW:%[a-z0-9_]+]] = arith.constant dense<3> : tensor<16xi64>
  // CHECK-DAG: nv_tileaa.andi {{.*}}, [[LOW]]
  // CHECK: [[ALLOWED:%[0-9]+]] = nv_tileaa.xori %arg1,
  // CHECK: nv_tileaa.ori {{%[0-9]+}}, [[ALLOWED]]
  // CHECK: nv_tileaa.assert {{.*}}load_ptr_tko at a null or misaligned address
  // CHECK: nv_tileaa.load weak %arg0 mask = %arg1
  nv_tileaa.func @address(%p: tensor<16x!f32>, %m: tensor<16xi1>) attributes {kernel_spec = #nv_tileaa.kernel_spec<>} {
    %a, %t = nv_tileaa.load weak %p mask = %m : tensor<16x!f32> -> tensor<16xf32>
    nv_tileaa.return
  }
  // 16 elements of 4 bytes: the last byte of an access lies below 64 from the start of the allocation.
  // CHECK-LABEL: @allocation
  // CHECK-DAG: arith.constant 64 : i64
  // CHECK-DAG: arith.constant 3 : i64
  // CHECK: nv_tileaa.assert {{.*}}store_ptr_tko outside of the memory of its pointer
  // CHECK: nv_tileaa.store
  nv_tileaa.func @allocation(%i: i32, %v: f32) attributes {kernel_spec = #nv_tileaa.kernel_spec<>} {
    %a = nv_tileaa.alloca 16 align 4 : !f32
    %p = nv_tileaa.addptr %a, %i : !f32, i32
    %t = nv_tileaa.store weak %p, %v : !f32, f32
    nv_tileaa.return
  }
  // A tile that the program assumes in bounds must end before the tensor does.
  // CHECK-LABEL: @assumed_in_bounds
  // CHECK: nv_tileaa.cmpi ule
  // CHECK: nv_tileaa.assert {{.*}}store_view_tko outside of its view
  // CHECK: nv_tileaa.tiled_store
  nv_tileaa.func @assumed_in_bounds(%x: !f32, %n: i32, %i: i32, %a: tensor<64xf32>) attributes {kernel_spec = #nv_tileaa.kernel_spec<>} {
    %m = nv_tileaa.make_memref %x sizes(%n : i32) : !f32 -> !memory
    %v = nv_tileaa.block_tile %m : !tiles
    %t = nv_tileaa.tiled_store weak %a, %v[%i] {in_bounds = array<i1: true>} : tensor<64xf32>, i32 of !tiles
    nv_tileaa.return
  }
}
