" written by tools/editor_grammars.py from the declarations of the dialects
if exists('b:current_syntax')
  finish
endif
syntax iskeyword @,48-57,_,.,$
syntax keyword tileirEnum L1 L2 _and _or _xor acq_rel acquire add addf addi addu alias
syntax keyword tileirEnum all and and_popc andi any appending approx assign async att available_externally b1
syntax keyword tileirEnum b16 b8 ballot bf16 bfly box_dim ca ccc cg cluster cmpxchg col
syntax keyword tileirEnum common constant cp_async cs cta cta_1 cta_2 cv dec decrease default device
syntax keyword tileirEnum down downward e4m3 e5m2 element_stride elemtype eq equal evict_first evict_last evict_normal evict_unchanged
syntax keyword tileirEnum extern_weak external f16 f32 f64 fadd false fastcc fill_mode fma fmax fmin
syntax keyword tileirEnum fsub full generic global global_address global_dim global_stride gpu greater_than greater_than_or_equal hidden idx
syntax keyword tileirEnum im2col im2col_w im2col_w_128 inc increase intel interleave_16b interleave_32b interleave_layout internal l2promo_128b l2promo_256b
syntax keyword tileirEnum l2promo_64b launch_dependents less_than less_than_or_equal linkonce linkonce_odr local_unnamed_addr lu max maximumf maxnumf maxs
syntax keyword tileirEnum maxsi maxu maxui min minimumf minnumf mins minsi minu minui mma_sync monotonic
syntax keyword tileirEnum mul mulf muli nan nand nchw ne nearest_away nearest_even nearest_int_to_zero neg neg_inf
syntax keyword tileirEnum neg_zero negative_inf nhwc no_allocate no_signed_wrap no_unsigned_wrap no_wrap none not_atomic not_equal oeq oge
syntax keyword tileirEnum ogt ole olt one or ord ordered ori pos_inf positive_inf private protected
syntax keyword tileirEnum ptx_devicecc ptx_kernelcc public rank registers relaxed release rm rn rna row rp
syntax keyword tileirEnum rs rz s32 s4 s8 satfinite seq_cst sge sgt shared shared_cluster shared_cta
syntax keyword tileirEnum signed sle slt sub swizzle_128b swizzle_32b swizzle_64b swizzle_atomicity swizzle_mode sys tensor tensormap
syntax keyword tileirEnum tf32 tile tile_gather4 tile_scatter4 tl_blk tma to_nearest_away to_nearest_even toward_zero true u4 u8
syntax keyword tileirEnum udec_wrap ueq uge ugt uinc_wrap ule ult umax umin une uni unnamed_addr
syntax keyword tileirEnum uno unordered unsigned up upward usub_cond usub_sat volatile wait wb weak weak_odr
syntax keyword tileirEnum wgmma workgroup wrapped wt x xchg xor xor_popc xori y z zero
syntax keyword tileirKeyword A B D accumulate align aligned alignment along apart args asked asm_dialect
syntax keyword tileirKeyword at atomic attributes axis bit bounded box by byte_mask bytes cache cache_hint
syntax keyword tileirKeyword callsite cluster commit constant constant_range conv_params default dense di_compile_unit di_file di_lexical_block di_loc
syntax keyword tileirKeyword di_subprogram dim disjoint div_by do else every evict_priority exact false fast_acc fastmath
syntax keyword tileirKeyword fence field flush_to_zero from from_proxy ftz fused global grid has_side_effects held id
syntax keyword tileirKeyword if im2col in inalloca inbounds into invariant is_align_stack isolated iter_args iter_values kernel
syntax keyword tileirKeyword kernel_spec l2_cache_hint layout ld_st_matrix_shape leading level loc loop_annotation loop_unroll map map_parameter mask
syntax keyword tileirKeyword memfence metadata multicast multicast_mask new_value nneg num_elem number_of_threads of offset optimization_hints other
syntax keyword tileirKeyword overflow packed padding_value parts poison predicate propagate_nan pure range read refused registers
syntax keyword tileirKeyword relaxed rounding same_elements saturating scaled schedule scope shape size sizes split step
syntax keyword tileirKeyword steps stride strides syncscope target_spec tensormap to to_proxy transpose true uniform uninitialized
syntax keyword tileirKeyword unit unknown unroll unsigned upper_bound users vararg volatile weak weights x
syntax keyword tileirType array buffer consumer_token func gather_scatter_view mem_token memref partition_view pipeline pipeline_iterator producer_token program_id
syntax keyword tileirType ptr queue strided_view string struct tensor_map tensor_view tile tiled_view token void bf16
syntax keyword tileirType complex f128 f16 f32 f4E2M1FN f64 f6E2M3FN f6E3M2FN f80 f8E3M4 f8E4M3 f8E4M3B11FNUZ
syntax keyword tileirType f8E4M3FN f8E4M3FNUZ f8E5M2 f8E5M2FNUZ f8E8M0FNU fnv8E5M3FNU index memref none tensor tf32 tuple
syntax keyword tileirType vector
syntax keyword tileirOperation arith.addf arith.addi arith.addui_extended arith.andi arith.bitcast arith.ceildivsi arith.ceildivui arith.cmpf arith.cmpi arith.constant arith.convertf arith.divf
syntax keyword tileirOperation arith.divsi arith.divui arith.extf arith.extsi arith.extui arith.floordivsi arith.fptosi arith.fptoui arith.index_cast arith.index_castui arith.maximumf arith.maxnumf
syntax keyword tileirOperation arith.maxsi arith.maxui arith.minimumf arith.minnumf arith.minsi arith.minui arith.mulf arith.muli arith.mulsi_extended arith.mului_extended arith.negf arith.ori
syntax keyword tileirOperation arith.remf arith.remsi arith.remui arith.select arith.shli arith.shrsi arith.shrui arith.sitofp arith.subf arith.subi arith.truncf arith.trunci
syntax keyword tileirOperation arith.uitofp arith.xori builtin.module builtin.unrealized_conversion_cast cf.assert cf.br cf.cond_br cf.switch cuda_tile.absf cuda_tile.absi cuda_tile.addf cuda_tile.addi
syntax keyword tileirOperation cuda_tile.alloca cuda_tile.andi cuda_tile.assert cuda_tile.assume cuda_tile.atan2 cuda_tile.atomic_cas_tko cuda_tile.atomic_red_view_tko cuda_tile.atomic_rmw_tko cuda_tile.bitcast cuda_tile.break cuda_tile.broadcast cuda_tile.cat
syntax keyword tileirOperation cuda_tile.ceil cuda_tile.cmpf cuda_tile.cmpi cuda_tile.constant cuda_tile.continue cuda_tile.cos cuda_tile.cosh cuda_tile.divf cuda_tile.divi cuda_tile.entry cuda_tile.exp cuda_tile.exp2
syntax keyword tileirOperation cuda_tile.exti cuda_tile.extract cuda_tile.floor cuda_tile.fma cuda_tile.for cuda_tile.fpowf cuda_tile.fpowi cuda_tile.ftof cuda_tile.ftoi cuda_tile.gdc_launch_dependents_tko cuda_tile.gdc_wait_tko cuda_tile.get_global
syntax keyword tileirOperation cuda_tile.get_index_space_shape cuda_tile.get_num_tile_blocks cuda_tile.get_tensor_shape cuda_tile.get_tile_block_id cuda_tile.global cuda_tile.if cuda_tile.insert cuda_tile.int_to_ptr cuda_tile.iota cuda_tile.itof cuda_tile.join_tokens cuda_tile.load_ptr_tko
syntax keyword tileirOperation cuda_tile.load_view_tko cuda_tile.log cuda_tile.log2 cuda_tile.loop cuda_tile.make_gather_scatter_view cuda_tile.make_partition_view cuda_tile.make_strided_view cuda_tile.make_tensor_view cuda_tile.make_token cuda_tile.maxf cuda_tile.maxi cuda_tile.memory_fence_alias_tko
syntax keyword tileirOperation cuda_tile.minf cuda_tile.mini cuda_tile.mmaf cuda_tile.mmaf_scaled cuda_tile.mmai cuda_tile.module cuda_tile.mulf cuda_tile.mulhii cuda_tile.muli cuda_tile.multimem_load_reduce_view_tko cuda_tile.multimem_reduce_view_tko cuda_tile.multimem_store_view_tko
syntax keyword tileirOperation cuda_tile.negf cuda_tile.negi cuda_tile.offset cuda_tile.ori cuda_tile.pack cuda_tile.permute cuda_tile.pow cuda_tile.print cuda_tile.print_tko cuda_tile.ptr_to_int cuda_tile.ptr_to_ptr cuda_tile.reduce
syntax keyword tileirOperation cuda_tile.remf cuda_tile.remi cuda_tile.reshape cuda_tile.return cuda_tile.rsqrt cuda_tile.scan cuda_tile.select cuda_tile.shli cuda_tile.shri cuda_tile.sin cuda_tile.sinh cuda_tile.sqrt
syntax keyword tileirOperation cuda_tile.store_ptr_tko cuda_tile.store_view_tko cuda_tile.subf cuda_tile.subi cuda_tile.tan cuda_tile.tanh cuda_tile.token.join cuda_tile.trunci cuda_tile.unpack cuda_tile.xori cuda_tile.yield cute_nvgpu.buffer_at
syntax keyword tileirOperation cute_nvgpu.bulk.load cute_nvgpu.cluster.arrive cute_nvgpu.cluster.wait cute_nvgpu.device_async_copy cute_nvgpu.device_async_groups cute_nvgpu.elect_one cute_nvgpu.fence.mbarrier_init cute_nvgpu.fence.proxy_async cute_nvgpu.grid.launch_dependents cute_nvgpu.grid.wait cute_nvgpu.mbarrier.arrive_on_copies cute_nvgpu.mbarrier.arrive_remote
syntax keyword tileirOperation cute_nvgpu.mbarrier.expect_tx cute_nvgpu.mbarrier.invalidate cute_nvgpu.named_barrier.arrive cute_nvgpu.named_barrier.sync cute_nvgpu.nanosleep cute_nvgpu.set_max_registers cute_nvgpu.slot.acquire cute_nvgpu.slot.release cute_nvgpu.sm_id cute_nvgpu.stmatrix cute_nvgpu.tensormap.at cute_nvgpu.tensormap.fill
syntax keyword tileirOperation cute_nvgpu.tensormap.publish cute_nvgpu.tensormap.rebind cute_nvgpu.tma.commit cute_nvgpu.tma.load cute_nvgpu.tma.prefetch cute_nvgpu.tma.reduce cute_nvgpu.tma.store cute_nvgpu.tma.wait cute_nvgpu.warp_sync cute_nvgpu.wgmma.commit cute_nvgpu.wgmma.descriptor cute_nvgpu.wgmma.fence
syntax keyword tileirOperation cute_nvgpu.wgmma.issue cute_nvgpu.wgmma.wait func.call func.constant func.func func.return gpu.all_reduce gpu.barrier gpu.block_dim gpu.block_id gpu.cluster_block_id gpu.cluster_dim
syntax keyword tileirOperation gpu.cluster_dim_blocks gpu.cluster_id gpu.dynamic_shared_memory gpu.func gpu.global_id gpu.grid_dim gpu.lane_id gpu.module gpu.num_subgroups gpu.printf gpu.return gpu.shuffle
syntax keyword tileirOperation gpu.subgroup_id gpu.subgroup_reduce gpu.subgroup_size gpu.thread_id gpu.yield llvm.add llvm.addrspacecast llvm.alloca llvm.and llvm.ashr llvm.atomicrmw llvm.bitcast
syntax keyword tileirOperation llvm.br llvm.call llvm.call_intrinsic llvm.cmpxchg llvm.cond_br llvm.extractelement llvm.extractvalue llvm.fadd llvm.fcmp llvm.fdiv llvm.fence llvm.fmul
syntax keyword tileirOperation llvm.fneg llvm.fpext llvm.fptosi llvm.fptoui llvm.fptrunc llvm.freeze llvm.frem llvm.fsub llvm.func llvm.getelementptr llvm.icmp llvm.inline_asm
syntax keyword tileirOperation llvm.insertelement llvm.insertvalue llvm.intr.abs llvm.intr.assume llvm.intr.bitreverse llvm.intr.bswap llvm.intr.ceil llvm.intr.copysign llvm.intr.cos llvm.intr.ctlz llvm.intr.ctpop llvm.intr.cttz
syntax keyword tileirOperation llvm.intr.debugtrap llvm.intr.exp llvm.intr.exp2 llvm.intr.expect llvm.intr.fabs llvm.intr.floor llvm.intr.fma llvm.intr.fmuladd llvm.intr.fptosi.sat llvm.intr.fptoui.sat llvm.intr.fshl llvm.intr.fshr
syntax keyword tileirOperation llvm.intr.is.fpclass llvm.intr.log llvm.intr.log10 llvm.intr.log2 llvm.intr.maximum llvm.intr.maxnum llvm.intr.memcpy llvm.intr.memmove llvm.intr.memset llvm.intr.minimum llvm.intr.minnum llvm.intr.nearbyint
syntax keyword tileirOperation llvm.intr.pow llvm.intr.rint llvm.intr.round llvm.intr.roundeven llvm.intr.sadd.sat llvm.intr.sadd.with.overflow llvm.intr.sin llvm.intr.smax llvm.intr.smin llvm.intr.smul.with.overflow llvm.intr.sqrt llvm.intr.ssub.sat
syntax keyword tileirOperation llvm.intr.ssub.with.overflow llvm.intr.tanh llvm.intr.trap llvm.intr.trunc llvm.intr.uadd.sat llvm.intr.uadd.with.overflow llvm.intr.umax llvm.intr.umin llvm.intr.umul.with.overflow llvm.intr.usub.sat llvm.intr.usub.with.overflow llvm.intr.vector.reduce.add
syntax keyword tileirOperation llvm.intr.vector.reduce.and llvm.intr.vector.reduce.fadd llvm.intr.vector.reduce.fmax llvm.intr.vector.reduce.fmaximum llvm.intr.vector.reduce.fmin llvm.intr.vector.reduce.fminimum llvm.intr.vector.reduce.fmul llvm.intr.vector.reduce.mul llvm.intr.vector.reduce.or llvm.intr.vector.reduce.smax llvm.intr.vector.reduce.smin llvm.intr.vector.reduce.umax
syntax keyword tileirOperation llvm.intr.vector.reduce.umin llvm.intr.vector.reduce.xor llvm.inttoptr llvm.load llvm.lshr llvm.mlir.addressof llvm.mlir.constant llvm.mlir.global llvm.mlir.poison llvm.mlir.undef llvm.mlir.zero llvm.mul
syntax keyword tileirOperation llvm.or llvm.ptrtoint llvm.return llvm.sdiv llvm.select llvm.sext llvm.shl llvm.shufflevector llvm.sitofp llvm.srem llvm.store llvm.sub
syntax keyword tileirOperation llvm.switch llvm.trunc llvm.udiv llvm.uitofp llvm.unreachable llvm.urem llvm.xor llvm.zext math.absf math.absi math.acos math.acosh
syntax keyword tileirOperation math.asin math.asinh math.atan math.atan2 math.atanh math.cbrt math.ceil math.clampf math.copysign math.cos math.cosh math.ctlz
syntax keyword tileirOperation math.ctpop math.cttz math.erf math.erfc math.exp math.exp2 math.expm1 math.floor math.fma math.fpowi math.ipowi math.isfinite
syntax keyword tileirOperation math.isinf math.isnan math.isnormal math.log math.log10 math.log1p math.log2 math.powf math.round math.roundeven math.rsqrt math.sin
syntax keyword tileirOperation math.sincos math.sinh math.sqrt math.tan math.tanh math.trunc memref.alloca memref.atomic_rmw memref.cast memref.dim memref.extract_aligned_pointer_as_index memref.get_global
syntax keyword tileirOperation memref.global memref.load memref.memory_space_cast memref.reinterpret_cast memref.store memref.subview memref.view nv_tileaa.absf nv_tileaa.absi nv_tileaa.addf nv_tileaa.addi nv_tileaa.addptr
syntax keyword tileirOperation nv_tileaa.alloca nv_tileaa.andi nv_tileaa.assert nv_tileaa.assume nv_tileaa.atan2 nv_tileaa.atomic_cas nv_tileaa.atomic_rmw nv_tileaa.bitcast nv_tileaa.block_tile nv_tileaa.broadcast nv_tileaa.call nv_tileaa.call_elementwise_intrinsic
syntax keyword tileirOperation nv_tileaa.cancel_next_program_id nv_tileaa.cat nv_tileaa.ceil nv_tileaa.clampf nv_tileaa.cmpf nv_tileaa.cmpi nv_tileaa.conv_dot nv_tileaa.conv_tile nv_tileaa.cos nv_tileaa.cosh nv_tileaa.create_mem_token nv_tileaa.create_queue
syntax keyword tileirOperation nv_tileaa.divf nv_tileaa.divi nv_tileaa.dot nv_tileaa.elementwise_inline_asm nv_tileaa.execute nv_tileaa.exp nv_tileaa.exp2 nv_tileaa.expand_dims nv_tileaa.extern_elementwise nv_tileaa.exti nv_tileaa.extract nv_tileaa.extract_slice
syntax keyword tileirOperation nv_tileaa.fence_alias nv_tileaa.floor nv_tileaa.fma nv_tileaa.fp_to_fp nv_tileaa.fpowf nv_tileaa.fpowi nv_tileaa.ftoi nv_tileaa.func nv_tileaa.gather_load nv_tileaa.generate nv_tileaa.get_cta_rank nv_tileaa.get_dim_size
syntax keyword tileirOperation nv_tileaa.get_global nv_tileaa.get_num_programs nv_tileaa.get_program_id nv_tileaa.global nv_tileaa.histogram nv_tileaa.inject_ir nv_tileaa.insert_slice nv_tileaa.int_to_ptr nv_tileaa.is_valid_program_id nv_tileaa.join_mem_token nv_tileaa.launch_dependents nv_tileaa.launch_func
syntax keyword tileirOperation nv_tileaa.load nv_tileaa.log nv_tileaa.log2 nv_tileaa.make_memref nv_tileaa.make_range nv_tileaa.mark_for_reuse nv_tileaa.maxf nv_tileaa.message nv_tileaa.minf nv_tileaa.mulf nv_tileaa.mulhiui nv_tileaa.muli
syntax keyword tileirOperation nv_tileaa.multimem_load_reduce nv_tileaa.multimem_reduce nv_tileaa.multimem_store nv_tileaa.negf nv_tileaa.negi nv_tileaa.optimization_barrier nv_tileaa.ori nv_tileaa.pack nv_tileaa.permute nv_tileaa.plugin nv_tileaa.pragma nv_tileaa.print
syntax keyword tileirOperation nv_tileaa.ptr_to_int nv_tileaa.queue.get nv_tileaa.queue.put nv_tileaa.queue.yield nv_tileaa.reduce nv_tileaa.remf nv_tileaa.remi nv_tileaa.return nv_tileaa.rsqrt nv_tileaa.scan nv_tileaa.scatter_store nv_tileaa.select
syntax keyword tileirOperation nv_tileaa.shli nv_tileaa.shri nv_tileaa.sin nv_tileaa.sinh nv_tileaa.splat nv_tileaa.sqrt nv_tileaa.store nv_tileaa.subf nv_tileaa.subi nv_tileaa.tan nv_tileaa.tanh nv_tileaa.tiled_atomic_rmw
syntax keyword tileirOperation nv_tileaa.tiled_load nv_tileaa.tiled_store nv_tileaa.trunci nv_tileaa.unpack nv_tileaa.view nv_tileaa.wait_on_dependencies nv_tileaa.xori nv_tileaa.yield nv_tileas.alloc_tensor nv_tileas.assert nv_tileas.async.copy nv_tileas.async.create_token
syntax keyword tileirOperation nv_tileas.async.order.arrive nv_tileas.async.order.begin nv_tileas.async.order.end nv_tileas.async.order.wait nv_tileas.async.pipeline.agent_switch nv_tileas.async.pipeline.consumer_read nv_tileas.async.pipeline.consumer_release nv_tileas.async.pipeline.consumer_wait nv_tileas.async.pipeline.create_iterator nv_tileas.async.pipeline.create_null_token nv_tileas.async.pipeline.create_pipeline nv_tileas.async.pipeline.inc_iter
syntax keyword tileirOperation nv_tileas.async.pipeline.producer_acquire nv_tileas.async.pipeline.producer_commit nv_tileas.async.pipeline.producer_copy nv_tileas.async.pipeline.producer_write nv_tileas.async.pipeline.yield nv_tileas.async.store_wait nv_tileas.async.tiled_store nv_tileas.async.wait nv_tileas.atomic_cas nv_tileas.atomic_rmw nv_tileas.barrier nv_tileas.broadcast
syntax keyword tileirOperation nv_tileas.cat nv_tileas.convert_layout nv_tileas.create_tensor_maps nv_tileas.dot nv_tileas.dot_wait nv_tileas.execute nv_tileas.expand_dims nv_tileas.extract nv_tileas.extract_slice nv_tileas.gather_load nv_tileas.generate nv_tileas.histogram
syntax keyword tileirOperation nv_tileas.insert_slice nv_tileas.load nv_tileas.make_range nv_tileas.multimem_load_reduce nv_tileas.multimem_reduce nv_tileas.multimem_store nv_tileas.pack nv_tileas.permute nv_tileas.prefetch_tensor_maps nv_tileas.print nv_tileas.proxy_fence nv_tileas.read_buffer
syntax keyword tileirOperation nv_tileas.reduce nv_tileas.release_tensor_maps nv_tileas.scan nv_tileas.scatter_store nv_tileas.sleep nv_tileas.splat nv_tileas.store nv_tileas.tiled_atomic_rmw nv_tileas.tiled_load nv_tileas.tiled_store nv_tileas.unpack nv_tileas.view
syntax keyword tileirOperation nv_tileas.yield nvgpu.cvt_fpext nvgpu.cvt_fptrunc nvgpu.device_async_copy nvgpu.device_async_create_group nvgpu.device_async_wait nvgpu.fma.packed.f32x2 nvgpu.ldmatrix nvgpu.mbarrier.arrive nvgpu.mbarrier.arrive.expect_tx nvgpu.mbarrier.arrive.nocomplete nvgpu.mbarrier.create
syntax keyword tileirOperation nvgpu.mbarrier.init nvgpu.mbarrier.test.wait nvgpu.mbarrier.try_wait.parity nvgpu.mma.sp.sync nvgpu.mma.sync nvgpu.mul.packed.f32x2 nvgpu.rcp nvgpu.tma.async.load nvgpu.tma.async.store nvgpu.tma.create.descriptor nvgpu.tma.fence.descriptor nvgpu.tma.prefetch.descriptor
syntax keyword tileirOperation nvgpu.warpgroup.generate.descriptor nvgpu.warpgroup.mma nvgpu.warpgroup.mma.init.accumulator nvgpu.warpgroup.mma.store nvvm.add.packed.f32x2 nvvm.addf nvvm.bar.sync.aligned nvvm.bar.warp.sync nvvm.barrier nvvm.barrier.arrive nvvm.barrier0 nvvm.cluster.arrive
syntax keyword tileirOperation nvvm.cluster.arrive.relaxed nvvm.cluster.wait nvvm.convert.bf16x2.to.f8x2 nvvm.convert.f16x2.to.f8x2 nvvm.convert.f32x2.to.bf16x2 nvvm.convert.f32x2.to.f16x2 nvvm.convert.f32x2.to.f4x2 nvvm.convert.f32x2.to.f6x2 nvvm.convert.f32x2.to.f8x2 nvvm.convert.f4x2.to.f16x2 nvvm.convert.f6x2.to.f16x2 nvvm.convert.f8x2.to.bf16x2
syntax keyword tileirOperation nvvm.convert.f8x2.to.f16x2 nvvm.convert.float.to.tf32 nvvm.cos.approx nvvm.cp.async.bulk.commit.group nvvm.cp.async.bulk.global.shared.cta nvvm.cp.async.bulk.prefetch nvvm.cp.async.bulk.shared.cluster.global nvvm.cp.async.bulk.shared.cluster.shared.cta nvvm.cp.async.bulk.tensor.global.shared.cta nvvm.cp.async.bulk.tensor.prefetch nvvm.cp.async.bulk.tensor.reduce nvvm.cp.async.bulk.tensor.shared.cluster.global
syntax keyword tileirOperation nvvm.cp.async.bulk.wait_group nvvm.cp.async.commit.group nvvm.cp.async.mbarrier.arrive nvvm.cp.async.shared.global nvvm.cp.async.wait.all nvvm.cp.async.wait.group nvvm.createpolicy.fractional nvvm.div.approx nvvm.divf nvvm.elect.sync nvvm.ex2.approx nvvm.exit
syntax keyword tileirOperation nvvm.fence.mbarrier.init nvvm.fence.proxy nvvm.fence.proxy.acquire nvvm.fence.proxy.acquire.sync nvvm.fence.proxy.release nvvm.fence.sc.cluster nvvm.fma nvvm.fma.packed.f32x2 nvvm.griddepcontrol nvvm.ld.global nvvm.ldmatrix nvvm.ldmatrix.sync
syntax keyword tileirOperation nvvm.lg2.approx nvvm.mapa nvvm.match.sync nvvm.mbarrier.arrive nvvm.mbarrier.arrive.expect_tx nvvm.mbarrier.arrive.expect_tx.shared nvvm.mbarrier.arrive.nocomplete nvvm.mbarrier.arrive.nocomplete.shared nvvm.mbarrier.arrive.shared nvvm.mbarrier.arrive.shared.cluster nvvm.mbarrier.complete_tx nvvm.mbarrier.expect_tx
syntax keyword tileirOperation nvvm.mbarrier.init nvvm.mbarrier.init.shared nvvm.mbarrier.inval nvvm.mbarrier.inval.shared nvvm.mbarrier.test.wait nvvm.mbarrier.test.wait.shared nvvm.mbarrier.try_wait.parity nvvm.mbarrier.try_wait.parity.shared nvvm.memory_barrier nvvm.mma.sp.sync nvvm.mma.sync nvvm.mul.packed.f32x2
syntax keyword tileirOperation nvvm.mulf nvvm.multimem.ld_reduce nvvm.multimem.red nvvm.multimem.st nvvm.nanosleep nvvm.opaque nvvm.prefetch nvvm.rcp.approx nvvm.rcp.approx.ftz.f nvvm.rcpf nvvm.read.ptx.sreg.clock nvvm.read.ptx.sreg.clock64
syntax keyword tileirOperation nvvm.read.ptx.sreg.cluster.ctaid.x nvvm.read.ptx.sreg.cluster.ctaid.y nvvm.read.ptx.sreg.cluster.ctaid.z nvvm.read.ptx.sreg.cluster.ctarank nvvm.read.ptx.sreg.cluster.nctaid.x nvvm.read.ptx.sreg.cluster.nctaid.y nvvm.read.ptx.sreg.cluster.nctaid.z nvvm.read.ptx.sreg.cluster.nctarank nvvm.read.ptx.sreg.clusterid.x nvvm.read.ptx.sreg.clusterid.y nvvm.read.ptx.sreg.clusterid.z nvvm.read.ptx.sreg.ctaid.x
syntax keyword tileirOperation nvvm.read.ptx.sreg.ctaid.y nvvm.read.ptx.sreg.ctaid.z nvvm.read.ptx.sreg.globaltimer nvvm.read.ptx.sreg.gridid nvvm.read.ptx.sreg.laneid nvvm.read.ptx.sreg.lanemask.eq nvvm.read.ptx.sreg.lanemask.ge nvvm.read.ptx.sreg.lanemask.gt nvvm.read.ptx.sreg.lanemask.le nvvm.read.ptx.sreg.lanemask.lt nvvm.read.ptx.sreg.nclusterid.x nvvm.read.ptx.sreg.nclusterid.y
syntax keyword tileirOperation nvvm.read.ptx.sreg.nclusterid.z nvvm.read.ptx.sreg.nctaid.x nvvm.read.ptx.sreg.nctaid.y nvvm.read.ptx.sreg.nctaid.z nvvm.read.ptx.sreg.nsmid nvvm.read.ptx.sreg.ntid.x nvvm.read.ptx.sreg.ntid.y nvvm.read.ptx.sreg.ntid.z nvvm.read.ptx.sreg.nwarpid nvvm.read.ptx.sreg.smid nvvm.read.ptx.sreg.tid.x nvvm.read.ptx.sreg.tid.y
syntax keyword tileirOperation nvvm.read.ptx.sreg.tid.z nvvm.read.ptx.sreg.warpid nvvm.read.ptx.sreg.warpsize nvvm.redux.sync nvvm.rsqrt.approx nvvm.setmaxregister nvvm.shfl.sync nvvm.sin.approx nvvm.sqrt.approx nvvm.sqrtf nvvm.st.bulk nvvm.st.global
syntax keyword tileirOperation nvvm.stmatrix nvvm.tanh.approx nvvm.tensormap.cp_fenceproxy nvvm.tensormap.replace nvvm.vote.sync nvvm.wgmma.commit.group.sync.aligned nvvm.wgmma.fence.aligned nvvm.wgmma.mma_async nvvm.wgmma.steps nvvm.wgmma.wait.group.sync.aligned scf.condition scf.for
syntax keyword tileirOperation scf.if scf.while scf.yield ub.poison ub.unreachable vector.bitcast vector.broadcast vector.extract vector.extract_strided_slice vector.fma vector.from_elements vector.insert
syntax keyword tileirOperation vector.insert_strided_slice vector.load vector.maskedload vector.maskedstore vector.reduction vector.shape_cast vector.shuffle vector.splat vector.step vector.store vector.to_elements absf
syntax keyword tileirOperation absi addf addi alloca andi assert assume atan2 atomic_cas_tko atomic_red_view_tko atomic_rmw_tko bitcast
syntax keyword tileirOperation break broadcast cat ceil cmpf cmpi constant continue cos cosh divf divi
syntax keyword tileirOperation entry exp exp2 exti extract floor fma for fpowf fpowi ftof ftoi
syntax keyword tileirOperation gdc_launch_dependents_tko gdc_wait_tko get_global get_index_space_shape get_num_tile_blocks get_tensor_shape get_tile_block_id global if insert int_to_ptr iota
syntax keyword tileirOperation itof join_tokens load_ptr_tko load_view_tko log log2 loop make_gather_scatter_view make_partition_view make_strided_view make_tensor_view make_token
syntax keyword tileirOperation maxf maxi memory_fence_alias_tko minf mini mmaf mmaf_scaled mmai module mulf mulhii muli
syntax keyword tileirOperation multimem_load_reduce_view_tko multimem_reduce_view_tko multimem_store_view_tko negf negi offset ori pack permute pow print print_tko
syntax keyword tileirOperation ptr_to_int ptr_to_ptr reduce remf remi reshape return rsqrt scan select shli shri
syntax keyword tileirOperation sin sinh sqrt store_ptr_tko store_view_tko subf subi tan tanh token.join trunci unpack
syntax keyword tileirOperation xori yield
syntax match tileirType /\<[su]\?i[1-9][0-9]*\>/
syntax match tileirNumber /\<[0-9][0-9.]*\([eE][-+]\?[0-9]\+\)\?\>/
syntax match tileirNumber /\<0x[0-9A-Fa-f]\+\>/
syntax match tileirShape /\(\<[0-9]\+x\|?x\)\([0-9]\+x\|?x\)*/ nextgroup=tileirElement
syntax match tileirElement /\%([su]\?i[1-9][0-9]*\|array\|buffer\|consumer_token\|func\|gather_scatter_view\|mem_token\|memref\|partition_view\|pipeline\|pipeline_iterator\|producer_token\|program_id\|ptr\|queue\|strided_view\|string\|struct\|tensor_map\|tensor_view\|tile\|tiled_view\|token\|void\|bf16\|complex\|f128\|f16\|f32\|f4E2M1FN\|f64\|f6E2M3FN\|f6E3M2FN\|f80\|f8E3M4\|f8E4M3\|f8E4M3B11FNUZ\|f8E4M3FN\|f8E4M3FNUZ\|f8E5M2\|f8E5M2FNUZ\|f8E8M0FNU\|fnv8E5M3FNU\|index\|memref\|none\|tensor\|tf32\|tuple\|vector\)/ contained
syntax match tileirValue /%[A-Za-z0-9_$.-]\+\(#[0-9]\+\)\?/
syntax match tileirLabel /\^[A-Za-z0-9_$.-]\+/
syntax match tileirSymbol /@[A-Za-z_][A-Za-z0-9_$.]*/
syntax match tileirType /![A-Za-z0-9_$.-]\+/
syntax match tileirAttribute /#[A-Za-z0-9_$.-]\+/
syntax region tileirString start=/"/ skip=/\\./ end=/"/ oneline
syntax match tileirComment +//.*$+
highlight default link tileirAttribute PreProc
highlight default link tileirComment Comment
highlight default link tileirElement Type
highlight default link tileirEnum Constant
highlight default link tileirKeyword Keyword
highlight default link tileirLabel Label
highlight default link tileirNumber Number
highlight default link tileirOperation Statement
highlight default link tileirShape Number
highlight default link tileirString String
highlight default link tileirSymbol Function
highlight default link tileirType Type
highlight default link tileirValue Identifier
let b:current_syntax = 'tileir'
