// Matrix products of eight-bit integers, and batches of them.
#include "dot.h"

__tile_global__ void s8(const signed char* a, const signed char* b, int* c) { dot(a, b, c); }
__tile_global__ void u8(const unsigned char* a, const unsigned char* b, int* c) { dot(a, b, c); }

__tile_global__ void batches(const signed char* a, const signed char* b, int* c) {
  auto view = [](auto* p) {
    return ct::partition_view(ct::tensor_span(p, ct::extents<int, 4, 16, 16>{}),
                              ct::shape<4, 16, 16>{});
  };
  view(c).store(ct::matmul(view(a).load(0, 0, 0), view(b).load(0, 0, 0)), 0, 0, 0);
}
