module {
  gpu.module @targets ["a", "b"] attributes {k} {
    gpu.func @buffers(%arg0: f32 {llvm.noalias}) workgroup(%arg1: memref<4x64xbf16, #gpu.address_space<workgroup>> {llvm.align = 1024 : i64}, %arg2: memref<4xf32, 3>) private(%arg3: memref<1xf32, #gpu.address_space<private>>) kernel attributes {known_block_size = array<i32: 384, 1, 1>} {
      gpu.return
    }
    gpu.func @threads(%arg0: f32, %arg1: i32, %arg2: index) {
      %thread_id_x = gpu.thread_id x upper_bound 384
      %cluster_id_x = gpu.cluster_id x
      %cluster_dim_y = gpu.cluster_dim y
      %cluster_block_id_x = gpu.cluster_block_id x
      %cluster_dim_blocks_z = gpu.cluster_dim_blocks z
      %lane_id = gpu.lane_id upper_bound 32
      %0 = gpu.subgroup_id upper_bound 12 : index
      gpu.barrier memfence [#gpu.address_space<workgroup>]
      %shuffleResult, %valid = gpu.shuffle xor %arg0, %arg1, %arg1 : f32
      %shuffleResult_0, %valid_1 = gpu.shuffle idx %arg1, %arg1, %arg1 : i32
      %1 = gpu.subgroup_reduce add %arg0 : (f32) -> f32
      %2 = gpu.subgroup_reduce maxnumf %arg0 uniform cluster(size = 8, stride = 4) : (f32) -> f32
      %3 = gpu.subgroup_reduce and %arg1 cluster(size = 8) : (i32) -> i32
      gpu.printf "hello\0A"
      gpu.printf "%d %f\0A", %arg1, %arg0 : i32, f32
      %4 = gpu.dynamic_shared_memory : memref<?xi8, #gpu.address_space<workgroup>>
      gpu.return
    }
  }
}
