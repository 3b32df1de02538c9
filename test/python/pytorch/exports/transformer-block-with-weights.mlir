#map = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
#map1 = affine_map<(d0, d1, d2) -> (d0, d1, 0)>
#map2 = affine_map<(d0, d1, d2) -> (d2)>
#map3 = affine_map<()[s0] -> (s0 * 5)>
#map4 = affine_map<(d0, d1) -> (d0, d1)>
#map5 = affine_map<(d0, d1) -> (d1)>
#map6 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>
#map7 = affine_map<()[s0] -> (s0 * 2)>
#map8 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2)>
#map9 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, 0)>
module {
  func.func @main(%arg0: tensor<?x5x8xf32>, %arg1: tensor<8xf32>, %arg2: tensor<8xf32>, %arg3: tensor<24x8xf32>, %arg4: tensor<24xf32>, %arg5: tensor<8x8xf32>, %arg6: tensor<8xf32>, %arg7: tensor<8xf32>, %arg8: tensor<8xf32>, %arg9: tensor<32x8xf32>, %arg10: tensor<32xf32>, %arg11: tensor<8x32xf32>, %arg12: tensor<8xf32>) -> tensor<?x5x8xf32> {
    %c0_i64 = arith.constant 0 : i64
    %c1 = arith.constant 1 : index
    %c0 = arith.constant 0 : index
    %c5 = arith.constant 5 : index
    %c2 = arith.constant 2 : index
    %cst = arith.constant 0.000000e+00 : f64
    %cst_0 = arith.constant 0.000000e+00 : f32
    %cst_1 = arith.constant 0xFF800000 : f32
    %cst_2 = arith.constant 1.000000e+00 : f32
    %cst_3 = arith.constant 5.000000e-01 : f32
    %cst_4 = arith.constant 1.000000e-05 : f64
    %cst_5 = arith.constant 8.000000e+00 : f64
    %cst_6 = arith.constant 8.000000e+00 : f32
    %cst_7 = arith.constant 2.000000e+00 : f32
    %cst_8 = arith.constant 1.41421354 : f32
    %dim = tensor.dim %arg0, %c0 : tensor<?x5x8xf32>
    %0 = arith.index_cast %dim : index to i64
    %1 = tensor.empty(%dim) : tensor<?x5x8xf64>
    %2 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%arg0 : tensor<?x5x8xf32>) outs(%1 : tensor<?x5x8xf64>) {
    ^bb0(%in: f32, %out: f64):
      %103 = arith.extf %in : f32 to f64
      linalg.yield %103 : f64
    } -> tensor<?x5x8xf64>
    %3 = tensor.empty(%dim) : tensor<?x5x1xf64>
    %4 = linalg.fill ins(%cst : f64) outs(%3 : tensor<?x5x1xf64>) -> tensor<?x5x1xf64>
    %5 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "parallel", "reduction"]} ins(%2 : tensor<?x5x8xf64>) outs(%4 : tensor<?x5x1xf64>) {
    ^bb0(%in: f64, %out: f64):
      %103 = arith.addf %in, %out : f64
      linalg.yield %103 : f64
    } -> tensor<?x5x1xf64>
    %6 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%5 : tensor<?x5x1xf64>) outs(%3 : tensor<?x5x1xf64>) {
    ^bb0(%in: f64, %out: f64):
      %103 = arith.divf %in, %cst_5 : f64
      linalg.yield %103 : f64
    } -> tensor<?x5x1xf64>
    %7 = linalg.generic {indexing_maps = [#map, #map1, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%2, %6 : tensor<?x5x8xf64>, tensor<?x5x1xf64>) outs(%1 : tensor<?x5x8xf64>) {
    ^bb0(%in: f64, %in_33: f64, %out: f64):
      %103 = arith.subf %in, %in_33 : f64
      linalg.yield %103 : f64
    } -> tensor<?x5x8xf64>
    %8 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%7, %7 : tensor<?x5x8xf64>, tensor<?x5x8xf64>) outs(%1 : tensor<?x5x8xf64>) {
    ^bb0(%in: f64, %in_33: f64, %out: f64):
      %103 = arith.mulf %in, %in_33 : f64
      linalg.yield %103 : f64
    } -> tensor<?x5x8xf64>
    %9 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "parallel", "reduction"]} ins(%8 : tensor<?x5x8xf64>) outs(%4 : tensor<?x5x1xf64>) {
    ^bb0(%in: f64, %out: f64):
      %103 = arith.addf %in, %out : f64
      linalg.yield %103 : f64
    } -> tensor<?x5x1xf64>
    %10 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%9 : tensor<?x5x1xf64>) outs(%3 : tensor<?x5x1xf64>) {
    ^bb0(%in: f64, %out: f64):
      %103 = arith.divf %in, %cst_5 : f64
      linalg.yield %103 : f64
    } -> tensor<?x5x1xf64>
    %11 = tensor.empty(%dim) : tensor<?x5x1xf32>
    %12 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%10 : tensor<?x5x1xf64>) outs(%11 : tensor<?x5x1xf32>) {
    ^bb0(%in: f64, %out: f32):
      %103 = arith.truncf %in : f64 to f32
      linalg.yield %103 : f32
    } -> tensor<?x5x1xf32>
    %13 = linalg.fill ins(%cst_0 : f32) outs(%11 : tensor<?x5x1xf32>) -> tensor<?x5x1xf32>
    %14 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "parallel", "reduction"]} ins(%arg0 : tensor<?x5x8xf32>) outs(%13 : tensor<?x5x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %103 = arith.addf %in, %out : f32
      linalg.yield %103 : f32
    } -> tensor<?x5x1xf32>
    %15 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%14 : tensor<?x5x1xf32>) outs(%11 : tensor<?x5x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %103 = arith.divf %in, %cst_6 : f32
      linalg.yield %103 : f32
    } -> tensor<?x5x1xf32>
    %16 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%12 : tensor<?x5x1xf32>) outs(%11 : tensor<?x5x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %103 = arith.truncf %cst_4 : f64 to f32
      %104 = arith.addf %in, %103 : f32
      linalg.yield %104 : f32
    } -> tensor<?x5x1xf32>
    %17 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%16 : tensor<?x5x1xf32>) outs(%11 : tensor<?x5x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %103 = math.rsqrt %in : f32
      linalg.yield %103 : f32
    } -> tensor<?x5x1xf32>
    %18 = tensor.empty(%dim) : tensor<?x5x8xf32>
    %19 = linalg.generic {indexing_maps = [#map, #map1, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%arg0, %15 : tensor<?x5x8xf32>, tensor<?x5x1xf32>) outs(%18 : tensor<?x5x8xf32>) {
    ^bb0(%in: f32, %in_33: f32, %out: f32):
      %103 = arith.subf %in, %in_33 : f32
      linalg.yield %103 : f32
    } -> tensor<?x5x8xf32>
    %20 = linalg.generic {indexing_maps = [#map, #map1, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%19, %17 : tensor<?x5x8xf32>, tensor<?x5x1xf32>) outs(%18 : tensor<?x5x8xf32>) {
    ^bb0(%in: f32, %in_33: f32, %out: f32):
      %103 = arith.mulf %in, %in_33 : f32
      linalg.yield %103 : f32
    } -> tensor<?x5x8xf32>
    %21 = linalg.generic {indexing_maps = [#map, #map2, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%20, %arg1 : tensor<?x5x8xf32>, tensor<8xf32>) outs(%18 : tensor<?x5x8xf32>) {
    ^bb0(%in: f32, %in_33: f32, %out: f32):
      %103 = arith.mulf %in, %in_33 : f32
      linalg.yield %103 : f32
    } -> tensor<?x5x8xf32>
    %22 = linalg.generic {indexing_maps = [#map, #map2, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%21, %arg2 : tensor<?x5x8xf32>, tensor<8xf32>) outs(%18 : tensor<?x5x8xf32>) {
    ^bb0(%in: f32, %in_33: f32, %out: f32):
      %103 = arith.addf %in, %in_33 : f32
      linalg.yield %103 : f32
    } -> tensor<?x5x8xf32>
    %collapsed = tensor.collapse_shape %22 [[0, 1], [2]] : tensor<?x5x8xf32> into tensor<?x8xf32>
    %23 = tensor.empty() : tensor<8x24xf32>
    %transposed = linalg.transpose ins(%arg3 : tensor<24x8xf32>) outs(%23 : tensor<8x24xf32>) permutation = [1, 0] 
    %24 = affine.apply #map3()[%dim]
    %25 = tensor.empty(%24) : tensor<?x24xf32>
    %26 = linalg.fill ins(%cst_0 : f32) outs(%25 : tensor<?x24xf32>) -> tensor<?x24xf32>
    %27 = linalg.matmul ins(%collapsed, %transposed : tensor<?x8xf32>, tensor<8x24xf32>) outs(%26 : tensor<?x24xf32>) -> tensor<?x24xf32>
    %28 = linalg.generic {indexing_maps = [#map4, #map5, #map4], iterator_types = ["parallel", "parallel"]} ins(%27, %arg4 : tensor<?x24xf32>, tensor<24xf32>) outs(%25 : tensor<?x24xf32>) {
    ^bb0(%in: f32, %in_33: f32, %out: f32):
      %103 = arith.addf %in, %in_33 : f32
      linalg.yield %103 : f32
    } -> tensor<?x24xf32>
    %29 = arith.divsi %24, %c5 : index
    %expanded = tensor.expand_shape %28 [[0, 1], [2, 3, 4]] output_shape [%29, 5, 3, 2, 4] : tensor<?x24xf32> into tensor<?x5x3x2x4xf32>
    %30 = tensor.empty(%29) : tensor<3x?x2x5x4xf32>
    %transposed_9 = linalg.transpose ins(%expanded : tensor<?x5x3x2x4xf32>) outs(%30 : tensor<3x?x2x5x4xf32>) permutation = [2, 0, 3, 1, 4] 
    %extracted_slice = tensor.extract_slice %transposed_9[0, 0, 0, 0, 0] [1, %29, 2, 5, 4] [1, 1, 1, 1, 1] : tensor<3x?x2x5x4xf32> to tensor<1x?x2x5x4xf32>
    %extracted_slice_10 = tensor.extract_slice %transposed_9[1, 0, 0, 0, 0] [1, %29, 2, 5, 4] [1, 1, 1, 1, 1] : tensor<3x?x2x5x4xf32> to tensor<1x?x2x5x4xf32>
    %extracted_slice_11 = tensor.extract_slice %transposed_9[2, 0, 0, 0, 0] [1, %29, 2, 5, 4] [1, 1, 1, 1, 1] : tensor<3x?x2x5x4xf32> to tensor<1x?x2x5x4xf32>
    %collapsed_12 = tensor.collapse_shape %extracted_slice [[0, 1], [2], [3], [4]] : tensor<1x?x2x5x4xf32> into tensor<?x2x5x4xf32>
    %collapsed_13 = tensor.collapse_shape %extracted_slice_10 [[0, 1], [2], [3], [4]] : tensor<1x?x2x5x4xf32> into tensor<?x2x5x4xf32>
    %collapsed_14 = tensor.collapse_shape %extracted_slice_11 [[0, 1], [2], [3], [4]] : tensor<1x?x2x5x4xf32> into tensor<?x2x5x4xf32>
    %31 = tensor.empty(%29) : tensor<?x2x4x5xf32>
    %transposed_15 = linalg.transpose ins(%collapsed_13 : tensor<?x2x5x4xf32>) outs(%31 : tensor<?x2x4x5xf32>) permutation = [0, 1, 3, 2] 
    %32 = arith.cmpi sge, %0, %c0_i64 : i64
    cf.assert %32, "unimplemented: dynamic negative broadcast sizes"
    %33 = tensor.empty(%dim) : tensor<?x2x5x4xf32>
    %34 = linalg.generic {indexing_maps = [#map6], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} outs(%33 : tensor<?x2x5x4xf32>) {
    ^bb0(%out: f32):
      %103 = linalg.index 0 : index
      %104 = linalg.index 1 : index
      %105 = linalg.index 2 : index
      %106 = linalg.index 3 : index
      %107 = arith.cmpi eq, %29, %c1 : index
      %108 = arith.select %107, %c0, %103 : index
      %extracted = tensor.extract %collapsed_12[%108, %104, %105, %106] : tensor<?x2x5x4xf32>
      linalg.yield %extracted : f32
    } -> tensor<?x2x5x4xf32>
    %collapsed_16 = tensor.collapse_shape %34 [[0, 1], [2], [3]] : tensor<?x2x5x4xf32> into tensor<?x5x4xf32>
    cf.assert %32, "unimplemented: dynamic negative broadcast sizes"
    %35 = tensor.empty(%dim) : tensor<?x2x4x5xf32>
    %36 = linalg.generic {indexing_maps = [#map6], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} outs(%35 : tensor<?x2x4x5xf32>) {
    ^bb0(%out: f32):
      %103 = linalg.index 0 : index
      %104 = linalg.index 1 : index
      %105 = linalg.index 2 : index
      %106 = linalg.index 3 : index
      %107 = arith.cmpi eq, %29, %c1 : index
      %108 = arith.select %107, %c0, %103 : index
      %extracted = tensor.extract %transposed_15[%108, %104, %105, %106] : tensor<?x2x4x5xf32>
      linalg.yield %extracted : f32
    } -> tensor<?x2x4x5xf32>
    %collapsed_17 = tensor.collapse_shape %36 [[0, 1], [2], [3]] : tensor<?x2x4x5xf32> into tensor<?x4x5xf32>
    %37 = affine.apply #map7()[%dim]
    %38 = tensor.empty(%37) : tensor<?x5x5xf32>
    %39 = linalg.fill ins(%cst_0 : f32) outs(%38 : tensor<?x5x5xf32>) -> tensor<?x5x5xf32>
    %40 = linalg.batch_matmul ins(%collapsed_16, %collapsed_17 : tensor<?x5x4xf32>, tensor<?x4x5xf32>) outs(%39 : tensor<?x5x5xf32>) -> tensor<?x5x5xf32>
    %41 = arith.divsi %37, %c2 : index
    %expanded_18 = tensor.expand_shape %40 [[0, 1], [2], [3]] output_shape [%41, 2, 5, 5] : tensor<?x5x5xf32> into tensor<?x2x5x5xf32>
    %42 = tensor.empty(%41) : tensor<?x2x5x5xf32>
    %43 = linalg.generic {indexing_maps = [#map6, #map6], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%expanded_18 : tensor<?x2x5x5xf32>) outs(%42 : tensor<?x2x5x5xf32>) {
    ^bb0(%in: f32, %out: f32):
      %103 = arith.divf %in, %cst_7 : f32
      linalg.yield %103 : f32
    } -> tensor<?x2x5x5xf32>
    %44 = tensor.empty(%41) : tensor<?x2x5xi64>
    %45 = linalg.fill ins(%c0_i64 : i64) outs(%44 : tensor<?x2x5xi64>) -> tensor<?x2x5xi64>
    %46 = tensor.empty(%41) : tensor<?x2x5xf32>
    %47 = linalg.fill ins(%cst_1 : f32) outs(%46 : tensor<?x2x5xf32>) -> tensor<?x2x5xf32>
    %48:2 = linalg.generic {indexing_maps = [#map6, #map8, #map8], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%43 : tensor<?x2x5x5xf32>) outs(%47, %45 : tensor<?x2x5xf32>, tensor<?x2x5xi64>) {
    ^bb0(%in: f32, %out: f32, %out_33: i64):
      %103 = linalg.index 3 : index
      %104 = arith.index_cast %103 : index to i64
      %105 = arith.maximumf %in, %out : f32
      %106 = arith.cmpf ogt, %in, %out : f32
      %107 = arith.select %106, %104, %out_33 : i64
      linalg.yield %105, %107 : f32, i64
    } -> (tensor<?x2x5xf32>, tensor<?x2x5xi64>)
    %expanded_19 = tensor.expand_shape %48#0 [[0], [1], [2, 3]] output_shape [%41, 2, 5, 1] : tensor<?x2x5xf32> into tensor<?x2x5x1xf32>
    %49 = linalg.generic {indexing_maps = [#map6, #map9, #map6], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%43, %expanded_19 : tensor<?x2x5x5xf32>, tensor<?x2x5x1xf32>) outs(%42 : tensor<?x2x5x5xf32>) {
    ^bb0(%in: f32, %in_33: f32, %out: f32):
      %103 = arith.subf %in, %in_33 : f32
      linalg.yield %103 : f32
    } -> tensor<?x2x5x5xf32>
    %50 = linalg.generic {indexing_maps = [#map6, #map6], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%49 : tensor<?x2x5x5xf32>) outs(%42 : tensor<?x2x5x5xf32>) {
    ^bb0(%in: f32, %out: f32):
      %103 = math.exp %in : f32
      linalg.yield %103 : f32
    } -> tensor<?x2x5x5xf32>
    %51 = tensor.empty(%41) : tensor<?x2x5x1xf32>
    %52 = linalg.fill ins(%cst_0 : f32) outs(%51 : tensor<?x2x5x1xf32>) -> tensor<?x2x5x1xf32>
    %53 = linalg.generic {indexing_maps = [#map6, #map9], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%50 : tensor<?x2x5x5xf32>) outs(%52 : tensor<?x2x5x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %103 = arith.addf %in, %out : f32
      linalg.yield %103 : f32
    } -> tensor<?x2x5x1xf32>
    %54 = linalg.generic {indexing_maps = [#map6, #map9, #map6], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%50, %53 : tensor<?x2x5x5xf32>, tensor<?x2x5x1xf32>) outs(%42 : tensor<?x2x5x5xf32>) {
    ^bb0(%in: f32, %in_33: f32, %out: f32):
      %103 = arith.divf %in, %in_33 : f32
      linalg.yield %103 : f32
    } -> tensor<?x2x5x5xf32>
    cf.assert %32, "unimplemented: dynamic negative broadcast sizes"
    %55 = tensor.empty(%dim) : tensor<?x2x5x5xf32>
    %56 = linalg.generic {indexing_maps = [#map6], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} outs(%55 : tensor<?x2x5x5xf32>) {
    ^bb0(%out: f32):
      %103 = linalg.index 0 : index
      %104 = linalg.index 1 : index
      %105 = linalg.index 2 : index
      %106 = linalg.index 3 : index
      %107 = arith.cmpi eq, %41, %c1 : index
      %108 = arith.select %107, %c0, %103 : index
      %extracted = tensor.extract %54[%108, %104, %105, %106] : tensor<?x2x5x5xf32>
      linalg.yield %extracted : f32
    } -> tensor<?x2x5x5xf32>
    %collapsed_20 = tensor.collapse_shape %56 [[0, 1], [2], [3]] : tensor<?x2x5x5xf32> into tensor<?x5x5xf32>
    cf.assert %32, "unimplemented: dynamic negative broadcast sizes"
    %57 = linalg.generic {indexing_maps = [#map6], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} outs(%33 : tensor<?x2x5x4xf32>) {
    ^bb0(%out: f32):
      %103 = linalg.index 0 : index
      %104 = linalg.index 1 : index
      %105 = linalg.index 2 : index
      %106 = linalg.index 3 : index
      %107 = arith.cmpi eq, %29, %c1 : index
      %108 = arith.select %107, %c0, %103 : index
      %extracted = tensor.extract %collapsed_14[%108, %104, %105, %106] : tensor<?x2x5x4xf32>
      linalg.yield %extracted : f32
    } -> tensor<?x2x5x4xf32>
    %collapsed_21 = tensor.collapse_shape %57 [[0, 1], [2], [3]] : tensor<?x2x5x4xf32> into tensor<?x5x4xf32>
    %58 = tensor.empty(%37) : tensor<?x5x4xf32>
    %59 = linalg.fill ins(%cst_0 : f32) outs(%58 : tensor<?x5x4xf32>) -> tensor<?x5x4xf32>
    %60 = linalg.batch_matmul ins(%collapsed_20, %collapsed_21 : tensor<?x5x5xf32>, tensor<?x5x4xf32>) outs(%59 : tensor<?x5x4xf32>) -> tensor<?x5x4xf32>
    %expanded_22 = tensor.expand_shape %60 [[0, 1], [2], [3]] output_shape [%41, 2, 5, 4] : tensor<?x5x4xf32> into tensor<?x2x5x4xf32>
    %61 = tensor.empty(%41) : tensor<?x5x2x4xf32>
    %transposed_23 = linalg.transpose ins(%expanded_22 : tensor<?x2x5x4xf32>) outs(%61 : tensor<?x5x2x4xf32>) permutation = [0, 2, 1, 3] 
    %collapsed_24 = tensor.collapse_shape %transposed_23 [[0, 1], [2, 3]] : tensor<?x5x2x4xf32> into tensor<?x8xf32>
    %62 = tensor.empty() : tensor<8x8xf32>
    %transposed_25 = linalg.transpose ins(%arg5 : tensor<8x8xf32>) outs(%62 : tensor<8x8xf32>) permutation = [1, 0] 
    %63 = affine.apply #map3()[%41]
    %64 = tensor.empty(%63) : tensor<?x8xf32>
    %65 = linalg.fill ins(%cst_0 : f32) outs(%64 : tensor<?x8xf32>) -> tensor<?x8xf32>
    %66 = linalg.matmul ins(%collapsed_24, %transposed_25 : tensor<?x8xf32>, tensor<8x8xf32>) outs(%65 : tensor<?x8xf32>) -> tensor<?x8xf32>
    %67 = linalg.generic {indexing_maps = [#map4, #map5, #map4], iterator_types = ["parallel", "parallel"]} ins(%66, %arg6 : tensor<?x8xf32>, tensor<8xf32>) outs(%64 : tensor<?x8xf32>) {
    ^bb0(%in: f32, %in_33: f32, %out: f32):
      %103 = arith.addf %in, %in_33 : f32
      linalg.yield %103 : f32
    } -> tensor<?x8xf32>
    %68 = arith.divsi %63, %c5 : index
    %expanded_26 = tensor.expand_shape %67 [[0, 1], [2]] output_shape [%68, 5, 8] : tensor<?x8xf32> into tensor<?x5x8xf32>
    %69 = arith.cmpi eq, %dim, %68 : index
    cf.assert %69, "mismatched size for broadcast"
    %70 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%arg0, %expanded_26 : tensor<?x5x8xf32>, tensor<?x5x8xf32>) outs(%18 : tensor<?x5x8xf32>) {
    ^bb0(%in: f32, %in_33: f32, %out: f32):
      %103 = arith.addf %in, %in_33 : f32
      linalg.yield %103 : f32
    } -> tensor<?x5x8xf32>
    %71 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%70 : tensor<?x5x8xf32>) outs(%1 : tensor<?x5x8xf64>) {
    ^bb0(%in: f32, %out: f64):
      %103 = arith.extf %in : f32 to f64
      linalg.yield %103 : f64
    } -> tensor<?x5x8xf64>
    %72 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "parallel", "reduction"]} ins(%71 : tensor<?x5x8xf64>) outs(%4 : tensor<?x5x1xf64>) {
    ^bb0(%in: f64, %out: f64):
      %103 = arith.addf %in, %out : f64
      linalg.yield %103 : f64
    } -> tensor<?x5x1xf64>
    %73 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%72 : tensor<?x5x1xf64>) outs(%3 : tensor<?x5x1xf64>) {
    ^bb0(%in: f64, %out: f64):
      %103 = arith.divf %in, %cst_5 : f64
      linalg.yield %103 : f64
    } -> tensor<?x5x1xf64>
    %74 = linalg.generic {indexing_maps = [#map, #map1, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%71, %73 : tensor<?x5x8xf64>, tensor<?x5x1xf64>) outs(%1 : tensor<?x5x8xf64>) {
    ^bb0(%in: f64, %in_33: f64, %out: f64):
      %103 = arith.subf %in, %in_33 : f64
      linalg.yield %103 : f64
    } -> tensor<?x5x8xf64>
    %75 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%74, %74 : tensor<?x5x8xf64>, tensor<?x5x8xf64>) outs(%1 : tensor<?x5x8xf64>) {
    ^bb0(%in: f64, %in_33: f64, %out: f64):
      %103 = arith.mulf %in, %in_33 : f64
      linalg.yield %103 : f64
    } -> tensor<?x5x8xf64>
    %76 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "parallel", "reduction"]} ins(%75 : tensor<?x5x8xf64>) outs(%4 : tensor<?x5x1xf64>) {
    ^bb0(%in: f64, %out: f64):
      %103 = arith.addf %in, %out : f64
      linalg.yield %103 : f64
    } -> tensor<?x5x1xf64>
    %77 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%76 : tensor<?x5x1xf64>) outs(%3 : tensor<?x5x1xf64>) {
    ^bb0(%in: f64, %out: f64):
      %103 = arith.divf %in, %cst_5 : f64
      linalg.yield %103 : f64
    } -> tensor<?x5x1xf64>
    %78 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%77 : tensor<?x5x1xf64>) outs(%11 : tensor<?x5x1xf32>) {
    ^bb0(%in: f64, %out: f32):
      %103 = arith.truncf %in : f64 to f32
      linalg.yield %103 : f32
    } -> tensor<?x5x1xf32>
    %79 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "parallel", "reduction"]} ins(%70 : tensor<?x5x8xf32>) outs(%13 : tensor<?x5x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %103 = arith.addf %in, %out : f32
      linalg.yield %103 : f32
    } -> tensor<?x5x1xf32>
    %80 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%79 : tensor<?x5x1xf32>) outs(%11 : tensor<?x5x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %103 = arith.divf %in, %cst_6 : f32
      linalg.yield %103 : f32
    } -> tensor<?x5x1xf32>
    %81 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%78 : tensor<?x5x1xf32>) outs(%11 : tensor<?x5x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %103 = arith.truncf %cst_4 : f64 to f32
      %104 = arith.addf %in, %103 : f32
      linalg.yield %104 : f32
    } -> tensor<?x5x1xf32>
    %82 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%81 : tensor<?x5x1xf32>) outs(%11 : tensor<?x5x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %103 = math.rsqrt %in : f32
      linalg.yield %103 : f32
    } -> tensor<?x5x1xf32>
    %83 = linalg.generic {indexing_maps = [#map, #map1, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%70, %80 : tensor<?x5x8xf32>, tensor<?x5x1xf32>) outs(%18 : tensor<?x5x8xf32>) {
    ^bb0(%in: f32, %in_33: f32, %out: f32):
      %103 = arith.subf %in, %in_33 : f32
      linalg.yield %103 : f32
    } -> tensor<?x5x8xf32>
    %84 = linalg.generic {indexing_maps = [#map, #map1, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%83, %82 : tensor<?x5x8xf32>, tensor<?x5x1xf32>) outs(%18 : tensor<?x5x8xf32>) {
    ^bb0(%in: f32, %in_33: f32, %out: f32):
      %103 = arith.mulf %in, %in_33 : f32
      linalg.yield %103 : f32
    } -> tensor<?x5x8xf32>
    %85 = linalg.generic {indexing_maps = [#map, #map2, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%84, %arg7 : tensor<?x5x8xf32>, tensor<8xf32>) outs(%18 : tensor<?x5x8xf32>) {
    ^bb0(%in: f32, %in_33: f32, %out: f32):
      %103 = arith.mulf %in, %in_33 : f32
      linalg.yield %103 : f32
    } -> tensor<?x5x8xf32>
    %86 = linalg.generic {indexing_maps = [#map, #map2, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%85, %arg8 : tensor<?x5x8xf32>, tensor<8xf32>) outs(%18 : tensor<?x5x8xf32>) {
    ^bb0(%in: f32, %in_33: f32, %out: f32):
      %103 = arith.addf %in, %in_33 : f32
      linalg.yield %103 : f32
    } -> tensor<?x5x8xf32>
    %collapsed_27 = tensor.collapse_shape %86 [[0, 1], [2]] : tensor<?x5x8xf32> into tensor<?x8xf32>
    %87 = tensor.empty() : tensor<8x32xf32>
    %transposed_28 = linalg.transpose ins(%arg9 : tensor<32x8xf32>) outs(%87 : tensor<8x32xf32>) permutation = [1, 0] 
    %88 = tensor.empty(%24) : tensor<?x32xf32>
    %89 = linalg.fill ins(%cst_0 : f32) outs(%88 : tensor<?x32xf32>) -> tensor<?x32xf32>
    %90 = linalg.matmul ins(%collapsed_27, %transposed_28 : tensor<?x8xf32>, tensor<8x32xf32>) outs(%89 : tensor<?x32xf32>) -> tensor<?x32xf32>
    %91 = linalg.generic {indexing_maps = [#map4, #map5, #map4], iterator_types = ["parallel", "parallel"]} ins(%90, %arg10 : tensor<?x32xf32>, tensor<32xf32>) outs(%88 : tensor<?x32xf32>) {
    ^bb0(%in: f32, %in_33: f32, %out: f32):
      %103 = arith.addf %in, %in_33 : f32
      linalg.yield %103 : f32
    } -> tensor<?x32xf32>
    %expanded_29 = tensor.expand_shape %91 [[0, 1], [2]] output_shape [%29, 5, 32] : tensor<?x32xf32> into tensor<?x5x32xf32>
    %92 = tensor.empty(%29) : tensor<?x5x32xf32>
    %93 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%expanded_29 : tensor<?x5x32xf32>) outs(%92 : tensor<?x5x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      %103 = arith.divf %in, %cst_8 : f32
      %104 = math.erf %103 : f32
      %105 = arith.addf %104, %cst_2 : f32
      %106 = arith.mulf %105, %cst_3 : f32
      %107 = arith.mulf %in, %106 : f32
      linalg.yield %107 : f32
    } -> tensor<?x5x32xf32>
    %collapsed_30 = tensor.collapse_shape %93 [[0, 1], [2]] : tensor<?x5x32xf32> into tensor<?x32xf32>
    %94 = tensor.empty() : tensor<32x8xf32>
    %transposed_31 = linalg.transpose ins(%arg11 : tensor<8x32xf32>) outs(%94 : tensor<32x8xf32>) permutation = [1, 0] 
    %95 = affine.apply #map3()[%29]
    %96 = tensor.empty(%95) : tensor<?x8xf32>
    %97 = linalg.fill ins(%cst_0 : f32) outs(%96 : tensor<?x8xf32>) -> tensor<?x8xf32>
    %98 = linalg.matmul ins(%collapsed_30, %transposed_31 : tensor<?x32xf32>, tensor<32x8xf32>) outs(%97 : tensor<?x8xf32>) -> tensor<?x8xf32>
    %99 = linalg.generic {indexing_maps = [#map4, #map5, #map4], iterator_types = ["parallel", "parallel"]} ins(%98, %arg12 : tensor<?x8xf32>, tensor<8xf32>) outs(%96 : tensor<?x8xf32>) {
    ^bb0(%in: f32, %in_33: f32, %out: f32):
      %103 = arith.addf %in, %in_33 : f32
      linalg.yield %103 : f32
    } -> tensor<?x8xf32>
    %100 = arith.divsi %95, %c5 : index
    %expanded_32 = tensor.expand_shape %99 [[0, 1], [2]] output_shape [%100, 5, 8] : tensor<?x8xf32> into tensor<?x5x8xf32>
    %101 = arith.cmpi eq, %dim, %100 : index
    cf.assert %101, "mismatched size for broadcast"
    %102 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%70, %expanded_32 : tensor<?x5x8xf32>, tensor<?x5x8xf32>) outs(%18 : tensor<?x5x8xf32>) {
    ^bb0(%in: f32, %in_33: f32, %out: f32):
      %103 = arith.addf %in, %in_33 : f32
      linalg.yield %103 : f32
    } -> tensor<?x5x8xf32>
    return %102 : tensor<?x5x8xf32>
  }
}
