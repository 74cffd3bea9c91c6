// A GEMM for Hopper, C = A @ B in bf16, with a producer warpgroup and two consumer warpgroups.
// Two blocks share B, given as [K, N]: each multicasts a half of it to both.
// RUN @gemm grid=2 block=384 cluster=2 arch=wgmma
// DATA a = small:300x136xbf16:1
// DATA b = small:136x264xbf16:2
// DATA c = zeros:300x264xbf16
// MAP map_a = a box=128x64 swizzle=128
// MAP map_b = b box=64x64 swizzle=128
// MAP map_c = c box=64x64 swizzle=128
// ARG m = 300
// ARG n = 264
// ARG k = 136
// EXPECT c = wide_bf16(a) @ wide_bf16(b)
!barriers = !nvgpu.mbarrier.group<memorySpace = #gpu.address_space<workgroup>, num_barriers = 4>
!a_stages = memref<4x128x64xbf16, #gpu.address_space<workgroup>>
!b_stages = memref<4x4x64x64xbf16, #gpu.address_space<workgroup>>
!c_stages = memref<2x2x64x64xbf16, #gpu.address_space<workgroup>>
!map_a = !nvgpu.tensormap.descriptor<tensor = memref<128x64xbf16, 3>, swizzle = swizzle_128b, l2promo = l2promo_256b, oob = zero, interleave = none>
!map_b = !nvgpu.tensormap.descriptor<tensor = memref<64x64xbf16, 3>, swizzle = swizzle_128b, l2promo = l2promo_256b, oob = zero, interleave = none>
!map_c = !nvgpu.tensormap.descriptor<tensor = memref<64x64xbf16, 3>, swizzle = swizzle_128b, l2promo = l2promo_256b, oob = zero, interleave = none>

gpu.module @kernels {
  gpu.func @gemm(%ta: !map_a, %tb: !map_b, %tc: !map_c, %M: i32, %N: i32, %K: i32)
      workgroup(%a: !a_stages {llvm.align = 1024 : i64},
        %b: !b_stages {llvm.align = 1024 : i64},
        %c: !c_stages {llvm.align = 1024 : i64})
      kernel attributes {known_block_size = array<i32: 384, 1, 1>, known_cluster_size = array<i32: 2, 1, 1>} {
    %true = arith.constant true
    %false = arith.constant false
    %zeros = arith.constant dense<0.0> : vector<128xf32>
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c2 = arith.constant 2 : i32
    %c3 = arith.constant 3 : i32
    %c4 = arith.constant 4 : i32
    %c5 = arith.constant 5 : i32
    %c6 = arith.constant 6 : i32
    %c7 = arith.constant 7 : i32
    %c8 = arith.constant 8 : i32
    %c15 = arith.constant 15 : i32
    %c31 = arith.constant 31 : i32
    %c32 = arith.constant 32 : i32
    %c63 = arith.constant 63 : i32
    %c64 = arith.constant 64 : i32
    %c127 = arith.constant 127 : i32
    %c128 = arith.constant 128 : i32
    %c192 = arith.constant 192 : i32
    %c255 = arith.constant 255 : i32
    %c256 = arith.constant 256 : i32
    %c1024 = arith.constant 1024 : i32
    %c2048 = arith.constant 2048 : i32
    %h3 = arith.constant 3 : i16
    %i0 = arith.constant 0 : index
    %i1 = arith.constant 1 : index
    %i2 = arith.constant 2 : index
    %i3 = arith.constant 3 : index
    %i16 = arith.constant 16 : index
    %i49152 = arith.constant 49152 : index
    %i10000000 = arith.constant 10000000 : index
    %thread_index = gpu.thread_id x upper_bound 384
    %thread = arith.index_castui %thread_index : index to i32
    // Every branch on the warp is uniform if the value is.
    %own_warp = arith.shrui %thread, %c5 : i32
    %warp, %warp_valid = gpu.shuffle idx %own_warp, %c0, %c32 : i32
    %lane = arith.andi %thread, %c31 : i32
    %group = arith.shrui %warp, %c2 : i32
    %block_index = gpu.block_id x
    %block = arith.index_castui %block_index : index to i32
    %blocks_index = gpu.grid_dim x
    %blocks = arith.index_castui %blocks_index : index to i32
    %rank_index = gpu.cluster_block_id x
    %rank = arith.index_castui %rank_index : index to i32
    %first = arith.divui %block, %c2 : i32
    %step = arith.divui %blocks, %c2 : i32
    // The number of tiles, and of iterations along K.
    %m_up = arith.addi %M, %c255 : i32
    %m_tiles = arith.divui %m_up, %c256 : i32
    %n_up = arith.addi %N, %c255 : i32
    %n_tiles = arith.divui %n_up, %c256 : i32
    %k_up = arith.addi %K, %c63 : i32
    %k_tiles = arith.divui %k_up, %c64 : i32
    %tiles = arith.muli %m_tiles, %n_tiles : i32
    %tiles_in_rows = arith.muli %n_tiles, %c8 : i32
    %full = nvgpu.mbarrier.create -> !barriers
    %empty = nvgpu.mbarrier.create -> !barriers
    %is_first = arith.cmpi eq, %thread, %c0 : i32
    scf.if %is_first {
      nvgpu.tma.prefetch.descriptor %ta : !map_a
      nvgpu.tma.prefetch.descriptor %tb : !map_b
      nvgpu.tma.prefetch.descriptor %tc : !map_c
      nvgpu.mbarrier.init %full[%i0], %i1 : !barriers
      nvgpu.mbarrier.init %empty[%i0], %i16 : !barriers
      nvgpu.mbarrier.init %full[%i1], %i1 : !barriers
      nvgpu.mbarrier.init %empty[%i1], %i16 : !barriers
      nvgpu.mbarrier.init %full[%i2], %i1 : !barriers
      nvgpu.mbarrier.init %empty[%i2], %i16 : !barriers
      nvgpu.mbarrier.init %full[%i3], %i1 : !barriers
      nvgpu.mbarrier.init %empty[%i3], %i16 : !barriers
      cute_nvgpu.fence.mbarrier_init
    }
    cute_nvgpu.cluster.arrive aligned
    cute_nvgpu.cluster.wait aligned
    // Warpgroup 0 produces, the two others consume.
    %produces = arith.cmpi eq, %group, %c0 : i32
    scf.if %produces {
      cute_nvgpu.set_max_registers decrease 40
      %is_warp_0 = arith.cmpi eq, %warp, %c0 : i32
      scf.if %is_warp_0 {
        %elected = cute_nvgpu.elect_one
        scf.if %elected {
          // The first iteration waits for a phase that is over already.
          %p:2 = scf.for unsigned %tile = %first to %tiles step %step iter_args(%s0 = %c0, %ph0 = %true) -> (i32, i1) : i32 {
            %rows = arith.divui %tile, %tiles_in_rows : i32
            %rest = arith.remui %tile, %tiles_in_rows : i32
            %top = arith.muli %rows, %c8 : i32
            %below = arith.subi %m_tiles, %top : i32
            %height = arith.minui %below, %c8 : i32
            %down = arith.remui %rest, %height : i32
            %row = arith.addi %top, %down : i32
            %column = arith.divui %rest, %height : i32
            %m = arith.muli %row, %c256 : i32
            %share = arith.muli %rank, %c128 : i32
            %m1 = arith.addi %m, %share : i32
            %n = arith.muli %column, %c256 : i32
            %q:2 = scf.for unsigned %k = %c0 to %k_tiles step %c1 iter_args(%s = %s0, %ph = %ph0) -> (i32, i1) : i32 {
              %stage = arith.index_castui %s : i32 to index
              nvgpu.mbarrier.try_wait.parity %empty[%stage], %ph, %i10000000 : !barriers
              nvgpu.mbarrier.arrive.expect_tx %full[%stage], %i49152 : !barriers
              %depth = arith.muli %k, %c64 : i32
              %at_depth = arith.index_castui %depth : i32 to index
              %at_m1 = arith.index_castui %m1 : i32 to index
              cute_nvgpu.tma.load %ta[%at_m1, %at_depth], %full[%stage] to %a[%stage, %i0, %i0] : !map_a, !barriers to !a_stages
              %first_block = arith.muli %rank, %c2 : i32
              %block_of_b = arith.addi %first_block, %c0 : i32
              %b_offset = arith.muli %block_of_b, %c64 : i32
              %b_column = arith.addi %n, %b_offset : i32
              %at_b_column = arith.index_castui %b_column : i32 to index
              %at_block_of_b = arith.index_castui %block_of_b : i32 to index
              cute_nvgpu.tma.load %tb[%at_depth, %at_b_column], %full[%stage] to %b[%stage, %at_block_of_b, %i0, %i0] multicast %h3 : !map_b, !barriers to !b_stages
              %first_block1 = arith.muli %rank, %c2 : i32
              %block_of_b1 = arith.addi %first_block1, %c1 : i32
              %b_offset1 = arith.muli %block_of_b1, %c64 : i32
              %b_column1 = arith.addi %n, %b_offset1 : i32
              %at_b_column1 = arith.index_castui %b_column1 : i32 to index
              %at_block_of_b1 = arith.index_castui %block_of_b1 : i32 to index
              cute_nvgpu.tma.load %tb[%at_depth, %at_b_column1], %full[%stage] to %b[%stage, %at_block_of_b1, %i0, %i0] multicast %h3 : !map_b, !barriers to !b_stages
              %wraps = arith.cmpi eq, %s, %c3 : i32
              %stage_up = arith.addi %s, %c1 : i32
              %next_stage = arith.select %wraps, %c0, %stage_up : i32
              %next_phase = arith.xori %ph, %wraps : i1
              scf.yield %next_stage, %next_phase : i32, i1
            }
            scf.yield %q#0, %q#1 : i32, i1
          }
        }
      }
    } else {
      cute_nvgpu.set_max_registers increase 232
      %half = arith.subi %group, %c1 : i32
      %a_row = arith.muli %half, %c64 : i32
      %at_a_row = arith.index_castui %a_row : i32 to index
      %matrix_a = cute_nvgpu.wgmma.descriptor %a[%i0, %at_a_row, %i0] swizzle_128b leading 16 stride 1024 : !a_stages
      %matrix_b = cute_nvgpu.wgmma.descriptor %b[%i0, %i0, %i0, %i0] swizzle_128b leading 8192 stride 1024 : !b_stages
      %quarter = arith.andi %warp, %c3 : i32
      %top_row = arith.shli %quarter, %c4 : i32
      %lane_row = arith.andi %lane, %c15 : i32
      %c_row = arith.addi %top_row, %lane_row : i32
      %at_c_row = arith.index_castui %c_row : i32 to index
      %low = arith.andi %lane, %c7 : i32
      %high = arith.shrui %lane, %c4 : i32
      %piece = arith.addi %high, %c0 : i32
      %swizzled = arith.xori %piece, %low : i32
      %c_column = arith.shli %swizzled, %c3 : i32
      %at_c_column = arith.index_castui %c_column : i32 to index
      %piece1 = arith.addi %high, %c2 : i32
      %swizzled1 = arith.xori %piece1, %low : i32
      %c_column1 = arith.shli %swizzled1, %c3 : i32
      %at_c_column1 = arith.index_castui %c_column1 : i32 to index
      %piece2 = arith.addi %high, %c4 : i32
      %swizzled2 = arith.xori %piece2, %low : i32
      %c_column2 = arith.shli %swizzled2, %c3 : i32
      %at_c_column2 = arith.index_castui %c_column2 : i32 to index
      %piece3 = arith.addi %high, %c6 : i32
      %swizzled3 = arith.xori %piece3, %low : i32
      %c_column3 = arith.shli %swizzled3, %c3 : i32
      %at_c_column3 = arith.index_castui %c_column3 : i32 to index
      %at_half = arith.index_castui %half : i32 to index
      %own_barrier = arith.addi %half, %c1 : i32
      %in_group = arith.andi %thread, %c127 : i32
      %sends = arith.cmpi eq, %in_group, %c0 : i32
      %p:2 = scf.for unsigned %tile = %first to %tiles step %step iter_args(%s0 = %c0, %ph0 = %false) -> (i32, i1) : i32 {
        %rows1 = arith.divui %tile, %tiles_in_rows : i32
        %rest1 = arith.remui %tile, %tiles_in_rows : i32
        %top1 = arith.muli %rows1, %c8 : i32
        %below1 = arith.subi %m_tiles, %top1 : i32
        %height1 = arith.minui %below1, %c8 : i32
        %down1 = arith.remui %rest1, %height1 : i32
        %row1 = arith.addi %top1, %down1 : i32
        %column1 = arith.divui %rest1, %height1 : i32
        %m2 = arith.muli %row1, %c256 : i32
        %share1 = arith.muli %rank, %c128 : i32
        %m3 = arith.addi %m2, %share1 : i32
        %n1 = arith.muli %column1, %c256 : i32
        %q:4 = scf.for unsigned %k = %c0 to %k_tiles step %c1 iter_args(%acc = %zeros, %s = %s0, %ph = %ph0, %before = %c0) -> (vector<128xf32>, i32, i1, i32) : i32 {
          %matrix_a_units = arith.muli %s, %c1024 : i32
          %matrix_a_offset = arith.extui %matrix_a_units : i32 to i64
          %matrix_a_here = arith.addi %matrix_a, %matrix_a_offset : i64
          %matrix_b_units = arith.muli %s, %c2048 : i32
          %matrix_b_offset = arith.extui %matrix_b_units : i32 to i64
          %matrix_b_here = arith.addi %matrix_b, %matrix_b_offset : i64
          %later = arith.cmpi ne, %k, %c0 : i32
          %stage1 = arith.index_castui %s : i32 to index
          nvgpu.mbarrier.try_wait.parity %full[%stage1], %ph, %i10000000 : !barriers
          %ready = cute_nvgpu.wgmma.fence(%acc : vector<128xf32>)
          %issued = cute_nvgpu.wgmma.issue %matrix_a_here, %matrix_b_here, %ready accumulate %later steps 4 by 2, 128 {transpose_b} : bf16, bf16, i64, vector<128xf32>
          cute_nvgpu.wgmma.commit
          %waited = cute_nvgpu.wgmma.wait 1, %issued : vector<128xf32>
          scf.if %later {
            %releases = arith.cmpi ult, %lane, %c2 : i32
            scf.if %releases {
              %at_before = arith.index_castui %before : i32 to index
              cute_nvgpu.mbarrier.arrive_remote %empty[%at_before], %lane : !barriers
            }
          }
          %wraps1 = arith.cmpi eq, %s, %c3 : i32
          %stage_up1 = arith.addi %s, %c1 : i32
          %next_stage1 = arith.select %wraps1, %c0, %stage_up1 : i32
          %next_phase1 = arith.xori %ph, %wraps1 : i1
          scf.yield %waited, %next_stage1, %next_phase1, %s : vector<128xf32>, i32, i1, i32
        }
        %sums = cute_nvgpu.wgmma.wait 0, %q#0 : vector<128xf32>
        %releases1 = arith.cmpi ult, %lane, %c2 : i32
        scf.if %releases1 {
          %at_last = arith.index_castui %q#3 : i32 to index
          cute_nvgpu.mbarrier.arrive_remote %empty[%at_last], %lane : !barriers
        }
        %half_rows = arith.shli %half, %c6 : i32
        %first_row = arith.addi %m3, %half_rows : i32
        %at_first_row = arith.index_castui %first_row : i32 to index
        // Columns 0 to 63 of C.
        scf.if %sends {
          cute_nvgpu.tma.wait 1 read
        }
        cute_nvgpu.named_barrier.sync %own_barrier, %c128
        %some = vector.extract_strided_slice %sums {offsets = [0], sizes = [8], strides = [1]} : vector<128xf32> to vector<8xf32>
        %narrow = arith.truncf %some : vector<8xf32> to vector<8xbf16>
        %fragments = vector.shape_cast %narrow : vector<8xbf16> to vector<4x2xbf16>
        cute_nvgpu.stmatrix %fragments, %c[%at_half, %i0, %at_c_row, %at_c_column] : vector<4x2xbf16>, !c_stages
        %some1 = vector.extract_strided_slice %sums {offsets = [8], sizes = [8], strides = [1]} : vector<128xf32> to vector<8xf32>
        %narrow1 = arith.truncf %some1 : vector<8xf32> to vector<8xbf16>
        %fragments1 = vector.shape_cast %narrow1 : vector<8xbf16> to vector<4x2xbf16>
        cute_nvgpu.stmatrix %fragments1, %c[%at_half, %i0, %at_c_row, %at_c_column1] : vector<4x2xbf16>, !c_stages
        %some2 = vector.extract_strided_slice %sums {offsets = [16], sizes = [8], strides = [1]} : vector<128xf32> to vector<8xf32>
        %narrow2 = arith.truncf %some2 : vector<8xf32> to vector<8xbf16>
        %fragments2 = vector.shape_cast %narrow2 : vector<8xbf16> to vector<4x2xbf16>
        cute_nvgpu.stmatrix %fragments2, %c[%at_half, %i0, %at_c_row, %at_c_column2] : vector<4x2xbf16>, !c_stages
        %some3 = vector.extract_strided_slice %sums {offsets = [24], sizes = [8], strides = [1]} : vector<128xf32> to vector<8xf32>
        %narrow3 = arith.truncf %some3 : vector<8xf32> to vector<8xbf16>
        %fragments3 = vector.shape_cast %narrow3 : vector<8xbf16> to vector<4x2xbf16>
        cute_nvgpu.stmatrix %fragments3, %c[%at_half, %i0, %at_c_row, %at_c_column3] : vector<4x2xbf16>, !c_stages
        cute_nvgpu.fence.proxy_async shared_cta
        cute_nvgpu.named_barrier.sync %own_barrier, %c128
        scf.if %sends {
          %part_column = arith.addi %n1, %c0 : i32
          %at_part_column = arith.index_castui %part_column : i32 to index
          cute_nvgpu.tma.store %c[%at_half, %i0, %i0, %i0] to %tc[%at_first_row, %at_part_column] : !c_stages to !map_c
          cute_nvgpu.tma.commit
        }
        // Columns 64 to 127 of C.
        scf.if %sends {
          cute_nvgpu.tma.wait 1 read
        }
        cute_nvgpu.named_barrier.sync %own_barrier, %c128
        %some4 = vector.extract_strided_slice %sums {offsets = [32], sizes = [8], strides = [1]} : vector<128xf32> to vector<8xf32>
        %narrow4 = arith.truncf %some4 : vector<8xf32> to vector<8xbf16>
        %fragments4 = vector.shape_cast %narrow4 : vector<8xbf16> to vector<4x2xbf16>
        cute_nvgpu.stmatrix %fragments4, %c[%at_half, %i1, %at_c_row, %at_c_column] : vector<4x2xbf16>, !c_stages
        %some5 = vector.extract_strided_slice %sums {offsets = [40], sizes = [8], strides = [1]} : vector<128xf32> to vector<8xf32>
        %narrow5 = arith.truncf %some5 : vector<8xf32> to vector<8xbf16>
        %fragments5 = vector.shape_cast %narrow5 : vector<8xbf16> to vector<4x2xbf16>
        cute_nvgpu.stmatrix %fragments5, %c[%at_half, %i1, %at_c_row, %at_c_column1] : vector<4x2xbf16>, !c_stages
        %some6 = vector.extract_strided_slice %sums {offsets = [48], sizes = [8], strides = [1]} : vector<128xf32> to vector<8xf32>
        %narrow6 = arith.truncf %some6 : vector<8xf32> to vector<8xbf16>
        %fragments6 = vector.shape_cast %narrow6 : vector<8xbf16> to vector<4x2xbf16>
        cute_nvgpu.stmatrix %fragments6, %c[%at_half, %i1, %at_c_row, %at_c_column2] : vector<4x2xbf16>, !c_stages
        %some7 = vector.extract_strided_slice %sums {offsets = [56], sizes = [8], strides = [1]} : vector<128xf32> to vector<8xf32>
        %narrow7 = arith.truncf %some7 : vector<8xf32> to vector<8xbf16>
        %fragments7 = vector.shape_cast %narrow7 : vector<8xbf16> to vector<4x2xbf16>
        cute_nvgpu.stmatrix %fragments7, %c[%at_half, %i1, %at_c_row, %at_c_column3] : vector<4x2xbf16>, !c_stages
        cute_nvgpu.fence.proxy_async shared_cta
        cute_nvgpu.named_barrier.sync %own_barrier, %c128
        scf.if %sends {
          %part_column1 = arith.addi %n1, %c64 : i32
          %at_part_column1 = arith.index_castui %part_column1 : i32 to index
          cute_nvgpu.tma.store %c[%at_half, %i1, %i0, %i0] to %tc[%at_first_row, %at_part_column1] : !c_stages to !map_c
          cute_nvgpu.tma.commit
        }
        // Columns 128 to 191 of C.
        scf.if %sends {
          cute_nvgpu.tma.wait 1 read
        }
        cute_nvgpu.named_barrier.sync %own_barrier, %c128
        %some8 = vector.extract_strided_slice %sums {offsets = [64], sizes = [8], strides = [1]} : vector<128xf32> to vector<8xf32>
        %narrow8 = arith.truncf %some8 : vector<8xf32> to vector<8xbf16>
        %fragments8 = vector.shape_cast %narrow8 : vector<8xbf16> to vector<4x2xbf16>
        cute_nvgpu.stmatrix %fragments8, %c[%at_half, %i0, %at_c_row, %at_c_column] : vector<4x2xbf16>, !c_stages
        %some9 = vector.extract_strided_slice %sums {offsets = [72], sizes = [8], strides = [1]} : vector<128xf32> to vector<8xf32>
        %narrow9 = arith.truncf %some9 : vector<8xf32> to vector<8xbf16>
        %fragments9 = vector.shape_cast %narrow9 : vector<8xbf16> to vector<4x2xbf16>
        cute_nvgpu.stmatrix %fragments9, %c[%at_half, %i0, %at_c_row, %at_c_column1] : vector<4x2xbf16>, !c_stages
        %some10 = vector.extract_strided_slice %sums {offsets = [80], sizes = [8], strides = [1]} : vector<128xf32> to vector<8xf32>
        %narrow10 = arith.truncf %some10 : vector<8xf32> to vector<8xbf16>
        %fragments10 = vector.shape_cast %narrow10 : vector<8xbf16> to vector<4x2xbf16>
        cute_nvgpu.stmatrix %fragments10, %c[%at_half, %i0, %at_c_row, %at_c_column2] : vector<4x2xbf16>, !c_stages
        %some11 = vector.extract_strided_slice %sums {offsets = [88], sizes = [8], strides = [1]} : vector<128xf32> to vector<8xf32>
        %narrow11 = arith.truncf %some11 : vector<8xf32> to vector<8xbf16>
        %fragments11 = vector.shape_cast %narrow11 : vector<8xbf16> to vector<4x2xbf16>
        cute_nvgpu.stmatrix %fragments11, %c[%at_half, %i0, %at_c_row, %at_c_column3] : vector<4x2xbf16>, !c_stages
        cute_nvgpu.fence.proxy_async shared_cta
        cute_nvgpu.named_barrier.sync %own_barrier, %c128
        scf.if %sends {
          %part_column2 = arith.addi %n1, %c128 : i32
          %at_part_column2 = arith.index_castui %part_column2 : i32 to index
          cute_nvgpu.tma.store %c[%at_half, %i0, %i0, %i0] to %tc[%at_first_row, %at_part_column2] : !c_stages to !map_c
          cute_nvgpu.tma.commit
        }
        // Columns 192 to 255 of C.
        scf.if %sends {
          cute_nvgpu.tma.wait 1 read
        }
        cute_nvgpu.named_barrier.sync %own_barrier, %c128
        %some12 = vector.extract_strided_slice %sums {offsets = [96], sizes = [8], strides = [1]} : vector<128xf32> to vector<8xf32>
        %narrow12 = arith.truncf %some12 : vector<8xf32> to vector<8xbf16>
        %fragments12 = vector.shape_cast %narrow12 : vector<8xbf16> to vector<4x2xbf16>
        cute_nvgpu.stmatrix %fragments12, %c[%at_half, %i1, %at_c_row, %at_c_column] : vector<4x2xbf16>, !c_stages
        %some13 = vector.extract_strided_slice %sums {offsets = [104], sizes = [8], strides = [1]} : vector<128xf32> to vector<8xf32>
        %narrow13 = arith.truncf %some13 : vector<8xf32> to vector<8xbf16>
        %fragments13 = vector.shape_cast %narrow13 : vector<8xbf16> to vector<4x2xbf16>
        cute_nvgpu.stmatrix %fragments13, %c[%at_half, %i1, %at_c_row, %at_c_column1] : vector<4x2xbf16>, !c_stages
        %some14 = vector.extract_strided_slice %sums {offsets = [112], sizes = [8], strides = [1]} : vector<128xf32> to vector<8xf32>
        %narrow14 = arith.truncf %some14 : vector<8xf32> to vector<8xbf16>
        %fragments14 = vector.shape_cast %narrow14 : vector<8xbf16> to vector<4x2xbf16>
        cute_nvgpu.stmatrix %fragments14, %c[%at_half, %i1, %at_c_row, %at_c_column2] : vector<4x2xbf16>, !c_stages
        %some15 = vector.extract_strided_slice %sums {offsets = [120], sizes = [8], strides = [1]} : vector<128xf32> to vector<8xf32>
        %narrow15 = arith.truncf %some15 : vector<8xf32> to vector<8xbf16>
        %fragments15 = vector.shape_cast %narrow15 : vector<8xbf16> to vector<4x2xbf16>
        cute_nvgpu.stmatrix %fragments15, %c[%at_half, %i1, %at_c_row, %at_c_column3] : vector<4x2xbf16>, !c_stages
        cute_nvgpu.fence.proxy_async shared_cta
        cute_nvgpu.named_barrier.sync %own_barrier, %c128
        scf.if %sends {
          %part_column3 = arith.addi %n1, %c192 : i32
          %at_part_column3 = arith.index_castui %part_column3 : i32 to index
          cute_nvgpu.tma.store %c[%at_half, %i1, %i0, %i0] to %tc[%at_first_row, %at_part_column3] : !c_stages to !map_c
          cute_nvgpu.tma.commit
        }
        scf.yield %q#1, %q#2 : i32, i1
      }
      scf.if %sends {
        cute_nvgpu.tma.wait 0
      }
    }
    // No block exits while another may still write or arrive here.
    cute_nvgpu.cluster.arrive
    cute_nvgpu.cluster.wait
    gpu.return
  }
}
