// A copy is asynchronous; the reader of its token waits for it. The second copy waits for the reader of the first.
// RUN @twice block=128 arch=base
// ARG x = random:512xf32:1
// ARG y = zeros:512xf32
// EXPECT y = x * 2
// RUN @twice block=128 arch=sm_80
// ARG x = random:512xf32:2
// ARG y = zeros:512xf32
// EXPECT y = x * 2
#row = #nv_tileas.layout<[256], register = [[1]], lane = [[2], [4], [8], [16], [32]], warp = [[64], [128]]>
!tile = tensor<256xf32, #row>
!addresses = tensor<256x!nv_tileaa.ptr<f32>, #row>
!room = !nv_tileas.buffer<shared, 1, 256xf32>
gpu.module @kernels {
  nv_tileaa.func @twice(%x: !nv_tileaa.ptr<f32>, %y: !nv_tileaa.ptr<f32>)
      attributes {kernel_spec = #nv_tileaa.kernel_spec<num_warps = 4>} {
    %stage = arith.constant 0 : i32
    %half = arith.constant 256 : i32
    %room = nv_tileas.alloc_tensor : !room
    %t0 = nv_tileaa.create_mem_token : !nv_tileaa.mem_token
    %t1 = nv_tileas.async.copy %x, %room[%stage] token = %t0 : !nv_tileaa.ptr<f32>, !room, !nv_tileaa.mem_token
    %a, %t2 = nv_tileas.read_buffer %room[%stage] token = %t1 : !nv_tileaa.mem_token : !room -> !tile
    %x1 = nv_tileaa.addptr %x, %half : !nv_tileaa.ptr<f32>, i32
    %t3 = nv_tileas.async.copy %x1, %room[%stage] token = %t2 : !nv_tileaa.ptr<f32>, !room, !nv_tileaa.mem_token
    %a2 = arith.addf %a, %a : !tile
    %b, %t4 = nv_tileas.read_buffer %room[%stage] token = %t3 : !nv_tileaa.mem_token : !room -> !tile
    %b2 = arith.addf %b, %b : !tile
    %range = nv_tileas.make_range : tensor<256xi32, #row>
    %base = nv_tileas.splat %y : !nv_tileaa.ptr<f32> -> !addresses
    %p = nv_tileaa.addptr %base, %range : !addresses, tensor<256xi32, #row>
    %y1 = nv_tileaa.addptr %y, %half : !nv_tileaa.ptr<f32>, i32
    %base1 = nv_tileas.splat %y1 : !nv_tileaa.ptr<f32> -> !addresses
    %q = nv_tileaa.addptr %base1, %range : !addresses, tensor<256xi32, #row>
    %s = nv_tileas.store weak %p, %a2 : !addresses, !tile
    %s1 = nv_tileas.store weak %q, %b2 : !addresses, !tile
    nv_tileaa.return
  }
}
