global  @first <i32: 0> : tile<2xi32>
global private  constant @table alignment = 64 <f32: [5.000000e-01, 1.500000e+00]> : tile<2xf32>
entry @plain() {
  return
}
entry @hinted(%arg0: tile<ptr<f32>>, %arg1: tile<i64>, %arg2: tile<i1>, %arg3: tile<bf16>) optimization_hints=<default = {}, sm_90 = {num_cta_in_cga = 2, occupancy = 2}> {
  %0 = get_global @table : tile<ptr<f32>>
  %1 = get_global @first : tile<ptr<i32>>
  assert %arg2, "argument must be true" : tile<i1>
  return
}
