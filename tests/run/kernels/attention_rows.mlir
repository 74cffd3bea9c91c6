// Flash attention with tiles for one warpgroup: 64 queries of a CTA, 128 keys of an iteration, a head of 128 elements, and two CTAs
// on an SM. K has two stages then, and V one. The loop has 2, 1, 3, 4 and 5 iterations. Keys may end within a tile.
// RUN @full
// ARG q = random:64x128xf16:1
// ARG k = random:200x128xf16:2
// ARG v = random:200x128xf16:3
// ARG out = zeros:64x128xf16
// ARG keys = 200
// EXPECT out near attention(q, k, v, estimate(0.125), np.ones((64, 200), bool), tile=128, weights=element['f16'])
// RUN @full
// ARG q = random:64x128xf16:1
// ARG k = random:128x128xf16:2
// ARG v = random:128x128xf16:3
// ARG out = zeros:64x128xf16
// ARG keys = 128
// EXPECT out near attention(q, k, v, estimate(0.125), np.ones((64, 128), bool), tile=128, weights=element['f16'])
// RUN @full
// ARG q = random:64x128xf16:1
// ARG k = random:257x128xf16:2
// ARG v = random:257x128xf16:3
// ARG out = zeros:64x128xf16
// ARG keys = 257
// EXPECT out near attention(q, k, v, estimate(0.125), np.ones((64, 257), bool), tile=128, weights=element['f16'])
// RUN @full
// ARG q = random:64x128xf16:1
// ARG k = random:512x128xf16:2
// ARG v = random:512x128xf16:3
// ARG out = zeros:64x128xf16
// ARG keys = 512
// EXPECT out near attention(q, k, v, estimate(0.125), np.ones((64, 512), bool), tile=128, weights=element['f16'])
// RUN @full
// ARG q = random:64x128xf16:1
// ARG k = random:600x128xf16:2
// ARG v = random:600x128xf16:3
// ARG out = zeros:64x128xf16
// ARG keys = 600
// EXPECT out near attention(q, k, v, estimate(0.125), np.ones((64, 600), bool), tile=128, weights=element['f16'])
!q = !cuda_tile.tensor_view<64x128xf16, strides=[128,1]>
!qv = !cuda_tile.partition_view<tile=(64x128), tensor_view<64x128xf16, strides=[128,1]>>
!k = !cuda_tile.tensor_view<?x128xf16, strides=[128,1]>
!kv = !cuda_tile.partition_view<tile=(128x128), padding_value = zero, tensor_view<?x128xf16, strides=[128,1]>>
cuda_tile.module @kernels {
  entry @full(%q: tile<ptr<f16>>, %k: tile<ptr<f16>>, %v: tile<ptr<f16>>, %out: tile<ptr<f16>>, %length: tile<i32>) optimization_hints=<sm_90 = {occupancy = 2}> {
    %zero = constant <i32: 0> : tile<i32>
    %one = constant <i32: 1> : tile<i32>
    %width = constant <i32: 128> : tile<i32>
    %qp = assume div_by<16>, %q : tile<ptr<f16>>
    %kp = assume div_by<16>, %k : tile<ptr<f16>>
    %vp = assume div_by<16>, %v : tile<ptr<f16>>
    %outp = assume div_by<16>, %out : tile<ptr<f16>>
    %keys = assume bounded<0, ?>, %length : tile<i32>
    %qt = make_tensor_view %qp, shape = [64, 128], strides = [128, 1] : !q
    %qv = make_partition_view %qt : !qv
    %kt = make_tensor_view %kp, shape = [%keys, 128], strides = [128, 1] : tile<i32> -> !k
    %kv = make_partition_view %kt : !kv
    %vt = make_tensor_view %vp, shape = [%keys, 128], strides = [128, 1] : tile<i32> -> !k
    %vv = make_partition_view %vt : !kv
    %outt = make_tensor_view %outp, shape = [64, 128], strides = [128, 1] : !q
    %outv = make_partition_view %outt : !qv
    %lanes = iota : tile<128xi32>
    %across = reshape %lanes : tile<128xi32> -> tile<1x128xi32>
    %columns = broadcast %across : tile<1x128xi32> -> tile<64x128xi32>
    %er = reshape %keys : tile<i32> -> tile<1x1xi32>
    %ends = broadcast %er : tile<1x1xi32> -> tile<64x128xi32>
    %tiles = divi %keys, %width signed rounding<positive_inf> : tile<i32>
    %query, %t0 = load_view_tko weak %qv[%zero, %zero] : !qv, tile<i32> -> tile<64x128xf16>, token
    %never = constant <f32: 0xFF800000> : tile<64x128xf32>
    %scale = constant <f32: 0.125> : tile<64x128xf32>
    %scoreless = constant <f32: 0.0> : tile<64x128xf32>
    %none = constant <f32: 0.0> : tile<64x128xf32>
    %empty = constant <f32: 0.0> : tile<64xf32>
    %lowest = constant <f32: 0xFF800000> : tile<64xf32>
    %m2, %l2, %o2 = for %t in (%zero to %tiles, step %one) : tile<i32> iter_values(%largest = %lowest, %norm = %empty, %acc = %none) -> (tile<64xf32>, tile<64xf32>, tile<64x128xf32>) {
      %key, %t1 = load_view_tko weak %kv[%t, %zero] : !kv, tile<i32> -> tile<128x128xf16>, token
      %turned = permute %key [1, 0] : tile<128x128xf16> -> tile<128x128xf16>
      %scores = mmaf %query, %turned, %scoreless : tile<64x128xf16>, tile<128x128xf16>, tile<64x128xf32>
      %scaled = mulf %scores, %scale : tile<64x128xf32>
      %from = muli %t, %width : tile<i32>
      %fr = reshape %from : tile<i32> -> tile<1x1xi32>
      %froms = broadcast %fr : tile<1x1xi32> -> tile<64x128xi32>
      %number = addi %froms, %columns : tile<64x128xi32>
      %exists = cmpi less_than %number, %ends, signed : tile<64x128xi32> -> tile<64x128xi1>
      %seen = select %exists, %scaled, %never : tile<64x128xi1>, tile<64x128xf32>
      %here = reduce %seen dim=1 identities=[0xFF800000 : f32] : tile<64x128xf32> -> tile<64xf32> (%a: tile<f32>, %b: tile<f32>) {
        %r = maxf %a, %b : tile<f32>
        yield %r : tile<f32>
      }
      %larger = maxf %largest, %here : tile<64xf32>
      %lr = reshape %larger : tile<64xf32> -> tile<64x1xf32>
      %ls = broadcast %lr : tile<64x1xf32> -> tile<64x128xf32>
      %below = subf %seen, %ls : tile<64x128xf32>
      %weights = exp %below : tile<64x128xf32>
      %drop = subf %largest, %larger : tile<64xf32>
      %shrink = exp %drop : tile<64xf32>
      %weight = reduce %weights dim=1 identities=[0.0 : f32] : tile<64x128xf32> -> tile<64xf32> (%a: tile<f32>, %b: tile<f32>) {
        %r = addf %a, %b : tile<f32>
        yield %r : tile<f32>
      }
      %sofar = fma %norm, %shrink, %weight : tile<64xf32>
      %hr = reshape %shrink : tile<64xf32> -> tile<64x1xf32>
      %hs = broadcast %hr : tile<64x1xf32> -> tile<64x128xf32>
      %shrunk = mulf %acc, %hs : tile<64x128xf32>
      %value, %t2 = load_view_tko weak %vv[%t, %zero] : !kv, tile<i32> -> tile<128x128xf16>, token
      %halves = ftof %weights : tile<64x128xf32> -> tile<64x128xf16>
      %next = mmaf %halves, %value, %shrunk : tile<64x128xf16>, tile<128x128xf16>, tile<64x128xf32>
      continue %larger, %sofar, %next : tile<64xf32>, tile<64xf32>, tile<64x128xf32>
    }
    %nr = reshape %l2 : tile<64xf32> -> tile<64x1xf32>
    %ns = broadcast %nr : tile<64x1xf32> -> tile<64x128xf32>
    %mean = divf %o2, %ns : tile<64x128xf32>
    %half = ftof %mean : tile<64x128xf32> -> tile<64x128xf16>
    %t3 = store_view_tko weak %half, %outv[%zero, %zero] : tile<64x128xf16>, !qv, tile<i32> -> token
    return
  }
}
