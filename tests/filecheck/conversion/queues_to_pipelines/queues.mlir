// A queue becomes a pipeline with as many stages; put is acquire, write, commit; get is wait, read, release.
// RUN: tilewright opt --pass convert-queues-to-pipelines %s | filecheck %s
!queue = !nv_tileaa.queue<[i32]>
#spec = #nv_tileaa.kernel_spec<>
gpu.module @kernels attributes {nv_tileaa.target_spec = #nv_tileaa.target_spec<compute_capability = 90>} {
  // CHECK-LABEL: @put_get
  // CHECK: [[P:%[0-9]+]] = nv_tileas.async.pipeline.create_pipeline : !nv_tileas.pipeline<3, [i32]>
  // CHECK: [[I:%[0-9]+]] = nv_tileas.async.pipeline.create_iterator [[P]]
  // CHECK: [[S:%[0-9]+]] = nv_tileas.async.pipeline.producer_acquire [[P]]{{\[}}[[I]]]
  // CHECK: [[V:%[0-9]+]] = nv_tileaa.addi %arg0, %arg0
  // CHECK: nv_tileas.async.pipeline.producer_write [[P]], [[S]], [[V]]
  // CHECK: nv_tileas.async.pipeline.producer_commit [[P]], [[S]]
  // CHECK: [[C:%[0-9]+]] = nv_tileas.async.pipeline.consumer_wait [[P]]{{\[}}[[I]]]
  // CHECK: [[R:%[0-9]+]] = nv_tileas.async.pipeline.consumer_read [[P]], [[C]]
  // CHECK: nv_tileaa.muli [[R]], [[R]]
  // CHECK: nv_tileas.async.pipeline.consumer_release [[P]], [[C]]
  nv_tileaa.func @put_get(%n: i32) attributes {kernel_spec = #spec} {
    %q = nv_tileaa.create_queue {depth = 3 : i32} : !queue
    nv_tileaa.queue.put %q : !queue {
      %v = nv_tileaa.addi %n, %n : i32
      nv_tileaa.queue.yield %v : i32
    }
    %r = nv_tileaa.queue.get %q : !queue -> i32 {
    ^bb0(%x: i32):
      %y = nv_tileaa.muli %x, %x : i32
      nv_tileaa.queue.yield %y : i32
    }
    nv_tileaa.return
  }
  // A loop carries the iterators of both ends, each advanced once per iteration.
  // CHECK-LABEL: @loop
  // CHECK: scf.for {{.*}} -> (!nv_tileas.pipeline_iterator<2>, !nv_tileas.pipeline_iterator<2>)
  // CHECK: [[NEXT_IN:%[0-9]+]] = nv_tileas.async.pipeline.inc_iter
  // CHECK: [[NEXT_OUT:%[0-9]+]] = nv_tileas.async.pipeline.inc_iter
  // CHECK: scf.yield [[NEXT_IN]], [[NEXT_OUT]]
  nv_tileaa.func @loop(%n: i32) attributes {kernel_spec = #spec} {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %q = nv_tileaa.create_queue {depth = 2 : i32} : !queue
    scf.for %i = %c0 to %n step %c1 : i32 {
      nv_tileaa.queue.put %q : !queue {
        nv_tileaa.queue.yield %i : i32
      }
      %r = nv_tileaa.queue.get %q : !queue -> i32 {
      ^bb0(%x: i32):
        nv_tileaa.queue.yield %x : i32
      }
    }
    nv_tileaa.return
  }
  // Both branches pass on the iterators, also the one that leaves the queue alone.
  // CHECK-LABEL: @branch
  // CHECK: scf.if %arg0 -> (!nv_tileas.pipeline_iterator<2>, !nv_tileas.pipeline_iterator<2>)
  // CHECK: } else {
  // CHECK-NEXT: scf.yield
  nv_tileaa.func @branch(%c: i1, %n: i32) attributes {kernel_spec = #spec} {
    %q = nv_tileaa.create_queue {depth = 2 : i32} : !queue
    scf.if %c {
      nv_tileaa.queue.put %q : !queue {
        nv_tileaa.queue.yield %n : i32
      }
      %r = nv_tileaa.queue.get %q : !queue -> i32 {
      ^bb0(%x: i32):
        nv_tileaa.queue.yield %x : i32
      }
    }
    nv_tileaa.return
  }
  // A token that orders nothing is the null token of the pipeline.
  // CHECK-LABEL: @token
  // CHECK: [[T:%[0-9]+]] = nv_tileas.async.pipeline.create_null_token
  // CHECK: nv_tileas.async.pipeline.producer_write {{.*}}, [[T]]
  nv_tileaa.func @token() attributes {kernel_spec = #spec} {
    %q = nv_tileaa.create_queue {depth = 1 : i32} : !nv_tileaa.queue<[!nv_tileaa.mem_token]>
    nv_tileaa.queue.put %q : !nv_tileaa.queue<[!nv_tileaa.mem_token]> {
      %t = nv_tileaa.create_mem_token : !nv_tileaa.mem_token
      nv_tileaa.queue.yield %t : !nv_tileaa.mem_token
    }
    %r = nv_tileaa.queue.get %q : !nv_tileaa.queue<[!nv_tileaa.mem_token]> -> !nv_tileaa.mem_token {
    ^bb0(%x: !nv_tileaa.mem_token):
      nv_tileaa.queue.yield %x : !nv_tileaa.mem_token
    }
    nv_tileaa.return
  }
}
