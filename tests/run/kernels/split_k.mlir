// C = A · B, where four blocks share a tile of C: each accumulates a part of K (split-K), and they add their parts one after the
// other, under a lock for the tile. The block that counts to zero is the first, and need not read C.
// RUN grid=2x2x4
// ARG a = small:32x64xf16:1
// ARG b = small:64x32xf16:2
// ARG c = ones:32x32xf32
// ARG locks = zeros:4xi32
// ARG counts = zeros:4xi32
// EXPECT c = np.float64(a) @ np.float64(b)
// EXPECT locks = 0
// EXPECT counts = 0
// RUN grid=2x2x4
// ARG a = random:32x64xf16:1
// ARG b = random:64x32xf16:2
// ARG c = ones:32x32xf32
// ARG locks = zeros:4xi32
// ARG counts = zeros:4xi32
// EXPECT c near a @ b
// EXPECT locks = 0
// EXPECT counts = 0
!a = !cuda_tile.tensor_view<32x64xf16, strides=[64,1]>
!av = !cuda_tile.partition_view<tile=(16x16), tensor_view<32x64xf16, strides=[64,1]>>
!b = !cuda_tile.tensor_view<64x32xf16, strides=[32,1]>
!bv = !cuda_tile.partition_view<tile=(16x16), tensor_view<64x32xf16, strides=[32,1]>>
!c = !cuda_tile.tensor_view<32x32xf32, strides=[32,1]>
!cv = !cuda_tile.partition_view<tile=(16x16), tensor_view<32x32xf32, strides=[32,1]>>
cuda_tile.module @kernels {
  entry @split_k(%a: tile<ptr<f16>>, %b: tile<ptr<f16>>, %c: tile<ptr<f32>>, %locks: tile<ptr<i32>>, %counts: tile<ptr<i32>>) {
    %i, %j, %k = get_tile_block_id : tile<i32>
    %zero = constant <i32: 0> : tile<i32>
    %one = constant <i32: 1> : tile<i32>
    %two = constant <i32: 2> : tile<i32>
    %parts = constant <i32: 4> : tile<i32>
    %at = make_tensor_view %a, shape = [32, 64], strides = [64, 1] : !a
    %av = make_partition_view %at : !av
    %bt = make_tensor_view %b, shape = [64, 32], strides = [32, 1] : !b
    %bv = make_partition_view %bt : !bv
    %ct = make_tensor_view %c, shape = [32, 32], strides = [32, 1] : !c
    %cv = make_partition_view %ct : !cv
    %init = constant <f32: 0.0> : tile<16x16xf32>
    %x, %t0 = load_view_tko weak %av[%i, %k] : !av, tile<i32> -> tile<16x16xf16>, token
    %y, %t1 = load_view_tko weak %bv[%k, %j] : !bv, tile<i32> -> tile<16x16xf16>, token
    %part = mmaf %x, %y, %init : tile<16x16xf16>, tile<16x16xf16>, tile<16x16xf32>
    %row = muli %i, %two : tile<i32>
    %tile = addi %row, %j : tile<i32>
    %lock = offset %locks, %tile : tile<ptr<i32>>, tile<i32> -> tile<ptr<i32>>
    %count = offset %counts, %tile : tile<ptr<i32>>, tile<i32> -> tile<ptr<i32>>
    %locked = loop : token {
      %seen, %t2 = atomic_cas_tko acquire device %lock, %zero, %one : tile<ptr<i32>>, tile<i32> -> tile<i32>, token
      %free = cmpi equal %seen, %zero, signed : tile<i32> -> tile<i1>
      if %free {
        break %t2 : token
      }
      continue
    }
    %done, %t3 = load_ptr_tko weak %count token=%locked : tile<ptr<i32>> -> tile<i32>, token
    %first = cmpi equal %done, %zero, signed : tile<i32> -> tile<i1>
    %stored = if %first -> (token) {
      %t4 = store_view_tko weak %part, %cv[%i, %j] token = %locked : tile<16x16xf32>, !cv, tile<i32> -> token
      yield %t4 : token
    } else {
      %before, %t4 = load_view_tko weak %cv[%i, %j] token = %locked : !cv, tile<i32> -> tile<16x16xf32>, token
      %sum = addf %before, %part : tile<16x16xf32>
      %t5 = store_view_tko weak %sum, %cv[%i, %j] token = %t4 : tile<16x16xf32>, !cv, tile<i32> -> token
      yield %t5 : token
    }
    %next = addi %done, %one : tile<i32>
    %round = remi %next, %parts signed : tile<i32>
    %t6 = store_ptr_tko weak %count, %round token=%t3 : tile<ptr<i32>>, tile<i32> -> token
    %all = join_tokens %stored, %t6 : token
    %old, %t7 = atomic_rmw_tko release device %lock, xchg, %zero token=%all : tile<ptr<i32>>, tile<i32> -> tile<i32>, token
    return
  }
}
