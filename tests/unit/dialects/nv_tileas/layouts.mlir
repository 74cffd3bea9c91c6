#rows = #nv_tileas.layout<[4, 32], register = [[1, 0], [2, 0]], lane = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16]], warp = []>
#line = #nv_tileas.layout<[32], register = [], lane = [[1], [2], [4], [8], [16]], warp = []>
#turned = #nv_tileas.layout<[32, 4], register = [[0, 1], [0, 2]], lane = [[1, 0], [2, 0], [4, 0], [8, 0], [16, 0]], warp = []>
#wide = #nv_tileas.layout<[4, 32], register = [[0, 1], [0, 2]], lane = [[0, 4], [0, 8], [0, 16], [1, 0], [2, 0]], warp = []>
module {
  nv_tileaa.plugin @plugin
  nv_tileaa.func @program(%x: f32, %p: !nv_tileaa.ptr<f32>, %i: i32) {
    %line = nv_tileas.make_range : tensor<32xi32, #line>
    %wide = nv_tileas.expand_dims %line {axis = 0 : i64} : tensor<32xi32, #line> -> tensor<1x32xi32, #nv_tileas.layout<[1, 32], register = [], lane = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16]], warp = []>>
    %all = nv_tileas.broadcast %wide : tensor<1x32xi32, #nv_tileas.layout<[1, 32], register = [], lane = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16]], warp = []>> -> tensor<4x32xi32, #rows>
    %turned = nv_tileas.permute %all [1, 0] : tensor<4x32xi32, #rows> -> tensor<32x4xi32, #turned>
    %other = nv_tileas.convert_layout %all {scratch = 0 : i64} : tensor<4x32xi32, #rows> -> tensor<4x32xi32, #wide>
    %sum = nv_tileas.reduce %all {axis = 0 : i32} : tensor<4x32xi32, #rows> -> tensor<32xi32, #line> {
    ^bb0(%a: i32, %b: i32):
      %c = nv_tileaa.addi %a, %b : i32
      nv_tileas.yield %c : i32
    }
    %ps = nv_tileas.splat %p : !nv_tileaa.ptr<f32> -> tensor<32x!nv_tileaa.ptr<f32>, #line>
    %at = nv_tileaa.addptr %ps, %sum : tensor<32x!nv_tileaa.ptr<f32>, #line>, tensor<32xi32, #line>
    %v, %t = nv_tileas.load weak %at : tensor<32x!nv_tileaa.ptr<f32>, #line> -> tensor<32xf32, #line>
    %complete = nv_tileas.dot_wait %v {pending = 1 : i32} : tensor<32xf32, #line>
    nv_tileas.proxy_fence
    nv_tileas.barrier
    %one = nv_tileas.extract %line[%i] : tensor<32xi32, #line> -> i32
    %often = nv_tileas.histogram %line {scratch = 0 : i64} : tensor<32xi32, #line> -> tensor<32xi32, #line>
    %made = nv_tileas.generate : tensor<32xi32, #line> {
    ^bb0(%place: i32):
      nv_tileas.yield %place : i32
    }
    %fresh = nv_tileas.async.create_token {slot = 3 : i32} : !nv_tileas.async.token
    nv_tileas.async.wait %fresh : !nv_tileas.async.token
    %none = nv_tileas.async.pipeline.create_null_token : !nv_tileaa.mem_token
    nv_tileas.execute @plugin() : () -> ()
    %u = nv_tileas.store weak %at, %v token = %t : tensor<32x!nv_tileaa.ptr<f32>, #line>, tensor<32xf32, #line>
    nv_tileaa.return
  }
}
