module {
  memref.global "private" constant @table : memref<2xf32> = dense<[0.000000e+00, 2.000000e+00]>
  memref.global "public" @room : memref<4x4xi8> = uninitialized {alignment = 64 : i64}
  func.func @memory(%arg0: memref<4x?xf32>, %arg1: index, %arg2: memref<16xi32, 3>, %arg3: i32) {
    %alloca = memref.alloca() : memref<8xf32>
    %alloca_0 = memref.alloca(%arg1) {alignment = 16 : i64} : memref<?x4xf32>
    %alloca_1 = memref.alloca(%arg1, %arg1) : memref<?x?xf32>
    %0 = memref.load %arg0[%arg1, %arg1] : memref<4x?xf32>
    memref.store %0, %arg0[%arg1, %arg1] : memref<4x?xf32>
    %dim = memref.dim %arg0, %arg1 : memref<4x?xf32>
    %1 = memref.get_global @table : memref<2xf32>
    %2 = memref.atomic_rmw addi %arg3, %arg2[%arg1] : (i32, memref<16xi32, 3>) -> i32
    %intptr = memref.extract_aligned_pointer_as_index %arg0 : memref<4x?xf32> -> index
    return
  }
  func.func @views(%arg0: memref<16x8xf32>, %arg1: index, %arg2: memref<2048xi8, 3>) {
    %cast = memref.cast %arg0 : memref<16x8xf32> to memref<?x8xf32>
    %subview = memref.subview %arg0[%arg1, 0] [4, 8] [1, 1] : memref<16x8xf32> to memref<4x8xf32, strided<[8, 1], offset: ?>>
    %reinterpret_cast = memref.reinterpret_cast %arg0 to offset: [%arg1], sizes: [4, %arg1], strides: [8, 1] : memref<16x8xf32> to memref<4x?xf32, strided<[8, 1], offset: ?>>
    %memspacecast = memref.memory_space_cast %arg2 : memref<2048xi8, 3> to memref<2048xi8>
    %view = memref.view %arg2[%arg1][%arg1] : memref<2048xi8, 3> to memref<?x4xf32, 3>
    return
  }
}
