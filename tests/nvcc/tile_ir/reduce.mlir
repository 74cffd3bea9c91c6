// Producer: Cuda compilation tools, release 13.4, V13.4.92, Build cuda_13.4.r13.4/compiler.38855100_0, Build ID: CL-38855100
entry @_Z6floatsPKfPfS1_S1_Pi(%arg0: tile<ptr<f32>>, %arg1: tile<ptr<f32>>, %arg2: tile<ptr<f32>>, %arg3: tile<ptr<f32>>, %arg4: tile<ptr<i32>>) {
  %cst_0_i32 = constant <i32: 0> : tile<i32>
  %tview = make_tensor_view %arg0, shape = [8, 32], strides = [32, 1] : tensor_view<8x32xf32, strides=[32,1]>
  %pview = make_partition_view %tview : partition_view<tile=(8x32), tensor_view<8x32xf32, strides=[32,1]>>
  %tile, %result_token = load_view_tko weak %pview[%cst_0_i32, %cst_0_i32] : partition_view<tile=(8x32), tensor_view<8x32xf32, strides=[32,1]>>, tile<i32> -> tile<8x32xf32>, token
  %reduce = reduce %tile dim=0 identities=[0.000000e+00 : f32] : tile<8x32xf32> -> tile<32xf32> 
  (%reduce_lhs: tile<f32>, %reduce_rhs: tile<f32>) {
    %12 = addf %reduce_lhs, %reduce_rhs  : tile<f32>
    yield %12 : tile<f32>
  }
  %reshape = reshape %reduce : tile<32xf32> -> tile<1x32xf32>
  %reshape_0 = reshape %reshape : tile<1x32xf32> -> tile<32xf32>
  %0 = iota : tile<32xi32>
  %reshape_1 = reshape %0 : tile<32xi32> -> tile<32xi32>
  %reshape_2 = reshape %arg1 : tile<ptr<f32>> -> tile<1xptr<f32>>
  %bcast = broadcast %reshape_2 : tile<1xptr<f32>> -> tile<32xptr<f32>>
  %1 = exti %reshape_1 signed : tile<32xi32> -> tile<32xi64>
  %2 = offset %bcast, %1 : tile<32xptr<f32>>, tile<32xi64> -> tile<32xptr<f32>>
  %3 = store_ptr_tko weak %2, %reshape_0 token=%result_token : tile<32xptr<f32>>, tile<32xf32> -> token
  %reduce_3 = reduce %tile dim=1 identities=[0xFF800000 : f32] : tile<8x32xf32> -> tile<8xf32> 
  (%reduce_lhs: tile<f32>, %reduce_rhs: tile<f32>) {
    %12 = maxf %reduce_lhs, %reduce_rhs : tile<f32>
    yield %12 : tile<f32>
  }
  %reshape_4 = reshape %reduce_3 : tile<8xf32> -> tile<8x1xf32>
  %reshape_5 = reshape %reshape_4 : tile<8x1xf32> -> tile<8xf32>
  %4 = iota : tile<8xi32>
  %reshape_6 = reshape %4 : tile<8xi32> -> tile<8xi32>
  %reshape_7 = reshape %arg2 : tile<ptr<f32>> -> tile<1xptr<f32>>
  %bcast_8 = broadcast %reshape_7 : tile<1xptr<f32>> -> tile<8xptr<f32>>
  %5 = exti %reshape_6 signed : tile<8xi32> -> tile<8xi64>
  %6 = offset %bcast_8, %5 : tile<8xptr<f32>>, tile<8xi64> -> tile<8xptr<f32>>
  %7 = store_ptr_tko weak %6, %reshape_5 token=%3 : tile<8xptr<f32>>, tile<8xf32> -> token
  %reduce_9 = reduce %tile dim=1 identities=[0x7F800000 : f32] : tile<8x32xf32> -> tile<8xf32> 
  (%reduce_lhs: tile<f32>, %reduce_rhs: tile<f32>) {
    %12 = minf %reduce_lhs, %reduce_rhs : tile<f32>
    yield %12 : tile<f32>
  }
  %reshape_10 = reshape %reduce_9 : tile<8xf32> -> tile<8x1xf32>
  %reshape_11 = reshape %reshape_10 : tile<8x1xf32> -> tile<8xf32>
  %reshape_12 = reshape %arg3 : tile<ptr<f32>> -> tile<1xptr<f32>>
  %bcast_13 = broadcast %reshape_12 : tile<1xptr<f32>> -> tile<8xptr<f32>>
  %8 = offset %bcast_13, %5 : tile<8xptr<f32>>, tile<8xi64> -> tile<8xptr<f32>>
  %9 = store_ptr_tko weak %8, %reshape_11 token=%7 : tile<8xptr<f32>>, tile<8xf32> -> token
  %reshape_14 = reshape %0 : tile<32xi32> -> tile<1x32xi32>
  %bcast_15 = broadcast %reshape_14 : tile<1x32xi32> -> tile<8x32xi32>
  %reduce_16:2 = reduce %tile, %bcast_15 dim=1 identities=[0xFF800000 : f32, 0 : i32] : tile<8x32xf32>, tile<8x32xi32> -> tile<8xf32>, tile<8xi32> 
  (%reduce_lhs0: tile<f32>, %reduce_rhs0: tile<f32>, %reduce_lhs1: tile<i32>, %reduce_rhs1: tile<i32>) {
    %12 = cmpi less_than %reduce_lhs1, %reduce_rhs1, unsigned : tile<i32> -> tile<i1>
    %13 = cmpf greater_than ordered %reduce_lhs0, %reduce_rhs0 : tile<f32> -> tile<i1>
    %14 = cmpf equal ordered %reduce_lhs0, %reduce_rhs0 : tile<f32> -> tile<i1>
    %15 = andi %14, %12 : tile<i1>
    %16 = ori %15, %13 : tile<i1>
    %17 = select %16, %reduce_lhs0, %reduce_rhs0 : tile<i1>, tile<f32>
    %18 = select %16, %reduce_lhs1, %reduce_rhs1 : tile<i1>, tile<i32>
    yield %17, %18 : tile<f32>, tile<i32>
  }
  %reshape_17 = reshape %reduce_16#1 : tile<8xi32> -> tile<8x1xi32>
  %reshape_18 = reshape %reshape_17 : tile<8x1xi32> -> tile<8xi32>
  %reshape_19 = reshape %arg4 : tile<ptr<i32>> -> tile<1xptr<i32>>
  %bcast_20 = broadcast %reshape_19 : tile<1xptr<i32>> -> tile<8xptr<i32>>
  %10 = offset %bcast_20, %5 : tile<8xptr<i32>>, tile<8xi64> -> tile<8xptr<i32>>
  %11 = store_ptr_tko weak %10, %reshape_18 token=%9 : tile<8xptr<i32>>, tile<8xi32> -> token
  return
}
entry @_Z4bitsPKiPiS1_S1_S1_(%arg0: tile<ptr<i32>>, %arg1: tile<ptr<i32>>, %arg2: tile<ptr<i32>>, %arg3: tile<ptr<i32>>, %arg4: tile<ptr<i32>>) {
  %cst_0_i32 = constant <i32: 0> : tile<i32>
  %cst_50_i32 = constant <i32: 50> : tile<i32>
  %cst_2_i32 = constant <i32: 2> : tile<i32>
  %cst_900_i32 = constant <i32: 900> : tile<i32>
  %cst_0_i8 = constant <i8: 0> : tile<8x32xi8>
  %tview = make_tensor_view %arg0, shape = [8, 32], strides = [32, 1] : tensor_view<8x32xi32, strides=[32,1]>
  %pview = make_partition_view %tview : partition_view<tile=(8x32), tensor_view<8x32xi32, strides=[32,1]>>
  %tile, %result_token = load_view_tko weak %pview[%cst_0_i32, %cst_0_i32] : partition_view<tile=(8x32), tensor_view<8x32xi32, strides=[32,1]>>, tile<i32> -> tile<8x32xi32>, token
  %reduce = reduce %tile dim=0 identities=[-1 : i32] : tile<8x32xi32> -> tile<32xi32> 
  (%reduce_lhs: tile<i32>, %reduce_rhs: tile<i32>) {
    %24 = andi %reduce_lhs, %reduce_rhs : tile<i32>
    yield %24 : tile<i32>
  }
  %reshape = reshape %reduce : tile<32xi32> -> tile<1x32xi32>
  %reshape_0 = reshape %reshape : tile<1x32xi32> -> tile<32xi32>
  %0 = iota : tile<32xi32>
  %reshape_1 = reshape %0 : tile<32xi32> -> tile<32xi32>
  %reshape_2 = reshape %arg1 : tile<ptr<i32>> -> tile<1xptr<i32>>
  %bcast = broadcast %reshape_2 : tile<1xptr<i32>> -> tile<32xptr<i32>>
  %1 = exti %reshape_1 signed : tile<32xi32> -> tile<32xi64>
  %2 = offset %bcast, %1 : tile<32xptr<i32>>, tile<32xi64> -> tile<32xptr<i32>>
  %3 = store_ptr_tko weak %2, %reshape_0 token=%result_token : tile<32xptr<i32>>, tile<32xi32> -> token
  %reduce_3 = reduce %tile dim=1 identities=[0 : i32] : tile<8x32xi32> -> tile<8xi32> 
  (%reduce_lhs: tile<i32>, %reduce_rhs: tile<i32>) {
    %24 = ori %reduce_lhs, %reduce_rhs : tile<i32>
    yield %24 : tile<i32>
  }
  %reshape_4 = reshape %reduce_3 : tile<8xi32> -> tile<8x1xi32>
  %reshape_5 = reshape %reshape_4 : tile<8x1xi32> -> tile<8xi32>
  %4 = iota : tile<8xi32>
  %reshape_6 = reshape %4 : tile<8xi32> -> tile<8xi32>
  %reshape_7 = reshape %arg2 : tile<ptr<i32>> -> tile<1xptr<i32>>
  %bcast_8 = broadcast %reshape_7 : tile<1xptr<i32>> -> tile<8xptr<i32>>
  %5 = exti %reshape_6 signed : tile<8xi32> -> tile<8xi64>
  %6 = offset %bcast_8, %5 : tile<8xptr<i32>>, tile<8xi64> -> tile<8xptr<i32>>
  %7 = store_ptr_tko weak %6, %reshape_5 token=%3 : tile<8xptr<i32>>, tile<8xi32> -> token
  %reduce_9 = reduce %tile dim=1 identities=[0 : i32] : tile<8x32xi32> -> tile<8xi32> 
  (%reduce_lhs: tile<i32>, %reduce_rhs: tile<i32>) {
    %24 = xori %reduce_lhs, %reduce_rhs : tile<i32>
    yield %24 : tile<i32>
  }
  %reshape_10 = reshape %reduce_9 : tile<8xi32> -> tile<8x1xi32>
  %reshape_11 = reshape %reshape_10 : tile<8x1xi32> -> tile<8xi32>
  %reshape_12 = reshape %arg3 : tile<ptr<i32>> -> tile<1xptr<i32>>
  %bcast_13 = broadcast %reshape_12 : tile<1xptr<i32>> -> tile<8xptr<i32>>
  %8 = offset %bcast_13, %5 : tile<8xptr<i32>>, tile<8xi64> -> tile<8xptr<i32>>
  %9 = store_ptr_tko weak %8, %reshape_11 token=%7 : tile<8xptr<i32>>, tile<8xi32> -> token
  %reshape_14 = reshape %cst_900_i32 : tile<i32> -> tile<1x1xi32>
  %bcast_15 = broadcast %reshape_14 : tile<1x1xi32> -> tile<8x32xi32>
  %10 = cmpi greater_than %tile, %bcast_15, signed : tile<8x32xi32> -> tile<8x32xi1>
  %11 = exti %10 unsigned : tile<8x32xi1> -> tile<8x32xi8>
  %12 = cmpi not_equal %11, %cst_0_i8, signed : tile<8x32xi8> -> tile<8x32xi1>
  %reduce_16 = reduce %12 dim=1 identities=[false] : tile<8x32xi1> -> tile<8xi1> 
  (%reduce_lhs: tile<i1>, %reduce_rhs: tile<i1>) {
    %24 = ori %reduce_lhs, %reduce_rhs : tile<i1>
    yield %24 : tile<i1>
  }
  %reshape_17 = reshape %reduce_16 : tile<8xi1> -> tile<8x1xi1>
  %13 = exti %reshape_17 unsigned : tile<8x1xi1> -> tile<8x1xi8>
  %14 = exti %13 unsigned : tile<8x1xi8> -> tile<8x1xi32>
  %reshape_18 = reshape %cst_2_i32 : tile<i32> -> tile<1x1xi32>
  %bcast_19 = broadcast %reshape_18 : tile<1x1xi32> -> tile<8x1xi32>
  %reshape_20 = reshape %cst_50_i32 : tile<i32> -> tile<1x1xi32>
  %bcast_21 = broadcast %reshape_20 : tile<1x1xi32> -> tile<8x32xi32>
  %15 = cmpi greater_than %tile, %bcast_21, signed : tile<8x32xi32> -> tile<8x32xi1>
  %16 = exti %15 unsigned : tile<8x32xi1> -> tile<8x32xi8>
  %17 = cmpi not_equal %16, %cst_0_i8, signed : tile<8x32xi8> -> tile<8x32xi1>
  %reduce_22 = reduce %17 dim=1 identities=[true] : tile<8x32xi1> -> tile<8xi1> 
  (%reduce_lhs: tile<i1>, %reduce_rhs: tile<i1>) {
    %24 = andi %reduce_lhs, %reduce_rhs : tile<i1>
    yield %24 : tile<i1>
  }
  %reshape_23 = reshape %reduce_22 : tile<8xi1> -> tile<8x1xi1>
  %18 = exti %reshape_23 unsigned : tile<8x1xi1> -> tile<8x1xi8>
  %19 = exti %18 unsigned : tile<8x1xi8> -> tile<8x1xi32>
  %20 = muli %bcast_19, %19 overflow<no_signed_wrap> : tile<8x1xi32>
  %21 = addi %14, %20 overflow<no_signed_wrap> : tile<8x1xi32>
  %reshape_24 = reshape %21 : tile<8x1xi32> -> tile<8xi32>
  %reshape_25 = reshape %arg4 : tile<ptr<i32>> -> tile<1xptr<i32>>
  %bcast_26 = broadcast %reshape_25 : tile<1xptr<i32>> -> tile<8xptr<i32>>
  %22 = offset %bcast_26, %5 : tile<8xptr<i32>>, tile<8xi64> -> tile<8xptr<i32>>
  %23 = store_ptr_tko weak %22, %reshape_24 token=%9 : tile<8xptr<i32>>, tile<8xi32> -> token
  return
}
entry @_Z4prodPKdPd(%arg0: tile<ptr<f64>>, %arg1: tile<ptr<f64>>) {
  %cst_0_i32 = constant <i32: 0> : tile<i32>
  %tview = make_tensor_view %arg0, shape = [8, 32], strides = [32, 1] : tensor_view<8x32xf64, strides=[32,1]>
  %pview = make_partition_view %tview : partition_view<tile=(8x32), tensor_view<8x32xf64, strides=[32,1]>>
  %tile, %result_token = load_view_tko weak %pview[%cst_0_i32, %cst_0_i32] : partition_view<tile=(8x32), tensor_view<8x32xf64, strides=[32,1]>>, tile<i32> -> tile<8x32xf64>, token
  %reduce = reduce %tile dim=1 identities=[1.000000e+00] : tile<8x32xf64> -> tile<8xf64> 
  (%reduce_lhs: tile<f64>, %reduce_rhs: tile<f64>) {
    %4 = mulf %reduce_lhs, %reduce_rhs  : tile<f64>
    yield %4 : tile<f64>
  }
  %reshape = reshape %reduce : tile<8xf64> -> tile<8x1xf64>
  %reshape_0 = reshape %reshape : tile<8x1xf64> -> tile<8xf64>
  %0 = iota : tile<8xi32>
  %reshape_1 = reshape %0 : tile<8xi32> -> tile<8xi32>
  %reshape_2 = reshape %arg1 : tile<ptr<f64>> -> tile<1xptr<f64>>
  %bcast = broadcast %reshape_2 : tile<1xptr<f64>> -> tile<8xptr<f64>>
  %1 = exti %reshape_1 signed : tile<8xi32> -> tile<8xi64>
  %2 = offset %bcast, %1 : tile<8xptr<f64>>, tile<8xi64> -> tile<8xptr<f64>>
  %3 = store_ptr_tko weak %2, %reshape_0 token=%result_token : tile<8xptr<f64>>, tile<8xf64> -> token
  return
}
