// Reductions of i32 over whole warps: each of these bodies is one instruction, redux.sync.
// RUN @add grid=2
// ARG x = random:4x256xi32:1
// ARG out = zeros:4xi32
// EXPECT out = x.sum(axis=1, dtype=np.int32)
// RUN @and grid=2
// ARG x = random:4x256xi32:2
// ARG out = zeros:4xi32
// EXPECT out = np.bitwise_and.reduce(x, axis=1)
// RUN @or grid=2
// ARG x = random:4x256xi32:3
// ARG out = zeros:4xi32
// EXPECT out = np.bitwise_or.reduce(x, axis=1)
// RUN @xor grid=2
// ARG x = random:4x256xi32:4
// ARG out = zeros:4xi32
// EXPECT out = np.bitwise_xor.reduce(x, axis=1)
// RUN @max grid=2
// ARG x = random:4x256xi32:5
// ARG out = zeros:4xi32
// EXPECT out = x.max(axis=1)
// RUN @min grid=2
// ARG x = random:4x256xi32:6
// ARG out = zeros:4xi32
// EXPECT out = x.min(axis=1)
// RUN @umax grid=2
// ARG x = random:4x256xi32:7
// ARG out = zeros:4xi32
// EXPECT out = x.view(np.uint32).max(axis=1).view(np.int32)
// RUN @umin grid=2
// ARG x = random:4x256xi32:8
// ARG out = zeros:4xi32
// EXPECT out = x.view(np.uint32).min(axis=1).view(np.int32)
!x = !cuda_tile.tensor_view<4x256xi32, strides=[256,1]>
!xp = !cuda_tile.partition_view<tile=(2x256), tensor_view<4x256xi32, strides=[256,1]>>
!o = !cuda_tile.tensor_view<4xi32, strides=[1]>
!op = !cuda_tile.partition_view<tile=(2), tensor_view<4xi32, strides=[1]>>
cuda_tile.module @kernels {
  entry @add(%x: tile<ptr<i32>>, %out: tile<ptr<i32>>) {
    %b, %y, %z = get_tile_block_id : tile<i32>
    %zero = constant <i32: 0> : tile<i32>
    %xt = make_tensor_view %x, shape = [4, 256], strides = [256, 1] : !x
    %xv = make_partition_view %xt : !xp
    %rows, %t0 = load_view_tko weak %xv[%b, %zero] : !xp, tile<i32> -> tile<2x256xi32>, token
    %r = reduce %rows dim=1 identities=[0 : i32] : tile<2x256xi32> -> tile<2xi32> (%a: tile<i32>, %c: tile<i32>) {
      %d = addi %a, %c : tile<i32>
      yield %d : tile<i32>
    }
    %ot = make_tensor_view %out, shape = [4], strides = [1] : !o
    %ov = make_partition_view %ot : !op
    %t1 = store_view_tko weak %r, %ov[%b] : tile<2xi32>, !op, tile<i32> -> token
    return
  }
  entry @and(%x: tile<ptr<i32>>, %out: tile<ptr<i32>>) {
    %b, %y, %z = get_tile_block_id : tile<i32>
    %zero = constant <i32: 0> : tile<i32>
    %xt = make_tensor_view %x, shape = [4, 256], strides = [256, 1] : !x
    %xv = make_partition_view %xt : !xp
    %rows, %t0 = load_view_tko weak %xv[%b, %zero] : !xp, tile<i32> -> tile<2x256xi32>, token
    %r = reduce %rows dim=1 identities=[-1 : i32] : tile<2x256xi32> -> tile<2xi32> (%a: tile<i32>, %c: tile<i32>) {
      %d = andi %a, %c : tile<i32>
      yield %d : tile<i32>
    }
    %ot = make_tensor_view %out, shape = [4], strides = [1] : !o
    %ov = make_partition_view %ot : !op
    %t1 = store_view_tko weak %r, %ov[%b] : tile<2xi32>, !op, tile<i32> -> token
    return
  }
  entry @or(%x: tile<ptr<i32>>, %out: tile<ptr<i32>>) {
    %b, %y, %z = get_tile_block_id : tile<i32>
    %zero = constant <i32: 0> : tile<i32>
    %xt = make_tensor_view %x, shape = [4, 256], strides = [256, 1] : !x
    %xv = make_partition_view %xt : !xp
    %rows, %t0 = load_view_tko weak %xv[%b, %zero] : !xp, tile<i32> -> tile<2x256xi32>, token
    %r = reduce %rows dim=1 identities=[0 : i32] : tile<2x256xi32> -> tile<2xi32> (%a: tile<i32>, %c: tile<i32>) {
      %d = ori %a, %c : tile<i32>
      yield %d : tile<i32>
    }
    %ot = make_tensor_view %out, shape = [4], strides = [1] : !o
    %ov = make_partition_view %ot : !op
    %t1 = store_view_tko weak %r, %ov[%b] : tile<2xi32>, !op, tile<i32> -> token
    return
  }
  entry @xor(%x: tile<ptr<i32>>, %out: tile<ptr<i32>>) {
    %b, %y, %z = get_tile_block_id : tile<i32>
    %zero = constant <i32: 0> : tile<i32>
    %xt = make_tensor_view %x, shape = [4, 256], strides = [256, 1] : !x
    %xv = make_partition_view %xt : !xp
    %rows, %t0 = load_view_tko weak %xv[%b, %zero] : !xp, tile<i32> -> tile<2x256xi32>, token
    %r = reduce %rows dim=1 identities=[0 : i32] : tile<2x256xi32> -> tile<2xi32> (%a: tile<i32>, %c: tile<i32>) {
      %d = xori %a, %c : tile<i32>
      yield %d : tile<i32>
    }
    %ot = make_tensor_view %out, shape = [4], strides = [1] : !o
    %ov = make_partition_view %ot : !op
    %t1 = store_view_tko weak %r, %ov[%b] : tile<2xi32>, !op, tile<i32> -> token
    return
  }
  entry @max(%x: tile<ptr<i32>>, %out: tile<ptr<i32>>) {
    %b, %y, %z = get_tile_block_id : tile<i32>
    %zero = constant <i32: 0> : tile<i32>
    %xt = make_tensor_view %x, shape = [4, 256], strides = [256, 1] : !x
    %xv = make_partition_view %xt : !xp
    %rows, %t0 = load_view_tko weak %xv[%b, %zero] : !xp, tile<i32> -> tile<2x256xi32>, token
    %r = reduce %rows dim=1 identities=[-2147483648 : i32] : tile<2x256xi32> -> tile<2xi32> (%a: tile<i32>, %c: tile<i32>) {
      %d = maxi %a, %c signed : tile<i32>
      yield %d : tile<i32>
    }
    %ot = make_tensor_view %out, shape = [4], strides = [1] : !o
    %ov = make_partition_view %ot : !op
    %t1 = store_view_tko weak %r, %ov[%b] : tile<2xi32>, !op, tile<i32> -> token
    return
  }
  entry @min(%x: tile<ptr<i32>>, %out: tile<ptr<i32>>) {
    %b, %y, %z = get_tile_block_id : tile<i32>
    %zero = constant <i32: 0> : tile<i32>
    %xt = make_tensor_view %x, shape = [4, 256], strides = [256, 1] : !x
    %xv = make_partition_view %xt : !xp
    %rows, %t0 = load_view_tko weak %xv[%b, %zero] : !xp, tile<i32> -> tile<2x256xi32>, token
    %r = reduce %rows dim=1 identities=[2147483647 : i32] : tile<2x256xi32> -> tile<2xi32> (%a: tile<i32>, %c: tile<i32>) {
      %d = mini %a, %c signed : tile<i32>
      yield %d : tile<i32>
    }
    %ot = make_tensor_view %out, shape = [4], strides = [1] : !o
    %ov = make_partition_view %ot : !op
    %t1 = store_view_tko weak %r, %ov[%b] : tile<2xi32>, !op, tile<i32> -> token
    return
  }
  entry @umax(%x: tile<ptr<i32>>, %out: tile<ptr<i32>>) {
    %b, %y, %z = get_tile_block_id : tile<i32>
    %zero = constant <i32: 0> : tile<i32>
    %xt = make_tensor_view %x, shape = [4, 256], strides = [256, 1] : !x
    %xv = make_partition_view %xt : !xp
    %rows, %t0 = load_view_tko weak %xv[%b, %zero] : !xp, tile<i32> -> tile<2x256xi32>, token
    %r = reduce %rows dim=1 identities=[0 : i32] : tile<2x256xi32> -> tile<2xi32> (%a: tile<i32>, %c: tile<i32>) {
      %d = maxi %a, %c unsigned : tile<i32>
      yield %d : tile<i32>
    }
    %ot = make_tensor_view %out, shape = [4], strides = [1] : !o
    %ov = make_partition_view %ot : !op
    %t1 = store_view_tko weak %r, %ov[%b] : tile<2xi32>, !op, tile<i32> -> token
    return
  }
  entry @umin(%x: tile<ptr<i32>>, %out: tile<ptr<i32>>) {
    %b, %y, %z = get_tile_block_id : tile<i32>
    %zero = constant <i32: 0> : tile<i32>
    %xt = make_tensor_view %x, shape = [4, 256], strides = [256, 1] : !x
    %xv = make_partition_view %xt : !xp
    %rows, %t0 = load_view_tko weak %xv[%b, %zero] : !xp, tile<i32> -> tile<2x256xi32>, token
    %r = reduce %rows dim=1 identities=[-1 : i32] : tile<2x256xi32> -> tile<2xi32> (%a: tile<i32>, %c: tile<i32>) {
      %d = mini %a, %c unsigned : tile<i32>
      yield %d : tile<i32>
    }
    %ot = make_tensor_view %out, shape = [4], strides = [1] : !o
    %ov = make_partition_view %ot : !op
    %t1 = store_view_tko weak %r, %ov[%b] : tile<2xi32>, !op, tile<i32> -> token
    return
  }
}
