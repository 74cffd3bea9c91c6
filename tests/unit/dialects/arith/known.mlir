module {
  func.func @constants() {
    %c0 = arith.constant 0 : index
    %c42_i32 = arith.constant 42 : i32
    %c-7_i8 = arith.constant -7 : i8
    %true = arith.constant true
    %false = arith.constant false
    %cst = arith.constant 1.500000e+00 : f32
    %cst_0 = arith.constant 0x7FC00000 : f32
    %cst_1 = arith.constant dense<[1, 2, 3, 4]> : vector<4xi32>
    %cst_2 = arith.constant dense<0.000000e+00> : tensor<2x2xf64>
    return
  }
  func.func @integers(%arg0: i32, %arg1: i32, %arg2: vector<4xi8>, %arg3: index) {
    %0 = arith.addi %arg0, %arg1 : i32
    %1 = arith.addi %arg0, %arg1 overflow<nsw> : i32
    %2 = arith.subi %arg0, %arg1 overflow<nsw, nuw> : i32
    %3 = arith.muli %arg3, %arg3 overflow<nuw> : index
    %4 = arith.shli %arg0, %arg1 : i32
    %5 = arith.divsi %arg0, %arg1 : i32
    %6 = arith.divui %arg2, %arg2 : vector<4xi8>
    %7 = arith.floordivsi %arg0, %arg1 : i32
    %8 = arith.ceildivsi %arg0, %arg1 : i32
    %9 = arith.ceildivui %arg0, %arg1 : i32
    %10 = arith.remsi %arg0, %arg1 : i32
    %11 = arith.remui %arg0, %arg1 : i32
    %12 = arith.shrsi %arg0, %arg1 : i32
    %13 = arith.shrui %arg0, %arg1 : i32
    %14 = arith.andi %arg0, %arg1 : i32
    %15 = arith.ori %arg0, %arg1 : i32
    %16 = arith.xori %arg0, %arg1 {k = 1 : i32} : i32
    %17 = arith.maxsi %arg0, %arg1 : i32
    %18 = arith.maxui %arg0, %arg1 : i32
    %19 = arith.minsi %arg0, %arg1 : i32
    %20 = arith.minui %arg0, %arg1 : i32
    %sum, %overflow = arith.addui_extended %arg0, %arg1 : i32, i1
    %low, %high = arith.mulsi_extended %arg0, %arg1 : i32
    %low_0, %high_1 = arith.mului_extended %arg0, %arg1 : i32
    return
  }
  func.func @floats(%arg0: f32, %arg1: f32, %arg2: vector<4xbf16>) {
    %0 = arith.addf %arg0, %arg1 : f32
    %1 = arith.subf %arg2, %arg2 fastmath<contract> : vector<4xbf16>
    %2 = arith.mulf %arg0, %arg1 fastmath<nnan,ninf> : f32
    %3 = arith.divf %arg0, %arg1 fastmath<fast> : f32
    %4 = arith.maximumf %arg0, %arg1 : f32
    %5 = arith.minimumf %arg0, %arg1 : f32
    %6 = arith.maxnumf %arg0, %arg1 : f32
    %7 = arith.minnumf %arg0, %arg1 : f32
    %8 = arith.negf %arg0 : f32
    return
  }
  func.func @comparisons(%arg0: i32, %arg1: f32, %arg2: vector<4xf32>, %arg3: i1) {
    %0 = arith.cmpi eq, %arg0, %arg0 : i32
    %1 = arith.cmpi uge, %arg0, %arg0 : i32
    %2 = arith.cmpf oeq, %arg1, %arg1 : f32
    %3 = arith.cmpf uno, %arg1, %arg1 fastmath<ninf> : f32
    %4 = arith.select %arg3, %arg0, %arg0 : i32
    %5 = arith.select %arg3, %arg2, %arg2 : vector<4xf32>
    return
  }
  func.func @casts(%arg0: i32, %arg1: f32, %arg2: vector<4xf32>, %arg3: index) {
    %0 = arith.extsi %arg0 : i32 to i64
    %1 = arith.extui %arg0 : i32 to i64
    %2 = arith.sitofp %arg0 : i32 to f32
    %3 = arith.uitofp %arg0 : i32 to f32
    %4 = arith.fptosi %arg1 : f32 to i32
    %5 = arith.fptoui %arg1 : f32 to i32
    %6 = arith.index_cast %arg0 : i32 to index
    %7 = arith.index_cast %arg3 : index to i64
    %8 = arith.bitcast %arg1 : f32 to i32
    %9 = arith.extf %arg1 : f32 to f64
    %10 = arith.truncf %arg1 : f32 to bf16
    return
  }
}
