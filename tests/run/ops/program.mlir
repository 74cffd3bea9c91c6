// Globals, the size of the grid, and queries of views.
// RUN @globals
// ARG out = zeros:2xf32
// ARG count = zeros:1xi32
// EXPECT out = np.array([0.5, 1.5])
// EXPECT count = 7
// RUN @grid grid=2x3x4
// ARG out = zeros:24x4xi32
// EXPECT out = np.stack([np.arange(24), np.full(24, 2), np.full(24, 3), np.full(24, 4)], axis=1)
// RUN @extents
// ARG x = zeros:1xf32
// ARG n = 100
// ARG out = zeros:4xi32
// EXPECT out = np.array([100, 24, 13, 2])
// RUN @promises
// ARG x = iota:8xi32
// ARG n = 48
// ARG out = zeros:8xi32
// EXPECT out = x + 48
!pair = !cuda_tile.tensor_view<2xf32, strides=[1]>
!pair_tile = !cuda_tile.partition_view<tile=(2), tensor_view<2xf32, strides=[1]>>
!rows = !cuda_tile.tensor_view<24x4xi32, strides=[4,1]>
!rows_tile = !cuda_tile.partition_view<tile=(1x4), tensor_view<24x4xi32, strides=[4,1]>>
!open = !cuda_tile.tensor_view<?x24xf32, strides=[24,1]>
!open_tile = !cuda_tile.partition_view<tile=(8x16), tensor_view<?x24xf32, strides=[24,1]>>
!line = !cuda_tile.tensor_view<8xi32, strides=[1]>
!line_tile = !cuda_tile.partition_view<tile=(8), tensor_view<8xi32, strides=[1]>>
cuda_tile.module @kernels {
  global constant @table alignment = 64 <f32: [0.5, 1.5]> : tile<2xf32>
  global @counter <i32: 3> : tile<1xi32>
  entry @globals(%out: tile<ptr<f32>>, %count: tile<ptr<i32>>) {
    %zero = constant <i32: 0> : tile<i32>
    %table = get_global @table : tile<ptr<f32>>
    %tensor = make_tensor_view %table, shape = [2], strides = [1] : !pair
    %view = make_partition_view %tensor : !pair_tile
    %values, %t0 = load_view_tko weak %view[%zero] : !pair_tile, tile<i32> -> tile<2xf32>, token
    %out_tensor = make_tensor_view %out, shape = [2], strides = [1] : !pair
    %out_view = make_partition_view %out_tensor : !pair_tile
    %t1 = store_view_tko weak %values, %out_view[%zero] : tile<2xf32>, !pair_tile, tile<i32> -> token
    %counter = get_global @counter : tile<ptr<i32>>
    %four = constant <i32: 4> : tile<i32>
    %old, %t2 = atomic_rmw_tko relaxed device %counter, add, %four : tile<ptr<i32>>, tile<i32> -> tile<i32>, token
    %new, %t3 = load_ptr_tko relaxed device %counter token=%t2 : tile<ptr<i32>> -> tile<i32>, token
    %t4 = store_ptr_tko weak %count, %new token=%t3 : tile<ptr<i32>>, tile<i32> -> token
    return
  }
  entry @grid(%out: tile<ptr<i32>>) {
    %x, %y, %z = get_tile_block_id : tile<i32>
    %nx, %ny, %nz = get_num_tile_blocks : tile<i32>
    %zero = constant <i32: 0> : tile<i32>
    %a = muli %z, %ny : tile<i32>
    %b = addi %a, %y : tile<i32>
    %c = muli %b, %nx : tile<i32>
    %row = addi %c, %x : tile<i32>
    %r1 = reshape %row : tile<i32> -> tile<1xi32>
    %x1 = reshape %nx : tile<i32> -> tile<1xi32>
    %y1 = reshape %ny : tile<i32> -> tile<1xi32>
    %z1 = reshape %nz : tile<i32> -> tile<1xi32>
    %left = cat %r1, %x1 dim = 0 : tile<1xi32>, tile<1xi32> -> tile<2xi32>
    %right = cat %y1, %z1 dim = 0 : tile<1xi32>, tile<1xi32> -> tile<2xi32>
    %all = cat %left, %right dim = 0 : tile<2xi32>, tile<2xi32> -> tile<4xi32>
    %line = reshape %all : tile<4xi32> -> tile<1x4xi32>
    %tensor = make_tensor_view %out, shape = [24, 4], strides = [4, 1] : !rows
    %view = make_partition_view %tensor : !rows_tile
    %t = store_view_tko weak %line, %view[%row, %zero] : tile<1x4xi32>, !rows_tile, tile<i32> -> token
    return
  }
  entry @extents(%x: tile<ptr<f32>>, %n: tile<i32>, %out: tile<ptr<i32>>) {
    %one = constant <i32: 1> : tile<i32>
    %tensor = make_tensor_view %x, shape = [%n, 24], strides = [24, 1] : tile<i32> -> !open
    %view = make_partition_view %tensor : !open_tile
    %rows, %columns = get_tensor_shape %tensor : !open -> tile<i32>
    %down, %across = get_index_space_shape %view : !open_tile -> tile<i32>
    %p1 = offset %out, %one : tile<ptr<i32>>, tile<i32> -> tile<ptr<i32>>
    %p2 = offset %p1, %one : tile<ptr<i32>>, tile<i32> -> tile<ptr<i32>>
    %p3 = offset %p2, %one : tile<ptr<i32>>, tile<i32> -> tile<ptr<i32>>
    %t0 = store_ptr_tko weak %out, %rows : tile<ptr<i32>>, tile<i32> -> token
    %t1 = store_ptr_tko weak %p1, %columns : tile<ptr<i32>>, tile<i32> -> token
    %t2 = store_ptr_tko weak %p2, %down : tile<ptr<i32>>, tile<i32> -> token
    %t3 = store_ptr_tko weak %p3, %across : tile<ptr<i32>>, tile<i32> -> token
    return
  }
  // Assumptions that hold change nothing, nor does an assertion.
  entry @promises(%x: tile<ptr<i32>>, %n: tile<i32>, %out: tile<ptr<i32>>) {
    %zero = constant <i32: 0> : tile<i32>
    %n16 = assume div_by<16>, %n : tile<i32>
    %small = assume bounded<0, 63>, %n16 : tile<i32>
    %one_value = reshape %small : tile<i32> -> tile<1xi32>
    %spread = broadcast %one_value : tile<1xi32> -> tile<8xi32>
    %same = assume same_elements<[8]>, %spread : tile<8xi32>
    %aligned = assume div_by<16>, %x : tile<ptr<i32>>
    %tensor = make_tensor_view %aligned, shape = [8], strides = [1] : !line
    %view = make_partition_view %tensor : !line_tile
    %values, %t0 = load_view_tko weak %view[%zero] : !line_tile, tile<i32> -> tile<8xi32>, token
    %sum = addi %values, %same overflow<no_wrap> : tile<8xi32>
    %larger = cmpi greater_than_or_equal %sum, %same, signed : tile<8xi32> -> tile<8xi1>
    assert %larger, "sums do not shrink" : tile<8xi1>
    %out_tensor = make_tensor_view %out, shape = [8], strides = [1] : !line
    %out_view = make_partition_view %out_tensor : !line_tile
    %t1 = store_view_tko weak %sum, %out_view[%zero] : tile<8xi32>, !line_tile, tile<i32> -> token
    return
  }
}
