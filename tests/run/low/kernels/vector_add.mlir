// The sum of two vectors, a thread for each element; threads beyond the end do nothing.
// RUN @add grid=2 block=64
// ARG a = random:100xf32:1
// ARG na = 100
// ARG b = random:100xf32:2
// ARG nb = 100
// ARG c = zeros:128xf32
// ARG nc = 128
// EXPECT c = np.append(a + b, np.zeros(28))
gpu.module @kernels {
  gpu.func @add(%a: memref<?xf32, 1>, %b: memref<?xf32, 1>, %c: memref<?xf32, 1>) kernel
      attributes {known_block_size = array<i32: 64, 1, 1>} {
    %i = gpu.global_id x
    %c0 = arith.constant 0 : index
    %n = memref.dim %a, %c0 : memref<?xf32, 1>
    %inside = arith.cmpi slt, %i, %n : index
    scf.if %inside {
      %x = memref.load %a[%i] : memref<?xf32, 1>
      %y = memref.load %b[%i] : memref<?xf32, 1>
      %s = arith.addf %x, %y : f32
      memref.store %s, %c[%i] : memref<?xf32, 1>
    }
    gpu.return
  }
}
