// Two 4-bit elements share a byte: views of them become views of i8 with half the extent along the
// contiguous dimension and half the strides along the others.
// RUN: tilewright opt --pass pack-int4 %s | filecheck %s
!f4 = !nv_tileaa.ptr<f4E2M1FN>
!memory = !nv_tileaa.memref<32x64xf4E2M1FN, strides = [64, 1]>
!tiles = !nv_tileaa.tiled_view<tile = [16, 32], source = !memory>
!padded = !nv_tileaa.tiled_view<tile = [16, 32], source = !memory, padding = neg_zero>
gpu.module @kernels {
  // CHECK-LABEL: @copy
  // CHECK: nv_tileaa.bitcast %arg0 : !nv_tileaa.ptr<f4E2M1FN> to !nv_tileaa.ptr<i8>
  // CHECK: nv_tileaa.make_memref {{.*}} -> !nv_tileaa.memref<32x32xi8, strides = [32, 1]>
  // CHECK: nv_tileaa.tiled_load {{.*}} -> tensor<16x16xi8>
  // CHECK: nv_tileaa.unpack {{.*}} : tensor<256xi8> -> tensor<512xf4E2M1FN>
  // CHECK: nv_tileaa.pack {{.*}} : tensor<512xf4E2M1FN> -> tensor<256xi8>
  // CHECK: nv_tileaa.tiled_store weak {{.*}} : tensor<16x16xi8>
  nv_tileaa.func @copy(%x: !f4) attributes {kernel_spec = #nv_tileaa.kernel_spec<>} {
    %c0 = arith.constant 0 : i32
    %m = nv_tileaa.make_memref %x : !f4 -> !memory
    %v = nv_tileaa.block_tile %m : !tiles
    %a, %t = nv_tileaa.tiled_load weak %v[%c0, %c0] : i32, i32 of !tiles -> tensor<16x32xf4E2M1FN>
    %s = nv_tileaa.tiled_store weak %a, %v[%c0, %c0] token = %t : tensor<16x32xf4E2M1FN>, i32, i32 of !tiles
    nv_tileaa.return
  }
  // Hardware pads with zero; two negative zeros are 0x88, that is -120 as i8, and selected.
  // CHECK-LABEL: @padding
  // CHECK: [[LOADED:%[0-9]+]]:2 = nv_tileaa.tiled_load {{.*}} -> tensor<16x16xi8>
  // CHECK: [[PAD:%[a-z0-9_]+]] = arith.constant dense<-120> : tensor<16x16xi8>
  // CHECK: nv_tileaa.select {{%[0-9]+}}, [[LOADED]]#0, [[PAD]]
  nv_tileaa.func @padding(%x: !f4) attributes {kernel_spec = #nv_tileaa.kernel_spec<>} {
    %c0 = arith.constant 0 : i32
    %m = nv_tileaa.make_memref %x : !f4 -> !memory
    %v = nv_tileaa.block_tile %m : !padded
    %a, %t = nv_tileaa.tiled_load weak %v[%c0, %c0] : i32, i32 of !padded -> tensor<16x32xf4E2M1FN>
    %b = nv_tileaa.bitcast %a : tensor<16x32xf4E2M1FN> to tensor<16x32xf4E2M1FN>
    nv_tileaa.return
  }
  // The extent that a program reads is that of elements, not of bytes.
  // CHECK-LABEL: @extent
  // CHECK: [[BYTES:%[0-9]+]] = nv_tileaa.get_dim_size {{.*}} 1
  // CHECK: nv_tileaa.shli [[BYTES]]
  nv_tileaa.func @extent(%x: !f4, %p: !nv_tileaa.ptr<i32>) attributes {kernel_spec = #nv_tileaa.kernel_spec<>} {
    %c0 = arith.constant 0 : i32
    %m = nv_tileaa.make_memref %x : !f4 -> !memory
    %v = nv_tileaa.block_tile %m : !tiles
    %a, %t = nv_tileaa.tiled_load weak %v[%c0, %c0] : i32, i32 of !tiles -> tensor<16x32xf4E2M1FN>
    %n = nv_tileaa.get_dim_size %m 1 : !memory -> i32
    %s = nv_tileaa.store weak %p, %n : !nv_tileaa.ptr<i32>, i32
    nv_tileaa.return
  }
}
