// Threads exchange values through shared memory; each asks for the phase of its own arrival until it is over.
// RUN @turn block=64 arch=base
// ARG x = random:64xi32:1
// ARG y = zeros:64xi32
// EXPECT y = x[::-1]
!bars = !nvgpu.mbarrier.group<memorySpace = #gpu.address_space<workgroup>, num_barriers = 4>
gpu.module @kernels {
  gpu.func @turn(%x: memref<64xi32, 1>, %y: memref<64xi32, 1>) workgroup(%s: memref<64xi32, 3>) kernel
      attributes {known_block_size = array<i32: 64, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c2 = arith.constant 2 : index
    %c63 = arith.constant 63 : index
    %c64 = arith.constant 64 : index
    %true = arith.constant true
    %bars = nvgpu.mbarrier.create -> !bars
    %t = gpu.thread_id x
    %first = arith.cmpi eq, %t, %c0 : index
    nvgpu.mbarrier.init %bars[%c2], %c64, predicate = %first : !bars
    gpu.barrier
    %v = memref.load %x[%t] : memref<64xi32, 1>
    memref.store %v, %s[%t] : memref<64xi32, 3>
    %token = nvgpu.mbarrier.arrive %bars[%c2] : !bars -> !nvgpu.mbarrier.token
    scf.while : () -> () {
      %over = nvgpu.mbarrier.test.wait %bars[%c2], %token : !bars, !nvgpu.mbarrier.token
      %again = arith.xori %over, %true : i1
      scf.condition(%again)
    } do {
      scf.yield
    }
    %other = arith.subi %c63, %t : index
    %w = memref.load %s[%other] : memref<64xi32, 3>
    memref.store %w, %y[%t] : memref<64xi32, 1>
    gpu.return
  }
}
