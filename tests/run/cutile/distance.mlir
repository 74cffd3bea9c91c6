// Minimum and maximum of unsigned integers. Made by cuTile Python: tests/shared/cutile_programs.py.
// RUN grid=2
// ARG x = random:128xi32:1
// ARG x_size = 128
// ARG x_stride = 1
// ARG y = random:128xi32:2
// ARG y_size = 128
// ARG y_stride = 1
// ARG out = zeros:128xi32
// ARG out_size = 128
// ARG out_stride = 1
// EXPECT out = np.maximum(x.view(np.uint32), y.view(np.uint32)) - np.minimum(x.view(np.uint32), y.view(np.uint32))
cuda_tile.module @kernels {
  entry @distance_Kt2_A1u32_1i16t1_p16_A1u32_1i16t1_p16_A1u32_1i16t1_p16(%arg0: tile<ptr<i32>>, %arg1: tile<i32>, %arg2: tile<i32>, %arg3: tile<ptr<i32>>, %arg4: tile<i32>, %arg5: tile<i32>, %arg6: tile<ptr<i32>>, %arg7: tile<i32>, %arg8: tile<i32>) optimization_hints=<default = {}> {
    %0 = make_token : token
    %assume = assume div_by<16>, %arg0 : tile<ptr<i32>>
    %assume_0 = assume div_by<16>, %arg1 : tile<i32>
    %assume_1 = assume div_by<16>, %arg3 : tile<ptr<i32>>
    %assume_2 = assume div_by<16>, %arg4 : tile<i32>
    %assume_3 = assume div_by<16>, %arg6 : tile<ptr<i32>>
    %assume_4 = assume div_by<16>, %arg7 : tile<i32>
    %cst_1_i32 = constant <i32: 1> : tile<i32>
    %cst_1_i32_5 = constant <i32: 1> : tile<i32>
    %cst_1_i32_6 = constant <i32: 1> : tile<i32>
    %assume_assume = assume bounded<0, ?>, %assume_0 : tile<i32>
    %assume_assume_assume = assume div_by<16>, %assume_assume : tile<i32>
    %tview = make_tensor_view %assume, shape = [%assume_assume_assume], strides = [1] : tile<i32> -> tensor_view<?xi32, strides=[1]>
    %assume_assume_7 = assume bounded<0, ?>, %assume_2 : tile<i32>
    %assume_assume_assume_8 = assume div_by<16>, %assume_assume_7 : tile<i32>
    %tview_9 = make_tensor_view %assume_1, shape = [%assume_assume_assume_8], strides = [1] : tile<i32> -> tensor_view<?xi32, strides=[1]>
    %assume_assume_10 = assume bounded<0, ?>, %assume_4 : tile<i32>
    %assume_assume_assume_11 = assume div_by<16>, %assume_assume_10 : tile<i32>
    %tview_12 = make_tensor_view %assume_3, shape = [%assume_assume_assume_11], strides = [1] : tile<i32> -> tensor_view<?xi32, strides=[1]>
    %blockId_x, %blockId_y, %blockId_z = get_tile_block_id : tile<i32>
    %pview = make_partition_view %tview : partition_view<tile=(64), tensor_view<?xi32, strides=[1]>>
    %tile, %result_token = load_view_tko weak %pview[%blockId_x] token = %0 : partition_view<tile=(64), tensor_view<?xi32, strides=[1]>>, tile<i32> -> tile<64xi32>, token
    %blockId_x_13, %blockId_y_14, %blockId_z_15 = get_tile_block_id : tile<i32>
    %pview_16 = make_partition_view %tview_9 : partition_view<tile=(64), tensor_view<?xi32, strides=[1]>>
    %tile_17, %result_token_18 = load_view_tko weak %pview_16[%blockId_x_13] token = %0 : partition_view<tile=(64), tensor_view<?xi32, strides=[1]>>, tile<i32> -> tile<64xi32>, token
    %blockId_x_19, %blockId_y_20, %blockId_z_21 = get_tile_block_id : tile<i32>
    %1 = maxi %tile, %tile_17 unsigned : tile<64xi32>
    %2 = mini %tile, %tile_17 unsigned : tile<64xi32>
    %3 = subi %1, %2 : tile<64xi32>
    %pview_22 = make_partition_view %tview_12 : partition_view<tile=(64), tensor_view<?xi32, strides=[1]>>
    %4 = store_view_tko weak %3, %pview_22[%blockId_x_19] token = %0 : tile<64xi32>, partition_view<tile=(64), tensor_view<?xi32, strides=[1]>>, tile<i32> -> token
    return
  }
}
