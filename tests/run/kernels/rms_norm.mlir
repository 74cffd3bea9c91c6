// RMS norm of f16 rows in tiles with a ragged edge: two blocks share nine rows.
// RUN grid=2
// ARG x = random:9x100xf16:1
// ARG w = random:100xf16:2
// ARG y = zeros:9x100xf16
// EXPECT y near f32(x) * root_mean_square(f32(x), 1e-5) * f32(w)
!x = !cuda_tile.tensor_view<9x100xf16, strides=[100,1]>
!xv = !cuda_tile.partition_view<tile=(1x32), padding_value = zero, tensor_view<9x100xf16, strides=[100,1]>>
!w = !cuda_tile.tensor_view<100xf16, strides=[1]>
!wv = !cuda_tile.partition_view<tile=(32), padding_value = zero, tensor_view<100xf16, strides=[1]>>
cuda_tile.module @kernels {
  entry @rms_norm(%x: tile<ptr<f16>>, %w: tile<ptr<f16>>, %y: tile<ptr<f16>>) {
    %i, %j, %z = get_tile_block_id : tile<i32>
    %zero = constant <i32: 0> : tile<i32>
    %one = constant <i32: 1> : tile<i32>
    %rows = constant <i32: 9> : tile<i32>
    %blocks, %by, %bz = get_num_tile_blocks : tile<i32>
    %xt = make_tensor_view %x, shape = [9, 100], strides = [100, 1] : !x
    %xv = make_partition_view %xt : !xv
    %wt = make_tensor_view %w, shape = [100], strides = [1] : !w
    %wv = make_partition_view %wt : !wv
    %yt = make_tensor_view %y, shape = [9, 100], strides = [100, 1] : !x
    %yv = make_partition_view %yt : !xv
    %all, %tiles = get_index_space_shape %xv : !xv -> tile<i32>
    %none = constant <f32: 0.0> : tile<1x32xf32>
    %count = constant <f32: 100.0> : tile<1xf32>
    %eps = constant <f32: 1.0e-5> : tile<1xf32>
    for %row in (%i to %rows, step %blocks) : tile<i32> {
      %squares = for %k in (%zero to %tiles, step %one) : tile<i32> iter_values(%sum = %none) -> (tile<1x32xf32>) {
        %half, %t0 = load_view_tko weak %xv[%row, %k] : !xv, tile<i32> -> tile<1x32xf16>, token
        %part = ftof %half : tile<1x32xf16> -> tile<1x32xf32>
        %next = fma %part, %part, %sum : tile<1x32xf32>
        continue %next : tile<1x32xf32>
      }
      %total = reduce %squares dim=1 identities=[0.0 : f32] : tile<1x32xf32> -> tile<1xf32> (%u: tile<f32>, %v: tile<f32>) {
        %r = addf %u, %v : tile<f32>
        yield %r : tile<f32>
      }
      %mean = divf %total, %count : tile<1xf32>
      %safe = addf %mean, %eps : tile<1xf32>
      %inverse = rsqrt %safe : tile<1xf32>
      %r1 = reshape %inverse : tile<1xf32> -> tile<1x1xf32>
      %inverses = broadcast %r1 : tile<1x1xf32> -> tile<1x32xf32>
      for %k in (%zero to %tiles, step %one) : tile<i32> {
        %half, %t0 = load_view_tko weak %xv[%row, %k] : !xv, tile<i32> -> tile<1x32xf16>, token
        %weight, %t1 = load_view_tko weak %wv[%k] : !wv, tile<i32> -> tile<32xf16>, token
        %part = ftof %half : tile<1x32xf16> -> tile<1x32xf32>
        %wide = ftof %weight : tile<32xf16> -> tile<32xf32>
        %weights = reshape %wide : tile<32xf32> -> tile<1x32xf32>
        %normal = mulf %part, %inverses : tile<1x32xf32>
        %scaled = mulf %normal, %weights : tile<1x32xf32>
        %out = ftof %scaled : tile<1x32xf32> -> tile<1x32xf16>
        %t2 = store_view_tko weak %out, %yv[%row, %k] : tile<1x32xf16>, !xv, tile<i32> -> token
        continue
      }
      continue
    }
    return
  }
}
