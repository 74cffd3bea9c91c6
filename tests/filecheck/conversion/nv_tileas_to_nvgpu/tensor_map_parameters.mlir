// A tensor map that is a parameter becomes two: the map, and what puts the boxes of an empty tensor out of bounds. One lane prefetches it; nothing is encoded.
// RUN: tilewright opt --pass allocate,synchronize,materialize-async,convert-tileas-to-nvgpu %s | filecheck %s
#a = #nv_tileas.layout<[16, 64], offset = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [0, 32], [1, 8], [2, 16], [4, 32], [8, 0]]>
!a = tensor<16x64xf16, #a>
!tiles = !nv_tileaa.tiled_view<tile = [16, 64], source = !nv_tileaa.memref<?x?xf16, strides = [?, 1]>>
!map = !nv_tileas.tensor_map<!tiles, !a>
!descriptor = !nvgpu.tensormap.descriptor<tensor = memref<16x64xf16, 3>, swizzle = swizzle_128b, l2promo = none, oob = zero, interleave = none>
!ring = !nv_tileas.pipeline<2, [!a]>
!iterator = !nv_tileas.pipeline_iterator<2>
gpu.module @kernels attributes {nv_tileaa.target_spec = #nv_tileaa.target_spec<compute_capability = 90>} {
  // CHECK-NOT: memref.global
  // CHECK: gpu.func @copy(%arg0: i64, %arg1: i32, %arg2: i32, %arg3: !nvgpu.tensormap.descriptor<tensor = memref<16x64xf16, 3>, swizzle = swizzle_128b, {{.*}}>, %arg4: i32)
  // CHECK-SAME: cute_nvgpu.map_parameters = [#cute_nvgpu.map_parameter<!nvgpu.tensormap.descriptor<{{.*}}>, address = arg0, sizes = [arg1, arg2], strides = [arg2]>]
  // CHECK: [[ELECTED:%.*]] = cute_nvgpu.elect_one
  // CHECK-NEXT: scf.if [[ELECTED]] {
  // CHECK-NEXT: nvgpu.tma.prefetch.descriptor %arg3
  // CHECK-NEXT: }
  // CHECK-NOT: tensormap.fill
  // CHECK-NOT: tma.fence
  // CHECK: [[ROW:%.*]] = arith.muli %{{.*}}, %c16_i32
  // CHECK: [[SHIFTED:%.*]] = arith.addi [[ROW]], %arg4
  // CHECK: [[START:%.*]] = arith.index_cast [[SHIFTED]]
  // CHECK: nvgpu.tma.async.load %arg3[%{{.*}}, [[START]]]
  nv_tileaa.func @copy(%x: !nv_tileaa.ptr<f16>, %m: i32, %n: i32, %map: !map)
      attributes {kernel_spec = #nv_tileaa.kernel_spec<num_warps = 1>, cute_nvgpu.map_parameters = [#cute_nvgpu.map_parameter<!descriptor, address = arg0, sizes = [arg1, arg2], strides = [arg2]>]} {
    %ring = nv_tileas.async.pipeline.create_pipeline : !ring
    nv_tileas.async.pipeline.agent_switch attributes {first = 0 : i32, warps = 1 : i32} {
      nv_tileas.prefetch_tensor_maps %map : !map
      %begin = nv_tileas.async.pipeline.create_iterator %ring : !ring -> !iterator
      %stage = nv_tileas.async.pipeline.producer_acquire %ring[%begin] : !ring, !iterator
      nv_tileas.async.pipeline.producer_copy %ring, %stage, %map[%m, %n] {engine = #nv_tileas.engine<tma>} : !ring, !map, i32, i32
      nv_tileas.async.pipeline.producer_commit %ring, %stage : !ring
      nv_tileas.async.pipeline.yield
    }
    nv_tileaa.return
  }
}
