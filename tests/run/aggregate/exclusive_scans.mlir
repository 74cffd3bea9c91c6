// Exclusive scans, in the words of NVIDIA's compiler; identities are left out where the body says them.
// RUN @rows grid=2
// ARG x = small:32x256xi32:1
// ARG before = zeros:32x256xi32
// ARG after = zeros:32x256xi32
// EXPECT before = np.cumsum(x, axis=1) - x
// EXPECT after = np.flip(np.cumsum(np.flip(x, 1), axis=1), 1) - x
// RUN @columns
// ARG x = random:64x8xf32:2
// ARG out = zeros:64x8xf32
// EXPECT out = np.concatenate([np.full((1, 8), -np.inf), np.maximum.accumulate(x, axis=0)[:-1]])
// RUN @pairs
// ARG x = small:128xi32:3
// ARG sums = zeros:128xi32
// ARG maxima = zeros:128xi32
// EXPECT sums = np.cumsum(x) - x
// EXPECT maxima = np.concatenate([[-9], np.maximum.accumulate(x)[:-1]])
cuda_tile.module @kernels {
  entry @rows(%x: tile<ptr<i32>>, %before: tile<ptr<i32>>, %after: tile<ptr<i32>>) {
    %block, %by, %bz = get_tile_block_id : tile<i32>
    %zero = constant <i32: 0> : tile<i32>
    %xs = make_tensor_view %x, shape = [32, 256], strides = [256, 1] : tensor_view<32x256xi32, strides=[256,1]>
    %bs = make_tensor_view %before, shape = [32, 256], strides = [256, 1] : tensor_view<32x256xi32, strides=[256,1]>
    %as = make_tensor_view %after, shape = [32, 256], strides = [256, 1] : tensor_view<32x256xi32, strides=[256,1]>
    %xv = make_partition_view %xs : partition_view<tile=(16x256), tensor_view<32x256xi32, strides=[256,1]>>
    %bv = make_partition_view %bs : partition_view<tile=(16x256), tensor_view<32x256xi32, strides=[256,1]>>
    %av = make_partition_view %as : partition_view<tile=(16x256), tensor_view<32x256xi32, strides=[256,1]>>
    %t, %k = load_view_tko weak %xv[%block, %zero] : partition_view<tile=(16x256), tensor_view<32x256xi32, strides=[256,1]>> -> tile<16x256xi32>, token
    %p = cuda_tile.scan %t {axis = 1 : i32, inclusive = false} : !cuda_tile.tile<16x256xi32> -> !cuda_tile.tile<16x256xi32> {
    ^bb0(%acc: !cuda_tile.tile<i32>, %elem: !cuda_tile.tile<i32>):
      %sum = cuda_tile.addi %acc, %elem : !cuda_tile.tile<i32>
      cuda_tile.yield %sum : !cuda_tile.tile<i32>
    }
    %s = scan %t dim=1 reverse=true inclusive=false identities=[0 : i32] : tile<16x256xi32> -> tile<16x256xi32>
    (%acc: tile<i32>, %elem: tile<i32>) {
      %sum = addi %acc, %elem : tile<i32>
      yield %sum : tile<i32>
    }
    %k1 = store_view_tko weak %p, %bv[%block, %zero] : tile<16x256xi32>, partition_view<tile=(16x256), tensor_view<32x256xi32, strides=[256,1]>> -> token
    %k2 = store_view_tko weak %s, %av[%block, %zero] : tile<16x256xi32>, partition_view<tile=(16x256), tensor_view<32x256xi32, strides=[256,1]>> -> token
    return
  }
  entry @columns(%x: tile<ptr<f32>>, %out: tile<ptr<f32>>) {
    %zero = constant <i32: 0> : tile<i32>
    %xs = make_tensor_view %x, shape = [64, 8], strides = [8, 1] : tensor_view<64x8xf32, strides=[8,1]>
    %os = make_tensor_view %out, shape = [64, 8], strides = [8, 1] : tensor_view<64x8xf32, strides=[8,1]>
    %xv = make_partition_view %xs : partition_view<tile=(64x8), tensor_view<64x8xf32, strides=[8,1]>>
    %ov = make_partition_view %os : partition_view<tile=(64x8), tensor_view<64x8xf32, strides=[8,1]>>
    %t, %k = load_view_tko weak %xv[%zero, %zero] : partition_view<tile=(64x8), tensor_view<64x8xf32, strides=[8,1]>> -> tile<64x8xf32>, token
    %p = scan %t {axis = 0 : i32, inclusive = false} : tensor<64x8xf32> -> tensor<64x8xf32> {
    ^bb0(%acc: !cuda_tile.tile<f32>, %elem: !cuda_tile.tile<f32>):
      %greatest = maxf %acc, %elem : tile<f32>
      yield %greatest : tile<f32>
    }
    %k1 = store_view_tko weak %p, %ov[%zero, %zero] : tile<64x8xf32>, partition_view<tile=(64x8), tensor_view<64x8xf32, strides=[8,1]>> -> token
    return
  }
  entry @pairs(%x: tile<ptr<i32>>, %sums: tile<ptr<i32>>, %maxima: tile<ptr<i32>>) {
    %zero = constant <i32: 0> : tile<i32>
    %xs = make_tensor_view %x, shape = [128], strides = [1] : tensor_view<128xi32, strides=[1]>
    %ss = make_tensor_view %sums, shape = [128], strides = [1] : tensor_view<128xi32, strides=[1]>
    %ms = make_tensor_view %maxima, shape = [128], strides = [1] : tensor_view<128xi32, strides=[1]>
    %xv = make_partition_view %xs : partition_view<tile=(128), tensor_view<128xi32, strides=[1]>>
    %sv = make_partition_view %ss : partition_view<tile=(128), tensor_view<128xi32, strides=[1]>>
    %mv = make_partition_view %ms : partition_view<tile=(128), tensor_view<128xi32, strides=[1]>>
    %t, %k = load_view_tko weak %xv[%zero] : partition_view<tile=(128), tensor_view<128xi32, strides=[1]>> -> tile<128xi32>, token
    // The identities of a body of several operations must be written.
    %p, %q = scan %t, %t {axis = 0 : i32, inclusive = false, identities = [0 : i32, -9 : i32]} : tile<128xi32>, tile<128xi32> -> tile<128xi32>, tile<128xi32>
    (%a: tile<i32>, %b: tile<i32>, %c: tile<i32>, %d: tile<i32>) {
      %sum = addi %a, %b : tile<i32>
      %greatest = maxi %c, %d signed : tile<i32>
      yield %sum, %greatest : tile<i32>, tile<i32>
    }
    %k1 = store_view_tko weak %p, %sv[%zero] : tile<128xi32>, partition_view<tile=(128), tensor_view<128xi32, strides=[1]>> -> token
    %k2 = store_view_tko weak %q, %mv[%zero] : tile<128xi32>, partition_view<tile=(128), tensor_view<128xi32, strides=[1]>> -> token
    return
  }
}
