// z = x + y, through views with a ragged edge, and through pointers with a mask.
// RUN @views grid=4
// ARG x = random:100xf32:1
// ARG y = random:100xf32:2
// ARG z = zeros:100xf32
// EXPECT z = x + y
// RUN @pointers grid=4
// ARG x = random:100xbf16:1
// ARG y = random:100xbf16:2
// ARG z = zeros:100xbf16
// ARG n = 100
// EXPECT z = x + y
// RUN @pointers grid=4
// ARG x = random:128xbf16:1
// ARG y = random:128xbf16:2
// ARG z = zeros:128xbf16
// ARG n = 70
// EXPECT z = np.where(np.arange(128) < 70, x + y, 0)
!x = !cuda_tile.tensor_view<100xf32, strides=[1]>
!xv = !cuda_tile.partition_view<tile=(32), tensor_view<100xf32, strides=[1]>>
cuda_tile.module @kernels {
  entry @views(%x: tile<ptr<f32>>, %y: tile<ptr<f32>>, %z: tile<ptr<f32>>) {
    %i, %j, %k = get_tile_block_id : tile<i32>
    %xt = make_tensor_view %x, shape = [100], strides = [1] : !x
    %xv = make_partition_view %xt : !xv
    %yt = make_tensor_view %y, shape = [100], strides = [1] : !x
    %yv = make_partition_view %yt : !xv
    %zt = make_tensor_view %z, shape = [100], strides = [1] : !x
    %zv = make_partition_view %zt : !xv
    %a, %t0 = load_view_tko weak %xv[%i] : !xv, tile<i32> -> tile<32xf32>, token
    %b, %t1 = load_view_tko weak %yv[%i] : !xv, tile<i32> -> tile<32xf32>, token
    %c = addf %a, %b : tile<32xf32>
    %t2 = store_view_tko weak %c, %zv[%i] : tile<32xf32>, !xv, tile<i32> -> token
    return
  }
  entry @pointers(%x: tile<ptr<bf16>>, %y: tile<ptr<bf16>>, %z: tile<ptr<bf16>>, %n: tile<i32>) {
    %i, %j, %k = get_tile_block_id : tile<i32>
    %width = constant <i32: 32> : tile<i32>
    %first = muli %i, %width : tile<i32>
    %f = reshape %first : tile<i32> -> tile<1xi32>
    %firsts = broadcast %f : tile<1xi32> -> tile<32xi32>
    %lanes = iota : tile<32xi32>
    %at = addi %firsts, %lanes : tile<32xi32>
    %e = reshape %n : tile<i32> -> tile<1xi32>
    %ends = broadcast %e : tile<1xi32> -> tile<32xi32>
    %inside = cmpi less_than %at, %ends, signed : tile<32xi32> -> tile<32xi1>
    %none = constant <bf16: 0.0> : tile<32xbf16>
    %xr = reshape %x : tile<ptr<bf16>> -> tile<1xptr<bf16>>
    %xs = broadcast %xr : tile<1xptr<bf16>> -> tile<32xptr<bf16>>
    %xp = offset %xs, %at : tile<32xptr<bf16>>, tile<32xi32> -> tile<32xptr<bf16>>
    %yr = reshape %y : tile<ptr<bf16>> -> tile<1xptr<bf16>>
    %ys = broadcast %yr : tile<1xptr<bf16>> -> tile<32xptr<bf16>>
    %yp = offset %ys, %at : tile<32xptr<bf16>>, tile<32xi32> -> tile<32xptr<bf16>>
    %zr = reshape %z : tile<ptr<bf16>> -> tile<1xptr<bf16>>
    %zs = broadcast %zr : tile<1xptr<bf16>> -> tile<32xptr<bf16>>
    %zp = offset %zs, %at : tile<32xptr<bf16>>, tile<32xi32> -> tile<32xptr<bf16>>
    %a, %t0 = load_ptr_tko weak %xp, %inside, %none : tile<32xptr<bf16>>, tile<32xi1>, tile<32xbf16> -> tile<32xbf16>, token
    %b, %t1 = load_ptr_tko weak %yp, %inside, %none : tile<32xptr<bf16>>, tile<32xi1>, tile<32xbf16> -> tile<32xbf16>, token
    %c = addf %a, %b : tile<32xbf16>
    %t2 = store_ptr_tko weak %zp, %c, %inside : tile<32xptr<bf16>>, tile<32xbf16>, tile<32xi1> -> token
    return
  }
}
