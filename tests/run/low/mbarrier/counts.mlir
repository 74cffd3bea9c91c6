// A barrier for more arrivals than threads: each arrives for several, and once more to complete the phase.
// RUN @rotate block=32 arch=base
// ARG x = random:32xf32:1
// ARG y = zeros:32xf32
// EXPECT y = np.roll(x, -1)
!bars = !nvgpu.mbarrier.group<memorySpace = #gpu.address_space<workgroup>>
gpu.module @kernels {
  gpu.func @rotate(%x: memref<32xf32, 1>, %y: memref<32xf32, 1>) workgroup(%s: memref<32xf32, 3>) kernel
      attributes {known_block_size = array<i32: 32, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c3 = arith.constant 3 : index
    %c32 = arith.constant 32 : index
    %arrivals = arith.constant 128 : index
    %true = arith.constant true
    %bars = nvgpu.mbarrier.create -> !bars
    %t = gpu.thread_id x
    %first = arith.cmpi eq, %t, %c0 : index
    nvgpu.mbarrier.init %bars[%c0], %arrivals, predicate = %first : !bars
    gpu.barrier
    %v = memref.load %x[%t] : memref<32xf32, 1>
    memref.store %v, %s[%t] : memref<32xf32, 3>
    // Three of its four arrivals: none can be the last one yet.
    %early = nvgpu.mbarrier.arrive.nocomplete %bars[%c0], %c3 : !bars -> !nvgpu.mbarrier.token
    %token = nvgpu.mbarrier.arrive %bars[%c0] : !bars -> !nvgpu.mbarrier.token
    scf.while : () -> () {
      %over = nvgpu.mbarrier.test.wait %bars[%c0], %early : !bars, !nvgpu.mbarrier.token
      %again = arith.xori %over, %true : i1
      scf.condition(%again)
    } do {
      scf.yield
    }
    %after = arith.addi %t, %c1 : index
    %other = arith.remui %after, %c32 : index
    %w = memref.load %s[%other] : memref<32xf32, 3>
    memref.store %w, %y[%t] : memref<32xf32, 1>
    gpu.return
  }
}
