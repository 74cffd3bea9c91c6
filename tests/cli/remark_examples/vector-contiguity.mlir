// OPTIONS: --emit nvvm
cuda_tile.module @m {
  entry @k(%p: tile<ptr<f32>>, %n: tile<i32>) {
    %p16 = assume div_by<16>, %p : tile<ptr<f32>>
    %base = reshape %p16 : tile<ptr<f32>> -> tile<1xptr<f32>>
    %bases = broadcast %base : tile<1xptr<f32>> -> tile<1024xptr<f32>>
    %o = iota : tile<1024xi32>
    %n1 = reshape %n : tile<i32> -> tile<1xi32>
    %ns = broadcast %n1 : tile<1xi32> -> tile<1024xi32>
    %scaled = muli %o, %ns : tile<1024xi32>
    %ptrs = offset %bases, %scaled : tile<1024xptr<f32>>, tile<1024xi32> -> tile<1024xptr<f32>>
    // REMARK vector-contiguity: only 1 neighbouring pointers are known to be contiguous
    %x, %t = load_ptr_tko weak %ptrs : tile<1024xptr<f32>> -> tile<1024xf32>, token
    %u = store_ptr_tko weak %ptrs, %x : tile<1024xptr<f32>>, tile<1024xf32> -> token
    return
  }
}
