// C = A · B for row-major f16 matrices with f32 accumulation: one 128 x 128 tile of C per block.
cuda_tile.module @kernels {
  entry @gemm(%a: tile<ptr<f16>>, %b: tile<ptr<f16>>, %c: tile<ptr<f32>>,
              %m: tile<i32>, %n: tile<i32>, %k: tile<i32>) optimization_hints=<sm_90 = {num_cta_in_cga = 1}> {
    %a_base = assume div_by<16>, %a : tile<ptr<f16>>  // The bases are 16-byte aligned.
    %b_base = assume div_by<16>, %b : tile<ptr<f16>>
    %c_base = assume div_by<16>, %c : tile<ptr<f32>>
    %some_rows = assume bounded<0, ?>, %m : tile<i32>  // Extents are below 2^31, as TMA needs it,
    %some_columns = assume bounded<0, ?>, %n : tile<i32>
    %some_depth = assume bounded<0, ?>, %k : tile<i32>
    %rows = assume div_by<16>, %some_rows : tile<i32>  // and divisible by 16.
    %columns = assume div_by<16>, %some_columns : tile<i32>
    %depth = assume div_by<16>, %some_depth : tile<i32>
    %a_view = make_tensor_view %a_base, shape = [%rows, %depth], strides = [%depth, 1] : tile<i32> -> tensor_view<?x?xf16, strides=[?,1]>
    %b_view = make_tensor_view %b_base, shape = [%depth, %columns], strides = [%columns, 1] : tile<i32> -> tensor_view<?x?xf16, strides=[?,1]>
    %c_view = make_tensor_view %c_base, shape = [%rows, %columns], strides = [%columns, 1] : tile<i32> -> tensor_view<?x?xf32, strides=[?,1]>
    %a_tiles = make_partition_view %a_view : partition_view<tile=(128x64), padding_value = zero, tensor_view<?x?xf16, strides=[?,1]>>
    %b_tiles = make_partition_view %b_view : partition_view<tile=(64x128), padding_value = zero, tensor_view<?x?xf16, strides=[?,1]>>
    %c_tiles = make_partition_view %c_view : partition_view<tile=(128x128), tensor_view<?x?xf32, strides=[?,1]>>
    %i, %j, %unused = get_tile_block_id : tile<i32>
    %zero = constant <i32: 0> : tile<i32>
    %one = constant <i32: 1> : tile<i32>
    %step = constant <i32: 64> : tile<i32>
    %count = divi %depth, %step signed rounding<positive_inf> : tile<i32>
    %nothing = constant <f32: 0.0> : tile<128x128xf32>
    %sum = for %p in (%zero to %count, step %one) : tile<i32> iter_values(%acc = %nothing) -> (tile<128x128xf32>) {
      %x, %t0 = load_view_tko weak %a_tiles[%i, %p] : partition_view<tile=(128x64), padding_value = zero, tensor_view<?x?xf16, strides=[?,1]>>, tile<i32> -> tile<128x64xf16>, token
      %y, %t1 = load_view_tko weak %b_tiles[%p, %j] : partition_view<tile=(64x128), padding_value = zero, tensor_view<?x?xf16, strides=[?,1]>>, tile<i32> -> tile<64x128xf16>, token
      %next = mmaf %x, %y, %acc : tile<128x64xf16>, tile<64x128xf16>, tile<128x128xf32>
      continue %next : tile<128x128xf32>
    }
    %t2 = store_view_tko weak %sum, %c_tiles[%i, %j] : tile<128x128xf32>, partition_view<tile=(128x128), tensor_view<?x?xf32, strides=[?,1]>>, tile<i32> -> token
    return
  }
}

// RUN grid=1
// ARG a = small:64x64xf16:1
// ARG b = small:64x64xf16:2
// ARG c = zeros:64x64xf32
// ARG m = 64
// ARG n = 64
// ARG k = 64
// EXPECT c = wide_f16(a) @ wide_f16(b)
