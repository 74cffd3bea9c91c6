// out = softmax of the rows of x, 128 f32 each: one row a block.
!rows = !cuda_tile.tensor_view<?x128xf32, strides=[128,1]>
!row = !cuda_tile.partition_view<tile=(1x128), tensor_view<?x128xf32, strides=[128,1]>>
cuda_tile.module @kernels {
  entry @softmax(%x: tile<ptr<f32>>, %out: tile<ptr<f32>>, %n: tile<i32>) {
    %block, %by, %bz = get_tile_block_id : tile<i32>
    %zero = constant <i32: 0> : tile<i32>
    %xs = make_tensor_view %x, shape = [%n, 128], strides = [128, 1] : tile<i32> -> !rows
    %outs = make_tensor_view %out, shape = [%n, 128], strides = [128, 1] : tile<i32> -> !rows
    %xv = make_partition_view %xs : !row
    %outv = make_partition_view %outs : !row

    %row, %loaded = load_view_tko weak %xv[%block, %zero] : !row, tile<i32> -> tile<1x128xf32>, token
    %max = reduce %row dim=1 identities=[0xFF800000 : f32] : tile<1x128xf32> -> tile<1xf32> (%a: tile<f32>, %b: tile<f32>) {
      %larger = maxf %a, %b : tile<f32>
      yield %larger : tile<f32>
    }
    %max1 = reshape %max : tile<1xf32> -> tile<1x1xf32>
    %maxes = broadcast %max1 : tile<1x1xf32> -> tile<1x128xf32>
    %shifted = subf %row, %maxes : tile<1x128xf32>
    %weights = exp %shifted : tile<1x128xf32>
    %sum = reduce %weights dim=1 identities=[0.0 : f32] : tile<1x128xf32> -> tile<1xf32> (%a: tile<f32>, %b: tile<f32>) {
      %added = addf %a, %b : tile<f32>
      yield %added : tile<f32>
    }
    %sum1 = reshape %sum : tile<1xf32> -> tile<1x1xf32>
    %denominators = broadcast %sum1 : tile<1x1xf32> -> tile<1x128xf32>
    %result = divf %weights, %denominators : tile<1x128xf32>
    %stored = store_view_tko weak %result, %outv[%block, %zero] : tile<1x128xf32>, !row, tile<i32> -> token
    return
  }
}

// RUN grid=8
// ARG x = random:8x128xf32:1
// ARG out = zeros:8x128xf32
// ARG n = 8
// EXPECT out near softmax(x)
