// Queues keep what goes in, in order; each block has its own.
// RUN @in_order grid=3
// ARG out = zeros:6xi32
// EXPECT out = np.array([0, 10, 1, 11, 2, 12])
// RUN @where_blocks_part grid=4
// ARG out = zeros:4xi32
// EXPECT out = np.array([100, 1, 102, 3])
// RUN @full
// ARG out = zeros:1xi32
// FAILS deadlock at FULL : waits for room
// RUN @empty
// ARG out = zeros:1xi32
// FAILS deadlock at EMPTY : waits for an entry
gpu.module @kernels {
  nv_tileaa.func @in_order(%out: !nv_tileaa.ptr<i32>) attributes {kernel_spec = #nv_tileaa.kernel_spec<>} {
    %b:3 = nv_tileaa.get_program_id : i32, i32, i32
    %ten = arith.constant 10 : i32
    %q = nv_tileaa.create_queue {depth = 2 : i32} : !nv_tileaa.queue<[i32]>
    nv_tileaa.queue.put %q : !nv_tileaa.queue<[i32]> {
      nv_tileaa.queue.yield %b#0 : i32
    }
    nv_tileaa.queue.put %q : !nv_tileaa.queue<[i32]> {
      %later = nv_tileaa.addi %b#0, %ten : i32
      nv_tileaa.queue.yield %later : i32
    }
    %first = nv_tileaa.queue.get %q : !nv_tileaa.queue<[i32]> -> i32 {
    ^bb0(%x: i32):
      nv_tileaa.queue.yield %x : i32
    }
    %second = nv_tileaa.queue.get %q : !nv_tileaa.queue<[i32]> -> i32 {
    ^bb0(%x: i32):
      nv_tileaa.queue.yield %x : i32
    }
    %one = arith.constant 1 : i32
    %even = nv_tileaa.addi %b#0, %b#0 : i32
    %odd = nv_tileaa.addi %even, %one : i32
    %p = nv_tileaa.addptr %out, %even : !nv_tileaa.ptr<i32>, i32
    %t = nv_tileaa.store weak %p, %first : !nv_tileaa.ptr<i32>, i32
    %p1 = nv_tileaa.addptr %out, %odd : !nv_tileaa.ptr<i32>, i32
    %t1 = nv_tileaa.store weak %p1, %second : !nv_tileaa.ptr<i32>, i32
    nv_tileaa.return
  }
  // Only even blocks put more in; what is left at the end decides.
  nv_tileaa.func @where_blocks_part(%out: !nv_tileaa.ptr<i32>) attributes {kernel_spec = #nv_tileaa.kernel_spec<>} {
    %b:3 = nv_tileaa.get_program_id : i32, i32, i32
    %zero = arith.constant 0 : i32
    %one = arith.constant 1 : i32
    %hundred = arith.constant 100 : i32
    %bit = nv_tileaa.andi %b#0, %one : i32
    %even = nv_tileaa.cmpi eq, %bit, %zero : i32
    %q = nv_tileaa.create_queue {depth = 4 : i32} : !nv_tileaa.queue<[i32]>
    nv_tileaa.queue.put %q : !nv_tileaa.queue<[i32]> {
      nv_tileaa.queue.yield %b#0 : i32
    }
    scf.if %even {
      %taken = nv_tileaa.queue.get %q : !nv_tileaa.queue<[i32]> -> i32 {
      ^bb0(%x: i32):
        nv_tileaa.queue.yield %x : i32
      }
      nv_tileaa.queue.put %q : !nv_tileaa.queue<[i32]> {
        %more = nv_tileaa.addi %taken, %hundred : i32
        nv_tileaa.queue.yield %more : i32
      }
    }
    %last = nv_tileaa.queue.get %q : !nv_tileaa.queue<[i32]> -> i32 {
    ^bb0(%x: i32):
      nv_tileaa.queue.yield %x : i32
    }
    %p = nv_tileaa.addptr %out, %b#0 : !nv_tileaa.ptr<i32>, i32
    %t = nv_tileaa.store weak %p, %last : !nv_tileaa.ptr<i32>, i32
    nv_tileaa.return
  }
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
