// Scratch memory of a block: alloca, with and without `global`.
cuda_tile.module @kernels {
  entry @scratch(%out: tile<ptr<f16>>, %value: tile<f16>) {
    %mine = alloca num_elem = 32, alignment = 16 : tile<ptr<f16>>
    %shared = alloca num_elem = 1, alignment = 2 global : tile<ptr<f16>>
    %t0 = store_ptr_tko weak %mine, %value : tile<ptr<f16>>, tile<f16> -> token
    %back, %t1 = load_ptr_tko weak %mine token=%t0 : tile<ptr<f16>> -> tile<f16>, token
    %t2 = store_ptr_tko weak %out, %back token=%t1 : tile<ptr<f16>>, tile<f16> -> token
    return
  }
}
