// Tiles without memory: which register of which thread has which value.
// RUN: tilewright opt --pass convert-tileas-to-nvgpu %s | filecheck %s
#two = #nv_tileas.layout<[64], register = [[1]], lane = [[2], [4], [8], [16], [32]], warp = []>
#same = #nv_tileas.layout<[2, 32], register = [[0, 1]], lane = [[0, 2], [0, 4], [0, 8], [0, 16], [1, 0]], warp = []>
#turned = #nv_tileas.layout<[32, 2], register = [[1, 0]], lane = [[2, 0], [4, 0], [8, 0], [16, 0], [0, 1]], warp = []>
#column = #nv_tileas.layout<[32, 1], register = [], lane = [[1, 0], [2, 0], [4, 0], [8, 0], [16, 0]], warp = []>
#block = #nv_tileas.layout<[32, 4], register = [[0, 1], [0, 2]], lane = [[1, 0], [2, 0], [4, 0], [8, 0], [16, 0]], warp = []>
#spec = #nv_tileaa.kernel_spec<num_warps = 1>
gpu.module @kernels attributes {nv_tileaa.target_spec = #nv_tileaa.target_spec<compute_capability = 90>} {
  // CHECK: llvm.mlir.global internal constant [[TABLE:@[a-z]+]](dense<[0, 1, 2, 3, 4, 5, 6, 7
  // CHECK: llvm.mlir.global external @table(dense<[10, 20, 30, 40]> : vector<4xi32>) {addr_space = 1
  nv_tileaa.global @table = dense<[10, 20, 30, 40]> : tensor<4xi32>
  // CHECK-LABEL: @splat
  // CHECK: vector.broadcast %arg0 : i32 to vector<2xi32>
  // CHECK: arith.constant dense<7> : vector<2xi32>
  nv_tileaa.func @splat(%n: i32) attributes {kernel_spec = #spec} {
    %s = nv_tileas.splat %n : i32 -> tensor<64xi32, #two>
    %k = arith.constant dense<7> : tensor<64xi32, #two>
    nv_tileaa.return
  }
  // Lane l holds elements 2l and 2l + 1.
  // CHECK-LABEL: @range
  // CHECK: [[TID:%[0-9]+]] = arith.index_cast %thread_id_x
  // CHECK: [[L:%[0-9]+]] = arith.andi [[TID]], %c31
  // CHECK: [[FIRST:%[0-9]+]] = arith.{{shli|muli}} [[L]]
  // CHECK: dense<[0, 1]> : vector<2xi32>
  nv_tileaa.func @range() attributes {kernel_spec = #spec} {
    %r = nv_tileas.make_range : tensor<64xi32, #two>
    nv_tileaa.return
  }
  // What is computed from the copy of a repeated range stays where it is; another range does not share it.
  // CHECK-LABEL: @repeated_range
  // CHECK: [[PLAIN:%[0-9]+]] = arith.shli
  // CHECK: vector.broadcast [[PLAIN]]
  // CHECK: [[FIRST:%[0-9]+]] = arith.shli
  // CHECK: [[WIDE:%[0-9]+]] = arith.extui [[FIRST]]
  // CHECK: [[COPY:%[0-9]+]] = nvvm.opaque [[WIDE]] {repeated} : i64
  // CHECK: [[NARROW:%[0-9]+]] = arith.trunci [[COPY]]
  // CHECK: [[BOTH:%[0-9]+]] = vector.broadcast [[NARROW]]
  // CHECK: arith.addi [[BOTH]], %{{.*}} : vector<2xi32>
  // CHECK: vector.broadcast [[PLAIN]]
  nv_tileaa.func @repeated_range() attributes {kernel_spec = #spec} {
    %r = nv_tileas.make_range : tensor<64xi32, #two>
    %s = nv_tileas.make_range {repeated} : tensor<64xi32, #two>
    %t = nv_tileas.make_range : tensor<64xi32, #two>
    nv_tileaa.return
  }
  // A change of shape that keeps every element in its register costs nothing.
  // CHECK-LABEL: @free_of_charge
  // CHECK-NEXT: gpu.thread_id
  // CHECK-NEXT: arith.index_cast
  // CHECK-NEXT: arith.addi %arg0, %arg0 : vector<2xi32>
  // CHECK-NEXT: gpu.return
  nv_tileaa.func @free_of_charge(%a: tensor<64xi32, #two>) attributes {kernel_spec = #spec} {
    %b = nv_tileas.view %a : tensor<64xi32, #two> -> tensor<2x32xi32, #same>
    %c = nv_tileas.permute %b [1, 0] : tensor<2x32xi32, #same> -> tensor<32x2xi32, #turned>
    %d = nv_tileaa.addi %c, %c : tensor<32x2xi32, #turned>
    nv_tileaa.return
  }
  // Broadcast along a dimension of registers: the register of the source is repeated.
  // CHECK-LABEL: @broadcast
  // CHECK: vector.shuffle %arg0, %arg0 [0, 0, 0, 0] : vector<1xi32>, vector<1xi32>
  nv_tileaa.func @broadcast(%a: tensor<32x1xi32, #column>) attributes {kernel_spec = #spec} {
    %b = nv_tileas.broadcast %a : tensor<32x1xi32, #column> -> tensor<32x4xi32, #block>
    nv_tileaa.return
  }
  // A constant with different elements is a table in global memory: each thread loads its own.
  // CHECK-LABEL: @constants
  // CHECK: llvm.mlir.addressof @table
  // CHECK: llvm.mlir.addressof [[TABLE]]
  // CHECK: llvm.load
  nv_tileaa.func @constants() attributes {kernel_spec = #spec} {
    %g = nv_tileaa.get_global @table : !nv_tileaa.ptr<i32>
    %c = arith.constant dense<[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 41]> : tensor<32xi32, #nv_tileas.layout<[32], register = [], lane = [[1], [2], [4], [8], [16]], warp = []>>
    nv_tileaa.return
  }
  // The body is evaluated on the coordinates of a thread's elements.
  // CHECK-LABEL: @generate
  // CHECK: [[N:%[0-9]+]] = vector.broadcast %arg0 : i32 to vector<2xi32>
  // CHECK: arith.muli {{.*}}, [[N]] : vector<2xi32>
  nv_tileaa.func @generate(%n: i32) attributes {kernel_spec = #spec} {
    %m = nv_tileas.generate : tensor<64xi32, #two> {
    ^bb0(%i: i32):
      %u = nv_tileaa.muli %i, %n : i32
      nv_tileas.yield %u : i32
    }
    nv_tileaa.return
  }
}
