// Vectors of a thread: parts, shuffles, casts, reductions, rows of two dimensions.
// RUN @parts block=8 arch=base
// ARG x = random:8x8xf32:1
// ARG y = zeros:8x8xf32
// EXPECT y = np.concatenate([x[:, 4:], x[:, 3::-1]], axis=1) + [0, 0, 0, 0, 0, 0, 0, 1]
//
// RUN @sums block=8
// ARG x = small:8x8xf32:1
// ARG y = zeros:8x4xf32
// EXPECT y = np.stack([x.sum(axis=1), x.max(axis=1), x.min(axis=1), x.prod(axis=1)], axis=1)
//
// RUN @integer_sums block=8
// ARG x = random:8x8xi32:1
// ARG y = zeros:8x6xi32
// EXPECT y = np.stack([x.sum(axis=1, dtype=np.int32), x.max(axis=1), np.bitwise_and.reduce(x, axis=1), np.bitwise_or.reduce(x, axis=1), np.bitwise_xor.reduce(x, axis=1), x.view(np.uint32).min(axis=1).view(np.int32) + 5], axis=1)
//
// RUN @rows block=4
// ARG x = random:4x2x4xf16:1
// ARG y = zeros:4x4x2xf16
// EXPECT y = np.swapaxes(x, 1, 2)
//
// RUN @bits block=8
// ARG x = random:8x4xf32:1
// ARG y = zeros:8x8xi16
// EXPECT y = x.view(np.int16)
gpu.module @kernels {
  gpu.func @parts(%x: memref<8x8xf32, 1>, %y: memref<8x8xf32, 1>) kernel {
    %i = gpu.thread_id x
    %c0 = arith.constant 0 : index
    %c7 = arith.constant 7 : index
    %one = arith.constant 1.0 : f32
    %v = vector.load %x[%i, %c0] : memref<8x8xf32, 1>, vector<8xf32>
    %high = vector.extract_strided_slice %v {offsets = [4], sizes = [4], strides = [1]} : vector<8xf32> to vector<4xf32>
    %back = vector.shuffle %v, %v [3, 2, 1, 8] : vector<8xf32>, vector<8xf32>
    %none = arith.constant dense<0.0> : vector<8xf32>
    %a = vector.insert_strided_slice %high, %none {offsets = [0], strides = [1]} : vector<4xf32> into vector<8xf32>
    %b = vector.insert_strided_slice %back, %a {offsets = [4], strides = [1]} : vector<4xf32> into vector<8xf32>
    %last = vector.extract %b[%c7] : f32 from vector<8xf32>
    %more = arith.addf %last, %one : f32
    %c = vector.insert %more, %b[7] : f32 into vector<8xf32>
    vector.store %c, %y[%i, %c0] : memref<8x8xf32, 1>, vector<8xf32>
    gpu.return
  }

  gpu.func @sums(%x: memref<8x8xf32, 1>, %y: memref<8x4xf32, 1>) kernel {
    %i = gpu.thread_id x
    %c0 = arith.constant 0 : index
    %v = vector.load %x[%i, %c0] : memref<8x8xf32, 1>, vector<8xf32>
    %a = vector.reduction <add>, %v : vector<8xf32> into f32
    %b = vector.reduction <maxnumf>, %v : vector<8xf32> into f32
    %c = vector.reduction <minimumf>, %v : vector<8xf32> into f32
    %d = vector.reduction <mul>, %v : vector<8xf32> into f32
    %r = vector.from_elements %a, %b, %c, %d : vector<4xf32>
    vector.store %r, %y[%i, %c0] : memref<8x4xf32, 1>, vector<4xf32>
    gpu.return
  }

  gpu.func @integer_sums(%x: memref<8x8xi32, 1>, %y: memref<8x6xi32, 1>) kernel {
    %i = gpu.thread_id x
    %c0 = arith.constant 0 : index
    %five = arith.constant 5 : i32
    %v = vector.load %x[%i, %c0] : memref<8x8xi32, 1>, vector<8xi32>
    %a = vector.reduction <add>, %v : vector<8xi32> into i32
    %b = vector.reduction <maxsi>, %v : vector<8xi32> into i32
    %c = vector.reduction <and>, %v : vector<8xi32> into i32
    %d = vector.reduction <or>, %v : vector<8xi32> into i32
    %e = vector.reduction <xor>, %v : vector<8xi32> into i32
    %least = vector.reduction <minui>, %v : vector<8xi32> into i32
    %f = arith.addi %least, %five : i32
    %r = vector.from_elements %a, %b, %c, %d, %e, %f : vector<6xi32>
    vector.store %r, %y[%i, %c0] : memref<8x6xi32, 1>, vector<6xi32>
    gpu.return
  }

  gpu.func @rows(%x: memref<4x2x4xf16, 1>, %y: memref<4x4x2xf16, 1>) kernel {
    %i = gpu.thread_id x
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %a = vector.load %x[%i, %c0, %c0] : memref<4x2x4xf16, 1>, vector<4xf16>
    %b = vector.load %x[%i, %c1, %c0] : memref<4x2x4xf16, 1>, vector<4xf16>
    %none = vector.broadcast %a : vector<4xf16> to vector<2x4xf16>
    %both = vector.insert %b, %none[1] : vector<4xf16> into vector<2x4xf16>
    %0:8 = vector.to_elements %both : vector<2x4xf16>
    %r = vector.from_elements %0#0, %0#4, %0#1, %0#5, %0#2, %0#6, %0#3, %0#7 : vector<4x2xf16>
    %flat = vector.shape_cast %r : vector<4x2xf16> to vector<8xf16>
    %low = vector.shuffle %flat, %flat [0, 1] : vector<8xf16>, vector<8xf16>
    %row1 = vector.extract %r[1] : vector<2xf16> from vector<4x2xf16>
    %row2 = vector.extract %r[2] : vector<2xf16> from vector<4x2xf16>
    %row3 = vector.extract %r[3] : vector<2xf16> from vector<4x2xf16>
    %c2 = arith.constant 2 : index
    %c3 = arith.constant 3 : index
    vector.store %low, %y[%i, %c0, %c0] : memref<4x4x2xf16, 1>, vector<2xf16>
    vector.store %row1, %y[%i, %c1, %c0] : memref<4x4x2xf16, 1>, vector<2xf16>
    vector.store %row2, %y[%i, %c2, %c0] : memref<4x4x2xf16, 1>, vector<2xf16>
    vector.store %row3, %y[%i, %c3, %c0] : memref<4x4x2xf16, 1>, vector<2xf16>
    gpu.return
  }

  gpu.func @bits(%x: memref<8x4xf32, 1>, %y: memref<8x8xi16, 1>) kernel {
    %i = gpu.thread_id x
    %c0 = arith.constant 0 : index
    %v = vector.load %x[%i, %c0] : memref<8x4xf32, 1>, vector<4xf32>
    %r = vector.bitcast %v : vector<4xf32> to vector<8xi16>
    vector.store %r, %y[%i, %c0] : memref<8x8xi16, 1>, vector<8xi16>
    gpu.return
  }
}
