// A loop carries the token of a prefetched copy; every iteration flips the phase, and initializes another barrier again.
// RUN @rows block=32 arch=base
// ARG x = small:6x64xf32:1
// ARG y = zeros:64xf32
// EXPECT y = x.sum(axis=0)
// RUN @rows block=32 arch=sm_80
// ARG x = small:6x64xf32:2
// ARG y = zeros:64xf32
// EXPECT y = x.sum(axis=0)
// RUN @fresh block=32 arch=base
// ARG x = small:6x64xf32:3
// ARG y = zeros:64xf32
// EXPECT y = x.sum(axis=0)
// RUN @fresh block=32 arch=sm_80
// ARG x = small:6x64xf32:4
// ARG y = zeros:64xf32
// EXPECT y = x.sum(axis=0)
#row = #nv_tileas.layout<[64], register = [[1]], lane = [[2], [4], [8], [16], [32]], warp = []>
!tile = tensor<64xf32, #row>
!addresses = tensor<64x!nv_tileaa.ptr<f32>, #row>
!room = !nv_tileas.buffer<shared, 1, 64xf32>
!token = !nv_tileaa.mem_token
gpu.module @kernels {
  nv_tileaa.func @rows(%x: !nv_tileaa.ptr<f32>, %y: !nv_tileaa.ptr<f32>)
      attributes {kernel_spec = #nv_tileaa.kernel_spec<num_warps = 1>} {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c6 = arith.constant 6 : i32
    %c64 = arith.constant 64 : i32
    %zero = arith.constant dense<0.0> : !tile
    %room = nv_tileas.alloc_tensor : !room
    %t = nv_tileaa.create_mem_token : !token
    %sum, %last = scf.for %i = %c0 to %c6 step %c1 iter_args(%all = %zero, %before = %t) -> (!tile, !token) : i32 {
      %offset = arith.muli %i, %c64 : i32
      %from = nv_tileaa.addptr %x, %offset : !nv_tileaa.ptr<f32>, i32
      %copied = nv_tileas.async.copy %from, %room[%c0] token = %before : !nv_tileaa.ptr<f32>, !room, !token
      %a, %read = nv_tileas.read_buffer %room[%c0] token = %copied : !token : !room -> !tile
      %more = arith.addf %all, %a : !tile
      scf.yield %more, %read : !tile, !token
    }
    %range = nv_tileas.make_range : tensor<64xi32, #row>
    %base = nv_tileas.splat %y : !nv_tileaa.ptr<f32> -> !addresses
    %p = nv_tileaa.addptr %base, %range : !addresses, tensor<64xi32, #row>
    %s = nv_tileas.store weak %p, %sum token = %last : !addresses, !tile
    nv_tileaa.return
  }
  nv_tileaa.func @fresh(%x: !nv_tileaa.ptr<f32>, %y: !nv_tileaa.ptr<f32>)
      attributes {kernel_spec = #nv_tileaa.kernel_spec<num_warps = 1>} {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c6 = arith.constant 6 : i32
    %c64 = arith.constant 64 : i32
    %zero = arith.constant dense<0.0> : !tile
    %room = nv_tileas.alloc_tensor : !room
    %sum = scf.for %i = %c0 to %c6 step %c1 iter_args(%all = %zero) -> (!tile) : i32 {
      %offset = arith.muli %i, %c64 : i32
      %from = nv_tileaa.addptr %x, %offset : !nv_tileaa.ptr<f32>, i32
      %t = nv_tileaa.create_mem_token : !token
      %copied = nv_tileas.async.copy %from, %room[%c0] token = %t : !nv_tileaa.ptr<f32>, !room, !token
      %a, %read = nv_tileas.read_buffer %room[%c0] token = %copied : !token : !room -> !tile
      %more = arith.addf %all, %a : !tile
      nv_tileas.barrier
      scf.yield %more : !tile
    }
    %range = nv_tileas.make_range : tensor<64xi32, #row>
    %base = nv_tileas.splat %y : !nv_tileaa.ptr<f32> -> !addresses
    %p = nv_tileaa.addptr %base, %range : !addresses, tensor<64xi32, #row>
    %s = nv_tileas.store weak %p, %sum : !addresses, !tile
    nv_tileaa.return
  }
}
