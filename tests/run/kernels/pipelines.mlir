// Loops that become software pipelines, with ragged edges. The trip count is an argument: none, one, or more than there are stages.
// RUN @gemm grid=2x1
// ARG a = small:72x152xf16:1
// ARG b = small:152x16xf16:2
// ARG c = ones:72x16xf32
// ARG n = 5
// EXPECT c = wide_f16(a) @ wide_f16(b)
// RUN @gemm grid=2x1
// ARG a = random:72x152xf16:1
// ARG b = random:152x16xf16:2
// ARG c = ones:72x16xf32
// ARG n = 5
// EXPECT c near f32(a) @ f32(b)
// RUN @gemm grid=2x1
// ARG a = small:72x152xf16:1
// ARG b = small:152x16xf16:2
// ARG c = ones:72x16xf32
// ARG n = 1
// EXPECT c = wide_f16(a)[:, :32] @ wide_f16(b)[:32]
// RUN @gemm grid=2x1
// ARG a = small:72x152xf16:1
// ARG b = small:152x16xf16:2
// ARG c = ones:72x16xf32
// ARG n = 0
// EXPECT c = np.zeros((72, 16))
// RUN @two_accumulators
// ARG a = small:64x160xf16:1
// ARG b = small:160x16xf16:2
// ARG d = small:160x16xf16:3
// ARG c = zeros:2x64x16xf32
// ARG n = 5
// EXPECT c = np.stack([wide_f16(a) @ wide_f16(b), wide_f16(a) @ wide_f16(d)])
// RUN @read_accumulator
// ARG a = small:64x160xf16:1
// ARG b = small:160x16xf16:2
// ARG c = zeros:64x16xf32
// ARG n = 5
// EXPECT c = sum(wide_f16(a)[:, : 32 * i] @ wide_f16(b)[: 32 * i] for i in range(1, 6))
// RUN @columns
// ARG a = small:64x160xf16:1
// ARG b = small:16x160xf16:2
// ARG c = zeros:64x16xf32
// ARG n = 5
// EXPECT c = wide_f16(a) @ wide_f16(b).T
// RUN @epilogue
// ARG a = small:64x160xf16:1
// ARG b = small:160x16xf16:2
// ARG c = zeros:64x16xf32
// ARG s = zeros:16xf32
// ARG n = 5
// EXPECT c = wide_f16(a) @ wide_f16(b)
// EXPECT s = (wide_f16(a) @ wide_f16(b)).sum(axis=0)
// RUN @split
// ARG a = small:64x160xf16:1
// ARG b = small:160x16xf16:2
// ARG c = ones:64x16xf32
// ARG n = 5
// ARG m = 3
// EXPECT c = wide_f16(a)[:, :96] @ wide_f16(b)[:96] + 2 * (wide_f16(a)[:, 96:160] @ wide_f16(b)[96:160])
// RUN @split
// ARG a = small:64x160xf16:1
// ARG b = small:160x16xf16:2
// ARG c = ones:64x16xf32
// ARG n = 5
// ARG m = 0
// EXPECT c = wide_f16(a)[:, :0] @ wide_f16(b)[:0] + 2 * (wide_f16(a)[:, 0:160] @ wide_f16(b)[0:160])
// RUN @split
// ARG a = small:64x160xf16:1
// ARG b = small:160x16xf16:2
// ARG c = ones:64x16xf32
// ARG n = 5
// ARG m = 7
// EXPECT c = wide_f16(a)[:, :160] @ wide_f16(b)[:160] + 2 * (wide_f16(a)[:, 160:160] @ wide_f16(b)[160:160])
// RUN @split
// ARG a = small:64x160xf16:1
// ARG b = small:160x16xf16:2
// ARG c = ones:64x16xf32
// ARG n = 5
// ARG m = 1
// EXPECT c = wide_f16(a)[:, :32] @ wide_f16(b)[:32] + 2 * (wide_f16(a)[:, 32:160] @ wide_f16(b)[32:160])
// RUN @split
// ARG a = small:64x160xf16:1
// ARG b = small:160x16xf16:2
// ARG c = ones:64x16xf32
// ARG n = 0
// ARG m = 3
// EXPECT c = wide_f16(a)[:, :0] @ wide_f16(b)[:0] + 2 * (wide_f16(a)[:, 0:0] @ wide_f16(b)[0:0])
// RUN @two_dots
// ARG q = small:64x16xf16:1
// ARG k = small:192x16xf16:2
// ARG v = small:192x16xf16:3
// ARG c = ones:64x16xf32
// ARG n = 3
// EXPECT c = wide_f16(q) @ wide_f16(k)[:192].T @ wide_f16(v)[:192]
// RUN @two_dots
// ARG q = small:64x16xf16:1
// ARG k = small:192x16xf16:2
// ARG v = small:192x16xf16:3
// ARG c = ones:64x16xf32
// ARG n = 1
// EXPECT c = wide_f16(q) @ wide_f16(k)[:64].T @ wide_f16(v)[:64]
// RUN @two_dots
// ARG q = small:64x16xf16:1
// ARG k = small:192x16xf16:2
// ARG v = small:192x16xf16:3
// ARG c = ones:64x16xf32
// ARG n = 0
// EXPECT c = wide_f16(q) @ wide_f16(k)[:0].T @ wide_f16(v)[:0]
// RUN @sums grid=2
// ARG x = small:170x124xf32:1
// ARG s = zeros:11xf32
// ARG n = 11
// EXPECT s = np.concatenate([x, np.zeros((6, 124))]).reshape(11, -1).sum(axis=1)
!a = !cuda_tile.tensor_view<72x152xf16, strides=[152,1]>
!av = !cuda_tile.partition_view<tile=(64x32), padding_value = zero, tensor_view<72x152xf16, strides=[152,1]>>
!b = !cuda_tile.tensor_view<152x16xf16, strides=[16,1]>
!bv = !cuda_tile.partition_view<tile=(32x16), padding_value = zero, tensor_view<152x16xf16, strides=[16,1]>>
!c = !cuda_tile.tensor_view<72x16xf32, strides=[16,1]>
!cv = !cuda_tile.partition_view<tile=(64x16), tensor_view<72x16xf32, strides=[16,1]>>
!wa = !cuda_tile.tensor_view<64x160xf16, strides=[160,1]>
!wav = !cuda_tile.partition_view<tile=(64x32), tensor_view<64x160xf16, strides=[160,1]>>
!wb = !cuda_tile.tensor_view<160x16xf16, strides=[16,1]>
!wbv = !cuda_tile.partition_view<tile=(32x16), tensor_view<160x16xf16, strides=[16,1]>>
!wt = !cuda_tile.tensor_view<160x16xf16, strides=[1,160]>
!wtv = !cuda_tile.partition_view<tile=(32x16), tensor_view<160x16xf16, strides=[1,160]>>
!wc = !cuda_tile.tensor_view<64x16xf32, strides=[16,1]>
!wcv = !cuda_tile.partition_view<tile=(64x16), tensor_view<64x16xf32, strides=[16,1]>>
!tq = !cuda_tile.tensor_view<64x16xf16, strides=[16,1]>
!tqv = !cuda_tile.partition_view<tile=(64x16), tensor_view<64x16xf16, strides=[16,1]>>
!tk = !cuda_tile.tensor_view<192x16xf16, strides=[16,1]>
!tkv = !cuda_tile.partition_view<tile=(64x16), tensor_view<192x16xf16, strides=[16,1]>>
!pc = !cuda_tile.tensor_view<2x64x16xf32, strides=[1024,16,1]>
!pcv = !cuda_tile.partition_view<tile=(1x64x16), tensor_view<2x64x16xf32, strides=[1024,16,1]>>
!s = !cuda_tile.tensor_view<16xf32, strides=[1]>
!sv = !cuda_tile.partition_view<tile=(16), tensor_view<16xf32, strides=[1]>>
!x = !cuda_tile.tensor_view<170x124xf32, strides=[124,1]>
!xv = !cuda_tile.partition_view<tile=(16x128), padding_value = zero, tensor_view<170x124xf32, strides=[124,1]>>
!r = !cuda_tile.tensor_view<11xf32, strides=[1]>
!rv = !cuda_tile.partition_view<tile=(1), tensor_view<11xf32, strides=[1]>>
cuda_tile.module @kernels {
  entry @gemm(%ap: tile<ptr<f16>>, %bp: tile<ptr<f16>>, %cp: tile<ptr<f32>>, %n: tile<i32>) {
    %i, %j, %z = get_tile_block_id : tile<i32>
    %zero = constant <i32: 0> : tile<i32>
    %one = constant <i32: 1> : tile<i32>
    %init = constant <f32: 0.0> : tile<64x16xf32>
    %a16 = assume div_by<16>, %ap : tile<ptr<f16>>
    %b16 = assume div_by<16>, %bp : tile<ptr<f16>>
    %at = make_tensor_view %a16, shape = [72, 152], strides = [152, 1] : !a
    %av = make_partition_view %at : !av
    %bt = make_tensor_view %b16, shape = [152, 16], strides = [16, 1] : !b
    %bv = make_partition_view %bt : !bv
    %ct = make_tensor_view %cp, shape = [72, 16], strides = [16, 1] : !c
    %cv = make_partition_view %ct : !cv
    %sum = for %k in (%zero to %n, step %one) : tile<i32> iter_values(%acc = %init) -> (tile<64x16xf32>) {
      %x, %t0 = load_view_tko weak %av[%i, %k] : !av, tile<i32> -> tile<64x32xf16>, token
      %y, %t1 = load_view_tko weak %bv[%k, %j] : !bv, tile<i32> -> tile<32x16xf16>, token
      %next = mmaf %x, %y, %acc : tile<64x32xf16>, tile<32x16xf16>, tile<64x16xf32>
      continue %next : tile<64x16xf32>
    }
    %t = store_view_tko weak %sum, %cv[%i, %j] : tile<64x16xf32>, !cv, tile<i32> -> token
    return
  }
  // Both dots of an iteration are in flight when the next one starts.
  entry @two_accumulators(%ap: tile<ptr<f16>>, %bp: tile<ptr<f16>>, %dp: tile<ptr<f16>>, %cp: tile<ptr<f32>>, %n: tile<i32>) {
    %zero = constant <i32: 0> : tile<i32>
    %one = constant <i32: 1> : tile<i32>
    %init = constant <f32: 0.0> : tile<64x16xf32>
    %a16 = assume div_by<16>, %ap : tile<ptr<f16>>
    %b16 = assume div_by<16>, %bp : tile<ptr<f16>>
    %d16 = assume div_by<16>, %dp : tile<ptr<f16>>
    %at = make_tensor_view %a16, shape = [64, 160], strides = [160, 1] : !wa
    %av = make_partition_view %at : !wav
    %bt = make_tensor_view %b16, shape = [160, 16], strides = [16, 1] : !wb
    %bv = make_partition_view %bt : !wbv
    %dt = make_tensor_view %d16, shape = [160, 16], strides = [16, 1] : !wb
    %dv = make_partition_view %dt : !wbv
    %ct = make_tensor_view %cp, shape = [2, 64, 16], strides = [1024, 16, 1] : !pc
    %cv = make_partition_view %ct : !pcv
    %s0, %s1 = for %k in (%zero to %n, step %one) : tile<i32> iter_values(%u = %init, %v = %init) -> (tile<64x16xf32>, tile<64x16xf32>) {
      %x, %t0 = load_view_tko weak %av[%zero, %k] : !wav, tile<i32> -> tile<64x32xf16>, token
      %y, %t1 = load_view_tko weak %bv[%k, %zero] : !wbv, tile<i32> -> tile<32x16xf16>, token
      %w, %t2 = load_view_tko weak %dv[%k, %zero] : !wbv, tile<i32> -> tile<32x16xf16>, token
      %nu = mmaf %x, %y, %u : tile<64x32xf16>, tile<32x16xf16>, tile<64x16xf32>
      %nv = mmaf %x, %w, %v : tile<64x32xf16>, tile<32x16xf16>, tile<64x16xf32>
      continue %nu, %nv : tile<64x16xf32>, tile<64x16xf32>
    }
    %r0 = reshape %s0 : tile<64x16xf32> -> tile<1x64x16xf32>
    %r1 = reshape %s1 : tile<64x16xf32> -> tile<1x64x16xf32>
    %t3 = store_view_tko weak %r0, %cv[%zero, %zero, %zero] : tile<1x64x16xf32>, !pcv, tile<i32> -> token
    %t4 = store_view_tko weak %r1, %cv[%one, %zero, %zero] : tile<1x64x16xf32>, !pcv, tile<i32> -> token
    return
  }
  // The loop also adds up the partial results, so each dot is complete at the end of its iteration.
  entry @read_accumulator(%ap: tile<ptr<f16>>, %bp: tile<ptr<f16>>, %cp: tile<ptr<f32>>, %n: tile<i32>) {
    %zero = constant <i32: 0> : tile<i32>
    %one = constant <i32: 1> : tile<i32>
    %init = constant <f32: 0.0> : tile<64x16xf32>
    %a16 = assume div_by<16>, %ap : tile<ptr<f16>>
    %b16 = assume div_by<16>, %bp : tile<ptr<f16>>
    %at = make_tensor_view %a16, shape = [64, 160], strides = [160, 1] : !wa
    %av = make_partition_view %at : !wav
    %bt = make_tensor_view %b16, shape = [160, 16], strides = [16, 1] : !wb
    %bv = make_partition_view %bt : !wbv
    %ct = make_tensor_view %cp, shape = [64, 16], strides = [16, 1] : !wc
    %cv = make_partition_view %ct : !wcv
    %last, %sums = for %k in (%zero to %n, step %one) : tile<i32> iter_values(%u = %init, %v = %init) -> (tile<64x16xf32>, tile<64x16xf32>) {
      %x, %t0 = load_view_tko weak %av[%zero, %k] : !wav, tile<i32> -> tile<64x32xf16>, token
      %y, %t1 = load_view_tko weak %bv[%k, %zero] : !wbv, tile<i32> -> tile<32x16xf16>, token
      %nu = mmaf %x, %y, %u : tile<64x32xf16>, tile<32x16xf16>, tile<64x16xf32>
      %nv = addf %nu, %v : tile<64x16xf32>
      continue %nu, %nv : tile<64x16xf32>, tile<64x16xf32>
    }
    %t = store_view_tko weak %sums, %cv[%zero, %zero] : tile<64x16xf32>, !wcv, tile<i32> -> token
    return
  }
  // Two loops after loop splitting, which share a pipeline.
  entry @split(%ap: tile<ptr<f16>>, %bp: tile<ptr<f16>>, %cp: tile<ptr<f32>>, %n: tile<i32>, %m: tile<i32>) {
    %zero = constant <i32: 0> : tile<i32>
    %one = constant <i32: 1> : tile<i32>
    %init = constant <f32: 0.0> : tile<64x16xf32>
    %a16 = assume div_by<16>, %ap : tile<ptr<f16>>
    %b16 = assume div_by<16>, %bp : tile<ptr<f16>>
    %at = make_tensor_view %a16, shape = [64, 160], strides = [160, 1] : !wa
    %av = make_partition_view %at : !wav
    %bt = make_tensor_view %b16, shape = [160, 16], strides = [16, 1] : !wb
    %bv = make_partition_view %bt : !wbv
    %ct = make_tensor_view %cp, shape = [64, 16], strides = [16, 1] : !wc
    %cv = make_partition_view %ct : !wcv
    %first, %second = for %k in (%zero to %n, step %one) : tile<i32> iter_values(%u = %init, %v = %init) -> (tile<64x16xf32>, tile<64x16xf32>) {
      %x, %t0 = load_view_tko weak %av[%zero, %k] : !wav, tile<i32> -> tile<64x32xf16>, token
      %y, %t1 = load_view_tko weak %bv[%k, %zero] : !wbv, tile<i32> -> tile<32x16xf16>, token
      %early = cmpi less_than %k, %m, signed : tile<i32> -> tile<i1>
      %nu, %nv = if %early -> (tile<64x16xf32>, tile<64x16xf32>) {
        %s = mmaf %x, %y, %u : tile<64x32xf16>, tile<32x16xf16>, tile<64x16xf32>
        yield %s, %v : tile<64x16xf32>, tile<64x16xf32>
      } else {
        %s = mmaf %x, %y, %v : tile<64x32xf16>, tile<32x16xf16>, tile<64x16xf32>
        yield %u, %s : tile<64x16xf32>, tile<64x16xf32>
      }
      continue %nu, %nv : tile<64x16xf32>, tile<64x16xf32>
    }
    %twice = addf %second, %second : tile<64x16xf32>
    %sum = addf %first, %twice : tile<64x16xf32>
    %t = store_view_tko weak %sum, %cv[%zero, %zero] : tile<64x16xf32>, !wcv, tile<i32> -> token
    return
  }
  // The tiles of the second dot are used after those of the first: with one stage, copies of each run while the other is used.
  entry @two_dots(%qp: tile<ptr<f16>>, %kp: tile<ptr<f16>>, %vp: tile<ptr<f16>>, %cp: tile<ptr<f32>>, %n: tile<i32>) {
    %zero = constant <i32: 0> : tile<i32>
    %one = constant <i32: 1> : tile<i32>
    %none = constant <f32: 0.0> : tile<64x64xf32>
    %init = constant <f32: 0.0> : tile<64x16xf32>
    %q16 = assume div_by<16>, %qp : tile<ptr<f16>>
    %k16 = assume div_by<16>, %kp : tile<ptr<f16>>
    %v16 = assume div_by<16>, %vp : tile<ptr<f16>>
    %qt = make_tensor_view %q16, shape = [64, 16], strides = [16, 1] : !tq
    %qv = make_partition_view %qt : !tqv
    %kt = make_tensor_view %k16, shape = [192, 16], strides = [16, 1] : !tk
    %kv = make_partition_view %kt : !tkv
    %vt = make_tensor_view %v16, shape = [192, 16], strides = [16, 1] : !tk
    %vv = make_partition_view %vt : !tkv
    %ct = make_tensor_view %cp, shape = [64, 16], strides = [16, 1] : !wc
    %cv = make_partition_view %ct : !wcv
    %x, %t0 = load_view_tko weak %qv[%zero, %zero] : !tqv, tile<i32> -> tile<64x16xf16>, token
    %sum = for %i in (%zero to %n, step %one) : tile<i32> iter_values(%acc = %init) -> (tile<64x16xf32>) {
      %y, %t1 = load_view_tko weak %kv[%i, %zero] : !tkv, tile<i32> -> tile<64x16xf16>, token
      %z, %t2 = load_view_tko weak %vv[%i, %zero] : !tkv, tile<i32> -> tile<64x16xf16>, token
      %yt = permute %y [1, 0] : tile<64x16xf16> -> tile<16x64xf16>
      %s = mmaf %x, %yt, %none : tile<64x16xf16>, tile<16x64xf16>, tile<64x64xf32>
      %p = ftof %s : tile<64x64xf32> -> tile<64x64xf16>
      %next = mmaf %p, %z, %acc : tile<64x64xf16>, tile<64x16xf16>, tile<64x16xf32>
      continue %next : tile<64x16xf32>
    }
    %t = store_view_tko weak %sum, %cv[%zero, %zero] : tile<64x16xf32>, !wcv, tile<i32> -> token
    return
  }
  // B is K-major.
  entry @columns(%ap: tile<ptr<f16>>, %bp: tile<ptr<f16>>, %cp: tile<ptr<f32>>, %n: tile<i32>) {
    %zero = constant <i32: 0> : tile<i32>
    %one = constant <i32: 1> : tile<i32>
    %init = constant <f32: 0.0> : tile<64x16xf32>
    %a16 = assume div_by<16>, %ap : tile<ptr<f16>>
    %b16 = assume div_by<16>, %bp : tile<ptr<f16>>
    %at = make_tensor_view %a16, shape = [64, 160], strides = [160, 1] : !wa
    %av = make_partition_view %at : !wav
    %bt = make_tensor_view %b16, shape = [160, 16], strides = [1, 160] : !wt
    %bv = make_partition_view %bt : !wtv
    %ct = make_tensor_view %cp, shape = [64, 16], strides = [16, 1] : !wc
    %cv = make_partition_view %ct : !wcv
    %sum = for %k in (%zero to %n, step %one) : tile<i32> iter_values(%acc = %init) -> (tile<64x16xf32>) {
      %x, %t0 = load_view_tko weak %av[%zero, %k] : !wav, tile<i32> -> tile<64x32xf16>, token
      %y, %t1 = load_view_tko weak %bv[%k, %zero] : !wtv, tile<i32> -> tile<32x16xf16>, token
      %next = mmaf %x, %y, %acc : tile<64x32xf16>, tile<32x16xf16>, tile<64x16xf32>
      continue %next : tile<64x16xf32>
    }
    %t = store_view_tko weak %sum, %cv[%zero, %zero] : tile<64x16xf32>, !wcv, tile<i32> -> token
    return
  }
  // The reduction after the loop reuses the shared memory of the stages.
  entry @epilogue(%ap: tile<ptr<f16>>, %bp: tile<ptr<f16>>, %cp: tile<ptr<f32>>, %sp: tile<ptr<f32>>, %n: tile<i32>) {
    %zero = constant <i32: 0> : tile<i32>
    %one = constant <i32: 1> : tile<i32>
    %init = constant <f32: 0.0> : tile<64x16xf32>
    %a16 = assume div_by<16>, %ap : tile<ptr<f16>>
    %b16 = assume div_by<16>, %bp : tile<ptr<f16>>
    %at = make_tensor_view %a16, shape = [64, 160], strides = [160, 1] : !wa
    %av = make_partition_view %at : !wav
    %bt = make_tensor_view %b16, shape = [160, 16], strides = [16, 1] : !wb
    %bv = make_partition_view %bt : !wbv
    %ct = make_tensor_view %cp, shape = [64, 16], strides = [16, 1] : !wc
    %cv = make_partition_view %ct : !wcv
    %st = make_tensor_view %sp, shape = [16], strides = [1] : !s
    %sv = make_partition_view %st : !sv
    %sum = for %k in (%zero to %n, step %one) : tile<i32> iter_values(%acc = %init) -> (tile<64x16xf32>) {
      %x, %t0 = load_view_tko weak %av[%zero, %k] : !wav, tile<i32> -> tile<64x32xf16>, token
      %y, %t1 = load_view_tko weak %bv[%k, %zero] : !wbv, tile<i32> -> tile<32x16xf16>, token
      %next = mmaf %x, %y, %acc : tile<64x32xf16>, tile<32x16xf16>, tile<64x16xf32>
      continue %next : tile<64x16xf32>
    }
    %total = reduce %sum dim=0 identities=[0.0 : f32] : tile<64x16xf32> -> tile<16xf32> (%u: tile<f32>, %v: tile<f32>) {
      %r = addf %u, %v : tile<f32>
      yield %r : tile<f32>
    }
    %t2 = store_view_tko weak %sum, %cv[%zero, %zero] : tile<64x16xf32>, !wcv, tile<i32> -> token
    %t3 = store_view_tko weak %total, %sv[%zero] : tile<16xf32>, !sv, tile<i32> -> token
    return
  }
  // Each thread reads only what it copied; the reduction uses shared memory beside the stages.
  entry @sums(%xp: tile<ptr<f32>>, %sp: tile<ptr<f32>>, %n: tile<i32>) {
    %first, %by, %bz = get_tile_block_id : tile<i32>
    %step, %ny, %nz = get_num_tile_blocks : tile<i32>
    %zero = constant <i32: 0> : tile<i32>
    %x16 = assume div_by<16>, %xp : tile<ptr<f32>>
    %xt = make_tensor_view %x16, shape = [170, 124], strides = [124, 1] : !x
    %xv = make_partition_view %xt : !xv
    %rt = make_tensor_view %sp, shape = [11], strides = [1] : !r
    %rv = make_partition_view %rt : !rv
    for %i in (%first to %n, step %step) : tile<i32> {
      %x, %t0 = load_view_tko weak %xv[%i, %zero] : !xv, tile<i32> -> tile<16x128xf32>, token
      %row = reshape %x : tile<16x128xf32> -> tile<2048xf32>
      %total = reduce %row dim=0 identities=[0.0 : f32] : tile<2048xf32> -> tile<f32> (%u: tile<f32>, %v: tile<f32>) {
        %r = addf %u, %v : tile<f32>
        yield %r : tile<f32>
      }
      %one = reshape %total : tile<f32> -> tile<1xf32>
      %t1 = store_view_tko weak %one, %rv[%i] : tile<1xf32>, !rv, tile<i32> -> token
      continue
    }
    return
  }
}
