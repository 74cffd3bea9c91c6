// Dynamic shared memory of several sizes: a block reverses its elements.
// RUN @reverse block=256 shared=1024 arch=base
// ARG x = random:256xf32:1
// ARG y = zeros:256xf32
// ARG size = zeros:1xi32
// EXPECT y = x[::-1]
// EXPECT size = 1024
//
// RUN @far block=128 shared=131072
// ARG x = random:128xf32:1
// ARG y = zeros:128xf32
// EXPECT y = x[::-1]
gpu.module @kernels {
  gpu.func @reverse(%x: memref<256xf32, 1>, %y: memref<256xf32, 1>, %size: memref<1xi32, 1>) kernel
      attributes {known_block_size = array<i32: 256, 1, 1>} {
    %i = gpu.thread_id x
    %c0 = arith.constant 0 : index
    %c255 = arith.constant 255 : index
    %room = gpu.dynamic_shared_memory : memref<?xi8, #gpu.address_space<workgroup>>
    %buffer = memref.view %room[%c0][] : memref<?xi8, #gpu.address_space<workgroup>> to memref<256xf32, #gpu.address_space<workgroup>>
    %v = memref.load %x[%i] : memref<256xf32, 1>
    memref.store %v, %buffer[%i] : memref<256xf32, #gpu.address_space<workgroup>>
    gpu.barrier
    %j = arith.subi %c255, %i : index
    %w = memref.load %buffer[%j] : memref<256xf32, #gpu.address_space<workgroup>>
    memref.store %w, %y[%i] : memref<256xf32, 1>
    %n = memref.dim %room, %c0 : memref<?xi8, #gpu.address_space<workgroup>>
    %bytes = arith.index_cast %n : index to i32
    memref.store %bytes, %size[%c0] : memref<1xi32, 1>
    gpu.return
  }

  gpu.func @far(%x: memref<128xf32, 1>, %y: memref<128xf32, 1>) kernel
      attributes {known_block_size = array<i32: 128, 1, 1>} {
    %i = gpu.thread_id x
    %c127 = arith.constant 127 : index
    %start = arith.constant 130048 : index
    %room = gpu.dynamic_shared_memory : memref<?xi8, #gpu.address_space<workgroup>>
    %buffer = memref.view %room[%start][] : memref<?xi8, #gpu.address_space<workgroup>> to memref<128xf32, #gpu.address_space<workgroup>>
    %v = memref.load %x[%i] : memref<128xf32, 1>
    memref.store %v, %buffer[%i] : memref<128xf32, #gpu.address_space<workgroup>>
    gpu.barrier
    %j = arith.subi %c127, %i : index
    %w = memref.load %buffer[%j] : memref<128xf32, #gpu.address_space<workgroup>>
    memref.store %w, %y[%i] : memref<128xf32, 1>
    gpu.return
  }
}
