entry @aggregate(%arg0: tile<f32>, %arg1: tile<i1>) {
  %0 = iota : tile<16xi32>
  %reshape = reshape %0 : tile<16xi32> -> tile<4x4xi32>
  %1 = itof %reshape signed  : tile<4x4xi32> -> tile<4x4xf32>
  %reduce = reduce %1 dim=1 identities=[0.000000e+00 : f32] : tile<4x4xf32> -> tile<4xf32> 
  (%reduce_lhs: tile<f32>, %reduce_rhs: tile<f32>) {
    %4 = addf %reduce_lhs, %reduce_rhs  : tile<f32>
    yield %4 : tile<f32>
  }
  %reduce_0:2 = reduce %1, %reshape dim=0 identities=[0xFF800000 : f32, -1 : i32] : tile<4x4xf32>, tile<4x4xi32> -> tile<4xf32>, tile<4xi32> 
  (%reduce_lhs0: tile<f32>, %reduce_rhs0: tile<f32>, %reduce_lhs1: tile<i32>, %reduce_rhs1: tile<i32>) {
    %4 = maxf %reduce_lhs0, %arg0 : tile<f32>
    %5 = divi %reduce_lhs1, %reduce_rhs1 signed : tile<i32>
    %6 = if %arg1 -> (tile<i32>) {
      yield %5 : tile<i32>
    } else {
      yield %reduce_rhs1 : tile<i32>
    }
    yield %4, %6 : tile<f32>, tile<i32>
  }
  %2 = scan %1 dim=0 reverse=false identities=[1.000000e+00 : f32] : tile<4x4xf32> -> tile<4x4xf32> 
  (%arg2: tile<f32>, %arg3: tile<f32>) {
    %4 = mulf %arg2, %arg3  : tile<f32>
    yield %4 : tile<f32>
  }
  %3 = scan %0 dim=0 reverse=true identities=[0 : i32] : tile<16xi32> -> tile<16xi32> 
  (%arg2: tile<i32>, %arg3: tile<i32>) {
    yield %arg3 : tile<i32>
  }
  return
}
