// A box of a tensor into shared memory and from there to another tensor, by maps of the host: one
// map is passed by address, the other by value.
// RUN @copy block=32 arch=tma
// DATA source = random:16x64xf32:1
// DATA target = zeros:8x32xf32
// MAP from = source box=8x32
// MAP to = target box=8x32
// EXPECT target = source[8:, 32:]
gpu.module @kernels {
  llvm.mlir.global internal @tile() {addr_space = 3 : i32, alignment = 128 : i64} : !llvm.array<1024 x i8>
  llvm.mlir.global internal @barrier() {addr_space = 3 : i32, alignment = 8 : i64} : i64
  llvm.func @copy(%from: !llvm.ptr, %to: !llvm.ptr {llvm.byval = !llvm.array<128 x i8>, llvm.align = 64 : i64, nvvm.grid_constant})
      attributes {nvvm.kernel, nvvm.reqntid = array<i32: 32, 1, 1>} {
    %tile = llvm.mlir.addressof @tile : !llvm.ptr<3>
    %barrier = llvm.mlir.addressof @barrier : !llvm.ptr<3>
    %zero = llvm.mlir.constant(0 : i32) : i32
    %one = llvm.mlir.constant(1 : i32) : i32
    %eight = llvm.mlir.constant(8 : i32) : i32
    %half = llvm.mlir.constant(32 : i32) : i32
    %bytes = llvm.mlir.constant(1024 : i32) : i32
    %ticks = llvm.mlir.constant(10000 : i32) : i32
    %t = nvvm.read.ptx.sreg.tid.x : i32
    %first = llvm.icmp "eq" %t, %zero : i32
    llvm.cond_br %first, ^start, ^end
  ^start:
    nvvm.mbarrier.init.shared %barrier, %one : !llvm.ptr<3>, i32
    nvvm.fence.mbarrier.init
    nvvm.mbarrier.arrive.expect_tx.shared %barrier, %bytes : !llvm.ptr<3>, i32
    nvvm.cp.async.bulk.tensor.shared.cluster.global %tile, %from, %barrier, box[%half, %eight] : !llvm.ptr<3>, !llvm.ptr
    llvm.br ^wait
  ^wait:
    %done = nvvm.mbarrier.try_wait.parity.shared %barrier, %zero, %ticks : !llvm.ptr<3>, i32, i32 -> i1
    llvm.cond_br %done, ^store, ^wait
  ^store:
    nvvm.cp.async.bulk.tensor.global.shared.cta %to, %tile, box[%zero, %zero] : !llvm.ptr, !llvm.ptr<3>
    nvvm.cp.async.bulk.commit.group
    nvvm.cp.async.bulk.wait_group 0
    llvm.br ^end
  ^end:
    llvm.return
  }
}
