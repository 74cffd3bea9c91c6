// Flash attention with tiles for two warpgroups: 128 queries of a CTA, 128 keys of an iteration. The loops of sm_90 are rotated.
// The first loop of @causal has the tiles of keys that all queries see, the second one the others: 1 and 1, 0 and 1, 1 and 0, 2 and 1,
// 3 and 1, 1 and 1 iterations. That of @full has 2, 1 and 3. Keys may end within a tile.
// RUN @causal
// ARG q = random:128x64xf16:1
// ARG k = random:200x64xf16:2
// ARG v = random:200x64xf16:3
// ARG out = zeros:128x64xf16
// ARG start = 128
// ARG keys = 200
// EXPECT out near attention(q, k, v, estimate(0.125), np.arange(128, 256)[:, None] >= np.arange(200), tile=128, weights=element['f16'])
// RUN @causal
// ARG q = random:128x64xf16:1
// ARG k = random:128x64xf16:2
// ARG v = random:128x64xf16:3
// ARG out = zeros:128x64xf16
// ARG start = 0
// ARG keys = 128
// EXPECT out near attention(q, k, v, estimate(0.125), np.arange(0, 128)[:, None] >= np.arange(128), tile=128, weights=element['f16'])
// RUN @causal
// ARG q = random:128x64xf16:1
// ARG k = random:128x64xf16:2
// ARG v = random:128x64xf16:3
// ARG out = zeros:128x64xf16
// ARG start = 128
// ARG keys = 128
// EXPECT out near attention(q, k, v, estimate(0.125), np.arange(128, 256)[:, None] >= np.arange(128), tile=128, weights=element['f16'])
// RUN @causal
// ARG q = random:128x64xf16:1
// ARG k = random:384x64xf16:2
// ARG v = random:384x64xf16:3
// ARG out = zeros:128x64xf16
// ARG start = 256
// ARG keys = 384
// EXPECT out near attention(q, k, v, estimate(0.125), np.arange(256, 384)[:, None] >= np.arange(384), tile=128, weights=element['f16'])
// RUN @causal
// ARG q = random:128x64xf16:1
// ARG k = random:500x64xf16:2
// ARG v = random:500x64xf16:3
// ARG out = zeros:128x64xf16
// ARG start = 384
// ARG keys = 500
// EXPECT out near attention(q, k, v, estimate(0.125), np.arange(384, 512)[:, None] >= np.arange(500), tile=128, weights=element['f16'])
// RUN @causal
// ARG q = random:128x64xf16:1
// ARG k = random:200x64xf16:2
// ARG v = random:200x64xf16:3
// ARG out = zeros:128x64xf16
// ARG start = 256
// ARG keys = 200
// EXPECT out near attention(q, k, v, estimate(0.125), np.arange(256, 384)[:, None] >= np.arange(200), tile=128, weights=element['f16'])
// RUN @full
// ARG q = random:128x64xf16:1
// ARG k = random:200x64xf16:2
// ARG v = random:200x64xf16:3
// ARG out = zeros:128x64xf16
// ARG keys = 200
// EXPECT out near attention(q, k, v, estimate(0.125), np.ones((128, 200), bool), tile=128, weights=element['f16'])
// RUN @full
// ARG q = random:128x64xf16:1
// ARG k = random:128x64xf16:2
// ARG v = random:128x64xf16:3
// ARG out = zeros:128x64xf16
// ARG keys = 128
// EXPECT out near attention(q, k, v, estimate(0.125), np.ones((128, 128), bool), tile=128, weights=element['f16'])
// RUN @full
// ARG q = random:128x64xf16:1
// ARG k = random:257x64xf16:2
// ARG v = random:257x64xf16:3
// ARG out = zeros:128x64xf16
// ARG keys = 257
// EXPECT out near attention(q, k, v, estimate(0.125), np.ones((128, 257), bool), tile=128, weights=element['f16'])
!q = !cuda_tile.tensor_view<128x64xf16, strides=[64,1]>
!qv = !cuda_tile.partition_view<tile=(128x64), tensor_view<128x64xf16, strides=[64,1]>>
!k = !cuda_tile.tensor_view<?x64xf16, strides=[64,1]>
!kv = !cuda_tile.partition_view<tile=(128x64), padding_value = zero, tensor_view<?x64xf16, strides=[64,1]>>
cuda_tile.module @kernels {
  entry @causal(%q: tile<ptr<f16>>, %k: tile<ptr<f16>>, %v: tile<ptr<f16>>, %out: tile<ptr<f16>>, %start: tile<i32>, %length: tile<i32>) {
    %zero = constant <i32: 0> : tile<i32>
    %one = constant <i32: 1> : tile<i32>
    %width = constant <i32: 128> : tile<i32>
    %qp = assume div_by<16>, %q : tile<ptr<f16>>
    %kp = assume div_by<16>, %k : tile<ptr<f16>>
    %vp = assume div_by<16>, %v : tile<ptr<f16>>
    %outp = assume div_by<16>, %out : tile<ptr<f16>>
    %keys = assume bounded<0, ?>, %length : tile<i32>
    %qt = make_tensor_view %qp, shape = [128, 64], strides = [64, 1] : !q
    %qv = make_partition_view %qt : !qv
    %kt = make_tensor_view %kp, shape = [%keys, 64], strides = [64, 1] : tile<i32> -> !k
    %kv = make_partition_view %kt : !kv
    %vt = make_tensor_view %vp, shape = [%keys, 64], strides = [64, 1] : tile<i32> -> !k
    %vv = make_partition_view %vt : !kv
    %outt = make_tensor_view %outp, shape = [128, 64], strides = [64, 1] : !q
    %outv = make_partition_view %outt : !qv
    %lanes = iota : tile<128xi32>
    %across = reshape %lanes : tile<128xi32> -> tile<1x128xi32>
    %columns = broadcast %across : tile<1x128xi32> -> tile<128x128xi32>
    %er = reshape %keys : tile<i32> -> tile<1x1xi32>
    %ends = broadcast %er : tile<1x1xi32> -> tile<128x128xi32>
    %down = reshape %lanes : tile<128xi32> -> tile<128x1xi32>
    %rows = broadcast %down : tile<128x1xi32> -> tile<128x128xi32>
    %sr = reshape %start : tile<i32> -> tile<1x1xi32>
    %starts = broadcast %sr : tile<1x1xi32> -> tile<128x128xi32>
    %queries = addi %starts, %rows : tile<128x128xi32>
    %after = addi %start, %width : tile<i32>
    %end = mini %after, %keys signed : tile<i32>
    %known = mini %start, %keys signed : tile<i32>
    %first = divi %known, %width signed : tile<i32>
    %tiles = divi %end, %width signed rounding<positive_inf> : tile<i32>
    %query, %t0 = load_view_tko weak %qv[%zero, %zero] : !qv, tile<i32> -> tile<128x64xf16>, token
    %never = constant <f32: 0xFF800000> : tile<128x128xf32>
    %scale = constant <f32: 0.125> : tile<128x128xf32>
    %scoreless = constant <f32: 0.0> : tile<128x128xf32>
    %none = constant <f32: 0.0> : tile<128x64xf32>
    %empty = constant <f32: 0.0> : tile<128xf32>
    %lowest = constant <f32: 0xFF800000> : tile<128xf32>
    %m1, %l1, %o1 = for %t in (%zero to %first, step %one) : tile<i32> iter_values(%largest = %lowest, %norm = %empty, %acc = %none) -> (tile<128xf32>, tile<128xf32>, tile<128x64xf32>) {
      %key, %t1 = load_view_tko weak %kv[%t, %zero] : !kv, tile<i32> -> tile<128x64xf16>, token
      %turned = permute %key [1, 0] : tile<128x64xf16> -> tile<64x128xf16>
      %scores = mmaf %query, %turned, %scoreless : tile<128x64xf16>, tile<64x128xf16>, tile<128x128xf32>
      %scaled = mulf %scores, %scale : tile<128x128xf32>
      %here = reduce %scaled dim=1 identities=[0xFF800000 : f32] : tile<128x128xf32> -> tile<128xf32> (%a: tile<f32>, %b: tile<f32>) {
        %r = maxf %a, %b : tile<f32>
        yield %r : tile<f32>
      }
      %larger = maxf %largest, %here : tile<128xf32>
      %lr = reshape %larger : tile<128xf32> -> tile<128x1xf32>
      %ls = broadcast %lr : tile<128x1xf32> -> tile<128x128xf32>
      %below = subf %scaled, %ls : tile<128x128xf32>
      %weights = exp %below : tile<128x128xf32>
      %drop = subf %largest, %larger : tile<128xf32>
      %shrink = exp %drop : tile<128xf32>
      %weight = reduce %weights dim=1 identities=[0.0 : f32] : tile<128x128xf32> -> tile<128xf32> (%a: tile<f32>, %b: tile<f32>) {
        %r = addf %a, %b : tile<f32>
        yield %r : tile<f32>
      }
      %sofar = fma %norm, %shrink, %weight : tile<128xf32>
      %hr = reshape %shrink : tile<128xf32> -> tile<128x1xf32>
      %hs = broadcast %hr : tile<128x1xf32> -> tile<128x64xf32>
      %shrunk = mulf %acc, %hs : tile<128x64xf32>
      %value, %t2 = load_view_tko weak %vv[%t, %zero] : !kv, tile<i32> -> tile<128x64xf16>, token
      %halves = ftof %weights : tile<128x128xf32> -> tile<128x128xf16>
      %next = mmaf %halves, %value, %shrunk : tile<128x128xf16>, tile<128x64xf16>, tile<128x64xf32>
      continue %larger, %sofar, %next : tile<128xf32>, tile<128xf32>, tile<128x64xf32>
    }
    %m2, %l2, %o2 = for %t in (%first to %tiles, step %one) : tile<i32> iter_values(%largest = %m1, %norm = %l1, %acc = %o1) -> (tile<128xf32>, tile<128xf32>, tile<128x64xf32>) {
      %key, %t1 = load_view_tko weak %kv[%t, %zero] : !kv, tile<i32> -> tile<128x64xf16>, token
      %turned = permute %key [1, 0] : tile<128x64xf16> -> tile<64x128xf16>
      %scores = mmaf %query, %turned, %scoreless : tile<128x64xf16>, tile<64x128xf16>, tile<128x128xf32>
      %scaled = mulf %scores, %scale : tile<128x128xf32>
      %from = muli %t, %width : tile<i32>
      %fr = reshape %from : tile<i32> -> tile<1x1xi32>
      %froms = broadcast %fr : tile<1x1xi32> -> tile<128x128xi32>
      %number = addi %froms, %columns : tile<128x128xi32>
      %exists = cmpi less_than %number, %ends, signed : tile<128x128xi32> -> tile<128x128xi1>
      %past = cmpi greater_than_or_equal %queries, %number, signed : tile<128x128xi32> -> tile<128x128xi1>
      %both = andi %past, %exists : tile<128x128xi1>
      %seen = select %both, %scaled, %never : tile<128x128xi1>, tile<128x128xf32>
      %here = reduce %seen dim=1 identities=[0xFF800000 : f32] : tile<128x128xf32> -> tile<128xf32> (%a: tile<f32>, %b: tile<f32>) {
        %r = maxf %a, %b : tile<f32>
        yield %r : tile<f32>
      }
      %larger = maxf %largest, %here : tile<128xf32>
      %lr = reshape %larger : tile<128xf32> -> tile<128x1xf32>
      %ls = broadcast %lr : tile<128x1xf32> -> tile<128x128xf32>
      %below = subf %seen, %ls : tile<128x128xf32>
      %weights = exp %below : tile<128x128xf32>
      %drop = subf %largest, %larger : tile<128xf32>
      %shrink = exp %drop : tile<128xf32>
      %weight = reduce %weights dim=1 identities=[0.0 : f32] : tile<128x128xf32> -> tile<128xf32> (%a: tile<f32>, %b: tile<f32>) {
        %r = addf %a, %b : tile<f32>
        yield %r : tile<f32>
      }
      %sofar = fma %norm, %shrink, %weight : tile<128xf32>
      %hr = reshape %shrink : tile<128xf32> -> tile<128x1xf32>
      %hs = broadcast %hr : tile<128x1xf32> -> tile<128x64xf32>
      %shrunk = mulf %acc, %hs : tile<128x64xf32>
      %value, %t2 = load_view_tko weak %vv[%t, %zero] : !kv, tile<i32> -> tile<128x64xf16>, token
      %halves = ftof %weights : tile<128x128xf32> -> tile<128x128xf16>
      %next = mmaf %halves, %value, %shrunk : tile<128x128xf16>, tile<128x64xf16>, tile<128x64xf32>
      continue %larger, %sofar, %next : tile<128xf32>, tile<128xf32>, tile<128x64xf32>
    }
    %nr = reshape %l2 : tile<128xf32> -> tile<128x1xf32>
    %ns = broadcast %nr : tile<128x1xf32> -> tile<128x64xf32>
    %mean = divf %o2, %ns : tile<128x64xf32>
    %half = ftof %mean : tile<128x64xf32> -> tile<128x64xf16>
    %t3 = store_view_tko weak %half, %outv[%zero, %zero] : tile<128x64xf16>, !qv, tile<i32> -> token
    return
  }
  entry @full(%q: tile<ptr<f16>>, %k: tile<ptr<f16>>, %v: tile<ptr<f16>>, %out: tile<ptr<f16>>, %length: tile<i32>) {
    %zero = constant <i32: 0> : tile<i32>
    %one = constant <i32: 1> : tile<i32>
    %width = constant <i32: 128> : tile<i32>
    %qp = assume div_by<16>, %q : tile<ptr<f16>>
    %kp = assume div_by<16>, %k : tile<ptr<f16>>
    %vp = assume div_by<16>, %v : tile<ptr<f16>>
    %outp = assume div_by<16>, %out : tile<ptr<f16>>
    %keys = assume bounded<0, ?>, %length : tile<i32>
    %qt = make_tensor_view %qp, shape = [128, 64], strides = [64, 1] : !q
    %qv = make_partition_view %qt : !qv
    %kt = make_tensor_view %kp, shape = [%keys, 64], strides = [64, 1] : tile<i32> -> !k
    %kv = make_partition_view %kt : !kv
    %vt = make_tensor_view %vp, shape = [%keys, 64], strides = [64, 1] : tile<i32> -> !k
    %vv = make_partition_view %vt : !kv
    %outt = make_tensor_view %outp, shape = [128, 64], strides = [64, 1] : !q
    %outv = make_partition_view %outt : !qv
    %lanes = iota : tile<128xi32>
    %across = reshape %lanes : tile<128xi32> -> tile<1x128xi32>
    %columns = broadcast %across : tile<1x128xi32> -> tile<128x128xi32>
    %er = reshape %keys : tile<i32> -> tile<1x1xi32>
    %ends = broadcast %er : tile<1x1xi32> -> tile<128x128xi32>
    %tiles = divi %keys, %width signed rounding<positive_inf> : tile<i32>
    %query, %t0 = load_view_tko weak %qv[%zero, %zero] : !qv, tile<i32> -> tile<128x64xf16>, token
    %never = constant <f32: 0xFF800000> : tile<128x128xf32>
    %scale = constant <f32: 0.125> : tile<128x128xf32>
    %scoreless = constant <f32: 0.0> : tile<128x128xf32>
    %none = constant <f32: 0.0> : tile<128x64xf32>
    %empty = constant <f32: 0.0> : tile<128xf32>
    %lowest = constant <f32: 0xFF800000> : tile<128xf32>
    %m2, %l2, %o2 = for %t in (%zero to %tiles, step %one) : tile<i32> iter_values(%largest = %lowest, %norm = %empty, %acc = %none) -> (tile<128xf32>, tile<128xf32>, tile<128x64xf32>) {
      %key, %t1 = load_view_tko weak %kv[%t, %zero] : !kv, tile<i32> -> tile<128x64xf16>, token
      %turned = permute %key [1, 0] : tile<128x64xf16> -> tile<64x128xf16>
      %scores = mmaf %query, %turned, %scoreless : tile<128x64xf16>, tile<64x128xf16>, tile<128x128xf32>
      %scaled = mulf %scores, %scale : tile<128x128xf32>
      %from = muli %t, %width : tile<i32>
      %fr = reshape %from : tile<i32> -> tile<1x1xi32>
      %froms = broadcast %fr : tile<1x1xi32> -> tile<128x128xi32>
      %number = addi %froms, %columns : tile<128x128xi32>
      %exists = cmpi less_than %number, %ends, signed : tile<128x128xi32> -> tile<128x128xi1>
      %seen = select %exists, %scaled, %never : tile<128x128xi1>, tile<128x128xf32>
      %here = reduce %seen dim=1 identities=[0xFF800000 : f32] : tile<128x128xf32> -> tile<128xf32> (%a: tile<f32>, %b: tile<f32>) {
        %r = maxf %a, %b : tile<f32>
        yield %r : tile<f32>
      }
      %larger = maxf %largest, %here : tile<128xf32>
      %lr = reshape %larger : tile<128xf32> -> tile<128x1xf32>
      %ls = broadcast %lr : tile<128x1xf32> -> tile<128x128xf32>
      %below = subf %seen, %ls : tile<128x128xf32>
      %weights = exp %below : tile<128x128xf32>
      %drop = subf %largest, %larger : tile<128xf32>
      %shrink = exp %drop : tile<128xf32>
      %weight = reduce %weights dim=1 identities=[0.0 : f32] : tile<128x128xf32> -> tile<128xf32> (%a: tile<f32>, %b: tile<f32>) {
        %r = addf %a, %b : tile<f32>
        yield %r : tile<f32>
      }
      %sofar = fma %norm, %shrink, %weight : tile<128xf32>
      %hr = reshape %shrink : tile<128xf32> -> tile<128x1xf32>
      %hs = broadcast %hr : tile<128x1xf32> -> tile<128x64xf32>
      %shrunk = mulf %acc, %hs : tile<128x64xf32>
      %value, %t2 = load_view_tko weak %vv[%t, %zero] : !kv, tile<i32> -> tile<128x64xf16>, token
      %halves = ftof %weights : tile<128x128xf32> -> tile<128x128xf16>
      %next = mmaf %halves, %value, %shrunk : tile<128x128xf16>, tile<128x64xf16>, tile<128x64xf32>
      continue %larger, %sofar, %next : tile<128xf32>, tile<128xf32>, tile<128x64xf32>
    }
    %nr = reshape %l2 : tile<128xf32> -> tile<128x1xf32>
    %ns = broadcast %nr : tile<128x1xf32> -> tile<128x64xf32>
    %mean = divf %o2, %ns : tile<128x64xf32>
    %half = ftof %mean : tile<128x64xf32> -> tile<128x64xf16>
    %t3 = store_view_tko weak %half, %outv[%zero, %zero] : tile<128x64xf16>, !qv, tile<i32> -> token
    return
  }
}
