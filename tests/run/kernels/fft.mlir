// Fourier transforms of 64 points as two stages of 8: rotate the columns, twiddle, rotate the rows, and transpose. Each stage is
// four real matmuls.
// RUN grid=3
// ARG xr = random:3x8x8xf32:1
// ARG xi = random:3x8x8xf32:2
// ARG wr : f32 = np.cos(-2 * np.pi * np.outer(np.arange(8), np.arange(8)) / 8)
// ARG wi : f32 = np.sin(-2 * np.pi * np.outer(np.arange(8), np.arange(8)) / 8)
// ARG tr : f32 = np.cos(-2 * np.pi * np.outer(np.arange(8), np.arange(8)) / 64)
// ARG ti : f32 = np.sin(-2 * np.pi * np.outer(np.arange(8), np.arange(8)) / 64)
// ARG yr = zeros:3x8x8xf32
// ARG yi = zeros:3x8x8xf32
// EXPECT yr near fourier(Complex(xr, xi), (8, 8)).real.around(np.fft.fft((xr.value + 1j * xi.value).reshape(3, 64)).real)
// EXPECT yi near fourier(Complex(xr, xi), (8, 8)).imaginary.around(np.fft.fft((xr.value + 1j * xi.value).reshape(3, 64)).imag)
!x = !cuda_tile.tensor_view<3x8x8xf32, strides=[64,8,1]>
!xv = !cuda_tile.partition_view<tile=(1x8x8), tensor_view<3x8x8xf32, strides=[64,8,1]>>
!w = !cuda_tile.tensor_view<8x8xf32, strides=[8,1]>
!wv = !cuda_tile.partition_view<tile=(8x8), tensor_view<8x8xf32, strides=[8,1]>>
cuda_tile.module @kernels {
  entry @fft(%xr: tile<ptr<f32>>, %xi: tile<ptr<f32>>, %wr: tile<ptr<f32>>, %wi: tile<ptr<f32>>, %tr: tile<ptr<f32>>, %ti: tile<ptr<f32>>, %yr: tile<ptr<f32>>, %yi: tile<ptr<f32>>) {
    %i, %j, %k = get_tile_block_id : tile<i32>
    %zero = constant <i32: 0> : tile<i32>
    %xrt = make_tensor_view %xr, shape = [3, 8, 8], strides = [64, 8, 1] : !x
    %xrv = make_partition_view %xrt : !xv
    %xit = make_tensor_view %xi, shape = [3, 8, 8], strides = [64, 8, 1] : !x
    %xiv = make_partition_view %xit : !xv
    %wrt = make_tensor_view %wr, shape = [8, 8], strides = [8, 1] : !w
    %wrv = make_partition_view %wrt : !wv
    %wit = make_tensor_view %wi, shape = [8, 8], strides = [8, 1] : !w
    %wiv = make_partition_view %wit : !wv
    %trt = make_tensor_view %tr, shape = [8, 8], strides = [8, 1] : !w
    %trv = make_partition_view %trt : !wv
    %tit = make_tensor_view %ti, shape = [8, 8], strides = [8, 1] : !w
    %tiv = make_partition_view %tit : !wv
    %yrt = make_tensor_view %yr, shape = [3, 8, 8], strides = [64, 8, 1] : !x
    %yrv = make_partition_view %yrt : !xv
    %yit = make_tensor_view %yi, shape = [3, 8, 8], strides = [64, 8, 1] : !x
    %yiv = make_partition_view %yit : !xv
    %xr3, %t_xr = load_view_tko weak %xrv[%i, %zero, %zero] : !xv, tile<i32> -> tile<1x8x8xf32>, token
    %xra = reshape %xr3 : tile<1x8x8xf32> -> tile<8x8xf32>
    %xi3, %t_xi = load_view_tko weak %xiv[%i, %zero, %zero] : !xv, tile<i32> -> tile<1x8x8xf32>, token
    %xia = reshape %xi3 : tile<1x8x8xf32> -> tile<8x8xf32>
    %wra, %t_wr = load_view_tko weak %wrv[%zero, %zero] : !wv, tile<i32> -> tile<8x8xf32>, token
    %wia, %t_wi = load_view_tko weak %wiv[%zero, %zero] : !wv, tile<i32> -> tile<8x8xf32>, token
    %tra, %t_tr = load_view_tko weak %trv[%zero, %zero] : !wv, tile<i32> -> tile<8x8xf32>, token
    %tia, %t_ti = load_view_tko weak %tiv[%zero, %zero] : !wv, tile<i32> -> tile<8x8xf32>, token
    %none = constant <f32: 0.0> : tile<8x8xf32>
    %xn = negf %xia : tile<8x8xf32>
    %a0 = mmaf %wra, %xra, %none : tile<8x8xf32>, tile<8x8xf32>, tile<8x8xf32>
    %ar = mmaf %wia, %xn, %a0 : tile<8x8xf32>, tile<8x8xf32>, tile<8x8xf32>
    %a1 = mmaf %wia, %xra, %none : tile<8x8xf32>, tile<8x8xf32>, tile<8x8xf32>
    %ai = mmaf %wra, %xia, %a1 : tile<8x8xf32>, tile<8x8xf32>, tile<8x8xf32>
    %b0 = mulf %ai, %tia : tile<8x8xf32>
    %b1 = negf %b0 : tile<8x8xf32>
    %br = fma %ar, %tra, %b1 : tile<8x8xf32>
    %b2 = mulf %ar, %tia : tile<8x8xf32>
    %bi = fma %ai, %tra, %b2 : tile<8x8xf32>
    %bn = negf %bi : tile<8x8xf32>
    %c0 = mmaf %br, %wra, %none : tile<8x8xf32>, tile<8x8xf32>, tile<8x8xf32>
    %cr = mmaf %bn, %wia, %c0 : tile<8x8xf32>, tile<8x8xf32>, tile<8x8xf32>
    %c1 = mmaf %br, %wia, %none : tile<8x8xf32>, tile<8x8xf32>, tile<8x8xf32>
    %ci = mmaf %bi, %wra, %c1 : tile<8x8xf32>, tile<8x8xf32>, tile<8x8xf32>
    %yrp = permute %cr [1, 0] : tile<8x8xf32> -> tile<8x8xf32>
    %yr3 = reshape %yrp : tile<8x8xf32> -> tile<1x8x8xf32>
    %t_yr = store_view_tko weak %yr3, %yrv[%i, %zero, %zero] : tile<1x8x8xf32>, !xv, tile<i32> -> token
    %yip = permute %ci [1, 0] : tile<8x8xf32> -> tile<8x8xf32>
    %yi3 = reshape %yip : tile<8x8xf32> -> tile<1x8x8xf32>
    %t_yi = store_view_tko weak %yi3, %yiv[%i, %zero, %zero] : tile<1x8x8xf32>, !xv, tile<i32> -> token
    return
  }
}
