// Flash attention: a loop over tiles of keys and values, with a running maximum and a running sum. Two heads share keys and values.
// Weights are rounded to f16 before the second dot.
// RUN @causal grid=2x4
// ARG q = random:4x32x16xf16:1
// ARG k = random:2x32x16xf16:2
// ARG v = random:2x32x16xf16:3
// ARG out = zeros:4x32x16xf16
// EXPECT out near attention(q, k.repeat(2, 0), v.repeat(2, 0), estimate(0.25), np.tri(32, dtype=bool), tile=16, weights=element['f16'])
// RUN @full grid=2x4
// ARG q = random:4x32x16xf16:1
// ARG k = random:2x32x16xf16:2
// ARG v = random:2x32x16xf16:3
// ARG out = zeros:4x32x16xf16
// EXPECT out near attention(q, k.repeat(2, 0), v.repeat(2, 0), estimate(0.25), np.ones((32, 32), bool), tile=16, weights=element['f16'])
!q = !cuda_tile.tensor_view<4x32x16xf16, strides=[512,16,1]>
!qv = !cuda_tile.partition_view<tile=(1x16x16), tensor_view<4x32x16xf16, strides=[512,16,1]>>
!k = !cuda_tile.tensor_view<2x32x16xf16, strides=[512,16,1]>
!kv = !cuda_tile.partition_view<tile=(1x16x16), tensor_view<2x32x16xf16, strides=[512,16,1]>>
cuda_tile.module @kernels {
  entry @causal(%q: tile<ptr<f16>>, %k: tile<ptr<f16>>, %v: tile<ptr<f16>>, %out: tile<ptr<f16>>) {
    %m, %h, %z = get_tile_block_id : tile<i32>
    %zero = constant <i32: 0> : tile<i32>
    %one = constant <i32: 1> : tile<i32>
    %two = constant <i32: 2> : tile<i32>
    %group = divi %h, %two signed : tile<i32>
    %qt = make_tensor_view %q, shape = [4, 32, 16], strides = [512, 16, 1] : !q
    %qv = make_partition_view %qt : !qv
    %kt = make_tensor_view %k, shape = [2, 32, 16], strides = [512, 16, 1] : !k
    %kv = make_partition_view %kt : !kv
    %vt = make_tensor_view %v, shape = [2, 32, 16], strides = [512, 16, 1] : !k
    %vv = make_partition_view %vt : !kv
    %outt = make_tensor_view %out, shape = [4, 32, 16], strides = [512, 16, 1] : !q
    %outv = make_partition_view %outt : !qv
    %m1 = addi %m, %one : tile<i32>
    %width = constant <i32: 16> : tile<i32>
    %lanes = iota : tile<16xi32>
    %down = reshape %lanes : tile<16xi32> -> tile<16x1xi32>
    %across = reshape %lanes : tile<16xi32> -> tile<1x16xi32>
    %rows = broadcast %down : tile<16x1xi32> -> tile<16x16xi32>
    %columns = broadcast %across : tile<1x16xi32> -> tile<16x16xi32>
    %start = muli %m, %width : tile<i32>
    %sr = reshape %start : tile<i32> -> tile<1x1xi32>
    %starts = broadcast %sr : tile<1x1xi32> -> tile<16x16xi32>
    %queries = addi %starts, %rows : tile<16x16xi32>
    %never = constant <f32: 0xFF800000> : tile<16x16xf32>
    %query, %t0 = load_view_tko weak %qv[%h, %m, %zero] : !qv, tile<i32> -> tile<1x16x16xf16>, token
    %qs = reshape %query : tile<1x16x16xf16> -> tile<16x16xf16>
    %scale = constant <f32: 0.25> : tile<16x16xf32>
    %none = constant <f32: 0.0> : tile<16x16xf32>
    %empty = constant <f32: 0.0> : tile<16xf32>
    %lowest = constant <f32: 0xFF800000> : tile<16xf32>
    %top, %total, %sum = for %t in (%zero to %m1, step %one) : tile<i32> iter_values(%largest = %lowest, %norm = %empty, %acc = %none) -> (tile<16xf32>, tile<16xf32>, tile<16x16xf32>) {
      %key, %t1 = load_view_tko weak %kv[%group, %t, %zero] : !kv, tile<i32> -> tile<1x16x16xf16>, token
      %ks = reshape %key : tile<1x16x16xf16> -> tile<16x16xf16>
      %turned = permute %ks [1, 0] : tile<16x16xf16> -> tile<16x16xf16>
      %scores = mmaf %qs, %turned, %none : tile<16x16xf16>, tile<16x16xf16>, tile<16x16xf32>
      %scaled = mulf %scores, %scale : tile<16x16xf32>
      %from = muli %t, %width : tile<i32>
      %fr = reshape %from : tile<i32> -> tile<1x1xi32>
      %froms = broadcast %fr : tile<1x1xi32> -> tile<16x16xi32>
      %keys = addi %froms, %columns : tile<16x16xi32>
      %past = cmpi greater_than_or_equal %queries, %keys, signed : tile<16x16xi32> -> tile<16x16xi1>
      %seen = select %past, %scaled, %never : tile<16x16xi1>, tile<16x16xf32>
      %here = reduce %seen dim=1 identities=[0xFF800000 : f32] : tile<16x16xf32> -> tile<16xf32> (%a: tile<f32>, %b: tile<f32>) {
        %r = maxf %a, %b : tile<f32>
        yield %r : tile<f32>
      }
      %larger = maxf %largest, %here : tile<16xf32>
      %lr = reshape %larger : tile<16xf32> -> tile<16x1xf32>
      %ls = broadcast %lr : tile<16x1xf32> -> tile<16x16xf32>
      %below = subf %seen, %ls : tile<16x16xf32>
      %weights = exp %below : tile<16x16xf32>
      %drop = subf %largest, %larger : tile<16xf32>
      %shrink = exp %drop : tile<16xf32>
      %weight = reduce %weights dim=1 identities=[0.0 : f32] : tile<16x16xf32> -> tile<16xf32> (%a: tile<f32>, %b: tile<f32>) {
        %r = addf %a, %b : tile<f32>
        yield %r : tile<f32>
      }
      %sofar = fma %norm, %shrink, %weight : tile<16xf32>
      %hr = reshape %shrink : tile<16xf32> -> tile<16x1xf32>
      %hs = broadcast %hr : tile<16x1xf32> -> tile<16x16xf32>
      %shrunk = mulf %acc, %hs : tile<16x16xf32>
      %value, %t2 = load_view_tko weak %vv[%group, %t, %zero] : !kv, tile<i32> -> tile<1x16x16xf16>, token
      %vs = reshape %value : tile<1x16x16xf16> -> tile<16x16xf16>
      %halves = ftof %weights : tile<16x16xf32> -> tile<16x16xf16>
      %next = mmaf %halves, %vs, %shrunk : tile<16x16xf16>, tile<16x16xf16>, tile<16x16xf32>
      continue %larger, %sofar, %next : tile<16xf32>, tile<16xf32>, tile<16x16xf32>
    }
    %nr = reshape %total : tile<16xf32> -> tile<16x1xf32>
    %ns = broadcast %nr : tile<16x1xf32> -> tile<16x16xf32>
    %mean = divf %sum, %ns : tile<16x16xf32>
    %half = ftof %mean : tile<16x16xf32> -> tile<16x16xf16>
    %result = reshape %half : tile<16x16xf16> -> tile<1x16x16xf16>
    %t3 = store_view_tko weak %result, %outv[%h, %m, %zero] : tile<1x16x16xf16>, !qv, tile<i32> -> token
    return
  }
  entry @full(%q: tile<ptr<f16>>, %k: tile<ptr<f16>>, %v: tile<ptr<f16>>, %out: tile<ptr<f16>>) {
    %m, %h, %z = get_tile_block_id : tile<i32>
    %zero = constant <i32: 0> : tile<i32>
    %one = constant <i32: 1> : tile<i32>
    %two = constant <i32: 2> : tile<i32>
    %group = divi %h, %two signed : tile<i32>
    %qt = make_tensor_view %q, shape = [4, 32, 16], strides = [512, 16, 1] : !q
    %qv = make_partition_view %qt : !qv
    %kt = make_tensor_view %k, shape = [2, 32, 16], strides = [512, 16, 1] : !k
    %kv = make_partition_view %kt : !kv
    %vt = make_tensor_view %v, shape = [2, 32, 16], strides = [512, 16, 1] : !k
    %vv = make_partition_view %vt : !kv
    %outt = make_tensor_view %out, shape = [4, 32, 16], strides = [512, 16, 1] : !q
    %outv = make_partition_view %outt : !qv
    %tiles = constant <i32: 2> : tile<i32>
    %query, %t0 = load_view_tko weak %qv[%h, %m, %zero] : !qv, tile<i32> -> tile<1x16x16xf16>, token
    %qs = reshape %query : tile<1x16x16xf16> -> tile<16x16xf16>
    %scale = constant <f32: 0.25> : tile<16x16xf32>
    %none = constant <f32: 0.0> : tile<16x16xf32>
    %empty = constant <f32: 0.0> : tile<16xf32>
    %lowest = constant <f32: 0xFF800000> : tile<16xf32>
    %top, %total, %sum = for %t in (%zero to %tiles, step %one) : tile<i32> iter_values(%largest = %lowest, %norm = %empty, %acc = %none) -> (tile<16xf32>, tile<16xf32>, tile<16x16xf32>) {
      %key, %t1 = load_view_tko weak %kv[%group, %t, %zero] : !kv, tile<i32> -> tile<1x16x16xf16>, token
      %ks = reshape %key : tile<1x16x16xf16> -> tile<16x16xf16>
      %turned = permute %ks [1, 0] : tile<16x16xf16> -> tile<16x16xf16>
      %scores = mmaf %qs, %turned, %none : tile<16x16xf16>, tile<16x16xf16>, tile<16x16xf32>
      %scaled = mulf %scores, %scale : tile<16x16xf32>
      %here = reduce %scaled dim=1 identities=[0xFF800000 : f32] : tile<16x16xf32> -> tile<16xf32> (%a: tile<f32>, %b: tile<f32>) {
        %r = maxf %a, %b : tile<f32>
        yield %r : tile<f32>
      }
      %larger = maxf %largest, %here : tile<16xf32>
      %lr = reshape %larger : tile<16xf32> -> tile<16x1xf32>
      %ls = broadcast %lr : tile<16x1xf32> -> tile<16x16xf32>
      %below = subf %scaled, %ls : tile<16x16xf32>
      %weights = exp %below : tile<16x16xf32>
      %drop = subf %largest, %larger : tile<16xf32>
      %shrink = exp %drop : tile<16xf32>
      %weight = reduce %weights dim=1 identities=[0.0 : f32] : tile<16x16xf32> -> tile<16xf32> (%a: tile<f32>, %b: tile<f32>) {
        %r = addf %a, %b : tile<f32>
        yield %r : tile<f32>
      }
      %sofar = fma %norm, %shrink, %weight : tile<16xf32>
      %hr = reshape %shrink : tile<16xf32> -> tile<16x1xf32>
      %hs = broadcast %hr : tile<16x1xf32> -> tile<16x16xf32>
      %shrunk = mulf %acc, %hs : tile<16x16xf32>
      %value, %t2 = load_view_tko weak %vv[%group, %t, %zero] : !kv, tile<i32> -> tile<1x16x16xf16>, token
      %vs = reshape %value : tile<1x16x16xf16> -> tile<16x16xf16>
      %halves = ftof %weights : tile<16x16xf32> -> tile<16x16xf16>
      %next = mmaf %halves, %vs, %shrunk : tile<16x16xf16>, tile<16x16xf16>, tile<16x16xf32>
      continue %larger, %sofar, %next : tile<16xf32>, tile<16xf32>, tile<16x16xf32>
    }
    %nr = reshape %total : tile<16xf32> -> tile<16x1xf32>
    %ns = broadcast %nr : tile<16x1xf32> -> tile<16x16xf32>
    %mean = divf %sum, %ns : tile<16x16xf32>
    %half = ftof %mean : tile<16x16xf32> -> tile<16x16xf16>
    %result = reshape %half : tile<16x16xf16> -> tile<1x16x16xf16>
    %t3 = store_view_tko weak %result, %outv[%h, %m, %zero] : tile<1x16x16xf16>, !qv, tile<i32> -> token
    return
  }
}
