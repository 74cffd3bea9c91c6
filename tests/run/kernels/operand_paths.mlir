// Dots whose operands are computed from loaded tiles, gathered, or ordered by tokens, in pipelines. The trip count is an argument.
// RUN @scaled_a grid=2
// ARG a = small:72x272xf16:1
// ARG b = small:272x16xf16:2
// ARG s = 3.0
// ARG c = ones:72x16xf32
// ARG n = 5
// EXPECT c = 3 * np.float64(a) @ np.float64(b)
// RUN @scaled_a grid=2
// ARG a = small:72x272xf16:1
// ARG b = small:272x16xf16:2
// ARG s = 3.0
// ARG c = ones:72x16xf32
// ARG n = 0
// EXPECT c = 3 * np.float64(a)[:, :0] @ np.float64(b)[:0]
// RUN @scaled_a grid=2
// ARG a = small:72x272xf16:1
// ARG b = small:272x16xf16:2
// ARG s = 3.0
// ARG c = ones:72x16xf32
// ARG n = 1
// EXPECT c = 3 * np.float64(a)[:, :64] @ np.float64(b)[:64]
// RUN @scaled_a grid=2
// ARG a = random:72x272xf16:1
// ARG b = random:272x16xf16:2
// ARG s = 0.7
// ARG c = ones:72x16xf32
// ARG n = 5
// EXPECT c near f32(a * f16(s)) @ f32(b)
// RUN @scaled_rows grid=2
// ARG a = small:72x272xf16:1
// ARG b = small:272x16xf16:2
// ARG s = small:72xf16:3
// ARG c = ones:72x16xf32
// ARG n = 5
// EXPECT c = (np.float64(a) * np.float64(s)[:, None]) @ np.float64(b)
// RUN @scaled_rows grid=2
// ARG a = small:72x272xf16:1
// ARG b = small:272x16xf16:2
// ARG s = small:72xf16:3
// ARG c = ones:72x16xf32
// ARG n = 0
// EXPECT c = (np.float64(a) * np.float64(s)[:, None])[:, :0] @ np.float64(b)[:0]
// RUN @scaled_rows grid=2
// ARG a = small:72x272xf16:1
// ARG b = small:272x16xf16:2
// ARG s = small:72xf16:3
// ARG c = ones:72x16xf32
// ARG n = 1
// EXPECT c = (np.float64(a) * np.float64(s)[:, None])[:, :64] @ np.float64(b)[:64]
// RUN @scaled_columns grid=2
// ARG a = small:72x272xf16:1
// ARG b = small:272x16xf16:2
// ARG s = small:272xf16:3
// ARG c = ones:72x16xf32
// ARG n = 5
// EXPECT c = (np.float64(a) * np.float64(s)) @ np.float64(b)
// RUN @scaled_columns grid=2
// ARG a = small:72x272xf16:1
// ARG b = small:272x16xf16:2
// ARG s = small:272xf16:3
// ARG c = ones:72x16xf32
// ARG n = 0
// EXPECT c = (np.float64(a) * np.float64(s))[:, :0] @ np.float64(b)[:0]
// RUN @scaled_columns grid=2
// ARG a = small:72x272xf16:1
// ARG b = small:272x16xf16:2
// ARG s = small:272xf16:3
// ARG c = ones:72x16xf32
// ARG n = 1
// EXPECT c = (np.float64(a) * np.float64(s))[:, :64] @ np.float64(b)[:64]
// RUN @m_major grid=2
// ARG a = small:272x72xf16:1
// ARG b = small:272x16xf16:2
// ARG c = ones:72x16xf32
// ARG n = 5
// EXPECT c = 2 * np.float64(a).T @ np.float64(b)
// RUN @m_major grid=2
// ARG a = small:272x72xf16:1
// ARG b = small:272x16xf16:2
// ARG c = ones:72x16xf32
// ARG n = 0
// EXPECT c = 2 * np.float64(a).T[:, :0] @ np.float64(b)[:0]
// RUN @m_major grid=2
// ARG a = small:272x72xf16:1
// ARG b = small:272x16xf16:2
// ARG c = ones:72x16xf32
// ARG n = 1
// EXPECT c = 2 * np.float64(a).T[:, :64] @ np.float64(b)[:64]
// RUN @scaled_b grid=2
// ARG a = small:72x272xf16:1
// ARG b = small:272x64xf16:2
// ARG s = 3.0
// ARG c = ones:72x64xf32
// ARG n = 5
// EXPECT c = np.float64(a) @ (3 * np.float64(b))
// RUN @scaled_b grid=2
// ARG a = small:72x272xf16:1
// ARG b = small:272x64xf16:2
// ARG s = 3.0
// ARG c = ones:72x64xf32
// ARG n = 0
// EXPECT c = np.float64(a)[:, :0] @ (3 * np.float64(b)[:0])
// RUN @scaled_b grid=2
// ARG a = small:72x272xf16:1
// ARG b = small:272x64xf16:2
// ARG s = 3.0
// ARG c = ones:72x64xf32
// ARG n = 1
// EXPECT c = np.float64(a)[:, :64] @ (3 * np.float64(b)[:64])
// RUN @dequantized_a grid=2
// ARG a = small:72x272xi8:1
// ARG b = small:272x16xf16:2
// ARG c = ones:72x16xf32
// ARG n = 5
// EXPECT c = np.float64(a) @ np.float64(b)
// RUN @dequantized_a grid=2
// ARG a = small:72x272xi8:1
// ARG b = small:272x16xf16:2
// ARG c = ones:72x16xf32
// ARG n = 0
// EXPECT c = np.float64(a)[:, :0] @ np.float64(b)[:0]
// RUN @dequantized_a grid=2
// ARG a = small:72x272xi8:1
// ARG b = small:272x16xf16:2
// ARG c = ones:72x16xf32
// ARG n = 1
// EXPECT c = np.float64(a)[:, :64] @ np.float64(b)[:64]
// RUN @dequantized_b grid=2
// ARG a = small:72x272xf16:1
// ARG b = small:272x64xi8:2
// ARG c = ones:72x64xf32
// ARG n = 5
// EXPECT c = np.float64(a) @ np.float64(b)
// RUN @dequantized_b grid=2
// ARG a = small:72x272xf16:1
// ARG b = small:272x64xi8:2
// ARG c = ones:72x64xf32
// ARG n = 0
// EXPECT c = np.float64(a)[:, :0] @ np.float64(b)[:0]
// RUN @dequantized_b grid=2
// ARG a = small:72x272xf16:1
// ARG b = small:272x64xi8:2
// ARG c = ones:72x64xf32
// ARG n = 1
// EXPECT c = np.float64(a)[:, :64] @ np.float64(b)[:64]
// RUN @tf32 grid=3
// ARG a = small:72x272xf32:1
// ARG b = small:272x16xf32:2
// ARG c = ones:72x16xf32
// ARG n = 5
// EXPECT c = np.float64(a) @ np.float64(b)
// RUN @tf32 grid=3
// ARG a = small:72x272xf32:1
// ARG b = small:272x16xf32:2
// ARG c = ones:72x16xf32
// ARG n = 0
// EXPECT c = np.float64(a)[:, :0] @ np.float64(b)[:0]
// RUN @tf32 grid=3
// ARG a = small:72x272xf32:1
// ARG b = small:272x16xf32:2
// ARG c = ones:72x16xf32
// ARG n = 1
// EXPECT c = np.float64(a)[:, :64] @ np.float64(b)[:64]
// RUN @tf32 grid=3
// ARG a = random:72x272xf32:1
// ARG b = random:272x16xf32:2
// ARG c = ones:72x16xf32
// ARG n = 5
// EXPECT c near tf32(a) @ tf32(b)
// RUN @gathered
// ARG a = small:72x272xf16:1
// ARG b = small:272x16xf16:2
// ARG ids : i32 = np.arange(64) * 7 % 90
// ARG c = ones:64x16xf32
// ARG n = 5
// EXPECT c = np.pad(np.float64(a), [(0, 18), (0, 0)])[ids] @ np.float64(b)
// RUN @gathered
// ARG a = small:72x272xf16:1
// ARG b = small:272x16xf16:2
// ARG ids : i32 = np.arange(64) * 7 % 90
// ARG c = ones:64x16xf32
// ARG n = 0
// EXPECT c = np.pad(np.float64(a), [(0, 18), (0, 0)])[ids][:, :0] @ np.float64(b)[:0]
// RUN @gathered
// ARG a = small:72x272xf16:1
// ARG b = small:272x16xf16:2
// ARG ids : i32 = np.arange(64) * 7 % 90
// ARG c = ones:64x16xf32
// ARG n = 1
// EXPECT c = np.pad(np.float64(a), [(0, 18), (0, 0)])[ids][:, :64] @ np.float64(b)[:64]
// RUN @gathered_view
// ARG a = small:72x272xf16:1
// ARG b = small:272x16xf16:2
// ARG ids : i32 = np.arange(64) * 7 % 90
// ARG c = ones:64x16xf32
// ARG n = 5
// EXPECT c = np.pad(np.float64(a), [(0, 18), (0, 0)])[ids] @ np.float64(b)
// RUN @gathered_view
// ARG a = small:72x272xf16:1
// ARG b = small:272x16xf16:2
// ARG ids : i32 = np.arange(64) * 7 % 90
// ARG c = ones:64x16xf32
// ARG n = 0
// EXPECT c = np.pad(np.float64(a), [(0, 18), (0, 0)])[ids][:, :0] @ np.float64(b)[:0]
// RUN @gathered_view
// ARG a = small:72x272xf16:1
// ARG b = small:272x16xf16:2
// ARG ids : i32 = np.arange(64) * 7 % 90
// ARG c = ones:64x16xf32
// ARG n = 1
// EXPECT c = np.pad(np.float64(a), [(0, 18), (0, 0)])[ids][:, :64] @ np.float64(b)[:64]
// RUN @overwrites_a
// ARG a = small:64x64xf16:1
// ARG b = small:64x64xf16:2
// ARG n = 2
// EXPECT a = np.float64(a) @ np.float64(b)
// RUN @overwrites_a
// ARG a = small:64x64xf16:1
// ARG b = small:64x64xf16:2
// ARG n = 0
// EXPECT a = np.zeros((64, 64))
// RUN @overwrites_a
// ARG a = small:64x64xf16:1
// ARG b = small:64x64xf16:2
// ARG n = 1
// EXPECT a = np.float64(a)[:, :32] @ np.float64(b)[:32]
// RUN @unaligned_a grid=2
// ARG a = small:72x271xf16:1
// ARG b = small:272x16xf16:2
// ARG c = ones:72x16xf32
// ARG n = 5
// EXPECT c = np.float64(a)[:, :271] @ np.float64(b)[:271]
// RUN @unaligned_a grid=2
// ARG a = small:72x271xf16:1
// ARG b = small:272x16xf16:2
// ARG c = ones:72x16xf32
// ARG n = 4
// EXPECT c = np.float64(a)[:, :256] @ np.float64(b)[:256]
// RUN @unaligned_a grid=2
// ARG a = small:72x271xf16:1
// ARG b = small:272x16xf16:2
// ARG c = ones:72x16xf32
// ARG n = 1
// EXPECT c = np.float64(a)[:, :64] @ np.float64(b)[:64]
// RUN @unaligned_a grid=2
// ARG a = small:72x271xf16:1
// ARG b = small:272x16xf16:2
// ARG c = ones:72x16xf32
// ARG n = 0
// EXPECT c = np.float64(a)[:, :0] @ np.float64(b)[:0]
// RUN @unaligned grid=2
// ARG a = small:72x273xf16:1
// ARG b = small:271x17xf16:2
// ARG c = ones:72x16xf32
// ARG n = 5
// EXPECT c = np.float64(a)[:, :271] @ np.float64(b)[:271, :16]
// RUN @unaligned grid=2
// ARG a = small:72x273xf16:1
// ARG b = small:271x17xf16:2
// ARG c = ones:72x16xf32
// ARG n = 1
// EXPECT c = np.float64(a)[:, :64] @ np.float64(b)[:64, :16]
// RUN @unaligned grid=2
// ARG a = small:72x273xf16:1
// ARG b = small:271x17xf16:2
// ARG c = ones:72x16xf32
// ARG n = 0
// EXPECT c = np.float64(a)[:, :0] @ np.float64(b)[:0, :16]
// RUN @padded grid=2
// ARG a = small:72x271xf16:1
// ARG b = small:271x16xf16:2
// ARG c = ones:72x16xf32
// ARG n = 5
// EXPECT c = np.pad(np.float64(a), [(0, 0), (0, 49)], constant_values=np.inf) @ np.pad(np.float64(b), [(0, 49), (0, 0)], constant_values=-np.inf)
// RUN @padded grid=2
// ARG a = small:72x271xf16:1
// ARG b = small:271x16xf16:2
// ARG c = ones:72x16xf32
// ARG n = 4
// EXPECT c = np.float64(a)[:, :256] @ np.float64(b)[:256]
// RUN @padded grid=2
// ARG a = small:72x271xf16:1
// ARG b = small:271x16xf16:2
// ARG c = ones:72x16xf32
// ARG n = 1
// EXPECT c = np.float64(a)[:, :64] @ np.float64(b)[:64]
// RUN @padded grid=2
// ARG a = small:72x271xf16:1
// ARG b = small:271x16xf16:2
// ARG c = ones:72x16xf32
// ARG n = 0
// EXPECT c = np.float64(a)[:, :0] @ np.float64(b)[:0]
!a_odd = !cuda_tile.tensor_view<72x271xf16, strides=[271,1]>
!a_oddv = !cuda_tile.partition_view<tile=(64x64), padding_value = zero, tensor_view<72x271xf16, strides=[271,1]>>
!a_infv = !cuda_tile.partition_view<tile=(64x64), padding_value = pos_inf, tensor_view<72x271xf16, strides=[271,1]>>
!a_273 = !cuda_tile.tensor_view<72x271xf16, strides=[273,1]>
!a_273v = !cuda_tile.partition_view<tile=(64x64), padding_value = zero, tensor_view<72x271xf16, strides=[273,1]>>
!b_odd = !cuda_tile.tensor_view<271x16xf16, strides=[17,1]>
!b_oddv = !cuda_tile.partition_view<tile=(64x16), padding_value = zero, tensor_view<271x16xf16, strides=[17,1]>>
!b_271 = !cuda_tile.tensor_view<271x16xf16, strides=[16,1]>
!b_infv = !cuda_tile.partition_view<tile=(64x16), padding_value = neg_inf, tensor_view<271x16xf16, strides=[16,1]>>
!a_f16 = !cuda_tile.tensor_view<72x272xf16, strides=[272,1]>
!a_f16v = !cuda_tile.partition_view<tile=(64x64), padding_value = zero, tensor_view<72x272xf16, strides=[272,1]>>
!b_f16 = !cuda_tile.tensor_view<272x16xf16, strides=[16,1]>
!b_f16v = !cuda_tile.partition_view<tile=(64x16), padding_value = zero, tensor_view<272x16xf16, strides=[16,1]>>
!c = !cuda_tile.tensor_view<72x16xf32, strides=[16,1]>
!cv = !cuda_tile.partition_view<tile=(64x16), tensor_view<72x16xf32, strides=[16,1]>>
!rows = !cuda_tile.tensor_view<72xf16, strides=[1]>
!rowsv = !cuda_tile.partition_view<tile=(64), padding_value = zero, tensor_view<72xf16, strides=[1]>>
!columns = !cuda_tile.tensor_view<272xf16, strides=[1]>
!columnsv = !cuda_tile.partition_view<tile=(64), padding_value = zero, tensor_view<272xf16, strides=[1]>>
!a_m_major = !cuda_tile.tensor_view<72x272xf16, strides=[1,72]>
!a_m_majorv = !cuda_tile.partition_view<tile=(64x64), padding_value = zero, tensor_view<72x272xf16, strides=[1,72]>>
!b_wide = !cuda_tile.tensor_view<272x64xf16, strides=[64,1]>
!b_widev = !cuda_tile.partition_view<tile=(64x64), padding_value = zero, tensor_view<272x64xf16, strides=[64,1]>>
!c_64x64 = !cuda_tile.tensor_view<72x64xf32, strides=[64,1]>
!c_64x64v = !cuda_tile.partition_view<tile=(64x64), tensor_view<72x64xf32, strides=[64,1]>>
!a_i8 = !cuda_tile.tensor_view<72x272xi8, strides=[272,1]>
!a_i8v = !cuda_tile.partition_view<tile=(64x64), padding_value = zero, tensor_view<72x272xi8, strides=[272,1]>>
!b_i8 = !cuda_tile.tensor_view<272x64xi8, strides=[64,1]>
!b_i8v = !cuda_tile.partition_view<tile=(64x64), padding_value = zero, tensor_view<272x64xi8, strides=[64,1]>>
!a_f32 = !cuda_tile.tensor_view<72x272xf32, strides=[272,1]>
!a_f32v = !cuda_tile.partition_view<tile=(32x64), padding_value = zero, tensor_view<72x272xf32, strides=[272,1]>>
!b_f32 = !cuda_tile.tensor_view<272x16xf32, strides=[16,1]>
!b_f32v = !cuda_tile.partition_view<tile=(64x16), padding_value = zero, tensor_view<272x16xf32, strides=[16,1]>>
!c_32x16 = !cuda_tile.tensor_view<72x16xf32, strides=[16,1]>
!c_32x16v = !cuda_tile.partition_view<tile=(32x16), tensor_view<72x16xf32, strides=[16,1]>>
!ids = !cuda_tile.tensor_view<64xi32, strides=[1]>
!idsv = !cuda_tile.partition_view<tile=(64), tensor_view<64xi32, strides=[1]>>
!c_gathered = !cuda_tile.tensor_view<64x16xf32, strides=[16,1]>
!c_gatheredv = !cuda_tile.partition_view<tile=(64x16), tensor_view<64x16xf32, strides=[16,1]>>
!a_gather = !cuda_tile.gather_scatter_view<tile=(64x64), padding_value = zero, tensor_view<72x272xf16, strides=[272,1]>, sparse_dim=0>
!square = !cuda_tile.tensor_view<64x64xf16, strides=[64,1]>
!squarev = !cuda_tile.partition_view<tile=(64x32), tensor_view<64x64xf16, strides=[64,1]>>
!wholev = !cuda_tile.partition_view<tile=(64x64), tensor_view<64x64xf16, strides=[64,1]>>
!b_square = !cuda_tile.tensor_view<64x64xf16, strides=[64,1]>
!b_squarev = !cuda_tile.partition_view<tile=(32x64), tensor_view<64x64xf16, strides=[64,1]>>
cuda_tile.module @kernels {
  // wgmma takes A from registers, where it was scaled.
  entry @scaled_a(%ap: tile<ptr<f16>>, %bp: tile<ptr<f16>>, %s: tile<f16>, %cp: tile<ptr<f32>>, %n: tile<i32>) {
    %i, %j, %z = get_tile_block_id : tile<i32>
    %zero = constant <i32: 0> : tile<i32>
    %one = constant <i32: 1> : tile<i32>
    %init = constant <f32: 0.0> : tile<64x16xf32>
    %a16 = assume div_by<16>, %ap : tile<ptr<f16>>
    %b16 = assume div_by<16>, %bp : tile<ptr<f16>>
    %at = make_tensor_view %a16, shape = [72, 272], strides = [272, 1] : !a_f16
    %av = make_partition_view %at : !a_f16v
    %bt = make_tensor_view %b16, shape = [272, 16], strides = [16, 1] : !b_f16
    %bv = make_partition_view %bt : !b_f16v
    %ct = make_tensor_view %cp, shape = [72, 16], strides = [16, 1] : !c
    %cv = make_partition_view %ct : !cv
    %s1 = reshape %s : tile<f16> -> tile<1x1xf16>
    %scales = broadcast %s1 : tile<1x1xf16> -> tile<64x64xf16>
    %sum = for %k in (%zero to %n, step %one) : tile<i32> iter_values(%acc = %init) -> (tile<64x16xf32>) {
      %x, %t0 = load_view_tko weak %av[%i, %k] : !a_f16v, tile<i32> -> tile<64x64xf16>, token
      %y, %t1 = load_view_tko weak %bv[%k, %j] : !b_f16v, tile<i32> -> tile<64x16xf16>, token
      %u = mulf %x, %scales : tile<64x64xf16>
      %next = mmaf %u, %y, %acc : tile<64x64xf16>, tile<64x16xf16>, tile<64x16xf32>
      continue %next : tile<64x16xf32>
    }
    %t = store_view_tko weak %sum, %cv[%i, %j] : tile<64x16xf32>, !cv, tile<i32> -> token
    return
  }
  // The rows of A have scales, which are loaded before the loop.
  entry @scaled_rows(%ap: tile<ptr<f16>>, %bp: tile<ptr<f16>>, %sp: tile<ptr<f16>>, %cp: tile<ptr<f32>>, %n: tile<i32>) {
    %i, %j, %z = get_tile_block_id : tile<i32>
    %zero = constant <i32: 0> : tile<i32>
    %one = constant <i32: 1> : tile<i32>
    %init = constant <f32: 0.0> : tile<64x16xf32>
    %a16 = assume div_by<16>, %ap : tile<ptr<f16>>
    %b16 = assume div_by<16>, %bp : tile<ptr<f16>>
    %at = make_tensor_view %a16, shape = [72, 272], strides = [272, 1] : !a_f16
    %av = make_partition_view %at : !a_f16v
    %bt = make_tensor_view %b16, shape = [272, 16], strides = [16, 1] : !b_f16
    %bv = make_partition_view %bt : !b_f16v
    %ct = make_tensor_view %cp, shape = [72, 16], strides = [16, 1] : !c
    %cv = make_partition_view %ct : !cv
    %st = make_tensor_view %sp, shape = [72], strides = [1] : !rows
    %sv = make_partition_view %st : !rowsv
    %s, %t2 = load_view_tko weak %sv[%i] : !rowsv, tile<i32> -> tile<64xf16>, token
    %s1 = reshape %s : tile<64xf16> -> tile<64x1xf16>
    %scales = broadcast %s1 : tile<64x1xf16> -> tile<64x64xf16>
    %sum = for %k in (%zero to %n, step %one) : tile<i32> iter_values(%acc = %init) -> (tile<64x16xf32>) {
      %x, %t0 = load_view_tko weak %av[%i, %k] : !a_f16v, tile<i32> -> tile<64x64xf16>, token
      %y, %t1 = load_view_tko weak %bv[%k, %j] : !b_f16v, tile<i32> -> tile<64x16xf16>, token
      %u = mulf %x, %scales : tile<64x64xf16>
      %next = mmaf %u, %y, %acc : tile<64x64xf16>, tile<64x16xf16>, tile<64x16xf32>
      continue %next : tile<64x16xf32>
    }
    %t = store_view_tko weak %sum, %cv[%i, %j] : tile<64x16xf32>, !cv, tile<i32> -> token
    return
  }
  // The columns of A have scales, which are loaded in the loop.
  entry @scaled_columns(%ap: tile<ptr<f16>>, %bp: tile<ptr<f16>>, %sp: tile<ptr<f16>>, %cp: tile<ptr<f32>>, %n: tile<i32>) {
    %i, %j, %z = get_tile_block_id : tile<i32>
    %zero = constant <i32: 0> : tile<i32>
    %one = constant <i32: 1> : tile<i32>
    %init = constant <f32: 0.0> : tile<64x16xf32>
    %a16 = assume div_by<16>, %ap : tile<ptr<f16>>
    %b16 = assume div_by<16>, %bp : tile<ptr<f16>>
    %at = make_tensor_view %a16, shape = [72, 272], strides = [272, 1] : !a_f16
    %av = make_partition_view %at : !a_f16v
    %bt = make_tensor_view %b16, shape = [272, 16], strides = [16, 1] : !b_f16
    %bv = make_partition_view %bt : !b_f16v
    %ct = make_tensor_view %cp, shape = [72, 16], strides = [16, 1] : !c
    %cv = make_partition_view %ct : !cv
    %st = make_tensor_view %sp, shape = [272], strides = [1] : !columns
    %sv = make_partition_view %st : !columnsv
    %sum = for %k in (%zero to %n, step %one) : tile<i32> iter_values(%acc = %init) -> (tile<64x16xf32>) {
      %x, %t0 = load_view_tko weak %av[%i, %k] : !a_f16v, tile<i32> -> tile<64x64xf16>, token
      %y, %t1 = load_view_tko weak %bv[%k, %j] : !b_f16v, tile<i32> -> tile<64x16xf16>, token
      %s, %t2 = load_view_tko weak %sv[%k] : !columnsv, tile<i32> -> tile<64xf16>, token
      %s1 = reshape %s : tile<64xf16> -> tile<1x64xf16>
      %scales = broadcast %s1 : tile<1x64xf16> -> tile<64x64xf16>
      %u = mulf %x, %scales : tile<64x64xf16>
      %next = mmaf %u, %y, %acc : tile<64x64xf16>, tile<64x16xf16>, tile<64x16xf32>
      continue %next : tile<64x16xf32>
    }
    %t = store_view_tko weak %sum, %cv[%i, %j] : tile<64x16xf32>, !cv, tile<i32> -> token
    return
  }
  // A is M-major, and doubled.
  entry @m_major(%ap: tile<ptr<f16>>, %bp: tile<ptr<f16>>, %cp: tile<ptr<f32>>, %n: tile<i32>) {
    %i, %j, %z = get_tile_block_id : tile<i32>
    %zero = constant <i32: 0> : tile<i32>
    %one = constant <i32: 1> : tile<i32>
    %init = constant <f32: 0.0> : tile<64x16xf32>
    %a16 = assume div_by<16>, %ap : tile<ptr<f16>>
    %b16 = assume div_by<16>, %bp : tile<ptr<f16>>
    %at = make_tensor_view %a16, shape = [72, 272], strides = [1, 72] : !a_m_major
    %av = make_partition_view %at : !a_m_majorv
    %bt = make_tensor_view %b16, shape = [272, 16], strides = [16, 1] : !b_f16
    %bv = make_partition_view %bt : !b_f16v
    %ct = make_tensor_view %cp, shape = [72, 16], strides = [16, 1] : !c
    %cv = make_partition_view %ct : !cv
    %sum = for %k in (%zero to %n, step %one) : tile<i32> iter_values(%acc = %init) -> (tile<64x16xf32>) {
      %x, %t0 = load_view_tko weak %av[%i, %k] : !a_m_majorv, tile<i32> -> tile<64x64xf16>, token
      %y, %t1 = load_view_tko weak %bv[%k, %j] : !b_f16v, tile<i32> -> tile<64x16xf16>, token
      %u = addf %x, %x : tile<64x64xf16>
      %next = mmaf %u, %y, %acc : tile<64x64xf16>, tile<64x16xf16>, tile<64x16xf32>
      continue %next : tile<64x16xf32>
    }
    %t = store_view_tko weak %sum, %cv[%i, %j] : tile<64x16xf32>, !cv, tile<i32> -> token
    return
  }
  // B is computed in registers and stored to shared memory, where wgmma takes it.
  entry @scaled_b(%ap: tile<ptr<f16>>, %bp: tile<ptr<f16>>, %s: tile<f16>, %cp: tile<ptr<f32>>, %n: tile<i32>) {
    %i, %j, %z = get_tile_block_id : tile<i32>
    %zero = constant <i32: 0> : tile<i32>
    %one = constant <i32: 1> : tile<i32>
    %init = constant <f32: 0.0> : tile<64x64xf32>
    %a16 = assume div_by<16>, %ap : tile<ptr<f16>>
    %b16 = assume div_by<16>, %bp : tile<ptr<f16>>
    %at = make_tensor_view %a16, shape = [72, 272], strides = [272, 1] : !a_f16
    %av = make_partition_view %at : !a_f16v
    %bt = make_tensor_view %b16, shape = [272, 64], strides = [64, 1] : !b_wide
    %bv = make_partition_view %bt : !b_widev
    %ct = make_tensor_view %cp, shape = [72, 64], strides = [64, 1] : !c_64x64
    %cv = make_partition_view %ct : !c_64x64v
    %s1 = reshape %s : tile<f16> -> tile<1x1xf16>
    %scales = broadcast %s1 : tile<1x1xf16> -> tile<64x64xf16>
    %sum = for %k in (%zero to %n, step %one) : tile<i32> iter_values(%acc = %init) -> (tile<64x64xf32>) {
      %x, %t0 = load_view_tko weak %av[%i, %k] : !a_f16v, tile<i32> -> tile<64x64xf16>, token
      %y, %t1 = load_view_tko weak %bv[%k, %j] : !b_widev, tile<i32> -> tile<64x64xf16>, token
      %v = mulf %y, %scales : tile<64x64xf16>
      %next = mmaf %x, %v, %acc : tile<64x64xf16>, tile<64x64xf16>, tile<64x64xf32>
      continue %next : tile<64x64xf32>
    }
    %t = store_view_tko weak %sum, %cv[%i, %j] : tile<64x64xf32>, !c_64x64v, tile<i32> -> token
    return
  }
  // A is int8.
  entry @dequantized_a(%ap: tile<ptr<i8>>, %bp: tile<ptr<f16>>, %cp: tile<ptr<f32>>, %n: tile<i32>) {
    %i, %j, %z = get_tile_block_id : tile<i32>
    %zero = constant <i32: 0> : tile<i32>
    %one = constant <i32: 1> : tile<i32>
    %init = constant <f32: 0.0> : tile<64x16xf32>
    %a16 = assume div_by<16>, %ap : tile<ptr<i8>>
    %b16 = assume div_by<16>, %bp : tile<ptr<f16>>
    %at = make_tensor_view %a16, shape = [72, 272], strides = [272, 1] : !a_i8
    %av = make_partition_view %at : !a_i8v
    %bt = make_tensor_view %b16, shape = [272, 16], strides = [16, 1] : !b_f16
    %bv = make_partition_view %bt : !b_f16v
    %ct = make_tensor_view %cp, shape = [72, 16], strides = [16, 1] : !c
    %cv = make_partition_view %ct : !cv
    %sum = for %k in (%zero to %n, step %one) : tile<i32> iter_values(%acc = %init) -> (tile<64x16xf32>) {
      %x, %t0 = load_view_tko weak %av[%i, %k] : !a_i8v, tile<i32> -> tile<64x64xi8>, token
      %y, %t1 = load_view_tko weak %bv[%k, %j] : !b_f16v, tile<i32> -> tile<64x16xf16>, token
      %u = itof %x signed : tile<64x64xi8> -> tile<64x64xf16>
      %next = mmaf %u, %y, %acc : tile<64x64xf16>, tile<64x16xf16>, tile<64x16xf32>
      continue %next : tile<64x16xf32>
    }
    %t = store_view_tko weak %sum, %cv[%i, %j] : tile<64x16xf32>, !cv, tile<i32> -> token
    return
  }
  // B is int8.
  entry @dequantized_b(%ap: tile<ptr<f16>>, %bp: tile<ptr<i8>>, %cp: tile<ptr<f32>>, %n: tile<i32>) {
    %i, %j, %z = get_tile_block_id : tile<i32>
    %zero = constant <i32: 0> : tile<i32>
    %one = constant <i32: 1> : tile<i32>
    %init = constant <f32: 0.0> : tile<64x64xf32>
    %a16 = assume div_by<16>, %ap : tile<ptr<f16>>
    %b16 = assume div_by<16>, %bp : tile<ptr<i8>>
    %at = make_tensor_view %a16, shape = [72, 272], strides = [272, 1] : !a_f16
    %av = make_partition_view %at : !a_f16v
    %bt = make_tensor_view %b16, shape = [272, 64], strides = [64, 1] : !b_i8
    %bv = make_partition_view %bt : !b_i8v
    %ct = make_tensor_view %cp, shape = [72, 64], strides = [64, 1] : !c_64x64
    %cv = make_partition_view %ct : !c_64x64v
    %sum = for %k in (%zero to %n, step %one) : tile<i32> iter_values(%acc = %init) -> (tile<64x64xf32>) {
      %x, %t0 = load_view_tko weak %av[%i, %k] : !a_f16v, tile<i32> -> tile<64x64xf16>, token
      %y, %t1 = load_view_tko weak %bv[%k, %j] : !b_i8v, tile<i32> -> tile<64x64xi8>, token
      %v = itof %y signed : tile<64x64xi8> -> tile<64x64xf16>
      %next = mmaf %x, %v, %acc : tile<64x64xf16>, tile<64x64xf16>, tile<64x64xf32>
      continue %next : tile<64x64xf32>
    }
    %t = store_view_tko weak %sum, %cv[%i, %j] : tile<64x64xf32>, !c_64x64v, tile<i32> -> token
    return
  }
  // mma.sync takes f32 that is rounded to tf32 on the way from the stage.
  entry @tf32(%ap: tile<ptr<f32>>, %bp: tile<ptr<f32>>, %cp: tile<ptr<f32>>, %n: tile<i32>) {
    %i, %j, %z = get_tile_block_id : tile<i32>
    %zero = constant <i32: 0> : tile<i32>
    %one = constant <i32: 1> : tile<i32>
    %init = constant <f32: 0.0> : tile<32x16xf32>
    %a16 = assume div_by<16>, %ap : tile<ptr<f32>>
    %b16 = assume div_by<16>, %bp : tile<ptr<f32>>
    %at = make_tensor_view %a16, shape = [72, 272], strides = [272, 1] : !a_f32
    %av = make_partition_view %at : !a_f32v
    %bt = make_tensor_view %b16, shape = [272, 16], strides = [16, 1] : !b_f32
    %bv = make_partition_view %bt : !b_f32v
    %ct = make_tensor_view %cp, shape = [72, 16], strides = [16, 1] : !c_32x16
    %cv = make_partition_view %ct : !c_32x16v
    %sum = for %k in (%zero to %n, step %one) : tile<i32> iter_values(%acc = %init) -> (tile<32x16xf32>) {
      %x, %t0 = load_view_tko weak %av[%i, %k] : !a_f32v, tile<i32> -> tile<32x64xf32>, token
      %y, %t1 = load_view_tko weak %bv[%k, %j] : !b_f32v, tile<i32> -> tile<64x16xf32>, token
      %u = ftof %x : tile<32x64xf32> -> tile<32x64xtf32>
      %v = ftof %y : tile<64x16xf32> -> tile<64x16xtf32>
      %next = mmaf %u, %v, %acc : tile<32x64xtf32>, tile<64x16xtf32>, tile<32x16xf32>
      continue %next : tile<32x16xf32>
    }
    %t = store_view_tko weak %sum, %cv[%i, %j] : tile<32x16xf32>, !c_32x16v, tile<i32> -> token
    return
  }
  // Rows of A are gathered through pointers; those that do not exist, and what is past the end of K, are masked off.
  entry @gathered(%ap: tile<ptr<f16>>, %bp: tile<ptr<f16>>, %ip: tile<ptr<i32>>, %cp: tile<ptr<f32>>, %n: tile<i32>) {
    %zero = constant <i32: 0> : tile<i32>
    %one = constant <i32: 1> : tile<i32>
    %init = constant <f32: 0.0> : tile<64x16xf32>
    %a16 = assume div_by<16>, %ap : tile<ptr<f16>>
    %b16 = assume div_by<16>, %bp : tile<ptr<f16>>
    %it = make_tensor_view %ip, shape = [64], strides = [1] : !ids
    %iv = make_partition_view %it : !idsv
    %row, %t0 = load_view_tko weak %iv[%zero] : !idsv, tile<i32> -> tile<64xi32>, token
    %rows = constant <i32: 72> : tile<64xi32>
    %real = cmpi less_than %row, %rows, signed : tile<64xi32> -> tile<64xi1>
    %real1 = reshape %real : tile<64xi1> -> tile<64x1xi1>
    %reals = broadcast %real1 : tile<64x1xi1> -> tile<64x64xi1>
    %stride = constant <i32: 272> : tile<64xi32>
    %start = muli %row, %stride : tile<64xi32>
    %start1 = reshape %start : tile<64xi32> -> tile<64x1xi32>
    %starts = broadcast %start1 : tile<64x1xi32> -> tile<64x64xi32>
    %column = iota : tile<64xi32>
    %column1 = reshape %column : tile<64xi32> -> tile<1x64xi32>
    %columns = broadcast %column1 : tile<1x64xi32> -> tile<64x64xi32>
    %extent = constant <i32: 272> : tile<64x64xi32>
    %width = constant <i32: 64> : tile<i32>
    %ar = reshape %a16 : tile<ptr<f16>> -> tile<1x1xptr<f16>>
    %as = broadcast %ar : tile<1x1xptr<f16>> -> tile<64x64xptr<f16>>
    %firsts = offset %as, %starts : tile<64x64xptr<f16>>, tile<64x64xi32> -> tile<64x64xptr<f16>>
    %none = constant <f16: 0.0> : tile<64x64xf16>
    %bt = make_tensor_view %b16, shape = [272, 16], strides = [16, 1] : !b_f16
    %bv = make_partition_view %bt : !b_f16v
    %ct = make_tensor_view %cp, shape = [64, 16], strides = [16, 1] : !c_gathered
    %cv = make_partition_view %ct : !c_gatheredv
    %sum = for %k in (%zero to %n, step %one) : tile<i32> iter_values(%acc = %init) -> (tile<64x16xf32>) {
      %at = muli %k, %width : tile<i32>
      %at1 = reshape %at : tile<i32> -> tile<1x1xi32>
      %ats = broadcast %at1 : tile<1x1xi32> -> tile<64x64xi32>
      %offsets = addi %columns, %ats : tile<64x64xi32>
      %inside = cmpi less_than %offsets, %extent, signed : tile<64x64xi32> -> tile<64x64xi1>
      %mask = andi %inside, %reals : tile<64x64xi1>
      %p = offset %firsts, %offsets : tile<64x64xptr<f16>>, tile<64x64xi32> -> tile<64x64xptr<f16>>
      %x, %t1 = load_ptr_tko weak %p, %mask, %none : tile<64x64xptr<f16>>, tile<64x64xi1>, tile<64x64xf16> -> tile<64x64xf16>, token
      %y, %t2 = load_view_tko weak %bv[%k, %zero] : !b_f16v, tile<i32> -> tile<64x16xf16>, token
      %next = mmaf %x, %y, %acc : tile<64x64xf16>, tile<64x16xf16>, tile<64x16xf32>
      continue %next : tile<64x16xf32>
    }
    %t = store_view_tko weak %sum, %cv[%zero, %zero] : tile<64x16xf32>, !c_gatheredv, tile<i32> -> token
    return
  }
  // The same by a view that gathers rows.
  entry @gathered_view(%ap: tile<ptr<f16>>, %bp: tile<ptr<f16>>, %ip: tile<ptr<i32>>, %cp: tile<ptr<f32>>, %n: tile<i32>) {
    %zero = constant <i32: 0> : tile<i32>
    %one = constant <i32: 1> : tile<i32>
    %width = constant <i32: 64> : tile<i32>
    %init = constant <f32: 0.0> : tile<64x16xf32>
    %a16 = assume div_by<16>, %ap : tile<ptr<f16>>
    %b16 = assume div_by<16>, %bp : tile<ptr<f16>>
    %it = make_tensor_view %ip, shape = [64], strides = [1] : !ids
    %iv = make_partition_view %it : !idsv
    %row, %t0 = load_view_tko weak %iv[%zero] : !idsv, tile<i32> -> tile<64xi32>, token
    %at = make_tensor_view %a16, shape = [72, 272], strides = [272, 1] : !a_f16
    %av = make_gather_scatter_view %at : !a_gather
    %bt = make_tensor_view %b16, shape = [272, 16], strides = [16, 1] : !b_f16
    %bv = make_partition_view %bt : !b_f16v
    %ct = make_tensor_view %cp, shape = [64, 16], strides = [16, 1] : !c_gathered
    %cv = make_partition_view %ct : !c_gatheredv
    %sum = for %k in (%zero to %n, step %one) : tile<i32> iter_values(%acc = %init) -> (tile<64x16xf32>) {
      %first = muli %k, %width : tile<i32>
      %x, %t1 = load_view_tko weak %av[%row, %first] : !a_gather, tile<64xi32>, tile<i32> -> tile<64x64xf16>, token
      %y, %t2 = load_view_tko weak %bv[%k, %zero] : !b_f16v, tile<i32> -> tile<64x16xf16>, token
      %next = mmaf %x, %y, %acc : tile<64x64xf16>, tile<64x16xf16>, tile<64x16xf32>
      continue %next : tile<64x16xf32>
    }
    %t = store_view_tko weak %sum, %cv[%zero, %zero] : tile<64x16xf32>, !c_gatheredv, tile<i32> -> token
    return
  }
  // The result overwrites A: the store is ordered after all loads.
  entry @overwrites_a(%ap: tile<ptr<f16>>, %bp: tile<ptr<f16>>, %n: tile<i32>) {
    %zero = constant <i32: 0> : tile<i32>
    %one = constant <i32: 1> : tile<i32>
    %init = constant <f32: 0.0> : tile<64x64xf32>
    %a16 = assume div_by<16>, %ap : tile<ptr<f16>>
    %b16 = assume div_by<16>, %bp : tile<ptr<f16>>
    %at = make_tensor_view %a16, shape = [64, 64], strides = [64, 1] : !square
    %av = make_partition_view %at : !squarev
    %cv = make_partition_view %at : !wholev
    %bt = make_tensor_view %b16, shape = [64, 64], strides = [64, 1] : !b_square
    %bv = make_partition_view %bt : !b_squarev
    %t0 = make_token : token
    %sum, %loaded = for %k in (%zero to %n, step %one) : tile<i32> iter_values(%acc = %init, %before = %t0) -> (tile<64x64xf32>, token) {
      %x, %t1 = load_view_tko weak %av[%zero, %k] token = %t0 : !squarev, tile<i32> -> tile<64x32xf16>, token
      %y, %t2 = load_view_tko weak %bv[%k, %zero] : !b_squarev, tile<i32> -> tile<32x64xf16>, token
      %next = mmaf %x, %y, %acc : tile<64x32xf16>, tile<32x64xf16>, tile<64x64xf32>
      %after = join_tokens %before, %t1 : token
      continue %next, %after : tile<64x64xf32>, token
    }
    %rounded = ftof %sum : tile<64x64xf32> -> tile<64x64xf16>
    %t = store_view_tko weak %rounded, %cv[%zero, %zero] token = %loaded : tile<64x64xf16>, !wholev, tile<i32> -> token
    return
  }
  // Rows of A begin at odd multiples of 2 bytes: A passes through registers, cp.async copies B.
  entry @unaligned_a(%ap: tile<ptr<f16>>, %bp: tile<ptr<f16>>, %cp: tile<ptr<f32>>, %n: tile<i32>) {
    %i, %j, %z = get_tile_block_id : tile<i32>
    %zero = constant <i32: 0> : tile<i32>
    %one = constant <i32: 1> : tile<i32>
    %init = constant <f32: 0.0> : tile<64x16xf32>
    %a16 = assume div_by<16>, %ap : tile<ptr<f16>>
    %b16 = assume div_by<16>, %bp : tile<ptr<f16>>
    %at = make_tensor_view %a16, shape = [72, 271], strides = [271, 1] : !a_odd
    %av = make_partition_view %at : !a_oddv
    %bt = make_tensor_view %b16, shape = [272, 16], strides = [16, 1] : !b_f16
    %bv = make_partition_view %bt : !b_f16v
    %ct = make_tensor_view %cp, shape = [72, 16], strides = [16, 1] : !c
    %cv = make_partition_view %ct : !cv
    %sum = for %k in (%zero to %n, step %one) : tile<i32> iter_values(%acc = %init) -> (tile<64x16xf32>) {
      %x, %t0 = load_view_tko weak %av[%i, %k] : !a_oddv, tile<i32> -> tile<64x64xf16>, token
      %y, %t1 = load_view_tko weak %bv[%k, %j] : !b_f16v, tile<i32> -> tile<64x16xf16>, token
      %next = mmaf %x, %y, %acc : tile<64x64xf16>, tile<64x16xf16>, tile<64x16xf32>
      continue %next : tile<64x16xf32>
    }
    %t = store_view_tko weak %sum, %cv[%i, %j] : tile<64x16xf32>, !cv, tile<i32> -> token
    return
  }
  // Both pass through registers.
  entry @unaligned(%ap: tile<ptr<f16>>, %bp: tile<ptr<f16>>, %cp: tile<ptr<f32>>, %n: tile<i32>) {
    %i, %j, %z = get_tile_block_id : tile<i32>
    %zero = constant <i32: 0> : tile<i32>
    %one = constant <i32: 1> : tile<i32>
    %init = constant <f32: 0.0> : tile<64x16xf32>
    %a16 = assume div_by<16>, %ap : tile<ptr<f16>>
    %b16 = assume div_by<16>, %bp : tile<ptr<f16>>
    %at = make_tensor_view %a16, shape = [72, 271], strides = [273, 1] : !a_273
    %av = make_partition_view %at : !a_273v
    %bt = make_tensor_view %b16, shape = [271, 16], strides = [17, 1] : !b_odd
    %bv = make_partition_view %bt : !b_oddv
    %ct = make_tensor_view %cp, shape = [72, 16], strides = [16, 1] : !c
    %cv = make_partition_view %ct : !cv
    %sum = for %k in (%zero to %n, step %one) : tile<i32> iter_values(%acc = %init) -> (tile<64x16xf32>) {
      %x, %t0 = load_view_tko weak %av[%i, %k] : !a_273v, tile<i32> -> tile<64x64xf16>, token
      %y, %t1 = load_view_tko weak %bv[%k, %j] : !b_oddv, tile<i32> -> tile<64x16xf16>, token
      %next = mmaf %x, %y, %acc : tile<64x64xf16>, tile<64x16xf16>, tile<64x16xf32>
      continue %next : tile<64x16xf32>
    }
    %t = store_view_tko weak %sum, %cv[%i, %j] : tile<64x16xf32>, !cv, tile<i32> -> token
    return
  }
  // cp.async cannot fill with infinities.
  entry @padded(%ap: tile<ptr<f16>>, %bp: tile<ptr<f16>>, %cp: tile<ptr<f32>>, %n: tile<i32>) {
    %i, %j, %z = get_tile_block_id : tile<i32>
    %zero = constant <i32: 0> : tile<i32>
    %one = constant <i32: 1> : tile<i32>
    %init = constant <f32: 0.0> : tile<64x16xf32>
    %a16 = assume div_by<16>, %ap : tile<ptr<f16>>
    %b16 = assume div_by<16>, %bp : tile<ptr<f16>>
    %at = make_tensor_view %a16, shape = [72, 271], strides = [271, 1] : !a_odd
    %av = make_partition_view %at : !a_infv
    %bt = make_tensor_view %b16, shape = [271, 16], strides = [16, 1] : !b_271
    %bv = make_partition_view %bt : !b_infv
    %ct = make_tensor_view %cp, shape = [72, 16], strides = [16, 1] : !c
    %cv = make_partition_view %ct : !cv
    %sum = for %k in (%zero to %n, step %one) : tile<i32> iter_values(%acc = %init) -> (tile<64x16xf32>) {
      %x, %t0 = load_view_tko weak %av[%i, %k] : !a_infv, tile<i32> -> tile<64x64xf16>, token
      %y, %t1 = load_view_tko weak %bv[%k, %j] : !b_infv, tile<i32> -> tile<64x16xf16>, token
      %next = mmaf %x, %y, %acc : tile<64x64xf16>, tile<64x16xf16>, tile<64x16xf32>
      continue %next : tile<64x16xf32>
    }
    %t = store_view_tko weak %sum, %cv[%i, %j] : tile<64x16xf32>, !cv, tile<i32> -> token
    return
  }
}
