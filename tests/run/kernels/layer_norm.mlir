// Layer norm of rows: mean and variance in two passes, then scale and shift.
// RUN grid=8
// ARG x = random:8x64xf32:1
// ARG w = random:64xf32:2
// ARG b = random:64xf32:3
// ARG y = zeros:8x64xf32
// EXPECT y near layer_norm(x, w, b, 1e-5)
!x = !cuda_tile.tensor_view<8x64xf32, strides=[64,1]>
!xv = !cuda_tile.partition_view<tile=(1x64), tensor_view<8x64xf32, strides=[64,1]>>
!w = !cuda_tile.tensor_view<64xf32, strides=[1]>
!wv = !cuda_tile.partition_view<tile=(64), tensor_view<64xf32, strides=[1]>>
cuda_tile.module @kernels {
  entry @layer_norm(%x: tile<ptr<f32>>, %w: tile<ptr<f32>>, %b: tile<ptr<f32>>, %y: tile<ptr<f32>>) {
    %i, %j, %z = get_tile_block_id : tile<i32>
    %zero = constant <i32: 0> : tile<i32>
    %xt = make_tensor_view %x, shape = [8, 64], strides = [64, 1] : !x
    %xv = make_partition_view %xt : !xv
    %wt = make_tensor_view %w, shape = [64], strides = [1] : !w
    %wv = make_partition_view %wt : !wv
    %bt = make_tensor_view %b, shape = [64], strides = [1] : !w
    %bv = make_partition_view %bt : !wv
    %yt = make_tensor_view %y, shape = [8, 64], strides = [64, 1] : !x
    %yv = make_partition_view %yt : !xv
    %row, %t0 = load_view_tko weak %xv[%i, %zero] : !xv, tile<i32> -> tile<1x64xf32>, token
    %scale, %t1 = load_view_tko weak %wv[%zero] : !wv, tile<i32> -> tile<64xf32>, token
    %shift, %t2 = load_view_tko weak %bv[%zero] : !wv, tile<i32> -> tile<64xf32>, token
    %count = constant <f32: 64.0> : tile<1xf32>
    %eps = constant <f32: 1.0e-5> : tile<1xf32>
    %sum = reduce %row dim=1 identities=[0.0 : f32] : tile<1x64xf32> -> tile<1xf32> (%u: tile<f32>, %v: tile<f32>) {
      %r = addf %u, %v : tile<f32>
      yield %r : tile<f32>
    }
    %mean = divf %sum, %count : tile<1xf32>
    %meansr = reshape %mean : tile<1xf32> -> tile<1x1xf32>
    %means = broadcast %meansr : tile<1x1xf32> -> tile<1x64xf32>
    %centred = subf %row, %means : tile<1x64xf32>
    %squares = mulf %centred, %centred : tile<1x64xf32>
    %squared = reduce %squares dim=1 identities=[0.0 : f32] : tile<1x64xf32> -> tile<1xf32> (%u: tile<f32>, %v: tile<f32>) {
      %r = addf %u, %v : tile<f32>
      yield %r : tile<f32>
    }
    %variance = divf %squared, %count : tile<1xf32>
    %safe = addf %variance, %eps : tile<1xf32>
    %inverse = rsqrt %safe : tile<1xf32>
    %inversesr = reshape %inverse : tile<1xf32> -> tile<1x1xf32>
    %inverses = broadcast %inversesr : tile<1x1xf32> -> tile<1x64xf32>
    %normal = mulf %centred, %inverses : tile<1x64xf32>
    %scales = reshape %scale : tile<64xf32> -> tile<1x64xf32>
    %shifts = reshape %shift : tile<64xf32> -> tile<1x64xf32>
    %out = fma %normal, %scales, %shifts : tile<1x64xf32>
    %t3 = store_view_tko weak %out, %yv[%i, %zero] : tile<1x64xf32>, !xv, tile<i32> -> token
    return
  }
}
