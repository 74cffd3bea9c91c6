// Functions have no calling convention on tiles: calls are inlined, and only kernels are left.
// RUN: tilewright opt --pass inline-calls %s | filecheck %s
gpu.module @kernels {
  // CHECK-NOT: @square
  nv_tileaa.func @square(%x: i32) -> i32 {
    %y = nv_tileaa.muli %x, %x : i32
    nv_tileaa.return %y : i32
  }
  // CHECK-NOT: @fourth_power
  nv_tileaa.func @fourth_power(%x: i32) -> i32 {
    %y = nv_tileaa.call @square(%x) : (i32) -> i32
    %z = nv_tileaa.call @square(%y) : (i32) -> i32
    nv_tileaa.return %z : i32
  }
  // x^4 by two squarings, no matter how deep the calls nest.
  // CHECK-LABEL: @nested
  // CHECK: [[X2:%[0-9]+]] = nv_tileaa.muli %arg0, %arg0
  // CHECK-NEXT: [[X4:%[0-9]+]] = nv_tileaa.muli [[X2]], [[X2]]
  // CHECK-NEXT: nv_tileaa.store weak %arg1, [[X4]]
  // CHECK-NOT: nv_tileaa.call
  nv_tileaa.func @nested(%x: i32, %p: !nv_tileaa.ptr<i32>) attributes {kernel_spec = #nv_tileaa.kernel_spec<>} {
    %y = nv_tileaa.call @fourth_power(%x) : (i32) -> i32
    %t = nv_tileaa.store weak %p, %y : !nv_tileaa.ptr<i32>, i32
    nv_tileaa.return
  }
  // CHECK-LABEL: @pragma
  // CHECK-NOT: nv_tileaa.pragma
  // CHECK: [[S:%[0-9]+]] = nv_tileaa.addi %arg0, %arg0
  // CHECK: nv_tileaa.store weak %arg1, [[S]]
  nv_tileaa.func @pragma(%x: i32, %p: !nv_tileaa.ptr<i32>) attributes {kernel_spec = #nv_tileaa.kernel_spec<>} {
    %y = nv_tileaa.pragma {unroll = 2 : i32} -> i32 {
      %s = nv_tileaa.addi %x, %x : i32
      nv_tileaa.yield %s : i32
    }
    %t = nv_tileaa.store weak %p, %y : !nv_tileaa.ptr<i32>, i32
    nv_tileaa.return
  }
}
