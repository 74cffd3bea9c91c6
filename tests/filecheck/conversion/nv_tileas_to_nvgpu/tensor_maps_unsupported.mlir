// RUN: tilewright opt --pass allocate,synchronize,convert-tileas-to-nvgpu --verify-diagnostics %s
#row = #nv_tileas.layout<[64], offset = [[1], [2], [4], [8], [16], [32]]>
!tiles = !nv_tileaa.tiled_view<tile = [64], source = !nv_tileaa.memref<4096xf32, strides = [1]>>
!map = !nv_tileas.tensor_map<!tiles, tensor<64xf32, #row>>
gpu.module @kernels attributes {nv_tileaa.target_spec = #nv_tileaa.target_spec<compute_capability = 80>} {
  nv_tileaa.func @ampere(%v: !tiles) attributes {kernel_spec = #nv_tileaa.kernel_spec<num_warps = 1>} {
    nv_tileas.async.pipeline.agent_switch attributes {warps = 1 : i32} {
      // expected-error@+1 {{unsupported: 'nv_tileas.create_tensor_maps' on a GPU without bulk and tensor copies that complete on a barrier}}
      %map = nv_tileas.create_tensor_maps %v : !tiles -> !map
      nv_tileas.release_tensor_maps %map : !map
      nv_tileas.async.pipeline.yield
    }
    nv_tileaa.return
  }
}
