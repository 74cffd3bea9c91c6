// A barrier that counts bytes: two bulk copies of a row each, whose sizes one arrival announces. Afterwards the
// barrier is invalidated, and its memory is used for another one.
// RUN @add block=32 arch=tma
// ARG x = random:2x128xf32:1
// ARG y = zeros:128xf32
// EXPECT y = (x[0] + x[1]) * 2
!bars = !nvgpu.mbarrier.group<memorySpace = #gpu.address_space<workgroup>>
gpu.module @kernels {
  gpu.func @add(%x: !llvm.ptr<1>, %y: memref<128xf32, 1>)
      workgroup(%s: memref<2x128xf32, 3> {llvm.align = 16 : i64}) kernel
      attributes {known_block_size = array<i32: 32, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c4 = arith.constant 4 : index
    %c32 = arith.constant 32 : index
    %both = arith.constant 1024 : index
    %row = arith.constant 512 : i32
    %ticks = arith.constant 10000000 : index
    %zeros = arith.constant dense<0.0> : vector<4xf32>
    %false = arith.constant false
    %bars = nvgpu.mbarrier.create -> !bars
    %bar = builtin.unrealized_conversion_cast %bars : !bars to !llvm.ptr<3>
    %top = builtin.unrealized_conversion_cast %s : memref<2x128xf32, 3> to !llvm.ptr<3>
    %below = llvm.getelementptr %top[128] : (!llvm.ptr<3>) -> !llvm.ptr<3>, f32
    %second = llvm.getelementptr %x[128] : (!llvm.ptr<1>) -> !llvm.ptr<1>, f32
    %t = gpu.thread_id x
    %first = arith.cmpi eq, %t, %c0 : index
    %i = arith.muli %t, %c4 : index
    %sum = scf.for %round = %c0 to %c2 step %c1 iter_args(%before = %zeros) -> (vector<4xf32>) {
      scf.if %first {
        nvgpu.mbarrier.init %bars[%c0], %c1 : !bars
        nvvm.fence.mbarrier.init
        nvgpu.mbarrier.arrive.expect_tx %bars[%c0], %both : !bars
        nvvm.cp.async.bulk.shared.cluster.global %top, %x, %bar, %row : !llvm.ptr<3>, !llvm.ptr<1>
        nvvm.cp.async.bulk.shared.cluster.global %below, %second, %bar, %row : !llvm.ptr<3>, !llvm.ptr<1>
      }
      gpu.barrier
      nvgpu.mbarrier.try_wait.parity %bars[%c0], %false, %ticks : !bars
      %a = vector.load %s[%c0, %i] {alignment = 16 : i64} : memref<2x128xf32, 3>, vector<4xf32>
      %b = vector.load %s[%c1, %i] {alignment = 16 : i64} : memref<2x128xf32, 3>, vector<4xf32>
      %ab = arith.addf %a, %b : vector<4xf32>
      %more = arith.addf %before, %ab : vector<4xf32>
      // All have read before the next copies write.
      nvvm.fence.proxy {kind = #nvvm.proxy_kind<async.shared>, space = #nvvm.shared_space<cta>}
      gpu.barrier
      scf.if %first {
        nvvm.mbarrier.inval.shared %bar : !llvm.ptr<3>
      }
      scf.yield %more : vector<4xf32>
    }
    vector.store %sum, %y[%i] {alignment = 16 : i64} : memref<128xf32, 1>, vector<4xf32>
    gpu.return
  }
}
