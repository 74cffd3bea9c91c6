// Layout constraints: element-wise operations share one layout; changes of shape carry a layout from
// one tile to another; where two constraints meet, one layout conversion.
// RUN: tilewright opt --pass convert-tileaa-to-tileas %s | filecheck %s
!ptrs = tensor<512x!nv_tileaa.ptr<f32>>
!f32 = !nv_tileaa.ptr<f32>
// Load, arithmetic and store of one tile: one class, one layout.
// CHECK-LABEL: @elementwise
// CHECK: nv_tileas.load {{.*}} -> tensor<512xf32, [[L:#layout[0-9]*]]>
// CHECK-NOT: convert_layout
// CHECK: nv_tileaa.addf {{.*}} : tensor<512xf32, [[L]]>
// CHECK: nv_tileaa.select {{.*}} : tensor<512xi1, [[L]]>, tensor<512xf32, [[L]]>
// CHECK: nv_tileas.store {{.*}} tensor<512xf32, [[L]]>
gpu.module @kernels attributes {nv_tileaa.target_spec = #nv_tileaa.target_spec<compute_capability = 90>} {
  nv_tileaa.func @elementwise(%x: !f32) attributes {kernel_spec = #nv_tileaa.kernel_spec<num_warps = 4>} {
    %i = nv_tileaa.make_range : tensor<512xi32>
    %xs = nv_tileaa.splat %x : !f32 -> !ptrs
    %p = nv_tileaa.addptr %xs, %i : !ptrs, tensor<512xi32>
    %a, %t = nv_tileaa.load weak %p : !ptrs -> tensor<512xf32>
    %b = nv_tileaa.addf %a, %a : tensor<512xf32>
    %c = nv_tileaa.cmpf olt, %a, %b : tensor<512xf32>
    %d = nv_tileaa.select %c, %a, %b : tensor<512xi1>, tensor<512xf32>
    %s = nv_tileaa.store weak %p, %d token = %t : !ptrs, tensor<512xf32>
    nv_tileaa.return
  }
}
// -----
// Permute, view and expand_dims rename elements: the threads that hold them stay the same.
// CHECK-LABEL: @changes_of_shape
// CHECK-NOT: convert_layout
// CHECK: nv_tileas.permute
// CHECK-NOT: convert_layout
// CHECK: nv_tileas.view
// CHECK-NOT: convert_layout
// CHECK: nv_tileas.expand_dims
// CHECK-NOT: convert_layout
// CHECK: nv_tileas.print
!f32 = !nv_tileaa.ptr<f32>
!memory = !nv_tileaa.memref<32x16xf32, strides = [16, 1]>
!tiles = !nv_tileaa.tiled_view<tile = [32, 16], source = !memory>
gpu.module @kernels attributes {nv_tileaa.target_spec = #nv_tileaa.target_spec<compute_capability = 90>} {
  nv_tileaa.func @changes_of_shape(%x: !f32) attributes {kernel_spec = #nv_tileaa.kernel_spec<num_warps = 4>} {
    %c0 = arith.constant 0 : i32
    %m = nv_tileaa.make_memref %x : !f32 -> !memory
    %v = nv_tileaa.block_tile %m : !tiles
    %a, %t = nv_tileaa.tiled_load weak %v[%c0, %c0] : i32, i32 of !tiles -> tensor<32x16xf32>
    %b = nv_tileaa.permute %a [1, 0] : tensor<32x16xf32> -> tensor<16x32xf32>
    %c = nv_tileaa.view %b : tensor<16x32xf32> -> tensor<512xf32>
    %d = nv_tileaa.expand_dims %c {axis = 0 : i64} : tensor<512xf32> -> tensor<1x512xf32>
    %u = nv_tileaa.print "%f", %d : tensor<1x512xf32>
    nv_tileaa.return
  }
}
// -----
// A transposed copy: the load is coalesced along rows, the store along columns; one conversion.
// CHECK-LABEL: @transposed_copy
// CHECK: nv_tileas.tiled_load
// CHECK: nv_tileas.convert_layout
// CHECK-NOT: nv_tileas.convert_layout
// CHECK: nv_tileas.tiled_store
!f32 = !nv_tileaa.ptr<f32>
!memory = !nv_tileaa.memref<64x64xf32, strides = [64, 1]>
!tiles = !nv_tileaa.tiled_view<tile = [64, 64], source = !memory>
gpu.module @kernels attributes {nv_tileaa.target_spec = #nv_tileaa.target_spec<compute_capability = 90>} {
  nv_tileaa.func @transposed_copy(%x: !f32, %y: !f32) attributes {kernel_spec = #nv_tileaa.kernel_spec<num_warps = 4>} {
    %c0 = arith.constant 0 : i32
    %mx = nv_tileaa.make_memref %x : !f32 -> !memory
    %vx = nv_tileaa.block_tile %mx : !tiles
    %my = nv_tileaa.make_memref %y : !f32 -> !memory
    %vy = nv_tileaa.block_tile %my : !tiles
    %a, %t = nv_tileaa.tiled_load weak %vx[%c0, %c0] : i32, i32 of !tiles -> tensor<64x64xf32>
    %b = nv_tileaa.permute %a [1, 0] : tensor<64x64xf32> -> tensor<64x64xf32>
    %s = nv_tileaa.tiled_store weak %b, %vy[%c0, %c0] : tensor<64x64xf32>, i32, i32 of !tiles
    nv_tileaa.return
  }
}
// -----
// Ranges, splats and constants are rematerialized in each layout that is needed, not converted.
// CHECK-LABEL: @rematerialized
// CHECK-COUNT-2: nv_tileas.make_range
// CHECK-NOT: nv_tileas.convert_layout
!f32 = !nv_tileaa.ptr<f32>
gpu.module @kernels attributes {nv_tileaa.target_spec = #nv_tileaa.target_spec<compute_capability = 90>} {
  nv_tileaa.func @rematerialized(%x: !f32, %y: !f32) attributes {kernel_spec = #nv_tileaa.kernel_spec<num_warps = 4>} {
    %xa = nv_tileaa.assume #nv_tileaa.div_by<16>, %x : !f32
    %i = nv_tileaa.make_range : tensor<512xi32>
    %two = arith.constant dense<2> : tensor<512xi32>
    %j = nv_tileaa.muli %i, %two : tensor<512xi32>
    %xs = nv_tileaa.splat %xa : !f32 -> tensor<512x!f32>
    %ys = nv_tileaa.splat %y : !f32 -> tensor<512x!f32>
    %p = nv_tileaa.addptr %xs, %i : tensor<512x!f32>, tensor<512xi32>
    %q = nv_tileaa.addptr %ys, %j : tensor<512x!f32>, tensor<512xi32>
    %a, %t = nv_tileaa.load weak %p : tensor<512x!f32> -> tensor<512xf32>
    %b, %u = nv_tileaa.load weak %q : tensor<512x!f32> -> tensor<512xf32>
    nv_tileaa.return
  }
}
// -----
// A reduction keeps the layout of what is left: the reduced dimension is dropped. A loop-carried tile
// has one layout at entry, in the body and at the back edge.
// CHECK-LABEL: @reduce_in_loop
// CHECK: scf.for {{.*}} -> (tensor<64xf32, [[R:#layout[0-9]*]]>)
// CHECK: nv_tileas.reduce
// CHECK: scf.yield {{.*}} : tensor<64xf32, [[R]]>
!f32 = !nv_tileaa.ptr<f32>
!memory = !nv_tileaa.memref<64x64xf32, strides = [64, 1]>
!tiles = !nv_tileaa.tiled_view<tile = [64, 64], source = !memory>
gpu.module @kernels attributes {nv_tileaa.target_spec = #nv_tileaa.target_spec<compute_capability = 90>} {
  nv_tileaa.func @reduce_in_loop(%x: !f32, %n: i32) attributes {kernel_spec = #nv_tileaa.kernel_spec<num_warps = 4>} {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %zero = arith.constant dense<0.0> : tensor<64xf32>
    %m = nv_tileaa.make_memref %x : !f32 -> !memory
    %v = nv_tileaa.block_tile %m : !tiles
    %sum = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<64xf32>) : i32 {
      %a, %t = nv_tileaa.tiled_load weak %v[%i, %c0] : i32, i32 of !tiles -> tensor<64x64xf32>
      %r = nv_tileaa.reduce %a {axis = 1 : i32, identities = [0.0 : f32]} : tensor<64x64xf32> -> tensor<64xf32> {
      ^bb0(%p: f32, %q: f32):
        %s = nv_tileaa.addf %p, %q : f32
        nv_tileaa.yield %s : f32
      }
      %b = nv_tileaa.addf %acc, %r : tensor<64xf32>
      scf.yield %b : tensor<64xf32>
    }
    %u = nv_tileaa.print "%f", %sum : tensor<64xf32>
    nv_tileaa.return
  }
}
