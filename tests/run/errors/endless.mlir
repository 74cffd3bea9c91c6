// Endless loops: no block changes the value that they wait for.
// RUN @alone
// ARG flag = zeros:1xi32
// FAILS deadlock at ALONE : never ends: block (0, 0, 0) waits for memory that no block is left to change
// RUN @each_other grid=2
// ARG flags = zeros:2xi32
// FAILS deadlock at OTHER : waits for memory that no block is left to change
// RUN @nothing_to_wait_for
// FAILS deadlock at EMPTY : never ends
cuda_tile.module @kernels {
  entry @alone(%flag: tile<ptr<i32>>) {
    %zero = constant <i32: 0> : tile<i32>
    loop { // ALONE
      %seen, %t = load_ptr_tko acquire device %flag : tile<ptr<i32>> -> tile<i32>, token
      %set = cmpi not_equal %seen, %zero, signed : tile<i32> -> tile<i1>
      if %set {
        break
      }
      continue
    }
    return
  }
  // Each block sets its own flag only when it has seen the other's.
  entry @each_other(%flags: tile<ptr<i32>>) {
    %x, %y, %z = get_tile_block_id : tile<i32>
    %one = constant <i32: 1> : tile<i32>
    %other = xori %x, %one : tile<i32>
    %mine = offset %flags, %x : tile<ptr<i32>>, tile<i32> -> tile<ptr<i32>>
    %theirs = offset %flags, %other : tile<ptr<i32>>, tile<i32> -> tile<ptr<i32>>
    loop { // OTHER
      %seen, %t = load_ptr_tko acquire device %theirs : tile<ptr<i32>> -> tile<i32>, token
      %set = cmpi equal %seen, %one, signed : tile<i32> -> tile<i1>
      if %set {
        break
      }
      continue
    }
    %t1 = store_ptr_tko release device %mine, %one : tile<ptr<i32>>, tile<i32> -> token
    return
  }
  entry @nothing_to_wait_for() {
    %one = constant <i32: 1> : tile<i32>
    %r = loop iter_values(%i = %one) : tile<i32> -> tile<i32> { // EMPTY
      continue %i : tile<i32>
    }
    return
  }
}
