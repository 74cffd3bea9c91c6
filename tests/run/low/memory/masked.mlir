// Accesses of vectors under a mask: where it is not set, memory beyond the end is not touched.
// RUN @copy block=32 arch=base
// ARG x = random:127xf32:1
// ARG n = 127
// ARG y = ones:127xf32
// ARG m = 127
// EXPECT y = x
//
// RUN @holes block=32
// ARG x = random:32x4xi32:1
// ARG mask = random:32x4xi8:2
// ARG y = iota:32x4xi32
// EXPECT y = np.where(mask % 2, np.where(mask % 3 == 0, x, -1), y)
gpu.module @kernels {
  gpu.func @copy(%x: memref<?xf32, 1>, %y: memref<?xf32, 1>) kernel {
    %i = gpu.thread_id x
    %c0 = arith.constant 0 : index
    %c4 = arith.constant 4 : index
    %n = memref.dim %x, %c0 : memref<?xf32, 1>
    %start = arith.muli %i, %c4 : index
    %all = vector.broadcast %start : index to vector<4xindex>
    %step = vector.step : vector<4xindex>
    %places = arith.addi %all, %step : vector<4xindex>
    %ends = vector.broadcast %n : index to vector<4xindex>
    %mask = arith.cmpi ult, %places, %ends : vector<4xindex>
    %none = arith.constant dense<0.0> : vector<4xf32>
    %v = vector.maskedload %x[%start], %mask, %none : memref<?xf32, 1>, vector<4xi1>, vector<4xf32> into vector<4xf32>
    vector.maskedstore %y[%start], %mask, %v : memref<?xf32, 1>, vector<4xi1>, vector<4xf32>
    gpu.return
  }

  gpu.func @holes(%x: memref<32x4xi32, 1>, %mask: memref<32x4xi8, 1>, %y: memref<32x4xi32, 1>) kernel {
    %i = gpu.thread_id x
    %c0 = arith.constant 0 : index
    %two = arith.constant dense<2> : vector<4xi8>
    %three = arith.constant dense<3> : vector<4xi8>
    %zero = arith.constant dense<0> : vector<4xi8>
    %missing = arith.constant dense<-1> : vector<4xi32>
    %m = vector.load %mask[%i, %c0] : memref<32x4xi8, 1>, vector<4xi8>
    %r2 = arith.remsi %m, %two : vector<4xi8>
    %r3 = arith.remsi %m, %three : vector<4xi8>
    %odd = arith.cmpi ne, %r2, %zero : vector<4xi8>
    %third = arith.cmpi eq, %r3, %zero : vector<4xi8>
    %v = vector.maskedload %x[%i, %c0], %third, %missing : memref<32x4xi32, 1>, vector<4xi1>, vector<4xi32> into vector<4xi32>
    vector.maskedstore %y[%i, %c0], %odd, %v : memref<32x4xi32, 1>, vector<4xi1>, vector<4xi32>
    gpu.return
  }
}
