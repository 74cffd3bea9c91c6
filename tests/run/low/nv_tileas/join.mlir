// The reader of a joined token waits for all three copies; a fourth copy after it reuses the barrier of the first.
// RUN @sum block=64 arch=base
// ARG x = small:512xf16:1
// ARG y = zeros:128xf16
// EXPECT y = x.reshape(4, 128).sum(axis=0)
// RUN @sum block=64 arch=sm_80
// ARG x = small:512xf16:2
// ARG y = zeros:128xf16
// EXPECT y = x.reshape(4, 128).sum(axis=0)
#row = #nv_tileas.layout<[128], register = [[1]], lane = [[2], [4], [8], [16], [32]], warp = [[64]]>
!tile = tensor<128xf16, #row>
!addresses = tensor<128x!nv_tileaa.ptr<f16>, #row>
!room = !nv_tileas.buffer<shared, 4, 128xf16>
!token = !nv_tileaa.mem_token
gpu.module @kernels {
  nv_tileaa.func @sum(%x: !nv_tileaa.ptr<f16>, %y: !nv_tileaa.ptr<f16>)
      attributes {kernel_spec = #nv_tileaa.kernel_spec<num_warps = 2>} {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c2 = arith.constant 2 : i32
    %c3 = arith.constant 3 : i32
    %c128 = arith.constant 128 : i32
    %room = nv_tileas.alloc_tensor : !room
    %x1 = nv_tileaa.addptr %x, %c128 : !nv_tileaa.ptr<f16>, i32
    %x2 = nv_tileaa.addptr %x1, %c128 : !nv_tileaa.ptr<f16>, i32
    %x3 = nv_tileaa.addptr %x2, %c128 : !nv_tileaa.ptr<f16>, i32
    // Two copies take this token: they are one phase.
    %both = nv_tileaa.create_mem_token {producers = 2 : i32} : !token
    %one = nv_tileaa.create_mem_token : !token
    %t0 = nv_tileas.async.copy %x, %room[%c0] token = %both : !nv_tileaa.ptr<f16>, !room, !token
    %t1 = nv_tileas.async.copy %x1, %room[%c1] token = %both : !nv_tileaa.ptr<f16>, !room, !token
    %t2 = nv_tileas.async.copy %x2, %room[%c2] token = %one : !nv_tileaa.ptr<f16>, !room, !token
    %all = nv_tileaa.join_mem_token [%t2, %t0, %t1] : !token
    %a, %r0 = nv_tileas.read_buffer %room[%c0] token = %all : !token : !room -> !tile
    %t3 = nv_tileas.async.copy %x3, %room[%c3] token = %all : !nv_tileaa.ptr<f16>, !room, !token
    %b, %r1 = nv_tileas.read_buffer %room[%c1] token = %all : !token : !room -> !tile
    %c, %r2 = nv_tileas.read_buffer %room[%c2] token = %all : !token : !room -> !tile
    %d, %r3 = nv_tileas.read_buffer %room[%c3] token = %t3 : !token : !room -> !tile
    %ab = arith.addf %a, %b : !tile
    %abc = arith.addf %ab, %c : !tile
    %abcd = arith.addf %abc, %d : !tile
    %range = nv_tileas.make_range : tensor<128xi32, #row>
    %base = nv_tileas.splat %y : !nv_tileaa.ptr<f16> -> !addresses
    %p = nv_tileaa.addptr %base, %range : !addresses, tensor<128xi32, #row>
    %s = nv_tileas.store weak %p, %abcd : !addresses, !tile
    nv_tileaa.return
  }
}
