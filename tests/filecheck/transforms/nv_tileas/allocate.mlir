// Operations that go through shared memory alternate between two areas: after the barrier of one,
// the area of the one before is no longer read, so consecutive uses need no barrier between them.
// RUN: tilewright opt --pass allocate --pass synchronize %s | filecheck %s
#rows = #nv_tileas.layout<[32, 32], register = [[1, 0], [2, 0], [4, 0]], lane = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16]], warp = [[8, 0], [16, 0]]>
#cols = #nv_tileas.layout<[32, 32], register = [[0, 1], [0, 2], [0, 4]], lane = [[1, 0], [2, 0], [4, 0], [8, 0], [16, 0]], warp = [[0, 8], [0, 16]]>
!rows = tensor<32x32xf32, #rows>
!cols = tensor<32x32xf32, #cols>
gpu.module @kernels attributes {nv_tileaa.target_spec = #nv_tileaa.target_spec<compute_capability = 90>} {
  // 32 * 32 * 4 bytes.
  // CHECK-LABEL: @one
  // CHECK-SAME: nv_tileas.scratch_bytes = 4096
  // CHECK: nv_tileas.convert_layout {{.*}}scratch = 0 : i64
  // CHECK-NOT: nv_tileas.barrier
  nv_tileaa.func @one(%a: !rows) attributes {kernel_spec = #nv_tileaa.kernel_spec<num_warps = 4>} {
    %b = nv_tileas.convert_layout %a : !rows -> !cols
    nv_tileaa.return
  }
  // CHECK-LABEL: @alternating
  // CHECK-SAME: nv_tileas.scratch_bytes = 8192
  // CHECK: nv_tileas.convert_layout {{.*}}scratch = 0 : i64
  // CHECK-NEXT: nv_tileas.convert_layout {{.*}}scratch = 4096 : i64
  // CHECK-NEXT: nv_tileas.convert_layout {{.*}}scratch = 0 : i64
  nv_tileaa.func @alternating(%a: !rows) attributes {kernel_spec = #nv_tileaa.kernel_spec<num_warps = 4>} {
    %b = nv_tileas.convert_layout %a : !rows -> !cols
    %c = nv_tileas.convert_layout %b : !cols -> !rows
    %d = nv_tileas.convert_layout %c : !rows -> !cols
    nv_tileaa.return
  }
  // With one use in a loop, the area of the iteration before may still be read: a barrier.
  // CHECK-LABEL: @odd_in_loop
  // CHECK: scf.for
  // CHECK-NOT: nv_tileas.convert_layout
  // CHECK: nv_tileas.barrier
  // CHECK: nv_tileas.convert_layout
  nv_tileaa.func @odd_in_loop(%a: !rows, %n: i32) attributes {kernel_spec = #nv_tileaa.kernel_spec<num_warps = 4>} {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %b0 = nv_tileas.convert_layout %a : !rows -> !cols
    scf.for %i = %c0 to %n step %c1 : i32 {
      %b = nv_tileas.convert_layout %a : !rows -> !cols
    }
    nv_tileaa.return
  }
  // A permutation of registers, or of the lanes of a warp, takes no shared memory.
  // CHECK-LABEL: @registers
  // CHECK-NOT: scratch
  // CHECK: nv_tileas.convert_layout
  nv_tileaa.func @registers(%a: tensor<32x32xf32, #rows>) attributes {kernel_spec = #nv_tileaa.kernel_spec<num_warps = 4>} {
    %b = nv_tileas.convert_layout %a : !rows -> tensor<32x32xf32, #nv_tileas.layout<[32, 32], register = [[4, 0], [2, 0], [1, 0]], lane = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16]], warp = [[8, 0], [16, 0]]>>
    nv_tileaa.return
  }
}
