// Producer: Cuda compilation tools, release 13.4, V13.4.92, Build cuda_13.4.r13.4/compiler.38855100_0, Build ID: CL-38855100
entry @_ZN4gemm6matmulI6__halfLi32ELi32ELi16EEEvPKT_S4_Pfiii(%arg0: tile<ptr<f16>>, %arg1: tile<ptr<f16>>, %arg2: tile<ptr<f32>>, %arg3: tile<i32>, %arg4: tile<i32>, %arg5: tile<i32>) {
  %cst_0_i32 = constant <i32: 0> : tile<i32>
  %cst_0_f32 = constant <f32: 0.000000e+00> : tile<32x32xf32>
  %cst_0_i8 = constant <i8: 0> : tile<i8>
  %cst_16_i32 = constant <i32: 16> : tile<i32>
  %cst_1_i32 = constant <i32: 1> : tile<i32>
  %cst_1_i64 = constant <i64: 1> : tile<i64>
  %cst_-1_i32 = constant <i32: -1> : tile<i32>
  %cst_0_i64 = constant <i64: 0> : tile<i64>
  %0 = make_token : token
  %blockId_x, %blockId_y, %blockId_z = get_tile_block_id : tile<i32>
  %1 = addi %arg5, %cst_16_i32 overflow<no_signed_wrap> : tile<i32>
  %2 = subi %1, %cst_1_i32 overflow<no_signed_wrap> : tile<i32>
  %3 = divi %2, %cst_16_i32 signed : tile<i32>
  %for:5 = for %loopIdx in (%cst_0_i32 to %3, step %cst_1_i32) : tile<i32> iter_values(%iterArg0 = %cst_0_f32, %iterArg1 = %0, %iterArg2 = %0, %iterArg3 = %0, %iterArg4 = %0) -> (tile<32x32xf32>, token, token, token, token) {
    %34 = join_tokens %iterArg2, %iterArg1 : token
    %35 = cmpi equal %cst_1_i64, %cst_0_i64, unsigned : tile<i64> -> tile<i1>
    %36 = exti %35 unsigned : tile<i1> -> tile<i32>
    %37 = muli %36, %arg5 overflow<no_signed_wrap> : tile<i32>
    %38 = addi %cst_0_i32, %37 overflow<no_signed_wrap> : tile<i32>
    %39 = cmpi equal %cst_0_i64, %cst_0_i64, unsigned : tile<i64> -> tile<i1>
    %40 = exti %39 unsigned : tile<i1> -> tile<i32>
    %41 = muli %40, %arg3 overflow<no_signed_wrap> : tile<i32>
    %42 = addi %38, %41 overflow<no_signed_wrap> : tile<i32>
    %43 = cmpi equal %cst_1_i64, %cst_1_i64, unsigned : tile<i64> -> tile<i1>
    %44 = exti %43 unsigned : tile<i1> -> tile<i32>
    %45 = muli %44, %arg5 overflow<no_signed_wrap> : tile<i32>
    %46 = addi %cst_0_i32, %45 overflow<no_signed_wrap> : tile<i32>
    %47 = cmpi equal %cst_0_i64, %cst_1_i64, unsigned : tile<i64> -> tile<i1>
    %48 = exti %47 unsigned : tile<i1> -> tile<i32>
    %49 = muli %48, %arg3 overflow<no_signed_wrap> : tile<i32>
    %50 = addi %46, %49 overflow<no_signed_wrap> : tile<i32>
    %51 = cmpi less_than_or_equal %cst_0_i64, %cst_0_i64, unsigned : tile<i64> -> tile<i1>
    %52 = exti %51 unsigned : tile<i1> -> tile<i32>
    %53 = trunci %52 : tile<i32> -> tile<i8>
    %54 = exti %53 unsigned : tile<i8> -> tile<i32>
    %55 = muli %54, %cst_1_i32 overflow<no_signed_wrap> : tile<i32>
    %56 = muli %55, %50 overflow<no_signed_wrap> : tile<i32>
    %57 = cmpi not_equal %53, %cst_0_i8, signed : tile<i8> -> tile<i1>
    %58 = exti %57 unsigned : tile<i1> -> tile<i32>
    %59 = xori %58, %cst_-1_i32 : tile<i32>
    %60 = andi %59, %cst_1_i32 : tile<i32>
    %61 = muli %60, %cst_1_i32 overflow<no_signed_wrap> : tile<i32>
    %62 = addi %56, %61 overflow<no_signed_wrap> : tile<i32>
    %tview_0 = make_tensor_view %arg0, shape = [%42, %50], strides = [%62, 1] : tile<i32> -> tensor_view<?x?xf16, strides=[?,1]>
    %pview_1 = make_partition_view %tview_0 : partition_view<tile=(32x16), padding_value = zero, tensor_view<?x?xf16, strides=[?,1]>>
    %tile, %result_token = load_view_tko weak %pview_1[%blockId_y, %loopIdx] : partition_view<tile=(32x16), padding_value = zero, tensor_view<?x?xf16, strides=[?,1]>>, tile<i32> -> tile<32x16xf16>, token
    %63 = join_tokens %34, %result_token : token
    %64 = join_tokens %63, %iterArg1 : token
    %65 = muli %36, %arg4 overflow<no_signed_wrap> : tile<i32>
    %66 = addi %cst_0_i32, %65 overflow<no_signed_wrap> : tile<i32>
    %67 = muli %40, %arg5 overflow<no_signed_wrap> : tile<i32>
    %68 = addi %66, %67 overflow<no_signed_wrap> : tile<i32>
    %69 = muli %44, %arg4 overflow<no_signed_wrap> : tile<i32>
    %70 = addi %cst_0_i32, %69 overflow<no_signed_wrap> : tile<i32>
    %71 = muli %48, %arg5 overflow<no_signed_wrap> : tile<i32>
    %72 = addi %70, %71 overflow<no_signed_wrap> : tile<i32>
    %73 = muli %55, %72 overflow<no_signed_wrap> : tile<i32>
    %74 = addi %73, %61 overflow<no_signed_wrap> : tile<i32>
    %tview_2 = make_tensor_view %arg1, shape = [%68, %72], strides = [%74, 1] : tile<i32> -> tensor_view<?x?xf16, strides=[?,1]>
    %pview_3 = make_partition_view %tview_2 : partition_view<tile=(16x32), padding_value = zero, tensor_view<?x?xf16, strides=[?,1]>>
    %tile_4, %result_token_5 = load_view_tko weak %pview_3[%loopIdx, %blockId_x] : partition_view<tile=(16x32), padding_value = zero, tensor_view<?x?xf16, strides=[?,1]>>, tile<i32> -> tile<16x32xf16>, token
    %75 = join_tokens %64, %result_token_5 : token
    %76 = mmaf %tile, %tile_4, %iterArg0 : tile<32x16xf16>, tile<16x32xf16>, tile<32x32xf32>
    continue %76, %iterArg1, %75, %result_token_5, %result_token : tile<32x32xf32>, token, token, token, token
  }
  %4 = cmpi equal %cst_1_i64, %cst_0_i64, unsigned : tile<i64> -> tile<i1>
  %5 = exti %4 unsigned : tile<i1> -> tile<i32>
  %6 = muli %5, %arg4 overflow<no_signed_wrap> : tile<i32>
  %7 = addi %cst_0_i32, %6 overflow<no_signed_wrap> : tile<i32>
  %8 = cmpi equal %cst_0_i64, %cst_0_i64, unsigned : tile<i64> -> tile<i1>
  %9 = exti %8 unsigned : tile<i1> -> tile<i32>
  %10 = muli %9, %arg3 overflow<no_signed_wrap> : tile<i32>
  %11 = addi %7, %10 overflow<no_signed_wrap> : tile<i32>
  %12 = cmpi equal %cst_1_i64, %cst_1_i64, unsigned : tile<i64> -> tile<i1>
  %13 = exti %12 unsigned : tile<i1> -> tile<i32>
  %14 = muli %13, %arg4 overflow<no_signed_wrap> : tile<i32>
  %15 = addi %cst_0_i32, %14 overflow<no_signed_wrap> : tile<i32>
  %16 = cmpi equal %cst_0_i64, %cst_1_i64, unsigned : tile<i64> -> tile<i1>
  %17 = exti %16 unsigned : tile<i1> -> tile<i32>
  %18 = muli %17, %arg3 overflow<no_signed_wrap> : tile<i32>
  %19 = addi %15, %18 overflow<no_signed_wrap> : tile<i32>
  %20 = cmpi less_than_or_equal %cst_0_i64, %cst_0_i64, unsigned : tile<i64> -> tile<i1>
  %21 = exti %20 unsigned : tile<i1> -> tile<i32>
  %22 = trunci %21 : tile<i32> -> tile<i8>
  %23 = exti %22 unsigned : tile<i8> -> tile<i32>
  %24 = muli %23, %cst_1_i32 overflow<no_signed_wrap> : tile<i32>
  %25 = muli %24, %19 overflow<no_signed_wrap> : tile<i32>
  %26 = cmpi not_equal %22, %cst_0_i8, signed : tile<i8> -> tile<i1>
  %27 = exti %26 unsigned : tile<i1> -> tile<i32>
  %28 = xori %27, %cst_-1_i32 : tile<i32>
  %29 = andi %28, %cst_1_i32 : tile<i32>
  %30 = muli %29, %cst_1_i32 overflow<no_signed_wrap> : tile<i32>
  %31 = addi %25, %30 overflow<no_signed_wrap> : tile<i32>
  %tview = make_tensor_view %arg2, shape = [%11, %19], strides = [%31, 1] : tile<i32> -> tensor_view<?x?xf32, strides=[?,1]>
  %pview = make_partition_view %tview : partition_view<tile=(32x32), padding_value = zero, tensor_view<?x?xf32, strides=[?,1]>>
  %32 = join_tokens %for#3, %for#4 : token
  %33 = store_view_tko weak %for#0, %pview[%blockId_y, %blockId_x] token = %32 : tile<32x32xf32>, partition_view<tile=(32x32), padding_value = zero, tensor_view<?x?xf32, strides=[?,1]>>, tile<i32> -> token
  return
}
entry @_ZN4gemm6matmulIfLi16ELi16ELi16EEEvPKT_S3_Pfiii(%arg0: tile<ptr<f32>>, %arg1: tile<ptr<f32>>, %arg2: tile<ptr<f32>>, %arg3: tile<i32>, %arg4: tile<i32>, %arg5: tile<i32>) {
  %cst_0_i32 = constant <i32: 0> : tile<i32>
  %cst_0_f32 = constant <f32: 0.000000e+00> : tile<16x16xf32>
  %cst_0_i8 = constant <i8: 0> : tile<i8>
  %cst_16_i32 = constant <i32: 16> : tile<i32>
  %cst_1_i32 = constant <i32: 1> : tile<i32>
  %cst_1_i64 = constant <i64: 1> : tile<i64>
  %cst_-1_i32 = constant <i32: -1> : tile<i32>
  %cst_0_i64 = constant <i64: 0> : tile<i64>
  %0 = make_token : token
  %blockId_x, %blockId_y, %blockId_z = get_tile_block_id : tile<i32>
  %1 = addi %arg5, %cst_16_i32 overflow<no_signed_wrap> : tile<i32>
  %2 = subi %1, %cst_1_i32 overflow<no_signed_wrap> : tile<i32>
  %3 = divi %2, %cst_16_i32 signed : tile<i32>
  %for:5 = for %loopIdx in (%cst_0_i32 to %3, step %cst_1_i32) : tile<i32> iter_values(%iterArg0 = %cst_0_f32, %iterArg1 = %0, %iterArg2 = %0, %iterArg3 = %0, %iterArg4 = %0) -> (tile<16x16xf32>, token, token, token, token) {
    %34 = join_tokens %iterArg2, %iterArg1 : token
    %35 = cmpi equal %cst_1_i64, %cst_0_i64, unsigned : tile<i64> -> tile<i1>
    %36 = exti %35 unsigned : tile<i1> -> tile<i32>
    %37 = muli %36, %arg5 overflow<no_signed_wrap> : tile<i32>
    %38 = addi %cst_0_i32, %37 overflow<no_signed_wrap> : tile<i32>
    %39 = cmpi equal %cst_0_i64, %cst_0_i64, unsigned : tile<i64> -> tile<i1>
    %40 = exti %39 unsigned : tile<i1> -> tile<i32>
    %41 = muli %40, %arg3 overflow<no_signed_wrap> : tile<i32>
    %42 = addi %38, %41 overflow<no_signed_wrap> : tile<i32>
    %43 = cmpi equal %cst_1_i64, %cst_1_i64, unsigned : tile<i64> -> tile<i1>
    %44 = exti %43 unsigned : tile<i1> -> tile<i32>
    %45 = muli %44, %arg5 overflow<no_signed_wrap> : tile<i32>
    %46 = addi %cst_0_i32, %45 overflow<no_signed_wrap> : tile<i32>
    %47 = cmpi equal %cst_0_i64, %cst_1_i64, unsigned : tile<i64> -> tile<i1>
    %48 = exti %47 unsigned : tile<i1> -> tile<i32>
    %49 = muli %48, %arg3 overflow<no_signed_wrap> : tile<i32>
    %50 = addi %46, %49 overflow<no_signed_wrap> : tile<i32>
    %51 = cmpi less_than_or_equal %cst_0_i64, %cst_0_i64, unsigned : tile<i64> -> tile<i1>
    %52 = exti %51 unsigned : tile<i1> -> tile<i32>
    %53 = trunci %52 : tile<i32> -> tile<i8>
    %54 = exti %53 unsigned : tile<i8> -> tile<i32>
    %55 = muli %54, %cst_1_i32 overflow<no_signed_wrap> : tile<i32>
    %56 = muli %55, %50 overflow<no_signed_wrap> : tile<i32>
    %57 = cmpi not_equal %53, %cst_0_i8, signed : tile<i8> -> tile<i1>
    %58 = exti %57 unsigned : tile<i1> -> tile<i32>
    %59 = xori %58, %cst_-1_i32 : tile<i32>
    %60 = andi %59, %cst_1_i32 : tile<i32>
    %61 = muli %60, %cst_1_i32 overflow<no_signed_wrap> : tile<i32>
    %62 = addi %56, %61 overflow<no_signed_wrap> : tile<i32>
    %tview_0 = make_tensor_view %arg0, shape = [%42, %50], strides = [%62, 1] : tile<i32> -> tensor_view<?x?xf32, strides=[?,1]>
    %pview_1 = make_partition_view %tview_0 : partition_view<tile=(16x16), padding_value = zero, tensor_view<?x?xf32, strides=[?,1]>>
    %tile, %result_token = load_view_tko weak %pview_1[%blockId_y, %loopIdx] : partition_view<tile=(16x16), padding_value = zero, tensor_view<?x?xf32, strides=[?,1]>>, tile<i32> -> tile<16x16xf32>, token
    %63 = join_tokens %34, %result_token : token
    %64 = join_tokens %63, %iterArg1 : token
    %65 = muli %36, %arg4 overflow<no_signed_wrap> : tile<i32>
    %66 = addi %cst_0_i32, %65 overflow<no_signed_wrap> : tile<i32>
    %67 = muli %40, %arg5 overflow<no_signed_wrap> : tile<i32>
    %68 = addi %66, %67 overflow<no_signed_wrap> : tile<i32>
    %69 = muli %44, %arg4 overflow<no_signed_wrap> : tile<i32>
    %70 = addi %cst_0_i32, %69 overflow<no_signed_wrap> : tile<i32>
    %71 = muli %48, %arg5 overflow<no_signed_wrap> : tile<i32>
    %72 = addi %70, %71 overflow<no_signed_wrap> : tile<i32>
    %73 = muli %55, %72 overflow<no_signed_wrap> : tile<i32>
    %74 = addi %73, %61 overflow<no_signed_wrap> : tile<i32>
    %tview_2 = make_tensor_view %arg1, shape = [%68, %72], strides = [%74, 1] : tile<i32> -> tensor_view<?x?xf32, strides=[?,1]>
    %pview_3 = make_partition_view %tview_2 : partition_view<tile=(16x16), padding_value = zero, tensor_view<?x?xf32, strides=[?,1]>>
    %tile_4, %result_token_5 = load_view_tko weak %pview_3[%loopIdx, %blockId_x] : partition_view<tile=(16x16), padding_value = zero, tensor_view<?x?xf32, strides=[?,1]>>, tile<i32> -> tile<16x16xf32>, token
    %75 = join_tokens %64, %result_token_5 : token
    %76 = mmaf %tile, %tile_4, %iterArg0 : tile<16x16xf32>, tile<16x16xf32>, tile<16x16xf32>
    continue %76, %iterArg1, %75, %result_token_5, %result_token : tile<16x16xf32>, token, token, token, token
  }
  %4 = cmpi equal %cst_1_i64, %cst_0_i64, unsigned : tile<i64> -> tile<i1>
  %5 = exti %4 unsigned : tile<i1> -> tile<i32>
  %6 = muli %5, %arg4 overflow<no_signed_wrap> : tile<i32>
  %7 = addi %cst_0_i32, %6 overflow<no_signed_wrap> : tile<i32>
  %8 = cmpi equal %cst_0_i64, %cst_0_i64, unsigned : tile<i64> -> tile<i1>
  %9 = exti %8 unsigned : tile<i1> -> tile<i32>
  %10 = muli %9, %arg3 overflow<no_signed_wrap> : tile<i32>
  %11 = addi %7, %10 overflow<no_signed_wrap> : tile<i32>
  %12 = cmpi equal %cst_1_i64, %cst_1_i64, unsigned : tile<i64> -> tile<i1>
  %13 = exti %12 unsigned : tile<i1> -> tile<i32>
  %14 = muli %13, %arg4 overflow<no_signed_wrap> : tile<i32>
  %15 = addi %cst_0_i32, %14 overflow<no_signed_wrap> : tile<i32>
  %16 = cmpi equal %cst_0_i64, %cst_1_i64, unsigned : tile<i64> -> tile<i1>
  %17 = exti %16 unsigned : tile<i1> -> tile<i32>
  %18 = muli %17, %arg3 overflow<no_signed_wrap> : tile<i32>
  %19 = addi %15, %18 overflow<no_signed_wrap> : tile<i32>
  %20 = cmpi less_than_or_equal %cst_0_i64, %cst_0_i64, unsigned : tile<i64> -> tile<i1>
  %21 = exti %20 unsigned : tile<i1> -> tile<i32>
  %22 = trunci %21 : tile<i32> -> tile<i8>
  %23 = exti %22 unsigned : tile<i8> -> tile<i32>
  %24 = muli %23, %cst_1_i32 overflow<no_signed_wrap> : tile<i32>
  %25 = muli %24, %19 overflow<no_signed_wrap> : tile<i32>
  %26 = cmpi not_equal %22, %cst_0_i8, signed : tile<i8> -> tile<i1>
  %27 = exti %26 unsigned : tile<i1> -> tile<i32>
  %28 = xori %27, %cst_-1_i32 : tile<i32>
  %29 = andi %28, %cst_1_i32 : tile<i32>
  %30 = muli %29, %cst_1_i32 overflow<no_signed_wrap> : tile<i32>
  %31 = addi %25, %30 overflow<no_signed_wrap> : tile<i32>
  %tview = make_tensor_view %arg2, shape = [%11, %19], strides = [%31, 1] : tile<i32> -> tensor_view<?x?xf32, strides=[?,1]>
  %pview = make_partition_view %tview : partition_view<tile=(16x16), padding_value = zero, tensor_view<?x?xf32, strides=[?,1]>>
  %32 = join_tokens %for#3, %for#4 : token
  %33 = store_view_tko weak %for#0, %pview[%blockId_y, %blockId_x] token = %32 : tile<16x16xf32>, partition_view<tile=(16x16), padding_value = zero, tensor_view<?x?xf32, strides=[?,1]>>, tile<i32> -> token
  return
}
