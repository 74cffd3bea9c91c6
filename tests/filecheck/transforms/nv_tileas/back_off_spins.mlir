// Loops that only wait for another block sleep between attempts, twice as long each time, up to a limit
// that grows with the number of blocks.
// RUN: tilewright opt --pass back-off-spins %s | filecheck %s
gpu.module @kernels {
  // CHECK-LABEL: @lock
  // CHECK: [[GRID:%[0-9]+]]:3 = nv_tileaa.get_num_programs
  // CHECK-NEXT: [[ROWS:%[0-9]+]] = nv_tileaa.muli [[GRID]]#0, [[GRID]]#1 : i32
  // CHECK-NEXT: [[BLOCKS:%[0-9]+]] = nv_tileaa.muli [[ROWS]], [[GRID]]#2 : i32
  // CHECK-NEXT: [[BITS:%[a-z0-9_]+]] = arith.constant 2 : i32
  // CHECK-NEXT: [[TIME:%[0-9]+]] = nv_tileaa.shri [[BLOCKS]], [[BITS]] unsigned : i32
  // CHECK-NEXT: [[LONGEST:%[a-z0-9_]+]] = arith.constant 1024 : i32
  // CHECK-NEXT: [[LIMIT:%[0-9]+]] = arith.minui [[TIME]], [[LONGEST]] : i32
  // CHECK-NEXT: [[SHORTEST:%[a-z0-9_]+]] = arith.constant 32 : i32
  // CHECK-NEXT: [[FIRST:%[0-9]+]] = arith.minui [[LIMIT]], [[SHORTEST]] : i32
  // CHECK-NEXT: scf.while ({{.*}}, [[SLEEP:%[a-z0-9]+]] = [[FIRST]])
  // CHECK: nv_tileas.atomic_cas acquire
  // CHECK: scf.condition({{%[0-9]+}}) {{.*}}, [[SLEEP]] : !nv_tileaa.mem_token, i32
  // CHECK: } do {
  // CHECK-NEXT: ^bb0({{.*}}, [[SLEPT:%[a-z0-9]+]]: i32):
  // CHECK-NEXT: nv_tileas.sleep [[SLEPT]]
  // CHECK-NEXT: [[TWICE:%[0-9]+]] = nv_tileaa.addi [[SLEPT]], [[SLEPT]] : i32
  // CHECK-NEXT: [[NEXT:%[0-9]+]] = arith.minui [[TWICE]], [[LIMIT]] : i32
  // CHECK-NEXT: scf.yield {{%[a-z0-9]+}}, [[NEXT]] : !nv_tileaa.mem_token, i32
  nv_tileaa.func @lock(%p: !nv_tileaa.ptr<i32>) attributes {kernel_spec = #nv_tileaa.kernel_spec<>} {
    %free = arith.constant 0 : i32
    %held = arith.constant 1 : i32
    %t0 = nv_tileaa.create_mem_token : !nv_tileaa.mem_token
    %t = scf.while (%a = %t0) : (!nv_tileaa.mem_token) -> !nv_tileaa.mem_token {
      %old, %u = nv_tileas.atomic_cas acquire gpu %p, %free, %held token = %a : !nv_tileaa.ptr<i32>, i32
      %again = nv_tileaa.cmpi eq, %old, %held : i32
      scf.condition(%again) %u : !nv_tileaa.mem_token
    } do {
    ^bb0(%b: !nv_tileaa.mem_token):
      scf.yield %b : !nv_tileaa.mem_token
    }
    nv_tileaa.return
  }
  // What a block does between attempts takes time, too.
  // CHECK-LABEL: @work
  // CHECK-NOT: nv_tileas.sleep
  nv_tileaa.func @work(%p: !nv_tileaa.ptr<i32>, %q: !nv_tileaa.ptr<i32>) attributes {kernel_spec = #nv_tileaa.kernel_spec<>} {
    %one = arith.constant 1 : i32
    %t0 = nv_tileaa.create_mem_token : !nv_tileaa.mem_token
    %t = scf.while (%a = %t0) : (!nv_tileaa.mem_token) -> !nv_tileaa.mem_token {
      %old, %u = nv_tileas.atomic_cas acquire gpu %p, %one, %one token = %a : !nv_tileaa.ptr<i32>, i32
      %again = nv_tileaa.cmpi eq, %old, %one : i32
      scf.condition(%again) %u : !nv_tileaa.mem_token
    } do {
    ^bb0(%b: !nv_tileaa.mem_token):
      %v = nv_tileas.store weak %q, %one token = %b : !nv_tileaa.ptr<i32>, i32
      scf.yield %v : !nv_tileaa.mem_token
    }
    nv_tileaa.return
  }
  // A search reads another element each time.
  // CHECK-LABEL: @search
  // CHECK-NOT: nv_tileas.sleep
  nv_tileaa.func @search(%p: !nv_tileaa.ptr<i32>) attributes {kernel_spec = #nv_tileaa.kernel_spec<>} {
    %one = arith.constant 1 : i32
    %r = scf.while (%i = %one) : (i32) -> i32 {
      %at = nv_tileaa.addptr %p, %i : !nv_tileaa.ptr<i32>, i32
      %x, %t = nv_tileas.load weak %at : !nv_tileaa.ptr<i32> -> i32
      %again = nv_tileaa.cmpi slt, %x, %one : i32
      scf.condition(%again) %i : i32
    } do {
    ^bb0(%j: i32):
      %next = nv_tileaa.addi %j, %one : i32
      scf.yield %next : i32
    }
    nv_tileaa.return
  }
  // Without an access there is nothing to wait for.
  // CHECK-LABEL: @counting
  // CHECK-NOT: nv_tileas.sleep
  nv_tileaa.func @counting(%n: i32) attributes {kernel_spec = #nv_tileaa.kernel_spec<>} {
    %one = arith.constant 1 : i32
    %r = scf.while (%a = %n) : (i32) -> i32 {
      %again = nv_tileaa.cmpi slt, %a, %one : i32
      scf.condition(%again) %a : i32
    } do {
    ^bb0(%b: i32):
      %next = nv_tileaa.addi %b, %one : i32
      scf.yield %next : i32
    }
    nv_tileaa.return
  }
}
