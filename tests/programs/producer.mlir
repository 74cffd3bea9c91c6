// A module that names its producer and holds several entries.
cuda_tile.module @kernels attributes {producer = "hand 1.0"} {
  entry @first() {
    return
  }
  entry @second(%n: tile<i32>) optimization_hints=<sm_90 = {num_cta_in_cga = 2, occupancy = 1}> {
    %t = print_tko "n = %d\0A", %n : tile<i32> -> token
    return
  }
}
