// Functions, regions with directives, grid coordinates, and operations without an effect at run time.
// RUN @calls grid=2
// ARG out = zeros:2xi32
// EXPECT out = np.array([1, 49])
// RUN @wrapped grid=2
// ARG out = zeros:2xi32
// EXPECT out = np.array([7, 8])
// RUN @alone grid=3
// ARG out = zeros:3xi32
// EXPECT out = np.array([-1, -1, -1])
// RUN @global
// ARG out = zeros:2xi32
// EXPECT out = np.array([30, 40])
gpu.module @kernels {
  nv_tileaa.global @table = dense<[10, 20, 30, 40]> : tensor<4xi32>
  nv_tileaa.func @square(%x: i32) -> i32 {
    %y = nv_tileaa.muli %x, %x : i32
    nv_tileaa.return %y : i32
  }
  nv_tileaa.func @calls(%out: !nv_tileaa.ptr<i32>) attributes {kernel_spec = #nv_tileaa.kernel_spec<>} {
    %b:3 = nv_tileaa.get_program_id : i32, i32, i32
    %six = arith.constant 6 : i32
    %one = arith.constant 1 : i32
    %scaled = nv_tileaa.muli %b#0, %six : i32
    %next = nv_tileaa.addi %scaled, %one : i32
    %y = nv_tileaa.call @square(%next) : (i32) -> i32
    %p = nv_tileaa.addptr %out, %b#0 : !nv_tileaa.ptr<i32>, i32
    %t = nv_tileaa.store weak %p, %y : !nv_tileaa.ptr<i32>, i32
    nv_tileaa.return
  }
  nv_tileaa.func @wrapped(%out: !nv_tileaa.ptr<i32>) attributes {kernel_spec = #nv_tileaa.kernel_spec<>} {
    %b:3 = nv_tileaa.get_program_id : i32, i32, i32
    %seven = arith.constant 7 : i32
    nv_tileaa.message "nothing to see"
    %y = nv_tileaa.pragma {unroll = 2 : i32} -> i32 {
      %s = nv_tileaa.addi %b#0, %seven : i32
      nv_tileaa.yield %s : i32
    }
    %z = nv_tileaa.optimization_barrier %y : i32
    %p = nv_tileaa.addptr %out, %b#0 : !nv_tileaa.ptr<i32>, i32
    %t = nv_tileaa.store weak %p, %z : !nv_tileaa.ptr<i32>, i32
    nv_tileaa.return
  }
  // All blocks run, so that none is left to cancel.
  nv_tileaa.func @alone(%out: !nv_tileaa.ptr<i32>) attributes {kernel_spec = #nv_tileaa.kernel_spec<>} {
    %b:3 = nv_tileaa.get_program_id : i32, i32, i32
    %none = arith.constant -1 : i32
    %place, %t0 = nv_tileaa.cancel_next_program_id : !nv_tileaa.program_id
    %valid = nv_tileaa.is_valid_program_id %place
    %x:3 = nv_tileaa.get_program_id %place : i32, i32, i32
    %y = nv_tileaa.select %valid, %x#0, %none : i1, i32
    %p = nv_tileaa.addptr %out, %b#0 : !nv_tileaa.ptr<i32>, i32
    %t = nv_tileaa.store weak %p, %y : !nv_tileaa.ptr<i32>, i32
    nv_tileaa.return
  }
  nv_tileaa.func @global(%out: !nv_tileaa.ptr<i32>) attributes {kernel_spec = #nv_tileaa.kernel_spec<>} {
    %g = nv_tileaa.get_global @table : !nv_tileaa.ptr<i32>
    %i = nv_tileaa.make_range : tensor<2xi32>
    %two = arith.constant 2 : i32
    %further = nv_tileaa.addptr %g, %two : !nv_tileaa.ptr<i32>, i32
    %gs = nv_tileaa.splat %further : !nv_tileaa.ptr<i32> -> tensor<2x!nv_tileaa.ptr<i32>>
    %from = nv_tileaa.addptr %gs, %i : tensor<2x!nv_tileaa.ptr<i32>>, tensor<2xi32>
    %v:2 = nv_tileaa.load weak %from : tensor<2x!nv_tileaa.ptr<i32>> -> tensor<2xi32>
    %outs = nv_tileaa.splat %out : !nv_tileaa.ptr<i32> -> tensor<2x!nv_tileaa.ptr<i32>>
    %to = nv_tileaa.addptr %outs, %i : tensor<2x!nv_tileaa.ptr<i32>>, tensor<2xi32>
    %t = nv_tileaa.store weak %to, %v#0 : tensor<2x!nv_tileaa.ptr<i32>>, tensor<2xi32>
    nv_tileaa.return
  }
}
