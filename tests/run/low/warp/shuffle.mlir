// Values of other lanes: the four modes, parts of a warp, and values of 8 to 64 bits and vectors.
// RUN @modes block=32 arch=base
// ARG x = iota:32xi32
// ARG out = zeros:4x32xi32
// ARG valid = zeros:4x32xi32
// EXPECT out = np.stack([x ^ 5, np.where(x + 3 < 32, x + 3, x), np.where(x >= 3, x - 3, x), x * 0 + 3])
// EXPECT valid = np.stack([x * 0 + 1, (x + 3 < 32) * 1, (x >= 3) * 1, x * 0 + 1])
//
// RUN @part block=32
// ARG x = iota:32xi32
// ARG out = zeros:32xi32
// EXPECT out = np.where(x < 5, x + 3, x)
//
// RUN @wide block=32 arch=base
// ARG a = random:32xi64:1
// ARG b = random:32xf64:2
// ARG c = random:32xf16:3
// ARG d = random:32xi8:4
// ARG e = random:32x4xf32:5
// ARG f = random:32x2xf16:6
// EXPECT a = a[::-1]
// EXPECT b = b[::-1]
// EXPECT c = c[::-1]
// EXPECT d = d[::-1]
// EXPECT e = e[::-1]
// EXPECT f = f[::-1]
gpu.module @kernels {
  gpu.func @modes(%x: memref<32xi32, 1>, %out: memref<4x32xi32, 1>, %ok: memref<4x32xi32, 1>) kernel
      attributes {known_block_size = array<i32: 32, 1, 1>} {
    %i = gpu.thread_id x
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c3 = arith.constant 3 : index
    %three = arith.constant 3 : i32
    %five = arith.constant 5 : i32
    %width = arith.constant 32 : i32
    %v = memref.load %x[%i] : memref<32xi32, 1>
    %a, %va = gpu.shuffle xor %v, %five, %width : i32
    %b, %vb = gpu.shuffle down %v, %three, %width : i32
    %c, %vc = gpu.shuffle up %v, %three, %width : i32
    %d, %vd = gpu.shuffle idx %v, %three, %width : i32
    memref.store %a, %out[%c0, %i] : memref<4x32xi32, 1>
    memref.store %b, %out[%c1, %i] : memref<4x32xi32, 1>
    memref.store %c, %out[%c2, %i] : memref<4x32xi32, 1>
    memref.store %d, %out[%c3, %i] : memref<4x32xi32, 1>
    %ea = arith.extui %va : i1 to i32
    %eb = arith.extui %vb : i1 to i32
    %ec = arith.extui %vc : i1 to i32
    %ed = arith.extui %vd : i1 to i32
    memref.store %ea, %ok[%c0, %i] : memref<4x32xi32, 1>
    memref.store %eb, %ok[%c1, %i] : memref<4x32xi32, 1>
    memref.store %ec, %ok[%c2, %i] : memref<4x32xi32, 1>
    memref.store %ed, %ok[%c3, %i] : memref<4x32xi32, 1>
    gpu.return
  }

  gpu.func @part(%x: memref<32xi32, 1>, %out: memref<32xi32, 1>) kernel {
    %i = gpu.thread_id x
    %three = arith.constant 3 : i32
    %width = arith.constant 8 : i32
    %v = memref.load %x[%i] : memref<32xi32, 1>
    %c8 = arith.constant 8 : index
    %inside = arith.cmpi ult, %i, %c8 : index
    // Only the first lanes of the warp participate.
    memref.store %v, %out[%i] : memref<32xi32, 1>
    scf.if %inside {
      %a, %va = gpu.shuffle down %v, %three, %width : i32
      memref.store %a, %out[%i] : memref<32xi32, 1>
    }
    gpu.return
  }

  gpu.func @wide(%a: memref<32xi64, 1>, %b: memref<32xf64, 1>, %c: memref<32xf16, 1>,
      %d: memref<32xi8, 1>, %e: memref<32x4xf32, 1>, %f: memref<32x2xf16, 1>) kernel {
    %i = gpu.thread_id x
    %c0 = arith.constant 0 : index
    %last = arith.constant 31 : i32
    %width = arith.constant 32 : i32
    %xa = memref.load %a[%i] : memref<32xi64, 1>
    %xb = memref.load %b[%i] : memref<32xf64, 1>
    %xc = memref.load %c[%i] : memref<32xf16, 1>
    %xd = memref.load %d[%i] : memref<32xi8, 1>
    %xe = vector.load %e[%i, %c0] : memref<32x4xf32, 1>, vector<4xf32>
    %xf = vector.load %f[%i, %c0] : memref<32x2xf16, 1>, vector<2xf16>
    %ya, %va = gpu.shuffle xor %xa, %last, %width : i64
    %yb, %vb = gpu.shuffle xor %xb, %last, %width : f64
    %yc, %vc = gpu.shuffle xor %xc, %last, %width : f16
    %yd, %vd = gpu.shuffle xor %xd, %last, %width : i8
    %ye, %ve = gpu.shuffle xor %xe, %last, %width : vector<4xf32>
    %yf, %vf = gpu.shuffle xor %xf, %last, %width : vector<2xf16>
    memref.store %ya, %a[%i] : memref<32xi64, 1>
    memref.store %yb, %b[%i] : memref<32xf64, 1>
    memref.store %yc, %c[%i] : memref<32xf16, 1>
    memref.store %yd, %d[%i] : memref<32xi8, 1>
    vector.store %ye, %e[%i, %c0] : memref<32x4xf32, 1>, vector<4xf32>
    vector.store %yf, %f[%i, %c0] : memref<32x2xf16, 1>, vector<2xf16>
    gpu.return
  }
}
