// Multiplication and addition of two f32 at once: to nearest, to zero, downwards.
// RUN @k block=64 arch=packed_f32
// ARG a = random:128xf32:1
// ARG b = random:128xf32:2
// ARG c = random:128xf32:3
// ARG near = zeros:128xf32
// ARG cut = zeros:128xf32
// ARG down = zeros:128xf32
// EXPECT near = f32(wide_f32(a) * wide_f32(b) + wide_f32(c))
// EXPECT cut = np.where(abs(a * b) > abs(wide_f32(a) * wide_f32(b)), np.nextafter(a * b, f32(0)), a * b)
// EXPECT down = np.where(a * b > wide_f32(a) * wide_f32(b), np.nextafter(a * b, f32(-np.inf)), a * b)
gpu.module @kernels {
  gpu.func @k(%a: memref<128xf32, 1>, %b: memref<128xf32, 1>, %c: memref<128xf32, 1>,
      %near: memref<128xf32, 1>, %cut: memref<128xf32, 1>, %down: memref<128xf32, 1>) kernel
      attributes {known_block_size = array<i32: 64, 1, 1>} {
    %t = gpu.thread_id x
    %two = arith.constant 2 : index
    %i = arith.muli %t, %two : index
    %x = vector.load %a[%i] {alignment = 8 : i64} : memref<128xf32, 1>, vector<2xf32>
    %y = vector.load %b[%i] {alignment = 8 : i64} : memref<128xf32, 1>, vector<2xf32>
    %z = vector.load %c[%i] {alignment = 8 : i64} : memref<128xf32, 1>, vector<2xf32>
    %r = nvgpu.fma.packed.f32x2 %x, %y, %z : vector<2xf32>
    %s = nvgpu.mul.packed.f32x2 %x, %y {rounding = #nvgpu.packed_rounding<rz>} : vector<2xf32>
    %d = nvgpu.mul.packed.f32x2 %x, %y {rounding = #nvgpu.packed_rounding<rm>, ftz} : vector<2xf32>
    vector.store %r, %near[%i] {alignment = 8 : i64} : memref<128xf32, 1>, vector<2xf32>
    vector.store %s, %cut[%i] {alignment = 8 : i64} : memref<128xf32, 1>, vector<2xf32>
    vector.store %d, %down[%i] {alignment = 8 : i64} : memref<128xf32, 1>, vector<2xf32>
    gpu.return
  }
}
