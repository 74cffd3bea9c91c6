module {
  func.func private @f(i32) -> i32
  func.func private @g(i32 {k.a}) -> (() -> ())
  func.func nested @h() {
    %0 = constant @f : (i32) -> i32
    return
  }
}
