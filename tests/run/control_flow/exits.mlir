// Effects of a branch that breaks out of a loop.
// RUN @views_on_the_way_out
// ARG x = iota:8xi32
// ARG out = zeros:1xi32
// EXPECT out = 28
!tensor = !cuda_tile.tensor_view<8xi32, strides=[1]>
!tiles = !cuda_tile.partition_view<tile=(8), tensor_view<8xi32, strides=[1]>>
cuda_tile.module @kernels {
  entry @views_on_the_way_out(%x: tile<ptr<i32>>, %out: tile<ptr<i32>>) {
    %zero = constant <i32: 0> : tile<i32>
    %one = constant <i32: 1> : tile<i32>
    %three = constant <i32: 3> : tile<i32>
    %start = constant <i32: 0> : tile<8xi32>
    %found = loop iter_values(%i = %zero) : tile<i32> -> tile<8xi32> {
      %done = cmpi equal %i, %three, signed : tile<i32> -> tile<i1>
      if %done {
        %tensor = make_tensor_view %x, shape = [8], strides = [1] : !tensor
        %tiles = make_partition_view %tensor : !tiles
        %tile, %t = load_view_tko weak %tiles[%zero] : !tiles, tile<i32> -> tile<8xi32>, token
        break %tile : tile<8xi32>
      }
      %next = addi %i, %one : tile<i32>
      continue %next : tile<i32>
    }
    %sum = reduce %found dim=0 identities=[0 : i32] : tile<8xi32> -> tile<i32> (%a: tile<i32>, %c: tile<i32>) {
      %s = addi %a, %c : tile<i32>
      yield %s : tile<i32>
    }
    %t1 = store_ptr_tko weak %out, %sum : tile<ptr<i32>>, tile<i32> -> token
    return
  }
}
