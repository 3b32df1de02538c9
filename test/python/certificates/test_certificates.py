"""Certificates of compiled kernels hold, and what says or does something else is refuted."""

from __future__ import annotations

import copy
import json
import random
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

import pipeline
from certificates.cells import Refuted
from certificates.claims import check
from certificates.ir import NotUnderstood
from certificates.main import main
from fuzzing.certificate_mutants import CERTIFICATE, CODE, mend, mutate
from fuzzing.certificates import find_race, judge
from linalg.linalg_programs import PROGRAMS

ROOT = Path(__file__).resolve().parents[3]
EXAMPLES = ROOT / "test" / "Examples"

RING = """
func.func @main(%a: tensor<64x96xf32>, %b: tensor<96x128xf32>) -> tensor<64x128xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<64x128xf32>
  %c = linalg.fill ins(%zero : f32) outs(%empty : tensor<64x128xf32>) -> tensor<64x128xf32>
  %d = linalg.matmul ins(%a, %b : tensor<64x96xf32>, tensor<96x128xf32>)
                     outs(%c : tensor<64x128xf32>) -> tensor<64x128xf32>
  return %d : tensor<64x128xf32>
}
"""


def certify(source: str | Path, **options: Any) -> tuple[dict[str, Any], str]:
    """Return the certificate of a program, and its LLVM IR."""
    module = pipeline.compile(source, until="llvm", certify=True, **options)
    return json.loads(module.texts["certificate"]), module.texts["llvm"]


@pytest.mark.parametrize("name", ["softmax", "k-tiled-matmul", "streaming-k", "fill-matmul"])
def test_certificates_of_examples_hold(name: str) -> None:
    document, text = certify(EXAMPLES / f"{name}.mlir")
    for kernel, claims in zip(check(document, text), document["kernels"], strict=True):
        assert kernel.accesses == len(claims["accesses"])
        assert claims.get("proof", {"verdict": "SAFE"})["verdict"] == "SAFE"


@pytest.mark.parametrize("name", ["transpose", "transpose_ragged_rows", "softmax_0_of_3xn_f16"])
def test_widths_that_the_launch_gives_hold_and_race_without_their_barriers(name: str) -> None:
    program = next(each for each in PROGRAMS if each.name == name)
    document, text = certify(program.text)
    assert judge(document, text) == "holds"
    lines = text.split("\n")
    for order in document["kernels"][0]["orders"]:
        if order["kind"] == "barrier":
            without = "\n".join([*lines[: order["line"] - 1], "  ;", *lines[order["line"] :]])
            assert find_race(document, without) == "refuted"


def test_ring_with_copies_on_their_way_holds() -> None:
    document, text = certify(RING, memory_options="slots=3")
    kernel = document["kernels"][0]
    assert any(order.get("pending") for order in kernel["orders"])
    assert {group["kind"] for group in kernel["groups"]} >= {"copy", "read"}
    assert judge(document, text) == "holds"


def test_checker_imports_nothing_of_the_compiler() -> None:
    code = "import certificates.main, sys; sys.exit(any('pipeline' in n for n in sys.modules))"
    path = {"PYTHONPATH": str(ROOT / "tools"), "PATH": ""}
    subprocess.run([sys.executable, "-c", code], check=True, env=path)


def test_checker_tells_what_it_found(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    document, text = certify(EXAMPLES / "softmax.mlir")
    certificate, code = tmp_path / "c.json", tmp_path / "k.ll"
    code.write_text(text)
    certificate.write_text(json.dumps(document))
    assert main([str(certificate), str(code)]) == 0
    assert "no race" in capsys.readouterr().out
    certificate.write_text(json.dumps({**document, "sha256": "0"}))
    assert main([str(certificate), str(code)]) == 1
    assert "sha256" in capsys.readouterr().out
    certificate.write_text("{}")
    assert main([str(certificate), str(code)]) == 3


def test_each_kind_of_mutant_is_rejected() -> None:
    document, text = certify(RING)
    mutants = mutate(document, text, random.Random(3))
    seen = set()
    for _ in range(3 * len(CODE | CERTIFICATE)):
        mutant = next(mutants)
        seen.add(mutant.kind)
        assert judge(mutant.document, mutant.text) != "holds", mutant.what
    assert seen >= {kind for kind in CERTIFICATE if "box" not in kind}


def test_barrier_that_is_missing_is_a_race_whatever_the_certificate_says() -> None:
    document, text = certify(EXAMPLES / "softmax.mlir")
    lines = text.split("\n")
    for order in document["kernels"][0]["orders"]:
        if order["kind"] == "barrier":
            without = "\n".join([*lines[: order["line"] - 1], "  ;", *lines[order["line"] :]])
            assert find_race(document, without) == "refuted"


KERNEL = """
@buffer = internal addrspace(3) global [256 x float] undef, align 16
define ptx_kernel void @main(ptr %0, i32 %n) #0 {
  %2 = tail call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %3 = zext nneg i32 %2 to i64
  %4 = getelementptr float, ptr addrspace(3) @buffer, i64 %3
  BODY
  ret void
}
attributes #0 = { nounwind "nvvm.maxntid"="256,1,1" }
"""


def find(body: str, kernel: str = KERNEL, assumptions: Sequence[dict[str, Any]] = ()) -> str:
    """Return what is said of the races of a kernel."""
    document: dict[str, Any] = {
        "format": "pipeline-certificate", "version": 2, "covers": "workgroup memory", "memory": [],
        "kernels": [{"name": "main", "accesses": [], "assumptions": assumptions, "block": []}],
    }  # fmt: skip
    return find_race(document, kernel.replace("BODY", body))


BARRIER = "tail call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)"
STORE = "store float 1.0, ptr addrspace(3) %4, align 4"
OTHER = "%5 = xor i64 %3, 255\n  %6 = getelementptr float, ptr addrspace(3) @buffer, i64 %5"
LOAD = f"{OTHER}\n  %7 = load float, ptr addrspace(3) %6, align 4\n  store float %7, ptr %0"


@pytest.mark.parametrize(
    ("body", "said"),
    [
        (f"{STORE}\n  {BARRIER}\n  {LOAD}", "holds"),
        (f"{STORE}\n  {LOAD}", "refuted"),
        (f"{STORE.replace('%4', '@buffer')}", "holds"),  # one value
        (f"store i32 %2, ptr addrspace(3) @buffer\n  {BARRIER}", "refuted"),
        ("%5 = atomicrmw add ptr addrspace(3) %4, i32 1 monotonic", "not checked"),
        (f"%5 = getelementptr i8, ptr addrspace(3) %4, i64 4\n  {STORE.replace('%4', '%5')}",
         "refuted"),  # out of bounds
        (f"%5 = icmp ult i32 %2, 32\n  br i1 %5, label %a, label %b\na:\n  {BARRIER}\n"
         "  br label %b\nb:", "refuted"),
        (f"%5 = icmp ult i32 %n, 32\n  br i1 %5, label %a, label %b\na:\n  {BARRIER}\n"
         "  br label %b\nb:", "holds"),
        (f"%5 = icmp ult i32 %2, %n\n  br i1 %5, label %a, label %b\na:\n  {BARRIER}\n"
         "  br label %b\nb:", "refuted"),
    ],
)  # fmt: skip
def test_small_kernels(body: str, said: str) -> None:
    assert find(body) == said


LOOP = """%5 = call i64 @llvm.smin.i64(i64 %w, i64 8)
  %rows = mul nuw nsw i64 %5, 32
  %6 = icmp ugt i64 %rows, %3
  br i1 %6, label %loop, label %end
loop:
  %7 = phi i64 [ %3, %1 ], [ %13, %loop ]
  %8 = udiv i64 %7, %5
  %9 = mul i64 %8, %5
  %10 = sub i64 %7, %9
  %11 = mul i64 %8, STRIDE
  %12 = add i64 %11, %10
  %at = getelementptr i32, ptr addrspace(3) @buffer, i64 %12
  store i32 %2, ptr addrspace(3) %at
  %13 = add nuw nsw i64 %7, 64
  %14 = icmp ult i64 %13, %rows
  br i1 %14, label %loop, label %end
end:"""


@pytest.mark.parametrize(("stride", "said"), [(8, "holds"), (7, "refuted"), (64, "refuted")])
def test_rows_of_a_width_that_the_launch_gives(stride: int, said: str) -> None:
    kernel = KERNEL.replace("i32 %n)", "i64 %n)").replace('"256,1,1"', '"64,1,1"')
    left = "%w = sub i64 %n, 0\n  "
    body = left + LOOP.replace("STRIDE", str(stride))
    kernel += "declare i64 @llvm.smin.i64(i64, i64) #1\nattributes #1 = { memory(none) }\n"
    assert find(body, kernel, [{"value": "%w", "least": 1, "line": 0}]) == said


def test_what_is_not_of_the_form_is_not_accepted() -> None:
    document, text = certify(EXAMPLES / "softmax.mlir")
    with pytest.raises(NotUnderstood):
        check({**document, "version": 3}, text)
    changed = text.replace("ptx_kernel", "")
    with pytest.raises(Refuted):
        check(mend(copy.deepcopy(document), changed), changed)


def test_files_that_cannot_be_read_are_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    good, binary = tmp_path / "good", tmp_path / "binary"
    good.write_text("{}")
    binary.write_bytes(b"BC\xc0\xde")
    for wrong in (tmp_path / "absent", tmp_path, binary):
        for files in ([wrong, good], [good, wrong]):
            assert main(list(map(str, files))) == 2
            assert f"{wrong}: error: " in capsys.readouterr().err


def test_bundles_carry_certificates(tmp_path: Path) -> None:
    module = pipeline.compile(EXAMPLES / "softmax.mlir", certify=True)
    path = tmp_path / "softmax.bundle"
    digest = module.save(path, certificate=True)
    loaded = pipeline.load(path, sha256=digest)
    check(json.loads(loaded.texts["certificate"]), loaded.texts["llvm"])
    assert loaded.save(tmp_path / "again.bundle", certificate=True) == digest
    plain = pipeline.compile(EXAMPLES / "softmax.mlir")
    with pytest.raises(pipeline.UsageError, match="certify=True"):
        plain.save(path, certificate=True)
