// OPTIONS: --emit nvvm --schedule warps=8,stages=3,agents=0
cuda_tile.module @m {
  // REMARK request-refused: Request 'stages' is not followed: no loop is pipelined
  entry @none() {
    return
  }
  // REMARK request-refused: Request 'warps' is not followed: 4 of entry: overridden by schedule
  entry @hint() optimization_hints=<sm_90 = {num_worker_warps_per_cta = 4}> {
    return
  }
}
