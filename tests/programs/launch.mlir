// Programmatic dependent launch and the alias fence, with and without tokens.
cuda_tile.module @kernels {
  entry @dependent(%out: tile<ptr<i32>>) {
    %first = gdc_wait_tko -> token
    %again = gdc_wait_tko token = %first -> token
    %value = constant <i32: 42> : tile<i32>
    %stored = store_ptr_tko weak %out, %value token=%again : tile<ptr<i32>>, tile<i32> -> token
    %fenced = memory_fence_alias_tko %stored
    %start = gdc_launch_dependents_tko token = %fenced -> token
    %anyway = gdc_launch_dependents_tko -> token
    return
  }
}
