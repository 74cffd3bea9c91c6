// Two accesses to one address: in one block without a token between them, in two blocks, in one
// store; and the same with the order that makes them right.
// RUN @in_a_block
// ARG out = zeros:1xi32
// ONLY checked
// FAILS race at STORE or LOAD : races with another access to argument 0: no token orders them
// RUN @in_order
// ARG out = zeros:1xi32
// EXPECT out = 2
// RUN @between_blocks grid=2
// ARG out = zeros:1xi32
// ONLY checked
// FAILS race at SHARED : races with another access to argument 0
// RUN @strong grid=2
// ARG out = zeros:1xi32
// EXPECT out = 1
// RUN @in_a_store
// ARG out = zeros:1xi32
// ONLY checked
// FAILS race at TWICE : writes twice to one address
// RUN @message grid=2
// ARG flag = zeros:1xi32
// ARG data = zeros:1xi32
// ARG out = zeros:1xi32
// EXPECT out = 42
// RUN @message_without_order grid=2
// ARG flag = zeros:1xi32
// ARG data = zeros:1xi32
// ARG out = zeros:1xi32
// ONLY checked
// FAILS race at DATA or UNORDERED : races with another access to argument 1
cuda_tile.module @kernels {
  entry @in_a_block(%out: tile<ptr<i32>>) {
    %one = constant <i32: 1> : tile<i32>
    %t0 = make_token : token
    %t1 = store_ptr_tko weak %out, %one token=%t0 : tile<ptr<i32>>, tile<i32> -> token // STORE
    %seen, %t2 = load_ptr_tko weak %out token=%t0 : tile<ptr<i32>> -> tile<i32>, token // LOAD
    return
  }
  entry @in_order(%out: tile<ptr<i32>>) {
    %one = constant <i32: 1> : tile<i32>
    %t1 = store_ptr_tko weak %out, %one : tile<ptr<i32>>, tile<i32> -> token
    %seen, %t2 = load_ptr_tko weak %out token=%t1 : tile<ptr<i32>> -> tile<i32>, token
    %two = addi %seen, %one : tile<i32>
    %t3 = store_ptr_tko weak %out, %two token=%t2 : tile<ptr<i32>>, tile<i32> -> token
    return
  }
  entry @between_blocks(%out: tile<ptr<i32>>) {
    %one = constant <i32: 1> : tile<i32>
    %t = store_ptr_tko weak %out, %one : tile<ptr<i32>>, tile<i32> -> token // SHARED
    return
  }
  entry @strong(%out: tile<ptr<i32>>) {
    %one = constant <i32: 1> : tile<i32>
    %t = store_ptr_tko relaxed device %out, %one : tile<ptr<i32>>, tile<i32> -> token
    return
  }
  entry @in_a_store(%out: tile<ptr<i32>>) {
    %row = reshape %out : tile<ptr<i32>> -> tile<1xptr<i32>>
    %same = broadcast %row : tile<1xptr<i32>> -> tile<2xptr<i32>>
    %values = iota : tile<2xi32>
    // Both elements have one address.
    %t = store_ptr_tko weak %same, %values : tile<2xptr<i32>>, tile<2xi32> -> token // TWICE
    return
  }
  entry @message(%flag: tile<ptr<i32>>, %data: tile<ptr<i32>>, %out: tile<ptr<i32>>) {
    %x, %y, %z = get_tile_block_id : tile<i32>
    %zero = constant <i32: 0> : tile<i32>
    %one = constant <i32: 1> : tile<i32>
    %answer = constant <i32: 42> : tile<i32>
    %first = cmpi equal %x, %zero, signed : tile<i32> -> tile<i1>
    if %first {
      // Wait for the flag of the other block.
      %there = loop : token {
        %seen, %t0 = load_ptr_tko acquire device %flag : tile<ptr<i32>> -> tile<i32>, token
        %set = cmpi equal %seen, %one, signed : tile<i32> -> tile<i1>
        if %set {
          break %t0 : token
        }
        continue
      }
      %found, %t1 = load_ptr_tko weak %data token=%there : tile<ptr<i32>> -> tile<i32>, token
      %t2 = store_ptr_tko weak %out, %found token=%t1 : tile<ptr<i32>>, tile<i32> -> token
    } else {
      %t3 = store_ptr_tko weak %data, %answer : tile<ptr<i32>>, tile<i32> -> token
      %t4 = store_ptr_tko release device %flag, %one token=%t3 : tile<ptr<i32>>, tile<i32> -> token
    }
    return
  }
  entry @message_without_order(%flag: tile<ptr<i32>>, %data: tile<ptr<i32>>, %out: tile<ptr<i32>>) {
    %x, %y, %z = get_tile_block_id : tile<i32>
    %zero = constant <i32: 0> : tile<i32>
    %one = constant <i32: 1> : tile<i32>
    %first = cmpi equal %x, %zero, signed : tile<i32> -> tile<i1>
    if %first {
      // The load of the data is not ordered after that of the flag.
      %seen, %t0 = load_ptr_tko acquire device %flag : tile<ptr<i32>> -> tile<i32>, token
      %found, %t1 = load_ptr_tko weak %data : tile<ptr<i32>> -> tile<i32>, token // UNORDERED
    } else {
      %t3 = store_ptr_tko weak %data, %one : tile<ptr<i32>>, tile<i32> -> token // DATA
      %t4 = store_ptr_tko release device %flag, %one token=%t3 : tile<ptr<i32>>, tile<i32> -> token
    }
    return
  }
}
