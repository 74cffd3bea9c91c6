// OPTIONS: --emit nvvm
cuda_tile.module @m {
  entry @k(%p: tile<ptr<f32>>, %n: tile<i32>) {
    %p16 = assume div_by<16>, %p : tile<ptr<f32>>
    %base = reshape %p16 : tile<ptr<f32>> -> tile<1xptr<f32>>
    %bases = broadcast %base : tile<1xptr<f32>> -> tile<1024xptr<f32>>
    %o = iota : tile<1024xi32>
    %n1 = reshape %n : tile<i32> -> tile<1xi32>
    %ns = broadcast %n1 : tile<1xi32> -> tile<1024xi32>
    %mask = cmpi less_than %o, %ns, signed : tile<1024xi32> -> tile<1024xi1>
    %ptrs = offset %bases, %o : tile<1024xptr<f32>>, tile<1024xi32> -> tile<1024xptr<f32>>
    // REMARK vector-mask: Load of 4 bytes at a time instead of 16: the mask is known to be the same for 1 neighbours only
    %x, %t = load_ptr_tko weak %ptrs, %mask : tile<1024xptr<f32>>, tile<1024xi1> -> tile<1024xf32>, token
    %u = store_ptr_tko weak %ptrs, %x : tile<1024xptr<f32>>, tile<1024xf32> -> token
    return
  }
}
