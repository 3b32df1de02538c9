#map = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
#map1 = affine_map<(d0, d1, d2) -> (d0, d1, 0)>
#map2 = affine_map<(d0, d1, d2) -> (d2)>
#map3 = affine_map<(d0, d1) -> (d0, d1)>
#map4 = affine_map<(d0, d1) -> (d1)>
#map5 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>
#map6 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2)>
#map7 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, 0)>
module {
  func.func @main(%arg0: tensor<2x5x8xf32>) -> tensor<2x5x8xf32> {
    %c0_i64 = arith.constant 0 : i64
    %cst = arith.constant 0.000000e+00 : f64
    %cst_0 = arith.constant 0.000000e+00 : f32
    %cst_1 = arith.constant 0xFF800000 : f32
    %cst_2 = arith.constant 1.000000e+00 : f32
    %cst_3 = arith.constant 5.000000e-01 : f32
    %cst_4 = arith.constant dense_resource<torch_tensor_8_torch.float32_5> : tensor<8xf32>
    %cst_5 = arith.constant dense_resource<torch_tensor_8_32_torch.float32> : tensor<8x32xf32>
    %cst_6 = arith.constant dense_resource<torch_tensor_32_torch.float32> : tensor<32xf32>
    %cst_7 = arith.constant dense_resource<torch_tensor_32_8_torch.float32> : tensor<32x8xf32>
    %cst_8 = arith.constant dense_resource<torch_tensor_8_torch.float32_4> : tensor<8xf32>
    %cst_9 = arith.constant dense_resource<torch_tensor_8_torch.float32_3> : tensor<8xf32>
    %cst_10 = arith.constant dense_resource<torch_tensor_8_torch.float32_2> : tensor<8xf32>
    %cst_11 = arith.constant dense_resource<torch_tensor_8_8_torch.float32> : tensor<8x8xf32>
    %cst_12 = arith.constant dense_resource<torch_tensor_24_torch.float32> : tensor<24xf32>
    %cst_13 = arith.constant dense_resource<torch_tensor_24_8_torch.float32> : tensor<24x8xf32>
    %cst_14 = arith.constant dense_resource<torch_tensor_8_torch.float32_1> : tensor<8xf32>
    %cst_15 = arith.constant dense_resource<torch_tensor_8_torch.float32> : tensor<8xf32>
    %cst_16 = arith.constant 1.000000e-05 : f64
    %cst_17 = arith.constant 8.000000e+00 : f64
    %cst_18 = arith.constant 8.000000e+00 : f32
    %cst_19 = arith.constant 2.000000e+00 : f32
    %cst_20 = arith.constant 1.41421354 : f32
    %0 = tensor.empty() : tensor<2x5x8xf64>
    %1 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%arg0 : tensor<2x5x8xf32>) outs(%0 : tensor<2x5x8xf64>) {
    ^bb0(%in: f32, %out: f64):
      %82 = arith.extf %in : f32 to f64
      linalg.yield %82 : f64
    } -> tensor<2x5x8xf64>
    %2 = tensor.empty() : tensor<2x5x1xf64>
    %3 = linalg.fill ins(%cst : f64) outs(%2 : tensor<2x5x1xf64>) -> tensor<2x5x1xf64>
    %4 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "parallel", "reduction"]} ins(%1 : tensor<2x5x8xf64>) outs(%3 : tensor<2x5x1xf64>) {
    ^bb0(%in: f64, %out: f64):
      %82 = arith.addf %in, %out : f64
      linalg.yield %82 : f64
    } -> tensor<2x5x1xf64>
    %5 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%4 : tensor<2x5x1xf64>) outs(%2 : tensor<2x5x1xf64>) {
    ^bb0(%in: f64, %out: f64):
      %82 = arith.divf %in, %cst_17 : f64
      linalg.yield %82 : f64
    } -> tensor<2x5x1xf64>
    %6 = linalg.generic {indexing_maps = [#map, #map1, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%1, %5 : tensor<2x5x8xf64>, tensor<2x5x1xf64>) outs(%0 : tensor<2x5x8xf64>) {
    ^bb0(%in: f64, %in_43: f64, %out: f64):
      %82 = arith.subf %in, %in_43 : f64
      linalg.yield %82 : f64
    } -> tensor<2x5x8xf64>
    %7 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%6, %6 : tensor<2x5x8xf64>, tensor<2x5x8xf64>) outs(%0 : tensor<2x5x8xf64>) {
    ^bb0(%in: f64, %in_43: f64, %out: f64):
      %82 = arith.mulf %in, %in_43 : f64
      linalg.yield %82 : f64
    } -> tensor<2x5x8xf64>
    %8 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "parallel", "reduction"]} ins(%7 : tensor<2x5x8xf64>) outs(%3 : tensor<2x5x1xf64>) {
    ^bb0(%in: f64, %out: f64):
      %82 = arith.addf %in, %out : f64
      linalg.yield %82 : f64
    } -> tensor<2x5x1xf64>
    %9 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%8 : tensor<2x5x1xf64>) outs(%2 : tensor<2x5x1xf64>) {
    ^bb0(%in: f64, %out: f64):
      %82 = arith.divf %in, %cst_17 : f64
      linalg.yield %82 : f64
    } -> tensor<2x5x1xf64>
    %10 = tensor.empty() : tensor<2x5x1xf32>
    %11 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%9 : tensor<2x5x1xf64>) outs(%10 : tensor<2x5x1xf32>) {
    ^bb0(%in: f64, %out: f32):
      %82 = arith.truncf %in : f64 to f32
      linalg.yield %82 : f32
    } -> tensor<2x5x1xf32>
    %12 = linalg.fill ins(%cst_0 : f32) outs(%10 : tensor<2x5x1xf32>) -> tensor<2x5x1xf32>
    %13 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "parallel", "reduction"]} ins(%arg0 : tensor<2x5x8xf32>) outs(%12 : tensor<2x5x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %82 = arith.addf %in, %out : f32
      linalg.yield %82 : f32
    } -> tensor<2x5x1xf32>
    %14 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%13 : tensor<2x5x1xf32>) outs(%10 : tensor<2x5x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %82 = arith.divf %in, %cst_18 : f32
      linalg.yield %82 : f32
    } -> tensor<2x5x1xf32>
    %15 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%11 : tensor<2x5x1xf32>) outs(%10 : tensor<2x5x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %82 = arith.truncf %cst_16 : f64 to f32
      %83 = arith.addf %in, %82 : f32
      linalg.yield %83 : f32
    } -> tensor<2x5x1xf32>
    %16 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%15 : tensor<2x5x1xf32>) outs(%10 : tensor<2x5x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %82 = math.rsqrt %in : f32
      linalg.yield %82 : f32
    } -> tensor<2x5x1xf32>
    %17 = tensor.empty() : tensor<2x5x8xf32>
    %18 = linalg.generic {indexing_maps = [#map, #map1, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%arg0, %14 : tensor<2x5x8xf32>, tensor<2x5x1xf32>) outs(%17 : tensor<2x5x8xf32>) {
    ^bb0(%in: f32, %in_43: f32, %out: f32):
      %82 = arith.subf %in, %in_43 : f32
      linalg.yield %82 : f32
    } -> tensor<2x5x8xf32>
    %19 = linalg.generic {indexing_maps = [#map, #map1, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%18, %16 : tensor<2x5x8xf32>, tensor<2x5x1xf32>) outs(%17 : tensor<2x5x8xf32>) {
    ^bb0(%in: f32, %in_43: f32, %out: f32):
      %82 = arith.mulf %in, %in_43 : f32
      linalg.yield %82 : f32
    } -> tensor<2x5x8xf32>
    %20 = linalg.generic {indexing_maps = [#map, #map2, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%19, %cst_15 : tensor<2x5x8xf32>, tensor<8xf32>) outs(%17 : tensor<2x5x8xf32>) {
    ^bb0(%in: f32, %in_43: f32, %out: f32):
      %82 = arith.mulf %in, %in_43 : f32
      linalg.yield %82 : f32
    } -> tensor<2x5x8xf32>
    %21 = linalg.generic {indexing_maps = [#map, #map2, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%20, %cst_14 : tensor<2x5x8xf32>, tensor<8xf32>) outs(%17 : tensor<2x5x8xf32>) {
    ^bb0(%in: f32, %in_43: f32, %out: f32):
      %82 = arith.addf %in, %in_43 : f32
      linalg.yield %82 : f32
    } -> tensor<2x5x8xf32>
    %collapsed = tensor.collapse_shape %21 [[0, 1], [2]] : tensor<2x5x8xf32> into tensor<10x8xf32>
    %22 = tensor.empty() : tensor<8x24xf32>
    %transposed = linalg.transpose ins(%cst_13 : tensor<24x8xf32>) outs(%22 : tensor<8x24xf32>) permutation = [1, 0] 
    %23 = tensor.empty() : tensor<10x24xf32>
    %24 = linalg.fill ins(%cst_0 : f32) outs(%23 : tensor<10x24xf32>) -> tensor<10x24xf32>
    %25 = linalg.matmul ins(%collapsed, %transposed : tensor<10x8xf32>, tensor<8x24xf32>) outs(%24 : tensor<10x24xf32>) -> tensor<10x24xf32>
    %26 = linalg.generic {indexing_maps = [#map3, #map4, #map3], iterator_types = ["parallel", "parallel"]} ins(%25, %cst_12 : tensor<10x24xf32>, tensor<24xf32>) outs(%23 : tensor<10x24xf32>) {
    ^bb0(%in: f32, %in_43: f32, %out: f32):
      %82 = arith.addf %in, %in_43 : f32
      linalg.yield %82 : f32
    } -> tensor<10x24xf32>
    %expanded = tensor.expand_shape %26 [[0, 1], [2, 3, 4]] output_shape [2, 5, 3, 2, 4] : tensor<10x24xf32> into tensor<2x5x3x2x4xf32>
    %27 = tensor.empty() : tensor<3x2x2x5x4xf32>
    %transposed_21 = linalg.transpose ins(%expanded : tensor<2x5x3x2x4xf32>) outs(%27 : tensor<3x2x2x5x4xf32>) permutation = [2, 0, 3, 1, 4] 
    %extracted_slice = tensor.extract_slice %transposed_21[0, 0, 0, 0, 0] [1, 2, 2, 5, 4] [1, 1, 1, 1, 1] : tensor<3x2x2x5x4xf32> to tensor<1x2x2x5x4xf32>
    %extracted_slice_22 = tensor.extract_slice %transposed_21[1, 0, 0, 0, 0] [1, 2, 2, 5, 4] [1, 1, 1, 1, 1] : tensor<3x2x2x5x4xf32> to tensor<1x2x2x5x4xf32>
    %extracted_slice_23 = tensor.extract_slice %transposed_21[2, 0, 0, 0, 0] [1, 2, 2, 5, 4] [1, 1, 1, 1, 1] : tensor<3x2x2x5x4xf32> to tensor<1x2x2x5x4xf32>
    %collapsed_24 = tensor.collapse_shape %extracted_slice_22 [[0, 1], [2], [3], [4]] : tensor<1x2x2x5x4xf32> into tensor<2x2x5x4xf32>
    %28 = tensor.empty() : tensor<2x2x4x5xf32>
    %transposed_25 = linalg.transpose ins(%collapsed_24 : tensor<2x2x5x4xf32>) outs(%28 : tensor<2x2x4x5xf32>) permutation = [0, 1, 3, 2] 
    %collapsed_26 = tensor.collapse_shape %extracted_slice [[0, 1, 2], [3], [4]] : tensor<1x2x2x5x4xf32> into tensor<4x5x4xf32>
    %collapsed_27 = tensor.collapse_shape %transposed_25 [[0, 1], [2], [3]] : tensor<2x2x4x5xf32> into tensor<4x4x5xf32>
    %29 = tensor.empty() : tensor<4x5x5xf32>
    %30 = linalg.fill ins(%cst_0 : f32) outs(%29 : tensor<4x5x5xf32>) -> tensor<4x5x5xf32>
    %31 = linalg.batch_matmul ins(%collapsed_26, %collapsed_27 : tensor<4x5x4xf32>, tensor<4x4x5xf32>) outs(%30 : tensor<4x5x5xf32>) -> tensor<4x5x5xf32>
    %expanded_28 = tensor.expand_shape %31 [[0, 1], [2], [3]] output_shape [2, 2, 5, 5] : tensor<4x5x5xf32> into tensor<2x2x5x5xf32>
    %32 = tensor.empty() : tensor<2x2x5x5xf32>
    %33 = linalg.generic {indexing_maps = [#map5, #map5], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%expanded_28 : tensor<2x2x5x5xf32>) outs(%32 : tensor<2x2x5x5xf32>) {
    ^bb0(%in: f32, %out: f32):
      %82 = arith.divf %in, %cst_19 : f32
      linalg.yield %82 : f32
    } -> tensor<2x2x5x5xf32>
    %34 = tensor.empty() : tensor<2x2x5xi64>
    %35 = linalg.fill ins(%c0_i64 : i64) outs(%34 : tensor<2x2x5xi64>) -> tensor<2x2x5xi64>
    %36 = tensor.empty() : tensor<2x2x5xf32>
    %37 = linalg.fill ins(%cst_1 : f32) outs(%36 : tensor<2x2x5xf32>) -> tensor<2x2x5xf32>
    %38:2 = linalg.generic {indexing_maps = [#map5, #map6, #map6], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%33 : tensor<2x2x5x5xf32>) outs(%37, %35 : tensor<2x2x5xf32>, tensor<2x2x5xi64>) {
    ^bb0(%in: f32, %out: f32, %out_43: i64):
      %82 = linalg.index 3 : index
      %83 = arith.index_cast %82 : index to i64
      %84 = arith.maximumf %in, %out : f32
      %85 = arith.cmpf ogt, %in, %out : f32
      %86 = arith.select %85, %83, %out_43 : i64
      linalg.yield %84, %86 : f32, i64
    } -> (tensor<2x2x5xf32>, tensor<2x2x5xi64>)
    %expanded_29 = tensor.expand_shape %38#0 [[0], [1], [2, 3]] output_shape [2, 2, 5, 1] : tensor<2x2x5xf32> into tensor<2x2x5x1xf32>
    %39 = linalg.generic {indexing_maps = [#map5, #map7, #map5], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%33, %expanded_29 : tensor<2x2x5x5xf32>, tensor<2x2x5x1xf32>) outs(%32 : tensor<2x2x5x5xf32>) {
    ^bb0(%in: f32, %in_43: f32, %out: f32):
      %82 = arith.subf %in, %in_43 : f32
      linalg.yield %82 : f32
    } -> tensor<2x2x5x5xf32>
    %40 = linalg.generic {indexing_maps = [#map5, #map5], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%39 : tensor<2x2x5x5xf32>) outs(%32 : tensor<2x2x5x5xf32>) {
    ^bb0(%in: f32, %out: f32):
      %82 = math.exp %in : f32
      linalg.yield %82 : f32
    } -> tensor<2x2x5x5xf32>
    %41 = tensor.empty() : tensor<2x2x5x1xf32>
    %42 = linalg.fill ins(%cst_0 : f32) outs(%41 : tensor<2x2x5x1xf32>) -> tensor<2x2x5x1xf32>
    %43 = linalg.generic {indexing_maps = [#map5, #map7], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%40 : tensor<2x2x5x5xf32>) outs(%42 : tensor<2x2x5x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %82 = arith.addf %in, %out : f32
      linalg.yield %82 : f32
    } -> tensor<2x2x5x1xf32>
    %44 = linalg.generic {indexing_maps = [#map5, #map7, #map5], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%40, %43 : tensor<2x2x5x5xf32>, tensor<2x2x5x1xf32>) outs(%32 : tensor<2x2x5x5xf32>) {
    ^bb0(%in: f32, %in_43: f32, %out: f32):
      %82 = arith.divf %in, %in_43 : f32
      linalg.yield %82 : f32
    } -> tensor<2x2x5x5xf32>
    %collapsed_30 = tensor.collapse_shape %44 [[0, 1], [2], [3]] : tensor<2x2x5x5xf32> into tensor<4x5x5xf32>
    %collapsed_31 = tensor.collapse_shape %extracted_slice_23 [[0, 1, 2], [3], [4]] : tensor<1x2x2x5x4xf32> into tensor<4x5x4xf32>
    %45 = tensor.empty() : tensor<4x5x4xf32>
    %46 = linalg.fill ins(%cst_0 : f32) outs(%45 : tensor<4x5x4xf32>) -> tensor<4x5x4xf32>
    %47 = linalg.batch_matmul ins(%collapsed_30, %collapsed_31 : tensor<4x5x5xf32>, tensor<4x5x4xf32>) outs(%46 : tensor<4x5x4xf32>) -> tensor<4x5x4xf32>
    %expanded_32 = tensor.expand_shape %47 [[0, 1], [2], [3]] output_shape [2, 2, 5, 4] : tensor<4x5x4xf32> into tensor<2x2x5x4xf32>
    %48 = tensor.empty() : tensor<2x5x2x4xf32>
    %transposed_33 = linalg.transpose ins(%expanded_32 : tensor<2x2x5x4xf32>) outs(%48 : tensor<2x5x2x4xf32>) permutation = [0, 2, 1, 3] 
    %collapsed_34 = tensor.collapse_shape %transposed_33 [[0, 1], [2, 3]] : tensor<2x5x2x4xf32> into tensor<10x8xf32>
    %49 = tensor.empty() : tensor<8x8xf32>
    %transposed_35 = linalg.transpose ins(%cst_11 : tensor<8x8xf32>) outs(%49 : tensor<8x8xf32>) permutation = [1, 0] 
    %50 = tensor.empty() : tensor<10x8xf32>
    %51 = linalg.fill ins(%cst_0 : f32) outs(%50 : tensor<10x8xf32>) -> tensor<10x8xf32>
    %52 = linalg.matmul ins(%collapsed_34, %transposed_35 : tensor<10x8xf32>, tensor<8x8xf32>) outs(%51 : tensor<10x8xf32>) -> tensor<10x8xf32>
    %53 = linalg.generic {indexing_maps = [#map3, #map4, #map3], iterator_types = ["parallel", "parallel"]} ins(%52, %cst_10 : tensor<10x8xf32>, tensor<8xf32>) outs(%50 : tensor<10x8xf32>) {
    ^bb0(%in: f32, %in_43: f32, %out: f32):
      %82 = arith.addf %in, %in_43 : f32
      linalg.yield %82 : f32
    } -> tensor<10x8xf32>
    %expanded_36 = tensor.expand_shape %53 [[0, 1], [2]] output_shape [2, 5, 8] : tensor<10x8xf32> into tensor<2x5x8xf32>
    %54 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%arg0, %expanded_36 : tensor<2x5x8xf32>, tensor<2x5x8xf32>) outs(%17 : tensor<2x5x8xf32>) {
    ^bb0(%in: f32, %in_43: f32, %out: f32):
      %82 = arith.addf %in, %in_43 : f32
      linalg.yield %82 : f32
    } -> tensor<2x5x8xf32>
    %55 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%54 : tensor<2x5x8xf32>) outs(%0 : tensor<2x5x8xf64>) {
    ^bb0(%in: f32, %out: f64):
      %82 = arith.extf %in : f32 to f64
      linalg.yield %82 : f64
    } -> tensor<2x5x8xf64>
    %56 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "parallel", "reduction"]} ins(%55 : tensor<2x5x8xf64>) outs(%3 : tensor<2x5x1xf64>) {
    ^bb0(%in: f64, %out: f64):
      %82 = arith.addf %in, %out : f64
      linalg.yield %82 : f64
    } -> tensor<2x5x1xf64>
    %57 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%56 : tensor<2x5x1xf64>) outs(%2 : tensor<2x5x1xf64>) {
    ^bb0(%in: f64, %out: f64):
      %82 = arith.divf %in, %cst_17 : f64
      linalg.yield %82 : f64
    } -> tensor<2x5x1xf64>
    %58 = linalg.generic {indexing_maps = [#map, #map1, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%55, %57 : tensor<2x5x8xf64>, tensor<2x5x1xf64>) outs(%0 : tensor<2x5x8xf64>) {
    ^bb0(%in: f64, %in_43: f64, %out: f64):
      %82 = arith.subf %in, %in_43 : f64
      linalg.yield %82 : f64
    } -> tensor<2x5x8xf64>
    %59 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%58, %58 : tensor<2x5x8xf64>, tensor<2x5x8xf64>) outs(%0 : tensor<2x5x8xf64>) {
    ^bb0(%in: f64, %in_43: f64, %out: f64):
      %82 = arith.mulf %in, %in_43 : f64
      linalg.yield %82 : f64
    } -> tensor<2x5x8xf64>
    %60 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "parallel", "reduction"]} ins(%59 : tensor<2x5x8xf64>) outs(%3 : tensor<2x5x1xf64>) {
    ^bb0(%in: f64, %out: f64):
      %82 = arith.addf %in, %out : f64
      linalg.yield %82 : f64
    } -> tensor<2x5x1xf64>
    %61 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%60 : tensor<2x5x1xf64>) outs(%2 : tensor<2x5x1xf64>) {
    ^bb0(%in: f64, %out: f64):
      %82 = arith.divf %in, %cst_17 : f64
      linalg.yield %82 : f64
    } -> tensor<2x5x1xf64>
    %62 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%61 : tensor<2x5x1xf64>) outs(%10 : tensor<2x5x1xf32>) {
    ^bb0(%in: f64, %out: f32):
      %82 = arith.truncf %in : f64 to f32
      linalg.yield %82 : f32
    } -> tensor<2x5x1xf32>
    %63 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "parallel", "reduction"]} ins(%54 : tensor<2x5x8xf32>) outs(%12 : tensor<2x5x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %82 = arith.addf %in, %out : f32
      linalg.yield %82 : f32
    } -> tensor<2x5x1xf32>
    %64 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%63 : tensor<2x5x1xf32>) outs(%10 : tensor<2x5x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %82 = arith.divf %in, %cst_18 : f32
      linalg.yield %82 : f32
    } -> tensor<2x5x1xf32>
    %65 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%62 : tensor<2x5x1xf32>) outs(%10 : tensor<2x5x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %82 = arith.truncf %cst_16 : f64 to f32
      %83 = arith.addf %in, %82 : f32
      linalg.yield %83 : f32
    } -> tensor<2x5x1xf32>
    %66 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%65 : tensor<2x5x1xf32>) outs(%10 : tensor<2x5x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %82 = math.rsqrt %in : f32
      linalg.yield %82 : f32
    } -> tensor<2x5x1xf32>
    %67 = linalg.generic {indexing_maps = [#map, #map1, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%54, %64 : tensor<2x5x8xf32>, tensor<2x5x1xf32>) outs(%17 : tensor<2x5x8xf32>) {
    ^bb0(%in: f32, %in_43: f32, %out: f32):
      %82 = arith.subf %in, %in_43 : f32
      linalg.yield %82 : f32
    } -> tensor<2x5x8xf32>
    %68 = linalg.generic {indexing_maps = [#map, #map1, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%67, %66 : tensor<2x5x8xf32>, tensor<2x5x1xf32>) outs(%17 : tensor<2x5x8xf32>) {
    ^bb0(%in: f32, %in_43: f32, %out: f32):
      %82 = arith.mulf %in, %in_43 : f32
      linalg.yield %82 : f32
    } -> tensor<2x5x8xf32>
    %69 = linalg.generic {indexing_maps = [#map, #map2, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%68, %cst_9 : tensor<2x5x8xf32>, tensor<8xf32>) outs(%17 : tensor<2x5x8xf32>) {
    ^bb0(%in: f32, %in_43: f32, %out: f32):
      %82 = arith.mulf %in, %in_43 : f32
      linalg.yield %82 : f32
    } -> tensor<2x5x8xf32>
    %70 = linalg.generic {indexing_maps = [#map, #map2, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%69, %cst_8 : tensor<2x5x8xf32>, tensor<8xf32>) outs(%17 : tensor<2x5x8xf32>) {
    ^bb0(%in: f32, %in_43: f32, %out: f32):
      %82 = arith.addf %in, %in_43 : f32
      linalg.yield %82 : f32
    } -> tensor<2x5x8xf32>
    %collapsed_37 = tensor.collapse_shape %70 [[0, 1], [2]] : tensor<2x5x8xf32> into tensor<10x8xf32>
    %71 = tensor.empty() : tensor<8x32xf32>
    %transposed_38 = linalg.transpose ins(%cst_7 : tensor<32x8xf32>) outs(%71 : tensor<8x32xf32>) permutation = [1, 0] 
    %72 = tensor.empty() : tensor<10x32xf32>
    %73 = linalg.fill ins(%cst_0 : f32) outs(%72 : tensor<10x32xf32>) -> tensor<10x32xf32>
    %74 = linalg.matmul ins(%collapsed_37, %transposed_38 : tensor<10x8xf32>, tensor<8x32xf32>) outs(%73 : tensor<10x32xf32>) -> tensor<10x32xf32>
    %75 = linalg.generic {indexing_maps = [#map3, #map4, #map3], iterator_types = ["parallel", "parallel"]} ins(%74, %cst_6 : tensor<10x32xf32>, tensor<32xf32>) outs(%72 : tensor<10x32xf32>) {
    ^bb0(%in: f32, %in_43: f32, %out: f32):
      %82 = arith.addf %in, %in_43 : f32
      linalg.yield %82 : f32
    } -> tensor<10x32xf32>
    %expanded_39 = tensor.expand_shape %75 [[0, 1], [2]] output_shape [2, 5, 32] : tensor<10x32xf32> into tensor<2x5x32xf32>
    %76 = tensor.empty() : tensor<2x5x32xf32>
    %77 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%expanded_39 : tensor<2x5x32xf32>) outs(%76 : tensor<2x5x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      %82 = arith.divf %in, %cst_20 : f32
      %83 = math.erf %82 : f32
      %84 = arith.addf %83, %cst_2 : f32
      %85 = arith.mulf %84, %cst_3 : f32
      %86 = arith.mulf %in, %85 : f32
      linalg.yield %86 : f32
    } -> tensor<2x5x32xf32>
    %collapsed_40 = tensor.collapse_shape %77 [[0, 1], [2]] : tensor<2x5x32xf32> into tensor<10x32xf32>
    %78 = tensor.empty() : tensor<32x8xf32>
    %transposed_41 = linalg.transpose ins(%cst_5 : tensor<8x32xf32>) outs(%78 : tensor<32x8xf32>) permutation = [1, 0] 
    %79 = linalg.matmul ins(%collapsed_40, %transposed_41 : tensor<10x32xf32>, tensor<32x8xf32>) outs(%51 : tensor<10x8xf32>) -> tensor<10x8xf32>
    %80 = linalg.generic {indexing_maps = [#map3, #map4, #map3], iterator_types = ["parallel", "parallel"]} ins(%79, %cst_4 : tensor<10x8xf32>, tensor<8xf32>) outs(%50 : tensor<10x8xf32>) {
    ^bb0(%in: f32, %in_43: f32, %out: f32):
      %82 = arith.addf %in, %in_43 : f32
      linalg.yield %82 : f32
    } -> tensor<10x8xf32>
    %expanded_42 = tensor.expand_shape %80 [[0, 1], [2]] output_shape [2, 5, 8] : tensor<10x8xf32> into tensor<2x5x8xf32>
    %81 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%54, %expanded_42 : tensor<2x5x8xf32>, tensor<2x5x8xf32>) outs(%17 : tensor<2x5x8xf32>) {
    ^bb0(%in: f32, %in_43: f32, %out: f32):
      %82 = arith.addf %in, %in_43 : f32
      linalg.yield %82 : f32
    } -> tensor<2x5x8xf32>
    return %81 : tensor<2x5x8xf32>
  }
}

{-#
  dialect_resources: {
    builtin: {
      torch_tensor_8_torch.float32_5: "0x040000002EE79C3D3ED75CBD863AC83BBE1BECBDC95AC43D26ABFD3D9B9D0CBEF11E1F3E",
      torch_tensor_8_32_torch.float32: "0x04000000915AFA3CE4940EBE5DE8F63D639F5F3D3CDE993DB03CB53D4AAA28BEC17EEDBD0925CC3D167A0F3DC4240EBE64A12D3EC172FEBD8FA58EBD6C1E8C3C72F984BC15C65A3D8C10073EBB997CBDDEB7B1BDFD651F3E6FEB253EB448163E613717BE8C35BCBBD761F7BDF3FACBBD55C893BBFADD953CDBF9233E2109173DD4F2013E7D79163E67CBA4BB417549BDE1FA26BD18DDA6BD89F7E7BC4E35163E1EF373BD8CF4D3BA6134163D9205523CD0BF33BDF36319BE699C183E10958EBDD17B40BDE8D87C3BCCF671BD622A0E3EDC88CA3DCC9E30BEDC3F5B3D8410EABDAD31233EF7C1073E8E41E73D327B38BDEAC113BE23F4C0BD78DFC13C87EBDCBD25DE173D906DC3BDD87ADE3DD6BA73BCD7AFD0BD52AB0E3E7EF59D3D525C093E0C58DD3C884B86BD9A980A3E4DFD283D8F5EA73C82D5C7BD98A732BE5B37113EE1F3243E3A54323C485830BDAA32F5BC3D88E13DAE7A85BDAB3EBFBD28FCC0BDEE97F23D7141BB3D040FD4BCAC7B22BE50F5063EA5FCA73D6BBB8D3B827FFFBDBA4F823D765710BE2F7505BE8C9208BEC6D966BD6EE40DBECCFD143E005FC13D677DC13DCF52B9BD9C811C3ECE6C2DBE8A07C1BC8E32A53DD4EDBE3C4DAE0F3EF2FBA73D2C5C13BE0DF493BDAB0F82BD29A4CE3D8FBF1CBD9742133EF9BFC7BC94922CBEE9E4D13D6A5615BD5B09923D75D88E3D0DA7EC3C2926D9BD4E9D213EF04333BD663C003E02B80BBEDA0F83BD270240BDEFCC9FBD87180ABE1668FB3D0D9BA93D13970FBE9C24BC3DD0B6023D164C66BC7814A13DAC7F64BD589B953DAF0B3ABDAB205DBC28A95ABD6485823D5929303E53A304BE86B2BD3D9F0770BDCD76263E832A273EB8B00B3EF8C0093E980609BCA239CBBD9189283E4D322ABEAC3120BD6F2B8F3D0D8DDEBC09A3033EA66525BE3E6D323DA9D42D3D346531BECA998C3DE795E83D24BA4F3C4DEC143E2C7DEDBD69EA303E0ED5123EC41DC8BD959C193EA183E2BD4F732B3E68EA233E2943033E6407F0BDA0C80ABD5220193E021F9FBC5DFF343EAFFB14BDFB642ABE3B9E2FBE0DBAB2BC2EAC07BE7829B63D8655FBBD948BFA3DC40B72BBAB590BBED6E36D3D6552753D95C526BE41E22D3E0D2F903DB344B1BB24C3D63DBE31023E694CB3BD4DAB99BDE9A308BD8BC5B23C81C8E23D766A28BE22E2B9BD923C1D3EA2D72E3E1EAB1CBED9EB9FBD3944B5BD401F203E598F173EAFE7103D964A983DAC6A30BE79DA1BBE4455363D657BB43D8ECE00BE5B22DCBD1D7A20BE24201F3EBD68063EDEDD91BDC21DB6BD9F28F7BAAFDEB13DE39A6EBD7A072BBDCD6D52BD7C97EABDEE1616BE40F8263E54B3E13C26C6DEBCBFDBBBBAF0464D3CFCF03ABBF696B8BD808C163B39C4783DC2AEAEBD8203793D10538F3A955EF73DBDEE0F3EFE51263CD98C2ABEDB50C1BD903EF7BD06EAC9BD",
      torch_tensor_32_torch.float32: "0x0400000094CF533E980F89BE6E8DAF3E2F4E23BDBEF15F3DBEC5013EB1F7CDBDD479A73D1766813E8505383E3869C73BEC4A50BB38A7AFBE89689DBD6AFF91BE2E298F3ED5FD50BE35228BBDBEF9953E63A7A83E14DD933EDC38813E810E9E3CD3C851BE5D62B4BE6E32A3BD931867BD4CE329BEFEE36D3EFF9E7BBE579A2ABE0B8F9EBE",
      torch_tensor_32_8_torch.float32: "0x04000000B56F343DC0BF1BBE3AFD3C3E8BF189BE2B41D23D025D173E0FB670BEFCD595BE11A72EBD794A08BEC330303EEDE4F83D9F6F3E3EAB900DBE899F45BED1DAC83DB7D47FBEB867713BE1DC7B3EC7A86CBE246FA0BE8AA79A3EFE75B0BEF49F28BE2A1179BE0C8623BE744BC3BCCCB846BC39F28DBE3E11B4BEF9E5973E0CE51C3E0CD397BE331B9C3E9F8A3C3EFDB71A3E27C4A7BE43FC8DBE7F64843E56EA98BDAC3396BD4B727DBE9D7CAF3B03AE14BD67B996BD3061F73B273585BEAE8B2EBE646F74BE3A5086BE880C97BE7D6190BE196FB0BECFDE363E02E40B3E520661BEC1A6313E2B176C3E4F62723EE60BB33D39D4673E8D2CACBE35568CBEBC07923E81FD7B3E9FF8623EB869143E0F02B4BDE5B5A93EB17F863E332D9E3E01D544BE0039803D8A33443E43E5B43EFD1E7F3EBEF769BD63E4A73E54FEA93E2CEBD4BDFE4B483E1A96A8BE48ECDB3C4F69903DCEAB9C3E351764BEE3DAF53D93152BBDA6BCA93EA15198BEF83AB03EB7C0B4BD8CF9CDBDAFA49E3EA11118BDC3C085BDF18CA53E3E033CBE02C9A4BEAED94E3E6D8C1CBD690D3CBE3BD3D6BC8C2387BE7702613D8F49143E43731FBED935973EB6AEF23D4FA5633EE4FEB9BCE56F323EF57879BE822F853E874398BD98FA15BEA9117EBE7458C63D6D12943E4BBA32BEDE925DBCFD48A2BE9B65AFBEA5A2E1BDE32FACBC0B18283DC378A9BE99B2963D83BC3DBE714FAC3D856C823B8AD12EBD02DEA0BE183C91BEC320AF3E628B49BE2763893E4BCCB43E520ADFBD82E7533EDAE888BD16D741BEE621F4BC6F54A03E597EA5BDBB53DEBB689C2A3ED0571CBE377DFABD96818B3E9FC485BE492AA53E19A6AFBE2B86CF3CCEC9AEBD6045FE3D893AF43D3CC4503E59A7273EF95EDFBD60C3AA3C481541BE60F92F3E2202633EDB2BC3BD9CEBDDBCBC48803E97E54A3C8741A2BD45C3AABE1DC2433EA32C26BEFE0B8F3ECB8894BEDE7E443CD1F9B4BE063E013EC9ABABBE5F9723BD5B466C3D9D493C3E0D7BB4BED56CB23E72B05BBAEE6FB2BE1607883EBCEB1FBE690C983E65EFB6BD8FBD9F3E549C2CBE333F023E6C250DBD78E0233DE451A0BA6BEE69BDC90F1ABE3DECA23E5815573EC09C5C3DC680473D3A6E4BBEA685AFBEAD1DB2BEC37E90BE611C3C3E1D16A1BBBDDD1FBE3427303C14841FBEB3DB1EBDE0A76D3E60AA953E114B8A3E52308B3EB7C178BEE813143D24DA42BA635B303E7DFD00BE91169E3EBEB3DEBD1D5C4CBE7A6DAB3D2DB580BE000E693DD99381BE25CA5B3E316F8BBC7D5ECE3D7721893D5BE89B3D297D83BEBDAD8FBED8E1333DC539D5BD666BA4BEC1F01FBE3FE23C3EAB8317BEB365923E1CCE6EBD99FD33BE0598693C68962EBD8535903E02147FBE9755E23DEC0AAB3EED979D3E09767CBE8C64943E0F270FBE954469BCBACBABBED0FD6F3E",
      torch_tensor_8_torch.float32_4: "0x0400000099AC8FBFB72D473F983DB43EEAAC153F58DB04BF566E5A3E6478323FD901523F",
      torch_tensor_8_torch.float32_3: "0x0400000058FB6D3FE6B0A5BF61B8BEBEAA1319BF051A923FADB659BF6899373FF28B06BF",
      torch_tensor_8_torch.float32_2: "0x04000000874C063E4274863D213A50BD3D160BBE1FA0C93D98D154BECBA823BE1EC2A5BD",
      torch_tensor_8_8_torch.float32: "0x04000000C4B1A6BE1C12E9BC957785BE8331F13DD1ED383E4CA5373E6DA0F83D4A18C13D67BC93BC329536BE21C3743E25BA573DE0DD8B3D6F1D93BEC32A8F3E608C5ABEF2F65DBE51CE903D1E343B3EC9DC2ABDA80F78BEE3779ABB88E0953E3EC3C33D6357E9BDF994903DC53585BE8D3C3A3EA07D5A3E05E48ABEC4B08D3D97288B3EB0DF973E93B6963C034E0DBE19BB97BE428DFEBD9432853EDA25DB3B70918BBE71D3303E0701723DEDA87EBE25B01CBE4EAC2A3D3F981ABE5A50E23D2356A9BEEF365F3EC8B1A43EB06D033E4E7785BEA8228ABED1A993BE0F3BABBE14F19C3E36BEC2BC6E7D77BD961979BDD1407B3EDC4F903E537B8E3EE476A73E5B23393E",
      torch_tensor_24_torch.float32: "0x04000000EC49AA3E7D3B173E260772BE28A9153E73A4933E5B6674BE28869DBEC3C00B3E30B0963DBE2AA7BEAFD1833E6D68ABBEDB5F183E7363993E2F26B53B7ABE443EB8337C3EFA714CBE96B5503E03092FBEAC4BC8BD5D8CD6BDDCB9A23E2D591FBE",
      torch_tensor_24_8_torch.float32: "0x04000000E5D231BEAC5BAA3D91AA42BE20BB0E3D4AF5223EC20036BE2DF6A93E8212B73DDC59A63C104208BE642C3E3D08F6883E6F254ABECB3333BE359AD03CA7A44D3E0ED43B3E35709D3E1408873EF2896DBE6D2CCC3D8512DABDC3BB5CBE20AFFBBCDE11693E7BEB653E34CA9FBE67CC04BE5EA89BBE4291B23D420821BE5471FEBDA5D1C43D73653D3EE98F2CBE649694BE193E30BE398B76BE61DDA0BE1473C23D4B3710BE0DA190BE9F20B2BEEC02BC3D9655063E19376E3D7ACF753EF0AE38BEFFB248BDBCAD943E7D3A293E2621823D69AD7ABE910C98BE51B6883E33C12C3E88610CBE87160DBECB53A23ED2D13EBE2C1A5BBEAC15B23EFA4295BE059B1ABDEB93F8BD0DC7913E77AC053ECB86D2BDAFE183BE08EF2BBEF606B93B8B743BBED92AB9BC44EF423EBDEE86BE713DABBEC0392FBDA2D88CBDEFC65CBECCBB9D3D9EF83BBE21EEB43EA1AB63BEF75E863EB40F8C3D36FB9EBC964B00BE7B467EBC80D7D93D9617BCBD2879533EFE85343E94A56B3D52B3823E9813893ED623343E0FA19BBE76A7663E6EB4AF3EE329E9BCC41614BE6822973CE9031C3DA114BBBD999DA73E271E843CDC9E2C3E704D83BECA1D673EFCBFB33E549D29BE0A85343EA55678BDB13782BECDE2EC3C8B7D6CBEAB34F6BC7717893E76130CBDD18274BD8D148F3E8CF4B5BD5810B23D2CCAD1BAF1477E3EEA9D053EEE3C123E7E432FBE06E1D9BDD53E9CBE7F9A9D3EDCC699BEAB7B95BEF38628BE246B1FBE7D5579BEBEBB3CBEAEFA9A3E1BE3263EF4E2AEBEA9A1A0BE6CE1B03EF12091BE3370743EC0F75BBE597C053ECD9B60BCFEE37BBEF2ABFB3CE73FACBEA3E4C63DCFA0D13B880A043ABDC97ABE65F7983EE8DE063E0D4A0A3D7121863ED269A0BE7C72883E7E5D903E72BF253D6609BC3DADA17C3E591304BECB3DB4BE237B263E1D16793ED2397A3E77AE483E8241F23DBC13B9BD9A96EA3D776BADBEF0B01FBD4B7941BC93BA853D4C9BFD3D76C453BA8D1C2CBE40BF223EEB3691BE323FB43EF1C723BD14BD9EBEA8CAF33A89CA493E8DE7A93A4E5688BE0A2AB03E9D331DBD83B7963E",
      torch_tensor_8_torch.float32_1: "0x04000000524EFDBE1BBB3A3F9CEEC03CF2897E3F5709CBBE852013BF2424673F05B60CBF",
      torch_tensor_8_torch.float32: "0x040000003A995EBD8723AF3EA8095C3E19C42C3FA663043FEF6E73BE3880823E5EA49C3E"
    }
  }
#-}
