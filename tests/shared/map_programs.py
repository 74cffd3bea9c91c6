"""A kernel that encodes a tensor map, and stores its words."""

from __future__ import annotations

from typing import Final, NamedTuple

from tilewright.support.tensor_map_parameters import (
    ELEMENT_BYTES,
    Argument,
    BoundTensor,
    TensorMapParameter,
)

WORDS: Final = 32
ROWS: Final = 150
COLUMNS: Final = 208
ADDRESS: Final = 0x7F1234567890


class MapCase(NamedTuple):
    """A map of a matrix, as the kernel and as a launcher have it."""

    type: str
    """The element type of the box."""
    element: str
    """The element type of the map."""
    box: tuple[int, int]
    """Rows and columns."""
    swizzle: int = 0

    @property
    def stride(self) -> int:
        """The bytes of a row."""
        return COLUMNS * ELEMENT_BYTES[self.element]

    @property
    def text(self) -> str:
        """A kernel with the arguments address, rows, columns, stride, and where the words go."""
        rows, columns = self.box
        swizzle = f"swizzle_{self.swizzle}b" if self.swizzle else "none"
        return f"""
!map = !nvgpu.tensormap.descriptor<tensor = memref<{rows}x{columns}x{self.type}, 3>, swizzle = {swizzle}, l2promo = none, oob = zero, interleave = none>
gpu.module @m {{
  gpu.func @encode(%address: i64, %rows: i32, %columns: i32, %stride: i64, %out: i64)
      workgroup(%map: memref<{WORDS}xi32, 3> {{llvm.align = 128 : i64}})
      kernel attributes {{known_block_size = array<i32: 32, 1, 1>}} {{
    %first = arith.constant 0 : index
    %zero = arith.constant 0 : i32
    %t = gpu.thread_id x
    memref.store %zero, %map[%t] : memref<{WORDS}xi32, 3>
    cute_nvgpu.warp_sync
    %leads = arith.cmpi eq, %t, %first : index
    scf.if %leads {{
      cute_nvgpu.tensormap.fill %map[%first], %address sizes[%rows, %columns] strides[%stride] : memref<{WORDS}xi32, 3>, !map
    }}
    cute_nvgpu.warp_sync
    %word = memref.load %map[%t] : memref<{WORDS}xi32, 3>
    %base = llvm.inttoptr %out : i64 to !llvm.ptr<1>
    %index = arith.index_cast %t : index to i64
    %there = llvm.getelementptr %base[%index] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, i32
    llvm.store %word, %there : i32, !llvm.ptr<1>
    gpu.return
  }}
}}"""  # noqa: E501

    @property
    def arguments(self) -> tuple[int, int, int, int]:
        """All arguments but the last."""
        return ADDRESS, ROWS, COLUMNS, self.stride

    @property
    def parameter(self) -> TensorMapParameter:
        """The map for a launcher."""
        rows, columns = self.box
        sizes, strides = (Argument(2), Argument(1)), (Argument(3),)
        return TensorMapParameter(
            self.element, (columns, rows), Argument(0), sizes, strides, self.swizzle
        )

    @property
    def tensor(self) -> BoundTensor:
        """The tensor that the map describes."""
        return BoundTensor(ADDRESS, (COLUMNS, ROWS), (self.stride,), 0)


MAP_CASES: Final = (
    MapCase("f16", "f16", (128, 64), 128),
    MapCase("f16", "f16", (64, 32), 64),
    MapCase("bf16", "bf16", (64, 16), 32),
    MapCase("f32", "f32", (16, 64)),
    MapCase("tf32", "tf32", (256, 32), 128),
    MapCase("f8E4M3FN", "u8", (64, 128), 128),
    MapCase("i8", "u8", (8, 16)),
    MapCase("i32", "s32", (64, 16), 64),
    MapCase("f64", "f64", (64, 16), 128),
)
