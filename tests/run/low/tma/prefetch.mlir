// Maps and boxes are prefetched before the copy that needs them; results are the same.
// RUN @parameter block=32 arch=tma
// DATA source = random:16x32xi32:1
// MAP from = source box=8x32
// ARG out = zeros:8x32xi32
// EXPECT out = source[8:]
//
// RUN @in_memory block=32 arch=tma
// DATA source = random:16x32xi32:2
// MAP from = source box=8x32
// ARG out = zeros:8x32xi32
// EXPECT out = source[8:]
!map = !nvgpu.tensormap.descriptor<tensor = memref<8x32xi32, 3>, swizzle = none, l2promo = none, oob = zero, interleave = none>
!bars = !nvgpu.mbarrier.group<memorySpace = #gpu.address_space<workgroup>>
gpu.module @kernels {
  func.func private @fetch(%from: !map, %tile: memref<8x32xi32, 3>, %out: memref<8x32xi32, 1>) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c8 = arith.constant 8 : index
    %bytes = arith.constant 1024 : index
    %ticks = arith.constant 10000000 : index
    %false = arith.constant false
    %bars = nvgpu.mbarrier.create -> !bars
    %t = gpu.thread_id x
    %first = arith.cmpi eq, %t, %c0 : index
    scf.if %first {
      nvgpu.mbarrier.init %bars[%c0], %c1 : !bars
      nvvm.fence.mbarrier.init
      cute_nvgpu.tma.prefetch %from[%c8, %c0] : !map
      nvgpu.mbarrier.arrive.expect_tx %bars[%c0], %bytes : !bars
      nvgpu.tma.async.load %from[%c0, %c8], %bars[%c0] to %tile : !map, !bars -> memref<8x32xi32, 3>
    }
    gpu.barrier
    nvgpu.mbarrier.try_wait.parity %bars[%c0], %false, %ticks : !bars
    scf.for %y = %c0 to %c8 step %c1 {
      %v = memref.load %tile[%y, %t] : memref<8x32xi32, 3>
      memref.store %v, %out[%y, %t] : memref<8x32xi32, 1>
    }
    func.return
  }

  gpu.func @parameter(%from: !map, %out: memref<8x32xi32, 1>)
      workgroup(%tile: memref<8x32xi32, 3> {llvm.align = 128 : i64}) kernel
      attributes {known_block_size = array<i32: 32, 1, 1>} {
    nvgpu.tma.prefetch.descriptor %from : !map
    func.call @fetch(%from, %tile, %out) : (!map, memref<8x32xi32, 3>, memref<8x32xi32, 1>) -> ()
    gpu.return
  }

  gpu.func @in_memory(%map: memref<32xi32, 1>, %out: memref<8x32xi32, 1>)
      workgroup(%tile: memref<8x32xi32, 3> {llvm.align = 128 : i64}) kernel
      attributes {known_block_size = array<i32: 32, 1, 1>} {
    %c0 = arith.constant 0 : index
    %from = cute_nvgpu.tensormap.at %map[%c0] : memref<32xi32, 1> -> !map
    nvgpu.tma.fence.descriptor %from : !map
    nvgpu.tma.prefetch.descriptor %from : !map
    func.call @fetch(%from, %tile, %out) : (!map, memref<8x32xi32, 3>, memref<8x32xi32, 1>) -> ()
    gpu.return
  }
}
