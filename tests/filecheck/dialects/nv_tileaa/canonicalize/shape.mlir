// RUN: tilewright opt --pass canonicalize %s | filecheck %s
gpu.module @kernels {
  // Everything that only rearranges equal elements is a splat of the result's type.
  // CHECK-LABEL: @rearranged_splat
  // CHECK-DAG: nv_tileaa.splat %arg0 : f32 -> tensor<1x16xf32>
  // CHECK-DAG: nv_tileaa.splat %arg0 : f32 -> tensor<4x4xf32>
  // CHECK-DAG: nv_tileaa.splat %arg0 : f32 -> tensor<8x16xf32>
  // CHECK-DAG: nv_tileaa.splat %arg0 : f32 -> tensor<16x8xf32>
  // CHECK-NOT: {{expand_dims|view|broadcast|permute}}
  nv_tileaa.func @rearranged_splat(%x: f32) -> (tensor<1x16xf32>, tensor<4x4xf32>, tensor<8x16xf32>, tensor<16x8xf32>) {
    %s = nv_tileaa.splat %x : f32 -> tensor<16xf32>
    %r = nv_tileaa.splat %x : f32 -> tensor<1x16xf32>
    %t = nv_tileaa.splat %x : f32 -> tensor<8x16xf32>
    %a = nv_tileaa.expand_dims %s {axis = 0 : i64} : tensor<16xf32> -> tensor<1x16xf32>
    %b = nv_tileaa.view %s : tensor<16xf32> -> tensor<4x4xf32>
    %c = nv_tileaa.broadcast %r : tensor<1x16xf32> -> tensor<8x16xf32>
    %d = nv_tileaa.permute %t [1, 0] : tensor<8x16xf32> -> tensor<16x8xf32>
    nv_tileaa.return %a, %b, %c, %d : tensor<1x16xf32>, tensor<4x4xf32>, tensor<8x16xf32>, tensor<16x8xf32>
  }
  // Row-major order is the same in between.
  // CHECK-LABEL: @view_of_view
  // CHECK: [[V:%[0-9]+]] = nv_tileaa.view %arg0 : tensor<16xf32> -> tensor<2x8xf32>
  // CHECK-NEXT: nv_tileaa.return [[V]]
  nv_tileaa.func @view_of_view(%x: tensor<16xf32>) -> tensor<2x8xf32> {
    %a = nv_tileaa.view %x : tensor<16xf32> -> tensor<4x4xf32>
    %b = nv_tileaa.view %a : tensor<4x4xf32> -> tensor<2x8xf32>
    nv_tileaa.return %b : tensor<2x8xf32>
  }
  // CHECK-LABEL: @broadcast_of_broadcast
  // CHECK: [[B:%[0-9]+]] = nv_tileaa.broadcast %arg0 : tensor<1x1xf32> -> tensor<8x4xf32>
  // CHECK-NEXT: nv_tileaa.return [[B]]
  nv_tileaa.func @broadcast_of_broadcast(%x: tensor<1x1xf32>) -> tensor<8x4xf32> {
    %a = nv_tileaa.broadcast %x : tensor<1x1xf32> -> tensor<1x4xf32>
    %b = nv_tileaa.broadcast %a : tensor<1x4xf32> -> tensor<8x4xf32>
    nv_tileaa.return %b : tensor<8x4xf32>
  }
  // Two rotations of three dimensions are one, in the other direction.
  // CHECK-LABEL: @permute_of_permute
  // CHECK: [[P:%[0-9]+]] = nv_tileaa.permute %arg0 [2, 0, 1] : tensor<2x4x8xf32> -> tensor<8x2x4xf32>
  // CHECK-NEXT: nv_tileaa.return [[P]]
  nv_tileaa.func @permute_of_permute(%x: tensor<2x4x8xf32>) -> tensor<8x2x4xf32> {
    %a = nv_tileaa.permute %x [1, 2, 0] : tensor<2x4x8xf32> -> tensor<4x8x2xf32>
    %b = nv_tileaa.permute %a [1, 2, 0] : tensor<4x8x2xf32> -> tensor<8x2x4xf32>
    nv_tileaa.return %b : tensor<8x2x4xf32>
  }
  // CHECK-LABEL: @splat_of_select
  // CHECK: nv_tileaa.splat %arg0 : i1 -> tensor<16xi1>
  // CHECK: nv_tileaa.select {{.*}} : tensor<16xi1>, tensor<16xf32>
  nv_tileaa.func @splat_of_select(%c: i1, %x: f32, %y: f32) -> tensor<16xf32> {
    %a = nv_tileaa.select %c, %x, %y : i1, f32
    %b = nv_tileaa.splat %a : f32 -> tensor<16xf32>
    nv_tileaa.return %b : tensor<16xf32>
  }
  // CHECK-LABEL: @assume_of_splat
  // CHECK: [[A:%[0-9]+]] = nv_tileaa.assume #nv_tileaa.div_by<16>, %arg0 : i32
  // CHECK-NEXT: nv_tileaa.splat [[A]]
  nv_tileaa.func @assume_of_splat(%x: i32) -> tensor<16xi32> {
    %a = nv_tileaa.splat %x : i32 -> tensor<16xi32>
    %b = nv_tileaa.assume #nv_tileaa.div_by<16>, %a : tensor<16xi32>
    nv_tileaa.return %b : tensor<16xi32>
  }
  // One element needs one addition, not sixteen; of a view, element (1, 2) of 4x4 is element 6.
  // CHECK-LABEL: @extract
  // CHECK-NOT: tensor<16xf32> -> tensor
  // CHECK: [[SIX:%[a-z0-9_]+]] = arith.constant 6 : i32
  // CHECK: nv_tileaa.addf {{.*}} : f32
  // CHECK: nv_tileaa.extract %arg0{{\[}}[[SIX]]] : tensor<16xf32> -> f32
  nv_tileaa.func @extract(%x: tensor<16xf32>, %i: i32) -> (f32, f32) {
    %one = arith.constant 1 : i32
    %two = arith.constant 2 : i32
    %a = nv_tileaa.addf %x, %x : tensor<16xf32>
    %b = nv_tileaa.extract %a[%i] : tensor<16xf32> -> f32
    %c = nv_tileaa.view %x : tensor<16xf32> -> tensor<4x4xf32>
    %d = nv_tileaa.extract %c[%one, %two] : tensor<4x4xf32> -> f32
    nv_tileaa.return %b, %d : f32, f32
  }
}
