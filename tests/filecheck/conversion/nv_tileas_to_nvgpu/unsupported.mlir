// RUN: tilewright opt --pass convert-tileas-to-nvgpu --verify-diagnostics %s
gpu.module @kernels attributes {nv_tileaa.target_spec = #nv_tileaa.target_spec<compute_capability = 90>} {
  nv_tileaa.func @foreign_code(%x: f32) attributes {kernel_spec = #nv_tileaa.kernel_spec<num_warps = 1>} {
    // expected-error@+1 {{unsupported: 'nv_tileaa.inject_ir' in code for a GPU}}
    %y = nv_tileaa.inject_ir "text"(%x) : (f32) -> f32
    nv_tileaa.return
  }
}
