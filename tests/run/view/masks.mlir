// Loads and stores of tiles with masks, in the words of NVIDIA's compiler.
// RUN @padded grid=3x2
// ARG x = random:40x50xf32:1
// ARG mask : i8 = np.random.default_rng(2).integers(0, 2, (16, 32))
// ARG out = ones:40x50xf32
// LET chosen = np.tile(mask, (3, 2))[:40, :50] != 0
// EXPECT out = np.where(chosen, x, -np.inf)
// RUN @stored grid=3x2
// ARG x = random:40x50xf32:3
// ARG mask : i8 = np.random.default_rng(4).integers(0, 2, (16, 32))
// ARG out = ones:40x50xf32
// EXPECT out = np.where(np.tile(mask, (3, 2))[:40, :50] != 0, x, 1)
// RUN @mirrored grid=4
// ARG x = random:64x16xi32:5
// ARG n = 50
// ARG stride = 16
// ARG out = zeros:64x16xi32
// LET chosen = (np.arange(64)[:, None] < 50) & (np.arange(16)[None] % 3 == 0)
// EXPECT out = np.where(chosen, x, 0)
// RUN @rows
// ARG x = random:64x32xf16:6
// ARG index : i32 = [3, 60, 7, 99, 0, 63, 1, 2]
// ARG out = zeros:8x32xf16
// EXPECT out = np.where((np.arange(32) < 20) & (np.array([1, 1, 1, 0, 1, 1, 1, 1])[:, None] != 0), x[np.minimum([3, 60, 7, 99, 0, 63, 1, 2], 63)], 0)
// RUN @in_order grid=2
// ARG x = small:64xi32:7
// ARG out = zeros:64xi32
// EXPECT out = np.where(np.arange(64) % 2 == 0, x + 5, x)
cuda_tile.module @kernels {
  // A masked-off element is the padding of the view.
  entry @padded(%x: tile<ptr<f32>>, %mask: tile<ptr<i8>>, %out: tile<ptr<f32>>) {
    %i, %j, %k = get_tile_block_id : tile<i32>
    %zero = constant <i32: 0> : tile<i32>
    %zeros = constant <i8: 0> : tile<16x32xi8>
    %xs = make_tensor_view %x, shape = [40, 50], strides = [50, 1] : tensor_view<40x50xf32, strides=[50,1]>
    %ms = make_tensor_view %mask, shape = [16, 32], strides = [32, 1] : tensor_view<16x32xi8, strides=[32,1]>
    %os = make_tensor_view %out, shape = [40, 50], strides = [50, 1] : tensor_view<40x50xf32, strides=[50,1]>
    %xv = make_partition_view %xs : partition_view<tile=(16x32), padding_value = neg_inf, tensor_view<40x50xf32, strides=[50,1]>>
    %mv = make_partition_view %ms : partition_view<tile=(16x32), tensor_view<16x32xi8, strides=[32,1]>>
    %ov = make_partition_view %os : partition_view<tile=(16x32), tensor_view<40x50xf32, strides=[50,1]>>
    %m, %t0 = load_view_tko weak %mv[%zero, %zero] : partition_view<tile=(16x32), tensor_view<16x32xi8, strides=[32,1]>> -> tile<16x32xi8>, token
    %c = cmpi not_equal %m, %zeros, unsigned : tile<16x32xi8> -> tile<16x32xi1>
    %a, %t1 = cuda_tile.load_view_tko weak %xv[%i, %j], %c token=%t0 : !cuda_tile.partition_view<tile=(16x32), padding_value = neg_inf, tensor_view<40x50xf32, strides=[50,1]>> -> !cuda_tile.tile<16x32xf32>, !cuda_tile.token
    %t2 = store_view_tko weak %a, %ov[%i, %j] : tile<16x32xf32>, partition_view<tile=(16x32), tensor_view<40x50xf32, strides=[50,1]>>, tile<i32> -> token
    return
  }
  // A masked-off element keeps what memory has.
  entry @stored(%x: tile<ptr<f32>>, %mask: tile<ptr<i8>>, %out: tile<ptr<f32>>) {
    %i, %j, %k = get_tile_block_id : tile<i32>
    %zero = constant <i32: 0> : tile<i32>
    %zeros = constant <i8: 0> : tile<16x32xi8>
    %xs = make_tensor_view %x, shape = [40, 50], strides = [50, 1] : tensor_view<40x50xf32, strides=[50,1]>
    %ms = make_tensor_view %mask, shape = [16, 32], strides = [32, 1] : tensor_view<16x32xi8, strides=[32,1]>
    %os = make_tensor_view %out, shape = [40, 50], strides = [50, 1] : tensor_view<40x50xf32, strides=[50,1]>
    %xv = make_partition_view %xs : partition_view<tile=(16x32), tensor_view<40x50xf32, strides=[50,1]>>
    %mv = make_partition_view %ms : partition_view<tile=(16x32), tensor_view<16x32xi8, strides=[32,1]>>
    %ov = make_partition_view %os : partition_view<tile=(16x32), tensor_view<40x50xf32, strides=[50,1]>>
    %m, %t0 = load_view_tko weak %mv[%zero, %zero] : partition_view<tile=(16x32), tensor_view<16x32xi8, strides=[32,1]>> -> tile<16x32xi8>, token
    %c = cmpi not_equal %m, %zeros, unsigned : tile<16x32xi8> -> tile<16x32xi1>
    %a, %t1 = load_view_tko weak %xv[%i, %j] : partition_view<tile=(16x32), tensor_view<40x50xf32, strides=[50,1]>> -> tile<16x32xf32>, token
    %t2 = cuda_tile.store_view_tko release gpu %ov[%i, %j], %a, %c token=%t1 : !cuda_tile.partition_view<tile=(16x32), tensor_view<40x50xf32, strides=[50,1]>>, !cuda_tile.tile<16x32xf32> -> !cuda_tile.token
    return
  }
  // Dynamic extents and strides, dimensions in another order.
  entry @mirrored(%x: tile<ptr<i32>>, %n: tile<i32>, %stride: tile<i32>, %out: tile<ptr<i32>>) {
    %i, %j, %k = get_tile_block_id : tile<i32>
    %zero = constant <i32: 0> : tile<i32>
    %three = constant <i32: 3> : tile<16xi32>
    %zeros = constant <i32: 0> : tile<16xi32>
    %column = iota : tile<16xi32>
    %rest = remi %column, %three unsigned : tile<16xi32>
    %third = cmpi equal %rest, %zeros, unsigned : tile<16xi32> -> tile<16xi1>
    %row = reshape %third : tile<16xi1> -> tile<16x1xi1>
    %mask = broadcast %row : tile<16x1xi1> -> tile<16x16xi1>
    %xs = make_tensor_view %x, shape = [%n, 16], strides = [%stride, 1] : tile<i32> -> tensor_view<?x16xi32, strides=[?,1]>
    %os = make_tensor_view %out, shape = [%n, 16], strides = [%stride, 1] : tile<i32> -> tensor_view<?x16xi32, strides=[?,1]>
    %xv = make_partition_view %xs : partition_view<tile=(16x16), padding_value = zero, tensor_view<?x16xi32, strides=[?,1]>, dim_map=[1, 0]>
    %ov = make_partition_view %os : partition_view<tile=(16x16), tensor_view<?x16xi32, strides=[?,1]>, dim_map=[1, 0]>
    %a, %t = load_view_tko weak %xv[%zero, %i], %mask : partition_view<tile=(16x16), padding_value = zero, tensor_view<?x16xi32, strides=[?,1]>, dim_map=[1, 0]> -> tile<16x16xi32>, token
    %t1 = store_view_tko weak %a, %ov[%zero, %i], %mask : tile<16x16xi32>, partition_view<tile=(16x16), tensor_view<?x16xi32, strides=[?,1]>, dim_map=[1, 0]> -> token
    return
  }
  // An index for each row, one of them masked off and out of bounds.
  entry @rows(%x: tile<ptr<f16>>, %index: tile<ptr<i32>>, %out: tile<ptr<f16>>) {
    %zero = constant <i32: 0> : tile<i32>
    %is = make_tensor_view %index, shape = [8], strides = [1] : tensor_view<8xi32, strides=[1]>
    %iv = make_partition_view %is : partition_view<tile=(8), tensor_view<8xi32, strides=[1]>>
    %indices, %t0 = load_view_tko weak %iv[%zero] : partition_view<tile=(8), tensor_view<8xi32, strides=[1]>> -> tile<8xi32>, token
    %columns = iota : tile<32xi32>
    %limit = constant <i32: 20> : tile<32xi32>
    %below = cmpi less_than %columns, %limit, unsigned : tile<32xi32> -> tile<32xi1>
    %line = reshape %below : tile<32xi1> -> tile<1x32xi1>
    %wide = broadcast %line : tile<1x32xi1> -> tile<8x32xi1>
    %some = constant <i1: [1, 1, 1, 0, 1, 1, 1, 1]> : tile<8xi1>
    %column = reshape %some : tile<8xi1> -> tile<8x1xi1>
    %high = broadcast %column : tile<8x1xi1> -> tile<8x32xi1>
    %mask = andi %wide, %high : tile<8x32xi1>
    %xs = make_tensor_view %x, shape = [64, 32], strides = [32, 1] : tensor_view<64x32xf16, strides=[32,1]>
    %os = make_tensor_view %out, shape = [8, 32], strides = [32, 1] : tensor_view<8x32xf16, strides=[32,1]>
    %xv = make_gather_scatter_view %xs : gather_scatter_view<tile=(8x32), padding_value = zero, tensor_view<64x32xf16, strides=[32,1]>, sparse_dim=0>
    %ov = make_partition_view %os : partition_view<tile=(8x32), tensor_view<8x32xf16, strides=[32,1]>>
    %a, %t1 = load_view_tko weak %xv[%indices, %zero], %mask : gather_scatter_view<tile=(8x32), padding_value = zero, tensor_view<64x32xf16, strides=[32,1]>, sparse_dim=0> -> tile<8x32xf16>, token
    %t2 = store_view_tko weak %a, %ov[%zero, %zero] : tile<8x32xf16>, partition_view<tile=(8x32), tensor_view<8x32xf16, strides=[32,1]>> -> token
    return
  }
  // Tokens order masked accesses, in a loop.
  entry @in_order(%x: tile<ptr<i32>>, %out: tile<ptr<i32>>) {
    %i, %j, %k = get_tile_block_id : tile<i32>
    %zero = constant <i32: 0> : tile<i32>
    %five = constant <i32: 5> : tile<i32>
    %one = constant <i32: 1> : tile<i32>
    %ones = constant <i32: 1> : tile<32xi32>
    %zeros = constant <i32: 0> : tile<32xi32>
    %number = iota : tile<32xi32>
    %odd = andi %number, %ones : tile<32xi32>
    %even = cmpi equal %odd, %zeros, unsigned : tile<32xi32> -> tile<32xi1>
    %xs = make_tensor_view %x, shape = [64], strides = [1] : tensor_view<64xi32, strides=[1]>
    %os = make_tensor_view %out, shape = [64], strides = [1] : tensor_view<64xi32, strides=[1]>
    %xv = make_partition_view %xs : partition_view<tile=(32), tensor_view<64xi32, strides=[1]>>
    %ov = make_partition_view %os : partition_view<tile=(32), tensor_view<64xi32, strides=[1]>>
    %a, %t0 = load_view_tko weak %xv[%i] : partition_view<tile=(32), tensor_view<64xi32, strides=[1]>> -> tile<32xi32>, token
    %t1 = store_view_tko weak %a, %ov[%i] token=%t0 : tile<32xi32>, partition_view<tile=(32), tensor_view<64xi32, strides=[1]>> -> token
    %t2 = for %n in (%zero to %five, step %one) : tile<i32> iter_values(%t = %t1) -> (token) {
      %b, %t3 = load_view_tko weak %ov[%i], %even token=%t : partition_view<tile=(32), tensor_view<64xi32, strides=[1]>> -> tile<32xi32>, token
      %c = addi %b, %ones : tile<32xi32>
      %t4 = store_view_tko weak %c, %ov[%i], %even token=%t3 : tile<32xi32>, partition_view<tile=(32), tensor_view<64xi32, strides=[1]>> -> token
      continue %t4 : token
    }
    return
  }
}
