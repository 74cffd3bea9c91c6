module {
  func.func @unsigned(%arg0: i64) {
    scf.for unsigned %arg1 = %arg0 to %arg0 step %arg0 : i64 {
    } {hint = 4 : i32}
    return
  }
}
