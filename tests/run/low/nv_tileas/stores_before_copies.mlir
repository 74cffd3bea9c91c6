// Bulk copies overwrite what threads stored: in a stage that an earlier iteration wrote from registers, and in memory that a layout
// conversion used before the pipeline was created.
// RUN @stages block=96 arch=base
// ARG x = small:10x128xf32:1
// ARG y = zeros:128xf32
// EXPECT y = x.sum(axis=0)
// RUN @exchange block=128 arch=base
// ARG x = small:512xf32:2
// ARG y = zeros:512xf32
// EXPECT y = x + x
// RUN @exchange block=128 arch=sm_80
// ARG x = small:512xf32:3
// ARG y = zeros:512xf32
// EXPECT y = x + x
#one = #nv_tileas.layout<[128], register = [[1], [2]], lane = [[4], [8], [16], [32], [64]], warp = []>
#two = #nv_tileas.layout<[128], register = [[1]], lane = [[2], [4], [8], [16], [32]], warp = [[64]]>
#all = #nv_tileas.layout<[512], register = [[1], [2]], lane = [[4], [8], [16], [32], [64]], warp = [[128], [256]]>
#strided = #nv_tileas.layout<[512], register = [[128], [256]], lane = [[4], [8], [16], [32], [64]], warp = [[1], [2]]>
!f32 = !nv_tileaa.ptr<f32>
!ring = !nv_tileas.pipeline<2, [tensor<128xf32>]>
!iterator = !nv_tileas.pipeline_iterator<2>
!single = !nv_tileas.pipeline<1, [tensor<512xf32>]>
!stage = !nv_tileas.pipeline_iterator<1>
gpu.module @kernels {
  // One iteration in three copies: each stage is copied to and written.
  nv_tileaa.func @stages(%x: !f32, %y: !f32) attributes {kernel_spec = #nv_tileaa.kernel_spec<num_warps = 3>} {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c3 = arith.constant 3 : i32
    %c10 = arith.constant 10 : i32
    %c128 = arith.constant 128 : i32
    %ring = nv_tileas.async.pipeline.create_pipeline : !ring
    nv_tileas.async.pipeline.agent_switch attributes {first = 0 : i32, warps = 1 : i32} {
      %begin = nv_tileas.async.pipeline.create_iterator %ring : !ring -> !iterator
      %range = nv_tileas.make_range : tensor<128xi32, #one>
      %end = scf.for %i = %c0 to %c10 step %c1 iter_args(%iterator = %begin) -> (!iterator) : i32 {
        %offset = arith.muli %i, %c128 : i32
        %row = nv_tileaa.addptr %x, %offset : !f32, i32
        %stage = nv_tileas.async.pipeline.producer_acquire %ring[%iterator] : !ring, !iterator
        %rest = arith.remsi %i, %c3 : i32
        %copies = arith.cmpi eq, %rest, %c0 : i32
        scf.if %copies {
          nv_tileas.async.pipeline.producer_copy %ring, %stage, %row : !ring, !f32
        } else {
          %base = nv_tileas.splat %row : !f32 -> tensor<128x!f32, #one>
          %p = nv_tileaa.addptr %base, %range : tensor<128x!f32, #one>, tensor<128xi32, #one>
          %loaded, %t = nv_tileas.load weak %p : tensor<128x!f32, #one> -> tensor<128xf32, #one>
          nv_tileas.async.pipeline.producer_write %ring, %stage, %loaded : !ring, tensor<128xf32, #one>
        }
        nv_tileas.async.pipeline.producer_commit %ring, %stage : !ring
        %next = nv_tileas.async.pipeline.inc_iter %iterator : !iterator
        scf.yield %next : !iterator
      }
      nv_tileas.async.pipeline.yield
    }
    nv_tileas.async.pipeline.agent_switch attributes {first = 1 : i32, warps = 2 : i32} {
      %begin = nv_tileas.async.pipeline.create_iterator %ring : !ring -> !iterator
      %zero = arith.constant dense<0.0> : tensor<128xf32, #two>
      %end, %sum = scf.for %i = %c0 to %c10 step %c1 iter_args(%iterator = %begin, %all = %zero) -> (!iterator, tensor<128xf32, #two>) : i32 {
        %stage = nv_tileas.async.pipeline.consumer_wait %ring[%iterator] : !ring, !iterator
        %row = nv_tileas.async.pipeline.consumer_read %ring, %stage : !ring -> tensor<128xf32, #two>
        nv_tileas.async.pipeline.consumer_release %ring, %stage : !ring
        %more = arith.addf %all, %row : tensor<128xf32, #two>
        %next = nv_tileas.async.pipeline.inc_iter %iterator : !iterator
        scf.yield %next, %more : !iterator, tensor<128xf32, #two>
      }
      %range = nv_tileas.make_range : tensor<128xi32, #two>
      %base = nv_tileas.splat %y : !f32 -> tensor<128x!f32, #two>
      %p = nv_tileaa.addptr %base, %range : tensor<128x!f32, #two>, tensor<128xi32, #two>
      %s = nv_tileas.store weak %p, %sum : tensor<128x!f32, #two>, tensor<128xf32, #two>
      nv_tileas.async.pipeline.yield
    }
    nv_tileaa.return
  }
  // All warps produce and consume.
  nv_tileaa.func @exchange(%x: !f32, %y: !f32) attributes {kernel_spec = #nv_tileaa.kernel_spec<num_warps = 4>} {
    %range = nv_tileas.make_range : tensor<512xi32, #all>
    %xs = nv_tileas.splat %x : !f32 -> tensor<512x!f32, #all>
    %from = nv_tileaa.addptr %xs, %range : tensor<512x!f32, #all>, tensor<512xi32, #all>
    %loaded, %t = nv_tileas.load weak %from : tensor<512x!f32, #all> -> tensor<512xf32, #all>
    %exchanged = nv_tileas.convert_layout %loaded : tensor<512xf32, #all> -> tensor<512xf32, #strided>
    %p = nv_tileas.async.pipeline.create_pipeline : !single
    %i = nv_tileas.async.pipeline.create_iterator %p : !single -> !stage
    %empty = nv_tileas.async.pipeline.producer_acquire %p[%i] : !single, !stage
    nv_tileas.async.pipeline.producer_copy %p, %empty, %x : !single, !f32
    nv_tileas.async.pipeline.producer_commit %p, %empty : !single
    %full = nv_tileas.async.pipeline.consumer_wait %p[%i] : !single, !stage
    %copied = nv_tileas.async.pipeline.consumer_read %p, %full : !single -> tensor<512xf32, #strided>
    nv_tileas.async.pipeline.consumer_release %p, %full : !single
    %sum = arith.addf %exchanged, %copied : tensor<512xf32, #strided>
    %offsets = nv_tileas.make_range : tensor<512xi32, #strided>
    %ys = nv_tileas.splat %y : !f32 -> tensor<512x!f32, #strided>
    %to = nv_tileaa.addptr %ys, %offsets : tensor<512x!f32, #strided>, tensor<512xi32, #strided>
    %s = nv_tileas.store weak %to, %sum : tensor<512x!f32, #strided>, tensor<512xf32, #strided>
    nv_tileaa.return
  }
}
