// Loads are issued before the layout conversions of tiles that are loaded earlier, and before loops.
// RUN: tilewright opt --pass schedule-operations %s | filecheck %s
#rows = #nv_tileas.layout<[64, 32], register = [[0, 1], [0, 2], [0, 4], [16, 0], [32, 0]], lane = [[0, 8], [0, 16], [1, 0], [2, 0], [4, 0]], warp = [[8, 0]]>
#columns = #nv_tileas.layout<[64, 32], register = [[1, 0], [2, 0], [4, 0], [0, 8], [0, 16]], lane = [[8, 0], [16, 0], [32, 0], [0, 1], [0, 2]], warp = [[0, 4]]>
#line = #nv_tileas.layout<[64], register = [], lane = [[1], [2], [4], [8], [16]], warp = [[32]]>
#long = #nv_tileas.layout<[64, 128], register = [[0, 1], [0, 2], [0, 4], [0, 32], [0, 64], [16, 0], [32, 0]], lane = [[0, 8], [0, 16], [1, 0], [2, 0], [4, 0]], warp = [[8, 0]]>
!tiles = !nv_tileaa.tiled_view<tile = [64, 32], source = !nv_tileaa.memref<?x?xf16, strides = [?, 1]>>
!wide = !nv_tileaa.tiled_view<tile = [64, 128], source = !nv_tileaa.memref<?x?xf16, strides = [?, 1]>>
!rows = tensor<64x32xf16, #rows>
!vectors = !nv_tileaa.tiled_view<tile = [64], source = !nv_tileaa.memref<?xf16, strides = [1]>>
!vector = tensor<64xf16, #line>
!columns = tensor<64x32xf16, #columns>
gpu.module @kernels attributes {nv_tileaa.target_spec = #nv_tileaa.target_spec<compute_capability = 90>} {
  // The index of the second load is computed before the conversion, too.
  // CHECK-LABEL: @two
  // CHECK: %[[A:.*]]:2 = nv_tileas.tiled_load
  // CHECK-NEXT: %[[I:.*]] = arith.addi
  // CHECK-NEXT: %[[B:.*]]:2 = nv_tileas.tiled_load {{.*}}[%[[I]],
  // CHECK-NEXT: nv_tileas.convert_layout %[[A]]#0
  // CHECK-NEXT: nv_tileas.convert_layout %[[B]]#0
  nv_tileaa.func @two(%x: !tiles, %i: i32) attributes {kernel_spec = #nv_tileaa.kernel_spec<num_warps = 2>} {
    %token = nv_tileaa.create_mem_token : !nv_tileaa.mem_token
    %a, %t0 = nv_tileas.tiled_load weak %x[%i, %i] token = %token : i32, i32 of !tiles -> !rows
    %b = nv_tileas.convert_layout %a : !rows -> !columns
    %j = arith.addi %i, %i : i32
    %c, %t1 = nv_tileas.tiled_load weak %x[%j, %i] token = %token : i32, i32 of !tiles -> !rows
    %d = nv_tileas.convert_layout %c : !rows -> !columns
    nv_tileaa.return
  }
  // A load after a computation of tiles stays there; so does one that is ordered after a store.
  // CHECK-LABEL: @others
  // CHECK: %[[A:.*]]:2 = nv_tileas.tiled_load
  // CHECK-NEXT: %[[B:.*]] = nv_tileas.convert_layout %[[A]]#0
  // CHECK-NEXT: %[[SUM:.*]] = nv_tileaa.addf %[[B]], %[[B]]
  // CHECK-NEXT: %[[C:.*]]:2 = nv_tileas.tiled_load
  // CHECK-NEXT: nv_tileas.convert_layout %[[C]]#0
  // CHECK-NEXT: nv_tileas.tiled_store
  // CHECK-NEXT: nv_tileas.tiled_load
  nv_tileaa.func @others(%x: !tiles, %i: i32) attributes {kernel_spec = #nv_tileaa.kernel_spec<num_warps = 2>} {
    %token = nv_tileaa.create_mem_token : !nv_tileaa.mem_token
    %a, %t0 = nv_tileas.tiled_load weak %x[%i, %i] token = %token : i32, i32 of !tiles -> !rows
    %b = nv_tileas.convert_layout %a : !rows -> !columns
    %sum = nv_tileaa.addf %b, %b : !columns
    %c, %t1 = nv_tileas.tiled_load weak %x[%i, %i] token = %token : i32, i32 of !tiles -> !rows
    %d = nv_tileas.convert_layout %c : !rows -> !columns
    %t2 = nv_tileas.tiled_store weak %a, %x[%i, %i] token = %t1 : !rows, i32, i32 of !tiles
    %e, %t3 = nv_tileas.tiled_load weak %x[%i, %i] token = %t2 : i32, i32 of !tiles -> !rows
    nv_tileaa.return
  }
  // No token orders the second load after the store, but it stays there: threads may wait for each other.
  // CHECK-LABEL: @stored
  // CHECK: %[[A:.*]]:2 = nv_tileas.tiled_load
  // CHECK-NEXT: nv_tileas.convert_layout %[[A]]#0
  // CHECK-NEXT: nv_tileas.tiled_store
  // CHECK-NEXT: nv_tileas.tiled_load
  nv_tileaa.func @stored(%x: !tiles, %i: i32) attributes {kernel_spec = #nv_tileaa.kernel_spec<num_warps = 2>} {
    %token = nv_tileaa.create_mem_token : !nv_tileaa.mem_token
    %a, %t0 = nv_tileas.tiled_load weak %x[%i, %i] token = %token : i32, i32 of !tiles -> !rows
    %b = nv_tileas.convert_layout %a : !rows -> !columns
    %t1 = nv_tileas.tiled_store weak %a, %x[%i, %i] token = %t0 : !rows, i32, i32 of !tiles
    %c, %t2 = nv_tileas.tiled_load weak %x[%i, %i] token = %token : i32, i32 of !tiles -> !rows
    nv_tileaa.return
  }
  // A thread has no registers for a third tile: each instruction loads one element of it.
  // CHECK-LABEL: @registers
  // CHECK: nv_tileas.tiled_load
  // CHECK-NEXT: nv_tileas.tiled_load
  // CHECK-NEXT: nv_tileas.convert_layout
  // CHECK-NEXT: nv_tileas.tiled_load {{.*}} -> tensor<64x128xf16
  nv_tileaa.func @registers(%x: !tiles, %y: !wide, %i: i32) attributes {kernel_spec = #nv_tileaa.kernel_spec<num_warps = 2>} {
    %token = nv_tileaa.create_mem_token : !nv_tileaa.mem_token
    %a, %t0 = nv_tileas.tiled_load weak %x[%i, %i] token = %token : i32, i32 of !tiles -> !rows
    %b = nv_tileas.convert_layout %a : !rows -> !columns
    %c, %t1 = nv_tileas.tiled_load weak %x[%i, %i] token = %token : i32, i32 of !tiles -> !rows
    %d, %t2 = nv_tileas.tiled_load weak %y[%i, %i] token = %token : i32, i32 of !wide -> tensor<64x128xf16, #long>
    nv_tileaa.return
  }
  // A small load after a loop is issued before it with what it needs, unless it is ordered after the loop's stores.
  // CHECK-LABEL: @epilogue
  // CHECK: %[[J:.*]] = arith.addi
  // CHECK-NEXT: nv_tileas.tiled_load {{.*}}[%[[J]]]
  // CHECK-NEXT: scf.for
  // CHECK: nv_tileas.tiled_load {{.*}}[%{{.*}}] token = %{{.*}}#0
  // CHECK-NEXT: nv_tileas.tiled_load {{.*}} -> tensor<64x32xf16
  nv_tileaa.func @epilogue(%x: !tiles, %v: !vectors, %i: i32, %n: i32) attributes {kernel_spec = #nv_tileaa.kernel_spec<num_warps = 2>} {
    %zero = arith.constant 0 : i32
    %one = arith.constant 1 : i32
    %token = nv_tileaa.create_mem_token : !nv_tileaa.mem_token
    %last:2 = scf.for %k = %zero to %n step %one iter_args(%t = %token, %m = %zero) -> (!nv_tileaa.mem_token, i32) : i32 {
      %a, %t0 = nv_tileas.tiled_load weak %x[%k, %i] token = %t : i32, i32 of !tiles -> !rows
      %t1 = nv_tileas.tiled_store weak %a, %x[%i, %k] token = %t0 : !rows, i32, i32 of !tiles
      scf.yield %t1, %k : !nv_tileaa.mem_token, i32
    }
    %j = arith.addi %i, %one : i32
    %b, %t2 = nv_tileas.tiled_load weak %v[%j] token = %token : i32 of !vectors -> !vector
    %c, %t3 = nv_tileas.tiled_load weak %v[%j] token = %last#0 : i32 of !vectors -> !vector
    %d, %t4 = nv_tileas.tiled_load weak %x[%j, %i] token = %token : i32, i32 of !tiles -> !rows
    nv_tileaa.return
  }
}
