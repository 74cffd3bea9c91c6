module {
  gpu.module @m attributes {nv_tileaa.target_spec = #nv_tileaa.target_spec<compute_capability = 90>} {
    nv_tileaa.global constant @table align 16 {sym_visibility = "private"} = dense<[1, 2]> : tensor<2xi32>
    nv_tileaa.plugin @plugin {input_layouts = [1 : i32], max_registers = 40 : i32}
    nv_tileaa.func @kernel(%arg0: !nv_tileaa.ptr<f32>, %arg1: f32) attributes {kernel_spec = #nv_tileaa.kernel_spec<num_ctas = 2, num_warps = 8, occupancy = 1>} {
      nv_tileaa.return
    }
    nv_tileaa.func private @helper(f32) -> f32
    nv_tileaa.func @all(%arg0: !nv_tileaa.ptr<f32>, %arg1: i32, %arg2: f32, %arg3: tensor<16xi32>, %arg4: tensor<8xi32>, %arg5: tensor<16xf32>, %arg6: tensor<16x!nv_tileaa.ptr<f32>>, %arg7: tensor<4x4xf32>, %arg8: tensor<4x16xi8>, %arg9: tensor<16x4xi8>, %arg10: tensor<4x4xi32>, %arg11: tensor<4x32xf8E4M3FN>, %arg12: tensor<32x4xf8E4M3FN>, %arg13: tensor<4x1xf8E8M0FNU>, %arg14: tensor<1x4xf8E8M0FNU>, %arg15: tensor<1x4x4x8xf32>) {
      %0 = nv_tileaa.absi %arg3 : tensor<16xi32>
      %1 = nv_tileaa.negi %arg3 : tensor<16xi32>
      %2 = nv_tileaa.negi %arg3 overflow<nsw> : tensor<16xi32>
      %3 = nv_tileaa.addi %arg3, %arg3 overflow<nsw, nuw> : tensor<16xi32>
      %4 = nv_tileaa.subi %arg3, %arg3 overflow<nsw, nuw> : tensor<16xi32>
      %5 = nv_tileaa.muli %arg3, %arg3 overflow<nsw, nuw> : tensor<16xi32>
      %6 = nv_tileaa.shli %arg3, %arg3 overflow<nsw, nuw> : tensor<16xi32>
      %7 = nv_tileaa.addi %arg1, %arg1 : i32
      %8 = nv_tileaa.mulhiui %arg3, %arg3 : tensor<16xi32>
      %9 = nv_tileaa.andi %arg3, %arg3 : tensor<16xi32>
      %10 = nv_tileaa.ori %arg3, %arg3 : tensor<16xi32>
      %11 = nv_tileaa.xori %arg3, %arg3 : tensor<16xi32>
      %12 = nv_tileaa.divi %arg3, %arg3 signed rounding<negative_inf> : tensor<16xi32>
      %13 = nv_tileaa.divi %arg3, %arg3 unsigned : tensor<16xi32>
      %14 = nv_tileaa.remi %arg3, %arg3 unsigned : tensor<16xi32>
      %15 = nv_tileaa.shri %arg3, %arg3 unsigned : tensor<16xi32>
      %16 = nv_tileaa.cmpi slt, %arg3, %arg3 : tensor<16xi32>
      %17 = nv_tileaa.absf %arg5 : tensor<16xf32>
      %18 = nv_tileaa.negf %arg5 : tensor<16xf32>
      %19 = nv_tileaa.ceil %arg5 : tensor<16xf32>
      %20 = nv_tileaa.floor %arg5 : tensor<16xf32>
      %21 = nv_tileaa.exp %arg5 : tensor<16xf32>
      %22 = nv_tileaa.log %arg5 : tensor<16xf32>
      %23 = nv_tileaa.log2 %arg5 : tensor<16xf32>
      %24 = nv_tileaa.sin %arg5 : tensor<16xf32>
      %25 = nv_tileaa.cos %arg5 : tensor<16xf32>
      %26 = nv_tileaa.tan %arg5 : tensor<16xf32>
      %27 = nv_tileaa.sinh %arg5 : tensor<16xf32>
      %28 = nv_tileaa.cosh %arg5 : tensor<16xf32>
      %29 = nv_tileaa.tanh %arg5 : tensor<16xf32>
      %30 = nv_tileaa.tanh %arg5 {fastmath = #arith.fastmath<afn>} : tensor<16xf32>
      %31 = nv_tileaa.addf %arg5, %arg5 rounding<zero> flush_to_zero : tensor<16xf32>
      %32 = nv_tileaa.subf %arg5, %arg5 rounding<zero> flush_to_zero : tensor<16xf32>
      %33 = nv_tileaa.mulf %arg5, %arg5 rounding<zero> flush_to_zero : tensor<16xf32>
      %34 = nv_tileaa.divf %arg5, %arg5 rounding<approx> : tensor<16xf32>
      %35 = nv_tileaa.fma %arg5, %arg5, %arg5 {fastmath = #arith.fastmath<contract>} : tensor<16xf32>
      %36 = nv_tileaa.sqrt %arg5 rounding<approx> : tensor<16xf32>
      %37 = nv_tileaa.rsqrt %arg5 flush_to_zero : tensor<16xf32>
      %38 = nv_tileaa.exp2 %arg5 flush_to_zero : tensor<16xf32>
      %39 = nv_tileaa.remf %arg5, %arg5 : tensor<16xf32>
      %40 = nv_tileaa.atan2 %arg5, %arg5 : tensor<16xf32>
      %41 = nv_tileaa.fpowf %arg5, %arg5 : tensor<16xf32>
      %42 = nv_tileaa.maxf %arg5, %arg5 flush_to_zero propagate_nan : tensor<16xf32>
      %43 = nv_tileaa.minf %arg5, %arg5 flush_to_zero propagate_nan : tensor<16xf32>
      %44 = nv_tileaa.clampf %arg5, %arg5, %arg5 propagate_nan : tensor<16xf32>
      %45 = nv_tileaa.cmpf ult, %arg5, %arg5 : tensor<16xf32>
      %46 = nv_tileaa.fpowi %arg5, %arg3 : tensor<16xf32>, tensor<16xi32>
      %47 = nv_tileaa.bitcast %arg5 : tensor<16xf32> to tensor<16xi32>
      %48 = nv_tileaa.bitcast %arg6 : tensor<16x!nv_tileaa.ptr<f32>> to tensor<16x!nv_tileaa.ptr<i8>>
      %49 = nv_tileaa.exti %arg3 signed : tensor<16xi32> to tensor<16xi64>
      %50 = nv_tileaa.trunci %arg3 overflow<nuw> : tensor<16xi32> to tensor<16xi8>
      %51 = nv_tileaa.fp_to_fp %arg5 rounding<zero> : tensor<16xf32> to tensor<16xf16>
      %52 = nv_tileaa.ftoi %arg5 signed saturating : tensor<16xf32> to tensor<16xi32>
      %53 = nv_tileaa.ptr_to_int %arg6 : tensor<16x!nv_tileaa.ptr<f32>> to tensor<16xi64>
      %54 = nv_tileaa.int_to_ptr %53 : tensor<16xi64> to tensor<16x!nv_tileaa.ptr<f32>>
      %55 = nv_tileaa.splat %arg2 : f32 -> tensor<8x64xf32>
      %56 = nv_tileaa.make_range {start = 4 : i64} : tensor<16xi32>
      %57 = nv_tileaa.view %55 : tensor<8x64xf32> -> tensor<64x8xf32>
      %58 = nv_tileaa.expand_dims %arg5 {axis = 0 : i64} : tensor<16xf32> -> tensor<1x16xf32>
      %59 = nv_tileaa.broadcast %58 : tensor<1x16xf32> -> tensor<4x16xf32>
      %60 = nv_tileaa.permute %59 [1, 0] : tensor<4x16xf32> -> tensor<16x4xf32>
      %61 = nv_tileaa.cat %59, %59 axis = 0 : tensor<4x16xf32>, tensor<4x16xf32> -> tensor<8x16xf32>
      %62 = nv_tileaa.extract %59[%arg1, %arg1] : tensor<4x16xf32> -> f32
      %63 = nv_tileaa.extract_slice %59[%arg1, %arg1] : tensor<4x16xf32> -> tensor<4x4xf32>
      %64 = nv_tileaa.insert_slice %63, %59[%arg1, %arg1] : tensor<4x4xf32>, tensor<4x16xf32>
      %65 = nv_tileaa.select %16, %arg5, %arg5 : tensor<16xi1>, tensor<16xf32>
      %66 = nv_tileaa.pack %arg5 : tensor<16xf32> -> tensor<64xi8>
      %67 = nv_tileaa.unpack %66 : tensor<64xi8> -> tensor<16xf32>
      %68 = nv_tileaa.histogram %arg3 : tensor<16xi32> -> tensor<4xi32>
      %69 = nv_tileaa.reduce %55 {axis = 1 : i32, identities = [0.000000e+00 : f32]} : tensor<8x64xf32> -> tensor<8xf32> {
      ^bb0(%arg16: f32, %arg17: f32):
        %134 = nv_tileaa.addf %arg16, %arg17 : f32
        nv_tileaa.yield %134 : f32
      }
      %70:2 = nv_tileaa.reduce %arg5, %arg3 {axis = 0 : i32} : tensor<16xf32>, tensor<16xi32> -> f32, i32 {
      ^bb0(%arg16: f32, %arg17: f32, %arg18: i32, %arg19: i32):
        nv_tileaa.yield %arg16, %arg18 : f32, i32
      }
      %71 = nv_tileaa.scan %55 {axis = 1 : i32, inclusive = true, reverse} : tensor<8x64xf32> -> tensor<8x64xf32> {
      ^bb0(%arg16: f32, %arg17: f32):
        %134 = nv_tileaa.addf %arg16, %arg17 : f32
        nv_tileaa.yield %134 : f32
      }
      %72 = nv_tileaa.generate : tensor<4x4xi32> {
      ^bb0(%arg16: i32, %arg17: i32):
        %134 = nv_tileaa.addi %arg16, %arg17 : i32
        nv_tileaa.yield %134 : i32
      }
      %73 = nv_tileaa.dot %59, %60, %arg7 {input_precision = "ieee"} : tensor<4x16xf32>, tensor<16x4xf32>, tensor<4x4xf32>
      %74 = nv_tileaa.dot %arg8, %arg9, %arg10 {signedness_a = #nv_tileaa.signedness<signed>, signedness_b = #nv_tileaa.signedness<unsigned>} : tensor<4x16xi8>, tensor<16x4xi8>, tensor<4x4xi32>
      %75 = nv_tileaa.dot %arg11, %arg12, %arg7 scaled by %arg13, %arg14 {fast_acc} : tensor<4x32xf8E4M3FN>, tensor<32x4xf8E4M3FN>, tensor<4x4xf32> by tensor<4x1xf8E8M0FNU>, tensor<1x4xf8E8M0FNU>
      %76 = nv_tileaa.conv_dot %arg15, %arg15, %arg15 {conv_params = #nv_tileaa.conv_params<strides = [1, 1], padding = [0, 0], dilations = [1, 1]>} : tensor<1x4x4x8xf32>, tensor<1x4x4x8xf32>, tensor<1x4x4x8xf32>
      %77 = nv_tileaa.create_mem_token : !nv_tileaa.mem_token
      %78 = nv_tileaa.create_mem_token(%arg0 : !nv_tileaa.ptr<f32>) {alias_scope = "a", producers = 4 : i32} : !nv_tileaa.mem_token
      %79 = nv_tileaa.addptr %arg6, %arg3 : tensor<16x!nv_tileaa.ptr<f32>>, tensor<16xi32>
      %80 = nv_tileaa.addptr %arg0, %arg1 bytes : !nv_tileaa.ptr<f32>, i32
      %81:2 = nv_tileaa.load acquire sys %79 mask = %16 other = %arg5 token = %77 {latency = 3 : i64} : tensor<16x!nv_tileaa.ptr<f32>> -> tensor<16xf32>
      %82:2 = nv_tileaa.load weak %arg0 : !nv_tileaa.ptr<f32> -> f32
      %83 = nv_tileaa.store release gpu %79, %arg5 mask = %16 token = %78 {volatile} : tensor<16x!nv_tileaa.ptr<f32>>, tensor<16xf32>
      %84 = nv_tileaa.store weak %arg0, %arg2 {cache_modifier = #nv_tileaa.cache_modifier<cs>, eviction_policy = #nv_tileaa.eviction_policy<evict_first>} : !nv_tileaa.ptr<f32>, f32
      %85:2 = nv_tileaa.atomic_rmw relaxed tl_blk addf %79, %arg5 mask = %16 token = %83 : tensor<16x!nv_tileaa.ptr<f32>>, tensor<16xf32>
      %86:2 = nv_tileaa.atomic_cas acq_rel cluster %79, %arg5, %arg5 : tensor<16x!nv_tileaa.ptr<f32>>, tensor<16xf32>
      %87 = nv_tileaa.join_mem_token [%83, %84, %85#1] : !nv_tileaa.mem_token
      %88 = nv_tileaa.alloca 16 align 4 {shared_by_grid} : !nv_tileaa.ptr<f32>
      %89 = nv_tileaa.fence_alias token = %87 : !nv_tileaa.mem_token
      %90 = nv_tileaa.launch_dependents : !nv_tileaa.mem_token
      %91 = nv_tileaa.wait_on_dependencies token = %90 : !nv_tileaa.mem_token
      %92 = nv_tileaa.make_memref %arg0 sizes(%arg1, %arg1 : i32, i32) strides(%arg1 : i32) : !nv_tileaa.ptr<f32> -> !nv_tileaa.memref<?x?xf32, strides = [?, 1]>
      %93 = nv_tileaa.make_memref %arg0 : !nv_tileaa.ptr<f32> -> !nv_tileaa.memref<8x8xf32, strides = [8, 1], scope = a>
      %94 = nv_tileaa.block_tile %92 : !nv_tileaa.tiled_view<tile = [8, 64], source = !nv_tileaa.memref<?x?xf32, strides = [?, 1]>, dims = [1, 0], padding = zero>
      %95 = nv_tileaa.block_tile %92 : !nv_tileaa.tiled_view<tile = [8, 64], source = !nv_tileaa.memref<?x?xf32, strides = [?, 1]>, sparse = 0>
      %96 = nv_tileaa.block_tile %92 : !nv_tileaa.tiled_view<tile = [8, 64], source = !nv_tileaa.memref<?x?xf32, strides = [?, 1]>>
      %97 = nv_tileaa.make_memref %arg0 : !nv_tileaa.ptr<f32> -> !nv_tileaa.memref<1x8x8x8xf32, strides = [512, 64, 8, 1]>
      %98 = nv_tileaa.conv_tile %97 {activation_layout = #nv_tileaa.activation_layout<nchw>, conv_params = #nv_tileaa.conv_params<strides = [1, 1], padding = [0, 0], dilations = [1, 1]>} : !nv_tileaa.memref<1x8x8x8xf32, strides = [512, 64, 8, 1]> -> !nv_tileaa.tiled_view<tile = [1, 4, 4, 8], source = !nv_tileaa.memref<1x8x8x8xf32, strides = [512, 64, 8, 1]>, steps = [1, 2, 2, 8]>
      %99 = nv_tileaa.get_dim_size %92 1 : !nv_tileaa.memref<?x?xf32, strides = [?, 1]> -> i32
      %100 = nv_tileaa.get_dim_size %94 0 : !nv_tileaa.tiled_view<tile = [8, 64], source = !nv_tileaa.memref<?x?xf32, strides = [?, 1]>, dims = [1, 0], padding = zero> -> i64
      %101:2 = nv_tileaa.tiled_load weak %94[%arg1, %arg1] token = %91 {allow_tma = true, in_bounds = array<i1: true, false>} : i32, i32 of !nv_tileaa.tiled_view<tile = [8, 64], source = !nv_tileaa.memref<?x?xf32, strides = [?, 1]>, dims = [1, 0], padding = zero> -> tensor<8x64xf32>
      %102:2 = nv_tileaa.gather_load weak %95[%arg4, %arg1] : tensor<8xi32>, i32 of !nv_tileaa.tiled_view<tile = [8, 64], source = !nv_tileaa.memref<?x?xf32, strides = [?, 1]>, sparse = 0> -> tensor<8x64xf32>
      %103 = nv_tileaa.tiled_store relaxed gpu %101#0, %94[%arg1, %arg1] token = %101#1 : tensor<8x64xf32>, i32, i32 of !nv_tileaa.tiled_view<tile = [8, 64], source = !nv_tileaa.memref<?x?xf32, strides = [?, 1]>, dims = [1, 0], padding = zero>
      %104 = nv_tileaa.scatter_store weak %102#0, %95[%arg4, %arg1] : tensor<8x64xf32>, tensor<8xi32>, i32 of !nv_tileaa.tiled_view<tile = [8, 64], source = !nv_tileaa.memref<?x?xf32, strides = [?, 1]>, sparse = 0>
      %105 = nv_tileaa.tiled_atomic_rmw relaxed gpu addf %102#0, %96[%arg1, %arg1] : tensor<8x64xf32>, i32, i32 of !nv_tileaa.tiled_view<tile = [8, 64], source = !nv_tileaa.memref<?x?xf32, strides = [?, 1]>>
      %106 = nv_tileaa.call @helper(%arg2) : (f32) -> f32
      %107 = nv_tileaa.launch_func @kernel grid(%arg1, %arg1, %arg1) args(%arg0, %arg2 : !nv_tileaa.ptr<f32>, f32) token = %105
      %108 = nv_tileaa.get_global @table : !nv_tileaa.ptr<i32>
      %109:3 = nv_tileaa.get_program_id : i32, i32, i32
      %110:3 = nv_tileaa.get_num_programs : i32, i32, i32
      %111:2 = nv_tileaa.cancel_next_program_id token = %107 : !nv_tileaa.program_id
      %112 = nv_tileaa.is_valid_program_id %111#0
      %113:3 = nv_tileaa.get_program_id %111#0 : i32, i32, i32
      %114 = nv_tileaa.create_queue {depth = 2 : i32} : !nv_tileaa.queue<[f32, i32]>
      nv_tileaa.queue.put %114 : !nv_tileaa.queue<[f32, i32]> {
        nv_tileaa.queue.yield %arg2, %arg1 : f32, i32
      }
      %115:2 = nv_tileaa.queue.get %114 : !nv_tileaa.queue<[f32, i32]> -> i32, f32 {
      ^bb0(%arg16: f32, %arg17: i32):
        nv_tileaa.queue.yield %arg17, %arg16 : i32, f32
      }
      %116 = nv_tileaa.execute @plugin(%arg2) {input_layouts = [1 : i32], max_registers = 40 : i32} : (f32) -> f32
      %117 = nv_tileaa.pragma {unroll = 4 : i32} -> f32 {
        nv_tileaa.yield %arg2 : f32
      }
      %118 = nv_tileaa.assume #nv_tileaa.div_by<16>, %arg1 : i32
      %119 = nv_tileaa.assume #nv_tileaa.div_by<4, every 4 along 0>, %arg3 : tensor<16xi32>
      %120 = nv_tileaa.assume #nv_tileaa.bounded<0, ?>, %arg3 : tensor<16xi32>
      %121 = nv_tileaa.assume #nv_tileaa.same_elements<[4]>, %arg3 : tensor<16xi32>
      %122 = nv_tileaa.assume #nv_tileaa.div_by<16>, %92 : !nv_tileaa.memref<?x?xf32, strides = [?, 1]>
      nv_tileaa.assert %16, "wrong" : tensor<16xi1>
      %123 = nv_tileaa.print "%d %f", %arg1, %arg5 token = %107 : i32, tensor<16xf32>
      %124 = nv_tileaa.print "hello"
      nv_tileaa.message "note"
      %125:2 = nv_tileaa.optimization_barrier %arg1, %arg2 : i32, f32
      nv_tileaa.mark_for_reuse %arg5 : tensor<16xf32>
      %126 = nv_tileaa.inject_ir "text"(%arg2) : (f32) -> f32
      %127 = nv_tileaa.elementwise_inline_asm "mov.b32 $0, $1;", "=r,r"(%arg3) pure : (tensor<16xi32>) -> tensor<16xi32>
      %128 = nv_tileaa.extern_elementwise "__nv_sinf" of "libdevice"(%arg5) : (tensor<16xf32>) -> tensor<16xf32>
      %129 = nv_tileaa.call_elementwise_intrinsic "llvm.fabs"(%arg2) : (f32) -> f32
      %130 = nv_tileaa.get_cta_rank : i32
      %131:2 = nv_tileaa.multimem_load_reduce acquire sys addf %96[%arg1, %arg1] token = %124 {in_bounds = array<i1: true, false>} : i32, i32 of !nv_tileaa.tiled_view<tile = [8, 64], source = !nv_tileaa.memref<?x?xf32, strides = [?, 1]>> -> tensor<8x64xf32>
      %132 = nv_tileaa.multimem_reduce release sys addf %131#0, %96[%arg1, %arg1] token = %131#1 : tensor<8x64xf32>, i32, i32 of !nv_tileaa.tiled_view<tile = [8, 64], source = !nv_tileaa.memref<?x?xf32, strides = [?, 1]>>
      %133 = nv_tileaa.multimem_store weak %131#0, %96[%arg1, %arg1] token = %132 : tensor<8x64xf32>, i32, i32 of !nv_tileaa.tiled_view<tile = [8, 64], source = !nv_tileaa.memref<?x?xf32, strides = [?, 1]>>
      nv_tileaa.return
    }
  }
}
