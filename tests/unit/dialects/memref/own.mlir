module {
  memref.global "private" @declared : memref<4xf32, #gpu.address_space<workgroup>>
  func.func @beyond_xdsl(%arg0: memref<4x16x8xbf16, #gpu.address_space<workgroup>>, %arg1: index, %arg2: memref<*xf32>, %arg3: bf16) {
    %subview = memref.subview %arg0[%arg1, 0, 0] [1, 16, 8] [1, 1, 1] : memref<4x16x8xbf16, #gpu.address_space<workgroup>> to memref<16x8xbf16, strided<[8, 1], offset: ?>, #gpu.address_space<workgroup>>
    %subview_0 = memref.subview %arg0[2, 0, 4] [2, 8, 2] [1, 2, 2] : memref<4x16x8xbf16, #gpu.address_space<workgroup>> to memref<2x8x2xbf16, strided<[128, 16, 2], offset: 260>, #gpu.address_space<workgroup>>
    %reinterpret_cast = memref.reinterpret_cast %arg2 to offset: [0], sizes: [8], strides: [1] : memref<*xf32> to memref<8xf32>
    %0 = memref.load %arg0[%arg1, %arg1, %arg1] {alignment = 16 : i64, nontemporal = true} : memref<4x16x8xbf16, #gpu.address_space<workgroup>>
    memref.store %arg3, %arg0[%arg1, %arg1, %arg1] {nontemporal = true} : memref<4x16x8xbf16, #gpu.address_space<workgroup>>
    %cast = memref.cast %arg2 : memref<*xf32> to memref<4xf32>
    return
  }
}
