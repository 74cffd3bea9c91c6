// GEMMs and row-wise kernels with the hint that two or four CTAs of a cluster share their tiles. Extents are ragged.
// RUN @f16 grid=2x2
// ARG a = small:136x80xf16:1
// ARG b = small:80x72xf16:2
// ARG c = zeros:136x72xf16
// ARG m = 136
// ARG n = 72
// ARG k = 80
// EXPECT c = wide_f16(a) @ wide_f16(b)
// RUN @tf32 grid=2x2
// ARG a = small:136x40xf32:1
// ARG b = small:40x72xf32:2
// ARG c = zeros:136x72xf32
// ARG m = 136
// ARG n = 72
// ARG k = 40
// EXPECT c = np.float64(a) @ np.float64(b)
// RUN @fp8 grid=2x2
// ARG a = small:136x80xf8E4M3FN:1
// ARG b = small:80x72xf8E4M3FN:2
// ARG c = zeros:136x72xf32
// ARG m = 136
// ARG n = 72
// ARG k = 80
// EXPECT c = wide_f8E4M3FN(a) @ wide_f8E4M3FN(b)
// RUN @bias grid=2x2
// ARG a = small:136x80xf16:1
// ARG b = small:80x72xf16:2
// ARG c = zeros:136x72xf32
// ARG m = 136
// ARG n = 72
// ARG k = 80
// ARG bias = small:72xf32:3
// EXPECT c = np.maximum(np.float64(a) @ np.float64(b) + bias, 0)
// RUN @persistent grid=2
// ARG a = small:200x80xf16:1
// ARG b = small:80x72xf16:2
// ARG c = zeros:200x72xf16
// ARG m = 200
// ARG n = 72
// ARG k = 80
// EXPECT c = wide_f16(a) @ wide_f16(b)
// RUN @split_k grid=2x2x3
// ARG a = small:136x168xf16:1
// ARG b = small:168x72xf16:2
// ARG c = zeros:136x72xf32
// ARG m = 136
// ARG n = 72
// ARG k = 168
// EXPECT c = np.float64(a) @ np.float64(b)
// RUN @gather grid=2x2
// ARG a = small:136x80xf16:1
// ARG b = small:80x72xf16:2
// ARG c = zeros:136x72xf32
// ARG m = 136
// ARG n = 72
// ARG k = 80
// ARG rows : i32 = np.arange(136) * 7 % 136
// EXPECT c = np.float64(a)[rows] @ np.float64(b)
// RUN @softmax grid=2
// ARG x = random:24x64xf32:1
// ARG out = zeros:24x64xf32
// EXPECT out near softmax(x)
// RUN @count grid=2
// ARG x = small:100xf32:1
// ARG y = small:100xf32:2
// ARG out = zeros:100xf32
// ARG count = zeros:1xi32
// ARG n = 100
// EXPECT out = x + y * 2
// EXPECT count = 2
!half = !cuda_tile.tensor_view<?x?xf16, strides=[?,1]>
!half_a = !cuda_tile.partition_view<tile=(128x32), padding_value = zero, tensor_view<?x?xf16, strides=[?,1]>>
!half_b = !cuda_tile.partition_view<tile=(32x64), padding_value = zero, tensor_view<?x?xf16, strides=[?,1]>>
!half_o = !cuda_tile.tensor_view<?x?xf16, strides=[?,1]>
!half_c = !cuda_tile.partition_view<tile=(128x64), tensor_view<?x?xf16, strides=[?,1]>>
!wide = !cuda_tile.tensor_view<?x?xf16, strides=[?,1]>
!wide_a = !cuda_tile.partition_view<tile=(128x32), padding_value = zero, tensor_view<?x?xf16, strides=[?,1]>>
!wide_b = !cuda_tile.partition_view<tile=(32x64), padding_value = zero, tensor_view<?x?xf16, strides=[?,1]>>
!wide_o = !cuda_tile.tensor_view<?x?xf32, strides=[?,1]>
!wide_c = !cuda_tile.partition_view<tile=(128x64), tensor_view<?x?xf32, strides=[?,1]>>
!single = !cuda_tile.tensor_view<?x?xf32, strides=[?,1]>
!single_a = !cuda_tile.partition_view<tile=(128x32), padding_value = zero, tensor_view<?x?xf32, strides=[?,1]>>
!single_b = !cuda_tile.partition_view<tile=(32x64), padding_value = zero, tensor_view<?x?xf32, strides=[?,1]>>
!single_o = !cuda_tile.tensor_view<?x?xf32, strides=[?,1]>
!single_c = !cuda_tile.partition_view<tile=(128x64), tensor_view<?x?xf32, strides=[?,1]>>
!byte = !cuda_tile.tensor_view<?x?xf8E4M3FN, strides=[?,1]>
!byte_a = !cuda_tile.partition_view<tile=(128x32), padding_value = zero, tensor_view<?x?xf8E4M3FN, strides=[?,1]>>
!byte_b = !cuda_tile.partition_view<tile=(32x64), padding_value = zero, tensor_view<?x?xf8E4M3FN, strides=[?,1]>>
!byte_o = !cuda_tile.tensor_view<?x?xf32, strides=[?,1]>
!byte_c = !cuda_tile.partition_view<tile=(128x64), tensor_view<?x?xf32, strides=[?,1]>>
!rows = !cuda_tile.tensor_view<24x64xf32, strides=[64,1]>
!row_tiles = !cuda_tile.partition_view<tile=(16x64), padding_value = zero, tensor_view<24x64xf32, strides=[64,1]>>
!row = !cuda_tile.tensor_view<?xf32, strides=[1]>
!parts = !cuda_tile.partition_view<tile=(64), padding_value = zero, tensor_view<?xf32, strides=[1]>>
cuda_tile.module @kernels {
  entry @f16(%a: tile<ptr<f16>>, %b: tile<ptr<f16>>, %c: tile<ptr<f16>>, %m: tile<i32>, %n: tile<i32>, %k: tile<i32>) optimization_hints=<sm_90 = {num_cta_in_cga = 2}> {
    %pa = assume div_by<16>, %a : tile<ptr<f16>>
    %pb = assume div_by<16>, %b : tile<ptr<f16>>
    %pc = assume div_by<16>, %c : tile<ptr<f16>>
    %columns = assume div_by<8>, %n : tile<i32>
    %inner = assume div_by<8>, %k : tile<i32>
    %at = make_tensor_view %pa, shape = [%m, %inner], strides = [%inner, 1] : tile<i32> -> !half
    %bt = make_tensor_view %pb, shape = [%inner, %columns], strides = [%columns, 1] : tile<i32> -> !half
    %ct = make_tensor_view %pc, shape = [%m, %columns], strides = [%columns, 1] : tile<i32> -> !half_o
    %av = make_partition_view %at : !half_a
    %bv = make_partition_view %bt : !half_b
    %cv = make_partition_view %ct : !half_c
    %zero = constant <i32: 0> : tile<i32>
    %one = constant <i32: 1> : tile<i32>
    %step = constant <i32: 32> : tile<i32>
    %none = constant <f32: 0.0> : tile<128x64xf32>
    %steps = divi %inner, %step signed rounding<positive_inf> : tile<i32>
    %i, %j, %z = get_tile_block_id : tile<i32>
    %sum = for %p in (%zero to %steps, step %one) : tile<i32> iter_values(%acc = %none) -> (tile<128x64xf32>) {
      %u, %t0 = load_view_tko weak %av[%i, %p] : !half_a, tile<i32> -> tile<128x32xf16>, token
      %v, %t1 = load_view_tko weak %bv[%p, %j] : !half_b, tile<i32> -> tile<32x64xf16>, token
      %next = mmaf %u, %v, %acc : tile<128x32xf16>, tile<32x64xf16>, tile<128x64xf32>
      continue %next : tile<128x64xf32>
    }
    %narrow = ftof %sum : tile<128x64xf32> -> tile<128x64xf16>
    %t2 = store_view_tko weak %narrow, %cv[%i, %j] : tile<128x64xf16>, !half_c, tile<i32> -> token
    return
  }
  entry @tf32(%a: tile<ptr<f32>>, %b: tile<ptr<f32>>, %c: tile<ptr<f32>>, %m: tile<i32>, %n: tile<i32>, %k: tile<i32>) optimization_hints=<sm_90 = {num_cta_in_cga = 4}> {
    %pa = assume div_by<16>, %a : tile<ptr<f32>>
    %pb = assume div_by<16>, %b : tile<ptr<f32>>
    %pc = assume div_by<16>, %c : tile<ptr<f32>>
    %columns = assume div_by<8>, %n : tile<i32>
    %inner = assume div_by<8>, %k : tile<i32>
    %at = make_tensor_view %pa, shape = [%m, %inner], strides = [%inner, 1] : tile<i32> -> !single
    %bt = make_tensor_view %pb, shape = [%inner, %columns], strides = [%columns, 1] : tile<i32> -> !single
    %ct = make_tensor_view %pc, shape = [%m, %columns], strides = [%columns, 1] : tile<i32> -> !single_o
    %av = make_partition_view %at : !single_a
    %bv = make_partition_view %bt : !single_b
    %cv = make_partition_view %ct : !single_c
    %zero = constant <i32: 0> : tile<i32>
    %one = constant <i32: 1> : tile<i32>
    %step = constant <i32: 32> : tile<i32>
    %none = constant <f32: 0.0> : tile<128x64xf32>
    %steps = divi %inner, %step signed rounding<positive_inf> : tile<i32>
    %i, %j, %z = get_tile_block_id : tile<i32>
    %sum = for %p in (%zero to %steps, step %one) : tile<i32> iter_values(%acc = %none) -> (tile<128x64xf32>) {
      %u, %t0 = load_view_tko weak %av[%i, %p] : !single_a, tile<i32> -> tile<128x32xf32>, token
      %v, %t1 = load_view_tko weak %bv[%p, %j] : !single_b, tile<i32> -> tile<32x64xf32>, token
      %un = ftof %u : tile<128x32xf32> -> tile<128x32xtf32>
      %vn = ftof %v : tile<32x64xf32> -> tile<32x64xtf32>
      %next = mmaf %un, %vn, %acc : tile<128x32xtf32>, tile<32x64xtf32>, tile<128x64xf32>
      continue %next : tile<128x64xf32>
    }
    %t2 = store_view_tko weak %sum, %cv[%i, %j] : tile<128x64xf32>, !single_c, tile<i32> -> token
    return
  }
  entry @fp8(%a: tile<ptr<f8E4M3FN>>, %b: tile<ptr<f8E4M3FN>>, %c: tile<ptr<f32>>, %m: tile<i32>, %n: tile<i32>, %k: tile<i32>) optimization_hints=<sm_90 = {num_cta_in_cga = 2}> {
    %pa = assume div_by<16>, %a : tile<ptr<f8E4M3FN>>
    %pb = assume div_by<16>, %b : tile<ptr<f8E4M3FN>>
    %pc = assume div_by<16>, %c : tile<ptr<f32>>
    %columns = assume div_by<8>, %n : tile<i32>
    %inner = assume div_by<8>, %k : tile<i32>
    %at = make_tensor_view %pa, shape = [%m, %inner], strides = [%inner, 1] : tile<i32> -> !byte
    %bt = make_tensor_view %pb, shape = [%inner, %columns], strides = [%columns, 1] : tile<i32> -> !byte
    %ct = make_tensor_view %pc, shape = [%m, %columns], strides = [%columns, 1] : tile<i32> -> !byte_o
    %av = make_partition_view %at : !byte_a
    %bv = make_partition_view %bt : !byte_b
    %cv = make_partition_view %ct : !byte_c
    %zero = constant <i32: 0> : tile<i32>
    %one = constant <i32: 1> : tile<i32>
    %step = constant <i32: 32> : tile<i32>
    %none = constant <f32: 0.0> : tile<128x64xf32>
    %steps = divi %inner, %step signed rounding<positive_inf> : tile<i32>
    %i, %j, %z = get_tile_block_id : tile<i32>
    %sum = for %p in (%zero to %steps, step %one) : tile<i32> iter_values(%acc = %none) -> (tile<128x64xf32>) {
      %u, %t0 = load_view_tko weak %av[%i, %p] : !byte_a, tile<i32> -> tile<128x32xf8E4M3FN>, token
      %v, %t1 = load_view_tko weak %bv[%p, %j] : !byte_b, tile<i32> -> tile<32x64xf8E4M3FN>, token
      %next = mmaf %u, %v, %acc : tile<128x32xf8E4M3FN>, tile<32x64xf8E4M3FN>, tile<128x64xf32>
      continue %next : tile<128x64xf32>
    }
    %t2 = store_view_tko weak %sum, %cv[%i, %j] : tile<128x64xf32>, !byte_c, tile<i32> -> token
    return
  }
  entry @bias(%a: tile<ptr<f16>>, %b: tile<ptr<f16>>, %c: tile<ptr<f32>>, %m: tile<i32>, %n: tile<i32>, %k: tile<i32>, %bias: tile<ptr<f32>>) optimization_hints=<sm_90 = {num_cta_in_cga = 4}> {
    %pa = assume div_by<16>, %a : tile<ptr<f16>>
    %pb = assume div_by<16>, %b : tile<ptr<f16>>
    %pc = assume div_by<16>, %c : tile<ptr<f32>>
    %columns = assume div_by<8>, %n : tile<i32>
    %inner = assume div_by<8>, %k : tile<i32>
    %at = make_tensor_view %pa, shape = [%m, %inner], strides = [%inner, 1] : tile<i32> -> !wide
    %bt = make_tensor_view %pb, shape = [%inner, %columns], strides = [%columns, 1] : tile<i32> -> !wide
    %ct = make_tensor_view %pc, shape = [%m, %columns], strides = [%columns, 1] : tile<i32> -> !wide_o
    %av = make_partition_view %at : !wide_a
    %bv = make_partition_view %bt : !wide_b
    %cv = make_partition_view %ct : !wide_c
    %zero = constant <i32: 0> : tile<i32>
    %one = constant <i32: 1> : tile<i32>
    %step = constant <i32: 32> : tile<i32>
    %none = constant <f32: 0.0> : tile<128x64xf32>
    %steps = divi %inner, %step signed rounding<positive_inf> : tile<i32>
    %i, %j, %z = get_tile_block_id : tile<i32>
    %sum = for %p in (%zero to %steps, step %one) : tile<i32> iter_values(%acc = %none) -> (tile<128x64xf32>) {
      %u, %t0 = load_view_tko weak %av[%i, %p] : !wide_a, tile<i32> -> tile<128x32xf16>, token
      %v, %t1 = load_view_tko weak %bv[%p, %j] : !wide_b, tile<i32> -> tile<32x64xf16>, token
      %next = mmaf %u, %v, %acc : tile<128x32xf16>, tile<32x64xf16>, tile<128x64xf32>
      continue %next : tile<128x64xf32>
    }
    %biast = make_tensor_view %bias, shape = [%columns], strides = [1] : tile<i32> -> tensor_view<?xf32, strides=[1]>
    %biasv = make_partition_view %biast : partition_view<tile=(64), padding_value = zero, tensor_view<?xf32, strides=[1]>>
    %w, %tw = load_view_tko weak %biasv[%j] : partition_view<tile=(64), padding_value = zero, tensor_view<?xf32, strides=[1]>>, tile<i32> -> tile<64xf32>, token
    %wr = reshape %w : tile<64xf32> -> tile<1x64xf32>
    %wb = broadcast %wr : tile<1x64xf32> -> tile<128x64xf32>
    %shifted = addf %sum, %wb : tile<128x64xf32>
    %relu = maxf %shifted, %none : tile<128x64xf32>
    %t2 = store_view_tko weak %relu, %cv[%i, %j] : tile<128x64xf32>, !wide_c, tile<i32> -> token
    return
  }
  entry @persistent(%a: tile<ptr<f16>>, %b: tile<ptr<f16>>, %c: tile<ptr<f16>>, %m: tile<i32>, %n: tile<i32>, %k: tile<i32>) optimization_hints=<sm_90 = {num_cta_in_cga = 2}> {
    %pa = assume div_by<16>, %a : tile<ptr<f16>>
    %pb = assume div_by<16>, %b : tile<ptr<f16>>
    %pc = assume div_by<16>, %c : tile<ptr<f16>>
    %columns = assume div_by<8>, %n : tile<i32>
    %inner = assume div_by<8>, %k : tile<i32>
    %at = make_tensor_view %pa, shape = [%m, %inner], strides = [%inner, 1] : tile<i32> -> !half
    %bt = make_tensor_view %pb, shape = [%inner, %columns], strides = [%columns, 1] : tile<i32> -> !half
    %ct = make_tensor_view %pc, shape = [%m, %columns], strides = [%columns, 1] : tile<i32> -> !half_o
    %av = make_partition_view %at : !half_a
    %bv = make_partition_view %bt : !half_b
    %cv = make_partition_view %ct : !half_c
    %zero = constant <i32: 0> : tile<i32>
    %one = constant <i32: 1> : tile<i32>
    %step = constant <i32: 32> : tile<i32>
    %none = constant <f32: 0.0> : tile<128x64xf32>
    %steps = divi %inner, %step signed rounding<positive_inf> : tile<i32>
    %height = constant <i32: 128> : tile<i32>
    %width = constant <i32: 64> : tile<i32>
    %down = divi %m, %height signed rounding<positive_inf> : tile<i32>
    %across = divi %columns, %width signed rounding<positive_inf> : tile<i32>
    %tiles = muli %down, %across : tile<i32>
    %block, %y, %z = get_tile_block_id : tile<i32>
    %blocks, %ny, %nz = get_num_tile_blocks : tile<i32>
    for %t in (%block to %tiles, step %blocks) : tile<i32> {
      %i = divi %t, %across signed : tile<i32>
      %j = remi %t, %across signed : tile<i32>
      %sum = for %p in (%zero to %steps, step %one) : tile<i32> iter_values(%acc = %none) -> (tile<128x64xf32>) {
        %u, %t0 = load_view_tko weak %av[%i, %p] : !half_a, tile<i32> -> tile<128x32xf16>, token
        %v, %t1 = load_view_tko weak %bv[%p, %j] : !half_b, tile<i32> -> tile<32x64xf16>, token
        %next = mmaf %u, %v, %acc : tile<128x32xf16>, tile<32x64xf16>, tile<128x64xf32>
        continue %next : tile<128x64xf32>
      }
      %narrow = ftof %sum : tile<128x64xf32> -> tile<128x64xf16>
      %t2 = store_view_tko weak %narrow, %cv[%i, %j] : tile<128x64xf16>, !half_c, tile<i32> -> token
      continue
    }
    return
  }
  entry @split_k(%a: tile<ptr<f16>>, %b: tile<ptr<f16>>, %c: tile<ptr<f32>>, %m: tile<i32>, %n: tile<i32>, %k: tile<i32>) optimization_hints=<sm_90 = {num_cta_in_cga = 2}> {
    %pa = assume div_by<16>, %a : tile<ptr<f16>>
    %pb = assume div_by<16>, %b : tile<ptr<f16>>
    %pc = assume div_by<16>, %c : tile<ptr<f32>>
    %columns = assume div_by<8>, %n : tile<i32>
    %inner = assume div_by<8>, %k : tile<i32>
    %at = make_tensor_view %pa, shape = [%m, %inner], strides = [%inner, 1] : tile<i32> -> !wide
    %bt = make_tensor_view %pb, shape = [%inner, %columns], strides = [%columns, 1] : tile<i32> -> !wide
    %ct = make_tensor_view %pc, shape = [%m, %columns], strides = [%columns, 1] : tile<i32> -> !wide_o
    %av = make_partition_view %at : !wide_a
    %bv = make_partition_view %bt : !wide_b
    %cv = make_partition_view %ct : !wide_c
    %zero = constant <i32: 0> : tile<i32>
    %one = constant <i32: 1> : tile<i32>
    %step = constant <i32: 32> : tile<i32>
    %none = constant <f32: 0.0> : tile<128x64xf32>
    %steps = divi %inner, %step signed rounding<positive_inf> : tile<i32>
    %i, %j, %z = get_tile_block_id : tile<i32>
    %x, %y, %parts = get_num_tile_blocks : tile<i32>
    %sum = for %p in (%z to %steps, step %parts) : tile<i32> iter_values(%acc = %none) -> (tile<128x64xf32>) {
      %u, %t0 = load_view_tko weak %av[%i, %p] : !wide_a, tile<i32> -> tile<128x32xf16>, token
      %v, %t1 = load_view_tko weak %bv[%p, %j] : !wide_b, tile<i32> -> tile<32x64xf16>, token
      %next = mmaf %u, %v, %acc : tile<128x32xf16>, tile<32x64xf16>, tile<128x64xf32>
      continue %next : tile<128x64xf32>
    }
    %t2 = atomic_red_view_tko relaxed device %cv[%i, %j], addf, %sum : tile<128x64xf32>, !wide_c, tile<i32> -> token
    return
  }
  entry @gather(%a: tile<ptr<f16>>, %b: tile<ptr<f16>>, %c: tile<ptr<f32>>, %m: tile<i32>, %n: tile<i32>, %k: tile<i32>, %rows: tile<ptr<i32>>) optimization_hints=<sm_90 = {num_cta_in_cga = 4}> {
    %pa = assume div_by<16>, %a : tile<ptr<f16>>
    %pb = assume div_by<16>, %b : tile<ptr<f16>>
    %pc = assume div_by<16>, %c : tile<ptr<f32>>
    %columns = assume div_by<8>, %n : tile<i32>
    %inner = assume div_by<8>, %k : tile<i32>
    %at = make_tensor_view %pa, shape = [%m, %inner], strides = [%inner, 1] : tile<i32> -> !wide
    %bt = make_tensor_view %pb, shape = [%inner, %columns], strides = [%columns, 1] : tile<i32> -> !wide
    %ct = make_tensor_view %pc, shape = [%m, %columns], strides = [%columns, 1] : tile<i32> -> !wide_o
    %av = make_partition_view %at : !wide_a
    %bv = make_partition_view %bt : !wide_b
    %cv = make_partition_view %ct : !wide_c
    %zero = constant <i32: 0> : tile<i32>
    %one = constant <i32: 1> : tile<i32>
    %step = constant <i32: 32> : tile<i32>
    %none = constant <f32: 0.0> : tile<128x64xf32>
    %steps = divi %inner, %step signed rounding<positive_inf> : tile<i32>
    %i, %j, %z = get_tile_block_id : tile<i32>
    %height = constant <i32: 128> : tile<i32>
    %first = muli %i, %height : tile<i32>
    %rp = offset %rows, %first : tile<ptr<i32>>, tile<i32> -> tile<ptr<i32>>
    %rr = reshape %rp : tile<ptr<i32>> -> tile<1xptr<i32>>
    %rb = broadcast %rr : tile<1xptr<i32>> -> tile<128xptr<i32>>
    %lane = iota : tile<128xi32>
    %ra = offset %rb, %lane : tile<128xptr<i32>>, tile<128xi32> -> tile<128xptr<i32>>
    %fr = reshape %first : tile<i32> -> tile<1xi32>
    %fb = broadcast %fr : tile<1xi32> -> tile<128xi32>
    %number = addi %fb, %lane : tile<128xi32>
    %mr = reshape %m : tile<i32> -> tile<1xi32>
    %mb = broadcast %mr : tile<1xi32> -> tile<128xi32>
    %real = cmpi less_than %number, %mb, signed : tile<128xi32> -> tile<128xi1>
    %origin = constant <i32: 0> : tile<128xi32>
    %row, %tr = load_ptr_tko weak %ra, %real, %origin : tile<128xptr<i32>>, tile<128xi1>, tile<128xi32> -> tile<128xi32>, token
    %ir = reshape %inner : tile<i32> -> tile<1xi32>
    %ib = broadcast %ir : tile<1xi32> -> tile<128xi32>
    %start = muli %row, %ib : tile<128xi32>
    %startr = reshape %start : tile<128xi32> -> tile<128x1xi32>
    %starts = broadcast %startr : tile<128x1xi32> -> tile<128x32xi32>
    %realr = reshape %real : tile<128xi1> -> tile<128x1xi1>
    %reals = broadcast %realr : tile<128x1xi1> -> tile<128x32xi1>
    %ar = reshape %pa : tile<ptr<f16>> -> tile<1x1xptr<f16>>
    %ab = broadcast %ar : tile<1x1xptr<f16>> -> tile<128x32xptr<f16>>
    %blank = constant <f16: 0.0> : tile<128x32xf16>
    %lanek = iota : tile<32xi32>
    %sum = for %p in (%zero to %steps, step %one) : tile<i32> iter_values(%acc = %none) -> (tile<128x64xf32>) {
      %from = muli %p, %step : tile<i32>
      %fromr = reshape %from : tile<i32> -> tile<1xi32>
      %fromb = broadcast %fromr : tile<1xi32> -> tile<32xi32>
      %at1 = addi %fromb, %lanek : tile<32xi32>
      %kr = reshape %inner : tile<i32> -> tile<1xi32>
      %kb = broadcast %kr : tile<1xi32> -> tile<32xi32>
      %inside = cmpi less_than %at1, %kb, signed : tile<32xi32> -> tile<32xi1>
      %insider = reshape %inside : tile<32xi1> -> tile<1x32xi1>
      %insides = broadcast %insider : tile<1x32xi1> -> tile<128x32xi1>
      %mask = andi %insides, %reals : tile<128x32xi1>
      %atr = reshape %at1 : tile<32xi32> -> tile<1x32xi32>
      %ats = broadcast %atr : tile<1x32xi32> -> tile<128x32xi32>
      %where = addi %starts, %ats : tile<128x32xi32>
      %ap = offset %ab, %where : tile<128x32xptr<f16>>, tile<128x32xi32> -> tile<128x32xptr<f16>>
      %u, %t0 = load_ptr_tko weak %ap, %mask, %blank : tile<128x32xptr<f16>>, tile<128x32xi1>, tile<128x32xf16> -> tile<128x32xf16>, token
      %v, %t1 = load_view_tko weak %bv[%p, %j] : !wide_b, tile<i32> -> tile<32x64xf16>, token
      %next = mmaf %u, %v, %acc : tile<128x32xf16>, tile<32x64xf16>, tile<128x64xf32>
      continue %next : tile<128x64xf32>
    }
    %t2 = store_view_tko weak %sum, %cv[%i, %j] : tile<128x64xf32>, !wide_c, tile<i32> -> token
    return
  }
  // Rows are split, since a row is reduced.
  entry @softmax(%x: tile<ptr<f32>>, %out: tile<ptr<f32>>) optimization_hints=<sm_90 = {num_cta_in_cga = 4}> {
    %b, %y, %z = get_tile_block_id : tile<i32>
    %zero = constant <i32: 0> : tile<i32>
    %xt = make_tensor_view %x, shape = [24, 64], strides = [64, 1] : !rows
    %ot = make_tensor_view %out, shape = [24, 64], strides = [64, 1] : !rows
    %xv = make_partition_view %xt : !row_tiles
    %ov = make_partition_view %ot : !row_tiles
    %row, %t0 = load_view_tko weak %xv[%b, %zero] : !row_tiles, tile<i32> -> tile<16x64xf32>, token
    %top = reduce %row dim=1 identities=[0xFF800000 : f32] : tile<16x64xf32> -> tile<16xf32> (%u: tile<f32>, %w: tile<f32>) {
      %m = maxf %u, %w : tile<f32>
      yield %m : tile<f32>
    }
    %t = reshape %top : tile<16xf32> -> tile<16x1xf32>
    %tops = broadcast %t : tile<16x1xf32> -> tile<16x64xf32>
    %shifted = subf %row, %tops : tile<16x64xf32>
    %e = exp %shifted : tile<16x64xf32>
    %sum = reduce %e dim=1 identities=[0.0 : f32] : tile<16x64xf32> -> tile<16xf32> (%u: tile<f32>, %w: tile<f32>) {
      %s = addf %u, %w : tile<f32>
      yield %s : tile<f32>
    }
    %s1 = reshape %sum : tile<16xf32> -> tile<16x1xf32>
    %sums = broadcast %s1 : tile<16x1xf32> -> tile<16x64xf32>
    %r = divf %e, %sums : tile<16x64xf32>
    %t1 = store_view_tko weak %r, %ov[%b, %zero] : tile<16x64xf32>, !row_tiles, tile<i32> -> token
    return
  }
  // Element-wise on tiles, while one CTA alone counts the programs.
  entry @count(%x: tile<ptr<f32>>, %y: tile<ptr<f32>>, %out: tile<ptr<f32>>, %count: tile<ptr<i32>>, %n: tile<i32>) optimization_hints=<sm_90 = {num_cta_in_cga = 4}> {
    %b, %by, %bz = get_tile_block_id : tile<i32>
    %one = constant <i32: 1> : tile<i32>
    %xt = make_tensor_view %x, shape = [%n], strides = [1] : tile<i32> -> !row
    %yt = make_tensor_view %y, shape = [%n], strides = [1] : tile<i32> -> !row
    %ot = make_tensor_view %out, shape = [%n], strides = [1] : tile<i32> -> !row
    %xv = make_partition_view %xt : !parts
    %yv = make_partition_view %yt : !parts
    %ov = make_partition_view %ot : !parts
    %u, %t0 = load_view_tko weak %xv[%b] : !parts, tile<i32> -> tile<64xf32>, token
    %v, %t1 = load_view_tko weak %yv[%b] : !parts, tile<i32> -> tile<64xf32>, token
    %w = addf %v, %v : tile<64xf32>
    %s = addf %u, %w : tile<64xf32>
    %t2 = store_view_tko weak %s, %ov[%b] : tile<64xf32>, !parts, tile<i32> -> token
    %old, %t3 = atomic_rmw_tko relaxed device %count, add, %one : tile<ptr<i32>>, tile<i32> -> tile<i32>, token
    return
  }
}
