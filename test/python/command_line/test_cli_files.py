"""What ``python -m pipeline compile`` reads and writes: any file there is, whole or not at all."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from support import programs
from support.command_line import COMMAND, OBEY_PERMISSIONS, call, environment, run

STORE = programs.STORE.encode()
MIB = 1 << 20
LIMIT_MEMORY = "import resource as r; r.setrlimit(r.RLIMIT_AS, (1 << 28, 1 << 28))"
LIMIT_FILES = "import resource as r; r.setrlimit(r.RLIMIT_FSIZE, (100, 100))"


@pytest.fixture
def program(tmp_path: Path) -> Path:
    """Return a file with a program that compiles, alone in its folder."""
    file = tmp_path / "source" / "program.mlir"
    file.parent.mkdir()
    file.write_bytes(STORE)
    return file


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return an empty folder to write to."""
    target = tmp_path / "target"
    target.mkdir()
    return target


@pytest.fixture(scope="module")
def ptx() -> bytes:
    """Return what the program compiles to."""
    return call("compile", "-", stdin=STORE).data


# --- input ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (programs.MALFORMED.encode(), ":2:23: error: use of undeclared SSA value name\n"),
        (b"", ":1:1: error: there is no program: this is empty\n"),
        (b" \n\n", ":1:1: error: there is no program: this is empty\n"),
        (b"module {\n}\n", ":1:1: error: the module has no kernel to compile"),
        (
            b"\n" + programs.WITHOUT_KERNEL.encode(),
            ":2:1: error: the module has no kernel to compile",
        ),
        (b"module {\n  a\0b\n}\n", ":2:4: error: this byte is NUL, which MLIR text cannot hold\n"),
        (b"\0" * 100, ":1:1: error: this byte is NUL, which MLIR text cannot hold\n"),
        (b"module {\n  // \xff\n}\n", ":2:6: error: this byte is not valid UTF-8\n"),
        (b"module {\n}\n\xc3", ":3:1: error: this byte is not valid UTF-8\n"),
        ("module {\n}\n".encode("utf-16-le"), ":1:2: error: this byte is NUL"),
        (b"not MLIR\n", ":1:1: error: "),
        (b"\x7fELF\x02\x01\x01\0", ": error: this byte is NUL"),
    ],
)
def test_file_that_is_no_program(tmp_path: Path, data: bytes, words: str) -> None:
    file = tmp_path / "input.mlir"
    file.write_bytes(data)
    outcome = call("compile", file)
    assert (outcome.code, outcome.data) == (1, b"")
    assert outcome.words.startswith(str(file))
    assert words in outcome.words
    through_stdin = call("compile", "-", stdin=data)
    assert through_stdin.words == outcome.words.replace(str(file), "<stdin>")


def test_bytecode(tmp_path: Path) -> None:
    file = tmp_path / "bytecode.mlirbc"
    assert run("opt", "--emit-bytecode", "-o", file, stdin=STORE).code == 0
    outcome = run("compile", file)
    assert outcome.code == 1
    assert outcome.words.startswith(f"{file}:1:1: error: this is MLIR bytecode; ")


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("missing.mlir", "No such file or directory"),
        ("missing/program.mlir", "No such file or directory"),
        (".", "Is a directory"),
        ("program.mlir/more", "Not a directory"),
        ("loop", "Too many levels of symbolic links"),
        ("a" * 300, "File name too long"),
    ],
)
def test_file_that_cannot_be_read(program: Path, name: str, reason: str) -> None:
    (program.parent / "loop").symlink_to("loop")
    outcome = call("compile", name, cwd=program.parent)
    assert (outcome.code, outcome.data) == (2, b"")
    assert outcome.words == f"{name}: error: cannot be read: {reason}\n"


def test_file_that_may_not_be_read(program: Path) -> None:
    program.chmod(0)
    outcome = run("compile", program, before=OBEY_PERMISSIONS)
    assert outcome.code == 2
    assert outcome.words == f"{program}: error: cannot be read: Permission denied\n"


@pytest.mark.parametrize("start", [b"", b"module {\n}\n"])
def test_gigabyte_of_zeros(tmp_path: Path, start: bytes) -> None:
    """It is refused at its first zero, without reading the rest."""
    file = tmp_path / "zeros.mlir"
    file.write_bytes(start)
    os.truncate(file, 1 << 30)
    outcome = run("compile", file, before=LIMIT_MEMORY)
    assert (outcome.code, outcome.data) == (1, b"")
    assert "this byte is NUL" in outcome.words


@pytest.mark.parametrize("name", ["/dev/zero", "/dev/null"])
def test_device(name: str) -> None:
    outcome = run("compile", name, before=LIMIT_MEMORY if name == "/dev/zero" else "")
    assert outcome.code == 1
    assert outcome.words.startswith(name)


@pytest.mark.parametrize(
    "name", ["with space.mlir", "größe 日本.mlir", "-o.mlir", "a\nb.mlir", "%s{0}.mlir", "-"]
)
def test_name_of_any_kind(tmp_path: Path, name: str) -> None:
    file = tmp_path / name
    file.write_bytes(STORE)
    outcome = call("compile", f"./{name}", "-o", f"./{name}.ptx", cwd=tmp_path)
    assert (outcome.code, outcome.data, outcome.words) == (0, b"", "")
    assert b".entry store(" in (tmp_path / f"{name}.ptx").read_bytes()
    file.write_text(programs.MALFORMED)
    outcome = call("compile", f"./{name}", cwd=tmp_path)
    assert outcome.code == 1
    assert f"{name}:2:23: error: " in outcome.words


def test_name_that_is_no_text(tmp_path: Path) -> None:
    """Names of files are bytes, which need not be UTF-8."""
    name = os.fsdecode(b"\xff.mlir")
    (tmp_path / name).write_bytes(STORE)
    outcome = run("compile", name, "-o", name + ".ptx", cwd=tmp_path)
    assert (outcome.code, outcome.words) == (0, "")
    (tmp_path / name).write_text(programs.MALFORMED)
    outcome = run("compile", name, cwd=tmp_path)
    assert outcome.code == 1
    assert ":2:23: error: " in outcome.words


@pytest.mark.parametrize("depth", [1_000, 100_000, 1_000_000])
def test_deep_nesting(depth: int) -> None:
    """However deep a program nests, it is an error, not the end of the process."""
    text = "module attributes {a = " + "[" * depth + "]" * depth + "} {}\n"
    outcome = run("compile", "-", stdin=text.encode())
    assert outcome.code in (1, 70)
    assert "error: " in outcome.words


def test_deep_control_flow() -> None:
    depth = 500
    store = "memref.store %one, %a[%i] : memref<32xf32>"
    nested = "scf.if %c {\n" * depth + store + "}\n" * depth
    text = programs.STORE.replace(store, nested).replace("%i: index", "%i: index, %c: i1")
    outcome = call("compile", "-", stdin=text.encode())
    assert (outcome.code, outcome.words) == (0, "")
    assert "st.global" in outcome.text


def test_long_lines() -> None:
    long = "x" * (4 * MIB)
    text = f'module attributes {{a = "{long}"}} {{ foo }}\n'
    outcome = call("compile", "-", stdin=text.encode())
    assert outcome.code == 1
    assert f"<stdin>:1:{text.index('foo') + 1}: error: custom op 'foo' is unknown" in outcome.words


def test_input_from_a_pipe_in_the_file_system(tmp_path: Path, ptx: bytes) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = threading.Thread(target=lambda: pipe.write_bytes(STORE))
    writer.start()
    outcome = call("compile", pipe)
    writer.join()
    assert (outcome.code, outcome.data) == (0, ptx)


# --- output ---------------------------------------------------------------------------------------


def test_new_file(folder: Path, ptx: bytes) -> None:
    file = folder / "out.ptx"
    outcome = run("compile", "-", "-o", file, stdin=STORE, before="import os; os.umask(0o027)")
    assert (outcome.code, outcome.data, outcome.words) == (0, b"", "")
    assert file.read_bytes() == ptx
    assert stat.S_IMODE(file.stat().st_mode) == 0o640
    assert list(folder.iterdir()) == [file]


def test_existing_file_is_replaced(folder: Path, ptx: bytes) -> None:
    file = folder / "out.ptx"
    file.write_text("old" * 10000)
    file.chmod(0o604)
    assert call("compile", "-", "-o", file, stdin=STORE).code == 0
    assert file.read_bytes() == ptx
    assert stat.S_IMODE(file.stat().st_mode) == 0o604
    assert list(folder.iterdir()) == [file]


def test_output_over_the_input(program: Path, ptx: bytes) -> None:
    assert call("compile", program, "-o", program).code == 0
    assert program.read_bytes() == ptx


@pytest.mark.parametrize("name", ["x" * 255, "größe 日本", "-", " "])
def test_output_of_any_name(folder: Path, ptx: bytes, name: str) -> None:
    """Every name that the file system takes, the longest too."""
    outcome = call("compile", "-", "-o", f"./{name}", stdin=STORE, cwd=folder)
    assert (outcome.code, outcome.data, outcome.words) == (0, b"", "")
    assert (folder / name).read_bytes() == ptx


@pytest.mark.parametrize(
    ("text", "options", "code"),
    [
        (programs.MALFORMED, (), 1),
        (programs.WITHOUT_KERNEL, (), 1),
        (programs.CRASHING, (), 70),
        (programs.STORE, ("--chip", "sm_1"), 2),
        (programs.STORE, ("--schedule", "missing.mlir"), 2),
        (programs.STORE, ("--save-temps", "/dev/null"), 2),
        (programs.STORE, ("--emit", "bundle", "--chip", "sm_80,sm_1"), 2),
    ],
)
def test_failure_keeps_what_was_there(
    folder: Path, text: str, options: tuple[str, ...], code: int
) -> None:
    old, new = folder / "old.ptx", folder / "new.ptx"
    old.write_text("old")
    for file in (old, new):
        variables = {"TMPDIR": str(folder.parent)}
        outcome = run(
            *("compile", "-", "-o", str(file), *options), stdin=text.encode(), variables=variables
        )
        assert (outcome.code, outcome.data) == (code, b"")
    assert old.read_text() == "old"
    assert list(folder.iterdir()) == [old]


@pytest.mark.parametrize("is_there", [True, False])
def test_disk_that_is_full_halfway(folder: Path, is_there: bool) -> None:
    file = folder / "out.ptx"
    if is_there:
        file.write_text("old")
    outcome = run("compile", "-", "-o", file, stdin=STORE, before=LIMIT_FILES)
    assert outcome.code == 2
    assert outcome.words == f"{file}: error: cannot be written: File too large\n"
    assert [entry.read_text() for entry in folder.iterdir()] == ["old"] * is_there


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        (".", "Is a directory"),
        ("missing/out.ptx", "No such file or directory"),
        ("file/out.ptx", "Not a directory"),
        ("loop", "Too many levels of symbolic links"),
        ("x" * 256, "File name too long"),
        ("/dev/full", "No space left on device"),
        ("/proc/out.ptx", "No such file or directory"),
    ],
)
def test_file_that_cannot_be_written(folder: Path, name: str, reason: str) -> None:
    (folder / "file").write_text("old")
    (folder / "loop").symlink_to("loop")
    outcome = call("compile", "-", "-o", name, stdin=STORE, cwd=folder)
    assert (outcome.code, outcome.data) == (2, b"")
    assert outcome.words == f"{name}: error: cannot be written: {reason}\n"
    assert {entry.name for entry in folder.iterdir()} == {"file", "loop"}
    assert (folder / "file").read_text() == "old"


def test_folder_that_may_not_be_written(folder: Path) -> None:
    file = folder / "out.ptx"
    folder.chmod(0o555)
    outcome = run("compile", "-", "-o", file, stdin=STORE, before=OBEY_PERMISSIONS)
    folder.chmod(0o755)
    assert outcome.code == 2
    assert outcome.words == f"{file}: error: cannot be written: Permission denied\n"
    assert list(folder.iterdir()) == []


def test_file_that_may_not_be_written(folder: Path) -> None:
    file = folder / "out.ptx"
    file.write_text("old")
    file.chmod(0o444)
    outcome = run("compile", "-", "-o", file, stdin=STORE, before=OBEY_PERMISSIONS)
    assert outcome.code == 2
    assert outcome.words == f"{file}: error: cannot be written: Permission denied\n"
    assert file.read_text() == "old"
    assert list(folder.iterdir()) == [file]


@pytest.mark.parametrize("is_there", [True, False])
def test_link(folder: Path, ptx: bytes, is_there: bool) -> None:
    """The file that a link names is written; the link stays."""
    (folder / "other").mkdir()
    file, link = folder / "other" / "real.ptx", folder / "link.ptx"
    if is_there:
        file.write_text("old")
    link.symlink_to("other/real.ptx")
    outcome = call("compile", "-", "-o", link, stdin=STORE)
    assert (outcome.code, outcome.words) == (0, "")
    assert link.is_symlink()
    assert file.read_bytes() == ptx
    assert list((folder / "other").iterdir()) == [file]


def test_null_device() -> None:
    outcome = call("compile", "-", "-o", "/dev/null", stdin=STORE)
    assert (outcome.code, outcome.data, outcome.words) == (0, b"", "")
    assert stat.S_ISCHR(Path("/dev/null").stat().st_mode)


@pytest.mark.parametrize("name", ["/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"])
def test_names_of_the_standard_output(ptx: bytes, name: str) -> None:
    """They are links to what no path names; shells make them for `>(...)`."""
    outcome = run("compile", "-", "-o", name, stdin=STORE)
    assert (outcome.code, outcome.words) == (0, "")
    assert outcome.data == ptx


def test_output_to_a_pipe_in_the_file_system(tmp_path: Path, ptx: bytes) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    process = subprocess.Popen(
        [*COMMAND, "compile", "-", "-o", str(pipe)], stdin=subprocess.PIPE, env=environment()
    )
    assert process.stdin is not None
    process.stdin.write(STORE)
    process.stdin.close()
    assert pipe.read_bytes() == ptx
    assert process.wait(60) == 0
    assert pipe.is_fifo()


def test_writers_at_the_same_time(folder: Path) -> None:
    """Each writes its own file and renames it: in the end stands one result, and it is whole."""
    chips = ("sm_75", "sm_80", "sm_90", "sm_120")
    file = folder / "out.ptx"
    processes = [
        subprocess.Popen(
            [sys.executable, "-m", "pipeline", "compile", "-", "-o", str(file), "--chip", chip],
            stdin=subprocess.PIPE,
            env=environment(),
        )
        for chip in chips
    ]
    for process in processes:
        process.communicate(STORE)
    results = {chip: call("compile", "-", "--chip", chip, stdin=STORE).data for chip in chips}
    assert file.read_bytes() in results.values()
    assert list(folder.iterdir()) == [file]
