// RUN: tilewright opt --pass check-resources --verify-diagnostics %s
gpu.module @kernels attributes {nv_tileaa.target_spec = #nv_tileaa.target_spec<compute_capability = 90>} {
  nv_tileaa.func @producer_without_consumer(%x: i32) attributes {kernel_spec = #nv_tileaa.kernel_spec<>} {
    // expected-error@+1 {{expected a 'queue.get' at the other end of the queue, got none}}
    %q = nv_tileaa.create_queue {depth = 2 : i32} : !nv_tileaa.queue<[i32]>
    nv_tileaa.queue.put %q : !nv_tileaa.queue<[i32]> {
      nv_tileaa.queue.yield %x : i32
    }
    nv_tileaa.return
  }
}
// -----
// A block of sm_90 has 227 KiB of dynamic shared memory: 232448 bytes; the queue takes 4 * 64 KiB.
gpu.module @kernels attributes {nv_tileaa.target_spec = #nv_tileaa.target_spec<compute_capability = 90>} {
  nv_tileaa.func @queue_larger_than_shared_memory(%x: tensor<128x128xf32>) attributes {kernel_spec = #nv_tileaa.kernel_spec<>} {
    // expected-error@+1 {{asks for 262144 bytes of shared memory for all queues of '@queue_larger_than_shared_memory', of which a block has 232448}}
    %q = nv_tileaa.create_queue {depth = 4 : i32} : !nv_tileaa.queue<[tensor<128x128xf32>]>
    nv_tileaa.return
  }
}
// -----
// PTX has 16 named barriers in a block.
gpu.module @kernels attributes {nv_tileaa.target_spec = #nv_tileaa.target_spec<compute_capability = 90>} {
  nv_tileaa.plugin @plugin {named_barriers = 17 : i32}
  nv_tileaa.func @plugin_with_too_many_barriers() attributes {kernel_spec = #nv_tileaa.kernel_spec<>} {
    // expected-error@+1 {{asks for 17 named barriers for '@plugin', of which a block has}}
    nv_tileaa.execute @plugin() : () -> ()
    nv_tileaa.return
  }
}
// -----
gpu.module @kernels attributes {nv_tileaa.target_spec = #nv_tileaa.target_spec<compute_capability = 90>} {
  nv_tileaa.func @both_ends(%x: i32) attributes {kernel_spec = #nv_tileaa.kernel_spec<>} {
    %q = nv_tileaa.create_queue {depth = 2 : i32} : !nv_tileaa.queue<[i32]>
    nv_tileaa.queue.put %q : !nv_tileaa.queue<[i32]> {
      nv_tileaa.queue.yield %x : i32
    }
    %y = nv_tileaa.queue.get %q : !nv_tileaa.queue<[i32]> -> i32 {
    ^bb0(%v: i32):
      nv_tileaa.queue.yield %v : i32
    }
    nv_tileaa.return
  }
}
