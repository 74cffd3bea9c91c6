// Every kind of reduction: a box in shared memory is combined with a part of a tensor, element by element.
// RUN @add block=32 arch=tma
// ARG box = random:8x32xi32:1
// DATA tensor = random:12x64xi32:2
// MAP to = tensor box=8x32
// EXPECT tensor = np.concatenate([tensor[:4], np.concatenate([tensor[4:, :32], tensor[4:, 32:] + box], 1)])
//
// RUN @min block=32 arch=tma
// ARG box = random:8x32xi32:1
// DATA tensor = random:12x64xi32:2
// MAP to = tensor box=8x32
// EXPECT tensor = np.concatenate([tensor[:4], np.concatenate([tensor[4:, :32], np.minimum(tensor[4:, 32:], box)], 1)])
//
// RUN @max block=32 arch=tma
// ARG box = random:8x32xi32:1
// DATA tensor = random:12x64xi32:2
// MAP to = tensor box=8x32
// EXPECT tensor = np.concatenate([tensor[:4], np.concatenate([tensor[4:, :32], np.maximum(tensor[4:, 32:], box)], 1)])
//
// RUN @and block=32 arch=tma
// ARG box = random:8x32xi32:1
// DATA tensor = random:12x64xi32:2
// MAP to = tensor box=8x32
// EXPECT tensor = np.concatenate([tensor[:4], np.concatenate([tensor[4:, :32], tensor[4:, 32:] & box], 1)])
//
// RUN @or block=32 arch=tma
// ARG box = random:8x32xi32:1
// DATA tensor = random:12x64xi32:2
// MAP to = tensor box=8x32
// EXPECT tensor = np.concatenate([tensor[:4], np.concatenate([tensor[4:, :32], tensor[4:, 32:] | box], 1)])
//
// RUN @xor block=32 arch=tma
// ARG box = random:8x32xi32:1
// DATA tensor = random:12x64xi32:2
// MAP to = tensor box=8x32
// EXPECT tensor = np.concatenate([tensor[:4], np.concatenate([tensor[4:, :32], tensor[4:, 32:] ^ box], 1)])
//
// RUN @inc block=32 arch=tma
// ARG box : i32 = np.arange(256).reshape(8, 32) % 7
// DATA tensor : i32 = np.arange(768).reshape(12, 64) % 9
// MAP to = tensor box=8x32 type=u32
// EXPECT tensor = np.concatenate([tensor[:4], np.concatenate([tensor[4:, :32], np.where(tensor[4:, 32:] >= box, 0, tensor[4:, 32:] + 1)], 1)])
//
// RUN @dec block=32 arch=tma
// ARG box : i32 = np.arange(256).reshape(8, 32) % 7
// DATA tensor : i32 = np.arange(768).reshape(12, 64) % 9
// MAP to = tensor box=8x32 type=u32
// EXPECT tensor = np.concatenate([tensor[:4], np.concatenate([tensor[4:, :32], np.where((tensor[4:, 32:] == 0) | (tensor[4:, 32:] > box), box, tensor[4:, 32:] - 1)], 1)])
!map = !nvgpu.tensormap.descriptor<tensor = memref<8x32xi32, 3>, swizzle = none, l2promo = none, oob = zero, interleave = none>
gpu.module @kernels {
  func.func private @bring(%box: memref<8x32xi32, 1>, %tile: memref<8x32xi32, 3>) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c8 = arith.constant 8 : index
    %t = gpu.thread_id x
    scf.for %y = %c0 to %c8 step %c1 {
      %v = memref.load %box[%y, %t] : memref<8x32xi32, 1>
      memref.store %v, %tile[%y, %t] : memref<8x32xi32, 3>
    }
    // The writes of threads must be visible to the copy.
    cute_nvgpu.fence.proxy_async shared_cta
    gpu.barrier
    func.return
  }

  gpu.func @add(%box: memref<8x32xi32, 1>, %to: !map)
      workgroup(%tile: memref<8x32xi32, 3> {llvm.align = 128 : i64}) kernel
      attributes {known_block_size = array<i32: 32, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c4 = arith.constant 4 : index
    %c32 = arith.constant 32 : index
    func.call @bring(%box, %tile) : (memref<8x32xi32, 1>, memref<8x32xi32, 3>) -> ()
    %t = gpu.thread_id x
    %first = arith.cmpi eq, %t, %c0 : index
    scf.if %first {
      cute_nvgpu.tma.reduce add %tile[%c0, %c0] to %to[%c4, %c32] : memref<8x32xi32, 3> to !map
      cute_nvgpu.tma.commit
      cute_nvgpu.tma.wait 0
    }
    gpu.return
  }

  gpu.func @min(%box: memref<8x32xi32, 1>, %to: !map)
      workgroup(%tile: memref<8x32xi32, 3> {llvm.align = 128 : i64}) kernel
      attributes {known_block_size = array<i32: 32, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c4 = arith.constant 4 : index
    %c32 = arith.constant 32 : index
    func.call @bring(%box, %tile) : (memref<8x32xi32, 1>, memref<8x32xi32, 3>) -> ()
    %t = gpu.thread_id x
    %first = arith.cmpi eq, %t, %c0 : index
    scf.if %first {
      cute_nvgpu.tma.reduce min %tile[%c0, %c0] to %to[%c4, %c32] : memref<8x32xi32, 3> to !map
      cute_nvgpu.tma.commit
      cute_nvgpu.tma.wait 0
    }
    gpu.return
  }

  gpu.func @max(%box: memref<8x32xi32, 1>, %to: !map)
      workgroup(%tile: memref<8x32xi32, 3> {llvm.align = 128 : i64}) kernel
      attributes {known_block_size = array<i32: 32, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c4 = arith.constant 4 : index
    %c32 = arith.constant 32 : index
    func.call @bring(%box, %tile) : (memref<8x32xi32, 1>, memref<8x32xi32, 3>) -> ()
    %t = gpu.thread_id x
    %first = arith.cmpi eq, %t, %c0 : index
    scf.if %first {
      cute_nvgpu.tma.reduce max %tile[%c0, %c0] to %to[%c4, %c32] : memref<8x32xi32, 3> to !map
      cute_nvgpu.tma.commit
      cute_nvgpu.tma.wait 0
    }
    gpu.return
  }

  gpu.func @and(%box: memref<8x32xi32, 1>, %to: !map)
      workgroup(%tile: memref<8x32xi32, 3> {llvm.align = 128 : i64}) kernel
      attributes {known_block_size = array<i32: 32, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c4 = arith.constant 4 : index
    %c32 = arith.constant 32 : index
    func.call @bring(%box, %tile) : (memref<8x32xi32, 1>, memref<8x32xi32, 3>) -> ()
    %t = gpu.thread_id x
    %first = arith.cmpi eq, %t, %c0 : index
    scf.if %first {
      cute_nvgpu.tma.reduce and %tile[%c0, %c0] to %to[%c4, %c32] : memref<8x32xi32, 3> to !map
      cute_nvgpu.tma.commit
      cute_nvgpu.tma.wait 0
    }
    gpu.return
  }

  gpu.func @or(%box: memref<8x32xi32, 1>, %to: !map)
      workgroup(%tile: memref<8x32xi32, 3> {llvm.align = 128 : i64}) kernel
      attributes {known_block_size = array<i32: 32, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c4 = arith.constant 4 : index
    %c32 = arith.constant 32 : index
    func.call @bring(%box, %tile) : (memref<8x32xi32, 1>, memref<8x32xi32, 3>) -> ()
    %t = gpu.thread_id x
    %first = arith.cmpi eq, %t, %c0 : index
    scf.if %first {
      cute_nvgpu.tma.reduce or %tile[%c0, %c0] to %to[%c4, %c32] : memref<8x32xi32, 3> to !map
      cute_nvgpu.tma.commit
      cute_nvgpu.tma.wait 0
    }
    gpu.return
  }

  gpu.func @xor(%box: memref<8x32xi32, 1>, %to: !map)
      workgroup(%tile: memref<8x32xi32, 3> {llvm.align = 128 : i64}) kernel
      attributes {known_block_size = array<i32: 32, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c4 = arith.constant 4 : index
    %c32 = arith.constant 32 : index
    func.call @bring(%box, %tile) : (memref<8x32xi32, 1>, memref<8x32xi32, 3>) -> ()
    %t = gpu.thread_id x
    %first = arith.cmpi eq, %t, %c0 : index
    scf.if %first {
      cute_nvgpu.tma.reduce xor %tile[%c0, %c0] to %to[%c4, %c32] : memref<8x32xi32, 3> to !map
      cute_nvgpu.tma.commit
      cute_nvgpu.tma.wait 0
    }
    gpu.return
  }

  gpu.func @inc(%box: memref<8x32xi32, 1>, %to: !map)
      workgroup(%tile: memref<8x32xi32, 3> {llvm.align = 128 : i64}) kernel
      attributes {known_block_size = array<i32: 32, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c4 = arith.constant 4 : index
    %c32 = arith.constant 32 : index
    func.call @bring(%box, %tile) : (memref<8x32xi32, 1>, memref<8x32xi32, 3>) -> ()
    %t = gpu.thread_id x
    %first = arith.cmpi eq, %t, %c0 : index
    scf.if %first {
      cute_nvgpu.tma.reduce inc %tile[%c0, %c0] to %to[%c4, %c32] : memref<8x32xi32, 3> to !map
      cute_nvgpu.tma.commit
      cute_nvgpu.tma.wait 0
    }
    gpu.return
  }

  gpu.func @dec(%box: memref<8x32xi32, 1>, %to: !map)
      workgroup(%tile: memref<8x32xi32, 3> {llvm.align = 128 : i64}) kernel
      attributes {known_block_size = array<i32: 32, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c4 = arith.constant 4 : index
    %c32 = arith.constant 32 : index
    func.call @bring(%box, %tile) : (memref<8x32xi32, 1>, memref<8x32xi32, 3>) -> ()
    %t = gpu.thread_id x
    %first = arith.cmpi eq, %t, %c0 : index
    scf.if %first {
      cute_nvgpu.tma.reduce dec %tile[%c0, %c0] to %to[%c4, %c32] : memref<8x32xi32, 3> to !map
      cute_nvgpu.tma.commit
      cute_nvgpu.tma.wait 0
    }
    gpu.return
  }
}
