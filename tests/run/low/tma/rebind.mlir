// One map in global memory is used for two tensors: the kernel rebinds it to the second one.
// RUN @both block=32 arch=tma
// DATA first = random:16x32xf32:1
// MAP map = first box=8x16
// ARG second = random:24x48xf32:2
// ARG out = zeros:2x8x16xf32
// EXPECT out = np.stack([first[8:, 16:], second[8:16, 16:32]])
!map = !nvgpu.tensormap.descriptor<tensor = memref<8x16xf32, 3>, swizzle = none, l2promo = none, oob = zero, interleave = none>
!bars = !nvgpu.mbarrier.group<memorySpace = #gpu.address_space<workgroup>>
gpu.module @kernels {
  gpu.func @both(%bytes_of_map: memref<32xi32, 1>, %second: i64, %out: memref<2x8x16xf32, 1>)
      workgroup(%tile: memref<8x16xf32, 3> {llvm.align = 128 : i64}) kernel
      attributes {known_block_size = array<i32: 32, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c4 = arith.constant 4 : index
    %c8 = arith.constant 8 : index
    %c16 = arith.constant 16 : index
    %bytes = arith.constant 512 : index
    %ticks = arith.constant 10000000 : index
    %rows = arith.constant 24 : i32
    %columns = arith.constant 48 : i32
    %pitch = arith.constant 192 : i64
    %false = arith.constant false
    %true = arith.constant true
    %bars = nvgpu.mbarrier.create -> !bars
    %map = cute_nvgpu.tensormap.at %bytes_of_map[%c0] : memref<32xi32, 1> -> !map
    %t = gpu.thread_id x
    %first = arith.cmpi eq, %t, %c0 : index
    %y = arith.divui %t, %c4 : index
    %part = arith.remui %t, %c4 : index
    %x = arith.muli %part, %c4 : index
    scf.if %first {
      nvgpu.mbarrier.init %bars[%c0], %c1 : !bars
      nvvm.fence.mbarrier.init
    }
    gpu.barrier
    %end = scf.for %round = %c0 to %c2 step %c1 iter_args(%parity = %false) -> (i1) {
      scf.if %first {
        nvgpu.tma.fence.descriptor %map : !map
        nvgpu.mbarrier.arrive.expect_tx %bars[%c0], %bytes : !bars
        nvgpu.tma.async.load %map[%c16, %c8], %bars[%c0] to %tile : !map, !bars -> memref<8x16xf32, 3>
      }
      nvgpu.mbarrier.try_wait.parity %bars[%c0], %parity, %ticks : !bars
      %v = vector.load %tile[%y, %x] : memref<8x16xf32, 3>, vector<4xf32>
      vector.store %v, %out[%round, %y, %x] : memref<2x8x16xf32, 1>, vector<4xf32>
      // All have read the tile, and no copy follows the map, before both change.
      cute_nvgpu.fence.proxy_async shared_cta
      gpu.barrier
      scf.if %first {
        cute_nvgpu.tensormap.rebind %map, %second sizes[%rows, %columns] strides[%pitch] : !map
      }
      %next = arith.xori %parity, %true : i1
      scf.yield %next : i1
    }
    gpu.return
  }
}
