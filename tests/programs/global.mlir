// A lookup table in global memory: global, get_global, ptr_to_ptr, ptr_to_int, int_to_ptr.
cuda_tile.module @kernels {
  global @table <f32: [5.000000e-01, 1.500000e+00, -2.000000e+00, 1.000000e+09]> : tile<4xf32>
  global private constant @bytes alignment = 64 <i8: [1, -2, 3, 127, -128, 0, 7, 8]> : tile<8xi8>
  entry @look_up(%out: tile<ptr<f32>>) {
    %base = get_global @table : tile<ptr<f32>>
    %raw = get_global @bytes : tile<ptr<i8>>
    %address = ptr_to_int %base : tile<ptr<f32>> -> tile<i64>
    %again = int_to_ptr %address : tile<i64> -> tile<ptr<f32>>
    %words = ptr_to_ptr %raw : tile<ptr<i8>> -> tile<ptr<i32>>
    %row = reshape %again : tile<ptr<f32>> -> tile<1xptr<f32>>
    %pointers = broadcast %row : tile<1xptr<f32>> -> tile<4xptr<f32>>
    %lanes = iota : tile<4xi32>
    %each = offset %pointers, %lanes : tile<4xptr<f32>>, tile<4xi32> -> tile<4xptr<f32>>
    %values, %t0 = load_ptr_tko weak %each : tile<4xptr<f32>> -> tile<4xf32>, token
    %word, %t1 = load_ptr_tko weak %words : tile<ptr<i32>> -> tile<i32>, token
    %line = reshape %out : tile<ptr<f32>> -> tile<1xptr<f32>>
    %targets = broadcast %line : tile<1xptr<f32>> -> tile<4xptr<f32>>
    %slots = offset %targets, %lanes : tile<4xptr<f32>>, tile<4xi32> -> tile<4xptr<f32>>
    %t2 = store_ptr_tko weak %slots, %values token=%t0 : tile<4xptr<f32>>, tile<4xf32> -> token
    return
  }
}
