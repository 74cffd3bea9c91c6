// RUN: tilewright opt --pass canonicalize %s | filecheck %s
!i32 = !nv_tileaa.ptr<i32>
!p = tensor<16x!i32>
!v = tensor<16xi32>
!token = !nv_tileaa.mem_token
!memory = !nv_tileaa.memref<16xi32, strides = [1]>
!tiles = !nv_tileaa.tiled_view<tile = [16], source = !memory>
gpu.module @kernels {
  // CHECK-LABEL: @addptr_chain
  // CHECK: [[SUM:%[0-9]+]] = nv_tileaa.addi
  // CHECK: [[P:%[0-9]+]] = nv_tileaa.addptr %arg0, [[SUM]]
  // CHECK-NEXT: nv_tileaa.return [[P]]
  nv_tileaa.func @addptr_chain(%p: !i32, %x: i64, %y: i64) -> !i32 {
    %a = nv_tileaa.addptr %p, %x : !i32, i64
    %b = nv_tileaa.addptr %a, %y : !i32, i64
    nv_tileaa.return %b : !i32
  }
  // CHECK-LABEL: @true_masks
  // CHECK-NOT: mask
  // CHECK: nv_tileaa.load
  // CHECK-NOT: mask
  // CHECK: nv_tileaa.store
  nv_tileaa.func @true_masks(%p: !p) -> !token {
    %m = arith.constant dense<true> : tensor<16xi1>
    %a, %t = nv_tileaa.load weak %p mask = %m : !p -> !v
    %s = nv_tileaa.store weak %p, %a mask = %m token = %t : !p, !v
    nv_tileaa.return %s : !token
  }
  // CHECK-LABEL: @false_masks
  // CHECK-NOT: nv_tileaa.load
  // CHECK-NOT: nv_tileaa.store
  // CHECK: nv_tileaa.return %arg1, %arg2
  nv_tileaa.func @false_masks(%p: !p, %o: !v, %t0: !token) -> (!v, !token) {
    %m = arith.constant dense<false> : tensor<16xi1>
    %a, %t = nv_tileaa.load weak %p mask = %m other = %o token = %t0 : !p -> !v
    %s = nv_tileaa.store weak %p, %a mask = %m token = %t : !p, !v
    nv_tileaa.return %a, %s : !v, !token
  }
  // CHECK-LABEL: @joins
  // CHECK-NOT: nv_tileaa.join_mem_token
  // CHECK: nv_tileaa.return %arg0
  nv_tileaa.func @joins(%t: !token) -> !token {
    %fresh = nv_tileaa.create_mem_token : !token
    %a = nv_tileaa.join_mem_token [%t, %fresh, %t] : !token
    nv_tileaa.return %a : !token
  }
  // Adding zero reads: a load with the same order and scope.
  // CHECK-LABEL: @atomic_add_of_zero
  // CHECK-NOT: atomic
  // CHECK: nv_tileaa.load relaxed gpu
  nv_tileaa.func @atomic_add_of_zero(%p: !p) -> !v {
    %zero = arith.constant dense<0> : !v
    %a, %t = nv_tileaa.atomic_rmw relaxed gpu add %p, %zero : !p, !v
    nv_tileaa.return %a : !v
  }
  // CHECK-LABEL: @atomic_cas_of_equals
  // CHECK-NOT: atomic
  // CHECK: nv_tileaa.load relaxed gpu
  nv_tileaa.func @atomic_cas_of_equals(%p: !p) -> !v {
    %c = arith.constant dense<7> : !v
    %a, %t = nv_tileaa.atomic_cas relaxed gpu %p, %c, %c : !p, !v
    nv_tileaa.return %a : !v
  }
  // A reduction of a view returns nothing: adding zero is its token.
  // CHECK-LABEL: @tiled_add_of_zero
  // CHECK-NOT: atomic
  // CHECK: nv_tileaa.return %arg1
  nv_tileaa.func @tiled_add_of_zero(%x: !i32, %t0: !token, %i: i32) -> !token {
    %zero = arith.constant dense<0> : !v
    %m = nv_tileaa.make_memref %x : !i32 -> !memory
    %v = nv_tileaa.block_tile %m : !tiles
    %t = nv_tileaa.tiled_atomic_rmw relaxed gpu add %zero, %v[%i] token = %t0 : !v, i32 of !tiles
    nv_tileaa.return %t : !token
  }
  // Results without users are not taken out of the queue's stage, nor out of a pragma.
  // CHECK-LABEL: @unused_results
  // CHECK: nv_tileaa.queue.get {{.*}} -> i32 {
  // CHECK: nv_tileaa.queue.yield {{%[a-z0-9]+}} : i32
  // CHECK: nv_tileaa.pragma {{.*}} -> i32 {
  nv_tileaa.func @unused_results(%x: i32, %y: f32) -> (i32, i32) {
    %q = nv_tileaa.create_queue {depth = 2 : i32} : !nv_tileaa.queue<[f32, i32]>
    nv_tileaa.queue.put %q : !nv_tileaa.queue<[f32, i32]> {
      nv_tileaa.queue.yield %y, %x : f32, i32
    }
    %g:2 = nv_tileaa.queue.get %q : !nv_tileaa.queue<[f32, i32]> -> f32, i32 {
    ^bb0(%a: f32, %b: i32):
      nv_tileaa.queue.yield %a, %b : f32, i32
    }
    %r:2 = nv_tileaa.pragma {unroll = 4 : i32} -> f32, i32 {
      nv_tileaa.yield %y, %x : f32, i32
    }
    nv_tileaa.return %g#1, %r#1 : i32, i32
  }
}
