// out = x + y for vectors of n f32: 16 elements a block.
cuda_tile.module @kernels {
  entry @add(%x: tile<ptr<f32>>, %y: tile<ptr<f32>>, %out: tile<ptr<f32>>, %n: tile<i32>) {
    %block, %by, %bz = get_tile_block_id : tile<i32>

    %xs = make_tensor_view %x, shape = [%n], strides = [1] : tile<i32> -> tensor_view<?xf32, strides=[1]>
    %ys = make_tensor_view %y, shape = [%n], strides = [1] : tile<i32> -> tensor_view<?xf32, strides=[1]>
    %outs = make_tensor_view %out, shape = [%n], strides = [1] : tile<i32> -> tensor_view<?xf32, strides=[1]>
    %xv = make_partition_view %xs : partition_view<tile=(16), tensor_view<?xf32, strides=[1]>>
    %yv = make_partition_view %ys : partition_view<tile=(16), tensor_view<?xf32, strides=[1]>>
    %outv = make_partition_view %outs : partition_view<tile=(16), tensor_view<?xf32, strides=[1]>>

    %a, %at = load_view_tko weak %xv[%block] : partition_view<tile=(16), tensor_view<?xf32, strides=[1]>>, tile<i32> -> tile<16xf32>, token
    %b, %bt = load_view_tko weak %yv[%block] : partition_view<tile=(16), tensor_view<?xf32, strides=[1]>>, tile<i32> -> tile<16xf32>, token
    %sum = addf %a, %b rounding<nearest_even> : tile<16xf32>
    %done = store_view_tko weak %sum, %outv[%block] : tile<16xf32>, partition_view<tile=(16), tensor_view<?xf32, strides=[1]>>, tile<i32> -> token
    return
  }
}

// RUN grid=4
// ARG x = random:64xf32:1
// ARG y = random:64xf32:2
// ARG out = zeros:64xf32
// ARG n = 64
// EXPECT out = x + y
