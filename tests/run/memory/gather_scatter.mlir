// Rows are gathered, reduced, and scattered back.
// RUN @in_place grid=4
// ARG x = small:64x32xf32:1
// ARG rows : i32 = np.random.default_rng(2).permutation(64).astype(np.int32)
// EXPECT x = x - x.sum(1, keepdims=True)
// RUN @aligned
// ARG x = small:2x16x64xf32:5
// ARG rows : i32 = np.array([3, 0, 9, 12, 1, 15, 6, 7])
// ARG height = 16
// ARG width = 64
// EXPECT x = np.concatenate([x[:1], np.where(np.isin(np.arange(16), rows)[None, :, None] & (np.arange(64) < 32), x[1:] - x[1:, :, :32].sum(2, keepdims=True), x[1:])])
// RUN @in_a_loop
// ARG x = small:16x32xi32:3
// ARG rows : i32 = np.random.default_rng(4).permutation(16).astype(np.int32)
// EXPECT x = np.linalg.matrix_power(np.eye(16, dtype=int) + 1, 3) @ x
!rows = !cuda_tile.gather_scatter_view<tile=(16x32), tensor_view<64x32xf32, strides=[32,1]>, sparse_dim=0>
!deep = !cuda_tile.gather_scatter_view<tile=(1x8x32), tensor_view<2x?x?xf32, strides=[?,?,1]>, sparse_dim=1>
!few = !cuda_tile.gather_scatter_view<tile=(16x32), tensor_view<16x32xi32, strides=[32,1]>, sparse_dim=0>
!index = !cuda_tile.partition_view<tile=(16), tensor_view<64xi32, strides=[1]>>
cuda_tile.module @kernels {
  entry @in_place(%x: tile<ptr<f32>>, %rows: tile<ptr<i32>>) {
    %b, %y, %z = get_tile_block_id : tile<i32>
    %zero = constant <i32: 0> : tile<i32>
    %rt = make_tensor_view %rows, shape = [64], strides = [1] : tensor_view<64xi32, strides=[1]>
    %rv = make_partition_view %rt : !index
    %which, %t0 = load_view_tko weak %rv[%b] : !index, tile<i32> -> tile<16xi32>, token
    %xt = make_tensor_view %x, shape = [64, 32], strides = [32, 1] : tensor_view<64x32xf32, strides=[32,1]>
    %xv = make_gather_scatter_view %xt : !rows
    %tile, %t1 = load_view_tko weak %xv[%which, %zero] : !rows, tile<16xi32>, tile<i32> -> tile<16x32xf32>, token
    %sums = reduce %tile dim=1 identities=[0.0 : f32] : tile<16x32xf32> -> tile<16xf32> (%a: tile<f32>, %c: tile<f32>) {
      %sum = addf %a, %c : tile<f32>
      yield %sum : tile<f32>
    }
    %column = reshape %sums : tile<16xf32> -> tile<16x1xf32>
    %all = broadcast %column : tile<16x1xf32> -> tile<16x32xf32>
    %left = subf %tile, %all : tile<16x32xf32>
    %t2 = store_view_tko weak %left, %xv[%which, %zero] token=%t1 : tile<16x32xf32>, !rows, tile<16xi32>, tile<i32> -> token
    return
  }
  // Memory that TMA could access, were it not for the gathered rows.
  entry @aligned(%x: tile<ptr<f32>>, %rows: tile<ptr<i32>>, %height: tile<i32>, %width: tile<i32>) {
    %zero = constant <i32: 0> : tile<i32>
    %one = constant <i32: 1> : tile<i32>
    %base = assume div_by<16>, %x : tile<ptr<f32>>
    %w0 = assume bounded<0, ?>, %width : tile<i32>
    %w = assume div_by<16>, %w0 : tile<i32>
    %h = assume bounded<0, ?>, %height : tile<i32>
    %area0 = muli %h, %w : tile<i32>
    %area = assume div_by<16>, %area0 : tile<i32>
    %r = reshape %rows : tile<ptr<i32>> -> tile<1xptr<i32>>
    %rb = broadcast %r : tile<1xptr<i32>> -> tile<8xptr<i32>>
    %i = iota : tile<8xi32>
    %p = offset %rb, %i : tile<8xptr<i32>>, tile<8xi32> -> tile<8xptr<i32>>
    %which, %t0 = load_ptr_tko weak %p : tile<8xptr<i32>> -> tile<8xi32>, token
    %xt = make_tensor_view %base, shape = [2, %h, %w], strides = [%area, %w, 1] : tile<i32> -> tensor_view<2x?x?xf32, strides=[?,?,1]>
    %xv = make_gather_scatter_view %xt : !deep
    %tile, %t1 = load_view_tko weak %xv[%one, %which, %zero] : !deep, tile<i32>, tile<8xi32>, tile<i32> -> tile<1x8x32xf32>, token
    %sums = reduce %tile dim=2 identities=[0.0 : f32] : tile<1x8x32xf32> -> tile<1x8xf32> (%a: tile<f32>, %c: tile<f32>) {
      %sum = addf %a, %c : tile<f32>
      yield %sum : tile<f32>
    }
    %column = reshape %sums : tile<1x8xf32> -> tile<1x8x1xf32>
    %all = broadcast %column : tile<1x8x1xf32> -> tile<1x8x32xf32>
    %left = subf %tile, %all : tile<1x8x32xf32>
    %t2 = store_view_tko weak %left, %xv[%one, %which, %zero] token=%t1 : tile<1x8x32xf32>, !deep, tile<i32>, tile<8xi32>, tile<i32> -> token
    return
  }
  // Each iteration adds the sum of all rows to every row; the next one reads the result.
  entry @in_a_loop(%x: tile<ptr<i32>>, %rows: tile<ptr<i32>>) {
    %zero = constant <i32: 0> : tile<i32>
    %one = constant <i32: 1> : tile<i32>
    %three = constant <i32: 3> : tile<i32>
    %r = reshape %rows : tile<ptr<i32>> -> tile<1xptr<i32>>
    %rb = broadcast %r : tile<1xptr<i32>> -> tile<16xptr<i32>>
    %i = iota : tile<16xi32>
    %p = offset %rb, %i : tile<16xptr<i32>>, tile<16xi32> -> tile<16xptr<i32>>
    %which, %t0 = load_ptr_tko weak %p : tile<16xptr<i32>> -> tile<16xi32>, token
    %xt = make_tensor_view %x, shape = [16, 32], strides = [32, 1] : tensor_view<16x32xi32, strides=[32,1]>
    %xv = make_gather_scatter_view %xt : !few
    %t = make_token : token
    %end = for %k in (%zero to %three, step %one) : tile<i32> iter_values(%before = %t) -> (token) {
      %tile, %t1 = load_view_tko weak %xv[%which, %zero] token=%before : !few, tile<16xi32>, tile<i32> -> tile<16x32xi32>, token
      %sums = reduce %tile dim=0 identities=[0 : i32] : tile<16x32xi32> -> tile<32xi32> (%a: tile<i32>, %c: tile<i32>) {
        %sum = addi %a, %c : tile<i32>
        yield %sum : tile<i32>
      }
      %row = reshape %sums : tile<32xi32> -> tile<1x32xi32>
      %all = broadcast %row : tile<1x32xi32> -> tile<16x32xi32>
      %more = addi %tile, %all : tile<16x32xi32>
      %t2 = store_view_tko weak %more, %xv[%which, %zero] token=%t1 : tile<16x32xi32>, !few, tile<16xi32>, tile<i32> -> token
      continue %t2 : token
    }
    return
  }
}
