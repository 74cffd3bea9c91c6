// RUN: tilewright opt --pass convert-tileaa-to-tileas --verify-diagnostics %s
gpu.module @kernels {
  // expected-error@+1 {{expected a module with a target specification}}
  nv_tileaa.func @no_target() attributes {kernel_spec = #nv_tileaa.kernel_spec<>} {
    nv_tileaa.return
  }
}
