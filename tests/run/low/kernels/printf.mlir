// Device printf: every kind of argument, blocks and threads in any order.
// RUN @kinds block=1 arch=base
// ARG x = 7
// PRINTS i32 -5, unsigned 4294967291, hex ff, char A
// PRINTS i64 -5000000000, index 12345678901
// PRINTS f32 0.500000, f64 2.50e+00, f16 1.5, 100%
// PRINTS bool 1, i8 255
// PRINTS given 7
//
// RUN @who grid=2 block=3
// PRINTS block 0 thread 0
// PRINTS block 0 thread 1
// PRINTS block 0 thread 2
// PRINTS block 1 thread 0
// PRINTS block 1 thread 1
// PRINTS block 1 thread 2
gpu.module @kernels {
  gpu.func @kinds(%x: i32) kernel {
    %a = arith.constant -5 : i32
    %b = arith.constant 255 : i32
    %c = arith.constant 65 : i32
    %d = arith.constant -5000000000 : i64
    %e = arith.constant 12345678901 : index
    %f = arith.constant 0.5 : f32
    %g = arith.constant 2.5 : f64
    %h = arith.constant 1.5 : f16
    %t = arith.constant true
    %s = arith.constant -1 : i8
    gpu.printf "i32 %d, unsigned %u, hex %x, char %c\0A", %a, %a, %b, %c : i32, i32, i32, i32
    gpu.printf "i64 %lld, index %lld\0A", %d, %e : i64, index
    gpu.printf "f32 %f, f64 %.2e, f16 %.1f, 100%%\0A", %f, %g, %h : f32, f64, f16
    gpu.printf "bool %d, i8 %d\0A", %t, %s : i1, i8
    gpu.printf "given %d\0A", %x : i32
    gpu.return
  }

  gpu.func @who() kernel {
    %b = gpu.block_id x
    %t = gpu.thread_id x
    gpu.printf "block %lld thread %lld\0A", %b, %t : index, index
    gpu.return
  }
}
