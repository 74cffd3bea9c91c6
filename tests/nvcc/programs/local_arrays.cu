// Arrays and structures in local memory, and functions that take references.
#include <cuda_tile.h>

namespace ct = cuda::tiles;

struct Range {
  int low, high;
};

__tile__ void widen(Range& range, int value) {
  if (value < range.low) range.low = value;
  if (value > range.high) range.high = value;
}

__tile_global__ void reverse(const int* x, int* y, int n) {
  int kept[8];
  Range range{1000, -1000};
  for (int i = 0; i < n; ++i) {
    kept[i] = int(ct::load(x + i));
    widen(range, kept[i]);
  }
  for (int i = 0; i < n; ++i) ct::store(y + i, kept[n - 1 - i]);
  ct::store(y + n, range.low);
  ct::store(y + n + 1, range.high);
}
