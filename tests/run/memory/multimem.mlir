// Multimem addresses of a multicast object with one GPU, which are those of its memory: only on the
// executor, since a GPU needs the addresses of such an object. `test_multimem.py` has compiled code.
// RUN @all grid=7
// ARG x = small:100xf32:1
// ARG y = small:100xf32:2
// EXPECT x = x
// EXPECT y = 3 * x
// ONLY plain
!t = !cuda_tile.tensor_view<100xf32, strides=[1]>
!v = !cuda_tile.partition_view<tile=(16), padding_value = zero, tensor_view<100xf32, strides=[1]>>
cuda_tile.module @kernels {
  entry @all(%x: tile<ptr<f32>>, %y: tile<ptr<f32>>) {
    %b, %by, %bz = get_tile_block_id : tile<i32>
    %xt = make_tensor_view %x, shape = [100], strides = [1] : !t
    %xv = make_partition_view %xt : !v
    %yt = make_tensor_view %y, shape = [100], strides = [1] : !t
    %yv = make_partition_view %yt : !v
    %a, %t0 = multimem_load_reduce_view_tko relaxed sys %xv[%b], add : !v, tile<i32> -> tile<16xf32>, token
    %twice = addf %a, %a : tile<16xf32>
    %t1 = multimem_store_view_tko weak %twice, %yv[%b] token = %t0 : tile<16xf32>, !v, tile<i32> -> token
    %t2 = multimem_reduce_view_tko relaxed sys %yv[%b], add, %a token = %t1 : tile<16xf32>, !v, tile<i32> -> token
    return
  }
}
