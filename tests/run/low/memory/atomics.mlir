// Updates of one number by all threads, in global memory and in shared memory, by instructions and by swaps.
// RUN @addi grid=2 block=32 arch=base
// ARG x : i32 = np.random.default_rng(1).integers(-9, 9, 64)
// ARG r : i32 = [0]
// ARG s : i32 = [0] * 2
// EXPECT r = x.sum()
// EXPECT s = [x[:32].sum(), x[32:].sum()]
//
// RUN @maxs grid=2 block=32
// ARG x : i32 = np.random.default_rng(1).integers(-9999, 9999, 64)
// ARG r : i32 = [-1000000]
// ARG s : i32 = [-1000000] * 2
// EXPECT r = x.max()
// EXPECT s = [x[:32].max(), x[32:].max()]
//
// RUN @mins grid=2 block=32
// ARG x : i32 = np.random.default_rng(1).integers(-9999, 9999, 64)
// ARG r : i32 = [1000000]
// ARG s : i32 = [1000000] * 2
// EXPECT r = x.min()
// EXPECT s = [x[:32].min(), x[32:].min()]
//
// RUN @maxu grid=2 block=32
// ARG x : i32 = np.random.default_rng(1).integers(0, 9999, 64)
// ARG r : i32 = [0]
// ARG s : i32 = [0] * 2
// EXPECT r = x.max()
// EXPECT s = [x[:32].max(), x[32:].max()]
//
// RUN @minu grid=2 block=32
// ARG x : i32 = np.random.default_rng(1).integers(0, 9999, 64)
// ARG r : i32 = [1000000]
// ARG s : i32 = [1000000] * 2
// EXPECT r = x.min()
// EXPECT s = [x[:32].min(), x[32:].min()]
//
// RUN @ori grid=2 block=32
// ARG x : i32 = 1 << np.arange(64) % 20
// ARG r : i32 = [0]
// ARG s : i32 = [0] * 2
// EXPECT r = np.bitwise_or.reduce(x)
// EXPECT s = [np.bitwise_or.reduce(x[:32]), np.bitwise_or.reduce(x[32:])]
//
// RUN @andi grid=2 block=32
// ARG x : i32 = -1 - (1 << np.arange(64) % 20)
// ARG r : i32 = [-1]
// ARG s : i32 = [-1] * 2
// EXPECT r = np.bitwise_and.reduce(x)
// EXPECT s = [np.bitwise_and.reduce(x[:32]), np.bitwise_and.reduce(x[32:])]
//
// RUN @xori grid=2 block=32
// ARG x : i32 = np.random.default_rng(1).integers(0, 9999, 64)
// ARG r : i32 = [0]
// ARG s : i32 = [0] * 2
// EXPECT r = np.bitwise_xor.reduce(x)
// EXPECT s = [np.bitwise_xor.reduce(x[:32]), np.bitwise_xor.reduce(x[32:])]
//
// RUN @muli grid=2 block=32
// ARG x : i32 = np.arange(64) % 3 + 1
// ARG r : i32 = [1]
// ARG s : i32 = [1] * 2
// EXPECT r = np.multiply.reduce(x)
// EXPECT s = [np.multiply.reduce(x[:32]), np.multiply.reduce(x[32:])]
//
// RUN @addf grid=2 block=32
// ARG x : f32 = np.random.default_rng(1).integers(-9, 9, 64)
// ARG r : f32 = [0]
// ARG s : f32 = [0] * 2
// EXPECT r = x.sum()
// EXPECT s = [x[:32].sum(), x[32:].sum()]
//
// RUN @mulf grid=2 block=32
// ARG x : f32 = np.exp2(np.arange(64) % 3 - 1)
// ARG r : f32 = [1]
// ARG s : f32 = [1] * 2
// EXPECT r = x.prod()
// EXPECT s = [x[:32].prod(), x[32:].prod()]
//
// RUN @maxnumf grid=2 block=32
// ARG x : f32 = np.random.default_rng(1).standard_normal(64)
// ARG r : f32 = [-1e+30]
// ARG s : f32 = [-1e+30] * 2
// EXPECT r = x.max()
// EXPECT s = [x[:32].max(), x[32:].max()]
//
// RUN @minnumf grid=2 block=32
// ARG x : f32 = np.random.default_rng(1).standard_normal(64)
// ARG r : f32 = [1e+30]
// ARG s : f32 = [1e+30] * 2
// EXPECT r = x.min()
// EXPECT s = [x[:32].min(), x[32:].min()]
//
// RUN @maximumf grid=2 block=32
// ARG x : f32 = np.random.default_rng(1).standard_normal(64)
// ARG r : f32 = [-1e+30]
// ARG s : f32 = [-1e+30] * 2
// EXPECT r = x.max()
// EXPECT s = [x[:32].max(), x[32:].max()]
//
// RUN @minimumf grid=2 block=32
// ARG x : f32 = np.random.default_rng(1).standard_normal(64)
// ARG r : f32 = [1e+30]
// ARG s : f32 = [1e+30] * 2
// EXPECT r = x.min()
// EXPECT s = [x[:32].min(), x[32:].min()]
//
// RUN @addi64 grid=2 block=32
// ARG x : i64 = np.random.default_rng(1).integers(-(1 << 50), 1 << 50, 64)
// ARG r : i64 = [0]
// ARG s : i64 = [0] * 2
// EXPECT r = x.sum()
// EXPECT s = [x[:32].sum(), x[32:].sum()]
//
// RUN @addf64 grid=2 block=32
// ARG x : f64 = np.random.default_rng(1).integers(-9, 9, 64)
// ARG r : f64 = [0]
// ARG s : f64 = [0] * 2
// EXPECT r = x.sum()
// EXPECT s = [x[:32].sum(), x[32:].sum()]
//
// RUN @addf16 grid=2 block=32
// ARG x : f16 = np.random.default_rng(1).integers(-9, 9, 64)
// ARG r : f16 = [0]
// ARG s : f16 = [0] * 2
// EXPECT r = x.sum(dtype=np.float32)
// EXPECT s = [x[:32].sum(dtype=np.float32), x[32:].sum(dtype=np.float32)]
gpu.module @kernels {
  gpu.func @addi(%x: memref<64xi32, 1>, %r: memref<1xi32, 1>, %s: memref<2xi32, 1>)
      workgroup(%room: memref<1xi32, 3>) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %i = gpu.global_id x
    %t = gpu.thread_id x
    %b = gpu.block_id x
    %c0 = arith.constant 0 : index
    %first = arith.cmpi eq, %t, %c0 : index
    scf.if %first {
      %start = memref.load %s[%b] : memref<2xi32, 1>
      memref.store %start, %room[%c0] : memref<1xi32, 3>
    }
    gpu.barrier
    %v = memref.load %x[%i] : memref<64xi32, 1>
    %0 = memref.atomic_rmw addi %v, %r[%c0] : (i32, memref<1xi32, 1>) -> i32
    %1 = memref.atomic_rmw addi %v, %room[%c0] : (i32, memref<1xi32, 3>) -> i32
    gpu.barrier
    scf.if %first {
      %end = memref.load %room[%c0] : memref<1xi32, 3>
      memref.store %end, %s[%b] : memref<2xi32, 1>
    }
    gpu.return
  }

  gpu.func @maxs(%x: memref<64xi32, 1>, %r: memref<1xi32, 1>, %s: memref<2xi32, 1>)
      workgroup(%room: memref<1xi32, 3>) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %i = gpu.global_id x
    %t = gpu.thread_id x
    %b = gpu.block_id x
    %c0 = arith.constant 0 : index
    %first = arith.cmpi eq, %t, %c0 : index
    scf.if %first {
      %start = memref.load %s[%b] : memref<2xi32, 1>
      memref.store %start, %room[%c0] : memref<1xi32, 3>
    }
    gpu.barrier
    %v = memref.load %x[%i] : memref<64xi32, 1>
    %0 = memref.atomic_rmw maxs %v, %r[%c0] : (i32, memref<1xi32, 1>) -> i32
    %1 = memref.atomic_rmw maxs %v, %room[%c0] : (i32, memref<1xi32, 3>) -> i32
    gpu.barrier
    scf.if %first {
      %end = memref.load %room[%c0] : memref<1xi32, 3>
      memref.store %end, %s[%b] : memref<2xi32, 1>
    }
    gpu.return
  }

  gpu.func @mins(%x: memref<64xi32, 1>, %r: memref<1xi32, 1>, %s: memref<2xi32, 1>)
      workgroup(%room: memref<1xi32, 3>) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %i = gpu.global_id x
    %t = gpu.thread_id x
    %b = gpu.block_id x
    %c0 = arith.constant 0 : index
    %first = arith.cmpi eq, %t, %c0 : index
    scf.if %first {
      %start = memref.load %s[%b] : memref<2xi32, 1>
      memref.store %start, %room[%c0] : memref<1xi32, 3>
    }
    gpu.barrier
    %v = memref.load %x[%i] : memref<64xi32, 1>
    %0 = memref.atomic_rmw mins %v, %r[%c0] : (i32, memref<1xi32, 1>) -> i32
    %1 = memref.atomic_rmw mins %v, %room[%c0] : (i32, memref<1xi32, 3>) -> i32
    gpu.barrier
    scf.if %first {
      %end = memref.load %room[%c0] : memref<1xi32, 3>
      memref.store %end, %s[%b] : memref<2xi32, 1>
    }
    gpu.return
  }

  gpu.func @maxu(%x: memref<64xi32, 1>, %r: memref<1xi32, 1>, %s: memref<2xi32, 1>)
      workgroup(%room: memref<1xi32, 3>) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %i = gpu.global_id x
    %t = gpu.thread_id x
    %b = gpu.block_id x
    %c0 = arith.constant 0 : index
    %first = arith.cmpi eq, %t, %c0 : index
    scf.if %first {
      %start = memref.load %s[%b] : memref<2xi32, 1>
      memref.store %start, %room[%c0] : memref<1xi32, 3>
    }
    gpu.barrier
    %v = memref.load %x[%i] : memref<64xi32, 1>
    %0 = memref.atomic_rmw maxu %v, %r[%c0] : (i32, memref<1xi32, 1>) -> i32
    %1 = memref.atomic_rmw maxu %v, %room[%c0] : (i32, memref<1xi32, 3>) -> i32
    gpu.barrier
    scf.if %first {
      %end = memref.load %room[%c0] : memref<1xi32, 3>
      memref.store %end, %s[%b] : memref<2xi32, 1>
    }
    gpu.return
  }

  gpu.func @minu(%x: memref<64xi32, 1>, %r: memref<1xi32, 1>, %s: memref<2xi32, 1>)
      workgroup(%room: memref<1xi32, 3>) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %i = gpu.global_id x
    %t = gpu.thread_id x
    %b = gpu.block_id x
    %c0 = arith.constant 0 : index
    %first = arith.cmpi eq, %t, %c0 : index
    scf.if %first {
      %start = memref.load %s[%b] : memref<2xi32, 1>
      memref.store %start, %room[%c0] : memref<1xi32, 3>
    }
    gpu.barrier
    %v = memref.load %x[%i] : memref<64xi32, 1>
    %0 = memref.atomic_rmw minu %v, %r[%c0] : (i32, memref<1xi32, 1>) -> i32
    %1 = memref.atomic_rmw minu %v, %room[%c0] : (i32, memref<1xi32, 3>) -> i32
    gpu.barrier
    scf.if %first {
      %end = memref.load %room[%c0] : memref<1xi32, 3>
      memref.store %end, %s[%b] : memref<2xi32, 1>
    }
    gpu.return
  }

  gpu.func @ori(%x: memref<64xi32, 1>, %r: memref<1xi32, 1>, %s: memref<2xi32, 1>)
      workgroup(%room: memref<1xi32, 3>) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %i = gpu.global_id x
    %t = gpu.thread_id x
    %b = gpu.block_id x
    %c0 = arith.constant 0 : index
    %first = arith.cmpi eq, %t, %c0 : index
    scf.if %first {
      %start = memref.load %s[%b] : memref<2xi32, 1>
      memref.store %start, %room[%c0] : memref<1xi32, 3>
    }
    gpu.barrier
    %v = memref.load %x[%i] : memref<64xi32, 1>
    %0 = memref.atomic_rmw ori %v, %r[%c0] : (i32, memref<1xi32, 1>) -> i32
    %1 = memref.atomic_rmw ori %v, %room[%c0] : (i32, memref<1xi32, 3>) -> i32
    gpu.barrier
    scf.if %first {
      %end = memref.load %room[%c0] : memref<1xi32, 3>
      memref.store %end, %s[%b] : memref<2xi32, 1>
    }
    gpu.return
  }

  gpu.func @andi(%x: memref<64xi32, 1>, %r: memref<1xi32, 1>, %s: memref<2xi32, 1>)
      workgroup(%room: memref<1xi32, 3>) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %i = gpu.global_id x
    %t = gpu.thread_id x
    %b = gpu.block_id x
    %c0 = arith.constant 0 : index
    %first = arith.cmpi eq, %t, %c0 : index
    scf.if %first {
      %start = memref.load %s[%b] : memref<2xi32, 1>
      memref.store %start, %room[%c0] : memref<1xi32, 3>
    }
    gpu.barrier
    %v = memref.load %x[%i] : memref<64xi32, 1>
    %0 = memref.atomic_rmw andi %v, %r[%c0] : (i32, memref<1xi32, 1>) -> i32
    %1 = memref.atomic_rmw andi %v, %room[%c0] : (i32, memref<1xi32, 3>) -> i32
    gpu.barrier
    scf.if %first {
      %end = memref.load %room[%c0] : memref<1xi32, 3>
      memref.store %end, %s[%b] : memref<2xi32, 1>
    }
    gpu.return
  }

  gpu.func @xori(%x: memref<64xi32, 1>, %r: memref<1xi32, 1>, %s: memref<2xi32, 1>)
      workgroup(%room: memref<1xi32, 3>) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %i = gpu.global_id x
    %t = gpu.thread_id x
    %b = gpu.block_id x
    %c0 = arith.constant 0 : index
    %first = arith.cmpi eq, %t, %c0 : index
    scf.if %first {
      %start = memref.load %s[%b] : memref<2xi32, 1>
      memref.store %start, %room[%c0] : memref<1xi32, 3>
    }
    gpu.barrier
    %v = memref.load %x[%i] : memref<64xi32, 1>
    %0 = memref.atomic_rmw xori %v, %r[%c0] : (i32, memref<1xi32, 1>) -> i32
    %1 = memref.atomic_rmw xori %v, %room[%c0] : (i32, memref<1xi32, 3>) -> i32
    gpu.barrier
    scf.if %first {
      %end = memref.load %room[%c0] : memref<1xi32, 3>
      memref.store %end, %s[%b] : memref<2xi32, 1>
    }
    gpu.return
  }

  gpu.func @muli(%x: memref<64xi32, 1>, %r: memref<1xi32, 1>, %s: memref<2xi32, 1>)
      workgroup(%room: memref<1xi32, 3>) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %i = gpu.global_id x
    %t = gpu.thread_id x
    %b = gpu.block_id x
    %c0 = arith.constant 0 : index
    %first = arith.cmpi eq, %t, %c0 : index
    scf.if %first {
      %start = memref.load %s[%b] : memref<2xi32, 1>
      memref.store %start, %room[%c0] : memref<1xi32, 3>
    }
    gpu.barrier
    %v = memref.load %x[%i] : memref<64xi32, 1>
    %0 = memref.atomic_rmw muli %v, %r[%c0] : (i32, memref<1xi32, 1>) -> i32
    %1 = memref.atomic_rmw muli %v, %room[%c0] : (i32, memref<1xi32, 3>) -> i32
    gpu.barrier
    scf.if %first {
      %end = memref.load %room[%c0] : memref<1xi32, 3>
      memref.store %end, %s[%b] : memref<2xi32, 1>
    }
    gpu.return
  }

  gpu.func @addf(%x: memref<64xf32, 1>, %r: memref<1xf32, 1>, %s: memref<2xf32, 1>)
      workgroup(%room: memref<1xf32, 3>) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %i = gpu.global_id x
    %t = gpu.thread_id x
    %b = gpu.block_id x
    %c0 = arith.constant 0 : index
    %first = arith.cmpi eq, %t, %c0 : index
    scf.if %first {
      %start = memref.load %s[%b] : memref<2xf32, 1>
      memref.store %start, %room[%c0] : memref<1xf32, 3>
    }
    gpu.barrier
    %v = memref.load %x[%i] : memref<64xf32, 1>
    %0 = memref.atomic_rmw addf %v, %r[%c0] : (f32, memref<1xf32, 1>) -> f32
    %1 = memref.atomic_rmw addf %v, %room[%c0] : (f32, memref<1xf32, 3>) -> f32
    gpu.barrier
    scf.if %first {
      %end = memref.load %room[%c0] : memref<1xf32, 3>
      memref.store %end, %s[%b] : memref<2xf32, 1>
    }
    gpu.return
  }

  gpu.func @mulf(%x: memref<64xf32, 1>, %r: memref<1xf32, 1>, %s: memref<2xf32, 1>)
      workgroup(%room: memref<1xf32, 3>) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %i = gpu.global_id x
    %t = gpu.thread_id x
    %b = gpu.block_id x
    %c0 = arith.constant 0 : index
    %first = arith.cmpi eq, %t, %c0 : index
    scf.if %first {
      %start = memref.load %s[%b] : memref<2xf32, 1>
      memref.store %start, %room[%c0] : memref<1xf32, 3>
    }
    gpu.barrier
    %v = memref.load %x[%i] : memref<64xf32, 1>
    %0 = memref.atomic_rmw mulf %v, %r[%c0] : (f32, memref<1xf32, 1>) -> f32
    %1 = memref.atomic_rmw mulf %v, %room[%c0] : (f32, memref<1xf32, 3>) -> f32
    gpu.barrier
    scf.if %first {
      %end = memref.load %room[%c0] : memref<1xf32, 3>
      memref.store %end, %s[%b] : memref<2xf32, 1>
    }
    gpu.return
  }

  gpu.func @maxnumf(%x: memref<64xf32, 1>, %r: memref<1xf32, 1>, %s: memref<2xf32, 1>)
      workgroup(%room: memref<1xf32, 3>) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %i = gpu.global_id x
    %t = gpu.thread_id x
    %b = gpu.block_id x
    %c0 = arith.constant 0 : index
    %first = arith.cmpi eq, %t, %c0 : index
    scf.if %first {
      %start = memref.load %s[%b] : memref<2xf32, 1>
      memref.store %start, %room[%c0] : memref<1xf32, 3>
    }
    gpu.barrier
    %v = memref.load %x[%i] : memref<64xf32, 1>
    %0 = memref.atomic_rmw maxnumf %v, %r[%c0] : (f32, memref<1xf32, 1>) -> f32
    %1 = memref.atomic_rmw maxnumf %v, %room[%c0] : (f32, memref<1xf32, 3>) -> f32
    gpu.barrier
    scf.if %first {
      %end = memref.load %room[%c0] : memref<1xf32, 3>
      memref.store %end, %s[%b] : memref<2xf32, 1>
    }
    gpu.return
  }

  gpu.func @minnumf(%x: memref<64xf32, 1>, %r: memref<1xf32, 1>, %s: memref<2xf32, 1>)
      workgroup(%room: memref<1xf32, 3>) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %i = gpu.global_id x
    %t = gpu.thread_id x
    %b = gpu.block_id x
    %c0 = arith.constant 0 : index
    %first = arith.cmpi eq, %t, %c0 : index
    scf.if %first {
      %start = memref.load %s[%b] : memref<2xf32, 1>
      memref.store %start, %room[%c0] : memref<1xf32, 3>
    }
    gpu.barrier
    %v = memref.load %x[%i] : memref<64xf32, 1>
    %0 = memref.atomic_rmw minnumf %v, %r[%c0] : (f32, memref<1xf32, 1>) -> f32
    %1 = memref.atomic_rmw minnumf %v, %room[%c0] : (f32, memref<1xf32, 3>) -> f32
    gpu.barrier
    scf.if %first {
      %end = memref.load %room[%c0] : memref<1xf32, 3>
      memref.store %end, %s[%b] : memref<2xf32, 1>
    }
    gpu.return
  }

  gpu.func @maximumf(%x: memref<64xf32, 1>, %r: memref<1xf32, 1>, %s: memref<2xf32, 1>)
      workgroup(%room: memref<1xf32, 3>) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %i = gpu.global_id x
    %t = gpu.thread_id x
    %b = gpu.block_id x
    %c0 = arith.constant 0 : index
    %first = arith.cmpi eq, %t, %c0 : index
    scf.if %first {
      %start = memref.load %s[%b] : memref<2xf32, 1>
      memref.store %start, %room[%c0] : memref<1xf32, 3>
    }
    gpu.barrier
    %v = memref.load %x[%i] : memref<64xf32, 1>
    %0 = memref.atomic_rmw maximumf %v, %r[%c0] : (f32, memref<1xf32, 1>) -> f32
    %1 = memref.atomic_rmw maximumf %v, %room[%c0] : (f32, memref<1xf32, 3>) -> f32
    gpu.barrier
    scf.if %first {
      %end = memref.load %room[%c0] : memref<1xf32, 3>
      memref.store %end, %s[%b] : memref<2xf32, 1>
    }
    gpu.return
  }

  gpu.func @minimumf(%x: memref<64xf32, 1>, %r: memref<1xf32, 1>, %s: memref<2xf32, 1>)
      workgroup(%room: memref<1xf32, 3>) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %i = gpu.global_id x
    %t = gpu.thread_id x
    %b = gpu.block_id x
    %c0 = arith.constant 0 : index
    %first = arith.cmpi eq, %t, %c0 : index
    scf.if %first {
      %start = memref.load %s[%b] : memref<2xf32, 1>
      memref.store %start, %room[%c0] : memref<1xf32, 3>
    }
    gpu.barrier
    %v = memref.load %x[%i] : memref<64xf32, 1>
    %0 = memref.atomic_rmw minimumf %v, %r[%c0] : (f32, memref<1xf32, 1>) -> f32
    %1 = memref.atomic_rmw minimumf %v, %room[%c0] : (f32, memref<1xf32, 3>) -> f32
    gpu.barrier
    scf.if %first {
      %end = memref.load %room[%c0] : memref<1xf32, 3>
      memref.store %end, %s[%b] : memref<2xf32, 1>
    }
    gpu.return
  }

  gpu.func @addi64(%x: memref<64xi64, 1>, %r: memref<1xi64, 1>, %s: memref<2xi64, 1>)
      workgroup(%room: memref<1xi64, 3>) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %i = gpu.global_id x
    %t = gpu.thread_id x
    %b = gpu.block_id x
    %c0 = arith.constant 0 : index
    %first = arith.cmpi eq, %t, %c0 : index
    scf.if %first {
      %start = memref.load %s[%b] : memref<2xi64, 1>
      memref.store %start, %room[%c0] : memref<1xi64, 3>
    }
    gpu.barrier
    %v = memref.load %x[%i] : memref<64xi64, 1>
    %0 = memref.atomic_rmw addi %v, %r[%c0] : (i64, memref<1xi64, 1>) -> i64
    %1 = memref.atomic_rmw addi %v, %room[%c0] : (i64, memref<1xi64, 3>) -> i64
    gpu.barrier
    scf.if %first {
      %end = memref.load %room[%c0] : memref<1xi64, 3>
      memref.store %end, %s[%b] : memref<2xi64, 1>
    }
    gpu.return
  }

  gpu.func @addf64(%x: memref<64xf64, 1>, %r: memref<1xf64, 1>, %s: memref<2xf64, 1>)
      workgroup(%room: memref<1xf64, 3>) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %i = gpu.global_id x
    %t = gpu.thread_id x
    %b = gpu.block_id x
    %c0 = arith.constant 0 : index
    %first = arith.cmpi eq, %t, %c0 : index
    scf.if %first {
      %start = memref.load %s[%b] : memref<2xf64, 1>
      memref.store %start, %room[%c0] : memref<1xf64, 3>
    }
    gpu.barrier
    %v = memref.load %x[%i] : memref<64xf64, 1>
    %0 = memref.atomic_rmw addf %v, %r[%c0] : (f64, memref<1xf64, 1>) -> f64
    %1 = memref.atomic_rmw addf %v, %room[%c0] : (f64, memref<1xf64, 3>) -> f64
    gpu.barrier
    scf.if %first {
      %end = memref.load %room[%c0] : memref<1xf64, 3>
      memref.store %end, %s[%b] : memref<2xf64, 1>
    }
    gpu.return
  }

  gpu.func @addf16(%x: memref<64xf16, 1>, %r: memref<1xf16, 1>, %s: memref<2xf16, 1>)
      workgroup(%room: memref<1xf16, 3>) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %i = gpu.global_id x
    %t = gpu.thread_id x
    %b = gpu.block_id x
    %c0 = arith.constant 0 : index
    %first = arith.cmpi eq, %t, %c0 : index
    scf.if %first {
      %start = memref.load %s[%b] : memref<2xf16, 1>
      memref.store %start, %room[%c0] : memref<1xf16, 3>
    }
    gpu.barrier
    %v = memref.load %x[%i] : memref<64xf16, 1>
    %0 = memref.atomic_rmw addf %v, %r[%c0] : (f16, memref<1xf16, 1>) -> f16
    %1 = memref.atomic_rmw addf %v, %room[%c0] : (f16, memref<1xf16, 3>) -> f16
    gpu.barrier
    scf.if %first {
      %end = memref.load %room[%c0] : memref<1xf16, 3>
      memref.store %end, %s[%b] : memref<2xf16, 1>
    }
    gpu.return
  }
}
