module {
  func.func @barriers(%arg0: index, %arg1: i1) {
    %0 = nvgpu.mbarrier.create -> !nvgpu.mbarrier.group<memorySpace = #gpu.address_space<workgroup>, num_barriers = 4>
    nvgpu.mbarrier.init %0[%arg0], %arg0 : !nvgpu.mbarrier.group<memorySpace = #gpu.address_space<workgroup>, num_barriers = 4>
    nvgpu.mbarrier.init %0[%arg0], %arg0, predicate = %arg1 : !nvgpu.mbarrier.group<memorySpace = #gpu.address_space<workgroup>, num_barriers = 4>
    %1 = nvgpu.mbarrier.arrive %0[%arg0] : !nvgpu.mbarrier.group<memorySpace = #gpu.address_space<workgroup>, num_barriers = 4> -> !nvgpu.mbarrier.token
    %2 = nvgpu.mbarrier.arrive.nocomplete %0[%arg0], %arg0 : !nvgpu.mbarrier.group<memorySpace = #gpu.address_space<workgroup>, num_barriers = 4> -> !nvgpu.mbarrier.token
    nvgpu.mbarrier.arrive.expect_tx %0[%arg0], %arg0 : !nvgpu.mbarrier.group<memorySpace = #gpu.address_space<workgroup>, num_barriers = 4>
    nvgpu.mbarrier.arrive.expect_tx %0[%arg0], %arg0, predicate = %arg1 : !nvgpu.mbarrier.group<memorySpace = #gpu.address_space<workgroup>, num_barriers = 4>
    %3 = nvgpu.mbarrier.test.wait %0[%arg0], %1 : !nvgpu.mbarrier.group<memorySpace = #gpu.address_space<workgroup>, num_barriers = 4>, !nvgpu.mbarrier.token
    nvgpu.mbarrier.try_wait.parity %0[%arg0], %arg1, %arg0 : !nvgpu.mbarrier.group<memorySpace = #gpu.address_space<workgroup>, num_barriers = 4>
    %4 = nvgpu.mbarrier.try_wait.parity %0[%arg0], %arg1, %arg0 : !nvgpu.mbarrier.group<memorySpace = #gpu.address_space<workgroup>, num_barriers = 4> -> i1
    %5 = nvgpu.mbarrier.create -> !nvgpu.mbarrier.group<memorySpace = 3>
    return
  }
  func.func @tma(%arg0: !nvgpu.tensormap.descriptor<tensor = memref<64x64xbf16, 3>, swizzle = swizzle_128b, l2promo = l2promo_256b, oob = zero, interleave = none>, %arg1: memref<64x64xbf16, 3>, %arg2: index, %arg3: !nvgpu.mbarrier.group<memorySpace = #gpu.address_space<workgroup>>, %arg4: i1, %arg5: i16, %arg6: i64, %arg7: memref<*xbf16>) {
    nvgpu.tma.prefetch.descriptor %arg0 : !nvgpu.tensormap.descriptor<tensor = memref<64x64xbf16, 3>, swizzle = swizzle_128b, l2promo = l2promo_256b, oob = zero, interleave = none>
    nvgpu.tma.prefetch.descriptor %arg0, predicate = %arg4 : !nvgpu.tensormap.descriptor<tensor = memref<64x64xbf16, 3>, swizzle = swizzle_128b, l2promo = l2promo_256b, oob = zero, interleave = none>
    nvgpu.tma.fence.descriptor %arg0 : !nvgpu.tensormap.descriptor<tensor = memref<64x64xbf16, 3>, swizzle = swizzle_128b, l2promo = l2promo_256b, oob = zero, interleave = none>
    nvgpu.tma.async.load %arg0[%arg2, %arg2], %arg3[%arg2] to %arg1 : !nvgpu.tensormap.descriptor<tensor = memref<64x64xbf16, 3>, swizzle = swizzle_128b, l2promo = l2promo_256b, oob = zero, interleave = none>, !nvgpu.mbarrier.group<memorySpace = #gpu.address_space<workgroup>> -> memref<64x64xbf16, 3>
    nvgpu.tma.async.load %arg0[%arg2, %arg2], %arg3[%arg2] to %arg1 multicast_mask = %arg5, predicate = %arg4 l2_cache_hint = %arg6 : !nvgpu.tensormap.descriptor<tensor = memref<64x64xbf16, 3>, swizzle = swizzle_128b, l2promo = l2promo_256b, oob = zero, interleave = none>, !nvgpu.mbarrier.group<memorySpace = #gpu.address_space<workgroup>> -> memref<64x64xbf16, 3>
    nvgpu.tma.async.store %arg1 to %arg0[%arg2, %arg2] : memref<64x64xbf16, 3> -> !nvgpu.tensormap.descriptor<tensor = memref<64x64xbf16, 3>, swizzle = swizzle_128b, l2promo = l2promo_256b, oob = zero, interleave = none>
    nvgpu.tma.async.store %arg1 to %arg0[%arg2, %arg2], predicate = %arg4 l2_cache_hint = %arg6 : memref<64x64xbf16, 3> -> !nvgpu.tensormap.descriptor<tensor = memref<64x64xbf16, 3>, swizzle = swizzle_128b, l2promo = l2promo_256b, oob = zero, interleave = none>
    %0 = nvgpu.tma.create.descriptor %arg7 box[%arg2, %arg2] : memref<*xbf16> -> !nvgpu.tensormap.descriptor<tensor = memref<64x64xbf16, 3>, swizzle = none, l2promo = none, oob = nan, interleave = none>
    return
  }
  func.func @warpgroup(%arg0: memref<128x64xf16, 3>, %arg1: memref<64x128xf16, 3>, %arg2: !nvgpu.tensormap.descriptor<tensor = memref<128x64xf16, 3>, swizzle = swizzle_128b, l2promo = none, oob = zero, interleave = none>, %arg3: memref<128x128xf32, 3>) {
    %0 = nvgpu.warpgroup.generate.descriptor %arg0, %arg2 : memref<128x64xf16, 3>, !nvgpu.tensormap.descriptor<tensor = memref<128x64xf16, 3>, swizzle = swizzle_128b, l2promo = none, oob = zero, interleave = none> -> !nvgpu.warpgroup.descriptor<tensor = memref<128x64xf16, 3>>
    %1 = nvgpu.warpgroup.generate.descriptor %arg1 {leading_byte_offset = 16 : i64, matrix_stride = 64 : i64, swizzle_base = 128 : i64, swizzle_mode = #nvgpu<swizzle swizzle_128b>} : memref<64x128xf16, 3> -> !nvgpu.warpgroup.descriptor<tensor = memref<64x128xf16, 3>>
    %2 = nvgpu.warpgroup.mma.init.accumulator -> !nvgpu.warpgroup.accumulator<fragmented = vector<128x128xf32>>
    %3 = nvgpu.warpgroup.mma %0, %1, %2 {transposeB} : !nvgpu.warpgroup.descriptor<tensor = memref<128x64xf16, 3>>, !nvgpu.warpgroup.descriptor<tensor = memref<64x128xf16, 3>>, !nvgpu.warpgroup.accumulator<fragmented = vector<128x128xf32>> -> !nvgpu.warpgroup.accumulator<fragmented = vector<128x128xf32>>
    nvgpu.warpgroup.mma.store %3, %arg3 : !nvgpu.warpgroup.accumulator<fragmented = vector<128x128xf32>> to memref<128x128xf32, 3>
    return
  }
  func.func @warp(%arg0: memref<?x?xf16, 3>, %arg1: index, %arg2: vector<2x2xf32>, %arg3: vector<2xi16>, %arg4: memref<16xf32>, %arg5: memref<16xf32, 3>) {
    %0 = nvgpu.ldmatrix %arg0[%arg1, %arg1] {numTiles = 4 : i32, transpose = false} : memref<?x?xf16, 3> -> vector<4x2xf16>
    %1 = nvgpu.ldmatrix %arg0[%arg1, %arg1] {numTiles = 2 : i32, transpose = true} : memref<?x?xf16, 3> -> vector<2x2xf16>
    %2 = nvgpu.mma.sync(%0, %1, %arg2) {mmaShape = [16, 8, 16]} : (vector<4x2xf16>, vector<2x2xf16>, vector<2x2xf32>) -> vector<2x2xf32>
    %3 = nvgpu.mma.sp.sync(%0, %0, %arg2) metadata(%arg3) {mmaShape = [16, 8, 32], sparsitySelector = 1 : i32} : (vector<4x2xf16>, vector<4x2xf16>, vector<2x2xf32>) -> vector<2x2xf32>
    %4 = nvgpu.device_async_copy %arg4[%arg1], %arg5[%arg1], 4 {bypassL1} : memref<16xf32> to memref<16xf32, 3>
    %5 = nvgpu.device_async_copy %arg4[%arg1], %arg5[%arg1], 4, %arg1 : memref<16xf32> to memref<16xf32, 3>
    %6 = nvgpu.device_async_create_group %4, %5
    %7 = nvgpu.device_async_create_group
    %8 = nvgpu.device_async_create_group {k}
    nvgpu.device_async_wait %6 {numGroups = 1 : i32}
    nvgpu.device_async_wait %7
    return
  }
  func.func @packed(%arg0: vector<8xf32>, %arg1: vector<2xf32>, %arg2: vector<4xf16>) {
    %0 = nvgpu.rcp %arg0{rounding = approx, ftz} : vector<8xf32>
    %1 = nvgpu.cvt_fptrunc %arg0 : vector<8xf32> to vector<8xbf16>
    %2 = nvgpu.cvt_fptrunc %arg0 {relu} : vector<8xf32> to vector<8xf8E4M3FN>
    %3 = nvgpu.cvt_fptrunc %arg0 {rounding = #nvgpu<packed_rounding rz>} : vector<8xf32> to vector<8xf8E8M0FNU>
    %4 = nvgpu.cvt_fpext %arg2 : vector<4xf16> to vector<4xf32>
    %5 = nvgpu.fma.packed.f32x2 %arg1, %arg1, %arg1 : vector<2xf32>
    %6 = nvgpu.mul.packed.f32x2 %arg1, %arg1 {ftz} : vector<2xf32>
    return
  }
}
