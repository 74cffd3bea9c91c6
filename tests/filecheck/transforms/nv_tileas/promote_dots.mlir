// A dot that starts at zero, and is only added to a tile, does the addition.
// RUN: tilewright opt --pass promote-dots %s | filecheck %s
#a = #nv_tileas.layout<[64, 32], offset = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [1, 0], [2, 8], [4, 16], [8, 0], [16, 0], [32, 0]]>
#b = #nv_tileas.layout<[32, 16], offset = [[0, 1], [0, 2], [0, 4], [0, 8], [1, 0], [2, 0], [4, 8], [8, 0], [16, 0]]>
#c = #nv_tileas.layout<[64, 16], register = [[0, 1], [8, 0], [0, 8]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0]]>
!a = tensor<64x32xf16, #a>
!b = tensor<32x16xf16, #b>
!c = tensor<64x16xf32, #c>
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
}
