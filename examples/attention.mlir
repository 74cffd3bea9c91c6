// out = softmax(q · kᵀ / 8) · v for one head of 64 f16: 64 queries a block, a loop over tiles of 64 keys.
!heads = !cuda_tile.tensor_view<?x64xf16, strides=[64,1]>
!tiles = !cuda_tile.partition_view<tile=(64x64), tensor_view<?x64xf16, strides=[64,1]>>
cuda_tile.module @kernels {
  entry @attention(%q: tile<ptr<f16>>, %k: tile<ptr<f16>>, %v: tile<ptr<f16>>, %out: tile<ptr<f16>>,
                   %queries: tile<i32>, %keys: tile<i32>) {
    // Assumptions about the arguments: 16-byte aligned bases.
    %q_base = assume div_by<16>, %q : tile<ptr<f16>>
    %k_base = assume div_by<16>, %k : tile<ptr<f16>>
    %v_base = assume div_by<16>, %v : tile<ptr<f16>>
    %out_base = assume div_by<16>, %out : tile<ptr<f16>>

    %q_view = make_tensor_view %q_base, shape = [%queries, 64], strides = [64, 1] : tile<i32> -> !heads
    %k_view = make_tensor_view %k_base, shape = [%keys, 64], strides = [64, 1] : tile<i32> -> !heads
    %v_view = make_tensor_view %v_base, shape = [%keys, 64], strides = [64, 1] : tile<i32> -> !heads
    %out_view = make_tensor_view %out_base, shape = [%queries, 64], strides = [64, 1] : tile<i32> -> !heads
    %q_tiles = make_partition_view %q_view : !tiles
    %k_tiles = make_partition_view %k_view : !tiles
    %v_tiles = make_partition_view %v_view : !tiles
    %out_tiles = make_partition_view %out_view : !tiles

    %block, %by, %bz = get_tile_block_id : tile<i32>
    %zero = constant <i32: 0> : tile<i32>
    %one = constant <i32: 1> : tile<i32>
    %width = constant <i32: 64> : tile<i32>
    %count = divi %keys, %width signed : tile<i32>
    %scale = constant <f32: 0.125> : tile<64x64xf32>
    %nothing = constant <f32: 0.0> : tile<64x64xf32>
    %no_weight = constant <f32: 0.0> : tile<64xf32>
    %lowest = constant <f32: 0xFF800000> : tile<64xf32>
    %query, %t0 = load_view_tko weak %q_tiles[%block, %zero] : !tiles, tile<i32> -> tile<64x64xf16>, token

    %last, %norm, %sum = for %i in (%zero to %count, step %one) : tile<i32> iter_values(%max = %lowest, %denominator = %no_weight, %acc = %nothing) -> (tile<64xf32>, tile<64xf32>, tile<64x64xf32>) {
      %key, %t1 = load_view_tko weak %k_tiles[%i, %zero] : !tiles, tile<i32> -> tile<64x64xf16>, token
      %transposed = permute %key [1, 0] : tile<64x64xf16> -> tile<64x64xf16>
      %scores = mmaf %query, %transposed, %nothing : tile<64x64xf16>, tile<64x64xf16>, tile<64x64xf32>
      %scaled = mulf %scores, %scale : tile<64x64xf32>
      %largest = reduce %scaled dim=1 identities=[0xFF800000 : f32] : tile<64x64xf32> -> tile<64xf32> (%a: tile<f32>, %b: tile<f32>) {
        %larger = maxf %a, %b : tile<f32>
        yield %larger : tile<f32>
      }
      %new_max = maxf %max, %largest : tile<64xf32>
      %max_column = reshape %new_max : tile<64xf32> -> tile<64x1xf32>
      %maxes = broadcast %max_column : tile<64x1xf32> -> tile<64x64xf32>
      %shifted = subf %scaled, %maxes : tile<64x64xf32>
      %weights = exp %shifted : tile<64x64xf32>
      %difference = subf %max, %new_max : tile<64xf32>
      %correction = exp %difference : tile<64xf32>
      %weight = reduce %weights dim=1 identities=[0.0 : f32] : tile<64x64xf32> -> tile<64xf32> (%a: tile<f32>, %b: tile<f32>) {
        %added = addf %a, %b : tile<f32>
        yield %added : tile<f32>
      }
      %new_denominator = fma %denominator, %correction, %weight : tile<64xf32>
      %correction_column = reshape %correction : tile<64xf32> -> tile<64x1xf32>
      %corrections = broadcast %correction_column : tile<64x1xf32> -> tile<64x64xf32>
      %corrected = mulf %acc, %corrections : tile<64x64xf32>
      %value, %t2 = load_view_tko weak %v_tiles[%i, %zero] : !tiles, tile<i32> -> tile<64x64xf16>, token
      %rounded = ftof %weights : tile<64x64xf32> -> tile<64x64xf16>
      %next = mmaf %rounded, %value, %corrected : tile<64x64xf16>, tile<64x64xf16>, tile<64x64xf32>
      continue %new_max, %new_denominator, %next : tile<64xf32>, tile<64xf32>, tile<64x64xf32>
    }
    %norm_column = reshape %norm : tile<64xf32> -> tile<64x1xf32>
    %norms = broadcast %norm_column : tile<64x1xf32> -> tile<64x64xf32>
    %mean = divf %sum, %norms : tile<64x64xf32>
    %result = ftof %mean : tile<64x64xf32> -> tile<64x64xf16>
    %t3 = store_view_tko weak %result, %out_tiles[%block, %zero] : tile<64x64xf16>, !tiles, tile<i32> -> token
    return
  }
}

// RUN grid=1
// ARG q = random:64x64xf16:1
// ARG k = random:128x64xf16:2
// ARG v = random:128x64xf16:3
// ARG out = zeros:64x64xf16
// ARG queries = 64
// ARG keys = 128
// EXPECT out near attention(q, k, v, estimate(0.125), np.ones((64, 128), bool), tile=64, weights=element['f16'])
