// Two warpgroups scale rows, one after the other in each iteration; a third one does nothing.
// RUN @scale block=384 arch=base
// ARG x = small:5x256xf32:1
// ARG y = zeros:5x256xf32
// EXPECT y = x * 3
#row = #nv_tileas.layout<[256], register = [], lane = [[1], [2], [4], [8], [16]], warp = [[32], [64], [128]]>
!pointers = tensor<256x!nv_tileaa.ptr<f32>, #row>
!row = tensor<256xf32, #row>
gpu.module @kernels {
  nv_tileaa.func @scale(%x: !nv_tileaa.ptr<f32>, %y: !nv_tileaa.ptr<f32>)
      attributes {kernel_spec = #nv_tileaa.kernel_spec<num_warps = 12>} {
    nv_tileas.async.pipeline.agent_switch attributes {first = 0 : i32, warps = 8 : i32} {
      %c0 = arith.constant 0 : i32
      %c1 = arith.constant 1 : i32
      %c5 = arith.constant 5 : i32
      %c256 = arith.constant 256 : i32
      %three = arith.constant 3.000000e+00 : f32
      %scale = nv_tileas.splat %three : f32 -> !row
      %range = nv_tileas.make_range : tensor<256xi32, #row>
      nv_tileas.async.order.begin
      scf.for %i = %c0 to %c5 step %c1 : i32 {
        %offset = arith.muli %i, %c256 : i32
        %from = nv_tileaa.addptr %x, %offset : !nv_tileaa.ptr<f32>, i32
        %to = nv_tileaa.addptr %y, %offset : !nv_tileaa.ptr<f32>, i32
        %froms = nv_tileas.splat %from : !nv_tileaa.ptr<f32> -> !pointers
        %tos = nv_tileas.splat %to : !nv_tileaa.ptr<f32> -> !pointers
        %p = nv_tileaa.addptr %froms, %range : !pointers, tensor<256xi32, #row>
        %q = nv_tileaa.addptr %tos, %range : !pointers, tensor<256xi32, #row>
        nv_tileas.async.order.wait
        %row, %t = nv_tileas.load weak %p : !pointers -> !row
        %scaled = nv_tileaa.mulf %row, %scale : !row
        %u = nv_tileas.store weak %q, %scaled : !pointers, !row
        nv_tileas.async.order.arrive
      }
      nv_tileas.async.order.end
      nv_tileas.async.pipeline.yield
    }
    nv_tileaa.return
  }
}
