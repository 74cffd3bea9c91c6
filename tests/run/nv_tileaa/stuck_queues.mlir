// A queue.put without a consumer and a queue.get without a producer deadlock.
// RUN @full
// ARG out = zeros:1xi32
// FAILS deadlock at FULL : waits for a free slot
// RUN @empty
// ARG out = zeros:1xi32
// FAILS deadlock at EMPTY : waits for an entry
gpu.module @kernels {
  nv_tileaa.func @full(%out: !nv_tileaa.ptr<i32>) attributes {kernel_spec = #nv_tileaa.kernel_spec<>} {
    %one = arith.constant 1 : i32
    %q = nv_tileaa.create_queue : !nv_tileaa.queue<[i32]>
    nv_tileaa.queue.put %q : !nv_tileaa.queue<[i32]> {
      nv_tileaa.queue.yield %one : i32
    }
    nv_tileaa.queue.put %q : !nv_tileaa.queue<[i32]> { // FULL
      nv_tileaa.queue.yield %one : i32
    }
    %x = nv_tileaa.queue.get %q : !nv_tileaa.queue<[i32]> -> i32 {
    ^bb0(%y: i32):
      nv_tileaa.queue.yield %y : i32
    }
    %t = nv_tileaa.store weak %out, %x : !nv_tileaa.ptr<i32>, i32
    nv_tileaa.return
  }
  nv_tileaa.func @empty(%out: !nv_tileaa.ptr<i32>) attributes {kernel_spec = #nv_tileaa.kernel_spec<>} {
    %q = nv_tileaa.create_queue : !nv_tileaa.queue<[i32]>
    %x = nv_tileaa.queue.get %q : !nv_tileaa.queue<[i32]> -> i32 { // EMPTY
    ^bb0(%y: i32):
      nv_tileaa.queue.yield %y : i32
    }
    %t = nv_tileaa.store weak %out, %x : !nv_tileaa.ptr<i32>, i32
    nv_tileaa.return
  }
}
