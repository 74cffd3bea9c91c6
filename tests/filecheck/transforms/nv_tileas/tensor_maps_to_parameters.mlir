// Tensor maps of arguments and constants become parameters, which the launcher encodes; a kernel with another map encodes all of its maps.
// RUN: tilewright opt --pass tensor-maps-to-parameters %s | filecheck %s
#swizzled = #nv_tileas.layout<[64, 64], offset = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [0, 32], [1, 8], [2, 16], [4, 32], [8, 0], [16, 0], [32, 0]]>
!stage = tensor<64x64xf16, #swizzled>
!memory = !nv_tileaa.memref<?x?xf16, strides = [?, 1]>
!columns = !nv_tileaa.memref<128x?xf16, strides = [1, ?]>
!tiles = !nv_tileaa.tiled_view<tile = [64, 64], source = !memory>
!column_tiles = !nv_tileaa.tiled_view<tile = [64, 64], source = !columns, dims = [1, 0]>
!map = !nv_tileas.tensor_map<!tiles, !stage>
!column_map = !nv_tileas.tensor_map<!column_tiles, !stage>
!ring = !nv_tileas.pipeline<2, [!stage]>
!iterator = !nv_tileas.pipeline_iterator<2>
gpu.module @kernels {
  // The sizes and strides are in the order of memory, the contiguous dimension last; assumptions do not matter.
  // CHECK-LABEL: nv_tileaa.func @arguments(%arg0: !nv_tileaa.ptr<f16>, %arg1: i32, %arg2: i32, %arg3: i32,
  // CHECK-SAME: %arg4: !nv_tileas.tensor_map<!nv_tileaa.tiled_view<tile = [64, 64], source = !nv_tileaa.memref<?x?xf16, strides = [?, 1]>>, tensor<64x64xf16, #layout>>)
  // CHECK-SAME: cute_nvgpu.map_parameters = [#cute_nvgpu.map_parameter<!nvgpu.tensormap.descriptor<tensor = memref<64x64xf16, 3>, swizzle = swizzle_128b, {{.*}}>, address = arg0, sizes = [arg1, arg2], strides = [arg3]>]
  // CHECK-NOT: create_tensor_maps
  // CHECK: agent_switch
  // CHECK-NEXT: nv_tileas.prefetch_tensor_maps %arg4
  // CHECK: producer_copy %{{.*}}, %{{.*}}, %arg4[
  // CHECK-NOT: release_tensor_maps
  // CHECK: nv_tileaa.return
  nv_tileaa.func @arguments(%x: !nv_tileaa.ptr<f16>, %m: i32, %n: i32, %s: i32) attributes {kernel_spec = #nv_tileaa.kernel_spec<num_warps = 5>} {
    %c0 = arith.constant 0 : i32
    %x16 = nv_tileaa.assume #nv_tileaa.div_by<16>, %x : !nv_tileaa.ptr<f16>
    %s16 = nv_tileaa.assume #nv_tileaa.div_by<16>, %s : i32
    %s0 = nv_tileaa.assume #nv_tileaa.bounded<0, ?>, %s16 : i32
    %memory = nv_tileaa.make_memref %x16 sizes(%m, %n : i32, i32) strides(%s0 : i32) : !nv_tileaa.ptr<f16> -> !memory
    %view = nv_tileaa.block_tile %memory : !tiles
    %ring = nv_tileas.async.pipeline.create_pipeline : !ring
    nv_tileas.async.pipeline.agent_switch attributes {first = 4 : i32, warps = 1 : i32} {
      %map = nv_tileas.create_tensor_maps %view : !tiles -> !map
      %begin = nv_tileas.async.pipeline.create_iterator %ring : !ring -> !iterator
      %stage = nv_tileas.async.pipeline.producer_acquire %ring[%begin] : !ring, !iterator
      nv_tileas.async.pipeline.producer_copy %ring, %stage, %map[%c0, %c0] {engine = #nv_tileas.engine<tma>} : !ring, !map, i32, i32
      nv_tileas.async.pipeline.producer_commit %ring, %stage : !ring
      nv_tileas.release_tensor_maps %map : !map
      nv_tileas.async.pipeline.yield
    }
    nv_tileaa.return
  }
  // Constants are recorded, those of the type and others; memory may be contiguous along another dimension.
  // CHECK-LABEL: @constants
  // CHECK-SAME: address = arg0, sizes = [arg1, 128], strides = [256]>]
  nv_tileaa.func @constants(%x: !nv_tileaa.ptr<f16>, %n: i32) attributes {kernel_spec = #nv_tileaa.kernel_spec<num_warps = 1>} {
    %c256 = arith.constant 256 : i32
    %memory = nv_tileaa.make_memref %x sizes(%n : i32) strides(%c256 : i32) : !nv_tileaa.ptr<f16> -> !columns
    %view = nv_tileaa.block_tile %memory : !column_tiles
    nv_tileas.async.pipeline.agent_switch attributes {first = 0 : i32, warps = 1 : i32} {
      %map = nv_tileas.create_tensor_maps %view : !column_tiles -> !column_map
      nv_tileas.release_tensor_maps %map : !column_map
      nv_tileas.async.pipeline.yield
    }
    nv_tileaa.return
  }
  // A size that is computed: the kernel encodes both maps.
  // CHECK-LABEL: @computed
  // CHECK-NOT: map_parameters
  // CHECK: create_tensor_maps %{{.*}}, %{{.*}}
  // CHECK: release_tensor_maps
  nv_tileaa.func @computed(%x: !nv_tileaa.ptr<f16>, %m: i32, %n: i32) attributes {kernel_spec = #nv_tileaa.kernel_spec<num_warps = 1>} {
    %twice = arith.addi %m, %m : i32
    %first = nv_tileaa.make_memref %x sizes(%m, %n : i32, i32) strides(%n : i32) : !nv_tileaa.ptr<f16> -> !memory
    %second = nv_tileaa.make_memref %x sizes(%twice, %n : i32, i32) strides(%n : i32) : !nv_tileaa.ptr<f16> -> !memory
    %views = nv_tileaa.block_tile %first : !tiles
    %others = nv_tileaa.block_tile %second : !tiles
    nv_tileas.async.pipeline.agent_switch attributes {first = 0 : i32, warps = 1 : i32} {
      %maps:2 = nv_tileas.create_tensor_maps %views, %others : !tiles, !tiles -> !map, !map
      nv_tileas.release_tensor_maps %maps#0, %maps#1 : !map, !map
      nv_tileas.async.pipeline.yield
    }
    nv_tileaa.return
  }
}
