// Tiles that each warp stores by TMA, box by box: of f16 in a loop, through two stages; of rank 3; and of a transposed view. Elements out of
// bounds are dropped. The last tile is loaded again after the store, and stored once more by threads.
// RUN @stores grid=2 block=160 arch=wgmma
// ARG x = random:200x256xf16:1
// ARG z = random:2x30x32xf32:2
// ARG v = random:64x32xf16:3
// ARG rows = 100
// ARG x_out = ones:200x256xf16
// ARG z_out = ones:2x30x32xf32
// ARG v_out = ones:24x72xf16
// ARG again = ones:64x32xf16
// EXPECT x_out = x
// EXPECT z_out = z
// EXPECT v_out = np.concatenate([v.T[:24], np.ones((24, 8), np.float16)], axis=1)
// EXPECT again = np.concatenate([v[:, :24], np.zeros((64, 8), np.float16)], axis=1)
#x = #nv_tileas.layout<[64, 256], register = [[0, 1], [8, 0], [0, 8], [0, 16], [0, 32], [0, 64], [0, 128]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0]]>
#x_staged = #nv_tileas.layout<[64, 256], offset = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [0, 32], [1, 8], [2, 16], [4, 32], [8, 0], [32, 0], [16, 0], [0, 64], [0, 128]]>
#z = #nv_tileas.layout<[1, 32, 32], register = [[0, 0, 1], [0, 0, 2], [0, 4, 0]], lane = [[0, 0, 4], [0, 0, 8], [0, 0, 16], [0, 1, 0], [0, 2, 0]], warp = [[0, 8, 0], [0, 16, 0]]>
#z_staged = #nv_tileas.layout<[1, 32, 32], offset = [[0, 0, 1], [0, 0, 2], [0, 0, 4], [0, 0, 8], [0, 0, 16], [0, 1, 4], [0, 2, 8], [0, 4, 16], [0, 16, 0], [0, 8, 0]]>
#v = #nv_tileas.layout<[64, 32], register = [[1, 0], [2, 0], [4, 0], [0, 4]], lane = [[8, 0], [16, 0], [32, 0], [0, 1], [0, 2]], warp = [[0, 8], [0, 16]]>
#v_staged = #nv_tileas.layout<[64, 32], offset = [[1, 0], [2, 0], [4, 0], [8, 0], [16, 0], [32, 0], [8, 1], [16, 2], [32, 4], [0, 16], [0, 8]]>
#rows = #nv_tileas.layout<[64, 32], register = [[0, 1], [0, 2], [0, 4], [16, 0]], lane = [[0, 8], [0, 16], [1, 0], [2, 0], [4, 0]], warp = [[8, 0], [32, 0]]>
!x = tensor<64x256xf16, #x>
!z = tensor<1x32x32xf32, #z>
!v = tensor<64x32xf16, #v>
!rows = tensor<64x32xf16, #rows>
!x_memory = !nv_tileaa.memref<?x256xf16, strides = [256, 1]>
!z_memory = !nv_tileaa.memref<2x30x32xf32, strides = [960, 32, 1]>
!v_memory = !nv_tileaa.memref<64x32xf16, strides = [32, 1]>
!v_out = !nv_tileaa.memref<24x64xf16, strides = [72, 1]>
!x_tiles = !nv_tileaa.tiled_view<tile = [64, 256], source = !x_memory>
!z_tiles = !nv_tileaa.tiled_view<tile = [1, 32, 32], source = !z_memory>
!v_tiles = !nv_tileaa.tiled_view<tile = [64, 32], source = !v_memory>
// Rows of a tile are columns of memory.
!v_out_tiles = !nv_tileaa.tiled_view<tile = [64, 32], source = !v_out, dims = [1, 0]>
!v_padded = !nv_tileaa.tiled_view<tile = [64, 32], source = !v_out, dims = [1, 0], padding = zero>
!x_map = !nv_tileas.tensor_map<!x_tiles, tensor<64x256xf16, #x_staged>>
!z_map = !nv_tileas.tensor_map<!z_tiles, tensor<1x32x32xf32, #z_staged>>
!v_map = !nv_tileas.tensor_map<!v_out_tiles, tensor<64x32xf16, #v_staged>>
!x_buffer = !nv_tileas.buffer<shared, 8, 16x64xf16>
!z_buffer = !nv_tileas.buffer<shared, 4, 1x8x32xf32>
!v_buffer = !nv_tileas.buffer<shared, 4, 8x64xf16>
!ring = !nv_tileas.pipeline<1, [!x_map, !z_map, !v_map]>
!iterator = !nv_tileas.pipeline_iterator<1>
gpu.module @kernels {
  nv_tileaa.func @stores(%x: !nv_tileaa.ptr<f16>, %z: !nv_tileaa.ptr<f32>, %v: !nv_tileaa.ptr<f16>, %rows: i32,
      %x_out: !nv_tileaa.ptr<f16>, %z_out: !nv_tileaa.ptr<f32>, %v_out: !nv_tileaa.ptr<f16>, %again: !nv_tileaa.ptr<f16>)
      attributes {kernel_spec = #nv_tileaa.kernel_spec<num_warps = 5>} {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c2 = arith.constant 2 : i32
    // Each block has 100 rows of x and a matrix of z; both store the same v.
    %block:3 = nv_tileaa.get_program_id : i32, i32, i32
    %half = arith.constant 25600 : i32
    %first = arith.muli %block#0, %half : i32
    %x_own = nv_tileaa.addptr %x, %first : !nv_tileaa.ptr<f16>, i32
    %x_out_own = nv_tileaa.addptr %x_out, %first : !nv_tileaa.ptr<f16>, i32
    %xm = nv_tileaa.make_memref %x_own sizes(%rows : i32) : !nv_tileaa.ptr<f16> -> !x_memory
    %xo = nv_tileaa.make_memref %x_out_own sizes(%rows : i32) : !nv_tileaa.ptr<f16> -> !x_memory
    %zm = nv_tileaa.make_memref %z : !nv_tileaa.ptr<f32> -> !z_memory
    %zo = nv_tileaa.make_memref %z_out : !nv_tileaa.ptr<f32> -> !z_memory
    %vm = nv_tileaa.make_memref %v : !nv_tileaa.ptr<f16> -> !v_memory
    %vo = nv_tileaa.make_memref %v_out : !nv_tileaa.ptr<f16> -> !v_out
    %am = nv_tileaa.make_memref %again : !nv_tileaa.ptr<f16> -> !v_memory
    %xv = nv_tileaa.block_tile %xm : !x_tiles
    %xov = nv_tileaa.block_tile %xo : !x_tiles
    %zv = nv_tileaa.block_tile %zm : !z_tiles
    %zov = nv_tileaa.block_tile %zo : !z_tiles
    %vv = nv_tileaa.block_tile %vm : !v_tiles
    %vov = nv_tileaa.block_tile %vo : !v_out_tiles
    %vpv = nv_tileaa.block_tile %vo : !v_padded
    %av = nv_tileaa.block_tile %am : !v_tiles
    %ring = nv_tileas.async.pipeline.create_pipeline : !ring
    nv_tileas.async.pipeline.agent_switch attributes {first = 4 : i32, warps = 1 : i32} {
      %maps:3 = nv_tileas.create_tensor_maps %xov, %zov, %vov : !x_tiles, !z_tiles, !v_out_tiles -> !x_map, !z_map, !v_map
      %i0 = nv_tileas.async.pipeline.create_iterator %ring : !ring -> !iterator
      %empty = nv_tileas.async.pipeline.producer_acquire %ring[%i0] : !ring, !iterator
      nv_tileas.async.pipeline.producer_write %ring, %empty, %maps#0, %maps#1, %maps#2 : !ring, !x_map, !z_map, !v_map
      nv_tileas.async.pipeline.producer_commit %ring, %empty : !ring
      %i1 = nv_tileas.async.pipeline.inc_iter %i0 : !iterator
      %released = nv_tileas.async.pipeline.producer_acquire %ring[%i1] : !ring, !iterator
      nv_tileas.release_tensor_maps %maps#0, %maps#1, %maps#2 : !x_map, !z_map, !v_map
    }
    nv_tileas.async.pipeline.agent_switch attributes {warps = 4 : i32} {
      %i0 = nv_tileas.async.pipeline.create_iterator %ring : !ring -> !iterator
      %full = nv_tileas.async.pipeline.consumer_wait %ring[%i0] : !ring, !iterator
      %maps:3 = nv_tileas.async.pipeline.consumer_read %ring, %full : !ring -> !x_map, !z_map, !v_map
      %x_buffer = nv_tileas.alloc_tensor : !x_buffer
      %z_buffer = nv_tileas.alloc_tensor : !z_buffer
      %v_buffer = nv_tileas.alloc_tensor : !v_buffer
      scf.for %i = %c0 to %c2 step %c1 : i32 {
        %tile:2 = nv_tileas.tiled_load weak %xv[%i, %c0] : i32, i32 of !x_tiles -> !x
        %t = nv_tileas.async.tiled_store weak %tile#0, %xov[%i, %c0] map = %maps#0 buffer = %x_buffer : !x, i32, i32 of !x_tiles, !x_map, !x_buffer
      }
      %z_tile:2 = nv_tileas.tiled_load weak %zv[%block#0, %c0, %c0] : i32, i32, i32 of !z_tiles -> !z
      %tz = nv_tileas.async.tiled_store weak %z_tile#0, %zov[%block#0, %c0, %c0] map = %maps#1 buffer = %z_buffer : !z, i32, i32, i32 of !z_tiles, !z_map, !z_buffer
      %is_first = arith.cmpi eq, %block#0, %c0 : i32
      scf.if %is_first {
        %v_tile:2 = nv_tileas.tiled_load weak %vv[%c0, %c0] : i32, i32 of !v_tiles -> !v
        %tv = nv_tileas.async.tiled_store weak %v_tile#0, %vov[%c0, %c0] map = %maps#2 buffer = %v_buffer : !v, i32, i32 of !v_out_tiles, !v_map, !v_buffer
        nv_tileas.async.store_wait
        nv_tileas.barrier
        %loaded:2 = nv_tileas.tiled_load weak %vpv[%c0, %c0] token = %tv : i32, i32 of !v_padded -> !rows
        %ta = nv_tileas.tiled_store weak %loaded#0, %av[%c0, %c0] : !rows, i32, i32 of !v_tiles
      }
      nv_tileas.async.store_wait
      nv_tileas.async.pipeline.consumer_release %ring, %full : !ring
    }
    nv_tileaa.return
  }
}
