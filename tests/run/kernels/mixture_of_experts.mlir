// Mixture of experts: tokens are gathered by expert, eight to a tile and the last one not full; each tile is multiplied by its
// expert's matrix and scattered to the rows of its tokens. Three experts have three tokens each, one has seven.
// RUN grid=4x2
// ARG x = small:16x32xf16:1
// ARG w = small:4x32x32xf16:2
// ARG ids : i32 = np.where(np.arange(32) % 8 < np.where(np.arange(32) < 24, 3, 7), np.arange(32) // 8 * 3 + np.arange(32) % 8, 16)
// ARG experts : i32 = np.arange(4)
// ARG y = zeros:16x32xf32
// EXPECT y = np.einsum('tk,tkn->tn', np.float64(x), np.float64(w)[np.minimum(np.arange(16) // 3, 3)])
// RUN grid=4x2
// ARG x = random:16x32xf16:1
// ARG w = random:4x32x32xf16:2
// ARG ids : i32 = np.where(np.arange(32) % 8 < np.where(np.arange(32) < 24, 3, 7), np.arange(32) // 8 * 3 + np.arange(32) % 8, 16)
// ARG experts : i32 = np.arange(4)
// ARG y = zeros:16x32xf32
// EXPECT y near (x[:, None] @ w[np.minimum(np.arange(16) // 3, 3)])[:, 0]
!w = !cuda_tile.tensor_view<4x32x32xf16, strides=[1024,32,1]>
!wv = !cuda_tile.partition_view<tile=(1x32x16), tensor_view<4x32x32xf16, strides=[1024,32,1]>>
cuda_tile.module @kernels {
  entry @experts(%x: tile<ptr<f16>>, %w: tile<ptr<f16>>, %ids: tile<ptr<i32>>, %experts: tile<ptr<i32>>, %y: tile<ptr<f32>>) {
    %i, %j, %z = get_tile_block_id : tile<i32>
    %zero = constant <i32: 0> : tile<i32>
    %height = constant <i32: 8> : tile<i32>
    %half = constant <i32: 16> : tile<i32>
    %width = constant <i32: 32> : tile<i32>
    %wt = make_tensor_view %w, shape = [4, 32, 32], strides = [1024, 32, 1] : !w
    %wv = make_partition_view %wt : !wv
    %ep = offset %experts, %i : tile<ptr<i32>>, tile<i32> -> tile<ptr<i32>>
    %expert, %t0 = load_ptr_tko weak %ep : tile<ptr<i32>> -> tile<i32>, token
    %first = muli %i, %height : tile<i32>
    %lane = iota : tile<8xi32>
    %ip = offset %ids, %first : tile<ptr<i32>>, tile<i32> -> tile<ptr<i32>>
    %ir = reshape %ip : tile<ptr<i32>> -> tile<1xptr<i32>>
    %is = broadcast %ir : tile<1xptr<i32>> -> tile<8xptr<i32>>
    %ia = offset %is, %lane : tile<8xptr<i32>>, tile<8xi32> -> tile<8xptr<i32>>
    %token, %t1 = load_ptr_tko weak %ia : tile<8xptr<i32>> -> tile<8xi32>, token
    %end = constant <i32: 16> : tile<8xi32>
    %real = cmpi less_than %token, %end, signed : tile<8xi32> -> tile<8xi1>
    %stride = constant <i32: 32> : tile<8xi32>
    %start = muli %token, %stride : tile<8xi32>
    %startr = reshape %start : tile<8xi32> -> tile<8x1xi32>
    %realr = reshape %real : tile<8xi1> -> tile<8x1xi1>
    %xstart = broadcast %startr : tile<8x1xi32> -> tile<8x32xi32>
    %xreal = broadcast %realr : tile<8x1xi1> -> tile<8x32xi1>
    %depth = iota : tile<32xi32>
    %depthr = reshape %depth : tile<32xi32> -> tile<1x32xi32>
    %depths = broadcast %depthr : tile<1x32xi32> -> tile<8x32xi32>
    %xat = addi %xstart, %depths : tile<8x32xi32>
    %xr = reshape %x : tile<ptr<f16>> -> tile<1x1xptr<f16>>
    %xs = broadcast %xr : tile<1x1xptr<f16>> -> tile<8x32xptr<f16>>
    %xp = offset %xs, %xat : tile<8x32xptr<f16>>, tile<8x32xi32> -> tile<8x32xptr<f16>>
    %none = constant <f16: 0.0> : tile<8x32xf16>
    %rows, %t2 = load_ptr_tko weak %xp, %xreal, %none : tile<8x32xptr<f16>>, tile<8x32xi1>, tile<8x32xf16> -> tile<8x32xf16>, token
    %part, %t3 = load_view_tko weak %wv[%expert, %zero, %j] : !wv, tile<i32> -> tile<1x32x16xf16>, token
    %matrix = reshape %part : tile<1x32x16xf16> -> tile<32x16xf16>
    %init = constant <f32: 0.0> : tile<8x16xf32>
    %product = mmaf %rows, %matrix, %init : tile<8x32xf16>, tile<32x16xf16>, tile<8x16xf32>
    %side = muli %j, %half : tile<i32>
    %sider = reshape %side : tile<i32> -> tile<1xi32>
    %sides = broadcast %sider : tile<1xi32> -> tile<16xi32>
    %column = iota : tile<16xi32>
    %columns = addi %sides, %column : tile<16xi32>
    %columnr = reshape %columns : tile<16xi32> -> tile<1x16xi32>
    %ycolumn = broadcast %columnr : tile<1x16xi32> -> tile<8x16xi32>
    %ystart = broadcast %startr : tile<8x1xi32> -> tile<8x16xi32>
    %yreal = broadcast %realr : tile<8x1xi1> -> tile<8x16xi1>
    %yat = addi %ystart, %ycolumn : tile<8x16xi32>
    %yr = reshape %y : tile<ptr<f32>> -> tile<1x1xptr<f32>>
    %ys = broadcast %yr : tile<1x1xptr<f32>> -> tile<8x16xptr<f32>>
    %yp = offset %ys, %yat : tile<8x16xptr<f32>>, tile<8x16xi32> -> tile<8x16xptr<f32>>
    %t4 = store_ptr_tko weak %yp, %product, %yreal : tile<8x16xptr<f32>>, tile<8x16xf32>, tile<8x16xi1> -> token
    return
  }
}
