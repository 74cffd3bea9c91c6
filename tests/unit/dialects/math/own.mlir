module {
  func.func @beyond_xdsl(%arg0: f32, %arg1: vector<4xf32>) {
    %0 = math.erfc %arg0 : f32
    %1 = math.isnan %arg0 : f32
    %2 = math.isinf %arg1 : vector<4xf32>
    %3 = math.isfinite %arg0 fastmath<contract> : f32
    %4 = math.isnormal %arg0 : f32
    %5 = math.clampf %arg0 to [%arg0, %arg0] fastmath<nnan> : f32
    %sin, %cos = math.sincos %arg0 : f32
    return
  }
}
