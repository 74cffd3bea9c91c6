// RUN: tilewright opt --pass convert-tileaa-to-tileas --verify-diagnostics %s
gpu.module @kernels attributes {nv_tileaa.target_spec = #nv_tileaa.target_spec<compute_capability = 90>} {
  nv_tileaa.func @queue() attributes {kernel_spec = #nv_tileaa.kernel_spec<>} {
    // expected-error@+2 {{failed to legalize operation 'nv_tileaa.create_queue'}}
    // expected-note@+1 {{expected queues to be lowered by 'convert-queues-to-pipelines'}}
    %q = nv_tileaa.create_queue {depth = 2 : i32} : !nv_tileaa.queue<[i32]>
    nv_tileaa.return
  }
}
