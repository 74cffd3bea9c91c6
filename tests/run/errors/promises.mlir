// Uninitialized memory, assumptions that do not hold, assertions, division by zero.
// RUN @uninitialised
// ARG out = zeros:1xi32
// ONLY checked
// FAILS uninitialised at JUNK : reads byte 4 of alloca of block (0, 0, 0) (element 1), which was never written
// RUN @divisible
// ARG n = 24
// FAILS assumption at DIVISIBLE : assumes that div_by<16>, which does not hold
// RUN @divisible
// ARG n = 48
// RUN @bounded
// ARG n = -1
// FAILS assumption at BOUNDED : assumes that bounded<0, ?>, which does not hold
// RUN @no_overflow
// ARG n = 2147483647
// ONLY checked
// FAILS assumption at OVERFLOW : overflows as signed integers, which its overflow flags exclude
// RUN @asserted
// ARG n = 5
// FAILS assertion at ASSERT : failed at element [6]: "n is too small"
// RUN @asserted
// ARG n = 8
cuda_tile.module @kernels {
  entry @uninitialised(%out: tile<ptr<i32>>) {
    %one = constant <i32: 1> : tile<i32>
    %mine = alloca num_elem = 2, alignment = 8 : tile<ptr<i32>>
    %next = offset %mine, %one : tile<ptr<i32>>, tile<i32> -> tile<ptr<i32>>
    %t0 = store_ptr_tko weak %mine, %one : tile<ptr<i32>>, tile<i32> -> token
    %back, %t1 = load_ptr_tko weak %mine token=%t0 : tile<ptr<i32>> -> tile<i32>, token
    %junk, %t2 = load_ptr_tko weak %next token=%t1 : tile<ptr<i32>> -> tile<i32>, token // JUNK
    %t3 = store_ptr_tko weak %out, %junk token=%t2 : tile<ptr<i32>>, tile<i32> -> token
    return
  }
  entry @divisible(%n: tile<i32>) {
    %m = assume div_by<16>, %n : tile<i32> // DIVISIBLE
    return
  }
  entry @bounded(%n: tile<i32>) {
    %m = assume bounded<0, ?>, %n : tile<i32> // BOUNDED
    return
  }
  entry @no_overflow(%n: tile<i32>) {
    %one = constant <i32: 1> : tile<i32>
    %m = addi %n, %one overflow<no_signed_wrap> : tile<i32> // OVERFLOW
    return
  }
  entry @asserted(%n: tile<i32>) {
    %i = iota : tile<8xi32>
    %row = reshape %n : tile<i32> -> tile<1xi32>
    %all = broadcast %row : tile<1xi32> -> tile<8xi32>
    %ok = cmpi less_than_or_equal %i, %all, signed : tile<8xi32> -> tile<8xi1>
    // The sixth element is the first one that is too large.
    assert %ok, "n is too small" : tile<8xi1> // ASSERT
    return
  }
}
