module {
  func.func @beyond_xdsl(%arg0: i1, %arg1: i32) {
    cf.cond_br %arg0 weights([9, 1]), ^bb1, ^bb2 {k}
  ^bb1:  // 2 preds: ^bb0, ^bb2
    cf.br ^bb2 {k}
  ^bb2:  // 3 preds: ^bb0, ^bb1, ^bb2
    cf.switch %arg1 : i32, [
      default: ^bb1,
      7: ^bb2
    ] {k}
  }
}
