// Reductions with other bodies than a sum: largest element and its index, a branch in the body,
// a value from outside; scans in both directions.
// RUN @argmax grid=4
// ARG x = random:4x64xf32:1
// ARG value = zeros:4xf32
// ARG place = zeros:4xi32
// EXPECT value = x.max(axis=1)
// EXPECT place = x.argmax(axis=1)
// RUN @scaled_sum grid=4
// ARG x = small:4x8x16xi32:2
// ARG out = zeros:4x8xi32
// EXPECT out = x.sum(axis=2) + 15 * np.arange(4)[:, None]
// RUN @scans grid=2
// ARG x = small:2x32xi32:3
// ARG forward = zeros:2x32xi32
// ARG backward = zeros:2x32xi32
// EXPECT forward = np.cumsum(x, axis=1)
// EXPECT backward = np.maximum.accumulate(x[:, ::-1], axis=1)[:, ::-1]
!x4 = !cuda_tile.tensor_view<4x64xf32, strides=[64,1]>
!x4p = !cuda_tile.partition_view<tile=(1x64), tensor_view<4x64xf32, strides=[64,1]>>
!x3 = !cuda_tile.tensor_view<4x8x16xi32, strides=[128,16,1]>
!x3p = !cuda_tile.partition_view<tile=(1x8x16), tensor_view<4x8x16xi32, strides=[128,16,1]>>
!o3 = !cuda_tile.tensor_view<4x8xi32, strides=[8,1]>
!o3p = !cuda_tile.partition_view<tile=(1x8), tensor_view<4x8xi32, strides=[8,1]>>
!s = !cuda_tile.tensor_view<2x32xi32, strides=[32,1]>
!sp = !cuda_tile.partition_view<tile=(1x32), tensor_view<2x32xi32, strides=[32,1]>>
cuda_tile.module @kernels {
  entry @argmax(%x: tile<ptr<f32>>, %value: tile<ptr<f32>>, %place: tile<ptr<i32>>) {
    %b, %y, %z = get_tile_block_id : tile<i32>
    %zero = constant <i32: 0> : tile<i32>
    %xt = make_tensor_view %x, shape = [4, 64], strides = [64, 1] : !x4
    %xv = make_partition_view %xt : !x4p
    %row, %t0 = load_view_tko weak %xv[%b, %zero] : !x4p, tile<i32> -> tile<1x64xf32>, token
    %values = reshape %row : tile<1x64xf32> -> tile<64xf32>
    %places = iota : tile<64xi32>
    %best, %where = reduce %values, %places dim=0 identities=[0xFF800000 : f32, 0 : i32] : tile<64xf32>, tile<64xi32> -> tile<f32>, tile<i32> (%a: tile<f32>, %c: tile<f32>, %i: tile<i32>, %j: tile<i32>) {
      %larger = cmpf greater_than ordered %c, %a : tile<f32> -> tile<i1>
      %v, %w = if %larger -> (tile<f32>, tile<i32>) {
        yield %c, %j : tile<f32>, tile<i32>
      } else {
        yield %a, %i : tile<f32>, tile<i32>
      }
      yield %v, %w : tile<f32>, tile<i32>
    }
    %vp = offset %value, %b : tile<ptr<f32>>, tile<i32> -> tile<ptr<f32>>
    %pp = offset %place, %b : tile<ptr<i32>>, tile<i32> -> tile<ptr<i32>>
    %t1 = store_ptr_tko weak %vp, %best : tile<ptr<f32>>, tile<f32> -> token
    %t2 = store_ptr_tko weak %pp, %where : tile<ptr<i32>>, tile<i32> -> token
    return
  }
  // The number of the block is added each time that two elements are combined.
  entry @scaled_sum(%x: tile<ptr<i32>>, %out: tile<ptr<i32>>) {
    %b, %y, %z = get_tile_block_id : tile<i32>
    %zero = constant <i32: 0> : tile<i32>
    %xt = make_tensor_view %x, shape = [4, 8, 16], strides = [128, 16, 1] : !x3
    %xv = make_partition_view %xt : !x3p
    %tile, %t0 = load_view_tko weak %xv[%b, %zero, %zero] : !x3p, tile<i32> -> tile<1x8x16xi32>, token
    %sum = reduce %tile dim=2 identities=[0 : i32] : tile<1x8x16xi32> -> tile<1x8xi32> (%u: tile<i32>, %w: tile<i32>) {
      %q = addi %u, %w : tile<i32>
      %r = addi %q, %b : tile<i32>
      yield %r : tile<i32>
    }
    %ot = make_tensor_view %out, shape = [4, 8], strides = [8, 1] : !o3
    %ov = make_partition_view %ot : !o3p
    %t1 = store_view_tko weak %sum, %ov[%b, %zero] : tile<1x8xi32>, !o3p, tile<i32> -> token
    return
  }
  entry @scans(%x: tile<ptr<i32>>, %forward: tile<ptr<i32>>, %backward: tile<ptr<i32>>) {
    %b, %y, %z = get_tile_block_id : tile<i32>
    %zero = constant <i32: 0> : tile<i32>
    %xt = make_tensor_view %x, shape = [2, 32], strides = [32, 1] : !s
    %ft = make_tensor_view %forward, shape = [2, 32], strides = [32, 1] : !s
    %bt = make_tensor_view %backward, shape = [2, 32], strides = [32, 1] : !s
    %xv = make_partition_view %xt : !sp
    %fv = make_partition_view %ft : !sp
    %bv = make_partition_view %bt : !sp
    %tile, %t0 = load_view_tko weak %xv[%b, %zero] : !sp, tile<i32> -> tile<1x32xi32>, token
    %sums = scan %tile dim=1 reverse=false identities=[0 : i32] : tile<1x32xi32> -> tile<1x32xi32> (%u: tile<i32>, %w: tile<i32>) {
      %q = addi %u, %w : tile<i32>
      yield %q : tile<i32>
    }
    %tops = scan %tile dim=1 reverse=true identities=[-2147483648 : i32] : tile<1x32xi32> -> tile<1x32xi32> (%u: tile<i32>, %w: tile<i32>) {
      %q = maxi %u, %w signed : tile<i32>
      yield %q : tile<i32>
    }
    %t1 = store_view_tko weak %sums, %fv[%b, %zero] : tile<1x32xi32>, !sp, tile<i32> -> token
    %t2 = store_view_tko weak %tops, %bv[%b, %zero] : tile<1x32xi32>, !sp, tile<i32> -> token
    return
  }
}
