// Softmax of rows, a block for each: maximum, then sum over the block, within its error bounds.
// RUN @softmax grid=4 block=128 arch=base
// ARG x = random:4x128xf32:1
// ARG y = zeros:4x128xf32
// EXPECT y near softmax(x)
gpu.module @kernels {
  gpu.func @softmax(%x: memref<4x128xf32, 1>, %y: memref<4x128xf32, 1>) kernel
      attributes {known_block_size = array<i32: 128, 1, 1>} {
    %b = gpu.block_id x
    %t = gpu.thread_id x
    %v = memref.load %x[%b, %t] : memref<4x128xf32, 1>
    %top = gpu.all_reduce maxnumf %v {} : (f32) -> f32
    %d = arith.subf %v, %top : f32
    %e = math.exp %d : f32
    %sum = gpu.all_reduce add %e {} : (f32) -> f32
    %r = arith.divf %e, %sum : f32
    memref.store %r, %y[%b, %t] : memref<4x128xf32, 1>
    gpu.return
  }
}
