// Dots by mma.sync read A and B from their stage one slice of K at a time.
// RUN: tilewright opt --pass slice-dots %s | filecheck %s
#c = #nv_tileas.layout<[64, 16], register = [[0, 1], [8, 0], [0, 8]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0]]>
#a = #nv_tileas.layout<[64, 32], register = [[0, 1], [8, 0], [0, 8], [0, 16]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0]]>
#b = #nv_tileas.layout<[32, 16], register = [[1, 0], [8, 0], [0, 8], [16, 0]], lane = [[2, 0], [4, 0], [0, 1], [0, 2], [0, 4]], warp = [[0, 0], [0, 0]]>
#a_memory = #nv_tileas.layout<[64, 32], offset = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [1, 0], [2, 8], [4, 16], [8, 0], [16, 0], [32, 0]]>
#b_memory = #nv_tileas.layout<[32, 16], offset = [[0, 1], [0, 2], [0, 4], [0, 8], [1, 0], [2, 0], [4, 8], [8, 0], [16, 0]]>
#k_by_m = #nv_tileas.layout<[32, 64], register = [[1, 0], [0, 8], [8, 0], [16, 0]], lane = [[2, 0], [4, 0], [0, 1], [0, 2], [0, 4]], warp = [[0, 16], [0, 32]]>
#k_by_m_memory = #nv_tileas.layout<[32, 64], offset = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [0, 32], [1, 8], [2, 16], [4, 32], [8, 0], [16, 0]]>
!a = tensor<64x32xf16, #a>
!b = tensor<32x16xf16, #b>
!c = tensor<64x16xf32, #c>
!k_by_m = tensor<32x64xf16, #k_by_m>
!p = !nv_tileas.pipeline<2, [tensor<64x32xf16, #a_memory>, tensor<32x16xf16, #b_memory>]>
!k_by_m_pipeline = !nv_tileas.pipeline<2, [tensor<32x64xf16, #k_by_m_memory>, tensor<32x16xf16, #b_memory>]>
gpu.module @kernels attributes {nv_tileaa.target_spec = #nv_tileaa.target_spec<compute_capability = 80>} {
  // The slices are accumulated in the order of K.
  // CHECK-LABEL: @two_slices
  // CHECK: consumer_wait
  // CHECK-NEXT: %[[A0:.*]] = {{.*}}consumer_read {{.*}}{at = array<i64: 0, 0>, number = 0 : i32} {{.*}} -> tensor<64x16xf16,
  // CHECK-NEXT: %[[B0:.*]] = {{.*}}consumer_read {{.*}}{at = array<i64: 0, 0>, number = 1 : i32} {{.*}} -> tensor<16x16xf16,
  // CHECK-NEXT: %[[C0:.*]] = nv_tileas.dot %[[A0]], %[[B0]], %[[INIT:.*]] {atom = #nv_tileas.atom<mma_sync>
  // CHECK-NEXT: %[[A1:.*]] = {{.*}}consumer_read {{.*}}{at = array<i64: 0, 16>, number = 0 : i32} {{.*}} -> tensor<64x16xf16,
  // CHECK-NEXT: %[[B1:.*]] = {{.*}}consumer_read {{.*}}{at = array<i64: 16, 0>, number = 1 : i32} {{.*}} -> tensor<16x16xf16,
  // CHECK-NEXT: %[[C1:.*]] = nv_tileas.dot %[[A1]], %[[B1]], %[[C0]] {atom = #nv_tileas.atom<mma_sync>
  // CHECK-NEXT: consumer_release
  // CHECK: nv_tileaa.negf %[[C1]]
  nv_tileaa.func @two_slices(%init: !c) attributes {kernel_spec = #nv_tileaa.kernel_spec<num_warps = 4>} {
    %p = nv_tileas.async.pipeline.create_pipeline : !p
    %i = nv_tileas.async.pipeline.create_iterator %p : !p -> !nv_tileas.pipeline_iterator<2>
    %t = nv_tileas.async.pipeline.consumer_wait %p[%i] {pending = 0 : i32} : !p, !nv_tileas.pipeline_iterator<2>
    %a = nv_tileas.async.pipeline.consumer_read %p, %t {number = 0 : i32} : !p -> !a
    %b = nv_tileas.async.pipeline.consumer_read %p, %t {number = 1 : i32} : !p -> !b
    %d = nv_tileas.dot %a, %b, %init {atom = #nv_tileas.atom<mma_sync>} : !a, !b, !c
    nv_tileas.async.pipeline.consumer_release %p, %t : !p
    %z = nv_tileaa.negf %d : !c
    nv_tileaa.return
  }
  // Element-wise operations are sliced, too. A slice with two uses is computed once.
  // CHECK-LABEL: @elementwise
  // CHECK: %[[A0:.*]] = {{.*}}consumer_read {{.*}}at = array<i64: 0, 0>, number = 0
  // CHECK-NEXT: %[[S0:.*]] = nv_tileas.splat %arg1 : f16 -> tensor<64x16xf16, #[[A:.*]]>
  // CHECK-NEXT: %[[M0:.*]] = nv_tileaa.mulf %[[A0]], %[[S0]] : tensor<64x16xf16, #[[A]]>
  // CHECK-NEXT: %[[Q0:.*]] = nv_tileaa.mulf %[[M0]], %[[M0]] : tensor<64x16xf16, #[[A]]>
  // CHECK-NEXT: consumer_read {{.*}}at = array<i64: 0, 0>, number = 1
  // CHECK-NEXT: nv_tileas.dot %[[Q0]]
  // CHECK-NEXT: consumer_read {{.*}}at = array<i64: 0, 16>, number = 0
  // CHECK-NEXT: nv_tileas.splat
  // CHECK-NEXT: nv_tileaa.mulf
  // CHECK-NEXT: nv_tileaa.mulf
  // CHECK-NEXT: consumer_read {{.*}}at = array<i64: 16, 0>, number = 1
  // CHECK-NEXT: nv_tileas.dot
  // CHECK-NEXT: consumer_release
  nv_tileaa.func @elementwise(%init: !c, %s: f16) attributes {kernel_spec = #nv_tileaa.kernel_spec<num_warps = 4>} {
    %p = nv_tileas.async.pipeline.create_pipeline : !p
    %i = nv_tileas.async.pipeline.create_iterator %p : !p -> !nv_tileas.pipeline_iterator<2>
    %t = nv_tileas.async.pipeline.consumer_wait %p[%i] {pending = 0 : i32} : !p, !nv_tileas.pipeline_iterator<2>
    %a = nv_tileas.async.pipeline.consumer_read %p, %t {number = 0 : i32} : !p -> !a
    %b = nv_tileas.async.pipeline.consumer_read %p, %t {number = 1 : i32} : !p -> !b
    %scales = nv_tileas.splat %s : f16 -> !a
    %m = nv_tileaa.mulf %a, %scales : !a
    %q = nv_tileaa.mulf %m, %m : !a
    %d = nv_tileas.dot %q, %b, %init {atom = #nv_tileas.atom<mma_sync>} : !a, !b, !c
    nv_tileas.async.pipeline.consumer_release %p, %t : !p
    nv_tileaa.return
  }
  // The stage has K first.
  // CHECK-LABEL: @permuted
  // CHECK: %[[A0:.*]] = {{.*}}consumer_read {{.*}}at = array<i64: 0, 0>, number = 0 {{.*}} -> tensor<16x64xf16,
  // CHECK-NEXT: %[[T0:.*]] = nv_tileas.permute %[[A0]] {{.*}} -> tensor<64x16xf16,
  // CHECK: nv_tileas.dot %[[T0]]
  // CHECK-NEXT: %[[A1:.*]] = {{.*}}consumer_read {{.*}}at = array<i64: 16, 0>, number = 0 {{.*}} -> tensor<16x64xf16,
  // CHECK-NEXT: %[[T1:.*]] = nv_tileas.permute %[[A1]]
  // CHECK: nv_tileas.dot %[[T1]]
  nv_tileaa.func @permuted(%init: !c) attributes {kernel_spec = #nv_tileaa.kernel_spec<num_warps = 4>} {
    %p = nv_tileas.async.pipeline.create_pipeline : !k_by_m_pipeline
    %i = nv_tileas.async.pipeline.create_iterator %p : !k_by_m_pipeline -> !nv_tileas.pipeline_iterator<2>
    %t = nv_tileas.async.pipeline.consumer_wait %p[%i] {pending = 0 : i32} : !k_by_m_pipeline, !nv_tileas.pipeline_iterator<2>
    %k_by_m = nv_tileas.async.pipeline.consumer_read %p, %t {number = 0 : i32} : !k_by_m_pipeline -> !k_by_m
    %b = nv_tileas.async.pipeline.consumer_read %p, %t {number = 1 : i32} : !k_by_m_pipeline -> !b
    %a = nv_tileas.permute %k_by_m [1, 0] : !k_by_m -> !a
    %d = nv_tileas.dot %a, %b, %init {atom = #nv_tileas.atom<mma_sync>} : !a, !b, !c
    nv_tileas.async.pipeline.consumer_release %p, %t : !k_by_m_pipeline
    nv_tileaa.return
  }
  // After the release, a copy may overwrite the stage.
  // CHECK-LABEL: @released
  // CHECK-NOT: {at =
  // CHECK: nv_tileas.dot {{.*}} : tensor<64x32xf16,
  nv_tileaa.func @released(%init: !c) attributes {kernel_spec = #nv_tileaa.kernel_spec<num_warps = 4>} {
    %p = nv_tileas.async.pipeline.create_pipeline : !p
    %i = nv_tileas.async.pipeline.create_iterator %p : !p -> !nv_tileas.pipeline_iterator<2>
    %t = nv_tileas.async.pipeline.consumer_wait %p[%i] {pending = 0 : i32} : !p, !nv_tileas.pipeline_iterator<2>
    %a = nv_tileas.async.pipeline.consumer_read %p, %t {number = 0 : i32} : !p -> !a
    %b = nv_tileas.async.pipeline.consumer_read %p, %t {number = 1 : i32} : !p -> !b
    nv_tileas.async.pipeline.consumer_release %p, %t : !p
    %d = nv_tileas.dot %a, %b, %init {atom = #nv_tileas.atom<mma_sync>} : !a, !b, !c
    nv_tileaa.return
  }
  // A private stage is copied to as soon as it is read.
  // CHECK-LABEL: @private
  // CHECK-NOT: {at =
  // CHECK: nv_tileas.dot {{.*}} : tensor<64x32xf16,
  nv_tileaa.func @private(%init: !c) attributes {kernel_spec = #nv_tileaa.kernel_spec<num_warps = 4>} {
    %p = nv_tileas.async.pipeline.create_pipeline {private} : !p
    %i = nv_tileas.async.pipeline.create_iterator %p : !p -> !nv_tileas.pipeline_iterator<2>
    %t = nv_tileas.async.pipeline.consumer_wait %p[%i] {pending = 0 : i32} : !p, !nv_tileas.pipeline_iterator<2>
    %a = nv_tileas.async.pipeline.consumer_read %p, %t {number = 0 : i32} : !p -> !a
    %b = nv_tileas.async.pipeline.consumer_read %p, %t {number = 1 : i32} : !p -> !b
    %d = nv_tileas.dot %a, %b, %init {atom = #nv_tileas.atom<mma_sync>} : !a, !b, !c
    nv_tileas.async.pipeline.consumer_release %p, %t : !p
    nv_tileaa.return
  }
  // A does not come from a stage.
  // CHECK-LABEL: @not_staged
  // CHECK-NOT: {at =
  // CHECK: nv_tileas.dot {{.*}} : tensor<64x32xf16,
  nv_tileaa.func @not_staged(%init: !c, %x: !a) attributes {kernel_spec = #nv_tileaa.kernel_spec<num_warps = 4>} {
    %p = nv_tileas.async.pipeline.create_pipeline : !p
    %i = nv_tileas.async.pipeline.create_iterator %p : !p -> !nv_tileas.pipeline_iterator<2>
    %t = nv_tileas.async.pipeline.consumer_wait %p[%i] {pending = 0 : i32} : !p, !nv_tileas.pipeline_iterator<2>
    %b = nv_tileas.async.pipeline.consumer_read %p, %t {number = 1 : i32} : !p -> !b
    %d = nv_tileas.dot %x, %b, %init {atom = #nv_tileas.atom<mma_sync>} : !a, !b, !c
    nv_tileas.async.pipeline.consumer_release %p, %t : !p
    nv_tileaa.return
  }
}
