// The lifetime of scratch memory ends with its region; it belongs to its block.
// RUN @outside
// ARG out = zeros:1xi32
// FAILS out_of_bounds at OUTSIDE : where there is no memory
// RUN @inside
// ARG out = zeros:1xi32
// EXPECT out = 7
// RUN @of_another_block grid=2
// ARG shared = zeros:1xi64
// ONLY checked
// FAILS out_of_bounds at FOREIGN : which belongs to another block
cuda_tile.module @kernels {
  entry @outside(%out: tile<ptr<i32>>) {
    %yes = constant <i1: true> : tile<i1>
    %seven = constant <i32: 7> : tile<i32>
    %kept, %before = if %yes -> (tile<ptr<i32>>, token) {
      %mine = alloca num_elem = 1, alignment = 4 : tile<ptr<i32>>
      %t0 = store_ptr_tko weak %mine, %seven : tile<ptr<i32>>, tile<i32> -> token
      yield %mine, %t0 : tile<ptr<i32>>, token
    } else {
      %t = make_token : token
      yield %out, %t : tile<ptr<i32>>, token
    }
    %seen, %t1 = load_ptr_tko weak %kept token=%before : tile<ptr<i32>> -> tile<i32>, token // OUTSIDE
    return
  }
  entry @inside(%out: tile<ptr<i32>>) {
    %yes = constant <i1: true> : tile<i1>
    %seven = constant <i32: 7> : tile<i32>
    %mine = alloca num_elem = 1, alignment = 4 : tile<ptr<i32>>
    %before = if %yes -> (token) {
      %t0 = store_ptr_tko weak %mine, %seven : tile<ptr<i32>>, tile<i32> -> token
      yield %t0 : token
    } else {
      %t = make_token : token
      yield %t : token
    }
    %seen, %t1 = load_ptr_tko weak %mine token=%before : tile<ptr<i32>> -> tile<i32>, token
    %t2 = store_ptr_tko weak %out, %seen : tile<ptr<i32>>, tile<i32> -> token
    return
  }
  // One block sends the address of its memory to the other, and waits until that has read it.
  entry @of_another_block(%shared: tile<ptr<i64>>) {
    %x, %y, %z = get_tile_block_id : tile<i32>
    %zero = constant <i32: 0> : tile<i32>
    %null = constant <i64: 0> : tile<i64>
    %one = constant <i64: 1> : tile<i64>
    %first = cmpi equal %x, %zero, signed : tile<i32> -> tile<i1>
    if %first {
      %mine = alloca num_elem = 1, alignment = 8 : tile<ptr<i64>>
      %t0 = store_ptr_tko weak %mine, %one : tile<ptr<i64>>, tile<i64> -> token
      %address = ptr_to_int %mine : tile<ptr<i64>> -> tile<i64>
      %t1 = store_ptr_tko release device %shared, %address token=%t0 : tile<ptr<i64>>, tile<i64> -> token
      loop {
        %answer, %t2 = load_ptr_tko acquire device %shared token=%t1 : tile<ptr<i64>> -> tile<i64>, token
        %done = cmpi equal %answer, %one, signed : tile<i64> -> tile<i1>
        if %done {
          break
        }
        continue
      }
    } else {
      %address, %there = loop : tile<i64>, token {
        %seen, %t3 = load_ptr_tko acquire device %shared : tile<ptr<i64>> -> tile<i64>, token
        %told = cmpi not_equal %seen, %null, signed : tile<i64> -> tile<i1>
        if %told {
          break %seen, %t3 : tile<i64>, token
        }
        continue
      }
      %theirs = int_to_ptr %address : tile<i64> -> tile<ptr<i64>>
      %found, %t4 = load_ptr_tko weak %theirs token=%there : tile<ptr<i64>> -> tile<i64>, token // FOREIGN
      %t5 = store_ptr_tko release device %shared, %found token=%t4 : tile<ptr<i64>>, tile<i64> -> token
    }
    return
  }
}
