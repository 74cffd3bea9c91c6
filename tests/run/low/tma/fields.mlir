// The host's map, changed field by field in global memory: extents, box, steps, type, swizzle, fill.
// RUN @change block=32 arch=tma
// DATA source = random:16x32xf16:1
// MAP map = source box=4x16
// ARG out = zeros:8x32xf16
// EXPECT out = np.where(np.arange(8)[:, None] < 6, source[:16:2].reshape(8, 4, 8)[np.arange(8)[:, None], np.arange(4) ^ (np.arange(8)[:, None] // 2 % 4)].reshape(8, 32), np.nan)
!map = !nvgpu.tensormap.descriptor<tensor = memref<8x32xf16, 3>, swizzle = swizzle_64b, l2promo = none, oob = nan, interleave = none>
!bars = !nvgpu.mbarrier.group<memorySpace = #gpu.address_space<workgroup>>
gpu.module @kernels {
  gpu.func @change(%place: memref<32xi32, 1>, %out: memref<8x32xf16, 1>)
      workgroup(%tile: memref<8x32xf16, 3> {llvm.align = 512 : i64}) kernel
      attributes {known_block_size = array<i32: 32, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c4 = arith.constant 4 : index
    %c8 = arith.constant 8 : index
    %bytes = arith.constant 512 : index
    %ticks = arith.constant 10000000 : index
    %false = arith.constant false
    %bars = nvgpu.mbarrier.create -> !bars
    %map = cute_nvgpu.tensormap.at %place[%c0] : memref<32xi32, 1> -> !map
    %p = builtin.unrealized_conversion_cast %place : memref<32xi32, 1> to !llvm.ptr<1>
    %generic = builtin.unrealized_conversion_cast %map : !map to !llvm.ptr
    %t = gpu.thread_id x
    %first = arith.cmpi eq, %t, %c0 : index
    scf.if %first {
      %one = llvm.mlir.constant(1 : i32) : i32
      %two = llvm.mlir.constant(2 : i32) : i32
      %twelve = llvm.mlir.constant(12 : i32) : i32
      %sixteen = llvm.mlir.constant(16 : i32) : i32
      %wide = llvm.mlir.constant(32 : i32) : i32
      %size = llvm.mlir.constant(128 : i32) : i32
      nvvm.fence.proxy.acquire <gpu> %generic, %size
      nvvm.tensormap.replace field = rank, new_value = %one in %p : !llvm.ptr<1>, i32
      nvvm.tensormap.replace field = global_dim[1], new_value = %twelve in %p : !llvm.ptr<1>, i32
      nvvm.tensormap.replace field = box_dim[0], new_value = %wide in %p : !llvm.ptr<1>, i32
      nvvm.tensormap.replace field = box_dim[1], new_value = %sixteen in %p : !llvm.ptr<1>, i32
      nvvm.tensormap.replace field = element_stride[1], new_value = %two in %p : !llvm.ptr<1>, i32
      nvvm.tensormap.replace field = elemtype to 6 in %p : !llvm.ptr<1>
      nvvm.tensormap.replace field = interleave_layout to 0 in %p : !llvm.ptr<1>
      nvvm.tensormap.replace field = swizzle_mode to 2 in %p : !llvm.ptr<1>
      nvvm.tensormap.replace field = fill_mode to 1 in %p : !llvm.ptr<1>
      nvvm.fence.proxy.release <gpu>
      nvgpu.tma.fence.descriptor %map : !map
      nvgpu.mbarrier.init %bars[%c0], %c1 : !bars
      nvvm.fence.mbarrier.init
      nvgpu.mbarrier.arrive.expect_tx %bars[%c0], %bytes : !bars
      nvgpu.tma.async.load %map[%c0, %c0], %bars[%c0] to %tile : !map, !bars -> memref<8x32xf16, 3>
    }
    gpu.barrier
    nvgpu.mbarrier.try_wait.parity %bars[%c0], %false, %ticks : !bars
    %y = arith.divui %t, %c4 : index
    %part = arith.remui %t, %c4 : index
    %x = arith.muli %part, %c8 : index
    %v = vector.load %tile[%y, %x] {alignment = 16 : i64} : memref<8x32xf16, 3>, vector<8xf16>
    vector.store %v, %out[%y, %x] {alignment = 16 : i64} : memref<8x32xf16, 1>, vector<8xf16>
    gpu.return
  }
}
