// Arithmetic on tiles, and masks at the end of an array.
#include <cuda_tile.h>

namespace ct = cuda::tiles;
using indices = ct::tile<int, ct::shape<64>>;

__tile__ indices own_elements() { return ct::iota<indices>() + int(ct::bid().x) * 64; }

__tile_global__ void axpy(const float* x, float* y, float a, int n) {
  auto i = own_elements();
  auto inside = i < n;
  auto value = a * ct::load_masked(x + i, inside) + ct::load_masked(y + i, inside);
  ct::store_masked(y + i, value, inside);
}

__tile_global__ void functions(const float* x, float* y, int n) {
  auto i = own_elements();
  auto inside = i < n;
  auto v = ct::load_masked(x + i, inside, 1.0f);
  auto positive = ct::sqrt(ct::abs(v)) + ct::exp(-v);
  ct::store_masked(y + i, ct::select(v > 0.0f, positive, ct::floor(v)), inside);
}

__tile_global__ void integers(const int* x, const int* y, int* div, unsigned* bits, int n) {
  auto i = own_elements();
  auto inside = i < n;
  auto a = ct::load_masked(x + i, inside), b = ct::load_masked(y + i, inside, 1);
  ct::store_masked(div + i, a / b + a % b, inside);
  auto word = ct::element_cast<unsigned>(a);
  ct::store_masked(bits + i, ((word << 3u) ^ (word >> 5u)) | 1u, inside);
}
