// Assumptions about tiles, alignment and bounds that do not hold, and operations with undefined behavior.
// RUN @tile_overflow
// ARG n = 2147483640
// ONLY checked
// FAILS assumption at TILE_OVERFLOW : overflows as signed integers, which its overflow flags exclude
// RUN @tile_overflow
// ARG n = 2147483632
// RUN @zero_divisor
// ARG n = 0
// ONLY checked
// FAILS undefined at ZERO_DIVISOR : divides by zero
// RUN @zero_modulus
// ARG n = 0
// ONLY checked
// FAILS undefined at ZERO_MODULUS : divides by zero
// RUN @too_large
// ARG n = -2147483648
// ONLY checked
// FAILS undefined at TOO_LARGE : divides the smallest integer by -1
// RUN @zero_elements
// ARG x : i32 = np.array([0, 1, 2, 4])
// ARG out = zeros:4xi32
// ONLY plain
// EXPECT out = np.array([-1, 8, 4, 2])
// RUN @zero_elements
// ARG x : i32 = np.array([0, 1, 2, 4])
// ARG out = zeros:4xi32
// ONLY checked
// FAILS undefined at ZERO_ELEMENTS : divides by zero
// RUN @zero_elements
// ARG x : i32 = np.array([8, 1, 2, 4])
// ARG out = zeros:4xi32
// EXPECT out = np.array([1, 8, 4, 2])
// RUN @whole_part
// ARG x : f32 = np.array([2.0 ** 31])
// ARG out = zeros:1xi32
// ONLY checked
// FAILS undefined at WHOLE_PART : converts a value out of range
// RUN @whole_part
// ARG x : f32 = np.array([np.nan])
// ARG out = zeros:1xi32
// ONLY checked
// FAILS undefined at WHOLE_PART : converts a value out of range
// RUN @whole_part
// ARG x : f32 = np.array([-(2.0 ** 31)])
// ARG out = zeros:1xi32
// EXPECT out = np.array([-(2 ** 31)])
// RUN @whole_parts
// ARG x : f32 = np.array([np.nan, 1e30, -1e30, -2.5])
// ARG out = zeros:4xi32
// EXPECT out = np.array([0, 2 ** 31 - 1, -(2 ** 31), -2])
// RUN @unused_parts
// ARG x : f32 = np.array([np.nan, 1e30, -1e30, -2.5])
// ARG out = zeros:4xi32
// EXPECT out = np.array([7, 7, 7, -2])
// RUN @far
// ARG x = zeros:4xi32
// ARG n : i64 = np.array([2 ** 62])
// ONLY checked
// FAILS undefined at FAR : the address overflows
// RUN @far
// ARG x = zeros:4xi32
// ARG n : i64 = np.array([2])
// RUN @extent
// ARG n = 300
// ONLY checked
// FAILS undefined at EXTENT : expected extents that fit i8
// RUN @extent
// ARG n = 255
// RUN @last_index
// ARG n = 126
// RUN @last_index
// ARG n = 127
// FAILS undefined at LAST_INDEX : the index overflows
// RUN @negative_scale
// ARG s : f8E4M3FN = np.array([-1.0])
// ARG out = zeros:4x4xf32
// ONLY checked
// FAILS undefined at NEGATIVE_SCALE : expected no negative scale
// RUN @negative_scale
// ARG s : f8E4M3FN = np.array([2.0])
// ARG out = zeros:4x4xf32
// EXPECT out = np.full((4, 4), 64.0)
// RUN @aligned
// ARG x : i32 = np.arange(9)[1:]
// RUN @misaligned
// ARG x = iota:8xi32
// FAILS assumption at MISALIGNED : assumes that div_by<16>, which does not hold: got 0x7000000011
// RUN @same
// ARG n = 1
// FAILS assumption at SAME : assumes that same_elements<[4]>, which does not hold: got 1 at element [1]
// RUN @upper
// ARG n = 8
// FAILS assumption at UPPER : assumes that bounded<?, 7>, which does not hold: got 8
// RUN @straddling
// ARG x = zeros:2xi32
// FAILS misaligned at STRADDLING : expected an address divisible by 4, got 0x7000000011
// RUN @constant
// FAILS read_only at CONSTANT : which must not change
// RUN @inside grid=2
// ARG x = zeros:6xi32
// ONLY checked
// FAILS assumption at INSIDE : is declared in bounds, but is not in dimension 0: coordinate 6, extent 6
// RUN @beyond grid=3
// ARG x = zeros:6xi32
// ONLY checked
// FAILS index at BEYOND : expected the tile index of argument 0 along dimension 0 to be at least 0 and below 2, got 2
// RUN @piece
// ARG n = 4
// FAILS index at PIECE : index
// RUN @backwards
// ARG n = -1
// FAILS undefined at BACKWARDS : expected a positive step
!open = !cuda_tile.tensor_view<?xi32, strides=[1]>
!open_tile = !cuda_tile.partition_view<tile=(4), tensor_view<?xi32, strides=[1]>>
!four = !cuda_tile.tensor_view<4xi32, strides=[1]>
!four_tile = !cuda_tile.partition_view<tile=(4), tensor_view<4xi32, strides=[1]>>
!four_floats = !cuda_tile.tensor_view<4xf32, strides=[1]>
!four_floats_tile = !cuda_tile.partition_view<tile=(4), tensor_view<4xf32, strides=[1]>>
!square = !cuda_tile.tensor_view<4x4xf32, strides=[4,1]>
!square_tile = !cuda_tile.partition_view<tile=(4x4), tensor_view<4x4xf32, strides=[4,1]>>
cuda_tile.module @kernels {
  global constant @table <i32: [1, 2]> : tile<2xi32>
  entry @tile_overflow(%n: tile<i32>) {
    %i = iota : tile<16xi32>
    %row = reshape %n : tile<i32> -> tile<1xi32>
    %all = broadcast %row : tile<1xi32> -> tile<16xi32>
    %sum = addi %i, %all overflow<no_signed_wrap> : tile<16xi32> // TILE_OVERFLOW
    return
  }
  entry @zero_divisor(%n: tile<i32>) {
    %one = constant <i32: 1> : tile<i32>
    %q = divi %one, %n signed : tile<i32> // ZERO_DIVISOR
    return
  }
  entry @zero_modulus(%n: tile<i32>) {
    %one = constant <i32: 1> : tile<i32>
    %r = remi %one, %n unsigned : tile<i32> // ZERO_MODULUS
    return
  }
  entry @too_large(%n: tile<i32>) {
    %minus_one = constant <i32: -1> : tile<i32>
    %q = divi %n, %minus_one signed : tile<i32> // TOO_LARGE
    return
  }
  // That the result is not used does not help.
  entry @zero_elements(%x: tile<ptr<i32>>, %out: tile<ptr<i32>>) {
    %i = iota : tile<4xi32>
    %zero = constant <i32: 0> : tile<4xi32>
    %eight = constant <i32: 8> : tile<4xi32>
    %none = constant <i32: -1> : tile<4xi32>
    %x1 = reshape %x : tile<ptr<i32>> -> tile<1xptr<i32>>
    %x4 = broadcast %x1 : tile<1xptr<i32>> -> tile<4xptr<i32>>
    %from = offset %x4, %i : tile<4xptr<i32>>, tile<4xi32> -> tile<4xptr<i32>>
    %out1 = reshape %out : tile<ptr<i32>> -> tile<1xptr<i32>>
    %out4 = broadcast %out1 : tile<1xptr<i32>> -> tile<4xptr<i32>>
    %to = offset %out4, %i : tile<4xptr<i32>>, tile<4xi32> -> tile<4xptr<i32>>
    %divisor, %t0 = load_ptr_tko weak %from : tile<4xptr<i32>> -> tile<4xi32>, token
    %q = divi %eight, %divisor signed : tile<4xi32> // ZERO_ELEMENTS
    %wrong = cmpi equal %divisor, %zero, signed : tile<4xi32> -> tile<4xi1>
    %chosen = select %wrong, %none, %q : tile<4xi1>, tile<4xi32>
    %t1 = store_ptr_tko weak %to, %chosen : tile<4xptr<i32>>, tile<4xi32> -> token
    return
  }
  entry @whole_part(%x: tile<ptr<f32>>, %out: tile<ptr<i32>>) {
    %v, %t0 = load_ptr_tko weak %x : tile<ptr<f32>> -> tile<f32>, token
    %i = ftoi %v signed : tile<f32> -> tile<i32> // WHOLE_PART
    %t1 = store_ptr_tko weak %out, %i : tile<ptr<i32>>, tile<i32> -> token
    return
  }
  entry @whole_parts(%x: tile<ptr<f32>>, %out: tile<ptr<i32>>) {
    %xt = make_tensor_view %x, shape = [4], strides = [1] : !four_floats
    %ot = make_tensor_view %out, shape = [4], strides = [1] : !four
    %xv = make_partition_view %xt : !four_floats_tile
    %ov = make_partition_view %ot : !four_tile
    %zero = constant <i32: 0> : tile<i32>
    %v, %t0 = load_view_tko weak %xv[%zero] : !four_floats_tile, tile<i32> -> tile<4xf32>, token
    %i = ftoi %v signed saturating : tile<4xf32> -> tile<4xi32>
    %t1 = store_view_tko weak %i, %ov[%zero] : tile<4xi32>, !four_tile, tile<i32> -> token
    return
  }
  // Elements that do not fit are fine as long as they are not used.
  entry @unused_parts(%x: tile<ptr<f32>>, %out: tile<ptr<i32>>) {
    %xt = make_tensor_view %x, shape = [4], strides = [1] : !four_floats
    %ot = make_tensor_view %out, shape = [4], strides = [1] : !four
    %xv = make_partition_view %xt : !four_floats_tile
    %ov = make_partition_view %ot : !four_tile
    %zero = constant <i32: 0> : tile<i32>
    %nine = constant <f32: 9.0> : tile<4xf32>
    %seven = constant <i32: 7> : tile<4xi32>
    %v, %t0 = load_view_tko weak %xv[%zero] : !four_floats_tile, tile<i32> -> tile<4xf32>, token
    %i = ftoi %v signed : tile<4xf32> -> tile<4xi32>
    %size = absf %v : tile<4xf32>
    %fits = cmpf less_than ordered %size, %nine : tile<4xf32> -> tile<4xi1>
    %chosen = select %fits, %i, %seven : tile<4xi1>, tile<4xi32>
    %t1 = store_view_tko weak %chosen, %ov[%zero] : tile<4xi32>, !four_tile, tile<i32> -> token
    return
  }
  // An offset of 2^64 bytes wraps around to the start.
  entry @far(%x: tile<ptr<i32>>, %n: tile<ptr<i64>>) {
    %count, %t0 = load_ptr_tko weak %n : tile<ptr<i64>> -> tile<i64>, token
    %p = offset %x, %count : tile<ptr<i32>>, tile<i64> -> tile<ptr<i32>> // FAR
    %v, %t1 = load_ptr_tko weak %p : tile<ptr<i32>> -> tile<i32>, token
    return
  }
  entry @extent(%n: tile<i32>) {
    %null = constant <i64: 0> : tile<i64>
    %p = int_to_ptr %null : tile<i64> -> tile<ptr<i32>>
    %xt = make_tensor_view %p, shape = [%n], strides = [1] : tile<i32> -> !open
    %e = get_tensor_shape %xt : !open -> tile<i8> // EXTENT
    return
  }
  // From 124 in steps of 2, the value after 126 does not fit i8.
  entry @last_index(%n: tile<i32>) {
    %start = constant <i8: 124> : tile<i8>
    %two = constant <i8: 2> : tile<i8>
    %end = trunci %n : tile<i32> -> tile<i8>
    for %i in (%start to %end, step %two) : tile<i8> { // LAST_INDEX
    }
    return
  }
  entry @negative_scale(%s: tile<ptr<f8E4M3FN>>, %out: tile<ptr<f32>>) {
    %ones = constant <f4E2M1FN: 1.0> : tile<4x16xf4E2M1FN>
    %more = constant <f4E2M1FN: 1.0> : tile<16x4xf4E2M1FN>
    %none = constant <f32: 0.0> : tile<4x4xf32>
    %v, %t0 = load_ptr_tko weak %s : tile<ptr<f8E4M3FN>> -> tile<f8E4M3FN>, token
    %row = reshape %v : tile<f8E4M3FN> -> tile<1x1xf8E4M3FN>
    %left = broadcast %row : tile<1x1xf8E4M3FN> -> tile<4x1xf8E4M3FN>
    %right = broadcast %row : tile<1x1xf8E4M3FN> -> tile<1x4xf8E4M3FN>
    %c = mmaf_scaled %ones, %more, %none, %left, %right : tile<4x16xf4E2M1FN>, tile<16x4xf4E2M1FN>, tile<4x4xf32>, tile<4x1xf8E4M3FN>, tile<1x4xf8E4M3FN> // NEGATIVE_SCALE
    %ot = make_tensor_view %out, shape = [4, 4], strides = [4, 1] : !square
    %ov = make_partition_view %ot : !square_tile
    %zero = constant <i32: 0> : tile<i32>
    %t1 = store_view_tko weak %c, %ov[%zero, %zero] : tile<4x4xf32>, !square_tile, tile<i32> -> token
    return
  }
  entry @aligned(%x: tile<ptr<i32>>) {
    %p = assume div_by<4>, %x : tile<ptr<i32>>
    return
  }
  entry @misaligned(%x: tile<ptr<i32>>) {
    %one = constant <i32: 1> : tile<i32>
    %next = offset %x, %one : tile<ptr<i32>>, tile<i32> -> tile<ptr<i32>>
    %p = assume div_by<16>, %next : tile<ptr<i32>> // MISALIGNED
    return
  }
  entry @same(%n: tile<i32>) {
    %i = iota : tile<8xi32>
    %s = assume same_elements<[4]>, %i : tile<8xi32> // SAME
    return
  }
  entry @upper(%n: tile<i32>) {
    %m = assume bounded<?, 7>, %n : tile<i32> // UPPER
    return
  }
  entry @straddling(%x: tile<ptr<i32>>) {
    %two = constant <i32: 2> : tile<i32>
    %bytes = ptr_to_ptr %x : tile<ptr<i32>> -> tile<ptr<i8>>
    %odd = offset %bytes, %two : tile<ptr<i8>>, tile<i32> -> tile<ptr<i8>>
    %p = ptr_to_ptr %odd : tile<ptr<i8>> -> tile<ptr<i32>>
    %v, %t = load_ptr_tko weak %p : tile<ptr<i32>> -> tile<i32>, token // STRADDLING
    return
  }
  entry @constant() {
    %one = constant <i32: 1> : tile<i32>
    %p = get_global @table : tile<ptr<i32>>
    %t = store_ptr_tko weak %p, %one : tile<ptr<i32>>, tile<i32> -> token // CONSTANT
    return
  }
  // The second of two tiles of four is not in a tensor of six.
  entry @inside(%x: tile<ptr<i32>>) {
    %b, %y, %z = get_tile_block_id : tile<i32>
    %six = constant <i32: 6> : tile<i32>
    %xt = make_tensor_view %x, shape = [%six], strides = [1] : tile<i32> -> !open
    %xv = make_partition_view %xt : !open_tile
    %v, %t = load_view_tko weak %xv[%b] inbounds = [true] : !open_tile, tile<i32> -> tile<4xi32>, token // INSIDE
    return
  }
  // There is no third.
  entry @beyond(%x: tile<ptr<i32>>) {
    %b, %y, %z = get_tile_block_id : tile<i32>
    %six = constant <i32: 6> : tile<i32>
    %xt = make_tensor_view %x, shape = [%six], strides = [1] : tile<i32> -> !open
    %xv = make_partition_view %xt : !open_tile
    %v, %t = load_view_tko weak %xv[%b] : !open_tile, tile<i32> -> tile<4xi32>, token // BEYOND
    return
  }
  entry @piece(%n: tile<i32>) {
    %i = iota : tile<8xi32>
    %p = extract %i[%n] : tile<8xi32> -> tile<2xi32> // PIECE
    return
  }
  entry @backwards(%n: tile<i32>) {
    %zero = constant <i32: 0> : tile<i32>
    %ten = constant <i32: 10> : tile<i32>
    for %i in (%zero to %ten, step %n) : tile<i32> { // BACKWARDS
    }
    return
  }
}
