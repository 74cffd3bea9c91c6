// RUN: tilewright opt --pass convert-queues-to-pipelines --verify-diagnostics %s
!queue = !nv_tileaa.queue<[i32]>
gpu.module @kernels attributes {nv_tileaa.target_spec = #nv_tileaa.target_spec<compute_capability = 90>} {
  nv_tileaa.func @get_from_empty(%n: i32) attributes {kernel_spec = #nv_tileaa.kernel_spec<>} {
    %q = nv_tileaa.create_queue {depth = 2 : i32} : !queue
    // expected-error@+1 {{expected a full slot}}
    %r = nv_tileaa.queue.get %q : !queue -> i32 {
    ^bb0(%x: i32):
      nv_tileaa.queue.yield %x : i32
    }
    nv_tileaa.queue.put %q : !queue {
      nv_tileaa.queue.yield %n : i32
    }
    nv_tileaa.return
  }
}
// -----
!queue = !nv_tileaa.queue<[i32]>
gpu.module @kernels attributes {nv_tileaa.target_spec = #nv_tileaa.target_spec<compute_capability = 90>} {
  nv_tileaa.func @put_into_full(%n: i32) attributes {kernel_spec = #nv_tileaa.kernel_spec<>} {
    %q = nv_tileaa.create_queue {depth = 1 : i32} : !queue
    nv_tileaa.queue.put %q : !queue {
      nv_tileaa.queue.yield %n : i32
    }
    // expected-error@+1 {{expected an empty slot}}
    nv_tileaa.queue.put %q : !queue {
      nv_tileaa.queue.yield %n : i32
    }
    nv_tileaa.return
  }
}
// -----
!queue = !nv_tileaa.queue<[i32]>
gpu.module @kernels attributes {nv_tileaa.target_spec = #nv_tileaa.target_spec<compute_capability = 90>} {
  nv_tileaa.func @unbalanced_iteration(%n: i32) attributes {kernel_spec = #nv_tileaa.kernel_spec<>} {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %q = nv_tileaa.create_queue {depth = 2 : i32} : !queue
    // expected-error@+1 {{expected 0 full slots of the pipeline after each iteration, got 1}}
    scf.for %i = %c0 to %n step %c1 : i32 {
      nv_tileaa.queue.put %q : !queue {
        nv_tileaa.queue.yield %i : i32
      }
    }
    nv_tileaa.return
  }
}
