// Tiles beyond the register budget are processed in a loop over slices.
// RUN: tilewright opt --pass slice-tiles{words=1024} %s | filecheck %s
!f32 = !nv_tileaa.ptr<f32>
!memory = !nv_tileaa.memref<4096xf32, strides = [1]>
!tiles = !nv_tileaa.tiled_view<tile = [4096], source = !memory>
!bytes = !nv_tileaa.memref<2048xi8, strides = [1]>
!byte_tiles = !nv_tileaa.tiled_view<tile = [2048], source = !bytes>
gpu.module @kernels {
  // 4096 words with a budget of 1024: four slices, in one loop for load, add and store.
  // CHECK-LABEL: @elementwise
  // CHECK-NOT: tensor<4096xf32>
  // CHECK: [[N:%[a-z0-9_]+]] = arith.constant 4 : i32
  // CHECK: scf.for {{.*}} to [[N]] step
  // CHECK: nv_tileaa.tiled_load {{.*}} -> tensor<1024xf32>
  // CHECK-NEXT: nv_tileaa.addf {{.*}} : tensor<1024xf32>
  // CHECK: nv_tileaa.tiled_store {{.*}} : tensor<1024xf32>
  // CHECK-NOT: tensor<4096xf32>
  nv_tileaa.func @elementwise(%x: !f32, %y: !f32) attributes {kernel_spec = #nv_tileaa.kernel_spec<>} {
    %c0 = arith.constant 0 : i32
    %mx = nv_tileaa.make_memref %x : !f32 -> !memory
    %vx = nv_tileaa.block_tile %mx : !tiles
    %my = nv_tileaa.make_memref %y : !f32 -> !memory
    %vy = nv_tileaa.block_tile %my : !tiles
    %a, %t = nv_tileaa.tiled_load weak %vx[%c0] : i32 of !tiles -> tensor<4096xf32>
    %b = nv_tileaa.addf %a, %a : tensor<4096xf32>
    %s = nv_tileaa.tiled_store weak %b, %vy[%c0] : tensor<4096xf32>, i32 of !tiles
    nv_tileaa.return
  }
  // A reduction combines slices element by element in the loop, and reduces one slice after it.
  // CHECK-LABEL: @reduction
  // CHECK: [[SUM:%[0-9]+]] = scf.for {{.*}} -> (tensor<[[SLICE:[0-9]+]]xf32>)
  // CHECK: nv_tileaa.tiled_load {{.*}} -> tensor<[[SLICE]]xf32>
  // CHECK: nv_tileaa.addf {{.*}} : tensor<[[SLICE]]xf32>
  // CHECK: nv_tileaa.reduce [[SUM]] {{.*}} : tensor<[[SLICE]]xf32> -> f32
  nv_tileaa.func @reduction(%x: !f32, %y: !f32) attributes {kernel_spec = #nv_tileaa.kernel_spec<>} {
    %c0 = arith.constant 0 : i32
    %mx = nv_tileaa.make_memref %x : !f32 -> !memory
    %vx = nv_tileaa.block_tile %mx : !tiles
    %a, %t = nv_tileaa.tiled_load weak %vx[%c0] : i32 of !tiles -> tensor<4096xf32>
    %r = nv_tileaa.reduce %a {axis = 0 : i32, identities = [0.0 : f32]} : tensor<4096xf32> -> f32 {
    ^bb0(%p: f32, %q: f32):
      %s = nv_tileaa.addf %p, %q : f32
      nv_tileaa.yield %s : f32
    }
    %s = nv_tileaa.store weak %y, %r : !f32, f32
    nv_tileaa.return
  }
  // A loop that carries tiles runs for each slice, with all tiles that it carries.
  // CHECK-LABEL: @carried
  // CHECK: scf.for [[NUMBER:%[a-z0-9_]+]] =
  // CHECK: nv_tileaa.exti [[NUMBER]] unsigned
  // CHECK: scf.for [[ROW:%[a-z0-9_]+]] = {{.*}} -> (tensor<16x32xf32>, tensor<16x32xf32>)
  // CHECK: nv_tileaa.tiled_load {{.*}}{{\[}}[[ROW]], {{.*}} -> tensor<16x32xf32>
  // CHECK: nv_tileaa.reduce {{.*}} : tensor<16x32xf32> -> tensor<32xf32>
  // CHECK: nv_tileaa.tiled_store {{.*}} : tensor<32xf32>
  // CHECK: nv_tileaa.tiled_store {{.*}} : tensor<32xf32>
  // CHECK-NOT: tensor<16x256xf32>
  nv_tileaa.func @carried(%x: !f32, %y: !f32, %n: i32) attributes {kernel_spec = #nv_tileaa.kernel_spec<>} {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %none = arith.constant dense<0.0> : tensor<16x256xf32>
    %mx = nv_tileaa.make_memref %x : !f32 -> !nv_tileaa.memref<64x256xf32, strides = [256, 1]>
    %vx = nv_tileaa.block_tile %mx : !nv_tileaa.tiled_view<tile = [16, 256], source = !nv_tileaa.memref<64x256xf32, strides = [256, 1]>>
    %my = nv_tileaa.make_memref %y : !f32 -> !nv_tileaa.memref<512xf32, strides = [1]>
    %vy = nv_tileaa.block_tile %my : !nv_tileaa.tiled_view<tile = [256], source = !nv_tileaa.memref<512xf32, strides = [1]>>
    %sums:2 = scf.for %i = %c0 to %n step %c1 iter_args(%a = %none, %b = %none) -> (tensor<16x256xf32>, tensor<16x256xf32>) : i32 {
      %v, %t = nv_tileaa.tiled_load weak %vx[%i, %c0] : i32, i32 of !nv_tileaa.tiled_view<tile = [16, 256], source = !nv_tileaa.memref<64x256xf32, strides = [256, 1]>> -> tensor<16x256xf32>
      %c = nv_tileaa.addf %a, %v : tensor<16x256xf32>
      %d = nv_tileaa.mulf %v, %v : tensor<16x256xf32>
      %e = nv_tileaa.addf %b, %d : tensor<16x256xf32>
      scf.yield %c, %e : tensor<16x256xf32>, tensor<16x256xf32>
    }
    %r = nv_tileaa.reduce %sums#0 {axis = 0 : i32, identities = [0.0 : f32]} : tensor<16x256xf32> -> tensor<256xf32> {
    ^bb0(%p: f32, %q: f32):
      %s = nv_tileaa.addf %p, %q : f32
      nv_tileaa.yield %s : f32
    }
    %u = nv_tileaa.reduce %sums#1 {axis = 0 : i32, identities = [0.0 : f32]} : tensor<16x256xf32> -> tensor<256xf32> {
    ^bb0(%p: f32, %q: f32):
      %s = nv_tileaa.addf %p, %q : f32
      nv_tileaa.yield %s : f32
    }
    %s1 = nv_tileaa.tiled_store weak %r, %vy[%c0] : tensor<256xf32>, i32 of !nv_tileaa.tiled_view<tile = [256], source = !nv_tileaa.memref<512xf32, strides = [1]>>
    %s2 = nv_tileaa.tiled_store weak %u, %vy[%c1] : tensor<256xf32>, i32 of !nv_tileaa.tiled_view<tile = [256], source = !nv_tileaa.memref<512xf32, strides = [1]>>
    nv_tileaa.return
  }
  // The reduction takes each f32 as it is computed: registers hold 1024 words of i8 at most.
  // CHECK-LABEL: @streamed
  // CHECK-NOT: scf.for
  // CHECK: nv_tileaa.reduce {{.*}} : tensor<2048xf32> -> f32
  nv_tileaa.func @streamed(%x: !nv_tileaa.ptr<i8>, %y: !f32) attributes {kernel_spec = #nv_tileaa.kernel_spec<>} {
    %c0 = arith.constant 0 : i32
    %mx = nv_tileaa.make_memref %x : !nv_tileaa.ptr<i8> -> !bytes
    %vx = nv_tileaa.block_tile %mx : !byte_tiles
    %a, %t = nv_tileaa.tiled_load weak %vx[%c0] : i32 of !byte_tiles -> tensor<2048xi8>
    %f = arith.sitofp %a : tensor<2048xi8> to tensor<2048xf32>
    %r = nv_tileaa.reduce %f {axis = 0 : i32, identities = [0.0 : f32]} : tensor<2048xf32> -> f32 {
    ^bb0(%p0: f32, %q: f32):
      %s = nv_tileaa.addf %p0, %q : f32
      nv_tileaa.yield %s : f32
    }
    %s = nv_tileaa.store weak %y, %r : !f32, f32
    nv_tileaa.return
  }
  // 256 words fit.
  // CHECK-LABEL: @small
  // CHECK-NOT: scf.for
  // CHECK: nv_tileaa.load {{.*}} -> tensor<256xf32>
  nv_tileaa.func @small(%p: tensor<256x!f32>) attributes {kernel_spec = #nv_tileaa.kernel_spec<>} {
    %a, %t = nv_tileaa.load weak %p : tensor<256x!f32> -> tensor<256xf32>
    %s = nv_tileaa.store weak %p, %a token = %t : tensor<256x!f32>, tensor<256xf32>
    nv_tileaa.return
  }
}
