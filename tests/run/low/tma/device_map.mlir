// A kernel that is given addresses alone makes its own tensor maps: fields over zeros in shared memory,
// a copy to a slot in global memory, a fence, and then tensor copies.
// RUN @copy block=32 arch=tma
// ARG source = random:20x48xbf16:1
// ARG target = zeros:20x48xbf16
// ARG rows = 20
// ARG columns = 48
// EXPECT target = np.pad(source[8:16, 16:], ((8, 4), (16, 0)))
//
// RUN @copy block=32 arch=tma
// ARG source = random:12x32xbf16:2
// ARG target = zeros:12x32xbf16
// ARG rows = 12
// ARG columns = 32
// EXPECT target = np.pad(source[8:, 16:], ((8, 0), (16, 0)))
!map = !nvgpu.tensormap.descriptor<tensor = memref<8x32xbf16, 3>, swizzle = swizzle_64b, l2promo = none, oob = zero, interleave = none>
!bars = !nvgpu.mbarrier.group<memorySpace = #gpu.address_space<workgroup>>
!slots = memref<2x32xi32, 1>
gpu.module @kernels {
  memref.global @slots : !slots = dense<0> {alignment = 128 : i64}
  gpu.func @copy(%source: i64, %target: i64, %rows: i32, %columns: i32)
      workgroup(%tile: memref<8x32xbf16, 3> {llvm.align = 512 : i64},
                %maps: memref<2x32xi32, 3> {llvm.align = 128 : i64}) kernel
      attributes {known_block_size = array<i32: 32, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c8 = arith.constant 8 : index
    %c16 = arith.constant 16 : index
    %bytes = arith.constant 512 : index
    %ticks = arith.constant 10000000 : index
    %zero = arith.constant 0 : i32
    %one = arith.constant 1 : i64
    %false = arith.constant false
    %bars = nvgpu.mbarrier.create -> !bars
    %slots = memref.get_global @slots : !slots
    %t = gpu.thread_id x
    %first = arith.cmpi eq, %t, %c0 : index
    memref.store %zero, %maps[%c0, %t] : memref<2x32xi32, 3>
    memref.store %zero, %maps[%c1, %t] : memref<2x32xi32, 3>
    cute_nvgpu.warp_sync
    scf.if %first {
      %wide = arith.extui %columns : i32 to i64
      %pitch = arith.shli %wide, %one : i64
      cute_nvgpu.tensormap.fill %maps[%c0, %c0], %source sizes[%rows, %columns] strides[%pitch] : memref<2x32xi32, 3>, !map
      cute_nvgpu.tensormap.fill %maps[%c1, %c0], %target sizes[%rows, %columns] strides[%pitch] : memref<2x32xi32, 3>, !map
    }
    cute_nvgpu.warp_sync
    cute_nvgpu.tensormap.publish %maps[%c0, %c0] to %slots[%c0, %c0] : memref<2x32xi32, 3> to !slots
    cute_nvgpu.tensormap.publish %maps[%c1, %c0] to %slots[%c1, %c0] : memref<2x32xi32, 3> to !slots
    %from = cute_nvgpu.tensormap.at %slots[%c0, %c0] : !slots -> !map
    %to = cute_nvgpu.tensormap.at %slots[%c1, %c0] : !slots -> !map
    scf.if %first {
      nvgpu.tma.fence.descriptor %from : !map
      nvgpu.tma.fence.descriptor %to : !map
      nvgpu.mbarrier.init %bars[%c0], %c1 : !bars
      nvvm.fence.mbarrier.init
      nvgpu.mbarrier.arrive.expect_tx %bars[%c0], %bytes : !bars
      nvgpu.tma.async.load %from[%c16, %c8], %bars[%c0] to %tile : !map, !bars -> memref<8x32xbf16, 3>
      nvgpu.mbarrier.try_wait.parity %bars[%c0], %false, %ticks : !bars
      nvgpu.tma.async.store %tile to %to[%c16, %c8] : memref<8x32xbf16, 3> -> !map
      nvvm.cp.async.bulk.commit.group
      nvvm.cp.async.bulk.wait_group 0
    }
    gpu.return
  }
}
