// C = A · B + C of fp8 in tiles for wgmma, with ragged edges: B row- or column-major, accumulation in full precision or fast.
// RUN @rows grid=2x2
// ARG a = small:120x144xf8E4M3FN:1
// ARG b = small:144x48xf8E4M3FN:2
// ARG c = small:120x48xf32:3
// EXPECT c = wide_f8E4M3FN(a) @ wide_f8E4M3FN(b) + c
// RUN @rows grid=2x2
// ARG a = random:120x144xf8E4M3FN:1
// ARG b = random:144x48xf8E4M3FN:2
// ARG c = random:120x48xf32:3
// EXPECT c near wgmma_dot(a, b, c)
// RUN @columns grid=2x2
// ARG a = small:120x144xf8E5M2:1
// ARG b = small:48x144xf8E5M2:2
// ARG c = small:120x48xf32:3
// EXPECT c = wide_f8E5M2(a) @ wide_f8E5M2(b).T + c
// RUN @columns grid=2x2
// ARG a = random:120x144xf8E5M2:1
// ARG b = random:48x144xf8E5M2:2
// ARG c = random:120x48xf32:3
// EXPECT c near wgmma_dot(a, b.swapaxes(0, 1), c, fast=True)
// RUN @batch grid=1
// ARG a = small:2x64x32xf8E4M3FN:1
// ARG b = small:2x32x16xf8E4M3FN:2
// ARG c = zeros:2x64x16xf32
// EXPECT c = wide_f8E4M3FN(a) @ wide_f8E4M3FN(b)
// RUN @one_of_many grid=2
// ARG a = random:2x64x128xf8E4M3FN:1
// ARG b = random:2x128x64xf8E4M3FN:2
// ARG c = zeros:2x64x64xf32
// EXPECT c near wgmma_dot(a, b)
!a4 = !cuda_tile.tensor_view<120x144xf8E4M3FN, strides=[144,1]>
!a4v = !cuda_tile.partition_view<tile=(64x64), padding_value=zero, tensor_view<120x144xf8E4M3FN, strides=[144,1]>>
!b4 = !cuda_tile.tensor_view<144x48xf8E4M3FN, strides=[48,1]>
!b4v = !cuda_tile.partition_view<tile=(64x32), padding_value=zero, tensor_view<144x48xf8E4M3FN, strides=[48,1]>>
!a5 = !cuda_tile.tensor_view<120x144xf8E5M2, strides=[144,1]>
!a5v = !cuda_tile.partition_view<tile=(64x64), padding_value=zero, tensor_view<120x144xf8E5M2, strides=[144,1]>>
!b5 = !cuda_tile.tensor_view<144x48xf8E5M2, strides=[1,144]>
!b5v = !cuda_tile.partition_view<tile=(64x32), padding_value=zero, tensor_view<144x48xf8E5M2, strides=[1,144]>>
!c = !cuda_tile.tensor_view<120x48xf32, strides=[48,1]>
!cv = !cuda_tile.partition_view<tile=(64x32), tensor_view<120x48xf32, strides=[48,1]>>
!ba = !cuda_tile.tensor_view<2x64x32xf8E4M3FN, strides=[2048,32,1]>
!bav = !cuda_tile.partition_view<tile=(2x64x32), tensor_view<2x64x32xf8E4M3FN, strides=[2048,32,1]>>
!bb = !cuda_tile.tensor_view<2x32x16xf8E4M3FN, strides=[512,16,1]>
!bbv = !cuda_tile.partition_view<tile=(2x32x16), tensor_view<2x32x16xf8E4M3FN, strides=[512,16,1]>>
!bc = !cuda_tile.tensor_view<2x64x16xf32, strides=[1024,16,1]>
!bcv = !cuda_tile.partition_view<tile=(2x64x16), tensor_view<2x64x16xf32, strides=[1024,16,1]>>
!ma = !cuda_tile.tensor_view<?x?x?xf8E4M3FN, strides=[?,?,1]>
!mav = !cuda_tile.partition_view<tile=(1x64x64), padding_value=zero, tensor_view<?x?x?xf8E4M3FN, strides=[?,?,1]>>
!mbv = !cuda_tile.partition_view<tile=(1x64x64), padding_value=zero, tensor_view<?x?x?xf8E4M3FN, strides=[?,?,1]>>
!mc = !cuda_tile.tensor_view<?x?x?xf32, strides=[?,?,1]>
!mcv = !cuda_tile.partition_view<tile=(1x64x64), tensor_view<?x?x?xf32, strides=[?,?,1]>>
cuda_tile.module @kernels {
  entry @one_of_many(%a: tile<ptr<f8E4M3FN>>, %b: tile<ptr<f8E4M3FN>>, %c: tile<ptr<f32>>) {
    %i, %j, %z = get_tile_block_id : tile<i32>
    %zero = constant <i32: 0> : tile<i32>
    %one = constant <i32: 1> : tile<i32>
    %two = constant <i32: 2> : tile<i32>
    %n64 = constant <i32: 64> : tile<i32>
    %n128 = constant <i32: 128> : tile<i32>
    %n4096 = constant <i32: 4096> : tile<i32>
    %n8192 = constant <i32: 8192> : tile<i32>
    %a16 = assume div_by<16>, %a : tile<ptr<f8E4M3FN>>
    %b16 = assume div_by<16>, %b : tile<ptr<f8E4M3FN>>
    %c16 = assume div_by<16>, %c : tile<ptr<f32>>
    %at = make_tensor_view %a16, shape = [%two, %n64, %n128], strides = [%n8192, %n128, 1] : tile<i32> -> !ma
    %av = make_partition_view %at : !mav
    %bt = make_tensor_view %b16, shape = [%two, %n128, %n64], strides = [%n8192, %n64, 1] : tile<i32> -> !ma
    %bv = make_partition_view %bt : !mbv
    %ct = make_tensor_view %c16, shape = [%two, %n64, %n64], strides = [%n4096, %n64, 1] : tile<i32> -> !mc
    %cv = make_partition_view %ct : !mcv
    %init = constant <f32: 0.0> : tile<64x64xf32>
    %sum = for %k in (%zero to %two, step %one) : tile<i32> iter_values(%acc = %init) -> (tile<64x64xf32>) {
      %x3, %t0 = load_view_tko weak %av[%i, %zero, %k] : !mav, tile<i32> -> tile<1x64x64xf8E4M3FN>, token
      %x = reshape %x3 : tile<1x64x64xf8E4M3FN> -> tile<64x64xf8E4M3FN>
      %y3, %t1 = load_view_tko weak %bv[%i, %k, %zero] : !mbv, tile<i32> -> tile<1x64x64xf8E4M3FN>, token
      %y = reshape %y3 : tile<1x64x64xf8E4M3FN> -> tile<64x64xf8E4M3FN>
      %next = mmaf %x, %y, %acc : tile<64x64xf8E4M3FN>, tile<64x64xf8E4M3FN>, tile<64x64xf32>
      continue %next : tile<64x64xf32>
    }
    %sum3 = reshape %sum : tile<64x64xf32> -> tile<1x64x64xf32>
    %t2 = store_view_tko weak %sum3, %cv[%i, %zero, %zero] : tile<1x64x64xf32>, !mcv, tile<i32> -> token
    return
  }
  entry @rows(%a: tile<ptr<f8E4M3FN>>, %b: tile<ptr<f8E4M3FN>>, %c: tile<ptr<f32>>) {
    %i, %j, %z = get_tile_block_id : tile<i32>
    %zero = constant <i32: 0> : tile<i32>
    %one = constant <i32: 1> : tile<i32>
    %a16 = assume div_by<16>, %a : tile<ptr<f8E4M3FN>>
    %b16 = assume div_by<16>, %b : tile<ptr<f8E4M3FN>>
    %at = make_tensor_view %a16, shape = [120, 144], strides = [144, 1] : !a4
    %av = make_partition_view %at : !a4v
    %bt = make_tensor_view %b16, shape = [144, 48], strides = [48, 1] : !b4
    %bv = make_partition_view %bt : !b4v
    %ct = make_tensor_view %c, shape = [120, 48], strides = [48, 1] : !c
    %cv = make_partition_view %ct : !cv
    %rows, %depth = get_index_space_shape %av : !a4v -> tile<i32>
    %init, %t = load_view_tko weak %cv[%i, %j] : !cv, tile<i32> -> tile<64x32xf32>, token
    %sum = for %k in (%zero to %depth, step %one) : tile<i32> iter_values(%acc = %init) -> (tile<64x32xf32>) {
      %x, %t0 = load_view_tko weak %av[%i, %k] : !a4v, tile<i32> -> tile<64x64xf8E4M3FN>, token
      %y, %t1 = load_view_tko weak %bv[%k, %j] : !b4v, tile<i32> -> tile<64x32xf8E4M3FN>, token
      %next = mmaf %x, %y, %acc : tile<64x64xf8E4M3FN>, tile<64x32xf8E4M3FN>, tile<64x32xf32>
      continue %next : tile<64x32xf32>
    }
    %t2 = store_view_tko weak %sum, %cv[%i, %j] token = %t : tile<64x32xf32>, !cv, tile<i32> -> token
    return
  }
  entry @columns(%a: tile<ptr<f8E5M2>>, %b: tile<ptr<f8E5M2>>, %c: tile<ptr<f32>>) {
    %i, %j, %z = get_tile_block_id : tile<i32>
    %zero = constant <i32: 0> : tile<i32>
    %one = constant <i32: 1> : tile<i32>
    %at = make_tensor_view %a, shape = [120, 144], strides = [144, 1] : !a5
    %av = make_partition_view %at : !a5v
    %bt = make_tensor_view %b, shape = [144, 48], strides = [1, 144] : !b5
    %bv = make_partition_view %bt : !b5v
    %ct = make_tensor_view %c, shape = [120, 48], strides = [48, 1] : !c
    %cv = make_partition_view %ct : !cv
    %rows, %depth = get_index_space_shape %av : !a5v -> tile<i32>
    %init, %t = load_view_tko weak %cv[%i, %j] : !cv, tile<i32> -> tile<64x32xf32>, token
    %sum = for %k in (%zero to %depth, step %one) : tile<i32> iter_values(%acc = %init) -> (tile<64x32xf32>) {
      %x, %t0 = load_view_tko weak %av[%i, %k] : !a5v, tile<i32> -> tile<64x64xf8E5M2>, token
      %y, %t1 = load_view_tko weak %bv[%k, %j] : !b5v, tile<i32> -> tile<64x32xf8E5M2>, token
      %next = mmaf %x, %y, %acc fast_acc : tile<64x64xf8E5M2>, tile<64x32xf8E5M2>, tile<64x32xf32>
      continue %next : tile<64x32xf32>
    }
    %t2 = store_view_tko weak %sum, %cv[%i, %j] token = %t : tile<64x32xf32>, !cv, tile<i32> -> token
    return
  }
  entry @batch(%a: tile<ptr<f8E4M3FN>>, %b: tile<ptr<f8E4M3FN>>, %c: tile<ptr<f32>>) {
    %zero = constant <i32: 0> : tile<i32>
    %at = make_tensor_view %a, shape = [2, 64, 32], strides = [2048, 32, 1] : !ba
    %av = make_partition_view %at : !bav
    %bt = make_tensor_view %b, shape = [2, 32, 16], strides = [512, 16, 1] : !bb
    %bv = make_partition_view %bt : !bbv
    %ct = make_tensor_view %c, shape = [2, 64, 16], strides = [1024, 16, 1] : !bc
    %cv = make_partition_view %ct : !bcv
    %init = constant <f32: 0.0> : tile<2x64x16xf32>
    %x, %t0 = load_view_tko weak %av[%zero, %zero, %zero] : !bav, tile<i32> -> tile<2x64x32xf8E4M3FN>, token
    %y, %t1 = load_view_tko weak %bv[%zero, %zero, %zero] : !bbv, tile<i32> -> tile<2x32x16xf8E4M3FN>, token
    %sum = mmaf %x, %y, %init : tile<2x64x32xf8E4M3FN>, tile<2x32x16xf8E4M3FN>, tile<2x64x16xf32>
    %t2 = store_view_tko weak %sum, %cv[%zero, %zero, %zero] : tile<2x64x16xf32>, !bcv, tile<i32> -> token
    return
  }
}
