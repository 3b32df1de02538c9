"""The matrix of windows (im2col) of a user's own schedule, tiled and fused by MLIR's transforms."""

from __future__ import annotations

import numpy as np
import pytest

import pipeline

PROGRAM = """
!x = tensor<2x9x10x4xf32>
!w = tensor<3x3x4x16xf32>
!y = tensor<2x7x8x16xf32>
func.func @main(%x: !x, %w: !w, %start: !y) -> !y {
  %y = linalg.conv_2d_nhwc_hwcf {
      dilations = dense<1> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>}
      ins(%x, %w : !x, !w) outs(%start : !y) -> !y
  return %y : !y
}
"""

SCHEDULE = """
!any = !transform.any_op
module attributes {{transform.with_named_sequence}} {{
  transform.named_sequence @__transform_main(%program: !any {{transform.consumed}}) {{
    %conv = transform.structured.match ops{{["linalg.conv_2d_nhwc_hwcf"]}} in %program
        : (!any) -> !any
    transform.structured.convert_conv2d_to_img2col %conv : (!any) -> (!any, !any)
    %0 = transform.structured.match ops{{["func.func"]}} in %program : (!any) -> !any
    %1 = transform.apply_registered_pass "workgroup-decompose-im2col" to %0 : (!any) -> !any
    %2 = transform.structured.match ops{{["linalg.generic"]}} in %1 : (!any) -> !any
    %windows, %product = transform.split_handle %2 : (!any) -> (!any, !any)
    %tiled, %blocks = transform.structured.tile_using_forall %product
        tile_sizes [1, {rows}, {columns}, 0]
        (mapping = [#gpu.block<linear_dim_2>, #gpu.block<linear_dim_1>, #gpu.block<linear_dim_0>])
        : (!any) -> (!any, !any)
    %fused, %all = transform.structured.fuse_into_containing_op %windows into %blocks
        : (!any, !any) -> (!any, !any)
    %step, %loop = transform.structured.tile_using_for %tiled tile_sizes [0, 0, 0, {sums}]
        : (!any) -> (!any, !any)
    transform.structured.fuse_into_containing_op %fused into %loop
        : (!any, !any) -> (!any, !any)
    transform.apply_patterns to %1 {{
      transform.apply_patterns.tensor.fold_tensor_empty
    }} : !any
    %3 = transform.apply_registered_pass "workgroup-bufferize" to %program : (!any) -> !any
    %4 = transform.structured.match ops{{["func.func"]}} in %3 : (!any) -> !any
    %5 = transform.apply_registered_pass "workgroup-stage-operands" to %4 : (!any) -> !any
    %6 = transform.apply_registered_pass "workgroup-place-buffers" to %5 : (!any) -> !any
    %7 = transform.apply_registered_pass "workgroup-map-to-threads"
        with options = {{"threads" = 64}} to %6 : (!any) -> !any
    transform.apply_registered_pass "workgroup-form-launches"
        with options = {{"threads" = [64]}} to %7 : (!any) -> !any
    transform.yield
  }}
}}
"""


@pytest.mark.parametrize(
    ("rows", "columns", "sums"),
    [(14, 8, 12), (28, 6, 6), (49, 16, 18), (8, 16, 4), (5, 3, 7), (56, 16, 36)],
)
def test_any_tile(rows: int, columns: int, sums: int) -> None:
    schedule = SCHEDULE.format(rows=rows, columns=columns, sums=sums)
    module = pipeline.compile(PROGRAM, chip="sm_80", schedule=schedule)
    generator = np.random.default_rng(rows)
    x = generator.standard_normal((2, 9, 10, 4)).astype(np.float32)
    w = generator.standard_normal((3, 3, 4, 16)).astype(np.float32)
    start = generator.standard_normal((2, 7, 8, 16)).astype(np.float32)
    want = start.astype(np.float64)
    for dy in range(3):
        for dx in range(3):
            want += np.einsum("nyxc,cf->nyxf", x[:, dy : dy + 7, dx : dx + 8], w[dy, dx])
    np.testing.assert_allclose(module.run(x, w, start, check="races"), want, rtol=0, atol=1e-4)
