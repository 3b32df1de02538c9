"""Modules of PyTorch, exported by torch-mlir, compiled and run against PyTorch's own results."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import pipeline
from pytorch.blocks import EXPORTS

REASON = "torch-mlir is not installed: ./tools/test --torch"
torch: Any = pytest.importorskip("torch", reason=REASON)
pytest.importorskip("torch_mlir", reason=REASON)

from pytorch.torch_modules import (  # noqa: E402
    Plain,
    WithWeights,
    export,
    list_weights,
    make_blocks,
    make_exports,
)

nn: Any = torch.nn
functional: Any = nn.functional


def run(module: pipeline.Module, *inputs: Any) -> list[Any]:
    """Return what a program makes of copies of tensors."""
    bits = {torch.bfloat16: torch.uint16}
    arrays = [x.clone().view(bits.get(x.dtype, x.dtype)).numpy() for x in inputs]
    results = module.run(*arrays, check="races", workers=1)
    return list(results) if isinstance(results, tuple) else [results]


def check(module: pipeline.Module, model: Any, *inputs: Any) -> None:
    with torch.no_grad():
        expected = model(*(x.clone() for x in inputs))
    wanted = flatten(expected)
    results = run(module, *inputs)
    assert len(results) == len(wanted)
    for result, tensor in zip(results, wanted, strict=True):
        if tensor.dtype == torch.bfloat16:
            result, tensor = result.astype("float32"), tensor.float()
        torch.testing.assert_close(
            torch.as_tensor(result).reshape(result.shape), tensor, rtol=2e-4, atol=1e-4
        )


def flatten(value: Any) -> list[Any]:
    if isinstance(value, torch.Tensor):
        return [value]
    return [tensor for part in value if part is not None for tensor in flatten(part)]


def test_exports_are_current() -> None:
    """The programs that test_exports.py runs are what torch-mlir writes now."""
    for file, text in make_exports().items():
        assert (EXPORTS / file).read_text(encoding="utf-8") == text


@pytest.mark.parametrize("name", ["mlp", "conv-block", "transformer-block"])
def test_blocks(name: str) -> None:
    model, x = make_blocks()[name]
    module = pipeline.compile(export(model, x), chip="sm_80")
    check(module, model, x)
    module = pipeline.compile(export(model, x, dynamic=True), chip="sm_80")
    for batch in (1, 2, 5, 0):
        check(module, model, torch.randn(batch, *x.shape[1:]))


def test_weights_that_change() -> None:
    model, x = make_blocks()["mlp"]
    weights = [tensor for _, tensor in list_weights(model)]
    module = pipeline.compile(export(WithWeights(model), x, *weights), chip="sm_80")
    for _ in range(2):
        (result,) = run(module, x, *weights)
        torch.testing.assert_close(torch.from_numpy(result), model(x).detach())
        with torch.no_grad():
            for parameter in model.parameters():
                parameter.mul_(-0.5)


class GPT(nn.Module):  # type: ignore[misc]
    """Embeddings, attention to what came before, and logits."""

    def __init__(self, words: int = 50, length: int = 8, width: int = 16, heads: int = 2) -> None:
        super().__init__()
        self.words, self.places = nn.Embedding(words, width), nn.Embedding(length, width)
        self.norm, self.qkv = nn.LayerNorm(width), nn.Linear(width, 3 * width)
        self.out, self.heads = nn.Linear(width, words), heads
        self.register_buffer("mask", torch.ones(length, length).tril().bool())

    def forward(self, tokens: Any) -> Any:
        batch, length = tokens.shape
        x = self.words(tokens) + self.places(torch.arange(length))
        parts = self.qkv(self.norm(x)).chunk(3, -1)
        query, key, value = (
            part.view(batch, length, self.heads, -1).transpose(1, 2) for part in parts
        )
        scores = (query @ key.transpose(-1, -2)).masked_fill(~self.mask, float("-inf"))
        mixed = (scores.softmax(-1) @ value).transpose(1, 2).reshape(batch, length, -1)
        return self.out(x + mixed)


class Residual(nn.Module):  # type: ignore[misc]
    """A block of a ResNet that halves the picture."""

    def __init__(self) -> None:
        super().__init__()
        self.first, self.norm1 = nn.Conv2d(8, 16, 3, 2, 1, bias=False), nn.BatchNorm2d(16)
        self.second, self.norm2 = nn.Conv2d(16, 16, 3, 1, 1, bias=False), nn.BatchNorm2d(16)
        self.shortcut = nn.Conv2d(8, 16, 1, 2, bias=False)

    def forward(self, x: Any) -> Any:
        y = torch.relu(self.norm1(self.first(x)))
        return torch.relu(self.norm2(self.second(y)) + self.shortcut(x))


def integers(high: int, *shape: int) -> Any:
    return torch.randint(0, high, shape)


def layers(dtype: Any) -> Any:
    return nn.Sequential(nn.Linear(20, 32), nn.Tanh(), nn.Linear(32, 10)).to(dtype)


random: Any = torch.randn
MODELS: dict[str, tuple[Callable[[], Any], Callable[[], tuple[Any, ...]]]] = {
    "gpt": (GPT, lambda: (integers(50, 2, 8),)),
    "residual": (Residual, lambda: (random(2, 8, 9, 9),)),
    "encoder": (
        lambda: nn.TransformerEncoderLayer(24, 3, 48, batch_first=True),
        lambda: (random(2, 5, 24),),
    ),
    "multihead attention": (
        lambda: nn.MultiheadAttention(16, 2, batch_first=True),
        lambda: (random(2, 5, 16), random(2, 5, 16), random(2, 5, 16)),
    ),
    "causal attention": (
        lambda: Plain(lambda q: functional.scaled_dot_product_attention(q, q, q, is_causal=True)),
        lambda: (random(2, 2, 5, 8),),
    ),
    "lstm": (lambda: nn.LSTM(6, 5, batch_first=True), lambda: (random(2, 4, 6),)),
    "depthwise": (lambda: nn.Conv2d(8, 8, 3, groups=8), lambda: (random(2, 8, 6, 6),)),
    "grouped": (lambda: nn.Conv2d(8, 8, 3, groups=4), lambda: (random(2, 8, 6, 6),)),
    "dilated": (lambda: nn.Conv2d(3, 4, 3, 2, 2, 2), lambda: (random(2, 3, 9, 9),)),
    "transposed": (
        lambda: nn.ConvTranspose2d(3, 4, 3, 2, 1, 1),
        lambda: (random(2, 3, 5, 5),),
    ),
    "average pool": (lambda: nn.AvgPool2d(3, 2, 1), lambda: (random(2, 3, 9, 9),)),
    "group norm": (lambda: nn.GroupNorm(2, 8), lambda: (random(2, 8, 5, 5),)),
    "bilinear": (
        lambda: nn.Upsample(scale_factor=2, mode="bilinear"),
        lambda: (random(1, 2, 5, 6),),
    ),
    "cross entropy": (nn.CrossEntropyLoss, lambda: (random(5, 7), integers(7, 5))),
    "activations": (
        lambda: Plain(
            lambda x: functional.silu(x) + functional.softplus(x) + functional.mish(x).tanh()
        ),
        lambda: (random(3, 9),),
    ),
    "gather": (
        lambda: Plain(lambda x, i: x.gather(1, i)),
        lambda: (random(3, 17), integers(17, 3, 4)),
    ),
    "largest": (lambda: Plain(lambda x: (x.argmax(-1), x.amax(-1))), lambda: (random(3, 17),)),
    "joined": (
        lambda: Plain(lambda x, y: torch.cat([x, y], 1)),
        lambda: (random(3, 5), random(3, 4)),
    ),
    "integers": (
        lambda: Plain(lambda x, y: (x * y).sum(1) // 3),
        lambda: (integers(9, 3, 7) - 4, integers(9, 3, 7) - 4),
    ),
    "truth": (lambda: Plain(lambda x: (x > 0) & (x < 1)), lambda: (random(3, 7),)),
    "half": (lambda: layers(torch.float16), lambda: (random(7, 20).half(),)),
    "bfloat16": (lambda: layers(torch.bfloat16), lambda: (random(7, 20).bfloat16(),)),
    "double": (lambda: layers(torch.float64), lambda: (random(7, 20).double(),)),
}


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.filterwarnings("ignore")
def test_model(name: str) -> None:
    torch.manual_seed(len(name))
    make, make_inputs = MODELS[name]
    model, inputs = make().eval(), make_inputs()
    check(pipeline.compile(export(model, *inputs), chip="sm_80"), model, *inputs)


def test_extents_that_are_all_dynamic() -> None:
    torch.manual_seed(3)
    model = nn.Sequential(nn.Conv2d(3, 4, 3, 2, 1), nn.ReLU(), nn.MaxPool2d(3, 2, 1)).eval()
    dims = {0: torch.export.Dim("n", min=1)}
    dims |= {2: torch.export.Dim("h", min=5), 3: torch.export.Dim("w", min=5)}
    text = export(model, random(2, 3, 9, 12), dynamic=(dims,))
    module = pipeline.compile(text, chip="sm_80")
    for shape in ((1, 3, 9, 9), (2, 3, 10, 21), (3, 3, 33, 16)):
        check(module, model, random(shape))


def test_views_that_torch_mlir_gets_wrong() -> None:
    """Of a view of two dynamic extents it makes a cast to 1, which is refused where it stands."""
    model = Plain(lambda x: x.view(x.shape[0] * x.shape[1], x.shape[2]) * 2)
    extents = {0: torch.export.Dim("n", min=1), 1: torch.export.Dim("m", min=2)}
    module = pipeline.compile(export(model, random(3, 5, 4), dynamic=(extents,)), chip="sm_80")
    with pytest.raises(pipeline.ShapeError, match="dimension 1 of argument 0 is 5, but must be 1"):
        run(module, random(3, 5, 4))


def test_operations_that_torch_mlir_has_a_dialect_for() -> None:
    text = export(Plain(lambda x: x.cumsum(-1)), random(3, 17))
    with pytest.raises(
        pipeline.CompileError, match=r"Dialect `tm_tensor' not found .*tm_tensor\.scan"
    ):
        pipeline.compile(text)
