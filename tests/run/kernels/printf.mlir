// Blocks report the sum of their part; only those do that find a negative element.
// RUN grid=4
// ARG x : f32 = np.arange(32) - 12.5
// PRINTS block 0: -72.00
// PRINTS block 1: -8.00
!x = !cuda_tile.tensor_view<32xf32, strides=[1]>
!xv = !cuda_tile.partition_view<tile=(8), tensor_view<32xf32, strides=[1]>>
cuda_tile.module @kernels {
  entry @printf(%x: tile<ptr<f32>>) {
    %i, %j, %z = get_tile_block_id : tile<i32>
    %xt = make_tensor_view %x, shape = [32], strides = [1] : !x
    %xv = make_partition_view %xt : !xv
    %part, %t0 = load_view_tko weak %xv[%i] : !xv, tile<i32> -> tile<8xf32>, token
    %sum = reduce %part dim=0 identities=[0.0 : f32] : tile<8xf32> -> tile<f32> (%u: tile<f32>, %v: tile<f32>) {
      %r = addf %u, %v : tile<f32>
      yield %r : tile<f32>
    }
    %least = reduce %part dim=0 identities=[0x7F800000 : f32] : tile<8xf32> -> tile<f32> (%u: tile<f32>, %v: tile<f32>) {
      %r = minf %u, %v : tile<f32>
      yield %r : tile<f32>
    }
    %zero = constant <f32: 0.0> : tile<f32>
    %negative = cmpf less_than ordered %least, %zero : tile<f32> -> tile<i1>
    if %negative {
      %t1 = print_tko "block %d: %.2f\0A", %i, %sum : tile<i32>, tile<f32> -> token
    }
    return
  }
}
