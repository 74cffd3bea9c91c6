// Four blocks add to the same f32, and take the least and the largest of bf16, over the edge of a tensor.
// RUN @combine grid=4 block=32 arch=tma
// ARG numbers = small:4x8x32xf32:1
// ARG narrow = small:4x8x32xbf16:2
// DATA sums = small:6x32xf32:3
// DATA least = zeros:8x32xbf16
// DATA most = zeros:8x32xbf16
// MAP map_sums = sums box=8x32
// MAP map_least = least
// MAP map_most = most
// EXPECT sums = sums + numbers.sum(axis=0)[:6]
// EXPECT least = np.minimum(wide_bf16(narrow).min(axis=0), 0)
// EXPECT most = np.maximum(wide_bf16(narrow).max(axis=0), 0)
!wide_map = !nvgpu.tensormap.descriptor<tensor = memref<8x32xf32, 3>, swizzle = none, l2promo = none, oob = zero, interleave = none>
!map = !nvgpu.tensormap.descriptor<tensor = memref<8x32xbf16, 3>, swizzle = none, l2promo = none, oob = zero, interleave = none>
!wide = memref<8x32xf32, 3>
!tile = memref<8x32xbf16, 3>
gpu.module @kernels {
  gpu.func @combine(%numbers: memref<4x8x32xf32, 1>, %narrow: memref<4x8x32xbf16, 1>, %sums: !wide_map, %least: !map, %most: !map)
      workgroup(%wide: !wide {llvm.align = 128 : i64}, %tile: !tile {llvm.align = 128 : i64})
      kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %i0 = arith.constant 0 : index
    %i1 = arith.constant 1 : index
    %i8 = arith.constant 8 : index
    %t = gpu.thread_id x
    %block = gpu.block_id x
    scf.for %row = %i0 to %i8 step %i1 {
      %x = memref.load %numbers[%block, %row, %t] : memref<4x8x32xf32, 1>
      memref.store %x, %wide[%row, %t] : !wide
      %y = memref.load %narrow[%block, %row, %t] : memref<4x8x32xbf16, 1>
      memref.store %y, %tile[%row, %t] : !tile
    }
    cute_nvgpu.fence.proxy_async all
    gpu.barrier
    %first = arith.cmpi eq, %t, %i0 : index
    scf.if %first {
      cute_nvgpu.tma.reduce add %wide[%i0, %i0] to %sums[%i0, %i0] : !wide to !wide_map
      cute_nvgpu.tma.reduce min %tile[%i0, %i0] to %least[%i0, %i0] : !tile to !map
      cute_nvgpu.tma.reduce max %tile[%i0, %i0] to %most[%i0, %i0] : !tile to !map
      cute_nvgpu.tma.commit
      cute_nvgpu.tma.wait 0
    }
    gpu.return
  }
}
