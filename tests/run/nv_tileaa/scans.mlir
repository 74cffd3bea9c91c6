// Exclusive scans and histograms of tiles that several warps share.
// RUN @rows grid=2
// ARG x = small:32x256xi32:1
// ARG before = zeros:32x256xi32
// ARG behind = zeros:32x256xi32
// EXPECT before = np.cumsum(x, axis=1) - x
// EXPECT behind = np.flip(np.cumsum(np.flip(x, 1), axis=1), 1) - x
// RUN @columns
// ARG x = small:2048x2xf32:2
// ARG out = zeros:2048x2xf32
// EXPECT out = np.cumsum(x, axis=0) - x
// RUN @longest
// ARG x = random:512xf16:3
// ARG out = zeros:512xf16
// EXPECT out = np.concatenate([[-np.inf], np.maximum.accumulate(x)[:-1]])
// RUN @occurring grid=2
// ARG x : i32 = np.random.default_rng(4).integers(-9, 80, (32, 64))
// ARG out = zeros:128xi32
// EXPECT out = np.concatenate([np.bincount(half[(half >= 0) & (half < 64)], minlength=64) for half in (x[:16].reshape(-1), x[16:].reshape(-1))])
gpu.module @kernels {
  nv_tileaa.func @rows(%x: !nv_tileaa.ptr<i32>, %before: !nv_tileaa.ptr<i32>, %behind: !nv_tileaa.ptr<i32>) attributes {kernel_spec = #nv_tileaa.kernel_spec<num_warps = 8>} {
    %b:3 = nv_tileaa.get_program_id : i32, i32, i32
    %zero = arith.constant 0 : i32
    %m = nv_tileaa.make_memref %x : !nv_tileaa.ptr<i32> -> !nv_tileaa.memref<32x256xi32, strides = [256, 1]>
    %v = nv_tileaa.block_tile %m : !nv_tileaa.tiled_view<tile = [16, 256], source = !nv_tileaa.memref<32x256xi32, strides = [256, 1]>>
    %tile, %t0 = nv_tileaa.tiled_load weak %v[%b#0, %zero] : i32, i32 of !nv_tileaa.tiled_view<tile = [16, 256], source = !nv_tileaa.memref<32x256xi32, strides = [256, 1]>> -> tensor<16x256xi32>
    %s = nv_tileaa.scan %tile {axis = 1 : i32, inclusive = false, identities = [0 : i32]} : tensor<16x256xi32> -> tensor<16x256xi32> {
    ^bb0(%l: i32, %r: i32):
      %sum = nv_tileaa.addi %l, %r : i32
      nv_tileaa.yield %sum : i32
    }
    %u = nv_tileaa.scan %tile {axis = 1 : i32, inclusive = false, reverse, identities = [0 : i32]} : tensor<16x256xi32> -> tensor<16x256xi32> {
    ^bb0(%l: i32, %r: i32):
      %sum = nv_tileaa.addi %l, %r : i32
      nv_tileaa.yield %sum : i32
    }
    %m1 = nv_tileaa.make_memref %before : !nv_tileaa.ptr<i32> -> !nv_tileaa.memref<32x256xi32, strides = [256, 1]>
    %v1 = nv_tileaa.block_tile %m1 : !nv_tileaa.tiled_view<tile = [16, 256], source = !nv_tileaa.memref<32x256xi32, strides = [256, 1]>>
    %t1 = nv_tileaa.tiled_store weak %s, %v1[%b#0, %zero] : tensor<16x256xi32>, i32, i32 of !nv_tileaa.tiled_view<tile = [16, 256], source = !nv_tileaa.memref<32x256xi32, strides = [256, 1]>>
    %m2 = nv_tileaa.make_memref %behind : !nv_tileaa.ptr<i32> -> !nv_tileaa.memref<32x256xi32, strides = [256, 1]>
    %v2 = nv_tileaa.block_tile %m2 : !nv_tileaa.tiled_view<tile = [16, 256], source = !nv_tileaa.memref<32x256xi32, strides = [256, 1]>>
    %t2 = nv_tileaa.tiled_store weak %u, %v2[%b#0, %zero] : tensor<16x256xi32>, i32, i32 of !nv_tileaa.tiled_view<tile = [16, 256], source = !nv_tileaa.memref<32x256xi32, strides = [256, 1]>>
    nv_tileaa.return
  }
  nv_tileaa.func @columns(%x: !nv_tileaa.ptr<f32>, %out: !nv_tileaa.ptr<f32>) attributes {kernel_spec = #nv_tileaa.kernel_spec<>} {
    %zero = arith.constant 0 : i32
    %m = nv_tileaa.make_memref %x : !nv_tileaa.ptr<f32> -> !nv_tileaa.memref<2048x2xf32, strides = [2, 1]>
    %v = nv_tileaa.block_tile %m : !nv_tileaa.tiled_view<tile = [2048, 2], source = !nv_tileaa.memref<2048x2xf32, strides = [2, 1]>>
    %tile, %t0 = nv_tileaa.tiled_load weak %v[%zero, %zero] : i32, i32 of !nv_tileaa.tiled_view<tile = [2048, 2], source = !nv_tileaa.memref<2048x2xf32, strides = [2, 1]>> -> tensor<2048x2xf32>
    %s = nv_tileaa.scan %tile {axis = 0 : i32, inclusive = false, identities = [0.0 : f32]} : tensor<2048x2xf32> -> tensor<2048x2xf32> {
    ^bb0(%l: f32, %r: f32):
      %sum = nv_tileaa.addf %l, %r : f32
      nv_tileaa.yield %sum : f32
    }
    %m1 = nv_tileaa.make_memref %out : !nv_tileaa.ptr<f32> -> !nv_tileaa.memref<2048x2xf32, strides = [2, 1]>
    %v1 = nv_tileaa.block_tile %m1 : !nv_tileaa.tiled_view<tile = [2048, 2], source = !nv_tileaa.memref<2048x2xf32, strides = [2, 1]>>
    %t1 = nv_tileaa.tiled_store weak %s, %v1[%zero, %zero] : tensor<2048x2xf32>, i32, i32 of !nv_tileaa.tiled_view<tile = [2048, 2], source = !nv_tileaa.memref<2048x2xf32, strides = [2, 1]>>
    nv_tileaa.return
  }
  nv_tileaa.func @longest(%x: !nv_tileaa.ptr<f16>, %out: !nv_tileaa.ptr<f16>) attributes {kernel_spec = #nv_tileaa.kernel_spec<num_warps = 2>} {
    %places = nv_tileaa.make_range : tensor<512xi32>
    %xs = nv_tileaa.splat %x : !nv_tileaa.ptr<f16> -> tensor<512x!nv_tileaa.ptr<f16>>
    %from = nv_tileaa.addptr %xs, %places : tensor<512x!nv_tileaa.ptr<f16>>, tensor<512xi32>
    %tile, %t0 = nv_tileaa.load weak %from : tensor<512x!nv_tileaa.ptr<f16>> -> tensor<512xf16>
    %s = nv_tileaa.scan %tile {axis = 0 : i32, inclusive = false, identities = [0xFC00 : f16]} : tensor<512xf16> -> tensor<512xf16> {
    ^bb0(%l: f16, %r: f16):
      %most = nv_tileaa.maxf %l, %r : f16
      nv_tileaa.yield %most : f16
    }
    %outs = nv_tileaa.splat %out : !nv_tileaa.ptr<f16> -> tensor<512x!nv_tileaa.ptr<f16>>
    %to = nv_tileaa.addptr %outs, %places : tensor<512x!nv_tileaa.ptr<f16>>, tensor<512xi32>
    %t1 = nv_tileaa.store weak %to, %s : tensor<512x!nv_tileaa.ptr<f16>>, tensor<512xf16>
    nv_tileaa.return
  }
  nv_tileaa.func @occurring(%x: !nv_tileaa.ptr<i32>, %out: !nv_tileaa.ptr<i32>) attributes {kernel_spec = #nv_tileaa.kernel_spec<>} {
    %b:3 = nv_tileaa.get_program_id : i32, i32, i32
    %zero = arith.constant 0 : i32
    %m = nv_tileaa.make_memref %x : !nv_tileaa.ptr<i32> -> !nv_tileaa.memref<32x64xi32, strides = [64, 1]>
    %v = nv_tileaa.block_tile %m : !nv_tileaa.tiled_view<tile = [16, 64], source = !nv_tileaa.memref<32x64xi32, strides = [64, 1]>>
    %tile, %t0 = nv_tileaa.tiled_load weak %v[%b#0, %zero] : i32, i32 of !nv_tileaa.tiled_view<tile = [16, 64], source = !nv_tileaa.memref<32x64xi32, strides = [64, 1]>> -> tensor<16x64xi32>
    %h = nv_tileaa.histogram %tile : tensor<16x64xi32> -> tensor<64xi32>
    %m1 = nv_tileaa.make_memref %out : !nv_tileaa.ptr<i32> -> !nv_tileaa.memref<128xi32, strides = [1]>
    %v1 = nv_tileaa.block_tile %m1 : !nv_tileaa.tiled_view<tile = [64], source = !nv_tileaa.memref<128xi32, strides = [1]>>
    %t1 = nv_tileaa.tiled_store weak %h, %v1[%b#0] : tensor<64xi32>, i32 of !nv_tileaa.tiled_view<tile = [64], source = !nv_tileaa.memref<128xi32, strides = [1]>>
    nv_tileaa.return
  }
}
