// The CTAs of a cluster, which run one program: each stores its part of a tile, with the program id and the grid's extent.
// RUN @parts grid=3 cluster=2
// ARG out = zeros:12x2xi32
// EXPECT out = np.stack([np.arange(12) // 4 * 100 + 3, np.arange(12) // 2 % 2], 1)
// RUN @quarters grid=2x2 cluster=4
// ARG out = zeros:4x4xi32
// EXPECT out = np.arange(4)[:, None] * 10 + np.arange(4)
// RUN @alone grid=3
// ARG out = zeros:3xi32
// EXPECT out = np.array([1, 1, 1])
gpu.module @kernels {
  nv_tileaa.func @parts(%out: !nv_tileaa.ptr<i32>) attributes {kernel_spec = #nv_tileaa.kernel_spec<num_ctas = 2>} {
    %b:3 = nv_tileaa.get_program_id : i32, i32, i32
    %n:3 = nv_tileaa.get_num_programs : i32, i32, i32
    %rank = nv_tileaa.get_cta_rank : i32
    %hundred = arith.constant 100 : i32
    %two = arith.constant 2 : i32
    %scaled = nv_tileaa.muli %b#0, %hundred : i32
    %value = nv_tileaa.addi %scaled, %n#0 : i32
    %first = nv_tileaa.muli %b#0, %two : i32
    %number = nv_tileaa.addi %first, %rank : i32
    %memref = nv_tileaa.make_memref %out : !nv_tileaa.ptr<i32> -> !nv_tileaa.memref<12x2xi32, strides = [2, 1]>
    %view = nv_tileaa.block_tile %memref : !nv_tileaa.tiled_view<tile = [2, 1], source = !nv_tileaa.memref<12x2xi32, strides = [2, 1]>>
    %zero = arith.constant 0 : i32
    %one = arith.constant 1 : i32
    %values = nv_tileaa.splat %value : i32 -> tensor<2x1xi32>
    %ranks = nv_tileaa.splat %rank : i32 -> tensor<2x1xi32>
    %t = nv_tileaa.tiled_store weak %values, %view[%number, %zero] : tensor<2x1xi32>, i32, i32 of !nv_tileaa.tiled_view<tile = [2, 1], source = !nv_tileaa.memref<12x2xi32, strides = [2, 1]>>
    %u = nv_tileaa.tiled_store weak %ranks, %view[%number, %one] : tensor<2x1xi32>, i32, i32 of !nv_tileaa.tiled_view<tile = [2, 1], source = !nv_tileaa.memref<12x2xi32, strides = [2, 1]>>
    nv_tileaa.return
  }
  nv_tileaa.func @quarters(%out: !nv_tileaa.ptr<i32>) attributes {kernel_spec = #nv_tileaa.kernel_spec<num_ctas = 4>} {
    %b:3 = nv_tileaa.get_program_id : i32, i32, i32
    %n:3 = nv_tileaa.get_num_programs : i32, i32, i32
    %rank = nv_tileaa.get_cta_rank : i32
    %ten = arith.constant 10 : i32
    %four = arith.constant 4 : i32
    %row = nv_tileaa.muli %b#1, %n#0 : i32
    %program = nv_tileaa.addi %row, %b#0 : i32
    %scaled = nv_tileaa.muli %program, %ten : i32
    %value = nv_tileaa.addi %scaled, %rank : i32
    %first = nv_tileaa.muli %program, %four : i32
    %offset = nv_tileaa.addi %first, %rank : i32
    %p = nv_tileaa.addptr %out, %offset : !nv_tileaa.ptr<i32>, i32
    %t = nv_tileaa.store weak %p, %value : !nv_tileaa.ptr<i32>, i32
    nv_tileaa.return
  }
  // Nothing depends on the rank: one CTA adds once, whatever the hint.
  nv_tileaa.func @alone(%out: !nv_tileaa.ptr<i32>) attributes {kernel_spec = #nv_tileaa.kernel_spec<num_ctas = 2>} {
    %b:3 = nv_tileaa.get_program_id : i32, i32, i32
    %one = arith.constant 1 : i32
    %p = nv_tileaa.addptr %out, %b#0 : !nv_tileaa.ptr<i32>, i32
    %old, %t = nv_tileaa.atomic_rmw relaxed gpu add %p, %one : !nv_tileaa.ptr<i32>, i32
    nv_tileaa.return
  }
}
