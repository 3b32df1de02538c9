#map = affine_map<(d0) -> (d0)>
#map1 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>
#map2 = affine_map<(d0, d1, d2, d3) -> (d1, 0, 0)>
#map3 = affine_map<(d0, d1, d2, d3) -> (d0, d1, 0, 0)>
module {
  func.func @main(%arg0: tensor<2x3x13x18xf32>) -> tensor<2x8xf32> {
    %cst = arith.constant 0.000000e+00 : f32
    %cst_0 = arith.constant 1.000000e+00 : f32
    %cst_1 = arith.constant 0xFF800000 : f32
    %cst_2 = arith.constant dense_resource<torch_tensor_8_torch.float32_4> : tensor<8xf32>
    %cst_3 = arith.constant dense_resource<torch_tensor_8_torch.float32_3> : tensor<8xf32>
    %cst_4 = arith.constant 1.000000e-05 : f64
    %cst_5 = arith.constant dense_resource<torch_tensor_8_torch.float32_2> : tensor<8xf32>
    %cst_6 = arith.constant dense_resource<torch_tensor_8_torch.float32_1> : tensor<8xf32>
    %cst_7 = arith.constant dense_resource<torch_tensor_8_3_3_3_torch.float32> : tensor<8x3x3x3xf32>
    %cst_8 = arith.constant dense_resource<torch_tensor_8_torch.float32> : tensor<8xf32>
    %cst_9 = arith.constant 1.200000e+01 : f32
    %padded = tensor.pad %arg0 low[0, 0, 1, 1] high[0, 0, 1, 1] {
    ^bb0(%arg1: index, %arg2: index, %arg3: index, %arg4: index):
      tensor.yield %cst : f32
    } : tensor<2x3x13x18xf32> to tensor<2x3x15x20xf32>
    %0 = tensor.empty() : tensor<2x8x7x9xf32>
    %broadcasted = linalg.broadcast ins(%cst_8 : tensor<8xf32>) outs(%0 : tensor<2x8x7x9xf32>) dimensions = [0, 2, 3] 
    %1 = linalg.conv_2d_nchw_fchw {dilations = dense<1> : vector<2xi64>, strides = dense<2> : vector<2xi64>} ins(%padded, %cst_7 : tensor<2x3x15x20xf32>, tensor<8x3x3x3xf32>) outs(%broadcasted : tensor<2x8x7x9xf32>) -> tensor<2x8x7x9xf32>
    %2 = tensor.empty() : tensor<8xf32>
    %3 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel"]} ins(%cst_5 : tensor<8xf32>) outs(%2 : tensor<8xf32>) {
    ^bb0(%in: f32, %out: f32):
      %19 = arith.truncf %cst_4 : f64 to f32
      %20 = arith.addf %in, %19 : f32
      linalg.yield %20 : f32
    } -> tensor<8xf32>
    %4 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel"]} ins(%3 : tensor<8xf32>) outs(%2 : tensor<8xf32>) {
    ^bb0(%in: f32, %out: f32):
      %19 = math.sqrt %in : f32
      linalg.yield %19 : f32
    } -> tensor<8xf32>
    %5 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel"]} ins(%4 : tensor<8xf32>) outs(%2 : tensor<8xf32>) {
    ^bb0(%in: f32, %out: f32):
      %19 = arith.cmpf one, %in, %cst : f32
      cf.assert %19, "unimplemented: tensor with zero element"
      %20 = arith.divf %cst_0, %in : f32
      linalg.yield %20 : f32
    } -> tensor<8xf32>
    %expanded = tensor.expand_shape %cst_6 [[0, 1, 2]] output_shape [8, 1, 1] : tensor<8xf32> into tensor<8x1x1xf32>
    %expanded_10 = tensor.expand_shape %5 [[0, 1, 2]] output_shape [8, 1, 1] : tensor<8xf32> into tensor<8x1x1xf32>
    %6 = linalg.generic {indexing_maps = [#map1, #map2, #map1], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%1, %expanded : tensor<2x8x7x9xf32>, tensor<8x1x1xf32>) outs(%0 : tensor<2x8x7x9xf32>) {
    ^bb0(%in: f32, %in_13: f32, %out: f32):
      %19 = arith.subf %in, %in_13 : f32
      linalg.yield %19 : f32
    } -> tensor<2x8x7x9xf32>
    %7 = linalg.generic {indexing_maps = [#map1, #map2, #map1], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%6, %expanded_10 : tensor<2x8x7x9xf32>, tensor<8x1x1xf32>) outs(%0 : tensor<2x8x7x9xf32>) {
    ^bb0(%in: f32, %in_13: f32, %out: f32):
      %19 = arith.mulf %in, %in_13 : f32
      linalg.yield %19 : f32
    } -> tensor<2x8x7x9xf32>
    %expanded_11 = tensor.expand_shape %cst_3 [[0, 1, 2]] output_shape [8, 1, 1] : tensor<8xf32> into tensor<8x1x1xf32>
    %8 = linalg.generic {indexing_maps = [#map1, #map2, #map1], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%7, %expanded_11 : tensor<2x8x7x9xf32>, tensor<8x1x1xf32>) outs(%0 : tensor<2x8x7x9xf32>) {
    ^bb0(%in: f32, %in_13: f32, %out: f32):
      %19 = arith.mulf %in, %in_13 : f32
      linalg.yield %19 : f32
    } -> tensor<2x8x7x9xf32>
    %expanded_12 = tensor.expand_shape %cst_2 [[0, 1, 2]] output_shape [8, 1, 1] : tensor<8xf32> into tensor<8x1x1xf32>
    %9 = linalg.generic {indexing_maps = [#map1, #map2, #map1], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%8, %expanded_12 : tensor<2x8x7x9xf32>, tensor<8x1x1xf32>) outs(%0 : tensor<2x8x7x9xf32>) {
    ^bb0(%in: f32, %in_13: f32, %out: f32):
      %19 = arith.addf %in, %in_13 : f32
      linalg.yield %19 : f32
    } -> tensor<2x8x7x9xf32>
    %10 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%9 : tensor<2x8x7x9xf32>) outs(%0 : tensor<2x8x7x9xf32>) {
    ^bb0(%in: f32, %out: f32):
      %19 = arith.cmpf ugt, %in, %cst : f32
      %20 = arith.select %19, %in, %cst : f32
      linalg.yield %20 : f32
    } -> tensor<2x8x7x9xf32>
    %11 = tensor.empty() : tensor<2x8x3x4xf32>
    %12 = linalg.fill ins(%cst_1 : f32) outs(%11 : tensor<2x8x3x4xf32>) -> tensor<2x8x3x4xf32>
    %13 = tensor.empty() : tensor<2x2xf32>
    %14 = linalg.pooling_nchw_max {dilations = dense<1> : vector<2xi64>, strides = dense<2> : vector<2xi64>} ins(%10, %13 : tensor<2x8x7x9xf32>, tensor<2x2xf32>) outs(%12 : tensor<2x8x3x4xf32>) -> tensor<2x8x3x4xf32>
    %15 = tensor.empty() : tensor<2x8x1x1xf32>
    %16 = linalg.fill ins(%cst : f32) outs(%15 : tensor<2x8x1x1xf32>) -> tensor<2x8x1x1xf32>
    %17 = linalg.generic {indexing_maps = [#map1, #map3], iterator_types = ["parallel", "parallel", "reduction", "reduction"]} ins(%14 : tensor<2x8x3x4xf32>) outs(%16 : tensor<2x8x1x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %19 = arith.addf %in, %out : f32
      linalg.yield %19 : f32
    } -> tensor<2x8x1x1xf32>
    %18 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%17 : tensor<2x8x1x1xf32>) outs(%15 : tensor<2x8x1x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %19 = arith.divf %in, %cst_9 : f32
      linalg.yield %19 : f32
    } -> tensor<2x8x1x1xf32>
    %collapsed = tensor.collapse_shape %18 [[0], [1, 2, 3]] : tensor<2x8x1x1xf32> into tensor<2x8xf32>
    return %collapsed : tensor<2x8xf32>
  }
}

{-#
  dialect_resources: {
    builtin: {
      torch_tensor_8_torch.float32_4: "0x04000000387DE3BED6A5303FAAC7923D6E5B6F3FE9B199BFE87084BF14422E3F40D9033F",
      torch_tensor_8_torch.float32_3: "0x04000000AF7302BFB232473F765C9E3EBD37083F10D072BDC0B1F4BFE3EDCFBFAA7CAE3E",
      torch_tensor_8_torch.float32_2: "0x04000000255A0B3FF6B96F3F81CB223FC605EB3FF803233F7027C33FB541A43F6EA3E43F",
      torch_tensor_8_torch.float32_1: "0x04000000507CB43F98FB0D3F7D5DAC3EBA13F23EB6EDF3BE0007263F0023D73E2531423E",
      torch_tensor_8_3_3_3_torch.float32: "0x04000000AD8B0CBD50081FBDCF0183BD7CF22A3EE642B6BCADE684BB59BD2A3E3050893D20E601BCB923E8BC1D06813C5F5773BD9FF4D9BC060E0A3E7BCC0FBD11C45BBD0D2EBB3CCC31103EEC24113E1164403ECBBAA2BDB46B023E3CEFCB3D254D1B3E07F313BEC75FCB3DD7B9D2BD109A0F3E4D0D123C4EC2123E347C083DD827873DED95C2BD5007E83DB964AD3DEA8FD4BDED35D0BD2DDF8EBD6F74FA3D918F273EE1CEC03CE5C3E23CB74DC8BDB1AF893D161FE7BD73485CBDEC84B8BDA362B93D4CB6C83D8126233DDF0704BE8ADF29BD3F9A2ABEF2E7CBBD987C42BDA3772C3DE4EA8EBD4E332E3DC55C1C3EBA31D33D8F9F87BDFD5813BCA8C0DCBD1E8F43BEC0C2B1BD9B9297BD5F0BC5BD01437F3C251BC2BCD68138BEC651173E206E87BC5F1F8FBC0D21323E8E7032BDFB9A3F3E33CE31BDF0985FBDB75119BD0F670E3E14093A3E7E93003E088F47BC42E0A53C9B07DEBC5F74D63D7DF4853D8BE8253E90B684BB5DA9853D8D3376BD0950B6BB4AD6523DEC619ABD9494323E3F720CBE4F21193E27D1F23D7A2EFA3DA202463D8DCC173E44CF323ECB6E633C05C389BD38EA7BBC58E5CE3C7708D43D0225ABBD2EF6A83D794621BE82E1813DD56085BD54A0C93D62C7E03D813C91BDB44FB03BB5C21B3EB5D8783DDF9C16BE9A70193E989D7EBC346A26BE20E217BE54501ABE2A649C3B6C0EBFBBFA5FC0BC49C026BE1108F43D5D8D74BD007DF03D55D7773CFB4D23BD9C4E423EE06B053E1E4C77BD42F9353E3E9269BC87D6B53DD9DB4F3D3CFB83BD2AAB77BD4DAC3BBE50FA2F3E09BC143E9C500BBE3D74D6BB09B7813DE862EABC67AB19BE10832FBEF50D693DF192173E255ECF3D843A04BE233E28BC86AA3FBEE69C0C3D4B17503DA63AFABD756113BDF830343E11E978BD9913B5BCF98A1EBE594082BDA522BAB99BE50D3EE33B82BD0D37DF3D6CE329BE9FB7283D546C1B3EBB4C1DBE44821A3B9B5E2E3DE6D807BE1CB952BCBE8901BEA9362EBE2DDF703D0E0BBFBC643EE33D82D25CBDEF77E33BD4F24CBD6880D7BDDFCE2E3E4E55D53DE91B1B3E720D0B3EA98129BEEDF421BE635C1DBECA97A7BDA6E3153E12B241BEA876EF3D69A43F3EA003E2BDFEE2943D181DA23B0A5FD03DEC4CBCBD8CB012BEA80521BE69557FBDBCB4293E1965E53D670276BD63089A3DC90C153EABCBFDBDA37A8D3DEF49343E706DB7BC",
      torch_tensor_8_torch.float32: "0x04000000EEC014BE3824D5BADD16ABBD0625913DE19E963D4990233ED5FC0F3D98E3FDBB"
    }
  }
#-}
