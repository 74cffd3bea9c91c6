// Integer arithmetic: it wraps; division rounds to zero, down or up; extended multiplication has a low and a high half.
// RUN @divsi block=256 arch=base
// ARG a : i32 = np.random.default_rng(1).integers(-(1 << 31), 1 << 31, 256)
// ARG b : i32 = np.where((np.random.default_rng(2).integers(-(1 << 31), 1 << 31, 256)) >> 20 == 0, 7, (np.random.default_rng(2).integers(-(1 << 31), 1 << 31, 256)) >> 20)
// ARG r = zeros:256xi32
// EXPECT r = i32(np.asarray(np.trunc(a.astype(np.float64) / b)).astype(np.int64))
//
// RUN @remsi block=256
// ARG a : i32 = np.random.default_rng(1).integers(-(1 << 31), 1 << 31, 256)
// ARG b : i32 = np.where((np.random.default_rng(2).integers(-(1 << 31), 1 << 31, 256)) >> 20 == 0, 7, (np.random.default_rng(2).integers(-(1 << 31), 1 << 31, 256)) >> 20)
// ARG r = zeros:256xi32
// EXPECT r = i32(np.asarray(np.fmod(a.astype(np.float64), b)).astype(np.int64))
//
// RUN @floordivsi block=256
// ARG a : i32 = np.random.default_rng(1).integers(-(1 << 31), 1 << 31, 256)
// ARG b : i32 = np.where((np.random.default_rng(2).integers(-(1 << 31), 1 << 31, 256)) >> 20 == 0, 7, (np.random.default_rng(2).integers(-(1 << 31), 1 << 31, 256)) >> 20)
// ARG r = zeros:256xi32
// EXPECT r = i32(np.asarray(a.astype(np.int64) // b).astype(np.int64))
//
// RUN @ceildivsi block=256
// ARG a : i32 = np.random.default_rng(1).integers(-(1 << 31), 1 << 31, 256)
// ARG b : i32 = np.where((np.random.default_rng(2).integers(-(1 << 31), 1 << 31, 256)) >> 20 == 0, 7, (np.random.default_rng(2).integers(-(1 << 31), 1 << 31, 256)) >> 20)
// ARG r = zeros:256xi32
// EXPECT r = i32(np.asarray(-(-a.astype(np.int64) // b)).astype(np.int64))
//
// RUN @divui block=256
// ARG a : i32 = np.random.default_rng(1).integers(-(1 << 31), 1 << 31, 256)
// ARG b : i32 = np.where((np.random.default_rng(2).integers(-(1 << 31), 1 << 31, 256)) >> 20 == 0, 7, (np.random.default_rng(2).integers(-(1 << 31), 1 << 31, 256)) >> 20)
// ARG r = zeros:256xi32
// EXPECT r = i32(np.asarray(a.view(np.uint32) // b.view(np.uint32)).astype(np.int64))
//
// RUN @remui block=256
// ARG a : i32 = np.random.default_rng(1).integers(-(1 << 31), 1 << 31, 256)
// ARG b : i32 = np.where((np.random.default_rng(2).integers(-(1 << 31), 1 << 31, 256)) >> 20 == 0, 7, (np.random.default_rng(2).integers(-(1 << 31), 1 << 31, 256)) >> 20)
// ARG r = zeros:256xi32
// EXPECT r = i32(np.asarray(a.view(np.uint32) % b.view(np.uint32)).astype(np.int64))
//
// RUN @ceildivui block=256
// ARG a : i32 = np.random.default_rng(1).integers(-(1 << 31), 1 << 31, 256)
// ARG b : i32 = np.where((np.random.default_rng(2).integers(-(1 << 31), 1 << 31, 256)) >> 20 == 0, 7, (np.random.default_rng(2).integers(-(1 << 31), 1 << 31, 256)) >> 20)
// ARG r = zeros:256xi32
// EXPECT r = i32(np.asarray(-(-a.view(np.uint32).astype(np.int64) // b.view(np.uint32).astype(np.int64))).astype(np.int64))
//
// RUN @addi block=256
// ARG a : i32 = np.random.default_rng(1).integers(-(1 << 31), 1 << 31, 256)
// ARG b : i32 = np.where((np.random.default_rng(2).integers(-(1 << 31), 1 << 31, 256)) >> 20 == 0, 7, (np.random.default_rng(2).integers(-(1 << 31), 1 << 31, 256)) >> 20)
// ARG r = zeros:256xi32
// EXPECT r = i32(np.asarray(a.astype(np.int64) + b).astype(np.int64))
//
// RUN @subi block=256
// ARG a : i32 = np.random.default_rng(1).integers(-(1 << 31), 1 << 31, 256)
// ARG b : i32 = np.where((np.random.default_rng(2).integers(-(1 << 31), 1 << 31, 256)) >> 20 == 0, 7, (np.random.default_rng(2).integers(-(1 << 31), 1 << 31, 256)) >> 20)
// ARG r = zeros:256xi32
// EXPECT r = i32(np.asarray(a.astype(np.int64) - b).astype(np.int64))
//
// RUN @muli block=256
// ARG a : i32 = np.random.default_rng(1).integers(-(1 << 31), 1 << 31, 256)
// ARG b : i32 = np.where((np.random.default_rng(2).integers(-(1 << 31), 1 << 31, 256)) >> 20 == 0, 7, (np.random.default_rng(2).integers(-(1 << 31), 1 << 31, 256)) >> 20)
// ARG r = zeros:256xi32
// EXPECT r = i32(np.asarray(a.astype(np.int64) * b).astype(np.int64))
//
// RUN @andi block=256
// ARG a : i32 = np.random.default_rng(1).integers(-(1 << 31), 1 << 31, 256)
// ARG b : i32 = np.where((np.random.default_rng(2).integers(-(1 << 31), 1 << 31, 256)) >> 20 == 0, 7, (np.random.default_rng(2).integers(-(1 << 31), 1 << 31, 256)) >> 20)
// ARG r = zeros:256xi32
// EXPECT r = i32(np.asarray(a & b).astype(np.int64))
//
// RUN @ori block=256
// ARG a : i32 = np.random.default_rng(1).integers(-(1 << 31), 1 << 31, 256)
// ARG b : i32 = np.where((np.random.default_rng(2).integers(-(1 << 31), 1 << 31, 256)) >> 20 == 0, 7, (np.random.default_rng(2).integers(-(1 << 31), 1 << 31, 256)) >> 20)
// ARG r = zeros:256xi32
// EXPECT r = i32(np.asarray(a | b).astype(np.int64))
//
// RUN @xori block=256
// ARG a : i32 = np.random.default_rng(1).integers(-(1 << 31), 1 << 31, 256)
// ARG b : i32 = np.where((np.random.default_rng(2).integers(-(1 << 31), 1 << 31, 256)) >> 20 == 0, 7, (np.random.default_rng(2).integers(-(1 << 31), 1 << 31, 256)) >> 20)
// ARG r = zeros:256xi32
// EXPECT r = i32(np.asarray(a ^ b).astype(np.int64))
//
// RUN @maxsi block=256
// ARG a : i32 = np.random.default_rng(1).integers(-(1 << 31), 1 << 31, 256)
// ARG b : i32 = np.where((np.random.default_rng(2).integers(-(1 << 31), 1 << 31, 256)) >> 20 == 0, 7, (np.random.default_rng(2).integers(-(1 << 31), 1 << 31, 256)) >> 20)
// ARG r = zeros:256xi32
// EXPECT r = i32(np.asarray(np.maximum(a, b)).astype(np.int64))
//
// RUN @minsi block=256
// ARG a : i32 = np.random.default_rng(1).integers(-(1 << 31), 1 << 31, 256)
// ARG b : i32 = np.where((np.random.default_rng(2).integers(-(1 << 31), 1 << 31, 256)) >> 20 == 0, 7, (np.random.default_rng(2).integers(-(1 << 31), 1 << 31, 256)) >> 20)
// ARG r = zeros:256xi32
// EXPECT r = i32(np.asarray(np.minimum(a, b)).astype(np.int64))
//
// RUN @maxui block=256
// ARG a : i32 = np.random.default_rng(1).integers(-(1 << 31), 1 << 31, 256)
// ARG b : i32 = np.where((np.random.default_rng(2).integers(-(1 << 31), 1 << 31, 256)) >> 20 == 0, 7, (np.random.default_rng(2).integers(-(1 << 31), 1 << 31, 256)) >> 20)
// ARG r = zeros:256xi32
// EXPECT r = i32(np.asarray(np.maximum(a.view(np.uint32), b.view(np.uint32))).astype(np.int64))
//
// RUN @minui block=256
// ARG a : i32 = np.random.default_rng(1).integers(-(1 << 31), 1 << 31, 256)
// ARG b : i32 = np.where((np.random.default_rng(2).integers(-(1 << 31), 1 << 31, 256)) >> 20 == 0, 7, (np.random.default_rng(2).integers(-(1 << 31), 1 << 31, 256)) >> 20)
// ARG r = zeros:256xi32
// EXPECT r = i32(np.asarray(np.minimum(a.view(np.uint32), b.view(np.uint32))).astype(np.int64))
//
// RUN @shli block=256
// ARG a : i32 = np.random.default_rng(1).integers(-(1 << 31), 1 << 31, 256)
// ARG b : i32 = np.arange(256) % 32
// ARG r = zeros:256xi32
// EXPECT r = i32(np.asarray(a.astype(np.int64) << b).astype(np.int64))
//
// RUN @shrsi block=256
// ARG a : i32 = np.random.default_rng(1).integers(-(1 << 31), 1 << 31, 256)
// ARG b : i32 = np.arange(256) % 32
// ARG r = zeros:256xi32
// EXPECT r = i32(np.asarray(a >> b).astype(np.int64))
//
// RUN @shrui block=256
// ARG a : i32 = np.random.default_rng(1).integers(-(1 << 31), 1 << 31, 256)
// ARG b : i32 = np.arange(256) % 32
// ARG r = zeros:256xi32
// EXPECT r = i32(np.asarray(a.view(np.uint32) >> b.view(np.uint32)).astype(np.int64))
//
// RUN @mulhi block=256
// ARG a : i32 = np.random.default_rng(1).integers(-(1 << 31), 1 << 31, 256)
// ARG b : i32 = np.random.default_rng(1).integers(-(1 << 31), 1 << 31, 256)[::-1]
// ARG r = zeros:256xi32
// EXPECT r = (a.astype(np.int64) * b) >> 32
//
// RUN @mulhiu block=256
// ARG a : i32 = np.random.default_rng(1).integers(-(1 << 31), 1 << 31, 256)
// ARG b : i32 = np.random.default_rng(1).integers(-(1 << 31), 1 << 31, 256)[::-1]
// ARG r = zeros:256xi32
// EXPECT r = i32(((a.view(np.uint32).astype(np.uint64) * b.view(np.uint32)) >> 32).astype(np.int64))
//
// RUN @carry block=256
// ARG a : i32 = np.random.default_rng(1).integers(-(1 << 31), 1 << 31, 256)
// ARG b : i32 = np.random.default_rng(1).integers(-(1 << 31), 1 << 31, 256)[::-1]
// ARG r = zeros:256xi32
// EXPECT r = (a.view(np.uint32).astype(np.int64) + b.view(np.uint32)) >> 32
//
// RUN @wide block=256
// ARG a : i64 = np.random.default_rng(1).integers(-(1 << 62), 1 << 62, 256)
// ARG b : i64 = np.random.default_rng(2).integers(-(1 << 40), 1 << 40, 256) | 1
// ARG r = zeros:256xi64
// EXPECT r = [int(abs(int(x)) % abs(int(y))) * (1 if x >= 0 else -1) for x, y in zip(a, b)]
gpu.module @kernels {
  gpu.func @divsi(%as: memref<256xi32, 1>, %bs: memref<256xi32, 1>, %out: memref<256xi32, 1>) kernel {
    %i = gpu.thread_id x
    %a = memref.load %as[%i] : memref<256xi32, 1>
    %b = memref.load %bs[%i] : memref<256xi32, 1>
    %r = arith.divsi %a, %b : i32
    memref.store %r, %out[%i] : memref<256xi32, 1>
    gpu.return
  }

  gpu.func @remsi(%as: memref<256xi32, 1>, %bs: memref<256xi32, 1>, %out: memref<256xi32, 1>) kernel {
    %i = gpu.thread_id x
    %a = memref.load %as[%i] : memref<256xi32, 1>
    %b = memref.load %bs[%i] : memref<256xi32, 1>
    %r = arith.remsi %a, %b : i32
    memref.store %r, %out[%i] : memref<256xi32, 1>
    gpu.return
  }

  gpu.func @floordivsi(%as: memref<256xi32, 1>, %bs: memref<256xi32, 1>, %out: memref<256xi32, 1>) kernel {
    %i = gpu.thread_id x
    %a = memref.load %as[%i] : memref<256xi32, 1>
    %b = memref.load %bs[%i] : memref<256xi32, 1>
    %r = arith.floordivsi %a, %b : i32
    memref.store %r, %out[%i] : memref<256xi32, 1>
    gpu.return
  }

  gpu.func @ceildivsi(%as: memref<256xi32, 1>, %bs: memref<256xi32, 1>, %out: memref<256xi32, 1>) kernel {
    %i = gpu.thread_id x
    %a = memref.load %as[%i] : memref<256xi32, 1>
    %b = memref.load %bs[%i] : memref<256xi32, 1>
    %r = arith.ceildivsi %a, %b : i32
    memref.store %r, %out[%i] : memref<256xi32, 1>
    gpu.return
  }

  gpu.func @divui(%as: memref<256xi32, 1>, %bs: memref<256xi32, 1>, %out: memref<256xi32, 1>) kernel {
    %i = gpu.thread_id x
    %a = memref.load %as[%i] : memref<256xi32, 1>
    %b = memref.load %bs[%i] : memref<256xi32, 1>
    %r = arith.divui %a, %b : i32
    memref.store %r, %out[%i] : memref<256xi32, 1>
    gpu.return
  }

  gpu.func @remui(%as: memref<256xi32, 1>, %bs: memref<256xi32, 1>, %out: memref<256xi32, 1>) kernel {
    %i = gpu.thread_id x
    %a = memref.load %as[%i] : memref<256xi32, 1>
    %b = memref.load %bs[%i] : memref<256xi32, 1>
    %r = arith.remui %a, %b : i32
    memref.store %r, %out[%i] : memref<256xi32, 1>
    gpu.return
  }

  gpu.func @ceildivui(%as: memref<256xi32, 1>, %bs: memref<256xi32, 1>, %out: memref<256xi32, 1>) kernel {
    %i = gpu.thread_id x
    %a = memref.load %as[%i] : memref<256xi32, 1>
    %b = memref.load %bs[%i] : memref<256xi32, 1>
    %r = arith.ceildivui %a, %b : i32
    memref.store %r, %out[%i] : memref<256xi32, 1>
    gpu.return
  }

  gpu.func @addi(%as: memref<256xi32, 1>, %bs: memref<256xi32, 1>, %out: memref<256xi32, 1>) kernel {
    %i = gpu.thread_id x
    %a = memref.load %as[%i] : memref<256xi32, 1>
    %b = memref.load %bs[%i] : memref<256xi32, 1>
    %r = arith.addi %a, %b : i32
    memref.store %r, %out[%i] : memref<256xi32, 1>
    gpu.return
  }

  gpu.func @subi(%as: memref<256xi32, 1>, %bs: memref<256xi32, 1>, %out: memref<256xi32, 1>) kernel {
    %i = gpu.thread_id x
    %a = memref.load %as[%i] : memref<256xi32, 1>
    %b = memref.load %bs[%i] : memref<256xi32, 1>
    %r = arith.subi %a, %b : i32
    memref.store %r, %out[%i] : memref<256xi32, 1>
    gpu.return
  }

  gpu.func @muli(%as: memref<256xi32, 1>, %bs: memref<256xi32, 1>, %out: memref<256xi32, 1>) kernel {
    %i = gpu.thread_id x
    %a = memref.load %as[%i] : memref<256xi32, 1>
    %b = memref.load %bs[%i] : memref<256xi32, 1>
    %r = arith.muli %a, %b : i32
    memref.store %r, %out[%i] : memref<256xi32, 1>
    gpu.return
  }

  gpu.func @andi(%as: memref<256xi32, 1>, %bs: memref<256xi32, 1>, %out: memref<256xi32, 1>) kernel {
    %i = gpu.thread_id x
    %a = memref.load %as[%i] : memref<256xi32, 1>
    %b = memref.load %bs[%i] : memref<256xi32, 1>
    %r = arith.andi %a, %b : i32
    memref.store %r, %out[%i] : memref<256xi32, 1>
    gpu.return
  }

  gpu.func @ori(%as: memref<256xi32, 1>, %bs: memref<256xi32, 1>, %out: memref<256xi32, 1>) kernel {
    %i = gpu.thread_id x
    %a = memref.load %as[%i] : memref<256xi32, 1>
    %b = memref.load %bs[%i] : memref<256xi32, 1>
    %r = arith.ori %a, %b : i32
    memref.store %r, %out[%i] : memref<256xi32, 1>
    gpu.return
  }

  gpu.func @xori(%as: memref<256xi32, 1>, %bs: memref<256xi32, 1>, %out: memref<256xi32, 1>) kernel {
    %i = gpu.thread_id x
    %a = memref.load %as[%i] : memref<256xi32, 1>
    %b = memref.load %bs[%i] : memref<256xi32, 1>
    %r = arith.xori %a, %b : i32
    memref.store %r, %out[%i] : memref<256xi32, 1>
    gpu.return
  }

  gpu.func @maxsi(%as: memref<256xi32, 1>, %bs: memref<256xi32, 1>, %out: memref<256xi32, 1>) kernel {
    %i = gpu.thread_id x
    %a = memref.load %as[%i] : memref<256xi32, 1>
    %b = memref.load %bs[%i] : memref<256xi32, 1>
    %r = arith.maxsi %a, %b : i32
    memref.store %r, %out[%i] : memref<256xi32, 1>
    gpu.return
  }

  gpu.func @minsi(%as: memref<256xi32, 1>, %bs: memref<256xi32, 1>, %out: memref<256xi32, 1>) kernel {
    %i = gpu.thread_id x
    %a = memref.load %as[%i] : memref<256xi32, 1>
    %b = memref.load %bs[%i] : memref<256xi32, 1>
    %r = arith.minsi %a, %b : i32
    memref.store %r, %out[%i] : memref<256xi32, 1>
    gpu.return
  }

  gpu.func @maxui(%as: memref<256xi32, 1>, %bs: memref<256xi32, 1>, %out: memref<256xi32, 1>) kernel {
    %i = gpu.thread_id x
    %a = memref.load %as[%i] : memref<256xi32, 1>
    %b = memref.load %bs[%i] : memref<256xi32, 1>
    %r = arith.maxui %a, %b : i32
    memref.store %r, %out[%i] : memref<256xi32, 1>
    gpu.return
  }

  gpu.func @minui(%as: memref<256xi32, 1>, %bs: memref<256xi32, 1>, %out: memref<256xi32, 1>) kernel {
    %i = gpu.thread_id x
    %a = memref.load %as[%i] : memref<256xi32, 1>
    %b = memref.load %bs[%i] : memref<256xi32, 1>
    %r = arith.minui %a, %b : i32
    memref.store %r, %out[%i] : memref<256xi32, 1>
    gpu.return
  }

  gpu.func @shli(%as: memref<256xi32, 1>, %bs: memref<256xi32, 1>, %out: memref<256xi32, 1>) kernel {
    %i = gpu.thread_id x
    %a = memref.load %as[%i] : memref<256xi32, 1>
    %b = memref.load %bs[%i] : memref<256xi32, 1>
    %r = arith.shli %a, %b : i32
    memref.store %r, %out[%i] : memref<256xi32, 1>
    gpu.return
  }

  gpu.func @shrsi(%as: memref<256xi32, 1>, %bs: memref<256xi32, 1>, %out: memref<256xi32, 1>) kernel {
    %i = gpu.thread_id x
    %a = memref.load %as[%i] : memref<256xi32, 1>
    %b = memref.load %bs[%i] : memref<256xi32, 1>
    %r = arith.shrsi %a, %b : i32
    memref.store %r, %out[%i] : memref<256xi32, 1>
    gpu.return
  }

  gpu.func @shrui(%as: memref<256xi32, 1>, %bs: memref<256xi32, 1>, %out: memref<256xi32, 1>) kernel {
    %i = gpu.thread_id x
    %a = memref.load %as[%i] : memref<256xi32, 1>
    %b = memref.load %bs[%i] : memref<256xi32, 1>
    %r = arith.shrui %a, %b : i32
    memref.store %r, %out[%i] : memref<256xi32, 1>
    gpu.return
  }

  gpu.func @mulhi(%as: memref<256xi32, 1>, %bs: memref<256xi32, 1>, %out: memref<256xi32, 1>) kernel {
    %i = gpu.thread_id x
    %a = memref.load %as[%i] : memref<256xi32, 1>
    %b = memref.load %bs[%i] : memref<256xi32, 1>
    %low, %r = arith.mulsi_extended %a, %b : i32
    memref.store %r, %out[%i] : memref<256xi32, 1>
    gpu.return
  }

  gpu.func @mulhiu(%as: memref<256xi32, 1>, %bs: memref<256xi32, 1>, %out: memref<256xi32, 1>) kernel {
    %i = gpu.thread_id x
    %a = memref.load %as[%i] : memref<256xi32, 1>
    %b = memref.load %bs[%i] : memref<256xi32, 1>
    %low, %r = arith.mului_extended %a, %b : i32
    memref.store %r, %out[%i] : memref<256xi32, 1>
    gpu.return
  }

  gpu.func @carry(%as: memref<256xi32, 1>, %bs: memref<256xi32, 1>, %out: memref<256xi32, 1>) kernel {
    %i = gpu.thread_id x
    %a = memref.load %as[%i] : memref<256xi32, 1>
    %b = memref.load %bs[%i] : memref<256xi32, 1>
    %sum, %c = arith.addui_extended %a, %b : i32, i1
    %r = arith.extui %c : i1 to i32
    memref.store %r, %out[%i] : memref<256xi32, 1>
    gpu.return
  }

  gpu.func @wide(%as: memref<256xi64, 1>, %bs: memref<256xi64, 1>, %out: memref<256xi64, 1>) kernel {
    %i = gpu.thread_id x
    %a = memref.load %as[%i] : memref<256xi64, 1>
    %b = memref.load %bs[%i] : memref<256xi64, 1>
    %q = arith.divsi %a, %b : i64
    %m = arith.muli %q, %b : i64
    %r = arith.subi %a, %m : i64
    memref.store %r, %out[%i] : memref<256xi64, 1>
    gpu.return
  }
}
