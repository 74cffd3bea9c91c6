module {
  func.func @wgmma(%arg0: memref<4x128x64xbf16, #gpu.address_space<workgroup>>, %arg1: index, %arg2: vector<128xf32>, %arg3: i1, %arg4: vector<8xbf16>, %arg5: vector<64xi32>) {
    %0 = cute_nvgpu.wgmma.descriptor %arg0[%arg1, %arg1, %arg1] swizzle_128b leading 16 stride 1024 : memref<4x128x64xbf16, #gpu.address_space<workgroup>>
    %1 = cute_nvgpu.wgmma.descriptor %arg0[%arg1, %arg1, %arg1] none leading 128 stride 256 {base_offset = 1 : i64} : memref<4x128x64xbf16, #gpu.address_space<workgroup>>
    cute_nvgpu.wgmma.fence
    %2 = cute_nvgpu.wgmma.fence(%arg2 : vector<128xf32>)
    %3 = cute_nvgpu.wgmma.issue %0, %1, %2 : bf16, bf16, i64, vector<128xf32>
    %4 = cute_nvgpu.wgmma.issue %0, %1, %3 accumulate %arg3 steps 4 by 2, 128 {transpose_b} : bf16, bf16, i64, vector<128xf32>
    %5 = cute_nvgpu.wgmma.issue %arg4, %1, %4 {negate_a} : bf16, bf16, vector<8xbf16>, vector<128xf32>
    %6 = cute_nvgpu.wgmma.issue %0, %1, %arg5 : i8, i8, i64, vector<64xi32>
    cute_nvgpu.wgmma.commit
    %7:2 = cute_nvgpu.wgmma.wait 1, %5, %6 : vector<128xf32>, vector<64xi32>
    cute_nvgpu.wgmma.wait 0
    %8 = cute_nvgpu.wgmma.fence apart(%7#0 : vector<128xf32>)
    return
  }
  func.func @tma(%arg0: !nvgpu.tensormap.descriptor<tensor = memref<64x64xbf16, 3>, swizzle = swizzle_128b, l2promo = none, oob = zero, interleave = none>, %arg1: !nvgpu.mbarrier.group<memorySpace = #gpu.address_space<workgroup>, num_barriers = 4>, %arg2: memref<4x128x64xbf16, #gpu.address_space<workgroup>>, %arg3: index, %arg4: i16, %arg5: i64, %arg6: !nvgpu.tensormap.descriptor<tensor = memref<64x32xi32, 3>, swizzle = swizzle_128b, l2promo = none, oob = zero, interleave = none>, %arg7: memref<64x32xi32, #gpu.address_space<workgroup>>) {
    cute_nvgpu.tma.prefetch %arg0[%arg3, %arg3] : !nvgpu.tensormap.descriptor<tensor = memref<64x64xbf16, 3>, swizzle = swizzle_128b, l2promo = none, oob = zero, interleave = none>
    cute_nvgpu.tma.load %arg0[%arg3, %arg3], %arg1[%arg3] to %arg2[%arg3, %arg3, %arg3] : !nvgpu.tensormap.descriptor<tensor = memref<64x64xbf16, 3>, swizzle = swizzle_128b, l2promo = none, oob = zero, interleave = none>, !nvgpu.mbarrier.group<memorySpace = #gpu.address_space<workgroup>, num_barriers = 4> to memref<4x128x64xbf16, #gpu.address_space<workgroup>>
    cute_nvgpu.tma.load %arg0[%arg3, %arg3], %arg1[%arg3] to %arg2[%arg3, %arg3, %arg3] multicast %arg4 cache_hint %arg5 : !nvgpu.tensormap.descriptor<tensor = memref<64x64xbf16, 3>, swizzle = swizzle_128b, l2promo = none, oob = zero, interleave = none>, !nvgpu.mbarrier.group<memorySpace = #gpu.address_space<workgroup>, num_barriers = 4> to memref<4x128x64xbf16, #gpu.address_space<workgroup>>
    cute_nvgpu.tma.store %arg2[%arg3, %arg3, %arg3] to %arg0[%arg3, %arg3] : memref<4x128x64xbf16, #gpu.address_space<workgroup>> to !nvgpu.tensormap.descriptor<tensor = memref<64x64xbf16, 3>, swizzle = swizzle_128b, l2promo = none, oob = zero, interleave = none>
    cute_nvgpu.tma.reduce add %arg2[%arg3, %arg3, %arg3] to %arg0[%arg3, %arg3] cache_hint %arg5 : memref<4x128x64xbf16, #gpu.address_space<workgroup>> to !nvgpu.tensormap.descriptor<tensor = memref<64x64xbf16, 3>, swizzle = swizzle_128b, l2promo = none, oob = zero, interleave = none>
    cute_nvgpu.tma.reduce inc %arg7[%arg3, %arg3] to %arg6[%arg3, %arg3] : memref<64x32xi32, #gpu.address_space<workgroup>> to !nvgpu.tensormap.descriptor<tensor = memref<64x32xi32, 3>, swizzle = swizzle_128b, l2promo = none, oob = zero, interleave = none>
    cute_nvgpu.tma.commit
    cute_nvgpu.tma.wait 1 read
    cute_nvgpu.tma.wait 0
    return
  }
  func.func @maps(%arg0: memref<3x128xi8, 3>, %arg1: index, %arg2: i64, %arg3: i32, %arg4: memref<256x512xi8, 1>, %arg5: memref<256x128xi32, 1>) {
    cute_nvgpu.tensormap.fill %arg0[%arg1, %arg1], %arg2 sizes[%arg3, %arg3] strides[%arg2] : memref<3x128xi8, 3>, !nvgpu.tensormap.descriptor<tensor = memref<64x64xbf16, 3>, swizzle = swizzle_128b, l2promo = none, oob = zero, interleave = none>
    cute_nvgpu.tensormap.fill %arg0[%arg1, %arg1], %arg2 sizes[%arg3, %arg3] strides[%arg2] box[%arg3] : memref<3x128xi8, 3>, !nvgpu.tensormap.descriptor<tensor = memref<?x64xbf16, 3>, swizzle = swizzle_128b, l2promo = none, oob = zero, interleave = none>
    cute_nvgpu.tensormap.publish %arg0[%arg1, %arg1] to %arg4[%arg1, %arg1] : memref<3x128xi8, 3> to memref<256x512xi8, 1>
    %0 = cute_nvgpu.tensormap.at %arg4[%arg1, %arg1] : memref<256x512xi8, 1> -> !nvgpu.tensormap.descriptor<tensor = memref<64x64xbf16, 3>, swizzle = swizzle_128b, l2promo = none, oob = zero, interleave = none>
    cute_nvgpu.tensormap.rebind %0, %arg2 sizes[%arg3, %arg3] strides[%arg2] scope sys : !nvgpu.tensormap.descriptor<tensor = memref<64x64xbf16, 3>, swizzle = swizzle_128b, l2promo = none, oob = zero, interleave = none>
    %1 = cute_nvgpu.slot.acquire %arg5[%arg1, %arg1] users 2 : memref<256x128xi32, 1>
    cute_nvgpu.slot.release %arg5[%arg1, %arg1] : memref<256x128xi32, 1>
    return
  }
  func.func @copies(%arg0: !llvm.ptr<1>, %arg1: !llvm.ptr<3>, %arg2: index, %arg3: i64) {
    %0 = cute_nvgpu.buffer_at %arg0 : !llvm.ptr<1> to memref<16xi8, #gpu.address_space<global>>
    %1 = cute_nvgpu.buffer_at %arg1 : !llvm.ptr<3> to memref<16xi8, 3>
    %2 = cute_nvgpu.device_async_copy %0[%arg2], %1[%arg2], 16 cache_hint %arg3 {bypassL1} : memref<16xi8, #gpu.address_space<global>> to memref<16xi8, 3>
    %3 = cute_nvgpu.device_async_copy %0[%arg2], %1[%arg2], 4, %arg2 cache_hint %arg3 : memref<16xi8, #gpu.address_space<global>> to memref<16xi8, 3>
    %4 = cute_nvgpu.device_async_groups
    nvgpu.device_async_wait %4 {numGroups = 1 : i32}
    return
  }
  func.func @bulk(%arg0: !llvm.ptr<1>, %arg1: !llvm.ptr<3>, %arg2: !nvgpu.mbarrier.group<memorySpace = #gpu.address_space<workgroup>, num_barriers = 4>, %arg3: index) {
    cute_nvgpu.bulk.load %arg0, %arg2[%arg3] to %arg1, 64 : !llvm.ptr<1>, !nvgpu.mbarrier.group<memorySpace = #gpu.address_space<workgroup>, num_barriers = 4> to !llvm.ptr<3>
    return
  }
  func.func @threads(%arg0: i32, %arg1: !nvgpu.mbarrier.group<memorySpace = #gpu.address_space<workgroup>, num_barriers = 4>, %arg2: index, %arg3: vector<4x2xbf16>, %arg4: memref<4x128x64xbf16, #gpu.address_space<workgroup>>) {
    %0 = cute_nvgpu.elect_one
    cute_nvgpu.warp_sync
    cute_nvgpu.named_barrier.sync %arg0, %arg0
    cute_nvgpu.named_barrier.arrive %arg0, %arg0
    cute_nvgpu.cluster.arrive
    cute_nvgpu.cluster.arrive aligned relaxed
    cute_nvgpu.cluster.wait
    cute_nvgpu.cluster.wait aligned
    cute_nvgpu.set_max_registers increase 232
    cute_nvgpu.set_max_registers decrease 40
    cute_nvgpu.fence.proxy_async shared_cta
    cute_nvgpu.fence.mbarrier_init
    cute_nvgpu.mbarrier.arrive_remote %arg1[%arg2], %arg0 : !nvgpu.mbarrier.group<memorySpace = #gpu.address_space<workgroup>, num_barriers = 4>
    cute_nvgpu.mbarrier.expect_tx %arg1[%arg2], %arg2 : !nvgpu.mbarrier.group<memorySpace = #gpu.address_space<workgroup>, num_barriers = 4>
    cute_nvgpu.mbarrier.invalidate %arg1[%arg2] : !nvgpu.mbarrier.group<memorySpace = #gpu.address_space<workgroup>, num_barriers = 4>
    cute_nvgpu.mbarrier.arrive_on_copies %arg1[%arg2] : !nvgpu.mbarrier.group<memorySpace = #gpu.address_space<workgroup>, num_barriers = 4>
    cute_nvgpu.grid.launch_dependents
    cute_nvgpu.grid.wait
    %1 = cute_nvgpu.sm_id
    cute_nvgpu.nanosleep %arg0
    cute_nvgpu.stmatrix %arg3, %arg4[%arg2, %arg2, %arg2] : vector<4x2xbf16>, memref<4x128x64xbf16, #gpu.address_space<workgroup>>
    cute_nvgpu.stmatrix %arg3, %arg4[%arg2, %arg2, %arg2] transpose : vector<4x2xbf16>, memref<4x128x64xbf16, #gpu.address_space<workgroup>>
    return
  }
}
