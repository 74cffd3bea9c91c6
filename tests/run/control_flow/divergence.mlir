// Divergent blocks: branches, loops of different lengths, early exits.
// RUN @branches grid=8
// ARG out = zeros:8xi32
// EXPECT out = np.array([0, 101, 2, 103, 4, 105, 6, 107])
// RUN @triangle grid=8
// ARG out = zeros:8xi32
// EXPECT out = np.cumsum(np.arange(8))
// RUN @collatz grid=16
// ARG out = zeros:16xi32
// EXPECT out = np.array([0, 1, 7, 2, 5, 8, 16, 3, 19, 6, 14, 9, 9, 17, 17, 4])
// RUN @leave_early grid=8
// ARG out = ones:8xi32
// EXPECT out = np.array([7, 1, 7, 1, 7, 1, 7, 1])
// RUN @skip grid=4
// ARG out = zeros:4xi32
// EXPECT out = np.array([sum(i for i in range(b * 3) if i % 2 == 0) for b in range(4)])
cuda_tile.module @kernels {
  entry @branches(%out: tile<ptr<i32>>) {
    %x, %y, %z = get_tile_block_id : tile<i32>
    %one = constant <i32: 1> : tile<i32>
    %hundred = constant <i32: 100> : tile<i32>
    %bit = andi %x, %one : tile<i32>
    %odd = cmpi equal %bit, %one, signed : tile<i32> -> tile<i1>
    %r = if %odd -> (tile<i32>) {
      %s = addi %x, %hundred : tile<i32>
      yield %s : tile<i32>
    } else {
      yield %x : tile<i32>
    }
    %p = offset %out, %x : tile<ptr<i32>>, tile<i32> -> tile<ptr<i32>>
    %t = store_ptr_tko weak %p, %r : tile<ptr<i32>>, tile<i32> -> token
    return
  }
  // The sum of all numbers up to that of the block.
  entry @triangle(%out: tile<ptr<i32>>) {
    %x, %y, %z = get_tile_block_id : tile<i32>
    %zero = constant <i32: 0> : tile<i32>
    %one = constant <i32: 1> : tile<i32>
    %end = addi %x, %one : tile<i32>
    %sum = for %i in (%zero to %end, step %one) : tile<i32> iter_values(%acc = %zero) -> (tile<i32>) {
      %next = addi %acc, %i : tile<i32>
      continue %next : tile<i32>
    }
    %p = offset %out, %x : tile<ptr<i32>>, tile<i32> -> tile<ptr<i32>>
    %t = store_ptr_tko weak %p, %sum : tile<ptr<i32>>, tile<i32> -> token
    return
  }
  // How many steps of Collatz's rule lead from block number + 1 to one.
  entry @collatz(%out: tile<ptr<i32>>) {
    %x, %y, %z = get_tile_block_id : tile<i32>
    %zero = constant <i32: 0> : tile<i32>
    %one = constant <i32: 1> : tile<i32>
    %three = constant <i32: 3> : tile<i32>
    %start = addi %x, %one : tile<i32>
    %steps = loop iter_values(%n = %start, %count = %zero) : tile<i32>, tile<i32> -> tile<i32> {
      %done = cmpi equal %n, %one, signed : tile<i32> -> tile<i1>
      if %done {
        break %count : tile<i32>
      }
      %more = addi %count, %one : tile<i32>
      %bit = andi %n, %one : tile<i32>
      %odd = cmpi equal %bit, %one, signed : tile<i32> -> tile<i1>
      if %odd {
        %triple = muli %n, %three : tile<i32>
        %up = addi %triple, %one : tile<i32>
        continue %up, %more : tile<i32>, tile<i32>
      }
      %half = shri %n, %one signed : tile<i32>
      continue %half, %more : tile<i32>, tile<i32>
    }
    %p = offset %out, %x : tile<ptr<i32>>, tile<i32> -> tile<ptr<i32>>
    %t = store_ptr_tko weak %p, %steps : tile<ptr<i32>>, tile<i32> -> token
    return
  }
  entry @leave_early(%out: tile<ptr<i32>>) {
    %x, %y, %z = get_tile_block_id : tile<i32>
    %one = constant <i32: 1> : tile<i32>
    %seven = constant <i32: 7> : tile<i32>
    %bit = andi %x, %one : tile<i32>
    %odd = cmpi equal %bit, %one, signed : tile<i32> -> tile<i1>
    if %odd {
      return
    }
    %p = offset %out, %x : tile<ptr<i32>>, tile<i32> -> tile<ptr<i32>>
    %t = store_ptr_tko weak %p, %seven : tile<ptr<i32>>, tile<i32> -> token
    return
  }
  // Even numbers below three times that of the block, the odd ones skipped by `continue`.
  entry @skip(%out: tile<ptr<i32>>) {
    %x, %y, %z = get_tile_block_id : tile<i32>
    %zero = constant <i32: 0> : tile<i32>
    %one = constant <i32: 1> : tile<i32>
    %three = constant <i32: 3> : tile<i32>
    %end = muli %x, %three : tile<i32>
    %sum = for %i in (%zero to %end, step %one) : tile<i32> iter_values(%acc = %zero) -> (tile<i32>) {
      %bit = andi %i, %one : tile<i32>
      %odd = cmpi equal %bit, %one, signed : tile<i32> -> tile<i1>
      if %odd {
        continue %acc : tile<i32>
      }
      %next = addi %acc, %i : tile<i32>
      continue %next : tile<i32>
    }
    %p = offset %out, %x : tile<ptr<i32>>, tile<i32> -> tile<ptr<i32>>
    %t = store_ptr_tko weak %p, %sum : tile<ptr<i32>>, tile<i32> -> token
    return
  }
}
