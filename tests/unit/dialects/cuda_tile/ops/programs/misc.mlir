entry @misc(%arg0: tile<ptr<f32>>, %arg1: tile<i32>, %arg2: tile<f32>) {
  %assume = assume div_by<16>, %arg0 : tile<ptr<f32>>
  %assume_0 = assume bounded<0, ?>, %arg1 : tile<i32>
  %assume_assume = assume bounded<?, 7>, %assume_0 : tile<i32>
  %0 = iota : tile<16xi32>
  %assume_1 = assume div_by<32, every 8 along 0>, %0 : tile<16xi32>
  %assume_assume_2 = assume same_elements<[4]>, %assume_1 : tile<16xi32>
  %tview = make_tensor_view %assume, shape = [8], strides = [1] : tensor_view<8xf32, strides=[1]>
  %assume_tview = assume div_by<8>, %tview : tensor_view<8xf32, strides=[1]>
  %blockId_x, %blockId_y, %blockId_z = get_tile_block_id : tile<i32>
  %assume_blockId_y = assume bounded<0, 255>, %blockId_y : tile<i32>
  %for:2 = for %loopIdx in (%arg1 to %arg1, step %arg1) : tile<i32> iter_values(%iterArg0 = %arg1, %iterArg1 = %arg1) -> (tile<i32>, tile<i32>) {
    %assume_3 = assume div_by<2>, %loopIdx : tile<i32>
    continue %assume_3, %assume_3 : tile<i32>, tile<i32>
  }
  %assume_for = assume div_by<2>, %for#0 : tile<i32>
  %assume_ = assume div_by<2>, %for#1 : tile<i32>
  %true = constant <i1: true> : tile<16xi1>
  %1 = print_tko "hi" -> token
  %2 = print_tko "row %d of 100%%: %5.2f\0A\09\22", %arg1, %arg2 token=%1 : tile<i32>, tile<f32> -> token
  assert %true, "no\0Away" : tile<16xi1>
  return
}
