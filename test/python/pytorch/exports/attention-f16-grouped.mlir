#map = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>
#map1 = affine_map<(d0) -> (d0)>
#map2 = affine_map<(d0, d1) -> (0, d1)>
#map3 = affine_map<(d0, d1) -> (d0, 0)>
#map4 = affine_map<(d0, d1) -> (d0, d1)>
#map5 = affine_map<(d0, d1) -> ()>
#map6 = affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d3, d4)>
#map7 = affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d3, d4)>
#map8 = affine_map<(d0, d1, d2, d3) -> (d2, d3)>
#map9 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2)>
#map10 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, 0)>
module {
  func.func @main(%arg0: tensor<1x4x80x32xf16>, %arg1: tensor<1x2x640x32xf16>, %arg2: tensor<1x2x640x32xf16>) -> tensor<1x4x80x32xf16> {
    %c0_i64 = arith.constant 0 : i64
    %cst = arith.constant 0.000000e+00 : f32
    %cst_0 = arith.constant 0xFF800000 : f32
    %true = arith.constant true
    %cst_1 = arith.constant dense<0.000000e+00> : tensor<1x4x80x640xf32>
    %cst_2 = arith.constant dense<0.000000e+00> : tensor<f32>
    %cst_3 = arith.constant dense<0xFF800000> : tensor<f32>
    %cst_4 = arith.constant dense<true> : tensor<80x640xi1>
    %cst_5 = arith.constant 0xFFF0000000000000 : f64
    %cst_6 = arith.constant 0.42044820762685725 : f64
    %0 = tensor.empty() : tensor<1x4x80x32xf32>
    %1 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%arg0 : tensor<1x4x80x32xf16>) outs(%0 : tensor<1x4x80x32xf32>) {
    ^bb0(%in: f16, %out: f32):
      %49 = arith.extf %in : f16 to f32
      linalg.yield %49 : f32
    } -> tensor<1x4x80x32xf32>
    %2 = tensor.empty() : tensor<1x2x640x32xf32>
    %3 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%arg1 : tensor<1x2x640x32xf16>) outs(%2 : tensor<1x2x640x32xf32>) {
    ^bb0(%in: f16, %out: f32):
      %49 = arith.extf %in : f16 to f32
      linalg.yield %49 : f32
    } -> tensor<1x2x640x32xf32>
    %4 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%arg2 : tensor<1x2x640x32xf16>) outs(%2 : tensor<1x2x640x32xf32>) {
    ^bb0(%in: f16, %out: f32):
      %49 = arith.extf %in : f16 to f32
      linalg.yield %49 : f32
    } -> tensor<1x2x640x32xf32>
    %5 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%1 : tensor<1x4x80x32xf32>) outs(%0 : tensor<1x4x80x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      %49 = arith.truncf %cst_6 : f64 to f32
      %50 = arith.mulf %in, %49 : f32
      linalg.yield %50 : f32
    } -> tensor<1x4x80x32xf32>
    %6 = tensor.empty() : tensor<640xi64>
    %7 = linalg.generic {indexing_maps = [#map1], iterator_types = ["parallel"]} outs(%6 : tensor<640xi64>) {
    ^bb0(%out: i64):
      %49 = linalg.index 0 : index
      %50 = arith.index_cast %49 : index to i64
      linalg.yield %50 : i64
    } -> tensor<640xi64>
    %expanded = tensor.expand_shape %7 [[0, 1]] output_shape [1, 640] : tensor<640xi64> into tensor<1x640xi64>
    %8 = tensor.empty() : tensor<80xi64>
    %9 = linalg.generic {indexing_maps = [#map1], iterator_types = ["parallel"]} outs(%8 : tensor<80xi64>) {
    ^bb0(%out: i64):
      %49 = linalg.index 0 : index
      %50 = arith.index_cast %49 : index to i64
      linalg.yield %50 : i64
    } -> tensor<80xi64>
    %expanded_7 = tensor.expand_shape %9 [[0, 1]] output_shape [80, 1] : tensor<80xi64> into tensor<80x1xi64>
    %10 = tensor.empty() : tensor<80x640xi64>
    %11 = linalg.generic {indexing_maps = [#map2, #map3, #map4], iterator_types = ["parallel", "parallel"]} ins(%expanded, %expanded_7 : tensor<1x640xi64>, tensor<80x1xi64>) outs(%10 : tensor<80x640xi64>) {
    ^bb0(%in: i64, %in_15: i64, %out: i64):
      %49 = arith.subi %in, %in_15 : i64
      linalg.yield %49 : i64
    } -> tensor<80x640xi64>
    %12 = tensor.empty() : tensor<80x640xi1>
    %13 = linalg.generic {indexing_maps = [#map4, #map4], iterator_types = ["parallel", "parallel"]} ins(%11 : tensor<80x640xi64>) outs(%12 : tensor<80x640xi1>) {
    ^bb0(%in: i64, %out: i1):
      %49 = arith.cmpi sle, %in, %c0_i64 : i64
      linalg.yield %49 : i1
    } -> tensor<80x640xi1>
    %14 = linalg.generic {indexing_maps = [#map4, #map4, #map4], iterator_types = ["parallel", "parallel"]} ins(%13, %cst_4 : tensor<80x640xi1>, tensor<80x640xi1>) outs(%12 : tensor<80x640xi1>) {
    ^bb0(%in: i1, %in_15: i1, %out: i1):
      %49 = arith.andi %in, %in_15 : i1
      linalg.yield %49 : i1
    } -> tensor<80x640xi1>
    %15 = tensor.empty() : tensor<80x640xf32>
    %16 = linalg.generic {indexing_maps = [#map4, #map5, #map5, #map4], iterator_types = ["parallel", "parallel"]} ins(%14, %cst_2, %cst_3 : tensor<80x640xi1>, tensor<f32>, tensor<f32>) outs(%15 : tensor<80x640xf32>) {
    ^bb0(%in: i1, %in_15: f32, %in_16: f32, %out: f32):
      %49 = arith.select %in, %in_15, %in_16 : f32
      linalg.yield %49 : f32
    } -> tensor<80x640xf32>
    %17 = tensor.empty() : tensor<1x2x2x640x32xf32>
    %18 = linalg.generic {indexing_maps = [#map6, #map7], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%3 : tensor<1x2x640x32xf32>) outs(%17 : tensor<1x2x2x640x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x2x2x640x32xf32>
    %collapsed = tensor.collapse_shape %18 [[0], [1, 2], [3], [4]] : tensor<1x2x2x640x32xf32> into tensor<1x4x640x32xf32>
    %19 = linalg.generic {indexing_maps = [#map6, #map7], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%4 : tensor<1x2x640x32xf32>) outs(%17 : tensor<1x2x2x640x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x2x2x640x32xf32>
    %20 = tensor.empty() : tensor<1x4x32x640xf32>
    %transposed = linalg.transpose ins(%collapsed : tensor<1x4x640x32xf32>) outs(%20 : tensor<1x4x32x640xf32>) permutation = [0, 1, 3, 2] 
    %21 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%transposed : tensor<1x4x32x640xf32>) outs(%20 : tensor<1x4x32x640xf32>) {
    ^bb0(%in: f32, %out: f32):
      %49 = arith.truncf %cst_6 : f64 to f32
      %50 = arith.mulf %in, %49 : f32
      linalg.yield %50 : f32
    } -> tensor<1x4x32x640xf32>
    %collapsed_8 = tensor.collapse_shape %5 [[0, 1], [2], [3]] : tensor<1x4x80x32xf32> into tensor<4x80x32xf32>
    %collapsed_9 = tensor.collapse_shape %21 [[0, 1], [2], [3]] : tensor<1x4x32x640xf32> into tensor<4x32x640xf32>
    %22 = tensor.empty() : tensor<4x80x640xf32>
    %23 = linalg.fill ins(%cst : f32) outs(%22 : tensor<4x80x640xf32>) -> tensor<4x80x640xf32>
    %24 = linalg.batch_matmul ins(%collapsed_8, %collapsed_9 : tensor<4x80x32xf32>, tensor<4x32x640xf32>) outs(%23 : tensor<4x80x640xf32>) -> tensor<4x80x640xf32>
    %expanded_10 = tensor.expand_shape %24 [[0, 1], [2], [3]] output_shape [1, 4, 80, 640] : tensor<4x80x640xf32> into tensor<1x4x80x640xf32>
    %25 = tensor.empty() : tensor<1x4x80x640xf32>
    %26 = linalg.generic {indexing_maps = [#map, #map8, #map], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%expanded_10, %16 : tensor<1x4x80x640xf32>, tensor<80x640xf32>) outs(%25 : tensor<1x4x80x640xf32>) {
    ^bb0(%in: f32, %in_15: f32, %out: f32):
      %49 = arith.addf %in, %in_15 : f32
      linalg.yield %49 : f32
    } -> tensor<1x4x80x640xf32>
    %27 = tensor.empty() : tensor<1x4x80xi64>
    %28 = linalg.fill ins(%c0_i64 : i64) outs(%27 : tensor<1x4x80xi64>) -> tensor<1x4x80xi64>
    %29 = tensor.empty() : tensor<1x4x80xf32>
    %30 = linalg.fill ins(%cst_0 : f32) outs(%29 : tensor<1x4x80xf32>) -> tensor<1x4x80xf32>
    %31:2 = linalg.generic {indexing_maps = [#map, #map9, #map9], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%26 : tensor<1x4x80x640xf32>) outs(%30, %28 : tensor<1x4x80xf32>, tensor<1x4x80xi64>) {
    ^bb0(%in: f32, %out: f32, %out_15: i64):
      %49 = linalg.index 3 : index
      %50 = arith.index_cast %49 : index to i64
      %51 = arith.maximumf %in, %out : f32
      %52 = arith.cmpf ogt, %in, %out : f32
      %53 = arith.select %52, %50, %out_15 : i64
      linalg.yield %51, %53 : f32, i64
    } -> (tensor<1x4x80xf32>, tensor<1x4x80xi64>)
    %expanded_11 = tensor.expand_shape %31#0 [[0], [1], [2, 3]] output_shape [1, 4, 80, 1] : tensor<1x4x80xf32> into tensor<1x4x80x1xf32>
    %32 = linalg.generic {indexing_maps = [#map, #map10, #map], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%26, %expanded_11 : tensor<1x4x80x640xf32>, tensor<1x4x80x1xf32>) outs(%25 : tensor<1x4x80x640xf32>) {
    ^bb0(%in: f32, %in_15: f32, %out: f32):
      %49 = arith.subf %in, %in_15 : f32
      linalg.yield %49 : f32
    } -> tensor<1x4x80x640xf32>
    %33 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%32 : tensor<1x4x80x640xf32>) outs(%25 : tensor<1x4x80x640xf32>) {
    ^bb0(%in: f32, %out: f32):
      %49 = math.exp %in : f32
      linalg.yield %49 : f32
    } -> tensor<1x4x80x640xf32>
    %34 = tensor.empty() : tensor<1x4x80x1xf32>
    %35 = linalg.fill ins(%cst : f32) outs(%34 : tensor<1x4x80x1xf32>) -> tensor<1x4x80x1xf32>
    %36 = linalg.generic {indexing_maps = [#map, #map10], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%33 : tensor<1x4x80x640xf32>) outs(%35 : tensor<1x4x80x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %49 = arith.addf %in, %out : f32
      linalg.yield %49 : f32
    } -> tensor<1x4x80x1xf32>
    %37 = linalg.generic {indexing_maps = [#map, #map10, #map], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%33, %36 : tensor<1x4x80x640xf32>, tensor<1x4x80x1xf32>) outs(%25 : tensor<1x4x80x640xf32>) {
    ^bb0(%in: f32, %in_15: f32, %out: f32):
      %49 = arith.divf %in, %in_15 : f32
      linalg.yield %49 : f32
    } -> tensor<1x4x80x640xf32>
    %38 = tensor.empty() : tensor<1x4x80x640xi1>
    %39 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%26 : tensor<1x4x80x640xf32>) outs(%38 : tensor<1x4x80x640xi1>) {
    ^bb0(%in: f32, %out: i1):
      %49 = arith.extf %in : f32 to f64
      %50 = arith.cmpf oeq, %49, %cst_5 : f64
      linalg.yield %50 : i1
    } -> tensor<1x4x80x640xi1>
    %40 = tensor.empty() : tensor<1x4x80x1xi1>
    %41 = linalg.fill ins(%true : i1) outs(%40 : tensor<1x4x80x1xi1>) -> tensor<1x4x80x1xi1>
    %42 = linalg.generic {indexing_maps = [#map, #map10], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%39 : tensor<1x4x80x640xi1>) outs(%41 : tensor<1x4x80x1xi1>) {
    ^bb0(%in: i1, %out: i1):
      %49 = arith.andi %in, %out : i1
      linalg.yield %49 : i1
    } -> tensor<1x4x80x1xi1>
    %43 = linalg.generic {indexing_maps = [#map10, #map, #map, #map], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%42, %cst_1, %37 : tensor<1x4x80x1xi1>, tensor<1x4x80x640xf32>, tensor<1x4x80x640xf32>) outs(%25 : tensor<1x4x80x640xf32>) {
    ^bb0(%in: i1, %in_15: f32, %in_16: f32, %out: f32):
      %49 = arith.select %in, %in_15, %in_16 : f32
      linalg.yield %49 : f32
    } -> tensor<1x4x80x640xf32>
    %collapsed_12 = tensor.collapse_shape %43 [[0, 1], [2], [3]] : tensor<1x4x80x640xf32> into tensor<4x80x640xf32>
    %collapsed_13 = tensor.collapse_shape %19 [[0, 1, 2], [3], [4]] : tensor<1x2x2x640x32xf32> into tensor<4x640x32xf32>
    %44 = tensor.empty() : tensor<4x80x32xf32>
    %45 = linalg.fill ins(%cst : f32) outs(%44 : tensor<4x80x32xf32>) -> tensor<4x80x32xf32>
    %46 = linalg.batch_matmul ins(%collapsed_12, %collapsed_13 : tensor<4x80x640xf32>, tensor<4x640x32xf32>) outs(%45 : tensor<4x80x32xf32>) -> tensor<4x80x32xf32>
    %expanded_14 = tensor.expand_shape %46 [[0, 1], [2], [3]] output_shape [1, 4, 80, 32] : tensor<4x80x32xf32> into tensor<1x4x80x32xf32>
    %47 = tensor.empty() : tensor<1x4x80x32xf16>
    %48 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%expanded_14 : tensor<1x4x80x32xf32>) outs(%47 : tensor<1x4x80x32xf16>) {
    ^bb0(%in: f32, %out: f16):
      %49 = arith.truncf %in : f32 to f16
      linalg.yield %49 : f16
    } -> tensor<1x4x80x32xf16>
    return %48 : tensor<1x4x80x32xf16>
  }
}
