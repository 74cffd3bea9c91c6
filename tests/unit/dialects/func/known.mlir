module {
  func.func private @declared(i32, f32) -> i32
  func.func @attributes(%arg0: i32 {k.a}, %arg1: f32) -> (i32 {k.b = 1 : i64}) attributes {k.c = "x"} {
    %0 = call @declared(%arg0, %arg1) : (i32, f32) -> i32
    return %0 : i32
  }
  func.func @several(%arg0: i32) -> (i32, i32) {
    %0:2 = call @several(%arg0) : (i32) -> (i32, i32)
    return %0#0, %0#1 : i32, i32
  }
  func.func @nothing() {
    call @nothing() : () -> ()
    return
  }
}
