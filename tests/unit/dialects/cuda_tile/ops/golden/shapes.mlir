entry @shapes() {
  %cst_0_f32 = constant <f32: 0.000000e+00> : tile<16xf32>
  %cst_0_f32_0 = constant <f32: 0.000000e+00> : tile<16xf32>
  %cst_0_i32 = constant <i32: 0> : tile<i32>
  %cst_0_i64 = constant <i64: 0> : tile<i64>
  %false = constant <i1: false> : tile<16xi1>
  %0 = iota : tile<64xi16>
  %cst_0_f32_1 = constant <f32: 0.000000e+00> : tile<1x8xf32>
  %bcast = broadcast %cst_0_f32_1 : tile<1x8xf32> -> tile<4x8xf32>
  %reshape = reshape %bcast : tile<4x8xf32> -> tile<2x16xf32>
  %1 = permute %bcast [1, 0] : tile<4x8xf32> -> tile<8x4xf32>
  %reshape_2 = reshape %cst_0_i32 : tile<i32> -> tile<1x1xi32>
  %reshape_3 = reshape %bcast : tile<4x8xf32> -> tile<2x4x4xf32>
  %2 = permute %reshape_3 [2, 0, 1] : tile<2x4x4xf32> -> tile<4x2x4xf32>
  %3 = cat %cst_0_f32, %cst_0_f32_0 dim = 0 : tile<16xf32>, tile<16xf32> -> tile<32xf32>
  %4 = cat %bcast, %bcast dim = 1 : tile<4x8xf32>, tile<4x8xf32> -> tile<4x16xf32>
  %5 = extract %cst_0_f32[%cst_0_i32] : tile<16xf32> -> tile<2xf32>
  %6 = insert %5, %cst_0_f32[%cst_0_i32] : tile<2xf32>, tile<16xf32>
  %7 = extract %bcast[%cst_0_i32, %cst_0_i32] : tile<4x8xf32> -> tile<4x2xf32>
  %8 = insert %7, %bcast[%cst_0_i32, %cst_0_i32] : tile<4x2xf32>, tile<4x8xf32>
  %9 = extract %cst_0_i32[] : tile<i32> -> tile<i32>
  %10 = select %false, %cst_0_f32, %cst_0_f32_0 : tile<16xi1>, tile<16xf32>
  %11 = pack %cst_0_f32 : tile<16xf32> -> tile<64xi8>
  %12 = unpack %11 : tile<64xi8> -> tile<32xf16>
  %13 = pack %false : tile<16xi1> -> tile<2xi8>
  %14 = int_to_ptr %cst_0_i64 : tile<i64> -> tile<ptr<f32>>
  %15 = offset %14, %cst_0_i64 : tile<ptr<f32>>, tile<i64> -> tile<ptr<f32>>
  %blockId_x, %blockId_y, %blockId_z = get_tile_block_id : tile<i32>
  %gridSize_x, %gridSize_y, %gridSize_z = get_num_tile_blocks : tile<i32>
  %blockId_x_4, %blockId_y_5, %blockId_z_6 = get_tile_block_id : tile<i32>
  return
}
