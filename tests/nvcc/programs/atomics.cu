// Blocks that update the same memory.
#include <cuda_tile.h>

namespace ct = cuda::tiles;
using indices = ct::tile<int, ct::shape<64>>;
using ct::memory_order;

__tile_global__ void histogram(const int* x, int* counts, float* total, int* largest) {
  auto i = ct::iota<indices>() + int(ct::bid().x) * 64;
  auto v = ct::load(x + i);
  ct::atomic_add<memory_order::relaxed>(counts + v, ct::ones<indices>());
  ct::atomic_add<memory_order::relaxed>(total + v % 2, ct::element_cast<float>(v));
  ct::atomic_max<memory_order::relaxed>(largest + v % 4, v);
}

__tile_global__ void exchange(int* cells, int* before, int* swapped) {
  auto i = ct::iota<indices>();
  ct::store(before + i, ct::atomic_xchg<memory_order::acq_rel>(cells + i, i * 10));
  auto expected = ct::select(i % 2 == 0, i * 10, i * 0 - 1);
  ct::store(swapped + i,
            ct::atomic_compare_exchange<memory_order::relaxed>(cells + i, expected, i * 0 + 7));
}
