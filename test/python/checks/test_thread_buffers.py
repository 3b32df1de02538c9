"""A buffer that each thread has for itself holds nothing that other threads have written."""

from __future__ import annotations

import re

import numpy as np
import pytest

import pipeline

PROGRAM = """func.func @main(%x: memref<64xf32>, %y: memref<64xf32>) {{
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c4 = arith.constant 4 : index
  %c64 = arith.constant 64 : index
  %zero = arith.constant 0.0 : f32
  {outer}
    %b = memref.{buffer} // here
    {body}
  {end}
  return
}}
"""
OUTER = {
    "launch": (
        "gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)\n"
        "threads(%t, %ty, %tz) in (%sx = %c64, %sy = %c1, %sz = %c1) {",
        "gpu.terminator }",
    ),
    "ids": (
        "gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)\n"
        "threads(%t, %ty, %tz) in (%sx = %c64, %sy = %c1, %sz = %c1) {",
        "gpu.terminator }",
    ),
    "blocks": ("scf.forall (%bx) in (1) {", "} {mapping = [#gpu.block<x>]}"),
}
BUFFERS = [
    "alloc() : memref<64xf32>",
    "alloca() : memref<64xf32>",
    "alloca() : memref<64xf32, #gpu.address_space<private>>",
    "alloca() : memref<64xf32, 5>",
]


def distribute(body: str) -> str:
    """Return what the loops over threads in a body are, distributed to 64 threads."""
    start = re.compile(r"THREADS\((%\w+), (\d+)\) \{")
    while found := start.search(body):
        iv, count = found.groups()
        guard = (
            f"{iv} = arith.addi %t, %c0 : index\n%bound{iv[1:]} = arith.constant {count} : index\n"
            f"%is{iv[1:]} = arith.cmpi ult, {iv}, %bound{iv[1:]} : index\nscf.if %is{iv[1:]} {{"
        )
        body = body[: found.start()] + guard + body[found.end() :]
    return body.replace("} MAPPED", "}")


def make(form: str, buffer: str, body: str) -> str:
    """Return a program with loops over threads that share, or do not share, a buffer."""
    body = body.replace("{type}", buffer.split(" : ")[1])
    if form == "ids":
        body = distribute(body)
    else:
        body = re.sub(r"THREADS\((%\w+), (\d+)\)", r"scf.forall (\1) in (\2)", body)
        body = body.replace("} MAPPED", "} {mapping = [#gpu.thread<x>]}")
    outer, end = OUTER[form]
    return PROGRAM.format(outer=outer, end=end, buffer=buffer, body=body)


WRITE = """THREADS(%i, 64) {
      %v = memref.load %x[%i] : memref<64xf32>
      memref.store %v, %b[%i] : {type}
    } MAPPED
    """
READ = """THREADS(%j, 64) {
      INDEX
      %w = memref.load %b[%k] : {type}
      memref.store %w, %y[%j] : memref<64xf32>
    } MAPPED
    """


def read(index: str) -> str:
    return READ.replace("INDEX", f"%k = affine.apply affine_map<(d0) -> ({index})>(%j)")


FILL = """scf.for %f = %c0 to %c64 step %c1 {
      memref.store %zero, %b[%f] : {type}
    }
    """
VECTORS = """THREADS(%i, 16) {
      %m = arith.muli %i, %c4 : index
      %v = vector.load %x[%m] : memref<64xf32>, vector<4xf32>
      vector.store %v, %b[%m] : {type}, vector<4xf32>
    } MAPPED
    """
TURNS = """scf.for %f = %c0 to %c2 step %c1 {
    """
HALVES = """THREADS(%i, 32) {
      %v = memref.load %x[%i] : memref<64xf32>
      %s = memref.subview %b[%i] [1] [1] : {type} to VIEW
      memref.store %v, %s[%c0] : VIEW
    } MAPPED
    """
SHARED = {
    "reversed": WRITE + read("63 - d0"),
    "shifted": WRITE + read("(d0 + 1) mod 64"),
    "transposed": WRITE + read("(d0 mod 8) * 8 + d0 floordiv 8"),
    "one for all": WRITE + read("d0 * 0"),
    "filled before": FILL + WRITE + read("63 - d0"),
    "in iterations": TURNS + WRITE + read("63 - d0") + "}",
    "by vectors": VECTORS + read("d0"),
    "whole, read outside of loops": WRITE
    + "%w = memref.load %b[%c2] : {type}\n"
    + "THREADS(%j, 64) { memref.store %w, %y[%j] : memref<64xf32> } MAPPED",
    "first thread for all": "THREADS(%i, 1) { memref.store %zero, %b[%c2] : {type} } MAPPED\n"
    + "THREADS(%j, 64) { %w = memref.load %b[%c2] : {type}\n"
    + "memref.store %w, %y[%j] : memref<64xf32> } MAPPED",
}
OWN = {
    "same thread": WRITE + read("d0"),
    "in iterations": TURNS + WRITE + read("d0") + "}",
    "written whole by each": FILL.replace("%zero", "%o").replace(
        "memref.store", "%o = memref.load %x[%f] : memref<64xf32>\nmemref.store"
    )
    + read("d0"),
    "written and read in one iteration": """THREADS(%j, 64) {
      %v = memref.load %x[%j] : memref<64xf32>
      memref.store %v, %b[%c2] : {type}
      %w = memref.load %b[%c2] : {type}
      memref.store %w, %y[%j] : memref<64xf32>
    } MAPPED
    """,
}
# Between loops over threads, what was there before is to be replaced; by ids, a thread reads it.
ONLY_LOOPS = {"filled before"}


@pytest.mark.parametrize("buffer", BUFFERS)
@pytest.mark.parametrize(
    ("form", "body"),
    [(form, body) for form in OUTER for body in SHARED if form != "ids" or body not in ONLY_LOOPS],
)
def test_shared_buffer_is_refused(form: str, body: str, buffer: str) -> None:
    source = make(form, buffer, SHARED[body])
    with pytest.raises(pipeline.CompileError) as caught:
        pipeline.compile(source, schedule="none")
    error = caught.value.diagnostics[0]
    line = next(n for n, text in enumerate(source.splitlines(), 1) if text.endswith("// here"))
    assert str(caught.value).startswith(f"<string>:{line}:")
    assert error.message == (
        "buffer is shared by threads but lives in per-thread memory; run workgroup-place-buffers "
        "or give it #gpu.address_space<workgroup>"
    )
    assert "reads an element here" in str(caught.value)
    if form != "blocks":
        with pytest.raises(pipeline.CompileError, match="buffer is shared by threads"):
            pipeline.check(source)


@pytest.mark.parametrize("buffer", BUFFERS)
@pytest.mark.parametrize("body", OWN)
@pytest.mark.parametrize("form", OUTER)
def test_own_buffer_is_right(form: str, body: str, buffer: str) -> None:
    module = pipeline.compile(make(form, buffer, OWN[body]), schedule="none")
    if "malloc" in module.ptx:
        return  # what is not optimized away is not emulated
    x = np.arange(64, dtype=np.float32)
    y = np.zeros_like(x)
    module.run(x, y, backend="emulator")
    assert np.array_equal(x, y)


@pytest.mark.parametrize("form", ["launch", "blocks"])
@pytest.mark.parametrize("body", [body for body in SHARED if body not in ONLY_LOOPS])
def test_buffer_of_the_block_is_right(form: str, body: str) -> None:
    space = "#gpu.address_space<workgroup>"
    source = make(form, f"alloc() : memref<64xf32, {space}>", SHARED[body])
    assert pipeline.compile(source, schedule="none", sync="insert").ptx


def test_views_of_a_buffer_are_followed() -> None:
    view = "memref<1xf32, strided<[1], offset: ?>>"
    body = HALVES.replace("VIEW", view) + READ.replace("64) {", "32) {").replace(
        "INDEX", "%k = affine.apply affine_map<(d0) -> (INDEX)>(%j)"
    )
    own = make("launch", BUFFERS[1], body.replace("INDEX", "d0"))
    assert pipeline.compile(own, schedule="none").ptx
    shared = make("launch", BUFFERS[1], body.replace("INDEX", "31 - d0"))
    with pytest.raises(pipeline.CompileError, match="buffer is shared by threads"):
        pipeline.compile(shared, schedule="none")


def test_index_that_is_not_known_is_the_threads_own_business() -> None:
    body = """THREADS(%j, 64) {
      %p = memref.load %x[%j] : memref<64xf32>
      %r = arith.fptoui %p : f32 to i32
      %k = arith.index_cast %r : i32 to index
      memref.store %p, %b[%k] : {type}
      %w = memref.load %b[%k] : {type}
      memref.store %w, %y[%j] : memref<64xf32>
    } MAPPED
    """
    assert pipeline.compile(make("launch", BUFFERS[1], body), schedule="none").ptx


GUARDED = """func.func @main(%x: memref<64xf32>, %y: memref<64xf32>, %n: index) {{
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %c63 = arith.constant 63 : index
  %c64 = arith.constant 64 : index
  %zero = arith.constant 0.0 : f32
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%t, %ty, %tz) in (%sx = %c64, %sy = %c1, %sz = %c1) {{
    %b = memref.alloca() : memref<64xf32>
    %is = arith.cmpi ult, %t, %c4 : index
    %p = memref.load %x[%t] : memref<64xf32>
    %flag = arith.cmpf ogt, %p, %zero : f32
    %both = arith.andi %is, %flag : i1
    %length = arith.select %both, %c1, %c0 : index
    %back = arith.subi %c63, %t : index
    scf.if %is {{
      memref.store %p, %b[%t] : memref<64xf32>
    }}
    {read}
    gpu.terminator
  }}
  return
}}
"""
LOAD = """%v = memref.load %b[%t] : memref<64xf32>
      memref.store %v, %y[%t] : memref<64xf32>"""
# What only threads that have written do, and the compiler does not know of which they are.
UNKNOWN = {
    "flag": f"scf.if %both {{ {LOAD} }}",
    "dynamic bound": f"scf.for %i = %c0 to %length step %c1 {{ {LOAD} }}",
    "switch": f"scf.index_switch %length case 1 {{ {LOAD}\nscf.yield }} default {{ }}",
    "while": f"""scf.while (%i = %c0) : (index) -> index {{
      %in = arith.cmpi ult, %i, %length : index
      scf.condition(%in) %i : index
    }} do {{
    ^bb0(%i: index):
      {LOAD}
      %next = arith.addi %i, %c1 : index
      scf.yield %next : index
    }}""",
    "affine.if": f"affine.if affine_set<(d0) : (3 - d0 >= 0)>(%t) {{ {LOAD} }}",
    "blocks": f"cf.cond_br %is, ^in, ^out\n^in:\n{LOAD}\ncf.br ^out\n^out:",
    "mask": """%mask = vector.create_mask %length : vector<4xi1>
    %v = vector.transfer_read %b[%t], %zero, %mask {in_bounds = [true]}
      : memref<64xf32>, vector<4xf32>
    %e = vector.extract %v[0] : f32 from vector<4xf32>
    memref.store %e, %y[%t] : memref<64xf32>""",
    "select": """%v = memref.load %b[%t] : memref<64xf32>
    %e = arith.select %is, %v, %zero : f32
    memref.store %e, %y[%t] : memref<64xf32>""",
}
SHIFTED = LOAD.replace("%b[%t]", "%b[%back]")
# What all threads do, or none.
UNIFORM = {
    "condition": f"%u = arith.cmpi ugt, %n, %c4 : index\nscf.if %u {{ {SHIFTED} }}",
    "bound": f"scf.for %i = %c0 to %n step %c1 {{ {SHIFTED} }}",
    "switch": f"scf.index_switch %n case 1 {{ {SHIFTED}\nscf.yield }} default {{ }}",
}


@pytest.mark.parametrize("read", UNKNOWN)
def test_read_that_a_thread_may_not_do_is_its_own_business(read: str) -> None:
    pipeline.check(GUARDED.format(read=UNKNOWN[read]))  # raises if it is refused


@pytest.mark.parametrize("read", UNIFORM)
def test_read_that_the_block_decides_on_is_refused(read: str) -> None:
    with pytest.raises(pipeline.CompileError, match="buffer is shared by threads"):
        pipeline.check(GUARDED.format(read=UNIFORM[read]))
