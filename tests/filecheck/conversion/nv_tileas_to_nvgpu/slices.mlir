// RUN: tilewright opt --pass convert-tileas-to-nvgpu %s | filecheck %s
#line = #nv_tileas.layout<[32], register = [], lane = [[1], [2], [4], [8], [16]], warp = []>
#two = #nv_tileas.layout<[64], register = [[32]], lane = [[1], [2], [4], [8], [16]], warp = []>
#bytes = #nv_tileas.layout<[128], register = [[1], [2]], lane = [[4], [8], [16], [32], [64]], warp = []>
!i = tensor<32xi32, #line>
!w = tensor<64xi32, #two>
gpu.module @kernels attributes {nv_tileaa.target_spec = #nv_tileaa.target_spec<compute_capability = 90>} {
  // Both parts are registers of the same thread.
  // CHECK-LABEL: @cat
  // CHECK: vector.shuffle %arg0, %arg1 [0, 1]
  nv_tileaa.func @cat(%a: !i, %b: !i) attributes {kernel_spec = #nv_tileaa.kernel_spec<num_warps = 1>} {
    %c = nv_tileas.cat %a, %b axis = 0 : !i, !i -> !w
    nv_tileaa.return
  }
  // The slice number selects among registers; registers have no addresses.
  // CHECK-LABEL: @extract_slice
  // CHECK-DAG: [[LOW:%[0-9]+]] = vector.shuffle %arg0, %arg0 [0]
  // CHECK-DAG: [[HIGH:%[0-9]+]] = vector.shuffle %arg0, %arg0 [1]
  // CHECK: arith.select {{%[0-9]+}}, [[HIGH]], [[LOW]]
  nv_tileaa.func @extract_slice(%a: !w, %n: i32) attributes {kernel_spec = #nv_tileaa.kernel_spec<num_warps = 1>} {
    %e = nv_tileas.extract_slice %a[%n] : !w -> !i
    nv_tileaa.return
  }
  // CHECK-LABEL: @insert_slice
  // CHECK: [[HERE:%[0-9]+]] = arith.cmpi eq
  // CHECK: arith.select [[HERE]], {{%[0-9]+}}, %arg1 : vector<2xi1>, vector<2xi32>
  nv_tileaa.func @insert_slice(%a: !i, %b: !w, %n: i32) attributes {kernel_spec = #nv_tileaa.kernel_spec<num_warps = 1>} {
    %f = nv_tileas.insert_slice %a, %b[%n] : !i, !w
    nv_tileaa.return
  }
  // The owning thread broadcasts the element through shared memory.
  // CHECK-LABEL: @extract
  // CHECK: scf.if
  // CHECK: llvm.store {{.*}} !llvm.ptr<3>
  // CHECK: gpu.barrier
  // CHECK: llvm.load {{.*}} !llvm.ptr<3>
  nv_tileaa.func @extract(%a: !i, %n: i32) attributes {kernel_spec = #nv_tileaa.kernel_spec<num_warps = 1>, nv_tileas.scratch_bytes = 16 : i64} {
    %g = nv_tileas.extract %a[%n] {scratch = 0 : i64} : !i -> i32
    nv_tileaa.return
  }
  // The bytes of a word stay in the register that holds it.
  // CHECK-LABEL: @pack
  // CHECK: [[BYTES:%[0-9]+]] = vector.bitcast %arg0 : vector<1xi32> to vector<4xi8>
  // CHECK: vector.bitcast [[BYTES]] : vector<4xi8> to vector<1xf32>
  nv_tileaa.func @pack(%a: !i) attributes {kernel_spec = #nv_tileaa.kernel_spec<num_warps = 1>} {
    %p = nv_tileas.pack %a : !i -> tensor<128xi8, #bytes>
    %u = nv_tileas.unpack %p : tensor<128xi8, #bytes> -> tensor<32xf32, #line>
    nv_tileaa.return
  }
}
