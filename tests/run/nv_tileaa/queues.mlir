// Queues are FIFOs; each block has its own.
// RUN @in_order grid=3
// ARG out = zeros:6xi32
// EXPECT out = np.array([0, 10, 1, 11, 2, 12])
// RUN @where_blocks_part grid=4
// ARG out = zeros:4xi32
// EXPECT out = np.array([100, 1, 102, 3])
// RUN @ahead grid=2
// ARG x = small:2x8x64xf32:1
// ARG y = zeros:2x64xf32
// EXPECT y = (x * 2 + np.arange(8, dtype=np.float32)[:, None]).sum(axis=1)
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
  // Only even blocks put another element; the rest at the end decides.
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
  // One row is always in the queue: it is put one iteration before it is taken.
  nv_tileaa.func @ahead(%x: !nv_tileaa.ptr<f32>, %y: !nv_tileaa.ptr<f32>) attributes {kernel_spec = #nv_tileaa.kernel_spec<>} {
    %b:3 = nv_tileaa.get_program_id : i32, i32, i32
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c8 = arith.constant 8 : i32
    %c64 = arith.constant 64 : i32
    %c512 = arith.constant 512 : i32
    %zero = arith.constant dense<0.0> : tensor<64xf32>
    %range = nv_tileaa.make_range : tensor<64xi32>
    %far = nv_tileaa.muli %b#0, %c512 : i32
    %near = nv_tileaa.muli %b#0, %c64 : i32
    %mine = nv_tileaa.addptr %x, %far : !nv_tileaa.ptr<f32>, i32
    %q = nv_tileaa.create_queue {depth = 2 : i32} : !nv_tileaa.queue<[tensor<64xf32>, i32, !nv_tileaa.mem_token]>
    nv_tileaa.queue.put %q : !nv_tileaa.queue<[tensor<64xf32>, i32, !nv_tileaa.mem_token]> {
      %base = nv_tileaa.splat %mine : !nv_tileaa.ptr<f32> -> tensor<64x!nv_tileaa.ptr<f32>>
      %p = nv_tileaa.addptr %base, %range : tensor<64x!nv_tileaa.ptr<f32>>, tensor<64xi32>
      %row, %t = nv_tileaa.load weak %p : tensor<64x!nv_tileaa.ptr<f32>> -> tensor<64xf32>
      nv_tileaa.queue.yield %row, %c0, %t : tensor<64xf32>, i32, !nv_tileaa.mem_token
    }
    %most = scf.for %i = %c1 to %c8 step %c1 iter_args(%all = %zero) -> (tensor<64xf32>) : i32 {
      nv_tileaa.queue.put %q : !nv_tileaa.queue<[tensor<64xf32>, i32, !nv_tileaa.mem_token]> {
        %offset = nv_tileaa.muli %i, %c64 : i32
        %from = nv_tileaa.addptr %mine, %offset : !nv_tileaa.ptr<f32>, i32
        %base = nv_tileaa.splat %from : !nv_tileaa.ptr<f32> -> tensor<64x!nv_tileaa.ptr<f32>>
        %p = nv_tileaa.addptr %base, %range : tensor<64x!nv_tileaa.ptr<f32>>, tensor<64xi32>
        %row, %t = nv_tileaa.load weak %p : tensor<64x!nv_tileaa.ptr<f32>> -> tensor<64xf32>
        %none = nv_tileaa.create_mem_token : !nv_tileaa.mem_token
        nv_tileaa.queue.yield %row, %i, %none : tensor<64xf32>, i32, !nv_tileaa.mem_token
      }
      %part = nv_tileaa.queue.get %q : !nv_tileaa.queue<[tensor<64xf32>, i32, !nv_tileaa.mem_token]> -> tensor<64xf32> {
      ^bb0(%row: tensor<64xf32>, %n: i32, %t: !nv_tileaa.mem_token):
        %m = arith.sitofp %n : i32 to f32
        %number = nv_tileaa.splat %m : f32 -> tensor<64xf32>
        %twice = nv_tileaa.addf %row, %row : tensor<64xf32>
        %sum = nv_tileaa.addf %twice, %number : tensor<64xf32>
        nv_tileaa.queue.yield %sum : tensor<64xf32>
      }
      %more = nv_tileaa.addf %all, %part : tensor<64xf32>
      scf.yield %more : tensor<64xf32>
    }
    %last, %number, %token = nv_tileaa.queue.get %q : !nv_tileaa.queue<[tensor<64xf32>, i32, !nv_tileaa.mem_token]> -> tensor<64xf32>, i32, !nv_tileaa.mem_token {
    ^bb0(%row: tensor<64xf32>, %n: i32, %t: !nv_tileaa.mem_token):
      nv_tileaa.queue.yield %row, %n, %t : tensor<64xf32>, i32, !nv_tileaa.mem_token
    }
    %m = arith.sitofp %number : i32 to f32
    %seven = nv_tileaa.splat %m : f32 -> tensor<64xf32>
    %twice = nv_tileaa.addf %last, %last : tensor<64xf32>
    %end = nv_tileaa.addf %twice, %seven : tensor<64xf32>
    %sum = nv_tileaa.addf %most, %end : tensor<64xf32>
    %out = nv_tileaa.addptr %y, %near : !nv_tileaa.ptr<f32>, i32
    %base = nv_tileaa.splat %out : !nv_tileaa.ptr<f32> -> tensor<64x!nv_tileaa.ptr<f32>>
    %p = nv_tileaa.addptr %base, %range : tensor<64x!nv_tileaa.ptr<f32>>, tensor<64xi32>
    %s = nv_tileaa.store weak %p, %sum token = %token : tensor<64x!nv_tileaa.ptr<f32>>, tensor<64xf32>
    nv_tileaa.return
  }
}
