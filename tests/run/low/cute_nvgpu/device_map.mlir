// Blocks create tensor maps in global memory, with fewer slots than blocks, and rebind one to another tensor.
// RUN @copy grid=6 block=32 arch=tma
// ARG first = random:64x48xf16:1
// ARG second = random:40x80xf16:2
// ARG out = zeros:6x16x32xf16
// EXPECT out = np.stack([np.pad(x, ((0, 16), (0, 32)))[8 * n : 8 * n + 16, 32:64] for x in (first, second) for n in (0, 1, 5)])
!map = !nvgpu.tensormap.descriptor<tensor = memref<16x32xf16, 3>, swizzle = none, l2promo = none, oob = zero, interleave = none>
!bars = !nvgpu.mbarrier.group<memorySpace = #gpu.address_space<workgroup>>
// 32 words for a map, followed by the word that locks the slot.
!slots = memref<2x64xi32, 1>
!tile = memref<16x32xf16, 3>
gpu.module @kernels {
  memref.global @slots : !slots = dense<0> {alignment = 128 : i64}
  gpu.func @copy(%first: i64, %second: i64, %out: memref<6x16x32xf16, 1>)
      workgroup(%new_map: memref<32xi32, 3> {llvm.align = 128 : i64}, %tile: !tile {llvm.align = 128 : i64})
      kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %i0 = arith.constant 0 : index
    %i1 = arith.constant 1 : index
    %i3 = arith.constant 3 : index
    %i8 = arith.constant 8 : index
    %i16 = arith.constant 16 : index
    %i32 = arith.constant 32 : index
    %i40 = arith.constant 40 : index
    %bytes = arith.constant 1024 : index
    %ticks = arith.constant 1000000 : index
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c32 = arith.constant 32 : i32
    %c40 = arith.constant 40 : i32
    %c48 = arith.constant 48 : i32
    %c64 = arith.constant 64 : i32
    %c80 = arith.constant 80 : i32
    %l96 = arith.constant 96 : i64
    %l160 = arith.constant 160 : i64
    %false = arith.constant false
    %true = arith.constant true
    %bars = nvgpu.mbarrier.create -> !bars
    %slots = memref.get_global @slots : !slots
    %t = gpu.thread_id x
    %block = gpu.block_id x
    %leads = arith.cmpi eq, %t, %i0 : index
    scf.if %leads {
      nvgpu.mbarrier.init %bars[%i0], %i1 : !bars
      cute_nvgpu.fence.mbarrier_init
    }
    memref.store %c0, %new_map[%t] : memref<32xi32, 3>
    cute_nvgpu.warp_sync
    // One lane writes the fields, and looks for a slot of its own.
    %own = scf.if %leads -> (i32) {
      cute_nvgpu.tensormap.fill %new_map[%i0], %first sizes[%c64, %c48] strides[%l96] : memref<32xi32, 3>, !map
      %found = scf.while (%slot = %c0) : (i32) -> i32 {
        %next = arith.xori %slot, %c1 : i32
        %place = arith.index_cast %next : i32 to index
        %taken = cute_nvgpu.slot.acquire %slots[%place, %i32] users 1 : !slots
        %again = arith.xori %taken, %true : i1
        scf.if %again {
          cute_nvgpu.nanosleep %c32
        }
        scf.condition(%again) %next : i32
      } do {
      ^bb0(%slot: i32):
        scf.yield %slot : i32
      }
      scf.yield %found : i32
    } else {
      scf.yield %c0 : i32
    }
    cute_nvgpu.warp_sync
    %all, %valid = gpu.shuffle idx %own, %c0, %c32 : i32
    %slot = arith.index_cast %all : i32 to index
    cute_nvgpu.tensormap.publish %new_map[%i0] to %slots[%slot, %i0] : memref<32xi32, 3> to !slots
    %map = cute_nvgpu.tensormap.at %slots[%slot, %i0] : !slots -> !map
    scf.if %leads {
      nvgpu.tma.fence.descriptor %map : !map
      %other = arith.cmpi uge, %block, %i3 : index
      scf.if %other {
        cute_nvgpu.tensormap.rebind %map, %second sizes[%c40, %c80] strides[%l160] : !map
        nvgpu.tma.fence.descriptor %map : !map
      }
      %number = arith.remui %block, %i3 : index
      %down = arith.muli %number, %i8 : index
      %last = arith.cmpi eq, %down, %i16 : index
      %row = arith.select %last, %i40, %down : index
      nvgpu.mbarrier.arrive.expect_tx %bars[%i0], %bytes : !bars
      cute_nvgpu.tma.load %map[%row, %i32], %bars[%i0] to %tile[%i0, %i0] : !map, !bars to !tile
      nvgpu.mbarrier.try_wait.parity %bars[%i0], %false, %ticks : !bars
      cute_nvgpu.slot.release %slots[%slot, %i32] : !slots
    }
    cute_nvgpu.warp_sync
    nvgpu.mbarrier.try_wait.parity %bars[%i0], %false, %ticks : !bars
    scf.for %row = %i0 to %i16 step %i1 {
      %x = memref.load %tile[%row, %t] : !tile
      memref.store %x, %out[%block, %row, %t] : memref<6x16x32xf16, 1>
    }
    gpu.return
  }
}
