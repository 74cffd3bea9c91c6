// Reductions along both dimensions of a matrix.
#include <cuda_tile.h>

namespace ct = cuda::tiles;
using namespace ct::literals;

template <class T>
__tile__ auto matrix(const T* p) {
  return ct::partition_view(ct::tensor_span(p, ct::extents<int, 8, 32>{}), ct::shape<8, 32>{})
      .load(0, 0);
}

template <class T, class Tile>
__tile__ void put(T* p, Tile value) {
  constexpr int size = ct::tile_size_v<Tile>;
  auto flat = ct::reshape(value, ct::shape<size>{});
  ct::store(p + ct::iota<ct::tile<int, ct::shape<size>>>(), flat);
}

__tile_global__ void floats(const float* x, float* sums, float* maxima, float* minima,
                            int* positions) {
  auto v = matrix(x);
  put(sums, ct::sum(v, 0_ic));
  put(maxima, ct::reduce_max(v, 1_ic));
  put(minima, ct::reduce_min(v, 1_ic));
  put(positions, ct::element_cast<int>(ct::max_element(v, 1_ic)));
}

__tile_global__ void bits(const int* x, int* both, int* either, int* odd, int* flags) {
  auto v = matrix(x);
  put(both, ct::reduce_bitand(v, 0_ic));
  put(either, ct::reduce_bitor(v, 1_ic));
  put(odd, ct::reduce_bitxor(v, 1_ic));
  put(flags, ct::element_cast<int>(ct::any_of(v > 900, 1_ic)) +
                 2 * ct::element_cast<int>(ct::all_of(v > 50, 1_ic)));
}

__tile_global__ void prod(const double* x, double* out) {
  put(out, ct::prod(matrix(x), 1_ic));
}
