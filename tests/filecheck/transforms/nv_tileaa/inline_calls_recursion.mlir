// A GPU thread has no stack of tiles: recursion is rejected at the call.
// RUN: tilewright opt --pass inline-calls --verify-diagnostics %s
gpu.module @kernels {
  nv_tileaa.func @even(%x: i32) -> i32 {
    %y = nv_tileaa.call @odd(%x) : (i32) -> i32
    nv_tileaa.return %y : i32
  }
  nv_tileaa.func @odd(%x: i32) -> i32 {
    // expected-error@+1 {{unsupported: '@even', which calls itself}}
    %y = nv_tileaa.call @even(%x) : (i32) -> i32
    nv_tileaa.return %y : i32
  }
  nv_tileaa.func @kernel(%x: i32) attributes {kernel_spec = #nv_tileaa.kernel_spec<>} {
    %y = nv_tileaa.call @even(%x) : (i32) -> i32
    nv_tileaa.return
  }
}
