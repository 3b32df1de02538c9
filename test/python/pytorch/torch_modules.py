"""Modules of PyTorch, and what torch-mlir makes of them: programs of linalg on tensors.

``PYTHONPATH=test/python python -m pytorch.torch_modules`` writes the programs in ``exports`` anew.
"""

from __future__ import annotations

import importlib
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

from pytorch.attention import ATTENTIONS, Attention

EXPORTS = Path(__file__).parent / "exports"

torch: Any = importlib.import_module("torch")
nn: Any = torch.nn


class MLP(nn.Module):  # type: ignore[misc]
    """Two layers with a ReLU in between, of extents that no tile divides."""

    def __init__(self) -> None:
        super().__init__()
        self.first = nn.Linear(20, 33)
        self.second = nn.Linear(33, 10)

    def forward(self, x: Any) -> Any:
        return self.second(torch.relu(self.first(x)))


class ConvBlock(nn.Module):  # type: ignore[misc]
    """Convolution, batch norm, ReLU, and pooling of two kinds."""

    def __init__(self) -> None:
        super().__init__()
        self.convolution = nn.Conv2d(3, 8, 3, stride=2, padding=1)
        self.norm = nn.BatchNorm2d(8)
        self.pool = nn.MaxPool2d(2)
        self.average = nn.AdaptiveAvgPool2d(1)
        scatter(self.norm)
        self.norm.running_mean.normal_()
        self.norm.running_var.uniform_(0.5, 2)

    def forward(self, x: Any) -> Any:
        x = torch.relu(self.norm(self.convolution(x)))
        return self.average(self.pool(x)).flatten(1)


class TransformerBlock(nn.Module):  # type: ignore[misc]
    """Attention with softmax, layer norm, GELU, and residuals."""

    def __init__(self, width: int = 8, heads: int = 2) -> None:
        super().__init__()
        self.heads = heads
        self.norm1 = nn.LayerNorm(width)
        self.qkv = nn.Linear(width, 3 * width)
        self.out = nn.Linear(width, width)
        self.norm2 = nn.LayerNorm(width)
        self.up = nn.Linear(width, 4 * width)
        self.down = nn.Linear(4 * width, width)
        scatter(self.norm1)
        scatter(self.norm2)

    def forward(self, x: Any) -> Any:
        batch, length, width = x.shape
        size = width // self.heads
        qkv = self.qkv(self.norm1(x)).view(batch, length, 3, self.heads, size)
        query, key, value = qkv.permute(2, 0, 3, 1, 4)
        weights = torch.softmax(query @ key.transpose(-1, -2) / size**0.5, -1)
        x = x + self.out((weights @ value).transpose(1, 2).reshape(batch, length, width))
        return x + self.down(nn.functional.gelu(self.up(self.norm2(x))))


class Plain(nn.Module):  # type: ignore[misc]
    """A function as a module."""

    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__()
        self.function = function

    def forward(self, *args: Any) -> Any:
        return self.function(*args)


class WithWeights(nn.Module):  # type: ignore[misc]
    """A module that is given its parameters and buffers behind its inputs."""

    def __init__(self, module: Any) -> None:
        super().__init__()
        self.module = [module]  # whose weights are not this module's
        self.names = [name for name, _ in list_weights(module)]

    def forward(self, x: Any, *weights: Any) -> Any:
        values = dict(zip(self.names, weights, strict=True))
        return torch.func.functional_call(self.module[0], values, (x,))


def scatter(norm: Any) -> None:
    """Give a normalisation weights that are not all the same."""
    nn.init.normal_(norm.weight)
    nn.init.normal_(norm.bias)


def list_weights(module: Any) -> list[tuple[str, Any]]:
    """Return the names and tensors of what a module computes with."""
    tensors = [*module.named_parameters(), *module.named_buffers()]
    return [(name, tensor.detach()) for name, tensor in tensors if tensor.dim()]


def make_blocks() -> dict[str, tuple[Any, Any]]:
    """Return the three modules, with an input for each, always the same."""
    torch.manual_seed(35)
    return {
        "mlp": (MLP().eval(), torch.randn(7, 20)),
        "conv-block": (ConvBlock().eval(), torch.randn(2, 3, 13, 18)),
        "transformer-block": (TransformerBlock().eval(), torch.randn(2, 5, 8)),
    }


def export(module: Any, *inputs: Any, dynamic: Any = None) -> str:
    """Return a module as torch-mlir exports it.

    dynamic: which dimensions of each input are: a dictionary, or True for the first of the first.
    """
    fx: Any = importlib.import_module("torch_mlir.fx")
    shapes = None
    if dynamic is not None:
        first = {0: torch.export.Dim("batch", min=1)}
        shapes = (first, *[None] * (len(inputs) - 1)) if dynamic is True else dynamic
        if any(p.kind is p.VAR_POSITIONAL for p in parameters_of(module)):
            fixed = sum(p.kind is not p.VAR_POSITIONAL for p in parameters_of(module))
            shapes = (*shapes[:fixed], tuple(shapes[fixed:]))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        program = torch.export.export(module, inputs, dynamic_shapes=shapes)
        return str(fx.export_and_import(program, output_type="linalg-on-tensors", func_name="main"))


def parameters_of(module: Any) -> list[Any]:
    """Return the parameters of a module's ``forward``."""
    import inspect

    return list(inspect.signature(module.forward).parameters.values())


def make_exports() -> dict[str, str]:
    """Return the programs of ``exports`` by the names of their files.

    Each block with its weights in it, and with its weights as arguments and any number of inputs.
    """
    texts = {}
    for name, (module, x) in make_blocks().items():
        weights = [tensor for _, tensor in list_weights(module)]
        texts[f"{name}.mlir"] = export(module, x)
        texts[f"{name}-with-weights.mlir"] = export(WithWeights(module), x, *weights, dynamic=True)
    for attention in ATTENTIONS:
        texts[f"{attention.name}.mlir"] = export_attention(attention)
    return texts


def export_attention(attention: Attention) -> str:
    """Return a call as torch-mlir exports it; if it is dynamic, of any number of keys."""

    def call(query: Any, key: Any, value: Any, mask: Any = None) -> Any:
        if attention.by_hand:
            scores = query @ key.transpose(-1, -2) / attention.width**0.5
            return scores.softmax(-1) @ value
        return nn.functional.scaled_dot_product_attention(
            query,
            key,
            value,
            attn_mask=mask,
            is_causal=attention.mask == "causal",
            enable_gqa=attention.groups > 1,
        )

    kind = {"f16": torch.float16, "bf16": torch.bfloat16}[attention.kind]
    inputs = [torch.zeros(shape, dtype=kind) for shape in attention.shapes]
    extents = (attention.rows, attention.keys)
    if attention.mask in ("truth", "numbers"):
        inputs.append(torch.zeros(extents, dtype=torch.bool if attention.mask == "truth" else kind))
    keys = {2: torch.export.Dim("keys", min=2)}
    dynamic = (None, keys, keys) if attention.is_dynamic else None
    return export(Plain(call), *inputs, dynamic=dynamic)


if __name__ == "__main__":
    for file, text in make_exports().items():
        (EXPORTS / file).write_text(text, encoding="utf-8")
