module {
  func.func @branches(%arg0: i1, %arg1: i32) -> i32 {
    cf.cond_br %arg0, ^bb1(%arg1 : i32), ^bb2
  ^bb1(%0: i32):  // 2 preds: ^bb0, ^bb2
    cf.br ^bb3(%0, %arg0 : i32, i1)
  ^bb2:  // 2 preds: ^bb0, ^bb2
    cf.assert %arg0, "a \22message\22"
    cf.switch %arg1 : i32, [
      default: ^bb3(%arg1, %arg0 : i32, i1),
      -1: ^bb1(%arg1 : i32),
      42: ^bb2
    ]
  ^bb3(%1: i32, %2: i1):  // 2 preds: ^bb1, ^bb2
    return %1 : i32
  }
}
