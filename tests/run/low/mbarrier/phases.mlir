// A tree reduction over a block: one barrier, a phase for each level, with alternating parity. The waits
// return whether the phase is over, and are repeated until it is.
// RUN @sum grid=2 block=64 arch=cluster
// ARG x = small:128xi32:1
// ARG out = zeros:2xi32
// EXPECT out = x.reshape(2, 64).sum(1)
!bars = !nvgpu.mbarrier.group<memorySpace = #gpu.address_space<workgroup>>
gpu.module @kernels {
  gpu.func @sum(%x: memref<128xi32, 1>, %out: memref<2xi32, 1>) workgroup(%s: memref<64xi32, 3>) kernel
      attributes {known_block_size = array<i32: 64, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c32 = arith.constant 32 : index
    %c64 = arith.constant 64 : index
    %ticks = arith.constant 1000 : index
    %false = arith.constant false
    %true = arith.constant true
    %bars = nvgpu.mbarrier.create -> !bars
    %t = gpu.thread_id x
    %block = gpu.block_id x
    %first = arith.cmpi eq, %t, %c0 : index
    nvgpu.mbarrier.init %bars[%c0], %c64, predicate = %first : !bars
    gpu.barrier
    %start = arith.muli %block, %c64 : index
    %i = arith.addi %start, %t : index
    %v = memref.load %x[%i] : memref<128xi32, 1>
    memref.store %v, %s[%t] : memref<64xi32, 3>
    %end:2 = scf.while (%half = %c32, %parity = %false) : (index, i1) -> (index, i1) {
      %token = nvgpu.mbarrier.arrive %bars[%c0] : !bars -> !nvgpu.mbarrier.token
      scf.while : () -> () {
        %over = nvgpu.mbarrier.try_wait.parity %bars[%c0], %parity, %ticks : !bars -> i1
        %again = arith.xori %over, %true : i1
        scf.condition(%again)
      } do {
        scf.yield
      }
      %adds = arith.cmpi ult, %t, %half : index
      scf.if %adds {
        %from = arith.addi %t, %half : index
        %a = memref.load %s[%t] : memref<64xi32, 3>
        %b = memref.load %s[%from] : memref<64xi32, 3>
        %c = arith.addi %a, %b : i32
        memref.store %c, %s[%t] : memref<64xi32, 3>
      }
      %more = arith.cmpi ugt, %half, %c1 : index
      scf.condition(%more) %half, %parity : index, i1
    } do {
    ^bb0(%half: index, %parity: i1):
      %next = arith.shrui %half, %c1 : index
      %flipped = arith.xori %parity, %true : i1
      scf.yield %next, %flipped : index, i1
    }
    scf.if %first {
      %sum = memref.load %s[%c0] : memref<64xi32, 3>
      memref.store %sum, %out[%block] : memref<2xi32, 1>
    }
    gpu.return
  }
}
