module {
  func.func @branches(%arg0: i1, %arg1: i32) {
    scf.if %arg0 {
    }
    scf.if %arg0 {
      %1 = arith.addi %arg1, %arg1 : i32
    } else {
    }
    %0:2 = scf.if %arg0 -> (i32, i1) {
      scf.yield %arg1, %arg0 : i32, i1
    } else {
      scf.yield %arg1, %arg0 : i32, i1
    }
    return
  }
  func.func @loops(%arg0: index, %arg1: i32, %arg2: f32) {
    scf.for %arg3 = %arg0 to %arg0 step %arg0 {
    }
    %0:2 = scf.for %arg3 = %arg1 to %arg1 step %arg1 iter_args(%arg4 = %arg2, %arg5 = %arg1) -> (f32, i32) : i32 {
      scf.yield %arg4, %arg3 : f32, i32
    }
    %1 = scf.while (%arg3 = %arg1) : (i32) -> f32 {
      %2 = arith.cmpi slt, %arg3, %arg1 : i32
      scf.condition(%2) %arg2 : f32
    } do {
    ^bb0(%arg3: f32):
      scf.yield %arg1 : i32
    }
    scf.while : () -> () {
      %2 = arith.cmpi slt, %arg1, %arg1 : i32
      scf.condition(%2)
    } do {
      scf.yield
    } attributes {k}
    return
  }
}
