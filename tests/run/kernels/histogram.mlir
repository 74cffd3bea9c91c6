// A histogram in two steps: each block counts its part for itself by comparing with every bin, and adds its counts atomically.
// RUN grid=4
// ARG x : i32 = np.random.default_rng(1).integers(0, 16, 250)
// ARG bins = zeros:16xi32
// EXPECT bins = np.bincount(x, minlength=16)
!x = !cuda_tile.tensor_view<250xi32, strides=[1]>
!xv = !cuda_tile.partition_view<tile=(64), tensor_view<250xi32, strides=[1]>>
cuda_tile.module @kernels {
  entry @histogram(%x: tile<ptr<i32>>, %bins: tile<ptr<i32>>) {
    %i, %j, %z = get_tile_block_id : tile<i32>
    %width = constant <i32: 64> : tile<i32>
    %xt = make_tensor_view %x, shape = [250], strides = [1] : !x
    %xv = make_partition_view %xt : !xv
    %part, %t0 = load_view_tko weak %xv[%i] : !xv, tile<i32> -> tile<64xi32>, token
    %first = muli %i, %width : tile<i32>
    %fr = reshape %first : tile<i32> -> tile<1xi32>
    %fs = broadcast %fr : tile<1xi32> -> tile<64xi32>
    %lanes = iota : tile<64xi32>
    %at = addi %fs, %lanes : tile<64xi32>
    %end = constant <i32: 250> : tile<64xi32>
    %inside = cmpi less_than %at, %end, signed : tile<64xi32> -> tile<64xi1>
    %none = constant <i32: -1> : tile<64xi32>
    %values = select %inside, %part, %none : tile<64xi1>, tile<64xi32>
    %down = reshape %values : tile<64xi32> -> tile<64x1xi32>
    %rows = broadcast %down : tile<64x1xi32> -> tile<64x16xi32>
    %bin = iota : tile<16xi32>
    %across = reshape %bin : tile<16xi32> -> tile<1x16xi32>
    %columns = broadcast %across : tile<1x16xi32> -> tile<64x16xi32>
    %same = cmpi equal %rows, %columns, signed : tile<64x16xi32> -> tile<64x16xi1>
    %hits = exti %same unsigned : tile<64x16xi1> -> tile<64x16xi32>
    %counts = reduce %hits dim=0 identities=[0 : i32] : tile<64x16xi32> -> tile<16xi32> (%u: tile<i32>, %v: tile<i32>) {
      %r = addi %u, %v : tile<i32>
      yield %r : tile<i32>
    }
    %br = reshape %bins : tile<ptr<i32>> -> tile<1xptr<i32>>
    %bs = broadcast %br : tile<1xptr<i32>> -> tile<16xptr<i32>>
    %bp = offset %bs, %bin : tile<16xptr<i32>>, tile<16xi32> -> tile<16xptr<i32>>
    %old, %t1 = atomic_rmw_tko relaxed device %bp, add, %counts : tile<16xptr<i32>>, tile<16xi32> -> tile<16xi32>, token
    return
  }
}
