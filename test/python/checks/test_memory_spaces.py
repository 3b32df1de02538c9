"""Memory that a value cannot be in is an error at the value; the rest is right in each spelling."""

from __future__ import annotations

import numpy as np
import pytest

import pipeline

FLOATS = "memref<64xf32>"

# The value that is in question stands in the line that ends with "// here".
OUTLINED = """{variables}
module attributes {{gpu.container_module}} {{
  func.func @main(%x: memref<64xf32>, %y: memref<64xf32>) {{
    %c1 = arith.constant 1 : index
    %c64 = arith.constant 64 : index
    gpu.launch_func @kernels::@k blocks in (%c1, %c1, %c1) threads in (%c64, %c1, %c1)
      args(%x : memref<64xf32>, %y : memref<64xf32>)
    return
  }}
  gpu.module @kernels {{
    {variables}
    gpu.func @k(%x: memref<64xf32>, %y: memref<64xf32>) kernel {{
      %t = gpu.thread_id x
      {body}
      gpu.return
    }}
  }}
}}
"""
LAUNCHED = """{variables}
func.func @main(%x: memref<64xf32>, %y: memref<64xf32>) {{
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%t, %ty, %tz) in (%sx = %c64, %sy = %c1, %sz = %c1) {{
    {body}
    gpu.terminator
  }}
  return
}}
"""
MAPPED = """{variables}
func.func @main(%x: memref<64xf32>, %y: memref<64xf32>) {{
  scf.forall (%b) in (1) {{
    scf.forall (%t) in (64) {{
      {body}
    }} {{mapping = [#gpu.thread<x>]}}
  }} {{mapping = [#gpu.block<x>]}}
  return
}}
"""
FORMS = {"outlined": OUTLINED, "launched": LAUNCHED, "mapped": MAPPED}

# What the element of `%m` that is read depends on is not known before the kernel runs.
READ = """
      %i = arith.andi %t, %t : index
      %v = memref.load %m[%i] : {type}
      memref.store %v, %y[%t] : memref<64xf32>"""
WRITE = """
      %u = memref.load %x[%t] : memref<64xf32>
      memref.store %u, %m[%t] : {type}"""
BUFFERS = {
    "alloc": ("", "%m = memref.alloc() : {type} // here" + WRITE + READ),
    "alloca": ("", "%m = memref.alloca() : {type} // here" + WRITE + READ),
    "constant": (
        "memref.global constant @g : {type} = dense<2.5> // here",
        "%m = memref.get_global @g : {type}" + READ,
    ),
    "variable": (
        'memref.global "private" @g : {type} = uninitialized // here',
        "%m = memref.get_global @g : {type}" + WRITE + READ,
    ),
    "cast": ("", "%m = memref.memory_space_cast %x : memref<64xf32> to {type} // here" + READ),
}
ABSENT = ["2", "6", "7", "8", "101", '"shared"', "#nvvm.memory_space<shared_cluster>", "-1"]
SPELLINGS = {
    "global": ["1", "#gpu.address_space<global>", "#nvvm.memory_space<global>"],
    "constant": ["4", "4 : i32", "#nvvm.memory_space<constant>", "#llvm.address_space<4>"],
    "private": [
        "5",
        "#gpu.address_space<private>",
        "#nvvm.memory_space<local>",
        "#llvm.address_space<5>",
    ],
    "workgroup": ["3", "#gpu.address_space<workgroup>", "#nvvm.memory_space<shared>"],
}
SPELLINGS["global"].append("#llvm.address_space<1>")
SPELLINGS["workgroup"].append("#llvm.address_space<3>")
# The memories that each kind of value can be in.
POSSIBLE = {
    "alloc": {"global", "private", "workgroup"},
    "alloca": {"private", "workgroup"},
    "constant": {"global", "constant", "workgroup"},
    "variable": {"global", "workgroup"},
    "cast": {"global"},
}


def make(form: str, kind: str, space: str) -> str:
    """Return a program with a buffer of that kind in that space."""
    variables, body = (part.format(type=f"memref<64xf32, {space}>") for part in BUFFERS[kind])
    if form == "outlined" and variables:
        head, tail = OUTLINED.split("{variables}", 1)
        return (head + tail).format(variables=variables, body=body)
    return FORMS[form].format(variables=variables, body=body)


def find_error(source: str) -> tuple[int, str]:
    """Return the line and the text of the first error of a program."""
    with pytest.raises(pipeline.CompileError) as caught:
        pipeline.compile(source, schedule="none")
    first = str(caught.value).splitlines()[0]
    assert first.startswith("<string>:"), first
    return int(first.split(":")[1]), first


def get_marked(source: str) -> int:
    return next(n for n, line in enumerate(source.splitlines(), 1) if line.endswith("// here"))


@pytest.mark.parametrize("kind", BUFFERS)
@pytest.mark.parametrize("space", ABSENT)
@pytest.mark.parametrize("form", FORMS)
def test_buffer_in_memory_that_there_is_not_is_refused(form: str, space: str, kind: str) -> None:
    source = make(form, kind, space)
    line, message = find_error(source)
    assert line == get_marked(source)
    assert f"is in memory space {space}, " in message


@pytest.mark.parametrize("kind", BUFFERS)
@pytest.mark.parametrize(
    ("memory", "space"), [(memory, space) for memory, all in SPELLINGS.items() for space in all]
)
@pytest.mark.parametrize("form", FORMS)
def test_buffer_is_right_in_each_spelling_or_refused(
    form: str, memory: str, space: str, kind: str
) -> None:
    source = make(form, kind, space)
    if memory not in POSSIBLE[kind]:
        line, _ = find_error(source)
        assert line == get_marked(source)
        return
    if kind == "constant" and memory == "workgroup":
        return  # nobody has given it its values; each launch finds others
    module = pipeline.compile(source, schedule="none")
    x = np.arange(64, dtype=np.float32)
    y = np.zeros_like(x)
    module.run(x, y, backend="emulator")
    assert np.array_equal(y, np.full_like(x, 2.5) if kind == "constant" else x)


ARGUMENTS = {
    "outlined": """module attributes {{gpu.container_module}} {{
  gpu.module @kernels {{
    gpu.func @k(%x: memref<64xf32>,
                %m: {type}) kernel attributes {{known_block_size = array<i32: 64, 1, 1>}} {{ // here
      %t = gpu.thread_id x
      %v = memref.load %x[%t] : memref<64xf32>
      memref.store %v, %m[%t] : {type}
      gpu.return
    }}
  }}
}}
""",
    "launched": """func.func @main(%x: memref<64xf32>,
                 %m: {type}) {{ // here
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%t, %ty, %tz) in (%sx = %c64, %sy = %c1, %sz = %c1) {{
    %v = memref.load %x[%t] : memref<64xf32>
    memref.store %v, %m[%t] : {type}
    gpu.terminator
  }}
  return
}}
""",
    "mapped": """func.func @main(%x: memref<64xf32>,
                 %m: {type}) {{ // here
  scf.forall (%b) in (1) {{
    scf.forall (%t) in (64) {{
      %v = memref.load %x[%t] : memref<64xf32>
      memref.store %v, %m[%t] : {type}
    }} {{mapping = [#gpu.thread<x>]}}
  }} {{mapping = [#gpu.block<x>]}}
  return
}}
""",
}


@pytest.mark.parametrize("space", ABSENT + SPELLINGS["constant"] + SPELLINGS["private"])
@pytest.mark.parametrize("form", ARGUMENTS)
def test_argument_is_refused(form: str, space: str) -> None:
    source = ARGUMENTS[form].format(type=f"memref<64xf32, {space}>")
    line, message = find_error(source)
    assert line == get_marked(source)
    assert "no launch can pass" in message or f"is in memory space {space}" in message
    if form == "mapped":  # which is no kernel yet
        return
    with pytest.raises(pipeline.CompileError, match=r"no launch can pass|is in memory space"):
        pipeline.check(source)


@pytest.mark.parametrize("space", SPELLINGS["global"])
def test_argument_in_global_memory_is_right(space: str) -> None:
    module = pipeline.compile(
        ARGUMENTS["launched"].format(type=f"memref<64xf32, {space}>"), schedule="none"
    )
    x = np.arange(64, dtype=np.float32)
    y = np.zeros_like(x)
    module.run(x, y, backend="emulator")
    assert np.array_equal(x, y)


@pytest.mark.parametrize(
    "write",
    [
        "memref.store %f, %m[%t] : {type} // here",
        "%o = memref.atomic_rmw addf %f, %m[%t] : (f32, {type}) -> f32 // here",
        "vector.store %n, %m[%t] : {type}, vector<4xf32> // here",
        "vector.transfer_write %n, %m[%t] {{in_bounds = [true]}} : vector<4xf32>, {type} // here",
        "memref.copy %x, %m : memref<64xf32> to {type} // here",
        "linalg.fill ins(%f : f32) outs(%m : {type}) // here",
    ],
)
@pytest.mark.parametrize("type", [FLOATS, "memref<64xf32, 4>"])
@pytest.mark.parametrize("form", ["outlined", "launched"])
def test_write_of_a_constant_is_refused(form: str, type: str, write: str) -> None:
    variables = f"memref.global constant @g : {type} = dense<2.5>"
    body = (
        f"%m = memref.get_global @g : {type}\n%f = arith.constant 1.0 : f32\n"
        "%n = vector.broadcast %f : f32 to vector<4xf32>\n" + write.format(type=type)
    )
    source = FORMS[form].format(variables=variables, body=body)
    if form == "outlined":
        source = source.split("\n", 1)[1]
    line, message = find_error(source)
    assert line == get_marked(source)
    assert "writes constant memory" in message


@pytest.mark.parametrize("space", [0, 1, 2, 3, 4, 5, 6, 7, 8, 101])
def test_pointers_of_imported_kernels(space: int) -> None:
    source = f"""gpu.module @m {{
  llvm.func @k(%x: !llvm.ptr<1>,
               %p: !llvm.ptr<{space}>) attributes {{gpu.kernel, nvvm.kernel}} {{ // here
    %v = llvm.load %p : !llvm.ptr<{space}> -> f32
    llvm.store %v, %x : f32, !llvm.ptr<1>
    llvm.return
  }}
}}"""
    if space in (0, 1):
        assert pipeline.compile(source, schedule="none", verify=False).ptx
        return
    with pytest.raises(pipeline.CompileError) as caught:
        pipeline.compile(source, schedule="none", verify=False)
    assert f"<string>:{get_marked(source)}:16: error: argument 1" in str(caught.value)
