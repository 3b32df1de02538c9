"""Programs as operators of PyTorch: called, traced by ``torch.compile``, and called wrongly."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import pytest

import pipeline
from pytorch.blocks import BLOCKS, Block

torch: Any = pytest.importorskip("torch", reason="PyTorch is not installed: ./tools/test --torch")

# What PyTorch says of its own parts while it compiles.
pytestmark = [pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning")]

FakeTensorMode: Any = torch._subclasses.FakeTensorMode

BACKENDS = ["eager", "aot_eager", "inductor"]
ELEMENTWISE = """
!t = tensor<?x?x{kind}>
func.func @main(%a: !t, %b: !t) -> !t {{
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %m = tensor.dim %a, %c0 : !t
  %n = tensor.dim %a, %c1 : !t
  %e = tensor.empty(%m, %n) : !t
  %r = linalg.{operation} ins(%a, %b : !t, !t) outs(%e : !t) -> !t
  return %r : !t
}}
"""
ADD = ELEMENTWISE.format(kind="f32", operation="add")
IN_PLACE = """
func.func @main(%a: memref<?xf32>, %b: memref<?xf32>) {
  linalg.add ins(%a, %b : memref<?xf32>, memref<?xf32>) outs(%b : memref<?xf32>)
  return
}
"""
SCALED = """
#id = affine_map<(d0) -> (d0)>
#no = affine_map<(d0) -> ()>
func.func @main(%a: tensor<?xf32>, %n: index, %x: f32, %p: i1) -> (tensor<?x?xf32>, f32) {
  %c0 = arith.constant 0 : index
  %m = tensor.dim %a, %c0 : tensor<?xf32>
  %zero = arith.constant 0.0 : f32
  %s = arith.select %p, %x, %zero : f32
  %e = tensor.empty(%m, %n) : tensor<?x?xf32>
  %f = linalg.fill ins(%s : f32) outs(%e : tensor<?x?xf32>) -> tensor<?x?xf32>
  %r = linalg.broadcast ins(%a : tensor<?xf32>) outs(%e : tensor<?x?xf32>) dimensions = [1]
  %t = linalg.add ins(%r, %f : tensor<?x?xf32>, tensor<?x?xf32>) outs(%e : tensor<?x?xf32>)
      -> tensor<?x?xf32>
  return %t, %s : tensor<?x?xf32>, f32
}
"""


@pytest.fixture(autouse=True)
def fresh_compiler() -> None:
    """Let no test find what another had compiled."""
    torch._dynamo.reset()
    torch.manual_seed(35)


def make(text: Any, name: str, **options: Any) -> Any:
    module = pipeline.compile(text, chip="sm_80")
    return pipeline.torch.custom_op(module, f"workgroup_test::{name}", **options)


def skip_without_compiler(backend: str) -> None:
    if backend == "inductor" and not (shutil.which("g++") or shutil.which("clang++")):
        pytest.skip("TorchInductor needs a C++ compiler")


class Counter:
    """A backend of torch.compile that counts what it is given to compile."""

    def __init__(self, backend: str) -> None:
        self.graphs = 0
        self._backend = torch._dynamo.lookup_backend(backend)

    def __call__(self, graph: Any, inputs: Any) -> Any:
        self.graphs += 1
        return self._backend(graph, inputs)


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("block", BLOCKS, ids=lambda block: block.name)
def test_compiled(block: Block, backend: str) -> None:
    skip_without_compiler(backend)
    op = make(block.path(with_weights=True), block.name.replace("-", "_"), check="races")
    weights = [torch.rand(shape) + 0.2 for shape in block.weights]

    def function(x: Any) -> Any:
        return op(torch.relu(x) * 2, *weights) + 1

    counter = Counter(backend)
    compiled = torch.compile(function, fullgraph=True, dynamic=True, backend=counter)
    for batch in (2, 3, 5):
        x = torch.randn(batch, *block.input[1:])
        result = compiled(x)
        assert torch.equal(result, function(x))
        arrays = [tensor.double().numpy() for tensor in (torch.relu(x) * 2, *weights)]
        expected = torch.from_numpy(block.compute(*arrays)).float() + 1
        torch.testing.assert_close(result, expected, rtol=1e-4, atol=1e-4)
    assert counter.graphs == 1  # with a symbol for the first extent


def test_one_graph_for_extents_that_are_maxima() -> None:
    text = """
!t = tensor<?xf32>
func.func @main(%a: !t) -> !t {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %c4 = arith.constant 4 : index
  %x = arith.constant 2.5 : f32
  %n = tensor.dim %a, %c0 : !t
  %d = arith.subi %n, %c4 : index
  %m = arith.maxsi %d, %c2 : index
  %e = tensor.empty(%m) : !t
  %r = linalg.fill ins(%x : f32) outs(%e : !t) -> !t
  return %r : !t
}
"""
    op, counter = make(text, "maxima"), Counter("eager")
    compiled = torch.compile(lambda x: op(x) * 2, fullgraph=True, dynamic=True, backend=counter)
    for extent in (3, 9, 5, 20):
        assert torch.equal(compiled(torch.randn(extent)), torch.full([max(extent - 4, 2)], 5.0))
    assert counter.graphs == 1


def test_opcheck() -> None:
    add, in_place, scaled = make(ADD, "add"), make(IN_PLACE, "in_place"), make(SCALED, "scaled")
    torch.library.opcheck(add, (torch.randn(3, 5), torch.randn(3, 5)))
    torch.library.opcheck(add, (torch.randn(5, 3).t(), torch.randn(1, 5).expand(3, 5)))
    torch.library.opcheck(in_place, (torch.randn(7), torch.randn(7)))
    torch.library.opcheck(scaled, (torch.randn(7), 3, 1.5, True))


def test_schema() -> None:
    make(IN_PLACE, "schema")
    schema = str(torch.ops.workgroup_test.schema.default._schema)
    assert schema == "workgroup_test::schema(Tensor arg0, Tensor(a1!) arg1) -> ()"
    make(SCALED, "schema")  # a name that is taken
    schema = str(torch.ops.workgroup_test.schema.default._schema)
    assert schema == (
        "workgroup_test::schema(Tensor arg0, SymInt arg1, float arg2, bool arg3)"
        " -> (Tensor, Tensor)"
    )


@pytest.mark.parametrize("backend", BACKENDS)
def test_arguments_that_are_written(backend: str) -> None:
    skip_without_compiler(backend)
    op = make(IN_PLACE, "written")

    def function(x: Any) -> Any:
        y, z = x + 1, x * 2
        op(y, z)
        before = z.clone()
        op(z, y)
        op(before, z)
        return y, z, before

    x = torch.randn(11)
    results = torch.compile(function, fullgraph=True, backend=backend)(x)
    y, before = x + 1, x + 1 + x * 2
    for result, expected in zip(results, (y + before, 2 * before, before), strict=True):
        torch.testing.assert_close(result, expected)


@pytest.mark.parametrize("backend", BACKENDS)
def test_numbers(backend: str) -> None:
    skip_without_compiler(backend)
    op = make(SCALED, "numbers")

    def function(x: Any, number: float, holds: bool) -> Any:
        return op(x, x.shape[0] - 2, number, holds)

    compiled = torch.compile(function, fullgraph=True, dynamic=True, backend=backend)
    for extent, number, holds in ((5, 1.5, True), (9, -2.25, False), (12, 0.5, True)):
        x = torch.randn(extent)
        result, scalar = compiled(x, number, holds)
        added = number if holds else 0.0
        assert scalar.shape == ()
        assert scalar.dtype == torch.float32
        assert scalar.item() == added
        torch.testing.assert_close(result, (x + added)[:, None].expand(extent, extent - 2))


@pytest.mark.parametrize(
    ("kind", "dtype"),
    [
        ("f16", "float16"),
        ("bf16", "bfloat16"),
        ("f64", "float64"),
        ("i8", "int8"),
        ("i8", "uint8"),
        ("i16", "int16"),
        ("i32", "int32"),
        ("i64", "int64"),
    ],
)
def test_types(kind: str, dtype: str) -> None:
    op = make(ELEMENTWISE.format(kind=kind, operation="mul"), "types")
    torch_type = getattr(torch, dtype)
    a, b = (torch.randint(1, 9, (3, 5)).to(torch_type) for _ in range(2))
    result = op(a, b)
    assert result.dtype == (torch.int8 if dtype == "uint8" else torch_type)
    assert torch.equal(result.to(torch_type), a * b)


def test_arrays_without_dimensions() -> None:
    text = """
func.func @main(%a: tensor<?xf32>, %b: tensor<f32>) -> tensor<f32> {
  %r = linalg.reduce { arith.addf } ins(%a : tensor<?xf32>) outs(%b : tensor<f32>) dimensions = [0]
  return %r : tensor<f32>
}
"""
    op = make(text, "without_dimensions")
    x, y = torch.randn(50), torch.tensor(2.5)
    torch.library.opcheck(op, (x, y))
    torch.testing.assert_close(op(x, y), x.sum() + 2.5)


@pytest.mark.parametrize("name", ["float8_e4m3fn", "float8_e5m2"])
def test_narrow_types(name: str) -> None:
    kind = {"float8_e4m3fn": "f8E4M3FN", "float8_e5m2": "f8E5M2"}[name]
    op = make(ELEMENTWISE.format(kind=kind, operation="max"), "narrow")
    a, b = (torch.randn(3, 5).to(getattr(torch, name)) for _ in range(2))
    result = op(a, b)
    assert result.dtype == a.dtype
    assert torch.equal(result.float(), torch.maximum(a.float(), b.float()))


STRIDED: dict[str, Callable[[Any], Any]] = {
    "transposed": lambda x: x.t().contiguous().t(),
    "every other": lambda x: torch.stack([x, x * 3], -1)[..., 0],
    "misaligned": lambda x: torch.cat([torch.zeros(1), x.flatten()])[1:].view(x.shape),
    "negated": lambda x: torch._neg_view(-x),
    "wanting a gradient": lambda x: x.clone().requires_grad_(),
}


@pytest.mark.parametrize("name", STRIDED)
def test_tensors_that_lie_differently(name: str) -> None:
    op = make(ADD, "strided", check="races")
    x, y = torch.randn(6, 7), torch.randn(6, 7)
    given = STRIDED[name](x)
    result = op(given, y)
    assert result.is_contiguous()
    torch.testing.assert_close(result, x + y)


def test_written_tensors_are_never_copied() -> None:
    op = make(IN_PLACE, "never_copied")
    with pytest.raises(pipeline.LayoutError, match="argument 1 has strides"):
        op(torch.randn(4), torch.randn(8)[::2])
    with pytest.raises(RuntimeError):  # PyTorch's own
        op(torch.randn(4), torch._neg_view(torch.randn(4)))
    shared = torch.randn(9)
    kept = shared.clone()
    with pytest.raises(pipeline.LayoutError, match=r"argument 1 .*overlaps argument 0"):
        op(shared[:8], shared[1:])
    assert torch.equal(shared, kept)


def test_results_are_memory_of_their_own() -> None:
    text = """
func.func @main(%a: tensor<3xf32>) -> (tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) {
  %c = arith.constant dense<[1.0, 2.0, 3.0]> : tensor<3xf32>
  %e = tensor.empty() : tensor<3xf32>
  %r = linalg.exp ins(%a : tensor<3xf32>) outs(%e : tensor<3xf32>) -> tensor<3xf32>
  return %a, %c, %r, %r : tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>
}
"""
    op = make(text, "own")
    x = torch.randn(3)
    kept = x.clone()
    torch.library.opcheck(op, (x,))
    for _ in range(2):
        results = op(x)
        expected = (kept, torch.tensor([1.0, 2.0, 3.0]), kept.exp(), kept.exp())
        for result, wanted in zip(results, expected, strict=True):
            torch.testing.assert_close(result, wanted)
            result.zero_()
    assert torch.equal(x, kept)


def test_results_are_contiguous() -> None:
    text = """
!v = memref<3x?xf32, strided<[1, 3]>>
func.func @main(%a: memref<?x3xf32>) -> !v {
  %c0 = arith.constant 0 : index
  %n = memref.dim %a, %c0 : memref<?x3xf32>
  %t = memref.alloc(%n) : memref<?x3xf32>
  linalg.exp ins(%a : memref<?x3xf32>) outs(%t : memref<?x3xf32>)
  %v = memref.transpose %t (i, j) -> (j, i) : memref<?x3xf32> to !v
  return %v : !v
}
"""
    op = make(text, "contiguous")
    x = torch.randn(5, 3)
    torch.library.opcheck(op, (x,))
    assert op(x).is_contiguous()
    torch.testing.assert_close(op(x), x.exp().t())


def test_derivative() -> None:
    op = make(ADD, "derivative")
    x, y = torch.randn(3, 4, requires_grad=True), torch.randn(3, 4)
    with pytest.raises(RuntimeError, match="no autograd formula was registered"):
        op(x, y).sum().backward()
    op.register_autograd(lambda _, gradient: (gradient, gradient))
    op(x, y).sum().backward()
    assert torch.equal(x.grad, torch.ones(3, 4))
    torch.library.opcheck(op, (x, y))


def test_exported() -> None:
    op = make(ADD, "exported")

    class Model(torch.nn.Module):  # type: ignore[misc]
        def forward(self, x: Any, y: Any) -> Any:
            return op(x, y) * 2

    batch = torch.export.Dim("batch", min=1)
    shapes = ({0: batch}, {0: batch})
    inputs = (torch.randn(3, 4), torch.randn(3, 4))
    program = torch.export.export(Model(), inputs, dynamic_shapes=shapes)
    assert "torch.ops.workgroup_test.exported.default" in program.graph_module.code
    x, y = torch.randn(8, 4), torch.randn(8, 4)
    torch.testing.assert_close(program.module()(x, y), (x + y) * 2)


@pytest.mark.parametrize(
    ("tensors", "error", "text"),
    [
        (((3, 4), (3, 5)), pipeline.ShapeError, "dimension 1 of argument 1 is 5, but must be 4"),
        (((3, 4), (4,)), pipeline.ShapeError, r"argument 1 has shape \(4,\), but .* 2 dimensions"),
        (((3, 4), "float64"), pipeline.DTypeError, "argument 1 has elements of type .*float64"),
    ],
)
def test_wrong_tensors(tensors: Any, error: type[Exception], text: str) -> None:
    op = make(ADD, "wrong")
    first, second = tensors
    values = [
        torch.randn(first),
        torch.randn(first, dtype=torch.float64) if second == "float64" else torch.randn(second),
    ]
    with pytest.raises(error, match=text):
        op(*values)
    with FakeTensorMode() as mode, pytest.raises(error, match=text):
        op(*map(mode.from_tensor, values))
    counter = Counter("eager")
    with pytest.raises(Exception, match=text):
        torch.compile(op, fullgraph=True, backend=counter, dynamic=False)(*values)
    with pytest.raises(Exception, match=text.partition(" is ")[0].partition(" has ")[0]):
        torch.compile(op, fullgraph=True, backend=counter, dynamic=True)(*values)
    assert counter.graphs == 0  # it is found while they are traced


def test_devices() -> None:
    op = make(ADD, "devices")
    with FakeTensorMode():
        result = op(*(torch.empty(3, 4, device="cuda:1") for _ in range(2)))
        assert (result.device, result.shape) == (torch.device("cuda:1"), (3, 4))
    with FakeTensorMode(), pytest.raises(pipeline.DeviceError, match="argument 1 is on cuda:0"):
        op(torch.empty(3, 4), torch.empty(3, 4, device="cuda"))
    with pytest.raises(NotImplementedError):
        op(torch.empty(3, 4).to_sparse(), torch.empty(3, 4))


def test_static_extents_in_fake_mode() -> None:
    op = make(BLOCKS[0].path(with_weights=False), "static")
    with FakeTensorMode(), pytest.raises(pipeline.ShapeError, match="dimension 1 must be 20"):
        op(torch.empty(7, 21))


def test_what_a_kernel_does_wrong() -> None:
    text = """
func.func @main(%a: memref<?xi32>) {
  %c1 = arith.constant 1 : index
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %c64, %sy = %c1, %sz = %c1) {
    %v = arith.index_cast %tx : index to i32
    memref.store %v, %a[%c0] : memref<?xi32>
    gpu.terminator
  }
  return
}
"""
    with pytest.warns(pipeline.UnverifiedWarning):
        module = pipeline.compile(text, verify=False, sync="keep")
    op = pipeline.torch.custom_op(module, "workgroup_test::racing", check="races")
    with pytest.raises(pipeline.RaceError):
        op(torch.zeros(3, dtype=torch.int32))


@pytest.mark.parametrize("name", ["add", "a:b", "a::b::c", "1::b", "a::", "a::b.c", ""])
def test_names(name: str) -> None:
    module = pipeline.compile(ADD)
    with pytest.raises(pipeline.UsageError, match="must be 'namespace::operator'"):
        pipeline.torch.custom_op(module, name)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (
            "func.func @main(%a: memref<?xi4>) {\n  %z = arith.constant 1 : i4\n"
            "  linalg.fill ins(%z : i4) outs(%a : memref<?xi4>)\n  return\n}\n",
            "argument 0 of .* is of type memref<.xi4>, which PyTorch has nothing for",
        ),
        (
            "func.func @main(%n: index) -> tensor<?xf32> {\n  %z = arith.constant 1.0 : f32\n"
            "  %e = tensor.empty(%n) : tensor<?xf32>\n"
            "  %r = linalg.fill ins(%z : f32) outs(%e : tensor<?xf32>) -> tensor<?xf32>\n"
            "  return %r : tensor<?xf32>\n}\n",
            "takes no array",
        ),
        (
            "func.func @main(%a: tensor<2xindex>) -> tensor<?xf32> {\n"
            "  %c0 = arith.constant 0 : index\n  %z = arith.constant 1.0 : f32\n"
            "  %n = tensor.extract %a[%c0] : tensor<2xindex>\n"
            "  %e = tensor.empty(%n) : tensor<?xf32>\n"
            "  %r = linalg.fill ins(%z : f32) outs(%e : tensor<?xf32>) -> tensor<?xf32>\n"
            "  return %r : tensor<?xf32>\n}\n",
            "returns arrays whose extents 'memref.load' op decides",
        ),
    ],
)
def test_functions_that_are_refused(text: str, reason: str) -> None:
    module = pipeline.compile(text)
    with pytest.raises(pipeline.UsageError, match=reason):
        pipeline.torch.custom_op(module, "workgroup_test::refused")


def test_nothing_is_said_at_the_end() -> None:
    program = f"""
import torch, pipeline
op = pipeline.torch.custom_op(pipeline.compile({ADD!r}), "workgroup_test::end")
print(op(torch.ones(2, 2), torch.ones(2, 2)).sum().item())
"""
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert (done.stdout, done.stderr) == ("8.0\n", "")
