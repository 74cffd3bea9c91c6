// RUN: tilewright opt --pass convert-tileas-to-nvgpu %s | filecheck %s
#line = #nv_tileas.layout<[32], register = [], lane = [[1], [2], [4], [8], [16]], warp = []>
#spec = #nv_tileaa.kernel_spec<num_warps = 1>
gpu.module @kernels attributes {nv_tileaa.target_spec = #nv_tileaa.target_spec<compute_capability = 90>} {
  // One thread prints a scalar, which all threads have.
  // CHECK-LABEL: @print
  // CHECK: [[FIRST:%[0-9]+]] = arith.cmpi eq, {{%[0-9]+}}, %c0
  // CHECK: scf.if [[FIRST]]
  // CHECK-NEXT: gpu.printf "%lld\0A"
  nv_tileaa.func @print(%n: i32) attributes {kernel_spec = #spec} {
    %t = nv_tileas.print "%d\0A", %n : i32
    nv_tileaa.return
  }
  // Every thread asserts its own elements.
  // CHECK-LABEL: @assert
  // CHECK: [[C:%[0-9]+]] = vector.to_elements %arg0 : vector<1xi1>
  // CHECK: cf.assert [[C]], "wrong"
  nv_tileaa.func @assert(%c: tensor<32xi1, #line>) attributes {kernel_spec = #spec} {
    nv_tileas.assert %c, "wrong" : tensor<32xi1, #line>
    nv_tileaa.return
  }
}
