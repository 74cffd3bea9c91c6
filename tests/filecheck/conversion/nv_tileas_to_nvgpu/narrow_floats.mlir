// Conversions between number formats.
// RUN: tilewright opt --pass convert-tileas-to-nvgpu %s | filecheck %s
#pair = #nv_tileas.layout<[64], register = [[1]], lane = [[2], [4], [8], [16], [32]], warp = []>
#spec = #nv_tileaa.kernel_spec<num_warps = 1>
!f = tensor<64xf32, #pair>
!i = tensor<64xi32, #pair>
gpu.module @kernels attributes {nv_tileaa.target_spec = #nv_tileaa.target_spec<compute_capability = 90>} {
  // CHECK-LABEL: @half
  // CHECK: arith.truncf %arg0 : vector<2xf32> to vector<2xf16>
  // CHECK: arith.extf {{.*}} : vector<2xf16> to vector<2xf32>
  nv_tileaa.func @half(%a: !f) attributes {kernel_spec = #spec} {
    %0 = nv_tileaa.fp_to_fp %a : !f to tensor<64xf16, #pair>
    %1 = nv_tileaa.fp_to_fp %0 : tensor<64xf16, #pair> to !f
    nv_tileaa.return
  }
  // LLVM would convert the operands of a select instead, one element after the other. Only f32 rounded to nearest is converted in pairs.
  // CHECK-LABEL: @selected
  // CHECK: [[S:%[0-9]+]] = arith.select
  // CHECK: nvgpu.cvt_fptrunc [[S]] : vector<2xf32> to vector<2xf16>
  // CHECK: nvgpu.cvt_fptrunc [[S]] : vector<2xf32> to vector<2xbf16>
  // CHECK-NOT: nvgpu.cvt_fptrunc
  nv_tileaa.func @selected(%m: tensor<64xi1, #pair>, %a: !f, %b: !f) attributes {kernel_spec = #spec} {
    %0 = nv_tileaa.select %m, %a, %b : tensor<64xi1, #pair>, !f
    %1 = nv_tileaa.fp_to_fp %0 : !f to tensor<64xf16, #pair>
    %2 = nv_tileaa.fp_to_fp %0 : !f to tensor<64xbf16, #pair>
    %3 = nv_tileaa.fp_to_fp %0 rounding<zero> : !f to tensor<64xbf16, #pair>
    %4 = nv_tileaa.fp_to_fp %0 : !f to tensor<64xf8E4M3FN, #pair>
    nv_tileaa.return
  }
  // cvt converts fp8 since sm_89.
  // CHECK-LABEL: @fp8
  // CHECK: arith.truncf %arg0 : vector<2xf32> to vector<2xf8E4M3FN>
  // CHECK: arith.extf {{.*}} : vector<2xf8E4M3FN> to vector<2xf32>
  nv_tileaa.func @fp8(%a: !f) attributes {kernel_spec = #spec} {
    %0 = nv_tileaa.fp_to_fp %a : !f to tensor<64xf8E4M3FN, #pair>
    %1 = nv_tileaa.fp_to_fp %0 : tensor<64xf8E4M3FN, #pair> to !f
    nv_tileaa.return
  }
  // Out-of-range values saturate, as cvt does.
  // CHECK-LABEL: @integers
  // CHECK: llvm.intr.fptosi.sat({{.*}}) : (vector<2xf32>) -> vector<2xi32>
  // CHECK: arith.sitofp {{.*}} : vector<2xi32> to vector<2xf32>
  // CHECK: arith.uitofp {{.*}} : vector<2xi32> to vector<2xf16>
  nv_tileaa.func @integers(%a: !f) attributes {kernel_spec = #spec} {
    %0 = nv_tileaa.ftoi %a signed : !f to !i
    %1 = arith.sitofp %0 : !i to !f
    %2 = arith.uitofp %0 : !i to tensor<64xf16, #pair>
    nv_tileaa.return
  }
}
// -----
// int8 in whole words: bytes below 0x64 are 1024 more in f16. Other bytes are converted one at a time.
#quad = #nv_tileas.layout<[128], register = [[1], [2]], lane = [[4], [8], [16], [32], [64]], warp = []>
#pair = #nv_tileas.layout<[64], register = [[1]], lane = [[2], [4], [8], [16], [32]], warp = []>
gpu.module @kernels attributes {nv_tileaa.target_spec = #nv_tileaa.target_spec<compute_capability = 80>} {
  // CHECK-LABEL: @bytes
  // CHECK: arith.xori {{.*}} : i32
  // CHECK-COUNT-2: llvm.nvvm.prmt
  // CHECK: arith.constant dense<1.152000e+03> : vector<4xf16>
  // CHECK: arith.subf {{.*}} : vector<4xf16>
  // CHECK-NOT: arith.xori
  // CHECK: arith.constant dense<1.024000e+03> : vector<4xf16>
  // CHECK: arith.sitofp {{.*}} : vector<2xi8> to vector<2xf16>
  nv_tileaa.func @bytes(%i: tensor<128xi8, #quad>, %j: tensor<64xi8, #pair>) attributes {kernel_spec = #nv_tileaa.kernel_spec<num_warps = 1>} {
    %0 = arith.sitofp %i : tensor<128xi8, #quad> to tensor<128xf16, #quad>
    %1 = arith.uitofp %i : tensor<128xi8, #quad> to tensor<128xf16, #quad>
    %2 = arith.sitofp %j : tensor<64xi8, #pair> to tensor<64xf16, #pair>
    nv_tileaa.return
  }
}
// -----
// A 32-bit integer does not fit into f32: it is truncated with a sticky last bit, so that rounding to
// bf16 rounds once.
#pair = #nv_tileas.layout<[64], register = [[1]], lane = [[2], [4], [8], [16], [32]], warp = []>
gpu.module @kernels attributes {nv_tileaa.target_spec = #nv_tileaa.target_spec<compute_capability = 90>} {
  // CHECK-LABEL: @round_once
  // CHECK: llvm.nvvm.i2f.rz
  // CHECK: llvm.nvvm.f2i.rz
  // CHECK: arith.cmpi ne
  // CHECK: arith.truncf {{.*}} to vector<2xbf16>
  nv_tileaa.func @round_once(%i: tensor<64xi32, #pair>) attributes {kernel_spec = #nv_tileaa.kernel_spec<num_warps = 1>} {
    %0 = arith.sitofp %i : tensor<64xi32, #pair> to tensor<64xbf16, #pair>
    nv_tileaa.return
  }
}
// -----
// Before sm_89 there is no instruction for fp8: integer arithmetic on the bit patterns.
#pair = #nv_tileas.layout<[64], register = [[1]], lane = [[2], [4], [8], [16], [32]], warp = []>
gpu.module @kernels attributes {nv_tileaa.target_spec = #nv_tileaa.target_spec<compute_capability = 80>} {
  // CHECK-LABEL: @emulated_fp8
  // CHECK-NOT: arith.truncf
  // CHECK: arith.bitcast %arg0 : vector<2xf32> to vector<2xi32>
  // CHECK: arith.trunci {{.*}} to vector<2xi8>
  nv_tileaa.func @emulated_fp8(%a: tensor<64xf32, #pair>) attributes {kernel_spec = #nv_tileaa.kernel_spec<num_warps = 1>} {
    %0 = nv_tileaa.fp_to_fp %a : tensor<64xf32, #pair> to tensor<64xf8E4M3FN, #pair>
    nv_tileaa.return
  }
}
