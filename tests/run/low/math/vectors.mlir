// Functions of vectors, lane by lane, and of sine and cosine together.
// RUN @lanes block=32 arch=base
// ARG x : f32 = np.linspace(-4, 4, 128).reshape(32, 4)
// ARG y = zeros:32x4xf32
// LET e = exact("exp", x)
// EXPECT y ~ documented("exp", e) : e
//
// RUN @both block=128
// ARG x : f32 = np.linspace(-4, 4, 128)
// ARG s = zeros:128xf32
// ARG c = zeros:128xf32
// LET es = exact("sin", x)
// LET ec = exact("cos", x)
// EXPECT s ~ documented("sin", es) : es
// EXPECT c ~ documented("cos", ec) : ec
//
// RUN @powers block=32
// ARG x = small:32x2xi32:1
// ARG y = zeros:32x2xi32
// EXPECT y = x ** 3
gpu.module @kernels {
  gpu.func @lanes(%x: memref<32x4xf32, 1>, %y: memref<32x4xf32, 1>) kernel {
    %i = gpu.thread_id x
    %c0 = arith.constant 0 : index
    %v = vector.load %x[%i, %c0] : memref<32x4xf32, 1>, vector<4xf32>
    %r = math.exp %v : vector<4xf32>
    vector.store %r, %y[%i, %c0] : memref<32x4xf32, 1>, vector<4xf32>
    gpu.return
  }

  gpu.func @both(%x: memref<128xf32, 1>, %s: memref<128xf32, 1>, %c: memref<128xf32, 1>) kernel {
    %i = gpu.thread_id x
    %v = memref.load %x[%i] : memref<128xf32, 1>
    %sin, %cos = math.sincos %v : f32
    memref.store %sin, %s[%i] : memref<128xf32, 1>
    memref.store %cos, %c[%i] : memref<128xf32, 1>
    gpu.return
  }

  gpu.func @powers(%x: memref<32x2xi32, 1>, %y: memref<32x2xi32, 1>) kernel {
    %i = gpu.thread_id x
    %c0 = arith.constant 0 : index
    %three = arith.constant dense<3> : vector<2xi32>
    %v = vector.load %x[%i, %c0] : memref<32x2xi32, 1>, vector<2xi32>
    %r = math.ipowi %v, %three : vector<2xi32>
    vector.store %r, %y[%i, %c0] : memref<32x2xi32, 1>, vector<2xi32>
    gpu.return
  }
}
