"""The set-up of tools/: what it says when it cannot do its work."""

from __future__ import annotations

import importlib.util
import itertools
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

TOOLS = Path(__file__).resolve().parents[3] / "tools"


@pytest.fixture
def environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> ModuleType:
    """Load tools/setup/environment.py afresh, with its state in a folder of the test."""
    spec = importlib.util.spec_from_file_location(
        "environment_under_test", TOOLS / "setup" / "environment.py"
    )
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, spec.name, module)  # dataclasses look there
    spec.loader.exec_module(module)
    for name, value in {
        "ROOT": tmp_path,
        "USER": module.Venv(tmp_path / ".venv"),
        "DEVELOPER": module.Venv(tmp_path / ".venv-dev"),
        "LOG": tmp_path / "build" / "setup.log",
        "WHEELS": tmp_path / "build" / "wheels",
    }.items():
        setattr(module, name, value)
    return module


def lack(monkeypatch: pytest.MonkeyPatch, environment: ModuleType, *packages: str) -> None:
    monkeypatch.setattr(environment, "_missing_packages", lambda: list(packages))
    monkeypatch.setenv("CLANG", "one")


def test_nothing_is_done_if_nothing_is_missing(
    monkeypatch: pytest.MonkeyPatch, environment: ModuleType
) -> None:
    lack(monkeypatch, environment)
    monkeypatch.setattr(environment, "run", lambda *_, **__: pytest.fail("nothing to run"))
    environment.ensure_system()


def test_other_distribution(monkeypatch: pytest.MonkeyPatch, environment: ModuleType) -> None:
    lack(monkeypatch, environment, "libmlir-22-dev")
    monkeypatch.setattr(environment, "_distribution", lambda: ("fedora-43", "Fedora Linux 43"))
    with pytest.raises(environment.SetupError, match=r"Fedora Linux 43.*libmlir-22-dev") as caught:
        environment.ensure_system()
    assert "install LLVM and MLIR 22.1" in str(caught.value)


def test_without_root(monkeypatch: pytest.MonkeyPatch, environment: ModuleType) -> None:
    lack(monkeypatch, environment, "libmlir-22-dev", "g++")
    monkeypatch.setattr(environment, "_distribution", lambda: ("debian-12", "Debian 12"))
    monkeypatch.setattr(environment.shutil, "which", lambda _: "found")
    monkeypatch.setattr(environment.os, "geteuid", lambda: 1000)
    command = r"sudo apt-get .*install --no-install-recommends libmlir-22-dev g\+\+"
    with pytest.raises(environment.SetupError, match=command):
        environment.ensure_system()


@pytest.fixture
def no_clang(monkeypatch: pytest.MonkeyPatch, environment: ModuleType) -> list[list[str]]:
    """Nothing but clang is missing; return the commands that are run."""
    commands: list[list[str]] = []
    lack(monkeypatch, environment)
    monkeypatch.delenv("CLANG")
    monkeypatch.setattr(environment, "run", lambda command, *_, **__: commands.append(command))
    programs = {"apt-get": "found", "llvm-config-22": "found"}
    monkeypatch.setattr(environment.shutil, "which", programs.get)
    monkeypatch.setattr(environment, "_has_mlir", lambda: True)
    monkeypatch.setattr(environment, "_check_disk", lambda _: None)
    monkeypatch.setattr(environment.os, "geteuid", lambda: 0)
    monkeypatch.setattr(environment, "_distribution", lambda: ("debian-12", "Debian 12"))
    return commands


def test_clang_is_for_tests(environment: ModuleType, no_clang: list[list[str]]) -> None:
    environment.ensure_system()
    assert no_clang == []
    environment.ensure_system(with_clang=True)
    update, install = no_clang
    assert update[-1] == "update"
    assert install[-2:] == ["install", "clang-22"]


def test_programs_of_a_tool_are_installed(
    monkeypatch: pytest.MonkeyPatch, environment: ModuleType, no_clang: list[list[str]]
) -> None:
    environment.ensure_system(programs=("apt-get",))
    assert no_clang == []
    environment.ensure_system(programs=("valgrind",))
    assert no_clang[1][-2:] == ["install", "valgrind"]
    monkeypatch.setattr(environment.os, "geteuid", lambda: 1000)
    with pytest.raises(environment.SetupError, match=r"apt-get install .* valgrind"):
        environment.ensure_system(programs=("valgrind",))


def test_clang_that_is_named_is_taken(
    monkeypatch: pytest.MonkeyPatch, environment: ModuleType, no_clang: list[list[str]]
) -> None:
    monkeypatch.setenv("CLANG", "clang-20")
    environment.ensure_system(with_clang=True)
    assert no_clang == []


def test_elsewhere_tests_of_cuda_are_skipped(
    monkeypatch: pytest.MonkeyPatch,
    environment: ModuleType,
    no_clang: list[list[str]],
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(environment, "_distribution", lambda: ("fedora-43", "Fedora Linux 43"))
    environment.ensure_system(with_clang=True)
    assert no_clang == []
    assert "clang-22 is not installed: tests of CUDA C++ are skipped" in capsys.readouterr().out


def test_full_disk(monkeypatch: pytest.MonkeyPatch, environment: ModuleType) -> None:
    usage = (10**12, 10**12 - 10**9, 10**9)
    fake = environment.shutil._ntuple_diskusage(*usage)
    monkeypatch.setattr(environment.shutil, "disk_usage", lambda _: fake)
    with pytest.raises(environment.SetupError, match=r"1\.0 GB are free in .*; about 4 GB"):
        environment._check_disk(Path("/usr"))


@pytest.mark.parametrize(
    ("output", "cause"),
    [
        ("E: Write error - write (28: No space left on device)", "the disk is full"),
        ("Temporary failure resolving 'deb.example'", "there is no network, or no name server"),
        ("E: Unable to locate package libmlir-22-dev", "this distribution does not have LLVM 22"),
        ("E: Could not get lock /var/lib/dpkg/lock", "another apt-get is running; wait for it"),
    ],
)
def test_causes_in_plain_words(environment: ModuleType, output: str, cause: str) -> None:
    command = [sys.executable, "-c", f"print({output!r}); raise SystemExit(100)"]
    with pytest.raises(environment.SetupError) as caught:
        environment.run(command, "apt-get install failed")
    assert str(caught.value).startswith(f"apt-get install failed: {cause}\n    ")
    assert output in str(caught.value)
    assert output in environment.LOG.read_text()


def test_progress_is_shown(
    monkeypatch: pytest.MonkeyPatch,
    environment: ModuleType,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(environment, "PROGRESS_SECONDS", 0.2)
    code = "import time; print('step 3 of 7', flush=True); time.sleep(1)"
    environment.run([sys.executable, "-c", code], "failed")
    assert "step 3 of 7" in capsys.readouterr().out


class FakeCommands:
    """Stands in for `environment.run`: writes what the commands would, and keeps their words."""

    def __init__(self) -> None:
        self.builds: list[list[str]] = []
        self.installs: list[list[str]] = []
        self.repairs: list[list[str]] = []
        self.targets: list[list[str]] = []

    def __call__(self, command: list[str], *_: str, **__: str) -> None:
        if command[1:3] == ["-m", "venv"]:
            python = Path(command[3]) / "bin" / "python"
            python.parent.mkdir(parents=True)
            python.touch()
            (python.parents[1] / "lib" / "python3" / "site-packages").mkdir(parents=True)
        elif "--build" in command:
            self.targets.append(command)
        elif "repair" in command:
            folder = Path(command[command.index("--wheel-dir") + 1])
            (folder / "mlir_workgroup-1-manylinux.whl").touch()
            self.repairs.append(command)
        elif "wheel" in command:
            folder = Path(command[command.index("--wheel-dir") + 1])
            folder.mkdir(parents=True)
            (folder / "mlir_workgroup-1-py3-none-any.whl").touch()
            self.builds.append(command)
        elif "install" in command:
            self.installs.append(command)


@pytest.fixture
def commands(monkeypatch: pytest.MonkeyPatch, environment: ModuleType) -> FakeCommands:
    lack(monkeypatch, environment)
    project = Path(TOOLS.parent, "pyproject.toml").read_text(encoding="utf-8")
    (environment.ROOT / "pyproject.toml").write_text(project, encoding="utf-8")
    (environment.ROOT / "lib").mkdir()
    (environment.ROOT / "lib" / "Pass.cpp").write_text("int f();")
    fake = FakeCommands()
    monkeypatch.setattr(environment, "run", fake)
    return fake


def test_package_is_built_once_for_both(environment: ModuleType, commands: FakeCommands) -> None:
    for _ in range(2):
        environment.prepare_user()
        environment.prepare_developer("test")
    assert len(commands.builds) == 1
    wheels = [words for words in commands.installs if words[-1].endswith(".whl[explain,ptxas]")]
    assert [Path(words[0]).parts[-3] for words in wheels] == [".venv", ".venv-dev"]
    (environment.ROOT / "lib" / "Pass.cpp").write_text("int g();")
    environment.prepare_user()
    assert len(commands.builds) == 2


def test_extension_of_tests_is_for_developers(
    environment: ModuleType, commands: FakeCommands
) -> None:
    """It is built where the package was built, and found by a path."""
    environment.prepare_user()
    environment.prepare_developer("wheel")
    assert commands.targets == []
    environment.prepare_developer("test")
    tree = environment.ROOT / "build" / "py3-none-any"
    [words] = commands.targets
    assert words[1:] == ["--build", str(tree), "--target", "_native_test", "_native_test_stub"]
    [path] = environment.DEVELOPER.folder.rglob("*.pth")
    assert path.read_text() == f"{tree / 'test' / 'native'}\n"
    assert not list(environment.USER.folder.rglob("*.pth"))


def test_user_gets_what_the_package_declares(
    environment: ModuleType, commands: FakeCommands
) -> None:
    """Pip is left to find out what the package needs, and is told of nothing else."""
    environment.prepare_user()
    user = str(environment.USER.python)
    [words] = [words for words in commands.installs if words[0] == user]
    assert words[1:-1] == ["-m", "pip", "install"]


def test_wheel_is_made_of_the_one_that_was_built(
    environment: ModuleType, commands: FakeCommands, tmp_path: Path
) -> None:
    environment.prepare_user()
    wheel = environment.prepare_wheel(tmp_path / "dist")
    assert [wheel] == list((tmp_path / "dist").iterdir())
    assert len(commands.builds) == 1
    [repair] = commands.repairs
    assert Path(repair[-1]).parent.parent == environment.WHEELS
    excluded = [word for option, word in itertools.pairwise(repair) if option == "--exclude"]
    assert excluded == ["libMLIR.so.*", "libLLVM.so.*"]


def test_environment_that_holds_more_is_made_anew(
    environment: ModuleType, commands: FakeCommands
) -> None:
    """As it was when one environment was for users and developers."""
    environment.USER.folder.mkdir()
    (environment.USER.folder / "mlir-workgroup.json").write_text('{"requirements": ["pytest"]}')
    (environment.USER.folder / "pytest.py").touch()
    environment.prepare_user()
    assert not (environment.USER.folder / "pytest.py").exists()
    assert environment.USER.python.exists()


def test_failed_installation_is_tried_again(
    monkeypatch: pytest.MonkeyPatch, environment: ModuleType, commands: FakeCommands
) -> None:
    def fail(command: list[str], *words: str, **variables: str) -> None:
        if command[-1].endswith("ptxas]"):
            raise environment.SetupError("there is no network")
        commands(command, *words, **variables)

    monkeypatch.setattr(environment, "run", fail)
    with pytest.raises(SystemExit, match="there is no network"):
        environment.prepare_user()
    monkeypatch.setattr(environment, "run", commands)
    environment.prepare_user()
    assert len(commands.builds) == 1
    assert commands.installs[-1][-1].endswith("ptxas]")


def test_plain_error_and_exit_code(
    monkeypatch: pytest.MonkeyPatch, environment: ModuleType
) -> None:
    def fail(**_: bool) -> None:
        raise environment.SetupError("there is no g++")

    monkeypatch.setattr(environment, "ensure_system", fail)
    with pytest.raises(SystemExit, match="error: there is no g"):
        environment.prepare_user()


@pytest.mark.parametrize("command", ["demo", "test", "bench"])
def test_old_python(command: str) -> None:
    """Checked before anything is imported that an older Python does not have."""
    text = (TOOLS / command).read_text()
    check = text[: text.index("from setup import")].replace("sys.version_info", "(3, 9)")
    result = subprocess.run(
        [sys.executable, "-c", check], capture_output=True, text=True, check=False
    )
    assert result.returncode == 1
    assert result.stderr.startswith("error: Python 3.11 or newer is needed")
