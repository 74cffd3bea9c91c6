// A barrier waits for the cp.async copies of threads only.
// RUN @copy block=64 arch=cluster
// ARG x = random:64x4xf32:1
// ARG y = zeros:64x4xf32
// EXPECT y = x[::-1]
!bars = !nvgpu.mbarrier.group<memorySpace = #gpu.address_space<workgroup>>
gpu.module @kernels {
  gpu.func @copy(%x: memref<64x4xf32, 1>, %y: memref<64x4xf32, 1>) workgroup(%room: memref<64x4xf32, 3>)
      kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    %i0 = arith.constant 0 : index
    %i1 = arith.constant 1 : index
    %i4 = arith.constant 4 : index
    %i63 = arith.constant 63 : index
    %i64 = arith.constant 64 : index
    %ticks = arith.constant 1000000 : index
    %false = arith.constant false
    %bars = nvgpu.mbarrier.create -> !bars
    %t = gpu.thread_id x
    %first = arith.cmpi eq, %t, %i0 : index
    scf.if %first {
      nvgpu.mbarrier.init %bars[%i0], %i64 : !bars
    }
    gpu.barrier
    %token = nvgpu.device_async_copy %x[%t, %i0], %room[%t, %i0], 4 : memref<64x4xf32, 1> to memref<64x4xf32, 3>
    cute_nvgpu.mbarrier.arrive_on_copies %bars[%i0] : !bars
    nvgpu.mbarrier.try_wait.parity %bars[%i0], %false, %ticks : !bars
    %other = arith.xori %t, %i63 : index
    scf.for %column = %i0 to %i4 step %i1 {
      %v = memref.load %room[%other, %column] : memref<64x4xf32, 3>
      memref.store %v, %y[%t, %column] : memref<64x4xf32, 1>
    }
    gpu.return
  }
}
