// Loads and stores through pointers.
// RUN: tilewright opt --pass convert-tileas-to-nvgpu %s | filecheck %s
#row = #nv_tileas.layout<[128], register = [[1], [2]], lane = [[4], [8], [16], [32], [64]], warp = []>
#copies = #nv_tileas.layout<[32], register = [], lane = [[1], [2], [4], [8], [16]], warp = [[0]]>
!f32 = !nv_tileaa.ptr<f32>
!p = tensor<128x!f32, #row>
!v = tensor<128xf32, #row>
gpu.module @kernels attributes {nv_tileaa.target_spec = #nv_tileaa.target_spec<compute_capability = 90>} {
  // One 16-byte access per thread for a vector of four f32.
  // CHECK-LABEL: @vectorized
  // CHECK: nvvm.ld.global {{.*}} {bytes = 16 : i32}
  // CHECK-NOT: nvvm.ld.global
  // CHECK: nvvm.st.global {{.*}} {bytes = 16 : i32}
  // CHECK-NOT: nvvm.st.global
  nv_tileaa.func @vectorized(%p: !p) attributes {kernel_spec = #nv_tileaa.kernel_spec<num_warps = 1>} {
    %a, %t = nv_tileas.load weak %p {vector = 4 : i32} : !p -> !v
    %s = nv_tileas.store weak %p, %a token = %t {vector = 4 : i32} : !p, !v
    nv_tileaa.return
  }
  // CHECK-LABEL: @scalar
  // CHECK-COUNT-4: nvvm.ld.global {{.*}} {bytes = 4 : i32}
  // CHECK-NOT: nvvm.ld.global
  nv_tileaa.func @scalar(%p: !p) attributes {kernel_spec = #nv_tileaa.kernel_spec<num_warps = 1>} {
    %a, %t = nv_tileas.load weak %p : !p -> !v
    nv_tileaa.return
  }
  // A masked load is predicated: no address is accessed where the mask is false.
  // CHECK-LABEL: @masked
  // CHECK: [[MASK:%[0-9]+]]:4 = vector.to_elements %arg1
  // CHECK: nvvm.ld.global {{%[0-9]+}}, [[MASK]]#0, {{.*}} {bytes = 16 : i32}
  nv_tileaa.func @masked(%p: !p, %m: tensor<128xi1, #row>, %o: !v) attributes {kernel_spec = #nv_tileaa.kernel_spec<num_warps = 1>} {
    %a, %t = nv_tileas.load weak %p mask = %m other = %o {vector = 4 : i32} : !p -> !v
    nv_tileaa.return
  }
  // Two warps hold each element; one of them stores it.
  // CHECK-LABEL: @replicated_store
  // CHECK: arith.cmpi
  // CHECK: nvvm.st.global
  // CHECK-NOT: nvvm.st.global
  nv_tileaa.func @replicated_store(%p: tensor<32x!f32, #copies>, %a: tensor<32xf32, #copies>) attributes {kernel_spec = #nv_tileaa.kernel_spec<num_warps = 2>} {
    %s = nv_tileas.store weak %p, %a : tensor<32x!f32, #copies>, tensor<32xf32, #copies>
    nv_tileaa.return
  }
  // An offset counts elements of four bytes; it is widened before it is scaled.
  // CHECK-LABEL: @addptr
  // CHECK: [[WIDE:%[0-9]+]] = arith.extsi %arg1 : vector<4xi32> to vector<4xi64>
  // CHECK: [[FOUR:%[a-z0-9_]+]] = arith.constant 4 : i64
  // CHECK: [[FOURS:%[0-9]+]] = vector.broadcast [[FOUR]] : i64 to vector<4xi64>
  // CHECK: [[BYTES:%[0-9]+]] = arith.muli [[WIDE]], [[FOURS]]
  // CHECK: arith.addi %arg0, [[BYTES]] : vector<4xi64>
  nv_tileaa.func @addptr(%p: !p, %i: tensor<128xi32, #row>) attributes {kernel_spec = #nv_tileaa.kernel_spec<num_warps = 1>} {
    %q = nv_tileaa.addptr %p, %i : !p, tensor<128xi32, #row>
    nv_tileaa.return
  }
}
