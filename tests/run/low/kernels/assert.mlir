// An assertion that holds has no effect; one that fails ends the kernel with a location.
// RUN @check block=32 arch=base
// ARG x = ones:32xi32
// ARG y = zeros:32xi32
// EXPECT y = x
//
// RUN @check block=32 arch=base
// ARG x : i32 = np.arange(32) - 31
// ARG y = zeros:32xi32
// FAILS assertion at PLACE : x must be positive
gpu.module @kernels {
  gpu.func @check(%x: memref<32xi32, 1>, %y: memref<32xi32, 1>) kernel {
    %i = gpu.thread_id x
    %v = memref.load %x[%i] : memref<32xi32, 1>
    %c0 = arith.constant 0 : i32
    %good = arith.cmpi sgt, %v, %c0 : i32
    cf.assert %good, "x must be positive" // PLACE
    memref.store %v, %y[%i] : memref<32xi32, 1>
    gpu.return
  }
}
