// Tiles of flags: a block releases and acquires several by one operation, between two fences.
// RUN grid=4
// ARG x = small:4x512xf32:1
// ARG rows = zeros:4x512xf32
// ARG flags = zeros:512xi32
// ARG out = zeros:4x512xf32
// EXPECT rows = x
// EXPECT flags = 4
// EXPECT out = x[[1, 2, 3, 0]]
!line = !cuda_tile.partition_view<tile=(1x512), tensor_view<4x512xf32, strides=[512,1]>>
cuda_tile.module @kernels {
  entry @kernel(%x: tile<ptr<f32>>, %rows: tile<ptr<f32>>, %flags: tile<ptr<i32>>, %out: tile<ptr<f32>>) {
    %b, %y, %z = get_tile_block_id : tile<i32>
    %zero = constant <i32: 0> : tile<i32>
    %one = constant <i32: 1> : tile<i32>
    %four = constant <i32: 4> : tile<i32>
    %zeros = constant <i32: 0> : tile<512xi32>
    %ones = constant <i32: 1> : tile<512xi32>
    %xt = make_tensor_view %x, shape = [4, 512], strides = [512, 1] : tensor_view<4x512xf32, strides=[512,1]>
    %xv = make_partition_view %xt : !line
    %rt = make_tensor_view %rows, shape = [4, 512], strides = [512, 1] : tensor_view<4x512xf32, strides=[512,1]>
    %rv = make_partition_view %rt : !line
    %ot = make_tensor_view %out, shape = [4, 512], strides = [512, 1] : tensor_view<4x512xf32, strides=[512,1]>
    %ov = make_partition_view %ot : !line
    %fr = reshape %flags : tile<ptr<i32>> -> tile<1xptr<i32>>
    %fb = broadcast %fr : tile<1xptr<i32>> -> tile<512xptr<i32>>
    %i = iota : tile<512xi32>
    %f = offset %fb, %i : tile<512xptr<i32>>, tile<512xi32> -> tile<512xptr<i32>>
    %own, %t0 = load_view_tko weak %xv[%b, %zero] : !line, tile<i32> -> tile<1x512xf32>, token
    %t1 = store_view_tko weak %own, %rv[%b, %zero] : tile<1x512xf32>, !line, tile<i32> -> token
    %old, %t2 = atomic_rmw_tko release device %f, add, %ones token=%t1 : tile<512xptr<i32>>, tile<512xi32> -> tile<512xi32>, token
    // The largest of a flag and zero is the flag.
    %seen = loop : token {
      %now, %t3 = atomic_rmw_tko acquire device %f, max, %zeros token=%t2 : tile<512xptr<i32>>, tile<512xi32> -> tile<512xi32>, token
      %least = reduce %now dim=0 identities=[2147483647 : i32] : tile<512xi32> -> tile<i32> (%a: tile<i32>, %c: tile<i32>) {
        %less = mini %a, %c signed : tile<i32>
        yield %less : tile<i32>
      }
      %done = cmpi equal %least, %four, signed : tile<i32> -> tile<i1>
      if %done {
        break %t3 : token
      }
      continue
    }
    %after = addi %b, %one : tile<i32>
    %next = remi %after, %four signed : tile<i32>
    %theirs, %t4 = load_view_tko weak %rv[%next, %zero] token=%seen : !line, tile<i32> -> tile<1x512xf32>, token
    %t5 = store_view_tko weak %theirs, %ov[%b, %zero] : tile<1x512xf32>, !line, tile<i32> -> token
    return
  }
}
