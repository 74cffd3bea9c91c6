module {
  func.func @beyond_xdsl(%arg0: vector<4xf32>, %arg1: f32, %arg2: vector<2x4xf32>, %arg3: vector<8x4xf32>, %arg4: memref<16xf32, 3>, %arg5: index) {
    %0 = vector.extract_strided_slice %arg3 {offsets = [2], sizes = [3], strides = [1]} : vector<8x4xf32> to vector<3x4xf32>
    %1 = vector.insert_strided_slice %arg2, %arg3 {offsets = [6, 0], strides = [1, 1]} : vector<2x4xf32> into vector<8x4xf32>
    %2 = vector.shape_cast %arg2 : vector<2x4xf32> to vector<8xf32>
    %3 = vector.from_elements %arg1, %arg1, %arg1, %arg1 : vector<2x2xf32>
    %4:4 = vector.to_elements %arg0 : vector<4xf32>
    %5 = vector.splat %arg1 : vector<4xf32>
    %6 = vector.step : vector<8xindex>
    %7 = vector.load %arg4[%arg5] {alignment = 16 : i64, nontemporal = true} : memref<16xf32, 3>, vector<4xf32>
    %8 = vector.broadcast %arg0 : vector<4xf32> to vector<8x4xf32>
    return
  }
}
