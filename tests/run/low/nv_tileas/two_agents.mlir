// A producer warp loads rows and their indices into a pipeline of two stages; two consumer warps add them up.
// RUN @weighted block=96 arch=base
// ARG x = small:7x64xf32:1
// ARG y = zeros:64xf32
// EXPECT y = (x * np.arange(7, dtype=np.float32)[:, None]).sum(axis=0)
// RUN @weighted block=96 arch=sm_80
// ARG x = small:7x64xf32:2
// ARG y = zeros:64xf32
// EXPECT y = (x * np.arange(7, dtype=np.float32)[:, None]).sum(axis=0)
#one = #nv_tileas.layout<[64], register = [[1]], lane = [[2], [4], [8], [16], [32]], warp = []>
#two = #nv_tileas.layout<[64], register = [], lane = [[1], [2], [4], [8], [16]], warp = [[32]]>
!ring = !nv_tileas.pipeline<2, [tensor<64xf32>, f32]>
!turn = !nv_tileas.pipeline_iterator<2>
gpu.module @kernels {
  nv_tileaa.func @weighted(%x: !nv_tileaa.ptr<f32>, %y: !nv_tileaa.ptr<f32>)
      attributes {kernel_spec = #nv_tileaa.kernel_spec<num_warps = 3>} {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c7 = arith.constant 7 : i32
    %c64 = arith.constant 64 : i32
    %ring = nv_tileas.async.pipeline.create_pipeline : !ring
    nv_tileas.async.pipeline.agent_switch attributes {first = 0 : i32, warps = 1 : i32} {
      %begin = nv_tileas.async.pipeline.create_iterator %ring : !ring -> !turn
      %range = nv_tileas.make_range : tensor<64xi32, #one>
      %end = scf.for %i = %c0 to %c7 step %c1 iter_args(%turn = %begin) -> (!turn) : i32 {
        %offset = arith.muli %i, %c64 : i32
        %from = nv_tileaa.addptr %x, %offset : !nv_tileaa.ptr<f32>, i32
        %base = nv_tileas.splat %from : !nv_tileaa.ptr<f32> -> tensor<64x!nv_tileaa.ptr<f32>, #one>
        %p = nv_tileaa.addptr %base, %range : tensor<64x!nv_tileaa.ptr<f32>, #one>, tensor<64xi32, #one>
        %row, %t = nv_tileas.load weak %p : tensor<64x!nv_tileaa.ptr<f32>, #one> -> tensor<64xf32, #one>
        %number = arith.sitofp %i : i32 to f32
        %stage = nv_tileas.async.pipeline.producer_acquire %ring[%turn] : !ring, !turn
        nv_tileas.async.pipeline.producer_write %ring, %stage, %row, %number : !ring, tensor<64xf32, #one>, f32
        nv_tileas.async.pipeline.producer_commit %ring, %stage : !ring
        %next = nv_tileas.async.pipeline.inc_iter %turn : !turn
        scf.yield %next : !turn
      }
      nv_tileas.async.pipeline.yield
    }
    nv_tileas.async.pipeline.agent_switch attributes {first = 1 : i32, warps = 2 : i32} {
      %begin = nv_tileas.async.pipeline.create_iterator %ring : !ring -> !turn
      %zero = arith.constant dense<0.0> : tensor<64xf32, #two>
      %end, %sum = scf.for %i = %c0 to %c7 step %c1 iter_args(%turn = %begin, %all = %zero) -> (!turn, tensor<64xf32, #two>) : i32 {
        %stage = nv_tileas.async.pipeline.consumer_wait %ring[%turn] : !ring, !turn
        %row, %number = nv_tileas.async.pipeline.consumer_read %ring, %stage : !ring -> tensor<64xf32, #two>, f32
        nv_tileas.async.pipeline.consumer_release %ring, %stage : !ring
        %factor = nv_tileas.splat %number : f32 -> tensor<64xf32, #two>
        %scaled = arith.mulf %row, %factor : tensor<64xf32, #two>
        %more = arith.addf %all, %scaled : tensor<64xf32, #two>
        %next = nv_tileas.async.pipeline.inc_iter %turn : !turn
        scf.yield %next, %more : !turn, tensor<64xf32, #two>
      }
      // The agent's warps synchronize at a barrier of their own.
      nv_tileas.barrier
      %range = nv_tileas.make_range : tensor<64xi32, #two>
      %base = nv_tileas.splat %y : !nv_tileaa.ptr<f32> -> tensor<64x!nv_tileaa.ptr<f32>, #two>
      %p = nv_tileaa.addptr %base, %range : tensor<64x!nv_tileaa.ptr<f32>, #two>, tensor<64xi32, #two>
      %s = nv_tileas.store weak %p, %sum : tensor<64x!nv_tileaa.ptr<f32>, #two>, tensor<64xf32, #two>
      nv_tileas.async.pipeline.yield
    }
    nv_tileaa.return
  }
}
