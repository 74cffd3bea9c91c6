// A plugin runs in an agent of all warps, with the registers and barriers that it declares, on tiles
// in the layouts that it declares.
// RUN: tilewright opt --pass convert-tileaa-to-tileas %s | filecheck %s
// CHECK: [[OWN:#layout[0-9]*]] = #nv_tileas.layout<[128], register = [], lane = {{\[}}[64], [32], [16], [8], [4]], warp = {{\[}}[2], [1]]>
// CHECK-LABEL: @execute
// CHECK: nv_tileas.convert_layout {{.*}} -> tensor<128xf32, [[OWN]]>
// CHECK: nv_tileas.async.pipeline.agent_switch
// CHECK-SAME: max_registers = 96
// CHECK-SAME: named_barriers = 2
// CHECK-SAME: warps = 4
// CHECK: nv_tileas.execute @plugin({{.*}}) : (tensor<128xf32, [[OWN]]>) -> ()
#own = #nv_tileas.layout<[128], register = [], lane = [[64], [32], [16], [8], [4]], warp = [[2], [1]]>
!f32 = !nv_tileaa.ptr<f32>
gpu.module @kernels attributes {nv_tileaa.target_spec = #nv_tileaa.target_spec<compute_capability = 90>} {
  nv_tileaa.plugin @plugin {input_layouts = [#own], max_registers = 96 : i32, named_barriers = 2 : i32}
  nv_tileaa.func @execute(%x: !f32) attributes {kernel_spec = #nv_tileaa.kernel_spec<num_warps = 4>} {
    %i = nv_tileaa.make_range : tensor<128xi32>
    %xs = nv_tileaa.splat %x : !f32 -> tensor<128x!f32>
    %p = nv_tileaa.addptr %xs, %i : tensor<128x!f32>, tensor<128xi32>
    %a, %t = nv_tileaa.load weak %p : tensor<128x!f32> -> tensor<128xf32>
    nv_tileaa.execute @plugin(%a) : (tensor<128xf32>) -> ()
    nv_tileaa.return
  }
}
