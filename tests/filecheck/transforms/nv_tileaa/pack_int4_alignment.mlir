// RUN: tilewright opt --pass pack-int4 --verify-diagnostics %s
!f4 = !nv_tileaa.ptr<f4E2M1FN>
!odd = !nv_tileaa.memref<32x?xf4E2M1FN, strides = [64, 1]>
!tiles = !nv_tileaa.tiled_view<tile = [16, 32], source = !odd>
gpu.module @kernels {
  nv_tileaa.func @unknown_extent(%x: !f4, %n: i32) attributes {kernel_spec = #nv_tileaa.kernel_spec<>} {
    %c0 = arith.constant 0 : i32
    // expected-error@+1 {{unsupported: elements of 4 bits in memory with a contiguous extent that is not known to be even}}
    %m = nv_tileaa.make_memref %x sizes(%n : i32) : !f4 -> !odd
    %v = nv_tileaa.block_tile %m : !tiles
    %a, %t = nv_tileaa.tiled_load weak %v[%c0, %c0] : i32, i32 of !tiles -> tensor<16x32xf4E2M1FN>
    nv_tileaa.return
  }
}
