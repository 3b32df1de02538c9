#map = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>
#map1 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2)>
#map2 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, 0)>
#map3 = affine_map<(d0, d1, d2, d3) -> ()>
module {
  func.func @main(%arg0: tensor<1x2x80x32xf16>, %arg1: tensor<1x2x?x32xf16>, %arg2: tensor<1x2x?x32xf16>) -> tensor<1x2x80x32xf16> {
    %c0_i64 = arith.constant 0 : i64
    %c1 = arith.constant 1 : index
    %c0 = arith.constant 0 : index
    %c2 = arith.constant 2 : index
    %cst = arith.constant 0.000000e+00 : f32
    %cst_0 = arith.constant 0xFF800000 : f32
    %true = arith.constant true
    %cst_1 = arith.constant dense<0.000000e+00> : tensor<f32>
    %cst_2 = arith.constant 0xFFF0000000000000 : f64
    %cst_3 = arith.constant 0.42044820762685725 : f64
    %dim = tensor.dim %arg2, %c2 : tensor<1x2x?x32xf16>
    %0 = arith.index_cast %dim : index to i64
    %1 = tensor.empty() : tensor<1x2x80x32xf32>
    %2 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%arg0 : tensor<1x2x80x32xf16>) outs(%1 : tensor<1x2x80x32xf32>) {
    ^bb0(%in: f16, %out: f32):
      %45 = arith.extf %in : f16 to f32
      linalg.yield %45 : f32
    } -> tensor<1x2x80x32xf32>
    %dim_4 = tensor.dim %arg1, %c2 : tensor<1x2x?x32xf16>
    %3 = tensor.empty(%dim_4) : tensor<1x2x?x32xf32>
    %4 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%arg1 : tensor<1x2x?x32xf16>) outs(%3 : tensor<1x2x?x32xf32>) {
    ^bb0(%in: f16, %out: f32):
      %45 = arith.extf %in : f16 to f32
      linalg.yield %45 : f32
    } -> tensor<1x2x?x32xf32>
    %5 = tensor.empty(%dim) : tensor<1x2x?x32xf32>
    %6 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%arg2 : tensor<1x2x?x32xf16>) outs(%5 : tensor<1x2x?x32xf32>) {
    ^bb0(%in: f16, %out: f32):
      %45 = arith.extf %in : f16 to f32
      linalg.yield %45 : f32
    } -> tensor<1x2x?x32xf32>
    %7 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%2 : tensor<1x2x80x32xf32>) outs(%1 : tensor<1x2x80x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      %45 = arith.truncf %cst_3 : f64 to f32
      %46 = arith.mulf %in, %45 : f32
      linalg.yield %46 : f32
    } -> tensor<1x2x80x32xf32>
    %8 = tensor.empty(%dim_4) : tensor<1x2x32x?xf32>
    %transposed = linalg.transpose ins(%4 : tensor<1x2x?x32xf32>) outs(%8 : tensor<1x2x32x?xf32>) permutation = [0, 1, 3, 2] 
    %9 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%transposed : tensor<1x2x32x?xf32>) outs(%8 : tensor<1x2x32x?xf32>) {
    ^bb0(%in: f32, %out: f32):
      %45 = arith.truncf %cst_3 : f64 to f32
      %46 = arith.mulf %in, %45 : f32
      linalg.yield %46 : f32
    } -> tensor<1x2x32x?xf32>
    %collapsed = tensor.collapse_shape %7 [[0, 1], [2], [3]] : tensor<1x2x80x32xf32> into tensor<2x80x32xf32>
    %10 = arith.cmpi sge, %0, %c0_i64 : i64
    cf.assert %10, "unimplemented: dynamic negative broadcast sizes"
    %11 = tensor.empty(%dim) : tensor<1x2x32x?xf32>
    %12 = linalg.generic {indexing_maps = [#map], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} outs(%11 : tensor<1x2x32x?xf32>) {
    ^bb0(%out: f32):
      %45 = linalg.index 1 : index
      %46 = linalg.index 2 : index
      %47 = linalg.index 3 : index
      %48 = arith.cmpi eq, %dim_4, %c1 : index
      %49 = arith.select %48, %c0, %47 : index
      %extracted = tensor.extract %9[%c0, %45, %46, %49] : tensor<1x2x32x?xf32>
      linalg.yield %extracted : f32
    } -> tensor<1x2x32x?xf32>
    %collapsed_5 = tensor.collapse_shape %12 [[0, 1], [2], [3]] : tensor<1x2x32x?xf32> into tensor<2x32x?xf32>
    %13 = tensor.empty(%dim) : tensor<2x80x?xf32>
    %14 = linalg.fill ins(%cst : f32) outs(%13 : tensor<2x80x?xf32>) -> tensor<2x80x?xf32>
    %15 = linalg.batch_matmul ins(%collapsed, %collapsed_5 : tensor<2x80x32xf32>, tensor<2x32x?xf32>) outs(%14 : tensor<2x80x?xf32>) -> tensor<2x80x?xf32>
    %expanded = tensor.expand_shape %15 [[0, 1], [2], [3]] output_shape [1, 2, 80, %dim] : tensor<2x80x?xf32> into tensor<1x2x80x?xf32>
    %16 = tensor.empty() : tensor<1x2x80xi64>
    %17 = linalg.fill ins(%c0_i64 : i64) outs(%16 : tensor<1x2x80xi64>) -> tensor<1x2x80xi64>
    %18 = tensor.empty() : tensor<1x2x80xf32>
    %19 = linalg.fill ins(%cst_0 : f32) outs(%18 : tensor<1x2x80xf32>) -> tensor<1x2x80xf32>
    %20:2 = linalg.generic {indexing_maps = [#map, #map1, #map1], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%expanded : tensor<1x2x80x?xf32>) outs(%19, %17 : tensor<1x2x80xf32>, tensor<1x2x80xi64>) {
    ^bb0(%in: f32, %out: f32, %out_10: i64):
      %45 = linalg.index 3 : index
      %46 = arith.index_cast %45 : index to i64
      %47 = arith.maximumf %in, %out : f32
      %48 = arith.cmpf ogt, %in, %out : f32
      %49 = arith.select %48, %46, %out_10 : i64
      linalg.yield %47, %49 : f32, i64
    } -> (tensor<1x2x80xf32>, tensor<1x2x80xi64>)
    %expanded_6 = tensor.expand_shape %20#0 [[0], [1], [2, 3]] output_shape [1, 2, 80, 1] : tensor<1x2x80xf32> into tensor<1x2x80x1xf32>
    %21 = tensor.empty(%dim) : tensor<1x2x80x?xf32>
    %22 = linalg.generic {indexing_maps = [#map, #map2, #map], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%expanded, %expanded_6 : tensor<1x2x80x?xf32>, tensor<1x2x80x1xf32>) outs(%21 : tensor<1x2x80x?xf32>) {
    ^bb0(%in: f32, %in_10: f32, %out: f32):
      %45 = arith.subf %in, %in_10 : f32
      linalg.yield %45 : f32
    } -> tensor<1x2x80x?xf32>
    %23 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%22 : tensor<1x2x80x?xf32>) outs(%21 : tensor<1x2x80x?xf32>) {
    ^bb0(%in: f32, %out: f32):
      %45 = math.exp %in : f32
      linalg.yield %45 : f32
    } -> tensor<1x2x80x?xf32>
    %24 = tensor.empty() : tensor<1x2x80x1xf32>
    %25 = linalg.fill ins(%cst : f32) outs(%24 : tensor<1x2x80x1xf32>) -> tensor<1x2x80x1xf32>
    %26 = linalg.generic {indexing_maps = [#map, #map2], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%23 : tensor<1x2x80x?xf32>) outs(%25 : tensor<1x2x80x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %45 = arith.addf %in, %out : f32
      linalg.yield %45 : f32
    } -> tensor<1x2x80x1xf32>
    %27 = linalg.generic {indexing_maps = [#map, #map2, #map], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%23, %26 : tensor<1x2x80x?xf32>, tensor<1x2x80x1xf32>) outs(%21 : tensor<1x2x80x?xf32>) {
    ^bb0(%in: f32, %in_10: f32, %out: f32):
      %45 = arith.divf %in, %in_10 : f32
      linalg.yield %45 : f32
    } -> tensor<1x2x80x?xf32>
    %28 = tensor.empty(%dim) : tensor<1x2x80x?xi1>
    %29 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%expanded : tensor<1x2x80x?xf32>) outs(%28 : tensor<1x2x80x?xi1>) {
    ^bb0(%in: f32, %out: i1):
      %45 = arith.extf %in : f32 to f64
      %46 = arith.cmpf oeq, %45, %cst_2 : f64
      linalg.yield %46 : i1
    } -> tensor<1x2x80x?xi1>
    %30 = tensor.empty() : tensor<1x2x80x1xi1>
    %31 = linalg.fill ins(%true : i1) outs(%30 : tensor<1x2x80x1xi1>) -> tensor<1x2x80x1xi1>
    %32 = linalg.generic {indexing_maps = [#map, #map2], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%29 : tensor<1x2x80x?xi1>) outs(%31 : tensor<1x2x80x1xi1>) {
    ^bb0(%in: i1, %out: i1):
      %45 = arith.andi %in, %out : i1
      linalg.yield %45 : i1
    } -> tensor<1x2x80x1xi1>
    %33 = arith.cmpi sge, %0, %c0_i64 : i64
    cf.assert %33, "negative values not allowed in new dimensions"
    %34 = tensor.empty(%dim) : tensor<1x2x80x?xf32>
    %35 = linalg.generic {indexing_maps = [#map3, #map], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%cst_1 : tensor<f32>) outs(%34 : tensor<1x2x80x?xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x2x80x?xf32>
    cf.assert %true, "mismatched size for broadcast"
    %36 = linalg.generic {indexing_maps = [#map2, #map, #map, #map], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%32, %35, %27 : tensor<1x2x80x1xi1>, tensor<1x2x80x?xf32>, tensor<1x2x80x?xf32>) outs(%34 : tensor<1x2x80x?xf32>) {
    ^bb0(%in: i1, %in_10: f32, %in_11: f32, %out: f32):
      %45 = arith.select %in, %in_10, %in_11 : f32
      linalg.yield %45 : f32
    } -> tensor<1x2x80x?xf32>
    cf.assert %10, "unimplemented: dynamic negative broadcast sizes"
    %37 = linalg.generic {indexing_maps = [#map], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} outs(%21 : tensor<1x2x80x?xf32>) {
    ^bb0(%out: f32):
      %45 = linalg.index 1 : index
      %46 = linalg.index 2 : index
      %47 = linalg.index 3 : index
      %48 = arith.cmpi eq, %dim, %c1 : index
      %49 = arith.select %48, %c0, %47 : index
      %extracted = tensor.extract %36[%c0, %45, %46, %49] : tensor<1x2x80x?xf32>
      linalg.yield %extracted : f32
    } -> tensor<1x2x80x?xf32>
    %collapsed_7 = tensor.collapse_shape %37 [[0, 1], [2], [3]] : tensor<1x2x80x?xf32> into tensor<2x80x?xf32>
    cf.assert %10, "unimplemented: dynamic negative broadcast sizes"
    %38 = tensor.empty(%dim) : tensor<1x2x?x32xf32>
    %39 = linalg.generic {indexing_maps = [#map], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} outs(%38 : tensor<1x2x?x32xf32>) {
    ^bb0(%out: f32):
      %45 = linalg.index 1 : index
      %46 = linalg.index 2 : index
      %47 = linalg.index 3 : index
      %48 = arith.cmpi eq, %dim, %c1 : index
      %49 = arith.select %48, %c0, %46 : index
      %extracted = tensor.extract %6[%c0, %45, %49, %47] : tensor<1x2x?x32xf32>
      linalg.yield %extracted : f32
    } -> tensor<1x2x?x32xf32>
    %collapsed_8 = tensor.collapse_shape %39 [[0, 1], [2], [3]] : tensor<1x2x?x32xf32> into tensor<2x?x32xf32>
    %40 = tensor.empty() : tensor<2x80x32xf32>
    %41 = linalg.fill ins(%cst : f32) outs(%40 : tensor<2x80x32xf32>) -> tensor<2x80x32xf32>
    %42 = linalg.batch_matmul ins(%collapsed_7, %collapsed_8 : tensor<2x80x?xf32>, tensor<2x?x32xf32>) outs(%41 : tensor<2x80x32xf32>) -> tensor<2x80x32xf32>
    %expanded_9 = tensor.expand_shape %42 [[0, 1], [2], [3]] output_shape [1, 2, 80, 32] : tensor<2x80x32xf32> into tensor<1x2x80x32xf32>
    %43 = tensor.empty() : tensor<1x2x80x32xf16>
    %44 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%expanded_9 : tensor<1x2x80x32xf32>) outs(%43 : tensor<1x2x80x32xf16>) {
    ^bb0(%in: f32, %out: f16):
      %45 = arith.truncf %in : f32 to f16
      linalg.yield %45 : f16
    } -> tensor<1x2x80x32xf16>
    return %44 : tensor<1x2x80x32xf16>
  }
}
