"""``Plan.parse``: of what has no meaning, each kind is refused where it stands."""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest

import pipeline
from pipeline.records.signature import Argument
from pipeline.runtime.host import numbers
from pipeline.runtime.host.plan import Plan
from pipeline.runtime.host.steps import RULES

PLACE = ["host.mlir", 3, 5]
LIMITS = {
    "grid": [2**31 - 1, 65535, 65535],
    "block": [1024, 1024, 64],
    "block_threads": 1024,
    "cluster_blocks": 16,
}


def step(op: str, results: list[int], **fields: Any) -> dict[str, Any]:
    fields = {name.removesuffix("_"): value for name, value in fields.items()}
    return {"op": op, "results": results, "loc": PLACE, **fields}


def region(steps: list[dict[str, Any]], arguments: list[int] | None = None) -> dict[str, Any]:
    return {"arguments": arguments or [], "steps": steps}


def add(result: int, *args: Any) -> dict[str, Any]:
    return step("arith.addi", [result], args=list(args), type="index", from_="index")


BODY = [
    step("memref.dim", [3], source="%0", dim=1),
    step("memref.alloc", [4], dtype="f32", shape=["%3", 4]),
    step(
        "scf.for",
        [5],
        lower=0,
        upper="%1",
        step=1,
        init=[7],
        body=region([add(8, "%6", "%7"), step("scf.yield", [], args=["%8"])], [6, 7]),
    ),
    step("arith.cmpi", [9], args=["%5", 3], type="i1", from_="index", predicate="slt"),
    step(
        "scf.if",
        [10],
        condition="%9",
        then=region([step("scf.yield", [], args=["%5"])]),
        else_=region([add(11, "%5", 1), step("scf.yield", [], args=["%11"])]),
    ),
    step("memref.get_global", [12], data=0),
    step("memref.load", [13], source="%12", indices=[1]),
    step(
        "memref.subview",
        [14],
        source="%0",
        offsets=[0, "%10"],
        sizes=[1, 2],
        strides=[1, 1],
        dropped=[0],
    ),
    step(
        "scf.while",
        [15],
        init=["%1"],
        before=region([step("scf.condition", [], args=[0, "%16"])], [16]),
        after=region([step("scf.yield", [], args=["%17"])], [17]),
    ),
    step("affine.min", [18], args=["%15"], map={"dims": 1, "results": [["d", 0], 8]}),
    step("func.call", [19], callee="scale", args=["%2"]),
    step(
        "gpu.launch_func",
        [],
        kernel=0,
        grid=["%18", 1, 1],
        block=[32, 1, 1],
        shared=0,
        args=["%4", "%19"],
    ),
    step("memref.transpose", [20], source="%4", permutation=[1, 0]),
    step("memref.dealloc", [], source="%4"),
    step("func.return", [], args=["%20", "%10"]),
]
SCALE = [
    step("arith.mulf", [1], args=["%0", ["bits", "f32", 0x40000000]], type="f32", from_="f32"),
    step("func.return", [], args=["%1"]),
]
REQUIREMENT = {
    "args": [[0, 1], [1]],
    "left": ["floordiv", ["s", 0], 2],
    "relation": "<=",
    "right": ["s", 1],
    "trips": [],
    "loc": PLACE,
}
PLAN: dict[str, Any] = {
    "format": "pipeline-plan",
    "version": [2, 2],
    "features": [],
    "target": {"chip": "sm_80", "limits": LIMITS},
    "kernels": ["k"],
    "data": [{"name": "table", "dtype": "i32", "shape": [2], "hex": "0100000002000000"}],
    "functions": [
        {
            "name": "main",
            "arguments": ["memref<2x?xf32, strided<[?, 1], offset: ?>>", "index", "f32"],
            "results": ["memref<4x?xf32, strided<[1, 4]>>", "index"],
            "require": [REQUIREMENT],
            "loc": PLACE,
            "body": region(BODY, [0, 1, 2]),
        },
        {
            "name": "scale",
            "arguments": ["f32"],
            "results": ["f32"],
            "require": [],
            "loc": PLACE,
            "body": region(SCALE, [0]),
        },
    ],
}
MEMORY = Argument("memref<?x4xf32>", True, "f32", (None, 4), (4, 1), 0, 16)
FLOAT = Argument("f32", False, "f32", (), (), 0, 1)
KERNELS = {"k": (MEMORY, FLOAT)}


def change(path: str, value: Any) -> str:
    """Return the plan with another value at a place; what is there is deleted for `...`."""
    plan = copy.deepcopy(PLAN)
    keys = [int(key) if key.isdigit() else key for key in path.split(".")]
    parent: Any = plan
    for key in keys[:-1]:
        parent = parent[key]
    if value is ...:
        del parent[keys[-1]]
    else:
        parent[keys[-1]] = value
    return json.dumps(plan)


def test_plan_is_right() -> None:
    plan = Plan.parse(json.dumps(PLAN), KERNELS)
    assert (plan.chip, plan.limits.cluster_blocks) == ("sm_80", 16)
    with_notes = change("functions.0.x-note", {"anything": [None, "here"]})
    assert Plan.parse(with_notes).functions == plan.functions


MAIN, STEPS = "functions.0", "functions.0.body.steps"
WRONG = [
    # The document.
    ("target.limits.grid", [1, 2], "target.limits.grid: is a list of 2, but must be a list of 3"),
    ("target.limits", ..., 'target: has no field "limits"'),
    ("functions.1.name", "main", "functions: two have the same name"),
    ("functions.1.body", ..., "functions[1]: must have a body, or the reason"),
    ("functions.1.zz", 1, 'functions[1]: has the field "zz", which nobody knows'),
    ("data.0.hex", "01", "data[0].hex: has 1 bytes, but must have 8"),
    ("data.0.hex", "0", "data[0].hex: is "),
    ("data.0.hex", ..., 'data[0]: constant "table" has no elements'),
    ("data.0.dtype", "tuple<>", 'data[0].dtype: is "tuple<>", whose elements cannot be read'),
    ("data.0.shape", [-2], "data[0].shape[0]: is -2, but must be a whole number"),
    ("kernels.0", "\ud800", "kernels[0]: is "),
    ("version", [2, True], "version[1]: is true"),
    # Requirements.
    (f"{MAIN}.require.0.args.0", [0, 2], "functions[0].require[0].args[0]: is no argument, or no"),
    (f"{MAIN}.require.0.args.1", [2], "functions[0].require[0].args[1]: is no argument"),
    (f"{MAIN}.require.0.args.1", [9], "functions[0].require[0].args[1]: is no argument"),
    (f"{MAIN}.require.0.left", ["s", 2], "functions[0].require[0]: takes a symbol"),
    (f"{MAIN}.require.0.left", ["d", 0], "functions[0].require[0]: takes a symbol"),
    (
        f"{MAIN}.require.0.left",
        ["mod", 1, 0],
        "functions[0].require[0].left: divides by what is no",
    ),
    (f"{MAIN}.require.0.left", ["mod", 1, ["s", 0]], "functions[0].require[0].left: divides by"),
    (
        f"{MAIN}.require.0.left",
        ["pow", 1, 2],
        "functions[0].require[0].left: is a list of 3, which",
    ),
    (f"{MAIN}.require.0.relation", "<", "functions[0].require[0].relation: is "),
    # Order.
    (f"{STEPS}.1.shape.0", "%5", "steps[1].shape[0]: is %5, which is not made before"),
    (f"{STEPS}.3.args.0", "%8", "steps[3].args[0]: is %8, which is not there any more"),
    (f"{STEPS}.14.args.0", "%4", "steps[14].args[0]: is %4, which is not there any more"),
    (f"{STEPS}.4.results", [3], "steps[4].results: has value 3, which is made twice"),
    (f"{STEPS}.2.body.arguments", [6, 3], "steps[2].body.arguments: has value 3, which is made"),
    (f"{STEPS}.2.body.arguments", [6], "steps[2].body.arguments: has 1, but is given 2"),
    (
        f"{STEPS}.2.body.steps.0",
        step("memref.dealloc", [], source="%4"),
        "steps[2].body.steps[1].args[0]: is %8, which is not made before",
    ),
    # Kinds.
    (f"{STEPS}.0.source", "%1", "steps[0].source: is a number of type index, but must be memory"),
    (f"{STEPS}.1.shape.0", "%2", "steps[1].shape[0]: is a number of type f32, but must be"),
    (f"{STEPS}.3.args.0", "%0", "steps[3].args[0]: is memory of f32 with 2 dimensions, but must"),
    (f"{STEPS}.3.from", "f32", 'steps[3].from: is "f32", but must be a type of integers'),
    (f"{STEPS}.3.type", "i8", 'steps[3].type: is "i8", but must be i1'),
    (f"{STEPS}.3.predicate", "lt", 'steps[3].predicate: is "lt", but must be one of eq, ne'),
    (f"{STEPS}.4.condition", "%5", "steps[4].condition: is a number of type index, but must be"),
    (f"{STEPS}.4.then.steps.0.args", [], "steps[4].else: hands on 1 values, but must 0"),
    (f"{STEPS}.4.then.steps.0.args", ["%2"], "steps[4].else: is a number of type index, but must"),
    (f"{STEPS}.4.else", ..., 'steps[4]: has no field "else"'),
    (f"{STEPS}.5.data", 1, "steps[5].data: is 1, but there are 1"),
    (f"{STEPS}.6.indices", [], "steps[6].indices: has 0, but must have 1"),
    (f"{STEPS}.6.results", [], "steps[6].results: has 0, but the step makes 1"),
    (f"{STEPS}.7.sizes", [2, 2], "steps[7].dropped: has a dimension whose size is not 1"),
    (f"{STEPS}.7.strides", [1], "steps[7].strides: has 1, but must have 2"),
    (f"{STEPS}.7.dropped", [2], "steps[7].dropped: has a dimension twice, or one that is not"),
    (f"{STEPS}.8.before.steps.0.args", ["%16"], "steps[8].before: does not say whether the loop"),
    (f"{STEPS}.8.before.steps.0.op", "scf.yield", 'before.steps[0].op: is "scf.yield", but the'),
    (f"{STEPS}.9.map.results.0", ["d", 1], "steps[9].map.results[0]: takes a dimension or a"),
    (f"{STEPS}.9.map.dims", 2, "steps[9].map.dims: is 2, but there are 1 operands"),
    (f"{STEPS}.10.callee", "other", 'steps[10].callee: is "other", which is no function'),
    (f"{STEPS}.10.callee", "main", "steps[10].args: has 1 operands, but takes 3"),
    (f"{STEPS}.10.args", ["%1"], "steps[10].args[0]: is a number of type index, but must be"),
    (f"{STEPS}.11.kernel", 1, "steps[11].kernel: is 1, but there are 1"),
    (f"{STEPS}.11.block", [1, 1], "steps[11].block: is a list of 2, but must be a list of 3"),
    (f"{STEPS}.11.shared", "%2", "steps[11].shared: is a number of type f32, but must be an"),
    (f"{STEPS}.11.args", ["%4"], 'steps[11].args: has 1, but kernel "k" takes 2'),
    (f"{STEPS}.11.args.1", "%1", 'steps[11].args[1]: is a number of type index, but kernel "k"'),
    (f"{STEPS}.11.args.0", "%14", "steps[11].args[0]: is memory of f32 with 1 dimensions, but"),
    (f"{STEPS}.12.permutation", [1, 1], "steps[12].permutation: is no order of 2 dimensions"),
    (f"{STEPS}.13.op", "run", 'steps[13].op: is "run", which no plan has'),
    (f"{STEPS}.13.op", "scf.yield", 'steps[13]: has no field "args"'),
    (f"{STEPS}.14.args", ["%20"], "functions[0].body: returns 1 values, but has 2 results"),
    (f"{STEPS}.14.args", ["%10", "%20"], "functions[0].body: returns a number of type index, but"),
    (
        f"{STEPS}.14",
        ...,
        'steps[13].op: is "memref.dealloc", but the last step must be func.return',
    ),
    ("functions.1.body.steps.0.from", "f64", 'from: is "f64", but its result is of another type'),
    (
        "functions.1.body.steps.0.args.1",
        ["bits", "i8", 1],
        'args[1]: has bits of "i8", which is no',
    ),
    ("functions.1.body.steps.0.args.1", "%x", 'args[1]: is "%x", but must be a value, as %0'),
    ("functions.1.body.steps.0.args.1", 2, "args[1]: is an integer, but must be a number of type"),
]


@pytest.mark.parametrize(("path", "value", "words"), WRONG, ids=[row[2][:60] for row in WRONG])
def test_what_is_refused(path: str, value: Any, words: str) -> None:
    with pytest.raises(pipeline.PlanError) as caught:
        Plan.parse(change(path, value), KERNELS)
    message = str(caught.value)
    assert message.startswith("error: launch plan: ")
    assert words in message
    assert caught.value.exit_code == 2


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "it is no JSON"),
        ("[" * 100_000, "it is nested too deeply"),
        ('{"format": "pipeline-plan", "format": 1}', 'an object has the field "format" twice'),
        ('{"version": 2.5}', "it holds 2.5, but numbers must be integers"),
        ('{"version": NaN}', "it holds NaN"),
        ('{"version": 1e400}', "it holds 1e400"),
        ('{"version": ' + "9" * 5000 + "}", "it holds 999999999999999999999999, but"),
        ("[]", "it is no document of format pipeline-plan"),
    ],
)
def test_hostile_json(text: str, words: str) -> None:
    with pytest.raises(pipeline.PlanError) as caught:
        Plan.parse(text)
    assert words in str(caught.value)


def nest(depth: int) -> str:
    """Return a plan with branches in branches."""
    inner = [step("scf.yield", [], args=[])]
    for _ in range(depth):
        branch = step("scf.if", [], condition=1, then=region(inner), else_=region([]))
        inner = [branch, step("scf.yield", [], args=[])]
    inner[-1] = step("func.return", [], args=[])
    function = {**PLAN["functions"][1], "arguments": [], "results": [], "body": region(inner)}
    return json.dumps({**PLAN, "functions": [function]})


def test_nesting() -> None:
    """What is accepted does not exceed Python's stack when it runs; what would is refused."""
    assert Plan.parse(nest(40)).functions
    for depth in (100, 140, 180):
        with pytest.raises(pipeline.PlanError, match="nested too deeply"):
            Plan.parse(nest(depth))


def call_in_turn(count: int, last: int) -> str:
    """Return a plan whose functions call the next, and the last one function number `last`."""
    functions = []
    for number in range(count):
        callee = f"f{number + 1 if number + 1 < count else last}"
        steps = [step("func.call", [], callee=callee, args=[])] if callee != f"f{count}" else []
        steps.append(step("func.return", [], args=[]))
        function = {**PLAN["functions"][1], "name": f"f{number}", "arguments": [], "results": []}
        functions.append({**function, "body": region(steps)})
    return json.dumps({**PLAN, "functions": functions})


def test_calls() -> None:
    assert Plan.parse(call_in_turn(50, 50)).functions
    with pytest.raises(pipeline.PlanError, match='function "f0" calls itself'):
        Plan.parse(call_in_turn(3, 0))
    with pytest.raises(pipeline.PlanError, match="nested too deeply"):
        Plan.parse(call_in_turn(2000, 2000))


def test_memory_that_a_loop_frees() -> None:
    """What is made before a loop would be there only the first time."""
    free = step("memref.dealloc", [], source="%4")
    text = json.loads(json.dumps(PLAN))
    text["functions"][0]["body"]["steps"][2]["body"]["steps"].insert(0, free)
    with pytest.raises(pipeline.PlanError, match=r"steps\[2\].body: frees what is made before"):
        Plan.parse(json.dumps(text))


def test_memory_that_a_branch_frees() -> None:
    """Behind it, it is not there, whichever branch was taken."""
    plan = json.loads(json.dumps(PLAN))
    branches = plan["functions"][0]["body"]["steps"][4]
    free = step("memref.dealloc", [], source="%4")
    for name in ("then", "else"):
        branches[name]["steps"].insert(0, free)
    with pytest.raises(pipeline.PlanError, match=r"steps\[11\].args\[0\]: is %4, which is not the"):
        Plan.parse(json.dumps(plan))
    branches["else"]["steps"].pop(0)
    with pytest.raises(pipeline.PlanError, match=r"steps\[11\].args\[0\]: is %4, which is not the"):
        Plan.parse(json.dumps(plan))


READ = {"source": "%4", "indices": [0, "%3"], "shape": [4], "padding": ["bits", "f32", 0]}
AGAIN = {"source": "%4", "offsets": [0], "sizes": [1], "strides": []}


@pytest.mark.parametrize(
    ("steps", "words"),
    [
        ([step("vector.transfer_read", [30], **READ)], ""),
        ([step("vector.transfer_read", [30], **READ | {"shape": [2, 2, 2]})], "than what is read"),
        ([step("vector.transfer_read", [30], **READ | {"shape": [1 << 20, 2]})], "than any vector"),
        ([step("vector.transfer_read", [30], **READ | {"padding": 0})], "padding: is an integer"),
        ([step("print", [], source="%4")], ""),
        ([step("print", [], value="%2", end="\n")], ""),
        ([step("print", [], value="%2")], 'has no field "end"'),
        ([step("print", [], value="%4", end="")], "prints memory of f32 with 2 dimensions, which"),
        (
            [
                step("memref.alloc", [30], dtype="complex<f32>", shape=[2]),
                step("print", [], source="%30"),
            ],
            "prints a number of type complex<f32>, which has no text",
        ),
        ([step("memref.collapse_shape", [30], source="%4", groups=[[0, 1]])], ""),
        ([step("memref.collapse_shape", [30], source="%4", groups=[[1], [0]])], "each of 2 dim"),
        ([step("memref.reinterpret_cast", [30], **AGAIN)], "strides: has 0, but must have 1"),
        ([step("memref.copy", [], source="%12", target="%4")], "target: is memory of f32 with 2"),
        ([step("gpu.memset", [], target="%4", value=0)], "value: is an integer, but must be"),
        ([step("memref.store", [], target="%4", indices=[0], value="%2")], "indices: has 1, but"),
    ],
)
def test_other_steps(steps: list[dict[str, Any]], words: str) -> None:
    plan = json.loads(json.dumps(PLAN))
    plan["functions"][0]["body"]["steps"][6:6] = steps
    if not words:
        assert Plan.parse(json.dumps(plan))
        return
    with pytest.raises(pipeline.PlanError) as caught:
        Plan.parse(json.dumps(plan))
    assert words in str(caught.value)


def test_steps_of_numbers_are_all_known() -> None:
    """What the interpreter computes has a rule, and nothing else does."""
    known = {op.removeprefix("math.") for op in RULES if op.startswith("math.")}
    assert known == numbers.FUNCTIONS
