// Loops with prefetched loads: any number of iterations, loads that must wait for stores, tiles of every size.
// RUN @views
// ARG x = random:8x64xi32:1
// ARG out = zeros:64xi32
// ARG lower = 0
// ARG upper = 0
// ARG step = 1
// EXPECT out = x[0:0:1].sum(0, dtype=np.int32)
// RUN @views
// ARG x = random:8x64xi32:1
// ARG out = zeros:64xi32
// ARG lower = 5
// ARG upper = 2
// ARG step = 1
// EXPECT out = x[5:2:1].sum(0, dtype=np.int32)
// RUN @views
// ARG x = random:8x64xi32:1
// ARG out = zeros:64xi32
// ARG lower = 3
// ARG upper = 4
// ARG step = 1
// EXPECT out = x[3:4:1].sum(0, dtype=np.int32)
// RUN @views
// ARG x = random:8x64xi32:1
// ARG out = zeros:64xi32
// ARG lower = 0
// ARG upper = 2
// ARG step = 1
// EXPECT out = x[0:2:1].sum(0, dtype=np.int32)
// RUN @views
// ARG x = random:8x64xi32:1
// ARG out = zeros:64xi32
// ARG lower = 1
// ARG upper = 4
// ARG step = 1
// EXPECT out = x[1:4:1].sum(0, dtype=np.int32)
// RUN @views
// ARG x = random:8x64xi32:1
// ARG out = zeros:64xi32
// ARG lower = 0
// ARG upper = 8
// ARG step = 1
// EXPECT out = x[0:8:1].sum(0, dtype=np.int32)
// RUN @views
// ARG x = random:8x64xi32:1
// ARG out = zeros:64xi32
// ARG lower = 0
// ARG upper = 8
// ARG step = 3
// EXPECT out = x[0:8:3].sum(0, dtype=np.int32)
// RUN @views
// ARG x = random:8x64xi32:1
// ARG out = zeros:64xi32
// ARG lower = 2
// ARG upper = 7
// ARG step = 2
// EXPECT out = x[2:7:2].sum(0, dtype=np.int32)
// RUN @pointers
// ARG x = random:8x64xi32:1
// ARG out = zeros:64xi32
// ARG lower = 0
// ARG upper = 0
// ARG step = 1
// EXPECT out = x[0:0:1].sum(0, dtype=np.int32)
// RUN @pointers
// ARG x = random:8x64xi32:1
// ARG out = zeros:64xi32
// ARG lower = 5
// ARG upper = 2
// ARG step = 1
// EXPECT out = x[5:2:1].sum(0, dtype=np.int32)
// RUN @pointers
// ARG x = random:8x64xi32:1
// ARG out = zeros:64xi32
// ARG lower = 3
// ARG upper = 4
// ARG step = 1
// EXPECT out = x[3:4:1].sum(0, dtype=np.int32)
// RUN @pointers
// ARG x = random:8x64xi32:1
// ARG out = zeros:64xi32
// ARG lower = 0
// ARG upper = 2
// ARG step = 1
// EXPECT out = x[0:2:1].sum(0, dtype=np.int32)
// RUN @pointers
// ARG x = random:8x64xi32:1
// ARG out = zeros:64xi32
// ARG lower = 1
// ARG upper = 4
// ARG step = 1
// EXPECT out = x[1:4:1].sum(0, dtype=np.int32)
// RUN @pointers
// ARG x = random:8x64xi32:1
// ARG out = zeros:64xi32
// ARG lower = 0
// ARG upper = 8
// ARG step = 1
// EXPECT out = x[0:8:1].sum(0, dtype=np.int32)
// RUN @pointers
// ARG x = random:8x64xi32:1
// ARG out = zeros:64xi32
// ARG lower = 0
// ARG upper = 8
// ARG step = 3
// EXPECT out = x[0:8:3].sum(0, dtype=np.int32)
// RUN @pointers
// ARG x = random:8x64xi32:1
// ARG out = zeros:64xi32
// ARG lower = 2
// ARG upper = 7
// ARG step = 2
// EXPECT out = x[2:7:2].sum(0, dtype=np.int32)
// RUN @prefix_sums
// ARG x = random:8x64xi32:2
// EXPECT x = np.cumsum(x, 0, dtype=np.int32)
// RUN @in_place
// ARG x = random:8x64xi32:3
// EXPECT x = x * 3
// RUN @rows_picked
// ARG x = random:8x64xi32:4
// ARG rows : i32 = np.array([7, 0, 0, 3, 5, 1, 2, 2])
// ARG out = zeros:8x64xi32
// EXPECT out = x[rows]
// RUN @four_rounds
// ARG x = random:4x64xi32:5
// ARG out = zeros:4x64xi32
// EXPECT out = x * x.sum(0, dtype=np.int32)
// RUN @large_halves grid=2
// ARG x = small:300x128xf16:6
// ARG out = zeros:300x128xf16
// ARG rows = 0
// EXPECT out = np.where(np.arange(300)[:, None] < 0, x * np.float16(2), 0)
// RUN @large_halves grid=2
// ARG x = small:300x128xf16:6
// ARG out = zeros:300x128xf16
// ARG rows = 1
// EXPECT out = np.where(np.arange(300)[:, None] < 1, x * np.float16(2), 0)
// RUN @large_halves grid=2
// ARG x = small:300x128xf16:6
// ARG out = zeros:300x128xf16
// ARG rows = 64
// EXPECT out = np.where(np.arange(300)[:, None] < 64, x * np.float16(2), 0)
// RUN @large_halves grid=2
// ARG x = small:300x128xf16:6
// ARG out = zeros:300x128xf16
// ARG rows = 65
// EXPECT out = np.where(np.arange(300)[:, None] < 65, x * np.float16(2), 0)
// RUN @large_halves grid=2
// ARG x = small:300x128xf16:6
// ARG out = zeros:300x128xf16
// ARG rows = 130
// EXPECT out = np.where(np.arange(300)[:, None] < 130, x * np.float16(2), 0)
// RUN @large_halves grid=2
// ARG x = small:300x128xf16:6
// ARG out = zeros:300x128xf16
// ARG rows = 256
// EXPECT out = np.where(np.arange(300)[:, None] < 256, x * np.float16(2), 0)
// RUN @large_halves grid=2
// ARG x = small:300x128xf16:6
// ARG out = zeros:300x128xf16
// ARG rows = 300
// EXPECT out = np.where(np.arange(300)[:, None] < 300, x * np.float16(2), 0)
// RUN @large_words
// ARG x = random:300x128xi32:7
// ARG y = random:300x128xi32:8
// ARG out = zeros:300x128xi32
// ARG rows = 0
// EXPECT out = np.where(np.arange(300)[:, None] < 0, x + y, 0)
// RUN @large_words
// ARG x = random:300x128xi32:7
// ARG y = random:300x128xi32:8
// ARG out = zeros:300x128xi32
// ARG rows = 64
// EXPECT out = np.where(np.arange(300)[:, None] < 64, x + y, 0)
// RUN @large_words
// ARG x = random:300x128xi32:7
// ARG y = random:300x128xi32:8
// ARG out = zeros:300x128xi32
// ARG rows = 300
// EXPECT out = np.where(np.arange(300)[:, None] < 300, x + y, 0)
cuda_tile.module @kernels {
  entry @views(%x: tile<ptr<i32>>, %out: tile<ptr<i32>>, %lower: tile<i32>, %upper: tile<i32>, %step: tile<i32>) {
    %zero = constant <i32: 0> : tile<i32>
    %none = constant <i32: 0> : tile<1x64xi32>
    %t0 = make_token : token
    %xt = make_tensor_view %x, shape = [8, 64], strides = [64, 1] : tensor_view<8x64xi32, strides=[64,1]>
    %xv = make_partition_view %xt : partition_view<tile=(1x64), tensor_view<8x64xi32, strides=[64,1]>>
    %sum = for %i in (%lower to %upper, step %step) : tile<i32> iter_values(%acc = %none) -> (tile<1x64xi32>) {
      %row, %t1 = load_view_tko weak %xv[%i, %zero] token = %t0 : partition_view<tile=(1x64), tensor_view<8x64xi32, strides=[64,1]>>, tile<i32> -> tile<1x64xi32>, token
      %next = addi %acc, %row : tile<1x64xi32>
      continue %next : tile<1x64xi32>
    }
    %ot = make_tensor_view %out, shape = [1, 64], strides = [64, 1] : tensor_view<1x64xi32, strides=[64,1]>
    %ov = make_partition_view %ot : partition_view<tile=(1x64), tensor_view<1x64xi32, strides=[64,1]>>
    %t2 = store_view_tko weak %sum, %ov[%zero, %zero] : tile<1x64xi32>, partition_view<tile=(1x64), tensor_view<1x64xi32, strides=[64,1]>>, tile<i32> -> token
    return
  }
  entry @pointers(%x: tile<ptr<i32>>, %out: tile<ptr<i32>>, %lower: tile<i32>, %upper: tile<i32>, %step: tile<i32>) {
    %none = constant <i32: 0> : tile<64xi32>
    %places = iota : tile<64xi32>
    %width = constant <i32: 64> : tile<64xi32>
    %x1 = reshape %x : tile<ptr<i32>> -> tile<1xptr<i32>>
    %xs = broadcast %x1 : tile<1xptr<i32>> -> tile<64xptr<i32>>
    %sum = for %i in (%lower to %upper, step %step) : tile<i32> iter_values(%acc = %none) -> (tile<64xi32>) {
      %i1 = reshape %i : tile<i32> -> tile<1xi32>
      %is = broadcast %i1 : tile<1xi32> -> tile<64xi32>
      %start = muli %is, %width : tile<64xi32>
      %place = addi %start, %places : tile<64xi32>
      %from = offset %xs, %place : tile<64xptr<i32>>, tile<64xi32> -> tile<64xptr<i32>>
      %row, %t1 = load_ptr_tko weak %from : tile<64xptr<i32>> -> tile<64xi32>, token
      %next = addi %acc, %row : tile<64xi32>
      continue %next : tile<64xi32>
    }
    %o1 = reshape %out : tile<ptr<i32>> -> tile<1xptr<i32>>
    %os = broadcast %o1 : tile<1xptr<i32>> -> tile<64xptr<i32>>
    %to = offset %os, %places : tile<64xptr<i32>>, tile<64xi32> -> tile<64xptr<i32>>
    %t2 = store_ptr_tko weak %to, %sum : tile<64xptr<i32>>, tile<64xi32> -> token
    return
  }
  // Each iteration loads the tile that the previous one stored.
  entry @prefix_sums(%x: tile<ptr<i32>>) {
    %zero = constant <i32: 0> : tile<i32>
    %one = constant <i32: 1> : tile<i32>
    %rows = constant <i32: 8> : tile<i32>
    %t0 = make_token : token
    %xt = make_tensor_view %x, shape = [8, 64], strides = [64, 1] : tensor_view<8x64xi32, strides=[64,1]>
    %xv = make_partition_view %xt : partition_view<tile=(1x64), tensor_view<8x64xi32, strides=[64,1]>>
    %t9 = for %i in (%one to %rows, step %one) : tile<i32> iter_values(%t = %t0) -> (token) {
      %before = subi %i, %one : tile<i32>
      %a, %t1 = load_view_tko weak %xv[%before, %zero] token = %t : partition_view<tile=(1x64), tensor_view<8x64xi32, strides=[64,1]>>, tile<i32> -> tile<1x64xi32>, token
      %b, %t2 = load_view_tko weak %xv[%i, %zero] token = %t : partition_view<tile=(1x64), tensor_view<8x64xi32, strides=[64,1]>>, tile<i32> -> tile<1x64xi32>, token
      %sum = addi %a, %b : tile<1x64xi32>
      %t3 = join_tokens %t1, %t2 : token
      %t4 = store_view_tko weak %sum, %xv[%i, %zero] token = %t3 : tile<1x64xi32>, partition_view<tile=(1x64), tensor_view<8x64xi32, strides=[64,1]>>, tile<i32> -> token
      continue %t4 : token
    }
    return
  }
  // Each iteration stores after its own load; iterations are not ordered.
  entry @in_place(%x: tile<ptr<i32>>) {
    %zero = constant <i32: 0> : tile<i32>
    %one = constant <i32: 1> : tile<i32>
    %rows = constant <i32: 8> : tile<i32>
    %three = constant <i32: 3> : tile<1x64xi32>
    %t0 = make_token : token
    %xt = make_tensor_view %x, shape = [8, 64], strides = [64, 1] : tensor_view<8x64xi32, strides=[64,1]>
    %xv = make_partition_view %xt : partition_view<tile=(1x64), tensor_view<8x64xi32, strides=[64,1]>>
    for %i in (%zero to %rows, step %one) : tile<i32> {
      %a, %t1 = load_view_tko weak %xv[%i, %zero] token = %t0 : partition_view<tile=(1x64), tensor_view<8x64xi32, strides=[64,1]>>, tile<i32> -> tile<1x64xi32>, token
      %b = muli %a, %three : tile<1x64xi32>
      %t2 = store_view_tko weak %b, %xv[%i, %zero] token = %t1 : tile<1x64xi32>, partition_view<tile=(1x64), tensor_view<8x64xi32, strides=[64,1]>>, tile<i32> -> token
      continue
    }
    return
  }
  // The loaded value is the index of the next load.
  entry @rows_picked(%x: tile<ptr<i32>>, %rows: tile<ptr<i32>>, %out: tile<ptr<i32>>) {
    %zero = constant <i32: 0> : tile<i32>
    %one = constant <i32: 1> : tile<i32>
    %count = constant <i32: 8> : tile<i32>
    %xt = make_tensor_view %x, shape = [8, 64], strides = [64, 1] : tensor_view<8x64xi32, strides=[64,1]>
    %xv = make_partition_view %xt : partition_view<tile=(1x64), tensor_view<8x64xi32, strides=[64,1]>>
    %ot = make_tensor_view %out, shape = [8, 64], strides = [64, 1] : tensor_view<8x64xi32, strides=[64,1]>
    %ov = make_partition_view %ot : partition_view<tile=(1x64), tensor_view<8x64xi32, strides=[64,1]>>
    for %i in (%zero to %count, step %one) : tile<i32> {
      %from = offset %rows, %i : tile<ptr<i32>>, tile<i32> -> tile<ptr<i32>>
      %row, %t0 = load_ptr_tko weak %from : tile<ptr<i32>> -> tile<i32>, token
      %a, %t1 = load_view_tko weak %xv[%row, %zero] : partition_view<tile=(1x64), tensor_view<8x64xi32, strides=[64,1]>>, tile<i32> -> tile<1x64xi32>, token
      %t2 = store_view_tko weak %a, %ov[%i, %zero] : tile<1x64xi32>, partition_view<tile=(1x64), tensor_view<8x64xi32, strides=[64,1]>>, tile<i32> -> token
      continue
    }
    return
  }
  // Two loops of constant trip count that load the same tiles.
  entry @four_rounds(%x: tile<ptr<i32>>, %out: tile<ptr<i32>>) {
    %zero = constant <i32: 0> : tile<i32>
    %one = constant <i32: 1> : tile<i32>
    %four = constant <i32: 4> : tile<i32>
    %none = constant <i32: 0> : tile<1x64xi32>
    %t0 = make_token : token
    %xt = make_tensor_view %x, shape = [4, 64], strides = [64, 1] : tensor_view<4x64xi32, strides=[64,1]>
    %xv = make_partition_view %xt : partition_view<tile=(1x64), tensor_view<4x64xi32, strides=[64,1]>>
    %ot = make_tensor_view %out, shape = [4, 64], strides = [64, 1] : tensor_view<4x64xi32, strides=[64,1]>
    %ov = make_partition_view %ot : partition_view<tile=(1x64), tensor_view<4x64xi32, strides=[64,1]>>
    %sum = for %i in (%zero to %four, step %one) : tile<i32> iter_values(%acc = %none) -> (tile<1x64xi32>) {
      %row, %t1 = load_view_tko weak %xv[%i, %zero] token = %t0 : partition_view<tile=(1x64), tensor_view<4x64xi32, strides=[64,1]>>, tile<i32> -> tile<1x64xi32>, token
      %next = addi %acc, %row : tile<1x64xi32>
      continue %next : tile<1x64xi32>
    }
    for %i in (%zero to %four, step %one) : tile<i32> {
      %row, %t1 = load_view_tko weak %xv[%i, %zero] token = %t0 : partition_view<tile=(1x64), tensor_view<4x64xi32, strides=[64,1]>>, tile<i32> -> tile<1x64xi32>, token
      %scaled = muli %row, %sum : tile<1x64xi32>
      %t2 = store_view_tko weak %scaled, %ov[%i, %zero] : tile<1x64xi32>, partition_view<tile=(1x64), tensor_view<4x64xi32, strides=[64,1]>>, tile<i32> -> token
      continue
    }
    return
  }
  // Tiles staged in shared memory; the last one is partly out of bounds.
  entry @large_halves(%x: tile<ptr<f16>>, %out: tile<ptr<f16>>, %rows: tile<i32>) {
    %first, %by, %bz = get_tile_block_id : tile<i32>
    %blocks, %ny, %nz = get_num_tile_blocks : tile<i32>
    %zero = constant <i32: 0> : tile<i32>
    %t0 = make_token : token
    %aligned = assume div_by<16>, %x : tile<ptr<f16>>
    %xt = make_tensor_view %aligned, shape = [%rows, 128], strides = [128, 1] : tile<i32> -> tensor_view<?x128xf16, strides=[128,1]>
    %xv = make_partition_view %xt : partition_view<tile=(64x128), padding_value = zero, tensor_view<?x128xf16, strides=[128,1]>>
    %outt = make_tensor_view %out, shape = [%rows, 128], strides = [128, 1] : tile<i32> -> tensor_view<?x128xf16, strides=[128,1]>
    %outv = make_partition_view %outt : partition_view<tile=(64x128), padding_value = zero, tensor_view<?x128xf16, strides=[128,1]>>
    %tiles, %columns = get_index_space_shape %xv : partition_view<tile=(64x128), padding_value = zero, tensor_view<?x128xf16, strides=[128,1]>> -> tile<i32>
    for %i in (%first to %tiles, step %blocks) : tile<i32> {
      %xi, %tx = load_view_tko weak %xv[%i, %zero] token = %t0 : partition_view<tile=(64x128), padding_value = zero, tensor_view<?x128xf16, strides=[128,1]>>, tile<i32> -> tile<64x128xf16>, token
      %a = ftof %xi : tile<64x128xf16> -> tile<64x128xf32>
      %b = addf %a, %a : tile<64x128xf32>
      %r = ftof %b : tile<64x128xf32> -> tile<64x128xf16>
      %t9 = store_view_tko weak %r, %outv[%i, %zero] : tile<64x128xf16>, partition_view<tile=(64x128), padding_value = zero, tensor_view<?x128xf16, strides=[128,1]>>, tile<i32> -> token
      continue
    }
    return
  }
  entry @large_words(%x: tile<ptr<i32>>, %y: tile<ptr<i32>>, %out: tile<ptr<i32>>, %rows: tile<i32>) {
    %first, %by, %bz = get_tile_block_id : tile<i32>
    %blocks, %ny, %nz = get_num_tile_blocks : tile<i32>
    %zero = constant <i32: 0> : tile<i32>
    %t0 = make_token : token
    %xt = make_tensor_view %x, shape = [%rows, 128], strides = [128, 1] : tile<i32> -> tensor_view<?x128xi32, strides=[128,1]>
    %xv = make_partition_view %xt : partition_view<tile=(32x128), padding_value = zero, tensor_view<?x128xi32, strides=[128,1]>>
    %yt = make_tensor_view %y, shape = [%rows, 128], strides = [128, 1] : tile<i32> -> tensor_view<?x128xi32, strides=[128,1]>
    %yv = make_partition_view %yt : partition_view<tile=(32x128), padding_value = zero, tensor_view<?x128xi32, strides=[128,1]>>
    %outt = make_tensor_view %out, shape = [%rows, 128], strides = [128, 1] : tile<i32> -> tensor_view<?x128xi32, strides=[128,1]>
    %outv = make_partition_view %outt : partition_view<tile=(32x128), padding_value = zero, tensor_view<?x128xi32, strides=[128,1]>>
    %tiles, %columns = get_index_space_shape %xv : partition_view<tile=(32x128), padding_value = zero, tensor_view<?x128xi32, strides=[128,1]>> -> tile<i32>
    for %i in (%first to %tiles, step %blocks) : tile<i32> {
      %xi, %tx = load_view_tko weak %xv[%i, %zero] token = %t0 : partition_view<tile=(32x128), padding_value = zero, tensor_view<?x128xi32, strides=[128,1]>>, tile<i32> -> tile<32x128xi32>, token
      %yi, %ty = load_view_tko weak %yv[%i, %zero] token = %t0 : partition_view<tile=(32x128), padding_value = zero, tensor_view<?x128xi32, strides=[128,1]>>, tile<i32> -> tile<32x128xi32>, token
      %r = addi %xi, %yi : tile<32x128xi32>
      %t9 = store_view_tko weak %r, %outv[%i, %zero] : tile<32x128xi32>, partition_view<tile=(32x128), padding_value = zero, tensor_view<?x128xi32, strides=[128,1]>>, tile<i32> -> token
      continue
    }
    return
  }
}
