// A pipeline of copies: while one tile of four is added up, the next is copied to the other buffer.
// RUN @sums grid=2 block=64 arch=base
// ARG x = small:2x8x256xf32:1
// ARG y = zeros:2x256xf32
// EXPECT y = x.sum(axis=1)
//
// RUN @part block=32
// ARG x = random:128xf32:1
// ARG y = ones:128xf32
// EXPECT y = np.where(np.arange(128) % 4 < 3, x, 0)
gpu.module @kernels {
  gpu.func @sums(%x: memref<2x8x256xf32, 1>, %y: memref<2x256xf32, 1>)
      workgroup(%tiles: memref<2x256xf32, 3>) kernel
      attributes {known_block_size = array<i32: 64, 1, 1>} {
    %b = gpu.block_id x
    %t = gpu.thread_id x
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c4 = arith.constant 4 : index
    %c7 = arith.constant 7 : index
    %c8 = arith.constant 8 : index
    %at = arith.muli %t, %c4 : index
    %none = arith.constant dense<0.0> : vector<4xf32>
    %k0 = nvgpu.device_async_copy %x[%b, %c0, %at], %tiles[%c0, %at], 4 {bypassL1} : memref<2x8x256xf32, 1> to memref<2x256xf32, 3>
    %g0 = nvgpu.device_async_create_group %k0
    %sum = scf.for %k = %c0 to %c8 step %c1 iter_args(%acc = %none) -> (vector<4xf32>) {
      %next = arith.addi %k, %c1 : index
      %more = arith.cmpi ult, %next, %c8 : index
      %other = arith.remui %next, %c2 : index
      %this = arith.remui %k, %c2 : index
      scf.if %more {
        %k1 = nvgpu.device_async_copy %x[%b, %next, %at], %tiles[%other, %at], 4 {bypassL1} : memref<2x8x256xf32, 1> to memref<2x256xf32, 3>
      }
      %g1 = nvgpu.device_async_create_group
      nvgpu.device_async_wait %g1 {numGroups = 1 : i32}
      gpu.barrier
      %v = vector.load %tiles[%this, %at] : memref<2x256xf32, 3>, vector<4xf32>
      %s = arith.addf %acc, %v : vector<4xf32>
      gpu.barrier
      scf.yield %s : vector<4xf32>
    }
    vector.store %sum, %y[%b, %at] : memref<2x256xf32, 1>, vector<4xf32>
    gpu.return
  }

  gpu.func @part(%x: memref<128xf32, 1>, %y: memref<128xf32, 1>)
      workgroup(%room: memref<128xf32, 3>) kernel {
    %t = gpu.thread_id x
    %c3 = arith.constant 3 : index
    %c4 = arith.constant 4 : index
    %at = arith.muli %t, %c4 : index
    %k = nvgpu.device_async_copy %x[%at], %room[%at], 4, %c3 {bypassL1} : memref<128xf32, 1> to memref<128xf32, 3>
    %g = nvgpu.device_async_create_group %k
    nvgpu.device_async_wait %g {numGroups = 0 : i32}
    %v = vector.load %room[%at] : memref<128xf32, 3>, vector<4xf32>
    vector.store %v, %y[%at] : memref<128xf32, 1>, vector<4xf32>
    gpu.return
  }
}
