// Layout constraints of operations that combine elements of several threads.
// RUN: tilewright opt --pass convert-tileaa-to-tileas %s | filecheck %s
// A scan runs along the four elements of a thread, then lanes, then warps; then comes the next chunk.
// CHECK: [[S:#layout[0-9]*]] = #nv_tileas.layout<[1024], register = {{\[}}[1], [2], [512]], lane = {{\[}}[4], [8], [16], [32], [64]], warp = {{\[}}[128], [256]]>
// CHECK-LABEL: @scan
// CHECK: nv_tileas.scan {{.*}} : tensor<1024xf32, [[S]]> -> tensor<1024xf32, [[S]]>
!f32 = !nv_tileaa.ptr<f32>
gpu.module @kernels attributes {nv_tileaa.target_spec = #nv_tileaa.target_spec<compute_capability = 90>} {
  nv_tileaa.func @scan(%x: !f32) attributes {kernel_spec = #nv_tileaa.kernel_spec<num_warps = 4>} {
    %i = nv_tileaa.make_range : tensor<1024xi32>
    %xs = nv_tileaa.splat %x : !f32 -> tensor<1024x!f32>
    %p = nv_tileaa.addptr %xs, %i : tensor<1024x!f32>, tensor<1024xi32>
    %a, %t = nv_tileaa.load weak %p : tensor<1024x!f32> -> tensor<1024xf32>
    %b = nv_tileaa.scan %a {axis = 0 : i32, inclusive = true} : tensor<1024xf32> -> tensor<1024xf32> {
    ^bb0(%u: f32, %v: f32):
      %s = nv_tileaa.addf %u, %v : f32
      nv_tileaa.yield %s : f32
    }
    %s = nv_tileaa.store weak %p, %b token = %t : tensor<1024x!f32>, tensor<1024xf32>
    nv_tileaa.return
  }
}
// -----
// Several operands of a reduction are combined element by element: one layout. What is left has the
// dimension dropped, and no copies of an element in one thread.
// CHECK-DAG: [[WHOLE:#layout[0-9]*]] = #nv_tileas.layout<[32, 32], register = {{\[}}[4, 0], [8, 0], [16, 0]], lane = {{\[}}[0, 1], [0, 2], [0, 4], [0, 8], [0, 16]], warp = {{\[}}[1, 0], [2, 0]]>
// CHECK-DAG: [[REST:#layout[0-9]*]] = #nv_tileas.layout<[32], register = [], lane = {{\[}}[1], [2], [4], [8], [16]], warp = {{\[}}[0], [0]]>
// CHECK-LABEL: @argmax
// CHECK: nv_tileas.reduce {{.*}} : tensor<32x32xf32, [[WHOLE]]>, tensor<32x32xi32, [[WHOLE]]> -> tensor<32xf32, [[REST]]>, tensor<32xi32, [[REST]]>
!f32 = !nv_tileaa.ptr<f32>
!memory = !nv_tileaa.memref<32x32xf32, strides = [32, 1]>
!tiles = !nv_tileaa.tiled_view<tile = [32, 32], source = !memory>
gpu.module @kernels attributes {nv_tileaa.target_spec = #nv_tileaa.target_spec<compute_capability = 90>} {
  nv_tileaa.func @argmax(%x: !f32) attributes {kernel_spec = #nv_tileaa.kernel_spec<num_warps = 4>} {
    %c0 = arith.constant 0 : i32
    %m = nv_tileaa.make_memref %x : !f32 -> !memory
    %v = nv_tileaa.block_tile %m : !tiles
    %a, %t = nv_tileaa.tiled_load weak %v[%c0, %c0] : i32, i32 of !tiles -> tensor<32x32xf32>
    %r = nv_tileaa.make_range : tensor<32xi32>
    %r1 = nv_tileaa.expand_dims %r {axis = 1 : i64} : tensor<32xi32> -> tensor<32x1xi32>
    %i = nv_tileaa.broadcast %r1 : tensor<32x1xi32> -> tensor<32x32xi32>
    %b:2 = nv_tileaa.reduce %a, %i {axis = 0 : i32} : tensor<32x32xf32>, tensor<32x32xi32> -> tensor<32xf32>, tensor<32xi32> {
    ^bb0(%p: f32, %q: f32, %j: i32, %k: i32):
      %more = nv_tileaa.cmpf ogt, %p, %q : f32
      %best = nv_tileaa.select %more, %p, %q : i1, f32
      %at = nv_tileaa.select %more, %j, %k : i1, i32
      nv_tileaa.yield %best, %at : f32, i32
    }
    %u = nv_tileaa.print "%f %d", %b#0, %b#1 : tensor<32xf32>, tensor<32xi32>
    nv_tileaa.return
  }
}
// -----
// CHECK-LABEL: @histogram
// CHECK: nv_tileas.histogram {{.*}} : tensor<512xi32, {{#layout[0-9]*}}> -> tensor<64xi32, {{#layout[0-9]*}}>
// CHECK: nv_tileas.generate : tensor<64xi32, {{#layout[0-9]*}}>
// CHECK: nv_tileas.yield
!i32 = !nv_tileaa.ptr<i32>
gpu.module @kernels attributes {nv_tileaa.target_spec = #nv_tileaa.target_spec<compute_capability = 90>} {
  nv_tileaa.func @histogram(%x: !i32) attributes {kernel_spec = #nv_tileaa.kernel_spec<num_warps = 4>} {
    %i = nv_tileaa.make_range : tensor<512xi32>
    %xs = nv_tileaa.splat %x : !i32 -> tensor<512x!i32>
    %p = nv_tileaa.addptr %xs, %i : tensor<512x!i32>, tensor<512xi32>
    %a, %t = nv_tileaa.load weak %p : tensor<512x!i32> -> tensor<512xi32>
    %h = nv_tileaa.histogram %a : tensor<512xi32> -> tensor<64xi32>
    %g = nv_tileaa.generate : tensor<64xi32> {
    ^bb0(%k: i32):
      nv_tileaa.yield %k : i32
    }
    %s = nv_tileaa.addi %h, %g : tensor<64xi32>
    %u = nv_tileaa.print "%d", %s : tensor<64xi32>
    nv_tileaa.return
  }
}
