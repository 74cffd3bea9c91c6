// A plugin that no kernel executes has no code; the code of one that is executed is not part of the program.
// RUN: tilewright opt --pass convert-tileas-to-nvgpu --verify-diagnostics %s | filecheck %s
gpu.module @kernels attributes {nv_tileaa.target_spec = #nv_tileaa.target_spec<compute_capability = 90>} {
  nv_tileaa.plugin @plugin
  nv_tileaa.func @executed() attributes {kernel_spec = #nv_tileaa.kernel_spec<num_warps = 1>} {
    // expected-error@+1 {{unsupported: the code of the plugin '@plugin'}}
    nv_tileas.execute @plugin() : () -> ()
    nv_tileaa.return
  }
}
// -----
// CHECK-NOT: @plugin
// CHECK: gpu.func @declared
gpu.module @kernels attributes {nv_tileaa.target_spec = #nv_tileaa.target_spec<compute_capability = 90>} {
  nv_tileaa.plugin @plugin
  nv_tileaa.func @declared() attributes {kernel_spec = #nv_tileaa.kernel_spec<num_warps = 1>} {
    nv_tileaa.return
  }
}
