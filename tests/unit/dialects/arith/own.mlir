module {
  func.func @beyond_xdsl(%arg0: i32, %arg1: f32, %arg2: vector<4xf32>, %arg3: index, %arg4: vector<4xi1>) {
    %0 = arith.divsi %arg0, %arg0 exact : i32
    %1 = arith.shrui %arg0, %arg0 exact : i32
    %2 = arith.remf %arg1, %arg1 : f32
    %3 = arith.addf %arg1, %arg1 toward_zero : f32
    %4 = arith.mulf %arg1, %arg1 downward fastmath<contract> : f32
    %5 = arith.select %arg4, %arg2, %arg2 : vector<4xi1>, vector<4xf32>
    %6 = arith.trunci %arg0 overflow<nsw> : i32 to i8
    %7 = arith.extf %arg1 fastmath<ninf> : f32 to f64
    %8 = arith.truncf %arg1 to_nearest_away : f32 to tf32
    %9 = arith.truncf %arg1 upward fastmath<fast> : f32 to f16
    %10 = arith.convertf %9 : f16 to bf16
    %11 = arith.index_castui %arg3 : index to i32
    %12 = arith.negf %arg1 fastmath<nnan> : f32
    %13 = arith.cmpf ult, %arg2, %arg2 : vector<4xf32>
    %14 = arith.truncf %arg2 : vector<4xf32> to vector<4xbf16>
    %15 = arith.trunci %arg0 : i32 to i8
    return
  }
}
