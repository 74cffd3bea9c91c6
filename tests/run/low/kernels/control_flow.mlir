// Loops with several carried values, loops that test in the middle, nested branches, jumps by a number.
// RUN @fibonacci block=32 arch=base
// ARG y = zeros:32xi64
// EXPECT y = [0, 1, 1, 2, 3, 5, 8, 13, 21, 34, 55, 89, 144, 233, 377, 610, 987, 1597, 2584, 4181, 6765, 10946, 17711, 28657, 46368, 75025, 121393, 196418, 317811, 514229, 832040, 1346269]
//
// RUN @collatz block=32
// ARG y = zeros:32xi32
// EXPECT y = [0, 0, 1, 7, 2, 5, 8, 16, 3, 19, 6, 14, 9, 9, 17, 17, 4, 12, 20, 20, 7, 7, 15, 15, 10, 23, 10, 111, 18, 18, 18, 106]
//
// RUN @switch block=32
// ARG y = zeros:32xi32
// EXPECT y = np.select([np.arange(32) % 5 == k for k in range(4)], [10, 21, 32, 43], -1)
//
// RUN @nested block=64
// ARG x = random:64xi32:1
// ARG y = zeros:64xi32
// EXPECT y = np.where(x < 0, np.where(x % 2, -1, -2), np.where(x % 2, 1, 2))
gpu.module @kernels {
  gpu.func @fibonacci(%y: memref<32xi64, 1>) kernel {
    %i = gpu.thread_id x
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %zero = arith.constant 0 : i64
    %one = arith.constant 1 : i64
    %r:2 = scf.for %k = %c0 to %i step %c1 iter_args(%a = %zero, %b = %one) -> (i64, i64) {
      %s = arith.addi %a, %b : i64
      scf.yield %b, %s : i64, i64
    }
    memref.store %r#0, %y[%i] : memref<32xi64, 1>
    gpu.return
  }

  gpu.func @collatz(%y: memref<32xi32, 1>) kernel {
    %i = gpu.thread_id x
    %n = arith.index_cast %i : index to i32
    %zero = arith.constant 0 : i32
    %one = arith.constant 1 : i32
    %two = arith.constant 2 : i32
    %three = arith.constant 3 : i32
    %r:2 = scf.while (%v = %n, %steps = %zero) : (i32, i32) -> (i32, i32) {
      %more = arith.cmpi sgt, %v, %one : i32
      scf.condition(%more) %v, %steps : i32, i32
    } do {
    ^bb0(%v: i32, %steps: i32):
      %bit = arith.andi %v, %one : i32
      %odd = arith.cmpi eq, %bit, %one : i32
      %next = scf.if %odd -> (i32) {
        %t = arith.muli %v, %three : i32
        %u = arith.addi %t, %one : i32
        scf.yield %u : i32
      } else {
        %h = arith.divsi %v, %two : i32
        scf.yield %h : i32
      }
      %count = arith.addi %steps, %one : i32
      scf.yield %next, %count : i32, i32
    }
    memref.store %r#1, %y[%i] : memref<32xi32, 1>
    gpu.return
  }

  gpu.func @switch(%y: memref<32xi32, 1>) kernel {
    %i = gpu.thread_id x
    %c5 = arith.constant 5 : index
    %m = arith.remui %i, %c5 : index
    %n = arith.index_cast %m : index to i32
    %a = arith.constant 10 : i32
    %b = arith.constant 21 : i32
    %c = arith.constant 32 : i32
    %d = arith.constant 43 : i32
    %none = arith.constant -1 : i32
    cf.switch %n : i32, [
      default: ^end(%none : i32),
      0: ^end(%a : i32),
      1: ^end(%b : i32),
      2: ^end(%c : i32),
      3: ^end(%d : i32)
    ]
  ^end(%r: i32):
    memref.store %r, %y[%i] : memref<32xi32, 1>
    gpu.return
  }

  gpu.func @nested(%x: memref<64xi32, 1>, %y: memref<64xi32, 1>) kernel {
    %i = gpu.thread_id x
    %zero = arith.constant 0 : i32
    %one = arith.constant 1 : i32
    %v = memref.load %x[%i] : memref<64xi32, 1>
    %bit = arith.andi %v, %one : i32
    %odd = arith.cmpi eq, %bit, %one : i32
    %negative = arith.cmpi slt, %v, %zero : i32
    %a = arith.constant -1 : i32
    %b = arith.constant -2 : i32
    %c = arith.constant 2 : i32
    %r = scf.if %negative -> (i32) {
      %s = scf.if %odd -> (i32) {
        scf.yield %a : i32
      } else {
        scf.yield %b : i32
      }
      scf.yield %s : i32
    } else {
      %s = scf.if %odd -> (i32) {
        scf.yield %one : i32
      } else {
        scf.yield %c : i32
      }
      scf.yield %s : i32
    }
    memref.store %r, %y[%i] : memref<64xi32, 1>
    gpu.return
  }
}
