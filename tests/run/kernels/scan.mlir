// Inclusive scan over several blocks: each block reduces its part, waits until the previous block has published
// its prefix, and publishes the prefix for the next.
// RUN grid=8
// ARG x = random:512xi32:1
// ARG y = zeros:512xi32
// ARG sums = zeros:9xi32
// ARG flags : i32 = np.arange(9) == 0
// EXPECT y = np.cumsum(x, dtype=np.int32)
// EXPECT sums = np.concatenate([[0], np.cumsum(x, dtype=np.int32)[63::64]])
// EXPECT flags = 1
!x = !cuda_tile.tensor_view<512xi32, strides=[1]>
!xv = !cuda_tile.partition_view<tile=(64), tensor_view<512xi32, strides=[1]>>
cuda_tile.module @kernels {
  entry @scan(%x: tile<ptr<i32>>, %y: tile<ptr<i32>>, %sums: tile<ptr<i32>>, %flags: tile<ptr<i32>>) {
    %i, %j, %z = get_tile_block_id : tile<i32>
    %one = constant <i32: 1> : tile<i32>
    %xt = make_tensor_view %x, shape = [512], strides = [1] : !x
    %xv = make_partition_view %xt : !xv
    %yt = make_tensor_view %y, shape = [512], strides = [1] : !x
    %yv = make_partition_view %yt : !xv
    %part, %t0 = load_view_tko weak %xv[%i] : !xv, tile<i32> -> tile<64xi32>, token
    %running = scan %part dim=0 reverse=false identities=[0 : i32] : tile<64xi32> -> tile<64xi32> (%u: tile<i32>, %v: tile<i32>) {
      %r = addi %u, %v : tile<i32>
      yield %r : tile<i32>
    }
    %total = reduce %part dim=0 identities=[0 : i32] : tile<64xi32> -> tile<i32> (%u: tile<i32>, %v: tile<i32>) {
      %r = addi %u, %v : tile<i32>
      yield %r : tile<i32>
    }
    %flag = offset %flags, %i : tile<ptr<i32>>, tile<i32> -> tile<ptr<i32>>
    %sum = offset %sums, %i : tile<ptr<i32>>, tile<i32> -> tile<ptr<i32>>
    %ready = loop : token {
      %seen, %t1 = load_ptr_tko acquire device %flag : tile<ptr<i32>> -> tile<i32>, token
      %set = cmpi equal %seen, %one, signed : tile<i32> -> tile<i1>
      if %set {
        break %t1 : token
      }
      continue
    }
    %before, %t2 = load_ptr_tko weak %sum token=%ready : tile<ptr<i32>> -> tile<i32>, token
    %after = addi %before, %total : tile<i32>
    %next = offset %sum, %one : tile<ptr<i32>>, tile<i32> -> tile<ptr<i32>>
    %nextflag = offset %flag, %one : tile<ptr<i32>>, tile<i32> -> tile<ptr<i32>>
    %t3 = store_ptr_tko weak %next, %after : tile<ptr<i32>>, tile<i32> -> token
    %t4 = store_ptr_tko release device %nextflag, %one token=%t3 : tile<ptr<i32>>, tile<i32> -> token
    %br = reshape %before : tile<i32> -> tile<1xi32>
    %bs = broadcast %br : tile<1xi32> -> tile<64xi32>
    %result = addi %running, %bs : tile<64xi32>
    %t5 = store_view_tko weak %result, %yv[%i] : tile<64xi32>, !xv, tile<i32> -> token
    return
  }
}
