entry @branches(%arg0: tile<i1>, %arg1: tile<i32>, %arg2: tile<f32>) {
  if %arg0 {
  }
  if %arg0 {
    return
  } else {
  }
  %0 = if %arg0 -> (tile<i32>) {
    yield %arg1 : tile<i32>
  } else {
    %cst_1_i32 = constant <i32: 1> : tile<i32>
    yield %cst_1_i32 : tile<i32>
  }
  %1:2 = if %arg0 -> (tile<i32>, tile<f32>) {
    yield %0, %arg2 : tile<i32>, tile<f32>
  } else {
    return
  }
  return
}
entry @counted(%arg0: tile<i32>, %arg1: tile<i32>, %arg2: tile<i32>, %arg3: tile<i1>) {
  for %loopIdx in (%arg0 to %arg1, step %arg2) : tile<i32> {
    if %arg3 {
      continue
    }
  }
  %0 = make_token : token
  %for:2 = for unsigned %loopIdx in (%arg0 to %arg1, step %arg2) : tile<i32> iter_values(%iterArg0 = %arg0, %iterArg1 = %0) -> (tile<i32>, token) {
    %for_0 = for %loopIdx_1 in (%arg0 to %loopIdx, step %arg2) : tile<i32> iter_values(%iterArg0_2 = %iterArg0) -> (tile<i32>) {
      %1 = addi %iterArg0_2, %loopIdx_1 : tile<i32>
      continue %1 : tile<i32>
    }
    continue %for_0, %iterArg1 : tile<i32>, token
  }
  return
}
entry @endless(%arg0: tile<i1>, %arg1: tile<i32>, %arg2: tile<f32>) {
  loop {
    if %arg0 {
      break
    }
  }
  %0 = loop : tile<f32> {
    break %arg2 : tile<f32>
  }
  loop iter_values(%arg3 = %arg1) : tile<i32> {
    if %arg0 {
      return
    }
    continue %arg3 : tile<i32>
  }
  %1:2 = loop iter_values(%arg3 = %arg1, %arg4 = %arg2) : tile<i32>, tile<f32> -> tile<f32>, tile<i32> {
    if %arg0 {
      break %arg4, %arg3 : tile<f32>, tile<i32>
    } else {
      if %arg0 {
        continue %arg3, %arg4 : tile<i32>, tile<f32>
      }
    }
    loop {
      return
    }
    continue %arg3, %arg4 : tile<i32>, tile<f32>
  }
  return
}
