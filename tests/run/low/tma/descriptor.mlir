// The description of a tensor map, for the driver to encode: the offset of the tensor, then type and rank,
// extents, strides, box, steps and modes; numbers of types and modes are the driver's.
// RUN @describe block=32 arch=base
// ARG tensor = zeros:6x40xf16
// ARG rows = 6
// ARG out = ones:16xi64
// EXPECT out = np.append(0, np.frombuffer(np.array([6, 2], np.uint32).tobytes() + np.array([40, 6, 0, 0, 0, 80, 0, 0, 0], np.uint64).tobytes() + np.array([32, 4, 0, 0, 0], np.uint32).tobytes() + bytes([1, 1, 0, 0, 0, 0, 2, 3, 1]) + bytes(11), np.int64))
!map = !nvgpu.tensormap.descriptor<tensor = memref<4x32xf16, 3>, swizzle = swizzle_64b, l2promo = l2promo_256b, oob = nan, interleave = none>
gpu.module @kernels {
  gpu.func @describe(%tensor: memref<?x40xf16, 1>, %out: memref<16xi64, 1>) kernel
      attributes {known_block_size = array<i32: 32, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c4 = arith.constant 4 : index
    %c16 = arith.constant 16 : index
    %c32 = arith.constant 32 : index
    %t = gpu.thread_id x
    %first = arith.cmpi eq, %t, %c0 : index
    scf.if %first {
      %map = nvgpu.tma.create.descriptor %tensor box[%c4, %c32] : memref<?x40xf16, 1> -> !map
      %object = builtin.unrealized_conversion_cast %map : !map to !llvm.ptr
      scf.for %i = %c1 to %c16 step %c1 {
        %n = arith.index_cast %i : index to i64
        %at = llvm.getelementptr %object[%n] : (!llvm.ptr, i64) -> !llvm.ptr, i64
        %word = llvm.load %at : !llvm.ptr -> i64
        memref.store %word, %out[%i] : memref<16xi64, 1>
      }
      %address = llvm.load %object : !llvm.ptr -> i64
      %start = memref.extract_aligned_pointer_as_index %tensor : memref<?x40xf16, 1> -> index
      %there = arith.index_cast %start : index to i64
      %distance = arith.subi %address, %there : i64
      memref.store %distance, %out[%c0] : memref<16xi64, 1>
    }
    gpu.return
  }
}
