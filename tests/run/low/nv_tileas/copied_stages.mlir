// A producer warp issues copies into a pipeline of three stages; two consumer warps add them up. Stages are full when their bytes have arrived.
// RUN @sum block=96 arch=base
// ARG x = small:10x128xf16:1
// ARG y = zeros:128xf16
// EXPECT y = x.sum(axis=0)
// RUN @sum block=96 arch=sm_80
// ARG x = small:10x128xf16:2
// ARG y = zeros:128xf16
// EXPECT y = x.sum(axis=0)
#two = #nv_tileas.layout<[128], register = [[1]], lane = [[2], [4], [8], [16], [32]], warp = [[64]]>
!tile = tensor<128xf16, #two>
!addresses = tensor<128x!nv_tileaa.ptr<f16>, #two>
!ring = !nv_tileas.pipeline<3, [tensor<128xf16>]>
!turn = !nv_tileas.pipeline_iterator<3>
gpu.module @kernels {
  nv_tileaa.func @sum(%x: !nv_tileaa.ptr<f16>, %y: !nv_tileaa.ptr<f16>)
      attributes {kernel_spec = #nv_tileaa.kernel_spec<num_warps = 3>} {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c10 = arith.constant 10 : i32
    %c128 = arith.constant 128 : i32
    %ring = nv_tileas.async.pipeline.create_pipeline : !ring
    nv_tileas.async.pipeline.agent_switch attributes {first = 0 : i32, warps = 1 : i32} {
      %begin = nv_tileas.async.pipeline.create_iterator %ring : !ring -> !turn
      %end = scf.for %i = %c0 to %c10 step %c1 iter_args(%turn = %begin) -> (!turn) : i32 {
        %offset = arith.muli %i, %c128 : i32
        %from = nv_tileaa.addptr %x, %offset : !nv_tileaa.ptr<f16>, i32
        %stage = nv_tileas.async.pipeline.producer_acquire %ring[%turn] : !ring, !turn
        nv_tileas.async.pipeline.producer_copy %ring, %stage, %from : !ring, !nv_tileaa.ptr<f16>
        nv_tileas.async.pipeline.producer_commit %ring, %stage : !ring
        %next = nv_tileas.async.pipeline.inc_iter %turn : !turn
        scf.yield %next : !turn
      }
      nv_tileas.async.pipeline.yield
    }
    nv_tileas.async.pipeline.agent_switch attributes {first = 1 : i32, warps = 2 : i32} {
      %begin = nv_tileas.async.pipeline.create_iterator %ring : !ring -> !turn
      %zero = arith.constant dense<0.0> : !tile
      %end, %sum = scf.for %i = %c0 to %c10 step %c1 iter_args(%turn = %begin, %all = %zero) -> (!turn, !tile) : i32 {
        %stage = nv_tileas.async.pipeline.consumer_wait %ring[%turn] : !ring, !turn
        %row = nv_tileas.async.pipeline.consumer_read %ring, %stage : !ring -> !tile
        nv_tileas.async.pipeline.consumer_release %ring, %stage : !ring
        %more = arith.addf %all, %row : !tile
        %next = nv_tileas.async.pipeline.inc_iter %turn : !turn
        scf.yield %next, %more : !turn, !tile
      }
      %range = nv_tileas.make_range : tensor<128xi32, #two>
      %base = nv_tileas.splat %y : !nv_tileaa.ptr<f16> -> !addresses
      %p = nv_tileaa.addptr %base, %range : !addresses, tensor<128xi32, #two>
      %s = nv_tileas.store weak %p, %sum : !addresses, !tile
      nv_tileas.async.pipeline.yield
    }
    nv_tileaa.return
  }
}
