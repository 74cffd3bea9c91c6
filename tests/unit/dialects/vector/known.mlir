module {
  func.func @vectors(%arg0: vector<4xf32>, %arg1: f32, %arg2: vector<2x4xf32>, %arg3: index, %arg4: memref<4x16xf32>, %arg5: vector<4xi1>) {
    %0 = vector.broadcast %arg1 : f32 to vector<4xf32>
    %1 = vector.extract %arg0[3] : f32 from vector<4xf32>
    %2 = vector.extract %arg2[%arg3, 0] : f32 from vector<2x4xf32>
    %3 = vector.extract %arg2[1] : vector<4xf32> from vector<2x4xf32>
    %4 = vector.insert %arg1, %arg0[0] : f32 into vector<4xf32>
    %5 = vector.insert %arg0, %arg2[%arg3] : vector<4xf32> into vector<2x4xf32>
    %6 = vector.shuffle %arg0, %arg0 [0, 5, 7] : vector<4xf32>, vector<4xf32>
    %7 = vector.fma %arg0, %arg0, %arg0 : vector<4xf32>
    %8 = vector.load %arg4[%arg3, %arg3] : memref<4x16xf32>, vector<4xf32>
    vector.store %arg0, %arg4[%arg3, %arg3] : memref<4x16xf32>, vector<4xf32>
    %9 = vector.maskedload %arg4[%arg3, %arg3], %arg5, %arg0 : memref<4x16xf32>, vector<4xi1>, vector<4xf32> into vector<4xf32>
    vector.maskedstore %arg4[%arg3, %arg3], %arg5, %arg0 : memref<4x16xf32>, vector<4xi1>, vector<4xf32>
    %10 = vector.reduction <add>, %arg0 : vector<4xf32> into f32
    %11 = vector.reduction <maxnumf>, %arg0, %arg1 fastmath<nnan> : vector<4xf32> into f32
    %12 = vector.bitcast %arg0 : vector<4xf32> to vector<8xf16>
    return
  }
}
