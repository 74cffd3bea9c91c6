// Element-wise integer operations: each thread computes on a vector of its own elements.
// RUN: tilewright opt --pass convert-tileas-to-nvgpu %s | filecheck %s
#line = #nv_tileas.layout<[32], register = [], lane = [[1], [2], [4], [8], [16]], warp = []>
#spec = #nv_tileaa.kernel_spec<num_warps = 1>
!i = tensor<32xi32, #line>
gpu.module @kernels attributes {nv_tileaa.target_spec = #nv_tileaa.target_spec<compute_capability = 90>} {
  // CHECK-LABEL: @arithmetic(%arg0: vector<1xi32>, %arg1: vector<1xi32>)
  // CHECK: arith.addi %arg0, %arg1 : vector<1xi32>
  // CHECK: arith.shli %arg0, %arg1
  // CHECK: arith.xori %arg0, %arg1
  // CHECK: [[ZERO:%[a-z0-9_]+]] = arith.constant dense<0> : vector<1xi32>
  // CHECK: arith.subi [[ZERO]], %arg0
  // CHECK: math.absi %arg0
  nv_tileaa.func @arithmetic(%a: !i, %b: !i) attributes {kernel_spec = #spec} {
    %0 = nv_tileaa.addi %a, %b : !i
    %1 = nv_tileaa.shli %a, %b : !i
    %2 = nv_tileaa.xori %a, %b : !i
    %3 = nv_tileaa.negi %a : !i
    %4 = nv_tileaa.absi %a : !i
    nv_tileaa.return
  }
  // The signedness of Tile IR is an attribute; in arith it is in the name.
  // CHECK-LABEL: @signedness
  // CHECK: arith.remui
  // CHECK: arith.remsi
  // CHECK: arith.shrui
  // CHECK: arith.shrsi
  // CHECK: arith.divui
  // CHECK: arith.divsi
  // CHECK: arith.extui {{.*}} to vector<1xi64>
  // CHECK: arith.extsi {{.*}} to vector<1xi64>
  // CHECK: arith.trunci {{.*}} to vector<1xi8>
  nv_tileaa.func @signedness(%a: !i, %b: !i) attributes {kernel_spec = #spec} {
    %0 = nv_tileaa.remi %a, %b unsigned : !i
    %1 = nv_tileaa.remi %a, %b signed : !i
    %2 = nv_tileaa.shri %a, %b unsigned : !i
    %3 = nv_tileaa.shri %a, %b signed : !i
    %4 = nv_tileaa.divi %a, %b unsigned : !i
    %5 = nv_tileaa.divi %a, %b signed : !i
    %6 = nv_tileaa.exti %a unsigned : !i to tensor<32xi64, #line>
    %7 = nv_tileaa.exti %a signed : !i to tensor<32xi64, #line>
    %8 = nv_tileaa.trunci %a : !i to tensor<32xi8, #line>
    nv_tileaa.return
  }
  // CHECK-LABEL: @rounded_division
  // CHECK: arith.floordivsi
  // CHECK: arith.ceildivsi
  nv_tileaa.func @rounded_division(%a: !i, %b: !i) attributes {kernel_spec = #spec} {
    %0 = nv_tileaa.divi %a, %b signed rounding<negative_inf> : !i
    %1 = nv_tileaa.divi %a, %b signed rounding<positive_inf> : !i
    nv_tileaa.return
  }
  // The high 32 bits of the 64-bit product.
  // CHECK-LABEL: @high_half
  // CHECK: %low, [[HIGH:%high]] = arith.mului_extended %arg0, %arg1
  // CHECK: arith.addi [[HIGH]], %arg0
  nv_tileaa.func @high_half(%a: !i, %b: !i) attributes {kernel_spec = #spec} {
    %0 = nv_tileaa.mulhiui %a, %b : !i
    %1 = nv_tileaa.addi %0, %a : !i
    nv_tileaa.return
  }
  // CHECK-LABEL: @selected
  // CHECK: [[C:%[0-9]+]] = arith.cmpi slt, %arg0, %arg1
  // CHECK: arith.select [[C]], %arg0, %arg1 : vector<1xi1>, vector<1xi32>
  // CHECK: arith.bitcast %arg0 : vector<1xi32> to vector<1xf32>
  nv_tileaa.func @selected(%a: !i, %b: !i) attributes {kernel_spec = #spec} {
    %0 = nv_tileaa.cmpi slt, %a, %b : !i
    %1 = nv_tileaa.select %0, %a, %b : tensor<32xi1, #line>, !i
    %2 = nv_tileaa.bitcast %a : !i to tensor<32xf32, #line>
    nv_tileaa.return
  }
  // Conditions that only mask accesses are computed element by element.
  // CHECK-LABEL: @masked
  // CHECK: [[LESS:%[0-9]+]] = arith.cmpi slt, %{{[0-9]+}}, %{{[0-9]+}} : i32
  // CHECK: [[OTHER:%[0-9]+]] = arith.cmpi ne, %{{[0-9]+}}, %{{[0-9]+}} : i32
  // CHECK: arith.andi %{{[0-9]+}}, %{{[0-9]+}} : i1
  nv_tileaa.func @masked(%p: tensor<32x!nv_tileaa.ptr<f32>, #line>, %a: !i, %b: !i) attributes {kernel_spec = #spec} {
    %token = nv_tileaa.create_mem_token : !nv_tileaa.mem_token
    %0 = nv_tileaa.cmpi slt, %a, %b : !i
    %1 = nv_tileaa.cmpi ne, %a, %b : !i
    %2 = nv_tileaa.andi %0, %1 : tensor<32xi1, #line>
    %3, %4 = nv_tileas.load weak %p mask = %2 token = %token : tensor<32x!nv_tileaa.ptr<f32>, #line> -> tensor<32xf32, #line>
    nv_tileaa.return
  }
  // A pointer is an i64, so that integers become pointers without an operation; assumptions are used.
  // CHECK-LABEL: @pointers(%arg0: vector<1xi64>, %arg1: i32)
  // CHECK: arith.addi %arg0, %arg0 : vector<1xi64>
  // CHECK-NOT: nv_tileaa.assume
  // CHECK: arith.addi %arg1, %arg1 : i32
  nv_tileaa.func @pointers(%a: tensor<32xi64, #line>, %s: i32) attributes {kernel_spec = #spec} {
    %0 = nv_tileaa.int_to_ptr %a : tensor<32xi64, #line> to tensor<32x!nv_tileaa.ptr<f32>, #line>
    %1 = nv_tileaa.ptr_to_int %0 : tensor<32x!nv_tileaa.ptr<f32>, #line> to tensor<32xi64, #line>
    %2 = nv_tileaa.addi %1, %1 : tensor<32xi64, #line>
    %3 = nv_tileaa.assume #nv_tileaa.div_by<16>, %s : i32
    %4 = nv_tileaa.addi %3, %3 : i32
    nv_tileaa.return
  }
}
