module {
  gpu.module @kernels {
    gpu.func @plain(%arg0: f32) -> f32 {
      gpu.return %arg0 : f32
    }
    gpu.func @kernel(%arg0: f32) kernel {
      %thread_id_x = gpu.thread_id x
      %block_id_y = gpu.block_id y
      %block_dim_z = gpu.block_dim z
      %grid_dim_x = gpu.grid_dim x
      %global_id_x = gpu.global_id x
      %lane_id = gpu.lane_id
      %0 = gpu.subgroup_id : index
      %1 = gpu.num_subgroups : index
      %2 = gpu.subgroup_size : index
      gpu.barrier
      %3 = gpu.all_reduce add %arg0 {
      } : (f32) -> f32
      %4 = gpu.all_reduce %arg0 uniform {
      ^bb0(%arg1: f32, %arg2: f32):
        %5 = arith.addf %arg1, %arg2 : f32
        gpu.yield %5 : f32
      } : (f32) -> f32
      gpu.return
    }
  }
}
