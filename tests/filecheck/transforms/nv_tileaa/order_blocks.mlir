// Block ids from the last one down, where loops of later blocks have more iterations.
// RUN: tilewright opt --pass order-blocks %s | filecheck %s
// A causal mask: the keys of a block end with its last row, or with the keys.
// CHECK-LABEL: @causal
// CHECK: [[ID:%[0-9]+]]:3 = nv_tileaa.get_program_id
// CHECK: [[COUNT:%[0-9]+]]:3 = nv_tileaa.get_num_programs
// CHECK: [[ONE:%[a-z0-9_]+]] = arith.constant 1 : i32
// CHECK: [[ROWS:%[0-9]+]] = nv_tileaa.divi {{.*}}, [[COUNT]]#0 unsigned
// CHECK: [[GROUP:%[0-9]+]] = nv_tileaa.divi [[ID]]#1, [[ROWS]] unsigned
// CHECK: [[X:%[0-9]+]] = nv_tileaa.assume #nv_tileaa.bounded<0, 2147483646>
// CHECK: [[Y:%[0-9]+]] = nv_tileaa.assume #nv_tileaa.bounded<0, 2147483646>
// CHECK: nv_tileaa.addi [[X]],
// CHECK: nv_tileaa.muli [[Y]],
gpu.module @kernels {
  nv_tileaa.func @causal(%keys: i32, %p: !nv_tileaa.ptr<f32>) attributes {kernel_spec = #nv_tileaa.kernel_spec<>} {
    %zero = arith.constant 0 : i32
    %one = arith.constant 1 : i32
    %rows = arith.constant 128 : i32
    %x, %y, %z = nv_tileaa.get_program_id : i32, i32, i32
    %next = nv_tileaa.addi %x, %one : i32
    %end = nv_tileaa.muli %next, %rows : i32
    %least = arith.minsi %end, %keys : i32
    %bound = nv_tileaa.divi %least, %rows signed rounding<positive_inf> : i32
    %head = nv_tileaa.muli %y, %rows : i32
    scf.for %i = %zero to %bound step %one : i32 {
      %q = nv_tileaa.addptr %p, %head : !nv_tileaa.ptr<f32>, i32
    }
    nv_tileaa.return
  }
}
// -----
// All x of a y start together already: y is counted from the last one down.
// CHECK-LABEL: @columns
// CHECK: [[ID:%[0-9]+]]:3 = nv_tileaa.get_program_id
// CHECK: [[COUNT:%[0-9]+]]:3 = nv_tileaa.get_num_programs
// CHECK: [[LAST:%[0-9]+]] = nv_tileaa.subi [[COUNT]]#1,
// CHECK: nv_tileaa.subi [[LAST]], [[ID]]#1
// CHECK-NOT: divi
gpu.module @kernels {
  nv_tileaa.func @columns() attributes {kernel_spec = #nv_tileaa.kernel_spec<>} {
    %zero = arith.constant 0 : i32
    %one = arith.constant 1 : i32
    %x, %y, %z = nv_tileaa.get_program_id : i32, i32, i32
    scf.for %i = %zero to %y step %one : i32 {
    }
    nv_tileaa.return
  }
}
// -----
// Each block has a part of the iterations: where it begins depends on the block, too.
// CHECK-LABEL: @parts
// CHECK-NOT: get_num_programs
gpu.module @kernels {
  nv_tileaa.func @parts() attributes {kernel_spec = #nv_tileaa.kernel_spec<>} {
    %one = arith.constant 1 : i32
    %size = arith.constant 16 : i32
    %x, %y, %z = nv_tileaa.get_program_id : i32, i32, i32
    %begin = nv_tileaa.muli %x, %size : i32
    %end = nv_tileaa.addi %begin, %size : i32
    scf.for %i = %begin to %end step %one : i32 {
    }
    nv_tileaa.return
  }
}
// -----
// Later blocks run shorter.
// CHECK-LABEL: @shorter
// CHECK-NOT: get_num_programs
gpu.module @kernels {
  nv_tileaa.func @shorter(%n: i32) attributes {kernel_spec = #nv_tileaa.kernel_spec<>} {
    %zero = arith.constant 0 : i32
    %one = arith.constant 1 : i32
    %x, %y, %z = nv_tileaa.get_program_id : i32, i32, i32
    %end = nv_tileaa.subi %n, %x : i32
    scf.for %i = %zero to %end step %one : i32 {
    }
    nv_tileaa.return
  }
}
// -----
// A block may wait for what another one stores, which then has to run first.
// CHECK-LABEL: @waits
// CHECK-NOT: get_num_programs
gpu.module @kernels {
  nv_tileaa.func @waits(%p: !nv_tileaa.ptr<i32>) attributes {kernel_spec = #nv_tileaa.kernel_spec<>} {
    %zero = arith.constant 0 : i32
    %one = arith.constant 1 : i32
    %x, %y, %z = nv_tileaa.get_program_id : i32, i32, i32
    scf.for %i = %zero to %x step %one : i32 {
      %a, %t = nv_tileaa.load acquire gpu %p : !nv_tileaa.ptr<i32> -> i32
    }
    nv_tileaa.return
  }
}
