// Operations on tiles that no program of Tile IR has.
// RUN @made grid=2
// ARG out = zeros:16xi32
// EXPECT out = np.add.outer(np.array([100, 101]), np.add.outer(10 * np.arange(2), np.arange(4))).reshape(-1)
// RUN @counted
// ARG x : i32 = np.array([0, 3, 3, 1, 9, -1, 3, 0])
// ARG out = zeros:4xi32
// EXPECT out = np.array([2, 1, 0, 3])
// RUN @before
// ARG x : i32 = np.arange(1, 9)
// ARG out = zeros:8xi32
// ARG back = zeros:8xi32
// EXPECT out = np.array([0, 1, 3, 6, 10, 15, 21, 28])
// EXPECT back = np.array([35, 33, 30, 26, 21, 15, 8, 0])
// RUN @clamped
// ARG x : f32 = np.array([-3, 0.5, 7, np.nan])
// ARG quiet = zeros:4xf32
// ARG loud = zeros:4xf32
// EXPECT quiet = np.array([-1, 0.5, 2, -1], np.float32)
// EXPECT loud = np.array([-1, 0.5, 2, np.nan], np.float32)
// RUN @rounded
// ARG x : f32 = np.full(16, 1 + 2.0**-12)
// ARG some = zeros:16xf32
// ARG all = zeros:16xf32
// EXPECT some = np.full(16, 4, np.float32)
// EXPECT all = np.full(16, np.float32(4 * (1 + 2.0**-12)), np.float32)
// RUN @numbered
// ARG out = zeros:4xi32
// EXPECT out = np.array([5, 6, 7, 8])
// RUN @picked grid=3
// ARG x = iota:16x32xi32
// ARG row : i32 = np.array([0, 15, 9])
// ARG column : i32 = np.array([31, 0, 18])
// ARG out = zeros:3xi32
// EXPECT out = x[row, column]
gpu.module @kernels {
  nv_tileaa.func @picked(%x: !nv_tileaa.ptr<i32>, %row: !nv_tileaa.ptr<i32>, %column: !nv_tileaa.ptr<i32>, %out: !nv_tileaa.ptr<i32>) attributes {kernel_spec = #nv_tileaa.kernel_spec<>} {
    %b:3 = nv_tileaa.get_program_id : i32, i32, i32
    %pi = nv_tileaa.addptr %row, %b#0 : !nv_tileaa.ptr<i32>, i32
    %pj = nv_tileaa.addptr %column, %b#0 : !nv_tileaa.ptr<i32>, i32
    %i, %t0 = nv_tileaa.load weak %pi : !nv_tileaa.ptr<i32> -> i32
    %j, %t1 = nv_tileaa.load weak %pj : !nv_tileaa.ptr<i32> -> i32
    %zero = arith.constant 0 : i32
    %memory = nv_tileaa.make_memref %x : !nv_tileaa.ptr<i32> -> !nv_tileaa.memref<16x32xi32, strides = [32, 1]>
    %tiles = nv_tileaa.block_tile %memory : !nv_tileaa.tiled_view<tile = [16, 32], source = !nv_tileaa.memref<16x32xi32, strides = [32, 1]>>
    %tile, %t2 = nv_tileaa.tiled_load weak %tiles[%zero, %zero] : i32, i32 of !nv_tileaa.tiled_view<tile = [16, 32], source = !nv_tileaa.memref<16x32xi32, strides = [32, 1]>> -> tensor<16x32xi32>
    %one = nv_tileaa.extract %tile[%i, %j] : tensor<16x32xi32> -> i32
    %p = nv_tileaa.addptr %out, %b#0 : !nv_tileaa.ptr<i32>, i32
    %t = nv_tileaa.store weak %p, %one : !nv_tileaa.ptr<i32>, i32
    nv_tileaa.return
  }
  nv_tileaa.func @made(%out: !nv_tileaa.ptr<i32>) attributes {kernel_spec = #nv_tileaa.kernel_spec<>} {
    %b:3 = nv_tileaa.get_program_id : i32, i32, i32
    %ten = arith.constant 10 : i32
    %hundred = arith.constant 100 : i32
    %eight = arith.constant 8 : i32
    %base = nv_tileaa.addi %b#0, %hundred : i32
    %tile = nv_tileaa.generate : tensor<2x4xi32> {
    ^bb0(%i: i32, %j: i32):
      %row = nv_tileaa.muli %i, %ten : i32
      %both = nv_tileaa.addi %row, %j : i32
      %all = nv_tileaa.addi %both, %base : i32
      nv_tileaa.yield %all : i32
    }
    %flat = nv_tileaa.view %tile : tensor<2x4xi32> -> tensor<8xi32>
    %start = nv_tileaa.muli %b#0, %eight : i32
    %mine = nv_tileaa.addptr %out, %start : !nv_tileaa.ptr<i32>, i32
    %places = nv_tileaa.make_range : tensor<8xi32>
    %many = nv_tileaa.splat %mine : !nv_tileaa.ptr<i32> -> tensor<8x!nv_tileaa.ptr<i32>>
    %p = nv_tileaa.addptr %many, %places : tensor<8x!nv_tileaa.ptr<i32>>, tensor<8xi32>
    %t = nv_tileaa.store weak %p, %flat : tensor<8x!nv_tileaa.ptr<i32>>, tensor<8xi32>
    nv_tileaa.return
  }
  nv_tileaa.func @counted(%x: !nv_tileaa.ptr<i32>, %out: !nv_tileaa.ptr<i32>) attributes {kernel_spec = #nv_tileaa.kernel_spec<>} {
    %i8 = nv_tileaa.make_range : tensor<8xi32>
    %xs = nv_tileaa.splat %x : !nv_tileaa.ptr<i32> -> tensor<8x!nv_tileaa.ptr<i32>>
    %from = nv_tileaa.addptr %xs, %i8 : tensor<8x!nv_tileaa.ptr<i32>>, tensor<8xi32>
    %v:2 = nv_tileaa.load weak %from : tensor<8x!nv_tileaa.ptr<i32>> -> tensor<8xi32>
    %h = nv_tileaa.histogram %v#0 : tensor<8xi32> -> tensor<4xi32>
    %i4 = nv_tileaa.make_range : tensor<4xi32>
    %outs = nv_tileaa.splat %out : !nv_tileaa.ptr<i32> -> tensor<4x!nv_tileaa.ptr<i32>>
    %to = nv_tileaa.addptr %outs, %i4 : tensor<4x!nv_tileaa.ptr<i32>>, tensor<4xi32>
    %t = nv_tileaa.store weak %to, %h : tensor<4x!nv_tileaa.ptr<i32>>, tensor<4xi32>
    nv_tileaa.return
  }
  nv_tileaa.func @before(%x: !nv_tileaa.ptr<i32>, %out: !nv_tileaa.ptr<i32>, %back: !nv_tileaa.ptr<i32>) attributes {kernel_spec = #nv_tileaa.kernel_spec<>} {
    %i8 = nv_tileaa.make_range : tensor<8xi32>
    %xs = nv_tileaa.splat %x : !nv_tileaa.ptr<i32> -> tensor<8x!nv_tileaa.ptr<i32>>
    %from = nv_tileaa.addptr %xs, %i8 : tensor<8x!nv_tileaa.ptr<i32>>, tensor<8xi32>
    %v:2 = nv_tileaa.load weak %from : tensor<8x!nv_tileaa.ptr<i32>> -> tensor<8xi32>
    %s = nv_tileaa.scan %v#0 {axis = 0 : i32, inclusive = false, identities = [0 : i32]} : tensor<8xi32> -> tensor<8xi32> {
    ^bb0(%a: i32, %b: i32):
      %sum = nv_tileaa.addi %a, %b : i32
      nv_tileaa.yield %sum : i32
    }
    %r = nv_tileaa.scan %v#0 {axis = 0 : i32, inclusive = false, reverse, identities = [0 : i32]} : tensor<8xi32> -> tensor<8xi32> {
    ^bb0(%a: i32, %b: i32):
      %sum = nv_tileaa.addi %a, %b : i32
      nv_tileaa.yield %sum : i32
    }
    %outs = nv_tileaa.splat %out : !nv_tileaa.ptr<i32> -> tensor<8x!nv_tileaa.ptr<i32>>
    %to = nv_tileaa.addptr %outs, %i8 : tensor<8x!nv_tileaa.ptr<i32>>, tensor<8xi32>
    %t = nv_tileaa.store weak %to, %s : tensor<8x!nv_tileaa.ptr<i32>>, tensor<8xi32>
    %backs = nv_tileaa.splat %back : !nv_tileaa.ptr<i32> -> tensor<8x!nv_tileaa.ptr<i32>>
    %to2 = nv_tileaa.addptr %backs, %i8 : tensor<8x!nv_tileaa.ptr<i32>>, tensor<8xi32>
    %t2 = nv_tileaa.store weak %to2, %r : tensor<8x!nv_tileaa.ptr<i32>>, tensor<8xi32>
    nv_tileaa.return
  }
  nv_tileaa.func @clamped(%x: !nv_tileaa.ptr<f32>, %quiet: !nv_tileaa.ptr<f32>, %loud: !nv_tileaa.ptr<f32>) attributes {kernel_spec = #nv_tileaa.kernel_spec<>} {
    %i4 = nv_tileaa.make_range : tensor<4xi32>
    %xs = nv_tileaa.splat %x : !nv_tileaa.ptr<f32> -> tensor<4x!nv_tileaa.ptr<f32>>
    %from = nv_tileaa.addptr %xs, %i4 : tensor<4x!nv_tileaa.ptr<f32>>, tensor<4xi32>
    %v:2 = nv_tileaa.load weak %from : tensor<4x!nv_tileaa.ptr<f32>> -> tensor<4xf32>
    %low = arith.constant dense<-1.0> : tensor<4xf32>
    %high = arith.constant dense<2.0> : tensor<4xf32>
    %q = nv_tileaa.clampf %v#0, %low, %high : tensor<4xf32>
    %l = nv_tileaa.clampf %v#0, %low, %high propagate_nan : tensor<4xf32>
    %qs = nv_tileaa.splat %quiet : !nv_tileaa.ptr<f32> -> tensor<4x!nv_tileaa.ptr<f32>>
    %to = nv_tileaa.addptr %qs, %i4 : tensor<4x!nv_tileaa.ptr<f32>>, tensor<4xi32>
    %t = nv_tileaa.store weak %to, %q : tensor<4x!nv_tileaa.ptr<f32>>, tensor<4xf32>
    %ls = nv_tileaa.splat %loud : !nv_tileaa.ptr<f32> -> tensor<4x!nv_tileaa.ptr<f32>>
    %to2 = nv_tileaa.addptr %ls, %i4 : tensor<4x!nv_tileaa.ptr<f32>>, tensor<4xi32>
    %t2 = nv_tileaa.store weak %to2, %l : tensor<4x!nv_tileaa.ptr<f32>>, tensor<4xf32>
    nv_tileaa.return
  }
  // tf32 has ten bits of fraction: smaller ones are rounded away.
  nv_tileaa.func @rounded(%x: !nv_tileaa.ptr<f32>, %some: !nv_tileaa.ptr<f32>, %all: !nv_tileaa.ptr<f32>) attributes {kernel_spec = #nv_tileaa.kernel_spec<>} {
    %zero = arith.constant 0 : i32
    %m = nv_tileaa.make_memref %x : !nv_tileaa.ptr<f32> -> !nv_tileaa.memref<4x4xf32, strides = [4, 1]>
    %v = nv_tileaa.block_tile %m : !nv_tileaa.tiled_view<tile = [4, 4], source = !nv_tileaa.memref<4x4xf32, strides = [4, 1]>>
    %a:2 = nv_tileaa.tiled_load weak %v[%zero, %zero] : i32, i32 of !nv_tileaa.tiled_view<tile = [4, 4], source = !nv_tileaa.memref<4x4xf32, strides = [4, 1]>> -> tensor<4x4xf32>
    %ones = arith.constant dense<1.0> : tensor<4x4xf32>
    %none = arith.constant dense<0.0> : tensor<4x4xf32>
    %d = nv_tileaa.dot %a#0, %ones, %none {input_precision = "tf32"} : tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>
    %e = nv_tileaa.dot %a#0, %ones, %none {input_precision = "ieee"} : tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>
    %ms = nv_tileaa.make_memref %some : !nv_tileaa.ptr<f32> -> !nv_tileaa.memref<4x4xf32, strides = [4, 1]>
    %vs = nv_tileaa.block_tile %ms : !nv_tileaa.tiled_view<tile = [4, 4], source = !nv_tileaa.memref<4x4xf32, strides = [4, 1]>>
    %t = nv_tileaa.tiled_store weak %d, %vs[%zero, %zero] : tensor<4x4xf32>, i32, i32 of !nv_tileaa.tiled_view<tile = [4, 4], source = !nv_tileaa.memref<4x4xf32, strides = [4, 1]>>
    %ma = nv_tileaa.make_memref %all : !nv_tileaa.ptr<f32> -> !nv_tileaa.memref<4x4xf32, strides = [4, 1]>
    %va = nv_tileaa.block_tile %ma : !nv_tileaa.tiled_view<tile = [4, 4], source = !nv_tileaa.memref<4x4xf32, strides = [4, 1]>>
    %t2 = nv_tileaa.tiled_store weak %e, %va[%zero, %zero] : tensor<4x4xf32>, i32, i32 of !nv_tileaa.tiled_view<tile = [4, 4], source = !nv_tileaa.memref<4x4xf32, strides = [4, 1]>>
    nv_tileaa.return
  }
  nv_tileaa.func @numbered(%out: !nv_tileaa.ptr<i32>) attributes {kernel_spec = #nv_tileaa.kernel_spec<>} {
    %numbers = nv_tileaa.make_range {start = 5 : i64} : tensor<4xi32>
    %four = arith.constant 4 : i32
    %i4 = nv_tileaa.make_range : tensor<4xi32>
    %fours = nv_tileaa.splat %four : i32 -> tensor<4xi32>
    %bytes = nv_tileaa.muli %i4, %fours : tensor<4xi32>
    %outs = nv_tileaa.splat %out : !nv_tileaa.ptr<i32> -> tensor<4x!nv_tileaa.ptr<i32>>
    %to = nv_tileaa.addptr %outs, %bytes bytes : tensor<4x!nv_tileaa.ptr<i32>>, tensor<4xi32>
    %t = nv_tileaa.store weak %to, %numbers : tensor<4x!nv_tileaa.ptr<i32>>, tensor<4xi32>
    nv_tileaa.return
  }
}
