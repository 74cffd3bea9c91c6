// Dots by FMA that read one matrix from shared memory are joined in pairs, if threads hold their lines of the other operand.
// RUN: tilewright opt --pass join-dots %s | filecheck %s
#m = #nv_tileas.layout<[4, 4], offset = [[1, 0], [2, 0], [0, 1], [0, 2]]>
#lines = #nv_tileas.layout<[4, 64], register = [[0, 1], [1, 0], [2, 0]], lane = [[0, 2], [0, 4], [0, 8], [0, 16], [0, 32]], warp = []>
#rows = #nv_tileas.layout<[64, 4], register = [[1, 0], [0, 1], [0, 2]], lane = [[2, 0], [4, 0], [8, 0], [16, 0], [32, 0]], warp = []>
#other = #nv_tileas.layout<[4, 64], register = [[0, 1], [0, 2], [0, 4]], lane = [[1, 0], [2, 0], [0, 8], [0, 16], [0, 32]], warp = []>
#long = #nv_tileas.layout<[16, 64], register = [[0, 1], [1, 0], [2, 0], [4, 0], [8, 0]], lane = [[0, 2], [0, 4], [0, 8], [0, 16], [0, 32]], warp = []>
#longest = #nv_tileas.layout<[32, 64], register = [[0, 1], [1, 0], [2, 0], [4, 0], [8, 0], [16, 0]], lane = [[0, 2], [0, 4], [0, 8], [0, 16], [0, 32]], warp = []>
#tall = #nv_tileas.layout<[32, 16], offset = [[1, 0], [2, 0], [4, 0], [8, 0], [16, 0], [0, 1], [0, 2], [0, 4], [0, 8]]>
!m = tensor<4x4xf32, #m>
!lines = tensor<4x64xf32, #lines>
!rows = tensor<64x4xf32, #rows>
!other = tensor<4x64xf32, #other>
!long = tensor<16x64xf32, #long>
!longest = tensor<32x64xf32, #longest>
!tall = tensor<32x16xf32, #tall>
gpu.module @kernels attributes {nv_tileaa.target_spec = #nv_tileaa.target_spec<compute_capability = 90>} {
  // The columns of both are side by side; a register bit tells them apart.
  // CHECK: #[[BOTH:layout[0-9]*]] = #nv_tileas.layout<[4, 128], register = {{\[}}[0, 1], [1, 0], [2, 0], [0, 64]], lane
  // CHECK-LABEL: @columns
  // CHECK: %[[B:.*]] = nv_tileas.cat %arg1, %arg2 axis = 1 : {{.*}} -> tensor<4x128xf32, #[[BOTH]]>
  // CHECK: %[[C:.*]] = nv_tileas.cat %arg3, %arg4 axis = 1
  // CHECK: %[[D:.*]] = nv_tileas.dot %arg0, %[[B]], %[[C]] {
  // CHECK: %[[X:.*]] = nv_tileas.extract_slice %[[D]][%c0_i32{{.*}}, %c0_i32{{.*}}]
  // CHECK: %[[Y:.*]] = nv_tileas.extract_slice %[[D]][%c0_i32{{.*}}, %c1_i32{{.*}}]
  // CHECK-NOT: nv_tileas.dot
  // CHECK: nv_tileaa.subf %[[X]], %[[Y]]
  nv_tileaa.func @columns(%m: !m, %x: !lines, %y: !lines, %c: !lines, %d: !lines) attributes {kernel_spec = #nv_tileaa.kernel_spec<num_warps = 1>} {
    %p = nv_tileas.dot %m, %x, %c {atom = #nv_tileas.atom<fma>} : !m, !lines, !lines
    %q = nv_tileas.dot %m, %y, %d {atom = #nv_tileas.atom<fma>} : !m, !lines, !lines
    %r = nv_tileaa.subf %p, %q : !lines
    nv_tileaa.return
  }
  // Of rows, A is side by side, and B is the matrix.
  // CHECK-LABEL: @rows
  // CHECK: %[[A:.*]] = nv_tileas.cat %arg1, %arg2 axis = 0
  // CHECK: nv_tileas.dot %[[A]], %arg0, {{.*}} : tensor<128x4xf32
  // CHECK-NOT: nv_tileas.dot
  nv_tileaa.func @rows(%m: !m, %x: !rows, %y: !rows, %c: !rows) attributes {kernel_spec = #nv_tileaa.kernel_spec<num_warps = 1>} {
    %p = nv_tileas.dot %x, %m, %c {atom = #nv_tileas.atom<fma>} : !rows, !m, !rows
    %q = nv_tileas.dot %y, %m, %c {atom = #nv_tileas.atom<fma>} : !rows, !m, !rows
    %r = nv_tileaa.subf %p, %q : !rows
    nv_tileaa.return
  }
  // The second dot takes what is computed from the first.
  // CHECK-LABEL: @dependent
  // CHECK-NOT: nv_tileas.cat
  // CHECK-COUNT-2: nv_tileas.dot
  nv_tileaa.func @dependent(%m: !m, %x: !lines, %c: !lines) attributes {kernel_spec = #nv_tileaa.kernel_spec<num_warps = 1>} {
    %p = nv_tileas.dot %m, %x, %c {atom = #nv_tileas.atom<fma>} : !m, !lines, !lines
    %q = nv_tileas.dot %m, %p, %c {atom = #nv_tileas.atom<fma>} : !m, !lines, !lines
    nv_tileaa.return
  }
  // Two matrices; lanes that need what others have; accumulators of more than 64 registers.
  // CHECK-LABEL: @apart
  // CHECK-NOT: nv_tileas.cat
  // CHECK-COUNT-6: nv_tileas.dot
  nv_tileaa.func @apart(%m: !m, %n: !m, %x: !lines, %y: !other, %z: !other, %c: !lines, %t: !tall, %u: !long, %v: !long, %w: !longest) attributes {kernel_spec = #nv_tileaa.kernel_spec<num_warps = 1>} {
    %0 = nv_tileas.dot %m, %x, %c {atom = #nv_tileas.atom<fma>} : !m, !lines, !lines
    %1 = nv_tileas.dot %n, %x, %c {atom = #nv_tileas.atom<fma>} : !m, !lines, !lines
    %2 = nv_tileas.dot %m, %y, %c {atom = #nv_tileas.atom<fma>} : !m, !other, !lines
    %3 = nv_tileas.dot %m, %z, %c {atom = #nv_tileas.atom<fma>} : !m, !other, !lines
    %4 = nv_tileas.dot %t, %u, %w {atom = #nv_tileas.atom<fma>} : !tall, !long, !longest
    %5 = nv_tileas.dot %t, %v, %w {atom = #nv_tileas.atom<fma>} : !tall, !long, !longest
    nv_tileaa.return
  }
}
