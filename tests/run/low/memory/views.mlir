// Parts of arrays: with offsets and steps, of known and unknown extents, other types on the same bytes.
// RUN @part block=16 arch=base
// ARG x = random:16x8xf32:1
// ARG first = 3
// ARG y = zeros:4x4xf32
// EXPECT y = x[3:7, 0:8:2]
//
// RUN @transposed block=16
// ARG x = random:4x4xf32:1
// ARG y = zeros:4x4xf32
// EXPECT y = x.T
//
// RUN @strided block=12
// ARG x = random:64xf32:1
// ARG offset = 5
// ARG rows = 3
// ARG columns = 4
// ARG stride = 16
// ARG y = zeros:12xf32
// EXPECT y = x[5:53].reshape(3, 16)[:, :4].reshape(12)
//
// RUN @bytes block=16
// ARG x = random:64xi8:1
// ARG y = zeros:16xi32
// EXPECT y = x.view(np.int32)
gpu.module @kernels {
  gpu.func @part(%x: memref<16x8xf32, 1>, %first: index, %y: memref<4x4xf32, 1>) kernel {
    %i = gpu.thread_id x
    %c4 = arith.constant 4 : index
    %row = arith.divui %i, %c4 : index
    %column = arith.remui %i, %c4 : index
    %part = memref.subview %x[%first, 0] [4, 4] [1, 2] : memref<16x8xf32, 1> to memref<4x4xf32, strided<[8, 2], offset: ?>, 1>
    %v = memref.load %part[%row, %column] : memref<4x4xf32, strided<[8, 2], offset: ?>, 1>
    memref.store %v, %y[%row, %column] : memref<4x4xf32, 1>
    gpu.return
  }

  gpu.func @transposed(%x: memref<4x4xf32, 1>, %y: memref<4x4xf32, 1>) kernel {
    %i = gpu.thread_id x
    %c4 = arith.constant 4 : index
    %row = arith.divui %i, %c4 : index
    %column = arith.remui %i, %c4 : index
    %t = memref.reinterpret_cast %x to offset: [0], sizes: [4, 4], strides: [1, 4] : memref<4x4xf32, 1> to memref<4x4xf32, strided<[1, 4]>, 1>
    %d = memref.cast %t : memref<4x4xf32, strided<[1, 4]>, 1> to memref<?x4xf32, strided<[?, 4]>, 1>
    %v = memref.load %d[%row, %column] : memref<?x4xf32, strided<[?, 4]>, 1>
    memref.store %v, %y[%row, %column] : memref<4x4xf32, 1>
    gpu.return
  }

  gpu.func @strided(%x: memref<?x?xf32, strided<[?, 1], offset: ?>, 1>, %y: memref<12xf32, 1>) kernel {
    %i = gpu.thread_id x
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %rows = memref.dim %x, %c0 : memref<?x?xf32, strided<[?, 1], offset: ?>, 1>
    %columns = memref.dim %x, %c1 : memref<?x?xf32, strided<[?, 1], offset: ?>, 1>
    %row = arith.divui %i, %columns : index
    %column = arith.remui %i, %columns : index
    %inside = arith.cmpi ult, %row, %rows : index
    scf.if %inside {
      %v = memref.load %x[%row, %column] : memref<?x?xf32, strided<[?, 1], offset: ?>, 1>
      memref.store %v, %y[%i] : memref<12xf32, 1>
    }
    gpu.return
  }

  gpu.func @bytes(%x: memref<64xi8, 1>, %y: memref<16xi32, 1>) workgroup(%room: memref<64xi8, 3>) kernel {
    %i = gpu.thread_id x
    %c0 = arith.constant 0 : index
    %c4 = arith.constant 4 : index
    %start = arith.muli %i, %c4 : index
    %v = vector.load %x[%start] : memref<64xi8, 1>, vector<4xi8>
    vector.store %v, %room[%start] : memref<64xi8, 3>, vector<4xi8>
    %words = memref.view %room[%c0][] : memref<64xi8, 3> to memref<16xi32, 3>
    %generic = memref.memory_space_cast %words : memref<16xi32, 3> to memref<16xi32>
    %r = memref.load %generic[%i] : memref<16xi32>
    memref.store %r, %y[%i] : memref<16xi32, 1>
    gpu.return
  }
}
