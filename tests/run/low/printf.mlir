// Text from the device: integers, floats as doubles, several arguments.
// RUN @hello grid=2 block=2
// ARG x = random:1xf32:1
// PRINTS block 0 thread 0: 1.50
// PRINTS block 0 thread 1: 1.50
// PRINTS block 1 thread 0: 1.50
// PRINTS block 1 thread 1: 1.50
gpu.module @kernels {
  gpu.func @hello(%x: memref<1xf32, 1>) kernel {
    %b = gpu.block_id x
    %t = gpu.thread_id x
    %f = arith.constant 1.5 : f32
    gpu.printf "block %lld thread %lld: %.2f\n", %b, %t, %f : index, index, f32
    gpu.return
  }
}
