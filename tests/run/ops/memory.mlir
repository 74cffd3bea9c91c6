// Memory through pointers: masks, tokens that are joined, fences, atomics of every mode; the order of dependent grids.
// RUN @masked
// ARG x = iota:16xf32
// ARG out = ones:16xf32
// EXPECT out = np.where(np.arange(16) < 12, np.where(np.arange(16) < 10, x, -1), 1)
// RUN @ordered
// ARG x = ones:1xi32
// ARG y = ones:1xi32
// ARG out = zeros:1xi32
// EXPECT x = 2
// EXPECT y = 2
// EXPECT out = 4
// RUN @modes grid=4
// ARG x : i32 = np.array([1000, 0b1100, 0b0011, 0b0110, -5, 5, -5, 5])
// ARG swapped : i32 = np.array([7, 7])
// EXPECT x = np.array([1000 + 1 + 2 + 3 + 4, 0, 0b0111, 0b0010, 4, 1, -5, 1])
// EXPECT swapped = np.array([9, 7])
// RUN @floats grid=4
// ARG x = small:8xf32:1
// ARG sum = ones:1xf32
// ARG view = small:4x8xf32:2
// EXPECT sum = 1 + 4 * 0.5
// EXPECT view = view + 4 * np.concatenate([np.zeros((2, 8)), np.stack([x, x])])
// RUN @dependent
// ARG x = iota:1xi32
// ARG out = ones:1xi32
// EXPECT out = x
!line = !cuda_tile.tensor_view<8xf32, strides=[1]>
!line_tile = !cuda_tile.partition_view<tile=(8), tensor_view<8xf32, strides=[1]>>
!square = !cuda_tile.tensor_view<4x8xf32, strides=[8,1]>
!square_tile = !cuda_tile.partition_view<tile=(2x8), tensor_view<4x8xf32, strides=[8,1]>>
cuda_tile.module @kernels {
  // Elements from the tenth on are not loaded but padded, those from the twelfth on not stored.
  entry @masked(%x: tile<ptr<f32>>, %out: tile<ptr<f32>>) {
    %i = iota : tile<16xi32>
    %ten = constant <i32: 10> : tile<16xi32>
    %twelve = constant <i32: 12> : tile<16xi32>
    %padding = constant <f32: -1.0> : tile<16xf32>
    %few = cmpi less_than %i, %ten, signed : tile<16xi32> -> tile<16xi1>
    %more = cmpi less_than %i, %twelve, signed : tile<16xi32> -> tile<16xi1>
    %x1 = reshape %x : tile<ptr<f32>> -> tile<1xptr<f32>>
    %x16 = broadcast %x1 : tile<1xptr<f32>> -> tile<16xptr<f32>>
    %from = offset %x16, %i : tile<16xptr<f32>>, tile<16xi32> -> tile<16xptr<f32>>
    %out1 = reshape %out : tile<ptr<f32>> -> tile<1xptr<f32>>
    %out16 = broadcast %out1 : tile<1xptr<f32>> -> tile<16xptr<f32>>
    %to = offset %out16, %i : tile<16xptr<f32>>, tile<16xi32> -> tile<16xptr<f32>>
    %values, %t0 = load_ptr_tko weak %from, %few, %padding : tile<16xptr<f32>>, tile<16xi1>, tile<16xf32> -> tile<16xf32>, token
    %t1 = store_ptr_tko weak %to, %values, %more : tile<16xptr<f32>>, tile<16xf32>, tile<16xi1> -> token
    return
  }
  // Both loads are ordered after both stores.
  entry @ordered(%x: tile<ptr<i32>>, %y: tile<ptr<i32>>, %out: tile<ptr<i32>>) {
    %two = constant <i32: 2> : tile<i32>
    %start = make_token : token
    %t0 = store_ptr_tko weak %x, %two token=%start : tile<ptr<i32>>, tile<i32> -> token
    %t1 = store_ptr_tko weak %y, %two token=%start : tile<ptr<i32>>, tile<i32> -> token
    %both = join_tokens %t0, %t1 : token
    %fenced = memory_fence_alias_tko %both
    %a, %t2 = load_ptr_tko weak %x token=%fenced : tile<ptr<i32>> -> tile<i32>, token
    %b, %t3 = load_ptr_tko weak %y token=%fenced : tile<ptr<i32>> -> tile<i32>, token
    %sum = addi %a, %b : tile<i32>
    %t4 = store_ptr_tko weak %out, %sum : tile<ptr<i32>>, tile<i32> -> token
    return
  }
  // Every block changes every element, by the number of the block plus one.
  entry @modes(%x: tile<ptr<i32>>, %swapped: tile<ptr<i32>>) {
    %block, %y, %z = get_tile_block_id : tile<i32>
    %one = constant <i32: 1> : tile<i32>
    %two = constant <i32: 2> : tile<i32>
    %four = constant <i32: 4> : tile<i32>
    %seven = constant <i32: 7> : tile<i32>
    %nine = constant <i32: 9> : tile<i32>
    %n = addi %block, %one : tile<i32>
    %p1 = offset %x, %one : tile<ptr<i32>>, tile<i32> -> tile<ptr<i32>>
    %p2 = offset %p1, %one : tile<ptr<i32>>, tile<i32> -> tile<ptr<i32>>
    %p3 = offset %p2, %one : tile<ptr<i32>>, tile<i32> -> tile<ptr<i32>>
    %p4 = offset %p3, %one : tile<ptr<i32>>, tile<i32> -> tile<ptr<i32>>
    %p5 = offset %p4, %one : tile<ptr<i32>>, tile<i32> -> tile<ptr<i32>>
    %p6 = offset %p5, %one : tile<ptr<i32>>, tile<i32> -> tile<ptr<i32>>
    %p7 = offset %p6, %one : tile<ptr<i32>>, tile<i32> -> tile<ptr<i32>>
    %r0, %t0 = atomic_rmw_tko relaxed device %x, add, %n : tile<ptr<i32>>, tile<i32> -> tile<i32>, token
    %r1, %t1 = atomic_rmw_tko relaxed device %p1, and, %n : tile<ptr<i32>>, tile<i32> -> tile<i32>, token
    %r2, %t2 = atomic_rmw_tko relaxed device %p2, or, %n : tile<ptr<i32>>, tile<i32> -> tile<i32>, token
    %r3, %t3 = atomic_rmw_tko relaxed device %p3, xor, %n : tile<ptr<i32>>, tile<i32> -> tile<i32>, token
    %r4, %t4 = atomic_rmw_tko relaxed device %p4, max, %n : tile<ptr<i32>>, tile<i32> -> tile<i32>, token
    %r5, %t5 = atomic_rmw_tko relaxed device %p5, min, %n : tile<ptr<i32>>, tile<i32> -> tile<i32>, token
    %r6, %t6 = atomic_rmw_tko relaxed device %p6, umax, %n : tile<ptr<i32>>, tile<i32> -> tile<i32>, token
    %r7, %t7 = atomic_rmw_tko relaxed device %p7, umin, %n : tile<ptr<i32>>, tile<i32> -> tile<i32>, token
    // One block finds the seven that it looks for; no block finds a two.
    %next = offset %swapped, %one : tile<ptr<i32>>, tile<i32> -> tile<ptr<i32>>
    %r8, %t8 = atomic_cas_tko relaxed device %swapped, %seven, %nine : tile<ptr<i32>>, tile<i32> -> tile<i32>, token
    %r9, %t9 = atomic_cas_tko relaxed device %next, %two, %four : tile<ptr<i32>>, tile<i32> -> tile<i32>, token
    return
  }
  // Half a one from every block, and a tile added to the lower half of a view.
  entry @floats(%x: tile<ptr<f32>>, %sum: tile<ptr<f32>>, %view: tile<ptr<f32>>) {
    %zero = constant <i32: 0> : tile<i32>
    %one = constant <i32: 1> : tile<i32>
    %half = constant <f32: 0.5> : tile<f32>
    %old, %t0 = atomic_rmw_tko relaxed device %sum, addf, %half : tile<ptr<f32>>, tile<f32> -> tile<f32>, token
    %xt = make_tensor_view %x, shape = [8], strides = [1] : !line
    %xv = make_partition_view %xt : !line_tile
    %row, %t1 = load_view_tko weak %xv[%zero] : !line_tile, tile<i32> -> tile<8xf32>, token
    %flat = reshape %row : tile<8xf32> -> tile<1x8xf32>
    %twice = broadcast %flat : tile<1x8xf32> -> tile<2x8xf32>
    %vt = make_tensor_view %view, shape = [4, 8], strides = [8, 1] : !square
    %vv = make_partition_view %vt : !square_tile
    %t2 = atomic_red_view_tko relaxed device %vv[%one, %zero], addf, %twice : tile<2x8xf32>, !square_tile, tile<i32> -> token
    return
  }
  entry @dependent(%x: tile<ptr<i32>>, %out: tile<ptr<i32>>) {
    %there = gdc_wait_tko -> token
    %value, %t0 = load_ptr_tko weak %x token=%there : tile<ptr<i32>> -> tile<i32>, token
    %t1 = store_ptr_tko weak %out, %value token=%t0 : tile<ptr<i32>>, tile<i32> -> token
    %t2 = gdc_launch_dependents_tko token = %t1 -> token
    return
  }
}
