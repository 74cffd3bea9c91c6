// Softmax of rows: a reduction for the largest element, one for the sum.
// RUN grid=8
// ARG x = random:8x128xf32:1
// ARG out = zeros:8x128xf32
// EXPECT out near softmax(x)
!x = !cuda_tile.tensor_view<8x128xf32, strides=[128,1]>
!v = !cuda_tile.partition_view<tile=(1x128), tensor_view<8x128xf32, strides=[128,1]>>
cuda_tile.module @kernels {
  entry @softmax(%x: tile<ptr<f32>>, %out: tile<ptr<f32>>) {
    %b, %y, %z = get_tile_block_id : tile<i32>
    %zero = constant <i32: 0> : tile<i32>
    %xt = make_tensor_view %x, shape = [8, 128], strides = [128, 1] : !x
    %ot = make_tensor_view %out, shape = [8, 128], strides = [128, 1] : !x
    %xv = make_partition_view %xt : !v
    %ov = make_partition_view %ot : !v
    %row, %t0 = load_view_tko weak %xv[%b, %zero] : !v, tile<i32> -> tile<1x128xf32>, token
    %top = reduce %row dim=1 identities=[0xFF800000 : f32] : tile<1x128xf32> -> tile<1xf32> (%u: tile<f32>, %w: tile<f32>) {
      %m = maxf %u, %w : tile<f32>
      yield %m : tile<f32>
    }
    %t = reshape %top : tile<1xf32> -> tile<1x1xf32>
    %tops = broadcast %t : tile<1x1xf32> -> tile<1x128xf32>
    %shifted = subf %row, %tops : tile<1x128xf32>
    %e = exp %shifted : tile<1x128xf32>
    %sum = reduce %e dim=1 identities=[0.0 : f32] : tile<1x128xf32> -> tile<1xf32> (%u: tile<f32>, %w: tile<f32>) {
      %s = addf %u, %w : tile<f32>
      yield %s : tile<f32>
    }
    %s1 = reshape %sum : tile<1xf32> -> tile<1x1xf32>
    %sums = broadcast %s1 : tile<1x1xf32> -> tile<1x128xf32>
    %r = divf %e, %sums : tile<1x128xf32>
    %t1 = store_view_tko weak %r, %ov[%b, %zero] : tile<1x128xf32>, !v, tile<i32> -> token
    return
  }
}
