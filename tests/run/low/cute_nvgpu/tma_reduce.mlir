// The eight reduction modes of a tensor store.
// RUN @combine block=32 arch=tma
// ARG tile : i32 = (np.arange(256).reshape(8, 32) * 37) % 100 - 20
// DATA sums = random:8x32xi32:1
// DATA least : i32 = (np.arange(256).reshape(8, 32) * 11) % 90 - 30
// DATA most : i32 = (np.arange(256).reshape(8, 32) * 11) % 90 - 30
// DATA up : i32 = (np.arange(256).reshape(8, 32) * 11) % 90
// DATA down : i32 = (np.arange(256).reshape(8, 32) * 11) % 90
// DATA both = random:8x32xi32:2
// DATA any = random:8x32xi32:3
// DATA either = random:8x32xi32:4
// MAP map_add = sums
// MAP map_min = least
// MAP map_max = most
// MAP map_inc = up type=u32
// MAP map_dec = down type=u32
// MAP map_and = both
// MAP map_or = any
// MAP map_xor = either
// EXPECT sums = sums + tile
// EXPECT least = np.minimum(least, tile)
// EXPECT most = np.maximum(most, tile)
// EXPECT up = np.where(up.astype(np.uint32) >= tile.astype(np.uint32), 0, up + 1)
// EXPECT down = np.where((down == 0) | (down.astype(np.uint32) > tile.astype(np.uint32)), tile, down - 1)
// EXPECT both = both & tile
// EXPECT any = any | tile
// EXPECT either = either ^ tile
!map = !nvgpu.tensormap.descriptor<tensor = memref<8x32xi32, 3>, swizzle = none, l2promo = none, oob = zero, interleave = none>
!tile = memref<8x32xi32, 3>
gpu.module @kernels {
  gpu.func @combine(%numbers: memref<8x32xi32, 1>, %add: !map, %min: !map, %max: !map, %inc: !map,
        %dec: !map, %and: !map, %or: !map, %xor: !map)
      workgroup(%tile: !tile {llvm.align = 128 : i64})
      kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %i0 = arith.constant 0 : index
    %i1 = arith.constant 1 : index
    %i8 = arith.constant 8 : index
    %t = gpu.thread_id x
    scf.for %row = %i0 to %i8 step %i1 {
      %x = memref.load %numbers[%row, %t] : memref<8x32xi32, 1>
      memref.store %x, %tile[%row, %t] : !tile
    }
    cute_nvgpu.fence.proxy_async shared_cta
    cute_nvgpu.warp_sync
    %elected = cute_nvgpu.elect_one
    scf.if %elected {
      cute_nvgpu.tma.reduce add %tile[%i0, %i0] to %add[%i0, %i0] : !tile to !map
      cute_nvgpu.tma.reduce min %tile[%i0, %i0] to %min[%i0, %i0] : !tile to !map
      cute_nvgpu.tma.reduce max %tile[%i0, %i0] to %max[%i0, %i0] : !tile to !map
      cute_nvgpu.tma.reduce inc %tile[%i0, %i0] to %inc[%i0, %i0] : !tile to !map
      cute_nvgpu.tma.commit
      cute_nvgpu.tma.reduce dec %tile[%i0, %i0] to %dec[%i0, %i0] : !tile to !map
      cute_nvgpu.tma.reduce and %tile[%i0, %i0] to %and[%i0, %i0] : !tile to !map
      cute_nvgpu.tma.reduce or %tile[%i0, %i0] to %or[%i0, %i0] : !tile to !map
      cute_nvgpu.tma.reduce xor %tile[%i0, %i0] to %xor[%i0, %i0] : !tile to !map
      cute_nvgpu.tma.commit
      cute_nvgpu.tma.wait 0
    }
    gpu.return
  }
}
