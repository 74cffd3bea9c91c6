// Integer arithmetic, comparison and bits, modulo 2 to the 32nd. Unsigned results are compared by their bits.
// RUN @integers
// ARG x = random:64xi32:1
// ARG y = random:64xi32:2
// ARG d : i32 = (y >> 20) | 1
// ARG s : i32 = np.arange(64) % 32
// ARG sum = zeros:64xi32
// ARG difference = zeros:64xi32
// ARG product = zeros:64xi32
// ARG high = zeros:64xi32
// ARG quotient = zeros:64xi32
// ARG floored = zeros:64xi32
// ARG unsigned_quotient = zeros:64xi32
// ARG remainder = zeros:64xi32
// ARG unsigned_remainder = zeros:64xi32
// ARG negative = zeros:64xi32
// ARG magnitude = zeros:64xi32
// ARG larger = zeros:64xi32
// ARG smaller = zeros:64xi32
// ARG left = zeros:64xi32
// ARG right = zeros:64xi32
// ARG logical = zeros:64xi32
// ARG both = zeros:64xi32
// ARG either = zeros:64xi32
// ARG one = zeros:64xi32
// ARG less = zeros:64xi1
// ARG below = zeros:64xi1
// EXPECT sum = x + y
// EXPECT difference = x - y
// EXPECT product = x * y
// EXPECT high = ((x.view(np.uint32).astype(np.uint64) * y.view(np.uint32)) >> np.uint64(32)).astype(np.uint32).view(np.int32)
// EXPECT quotient = np.trunc(x / d)
// EXPECT floored = x // d
// EXPECT unsigned_quotient = (x.view(np.uint32) // d.view(np.uint32)).astype(np.uint32).view(np.int32)
// EXPECT remainder = np.fmod(x, d)
// EXPECT unsigned_remainder = (x.view(np.uint32) % d.view(np.uint32)).astype(np.uint32).view(np.int32)
// EXPECT negative = -x
// EXPECT magnitude = abs(x)
// EXPECT larger = np.maximum(x, y)
// EXPECT smaller = (np.minimum(x.view(np.uint32), y.view(np.uint32))).astype(np.uint32).view(np.int32)
// EXPECT left = x << s
// EXPECT right = x >> s
// EXPECT logical = (x.view(np.uint32) >> s.view(np.uint32)).astype(np.uint32).view(np.int32)
// EXPECT both = x & y
// EXPECT either = x | y
// EXPECT one = x ^ y
// EXPECT less = x < y
// EXPECT below = x.view(np.uint32) < y.view(np.uint32)
!i32_64 = !cuda_tile.tensor_view<64xi32, strides=[1]>
!i32_64_tile = !cuda_tile.partition_view<tile=(64), tensor_view<64xi32, strides=[1]>>
!i1_64 = !cuda_tile.tensor_view<64xi1, strides=[1]>
!i1_64_tile = !cuda_tile.partition_view<tile=(64), tensor_view<64xi1, strides=[1]>>
cuda_tile.module @kernels {
  entry @integers(%x_ptr: tile<ptr<i32>>, %y_ptr: tile<ptr<i32>>, %d_ptr: tile<ptr<i32>>, %s_ptr: tile<ptr<i32>>, %sum_ptr: tile<ptr<i32>>, %difference_ptr: tile<ptr<i32>>, %product_ptr: tile<ptr<i32>>, %high_ptr: tile<ptr<i32>>, %quotient_ptr: tile<ptr<i32>>, %floored_ptr: tile<ptr<i32>>, %unsigned_quotient_ptr: tile<ptr<i32>>, %remainder_ptr: tile<ptr<i32>>, %unsigned_remainder_ptr: tile<ptr<i32>>, %negative_ptr: tile<ptr<i32>>, %magnitude_ptr: tile<ptr<i32>>, %larger_ptr: tile<ptr<i32>>, %smaller_ptr: tile<ptr<i32>>, %left_ptr: tile<ptr<i32>>, %right_ptr: tile<ptr<i32>>, %logical_ptr: tile<ptr<i32>>, %both_ptr: tile<ptr<i32>>, %either_ptr: tile<ptr<i32>>, %one_ptr: tile<ptr<i32>>, %less_ptr: tile<ptr<i1>>, %below_ptr: tile<ptr<i1>>) {
    %zero = constant <i32: 0> : tile<i32>
    %x_tensor = make_tensor_view %x_ptr, shape = [64], strides = [1] : !i32_64
    %x_view = make_partition_view %x_tensor : !i32_64_tile
    %x, %x_read = load_view_tko weak %x_view[%zero] : !i32_64_tile, tile<i32> -> tile<64xi32>, token
    %y_tensor = make_tensor_view %y_ptr, shape = [64], strides = [1] : !i32_64
    %y_view = make_partition_view %y_tensor : !i32_64_tile
    %y, %y_read = load_view_tko weak %y_view[%zero] : !i32_64_tile, tile<i32> -> tile<64xi32>, token
    %d_tensor = make_tensor_view %d_ptr, shape = [64], strides = [1] : !i32_64
    %d_view = make_partition_view %d_tensor : !i32_64_tile
    %d, %d_read = load_view_tko weak %d_view[%zero] : !i32_64_tile, tile<i32> -> tile<64xi32>, token
    %s_tensor = make_tensor_view %s_ptr, shape = [64], strides = [1] : !i32_64
    %s_view = make_partition_view %s_tensor : !i32_64_tile
    %s, %s_read = load_view_tko weak %s_view[%zero] : !i32_64_tile, tile<i32> -> tile<64xi32>, token
    %sum = addi %x, %y : tile<64xi32>
    %difference = subi %x, %y : tile<64xi32>
    %product = muli %x, %y : tile<64xi32>
    %high = mulhii %x, %y : tile<64xi32>
    %quotient = divi %x, %d signed : tile<64xi32>
    %floored = divi %x, %d signed rounding<negative_inf> : tile<64xi32>
    %unsigned_quotient = divi %x, %d unsigned : tile<64xi32>
    %remainder = remi %x, %d signed : tile<64xi32>
    %unsigned_remainder = remi %x, %d unsigned : tile<64xi32>
    %negative = negi %x : tile<64xi32>
    %magnitude = absi %x : tile<64xi32>
    %larger = maxi %x, %y signed : tile<64xi32>
    %smaller = mini %x, %y unsigned : tile<64xi32>
    %left = shli %x, %s : tile<64xi32>
    %right = shri %x, %s signed : tile<64xi32>
    %logical = shri %x, %s unsigned : tile<64xi32>
    %both = andi %x, %y : tile<64xi32>
    %either = ori %x, %y : tile<64xi32>
    %one = xori %x, %y : tile<64xi32>
    %less = cmpi less_than %x, %y, signed : tile<64xi32> -> tile<64xi1>
    %below = cmpi less_than %x, %y, unsigned : tile<64xi32> -> tile<64xi1>
    %sum_tensor = make_tensor_view %sum_ptr, shape = [64], strides = [1] : !i32_64
    %sum_view = make_partition_view %sum_tensor : !i32_64_tile
    %sum_written = store_view_tko weak %sum, %sum_view[%zero] : tile<64xi32>, !i32_64_tile, tile<i32> -> token
    %difference_tensor = make_tensor_view %difference_ptr, shape = [64], strides = [1] : !i32_64
    %difference_view = make_partition_view %difference_tensor : !i32_64_tile
    %difference_written = store_view_tko weak %difference, %difference_view[%zero] : tile<64xi32>, !i32_64_tile, tile<i32> -> token
    %product_tensor = make_tensor_view %product_ptr, shape = [64], strides = [1] : !i32_64
    %product_view = make_partition_view %product_tensor : !i32_64_tile
    %product_written = store_view_tko weak %product, %product_view[%zero] : tile<64xi32>, !i32_64_tile, tile<i32> -> token
    %high_tensor = make_tensor_view %high_ptr, shape = [64], strides = [1] : !i32_64
    %high_view = make_partition_view %high_tensor : !i32_64_tile
    %high_written = store_view_tko weak %high, %high_view[%zero] : tile<64xi32>, !i32_64_tile, tile<i32> -> token
    %quotient_tensor = make_tensor_view %quotient_ptr, shape = [64], strides = [1] : !i32_64
    %quotient_view = make_partition_view %quotient_tensor : !i32_64_tile
    %quotient_written = store_view_tko weak %quotient, %quotient_view[%zero] : tile<64xi32>, !i32_64_tile, tile<i32> -> token
    %floored_tensor = make_tensor_view %floored_ptr, shape = [64], strides = [1] : !i32_64
    %floored_view = make_partition_view %floored_tensor : !i32_64_tile
    %floored_written = store_view_tko weak %floored, %floored_view[%zero] : tile<64xi32>, !i32_64_tile, tile<i32> -> token
    %unsigned_quotient_tensor = make_tensor_view %unsigned_quotient_ptr, shape = [64], strides = [1] : !i32_64
    %unsigned_quotient_view = make_partition_view %unsigned_quotient_tensor : !i32_64_tile
    %unsigned_quotient_written = store_view_tko weak %unsigned_quotient, %unsigned_quotient_view[%zero] : tile<64xi32>, !i32_64_tile, tile<i32> -> token
    %remainder_tensor = make_tensor_view %remainder_ptr, shape = [64], strides = [1] : !i32_64
    %remainder_view = make_partition_view %remainder_tensor : !i32_64_tile
    %remainder_written = store_view_tko weak %remainder, %remainder_view[%zero] : tile<64xi32>, !i32_64_tile, tile<i32> -> token
    %unsigned_remainder_tensor = make_tensor_view %unsigned_remainder_ptr, shape = [64], strides = [1] : !i32_64
    %unsigned_remainder_view = make_partition_view %unsigned_remainder_tensor : !i32_64_tile
    %unsigned_remainder_written = store_view_tko weak %unsigned_remainder, %unsigned_remainder_view[%zero] : tile<64xi32>, !i32_64_tile, tile<i32> -> token
    %negative_tensor = make_tensor_view %negative_ptr, shape = [64], strides = [1] : !i32_64
    %negative_view = make_partition_view %negative_tensor : !i32_64_tile
    %negative_written = store_view_tko weak %negative, %negative_view[%zero] : tile<64xi32>, !i32_64_tile, tile<i32> -> token
    %magnitude_tensor = make_tensor_view %magnitude_ptr, shape = [64], strides = [1] : !i32_64
    %magnitude_view = make_partition_view %magnitude_tensor : !i32_64_tile
    %magnitude_written = store_view_tko weak %magnitude, %magnitude_view[%zero] : tile<64xi32>, !i32_64_tile, tile<i32> -> token
    %larger_tensor = make_tensor_view %larger_ptr, shape = [64], strides = [1] : !i32_64
    %larger_view = make_partition_view %larger_tensor : !i32_64_tile
    %larger_written = store_view_tko weak %larger, %larger_view[%zero] : tile<64xi32>, !i32_64_tile, tile<i32> -> token
    %smaller_tensor = make_tensor_view %smaller_ptr, shape = [64], strides = [1] : !i32_64
    %smaller_view = make_partition_view %smaller_tensor : !i32_64_tile
    %smaller_written = store_view_tko weak %smaller, %smaller_view[%zero] : tile<64xi32>, !i32_64_tile, tile<i32> -> token
    %left_tensor = make_tensor_view %left_ptr, shape = [64], strides = [1] : !i32_64
    %left_view = make_partition_view %left_tensor : !i32_64_tile
    %left_written = store_view_tko weak %left, %left_view[%zero] : tile<64xi32>, !i32_64_tile, tile<i32> -> token
    %right_tensor = make_tensor_view %right_ptr, shape = [64], strides = [1] : !i32_64
    %right_view = make_partition_view %right_tensor : !i32_64_tile
    %right_written = store_view_tko weak %right, %right_view[%zero] : tile<64xi32>, !i32_64_tile, tile<i32> -> token
    %logical_tensor = make_tensor_view %logical_ptr, shape = [64], strides = [1] : !i32_64
    %logical_view = make_partition_view %logical_tensor : !i32_64_tile
    %logical_written = store_view_tko weak %logical, %logical_view[%zero] : tile<64xi32>, !i32_64_tile, tile<i32> -> token
    %both_tensor = make_tensor_view %both_ptr, shape = [64], strides = [1] : !i32_64
    %both_view = make_partition_view %both_tensor : !i32_64_tile
    %both_written = store_view_tko weak %both, %both_view[%zero] : tile<64xi32>, !i32_64_tile, tile<i32> -> token
    %either_tensor = make_tensor_view %either_ptr, shape = [64], strides = [1] : !i32_64
    %either_view = make_partition_view %either_tensor : !i32_64_tile
    %either_written = store_view_tko weak %either, %either_view[%zero] : tile<64xi32>, !i32_64_tile, tile<i32> -> token
    %one_tensor = make_tensor_view %one_ptr, shape = [64], strides = [1] : !i32_64
    %one_view = make_partition_view %one_tensor : !i32_64_tile
    %one_written = store_view_tko weak %one, %one_view[%zero] : tile<64xi32>, !i32_64_tile, tile<i32> -> token
    %less_tensor = make_tensor_view %less_ptr, shape = [64], strides = [1] : !i1_64
    %less_view = make_partition_view %less_tensor : !i1_64_tile
    %less_written = store_view_tko weak %less, %less_view[%zero] : tile<64xi1>, !i1_64_tile, tile<i32> -> token
    %below_tensor = make_tensor_view %below_ptr, shape = [64], strides = [1] : !i1_64
    %below_view = make_partition_view %below_tensor : !i1_64_tile
    %below_written = store_view_tko weak %below, %below_view[%zero] : tile<64xi1>, !i1_64_tile, tile<i32> -> token
    return
  }
}
