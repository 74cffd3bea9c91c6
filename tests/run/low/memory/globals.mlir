// Constants and variables of a module, and buffers of a function.
// RUN @table block=32 arch=base
// ARG y = zeros:32xf32
// EXPECT y = np.array([1, 2, 4, 8] * 8) + np.arange(32)
//
// RUN @private block=32
// ARG x = random:32x4xi32:1
// ARG y = zeros:32x4xi32
// EXPECT y = np.sort(x, axis=1)
gpu.module @kernels {
  memref.global "private" constant @powers : memref<4xf32> = dense<[1.0, 2.0, 4.0, 8.0]>
  memref.global "private" @room : memref<32xf32, 3> = uninitialized

  gpu.func @table(%y: memref<32xf32, 1>) kernel {
    %i = gpu.thread_id x
    %c4 = arith.constant 4 : index
    %powers = memref.get_global @powers : memref<4xf32>
    %room = memref.get_global @room : memref<32xf32, 3>
    %place = arith.remui %i, %c4 : index
    %v = memref.load %powers[%place] : memref<4xf32>
    %n = arith.index_cast %i : index to i32
    %f = arith.sitofp %n : i32 to f32
    %s = arith.addf %v, %f : f32
    memref.store %s, %room[%i] : memref<32xf32, 3>
    %r = memref.load %room[%i] : memref<32xf32, 3>
    memref.store %r, %y[%i] : memref<32xf32, 1>
    gpu.return
  }

  gpu.func @private(%x: memref<32x4xi32, 1>, %y: memref<32x4xi32, 1>)
      private(%own: memref<4xi32, #gpu.address_space<private>>) kernel {
    %i = gpu.thread_id x
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c3 = arith.constant 3 : index
    %c4 = arith.constant 4 : index
    scf.for %k = %c0 to %c4 step %c1 {
      %v = memref.load %x[%i, %k] : memref<32x4xi32, 1>
      memref.store %v, %own[%k] : memref<4xi32, #gpu.address_space<private>>
    }
    scf.for %round = %c0 to %c4 step %c1 {
      scf.for %k = %c0 to %c3 step %c1 {
        %next = arith.addi %k, %c1 : index
        %a = memref.load %own[%k] : memref<4xi32, #gpu.address_space<private>>
        %b = memref.load %own[%next] : memref<4xi32, #gpu.address_space<private>>
        %low = arith.minsi %a, %b : i32
        %high = arith.maxsi %a, %b : i32
        memref.store %low, %own[%k] : memref<4xi32, #gpu.address_space<private>>
        memref.store %high, %own[%next] : memref<4xi32, #gpu.address_space<private>>
      }
    }
    scf.for %k = %c0 to %c4 step %c1 {
      %v = memref.load %own[%k] : memref<4xi32, #gpu.address_space<private>>
      memref.store %v, %y[%i, %k] : memref<32x4xi32, 1>
    }
    gpu.return
  }
}
