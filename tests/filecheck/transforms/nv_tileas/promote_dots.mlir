// A dot that starts at zero, and is only added to a tile, does the addition.
// RUN: tilewright opt --pass promote-dots %s | filecheck %s
#a = #nv_tileas.layout<[64, 32], offset = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [1, 0], [2, 8], [4, 16], [8, 0], [16, 0], [32, 0]]>
#b = #nv_tileas.layout<[32, 16], offset = [[0, 1], [0, 2], [0, 4], [0, 8], [1, 0], [2, 0], [4, 8], [8, 0], [16, 0]]>
#c = #nv_tileas.layout<[64, 16], register = [[0, 1], [8, 0], [0, 8]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0]]>
#row = #nv_tileas.layout<[1, 16], register = [[0, 1], [0, 8]], lane = [[0, 2], [0, 4], [0, 0], [0, 0], [0, 0]], warp = [[0, 0], [0, 0]]>
#columns = #nv_tileas.layout<[16], register = [[1], [8]], lane = [[2], [4], [0], [0], [0]], warp = [[0], [0]]>
!a = tensor<64x32xf16, #a>
!b = tensor<32x16xf16, #b>
!c = tensor<64x16xf32, #c>
!keys = tensor<64x16xi32, #c>
!exists = tensor<64x16xi1, #c>
!row = tensor<1x16xi32, #row>
!columns = tensor<16xi32, #columns>
!tiles = !nv_tileaa.tiled_view<tile = [64, 16], source = !nv_tileaa.memref<?x16xf32, strides = [16, 1]>, padding = zero>
gpu.module @kernels attributes {nv_tileaa.target_spec = #nv_tileaa.target_spec<compute_capability = 90>} {
  // The other operand may follow the dot.
  // CHECK-LABEL: @added
  // CHECK: %[[X:.*]] = nv_tileaa.negf %arg2
  // CHECK-NEXT: %[[D:.*]] = nv_tileas.dot %arg0, %arg1, %[[X]] {{{.*}}promoted}
  // CHECK-NOT: addf
  // CHECK: nv_tileaa.negf %[[D]]
  nv_tileaa.func @added(%a: !a, %b: !b, %c: !c) attributes {kernel_spec = #nv_tileaa.kernel_spec<num_warps = 4>} {
    %zero = arith.constant 0.0 : f32
    %none = nv_tileas.splat %zero : f32 -> !c
    %d = nv_tileas.dot %a, %b, %none {atom = #nv_tileas.atom<wgmma>} : !a, !b, !c
    %x = nv_tileaa.negf %c : !c
    %sum = nv_tileaa.addf %d, %x : !c
    %use = nv_tileaa.negf %sum : !c
    nv_tileaa.return
  }
  // Another accumulator, another use, another rounding mode: the addition stays.
  // CHECK-LABEL: @others
  // CHECK-NOT: promoted
  // CHECK-COUNT-3: nv_tileaa.addf
  nv_tileaa.func @others(%a: !a, %b: !b, %c: !c) attributes {kernel_spec = #nv_tileaa.kernel_spec<num_warps = 4>} {
    %zero = arith.constant 0.0 : f32
    %none = nv_tileas.splat %zero : f32 -> !c
    %d = nv_tileas.dot %a, %b, %c {atom = #nv_tileas.atom<wgmma>} : !a, !b, !c
    %sum = nv_tileaa.addf %d, %c : !c
    %e = nv_tileas.dot %a, %b, %none {atom = #nv_tileas.atom<wgmma>} : !a, !b, !c
    %sum1 = nv_tileaa.addf %e, %c : !c
    %use = nv_tileaa.negf %e : !c
    %f = nv_tileas.dot %a, %b, %none {atom = #nv_tileas.atom<wgmma>} : !a, !b, !c
    %sum2 = nv_tileaa.addf %f, %c rounding<zero> : !c
    nv_tileaa.return
  }
  // A mask is computed from scalars and takes no registers before it is added.
  // CHECK-LABEL: @mask
  // CHECK-NOT: promoted
  // CHECK: nv_tileas.dot
  // CHECK: %[[MASK:.*]] = nv_tileaa.select
  // CHECK-NEXT: nv_tileaa.addf %{{.*}}, %[[MASK]]
  nv_tileaa.func @mask(%a: !a, %b: !b, %n: i32) attributes {kernel_spec = #nv_tileaa.kernel_spec<num_warps = 4>} {
    %zero = arith.constant 0.0 : f32
    %never = arith.constant 0xFF800000 : f32
    %none = nv_tileas.splat %zero : f32 -> !c
    %d = nv_tileas.dot %a, %b, %none {atom = #nv_tileas.atom<wgmma>} : !a, !b, !c
    %numbers = nv_tileas.make_range : !columns
    %row = nv_tileas.expand_dims %numbers {axis = 0 : i64} : !columns -> !row
    %keys = nv_tileas.broadcast %row : !row -> !keys
    %ends = nv_tileas.splat %n : i32 -> !keys
    %exists = nv_tileaa.cmpi slt, %keys, %ends : !keys
    %lowest = nv_tileas.splat %never : f32 -> !c
    %mask = nv_tileaa.select %exists, %none, %lowest : !exists, !c
    %sum = nv_tileaa.addf %d, %mask : !c
    %use = nv_tileaa.negf %sum : !c
    nv_tileaa.return
  }
  // A tile that was loaded has registers already, and so has one that a loop carries, whatever is computed from them.
  // CHECK-LABEL: @loaded
  // CHECK: nv_tileas.tiled_load
  // CHECK-NEXT: nv_tileaa.addf
  // CHECK-NEXT: nv_tileas.dot {{.*}}promoted}
  // CHECK-NOT: addf
  nv_tileaa.func @loaded(%a: !a, %b: !b, %v: !tiles, %n: f32) attributes {kernel_spec = #nv_tileaa.kernel_spec<num_warps = 4>} {
    %c0 = arith.constant 0 : i32
    %zero = arith.constant 0.0 : f32
    %none = nv_tileas.splat %zero : f32 -> !c
    %bias = nv_tileas.splat %n : f32 -> !c
    %loaded, %t = nv_tileas.tiled_load weak %v[%c0, %c0] : i32, i32 of !tiles -> !c
    %x = nv_tileaa.addf %loaded, %bias : !c
    %d = nv_tileas.dot %a, %b, %none {atom = #nv_tileas.atom<wgmma>} : !a, !b, !c
    %sum = nv_tileaa.addf %x, %d : !c
    %use = nv_tileaa.negf %sum : !c
    nv_tileaa.return
  }
  // CHECK-LABEL: @carried
  // CHECK: scf.for {{.*}} iter_args(%[[ACC:.*]] = %
  // CHECK-NEXT: nv_tileas.dot %arg0, %arg1, %[[ACC]] {{{.*}}promoted}
  // CHECK-NEXT: scf.yield
  nv_tileaa.func @carried(%a: !a, %b: !b, %n: i32) attributes {kernel_spec = #nv_tileaa.kernel_spec<num_warps = 4>} {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %zero = arith.constant 0.0 : f32
    %none = nv_tileas.splat %zero : f32 -> !c
    %sum = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %none) -> (!c) : i32 {
      %d = nv_tileas.dot %a, %b, %none {atom = #nv_tileas.atom<wgmma>} : !a, !b, !c
      %next = nv_tileaa.addf %acc, %d : !c
      scf.yield %next : !c
    }
    nv_tileaa.return
  }
}
