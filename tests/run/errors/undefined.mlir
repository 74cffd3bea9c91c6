// Promises about tiles, alignment and bounds that do not hold, and operations without a defined result.
// RUN @tile_overflow
// ARG n = 2147483640
// ONLY checked
// FAILS assumption at TILE_OVERFLOW : overflows as signed integers, which it promises not to
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
// RUN @unused_elements
// ARG x : i32 = np.array([0, 1, 2, 4])
// ARG out = zeros:4xi32
// EXPECT out = np.array([-1, 8, 4, 2])
// RUN @aligned
// ARG x : i32 = np.arange(9)[1:]
// RUN @misaligned
// ARG x = iota:8xi32
// FAILS assumption at MISALIGNED : promises that div_by<16>, which does not hold
// RUN @same
// ARG n = 1
// FAILS assumption at SAME : promises that same_elements<[4]>, which does not hold
// RUN @upper
// ARG n = 8
// FAILS assumption at UPPER : promises that bounded<?, 7>, which does not hold
// RUN @straddling
// ARG x = zeros:2xi32
// FAILS misaligned at STRADDLING : expected an address divisible by 4
// RUN @constant
// FAILS read_only at CONSTANT : which must not change
// RUN @inside grid=2
// ARG x = zeros:6xi32
// ONLY checked
// FAILS assumption at INSIDE : promises to stay inside dimension 0
// RUN @beyond grid=3
// ARG x = zeros:6xi32
// ONLY checked
// FAILS index at BEYOND : expected index 0 in the index space of the view
// RUN @piece
// ARG n = 4
// FAILS index at PIECE : index
// RUN @backwards
// ARG n = -1
// FAILS undefined at BACKWARDS : expected a positive step
!open = !cuda_tile.tensor_view<?xi32, strides=[1]>
!open_tile = !cuda_tile.partition_view<tile=(4), tensor_view<?xi32, strides=[1]>>
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
  // Dividing by zero is fine for elements that are not used.
  entry @unused_elements(%x: tile<ptr<i32>>, %out: tile<ptr<i32>>) {
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
    %q = divi %eight, %divisor signed : tile<4xi32>
    %wrong = cmpi equal %divisor, %zero, signed : tile<4xi32> -> tile<4xi1>
    %chosen = select %wrong, %none, %q : tile<4xi1>, tile<4xi32>
    %t1 = store_ptr_tko weak %to, %chosen : tile<4xptr<i32>>, tile<4xi32> -> token
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
