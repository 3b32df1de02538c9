#map = affine_map<(d0) -> (d0)>
#map1 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>
#map2 = affine_map<(d0, d1, d2, d3) -> (d1, 0, 0)>
#map3 = affine_map<(d0, d1, d2, d3) -> (d0, d1, 0, 0)>
module {
  func.func @main(%arg0: tensor<?x3x13x18xf32>, %arg1: tensor<8x3x3x3xf32>, %arg2: tensor<8xf32>, %arg3: tensor<8xf32>, %arg4: tensor<8xf32>, %arg5: tensor<8xf32>, %arg6: tensor<8xf32>) -> tensor<?x8xf32> {
    %c0 = arith.constant 0 : index
    %cst = arith.constant 0.000000e+00 : f32
    %cst_0 = arith.constant 1.000000e+00 : f32
    %cst_1 = arith.constant 0xFF800000 : f32
    %cst_2 = arith.constant 1.000000e-05 : f64
    %cst_3 = arith.constant 1.200000e+01 : f32
    %dim = tensor.dim %arg0, %c0 : tensor<?x3x13x18xf32>
    %padded = tensor.pad %arg0 low[0, 0, 1, 1] high[0, 0, 1, 1] {
    ^bb0(%arg7: index, %arg8: index, %arg9: index, %arg10: index):
      tensor.yield %cst : f32
    } : tensor<?x3x13x18xf32> to tensor<?x3x15x20xf32>
    %0 = tensor.empty(%dim) : tensor<?x8x7x9xf32>
    %broadcasted = linalg.broadcast ins(%arg2 : tensor<8xf32>) outs(%0 : tensor<?x8x7x9xf32>) dimensions = [0, 2, 3] 
    %1 = linalg.conv_2d_nchw_fchw {dilations = dense<1> : vector<2xi64>, strides = dense<2> : vector<2xi64>} ins(%padded, %arg1 : tensor<?x3x15x20xf32>, tensor<8x3x3x3xf32>) outs(%broadcasted : tensor<?x8x7x9xf32>) -> tensor<?x8x7x9xf32>
    %2 = tensor.empty() : tensor<8xf32>
    %3 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel"]} ins(%arg6 : tensor<8xf32>) outs(%2 : tensor<8xf32>) {
    ^bb0(%in: f32, %out: f32):
      %19 = arith.truncf %cst_2 : f64 to f32
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
    %expanded = tensor.expand_shape %arg5 [[0, 1, 2]] output_shape [8, 1, 1] : tensor<8xf32> into tensor<8x1x1xf32>
    %expanded_4 = tensor.expand_shape %5 [[0, 1, 2]] output_shape [8, 1, 1] : tensor<8xf32> into tensor<8x1x1xf32>
    %6 = linalg.generic {indexing_maps = [#map1, #map2, #map1], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%1, %expanded : tensor<?x8x7x9xf32>, tensor<8x1x1xf32>) outs(%0 : tensor<?x8x7x9xf32>) {
    ^bb0(%in: f32, %in_7: f32, %out: f32):
      %19 = arith.subf %in, %in_7 : f32
      linalg.yield %19 : f32
    } -> tensor<?x8x7x9xf32>
    %7 = linalg.generic {indexing_maps = [#map1, #map2, #map1], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%6, %expanded_4 : tensor<?x8x7x9xf32>, tensor<8x1x1xf32>) outs(%0 : tensor<?x8x7x9xf32>) {
    ^bb0(%in: f32, %in_7: f32, %out: f32):
      %19 = arith.mulf %in, %in_7 : f32
      linalg.yield %19 : f32
    } -> tensor<?x8x7x9xf32>
    %expanded_5 = tensor.expand_shape %arg3 [[0, 1, 2]] output_shape [8, 1, 1] : tensor<8xf32> into tensor<8x1x1xf32>
    %8 = linalg.generic {indexing_maps = [#map1, #map2, #map1], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%7, %expanded_5 : tensor<?x8x7x9xf32>, tensor<8x1x1xf32>) outs(%0 : tensor<?x8x7x9xf32>) {
    ^bb0(%in: f32, %in_7: f32, %out: f32):
      %19 = arith.mulf %in, %in_7 : f32
      linalg.yield %19 : f32
    } -> tensor<?x8x7x9xf32>
    %expanded_6 = tensor.expand_shape %arg4 [[0, 1, 2]] output_shape [8, 1, 1] : tensor<8xf32> into tensor<8x1x1xf32>
    %9 = linalg.generic {indexing_maps = [#map1, #map2, #map1], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%8, %expanded_6 : tensor<?x8x7x9xf32>, tensor<8x1x1xf32>) outs(%0 : tensor<?x8x7x9xf32>) {
    ^bb0(%in: f32, %in_7: f32, %out: f32):
      %19 = arith.addf %in, %in_7 : f32
      linalg.yield %19 : f32
    } -> tensor<?x8x7x9xf32>
    %10 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%9 : tensor<?x8x7x9xf32>) outs(%0 : tensor<?x8x7x9xf32>) {
    ^bb0(%in: f32, %out: f32):
      %19 = arith.cmpf ugt, %in, %cst : f32
      %20 = arith.select %19, %in, %cst : f32
      linalg.yield %20 : f32
    } -> tensor<?x8x7x9xf32>
    %11 = tensor.empty(%dim) : tensor<?x8x3x4xf32>
    %12 = linalg.fill ins(%cst_1 : f32) outs(%11 : tensor<?x8x3x4xf32>) -> tensor<?x8x3x4xf32>
    %13 = tensor.empty() : tensor<2x2xf32>
    %14 = linalg.pooling_nchw_max {dilations = dense<1> : vector<2xi64>, strides = dense<2> : vector<2xi64>} ins(%10, %13 : tensor<?x8x7x9xf32>, tensor<2x2xf32>) outs(%12 : tensor<?x8x3x4xf32>) -> tensor<?x8x3x4xf32>
    %15 = tensor.empty(%dim) : tensor<?x8x1x1xf32>
    %16 = linalg.fill ins(%cst : f32) outs(%15 : tensor<?x8x1x1xf32>) -> tensor<?x8x1x1xf32>
    %17 = linalg.generic {indexing_maps = [#map1, #map3], iterator_types = ["parallel", "parallel", "reduction", "reduction"]} ins(%14 : tensor<?x8x3x4xf32>) outs(%16 : tensor<?x8x1x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %19 = arith.addf %in, %out : f32
      linalg.yield %19 : f32
    } -> tensor<?x8x1x1xf32>
    %18 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%17 : tensor<?x8x1x1xf32>) outs(%15 : tensor<?x8x1x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %19 = arith.divf %in, %cst_3 : f32
      linalg.yield %19 : f32
    } -> tensor<?x8x1x1xf32>
    %collapsed = tensor.collapse_shape %18 [[0], [1, 2, 3]] : tensor<?x8x1x1xf32> into tensor<?x8xf32>
    return %collapsed : tensor<?x8xf32>
  }
}
