// Reductions of more lines than are exchanged at once, and of tiles beyond the registers.
// RUN @columns
// ARG x = iota:32x1024xi32
// ARG out = zeros:1024xi32
// EXPECT out = x.sum(0)
// RUN @places
// ARG x : i32 = (np.arange(16 * 32 * 32).reshape(16, 32, 32) * 7919) % 1009
// ARG out = zeros:16x32xi32
// EXPECT out = x.argmax(1)
// RUN @below
// ARG x : i32 = (np.arange(32768) * 7919) % 30011
// ARG out = zeros:32768xi32
// EXPECT out = x - x.max()
cuda_tile.module @kernels {
  entry @columns(%x: tile<ptr<i32>>, %out: tile<ptr<i32>>) {
    %zero = constant <i32: 0> : tile<i32>
    %xt = make_tensor_view %x, shape = [32, 1024], strides = [1024, 1] : tensor_view<32x1024xi32, strides=[1024,1]>
    %xv = make_partition_view %xt : partition_view<tile=(32x1024), tensor_view<32x1024xi32, strides=[1024,1]>>
    %t, %t0 = load_view_tko weak %xv[%zero, %zero] : partition_view<tile=(32x1024), tensor_view<32x1024xi32, strides=[1024,1]>>, tile<i32> -> tile<32x1024xi32>, token
    %sum = reduce %t dim=0 identities=[0 : i32] : tile<32x1024xi32> -> tile<1024xi32>
      (%a: tile<i32>, %b: tile<i32>) {
        %s = addi %a, %b : tile<i32>
        yield %s : tile<i32>
      }
    %ot = make_tensor_view %out, shape = [1024], strides = [1] : tensor_view<1024xi32, strides=[1]>
    %ov = make_partition_view %ot : partition_view<tile=(1024), tensor_view<1024xi32, strides=[1]>>
    %t1 = store_view_tko weak %sum, %ov[%zero] : tile<1024xi32>, partition_view<tile=(1024), tensor_view<1024xi32, strides=[1]>>, tile<i32> -> token
    return
  }
  entry @places(%x: tile<ptr<i32>>, %out: tile<ptr<i32>>) {
    %zero = constant <i32: 0> : tile<i32>
    %xt = make_tensor_view %x, shape = [16, 32, 32], strides = [1024, 32, 1] : tensor_view<16x32x32xi32, strides=[1024,32,1]>
    %xv = make_partition_view %xt : partition_view<tile=(16x32x32), tensor_view<16x32x32xi32, strides=[1024,32,1]>>
    %t, %t0 = load_view_tko weak %xv[%zero, %zero, %zero] : partition_view<tile=(16x32x32), tensor_view<16x32x32xi32, strides=[1024,32,1]>>, tile<i32> -> tile<16x32x32xi32>, token
    %numbers = iota : tile<32xi32>
    %row = reshape %numbers : tile<32xi32> -> tile<1x32x1xi32>
    %places = broadcast %row : tile<1x32x1xi32> -> tile<16x32x32xi32>
    %most:2 = reduce %t, %places dim=1 identities=[-2147483648 : i32, 0 : i32] : tile<16x32x32xi32>, tile<16x32x32xi32> -> tile<16x32xi32>, tile<16x32xi32>
      (%a: tile<i32>, %b: tile<i32>, %i: tile<i32>, %j: tile<i32>) {
        %more = cmpi greater_than %a, %b, signed : tile<i32> -> tile<i1>
        %same = cmpi equal %a, %b, signed : tile<i32> -> tile<i1>
        %first = cmpi less_than %i, %j, signed : tile<i32> -> tile<i1>
        %tie = andi %same, %first : tile<i1>
        %pick = ori %more, %tie : tile<i1>
        %v = select %pick, %a, %b : tile<i1>, tile<i32>
        %w = select %pick, %i, %j : tile<i1>, tile<i32>
        yield %v, %w : tile<i32>, tile<i32>
      }
    %ot = make_tensor_view %out, shape = [16, 32], strides = [32, 1] : tensor_view<16x32xi32, strides=[32,1]>
    %ov = make_partition_view %ot : partition_view<tile=(16x32), tensor_view<16x32xi32, strides=[32,1]>>
    %t1 = store_view_tko weak %most#1, %ov[%zero, %zero] : tile<16x32xi32>, partition_view<tile=(16x32), tensor_view<16x32xi32, strides=[32,1]>>, tile<i32> -> token
    return
  }
  // Each element is compared with a reduction of all of them.
  entry @below(%x: tile<ptr<i32>>, %out: tile<ptr<i32>>) {
    %zero = constant <i32: 0> : tile<i32>
    %xt = make_tensor_view %x, shape = [32768], strides = [1] : tensor_view<32768xi32, strides=[1]>
    %xv = make_partition_view %xt : partition_view<tile=(32768), tensor_view<32768xi32, strides=[1]>>
    %t, %t0 = load_view_tko weak %xv[%zero] : partition_view<tile=(32768), tensor_view<32768xi32, strides=[1]>>, tile<i32> -> tile<32768xi32>, token
    %most = reduce %t dim=0 identities=[-2147483648 : i32] : tile<32768xi32> -> tile<i32>
      (%a: tile<i32>, %b: tile<i32>) {
        %s = maxi %a, %b signed : tile<i32>
        yield %s : tile<i32>
      }
    %one = reshape %most : tile<i32> -> tile<1xi32>
    %all = broadcast %one : tile<1xi32> -> tile<32768xi32>
    %less = subi %t, %all : tile<32768xi32>
    %ot = make_tensor_view %out, shape = [32768], strides = [1] : tensor_view<32768xi32, strides=[1]>
    %ov = make_partition_view %ot : partition_view<tile=(32768), tensor_view<32768xi32, strides=[1]>>
    %t1 = store_view_tko weak %less, %ov[%zero] : tile<32768xi32>, partition_view<tile=(32768), tensor_view<32768xi32, strides=[1]>>, tile<i32> -> token
    return
  }
}
