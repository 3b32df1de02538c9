"""Configuration of the lit suite: which tools it uses and where the plugin is.

Environment: WORKGROUP_PLUGIN (default: the installed package's), WORKGROUP_FILECHECK=python for
the `filecheck` of PyPI instead of LLVM's or =both, WORKGROUP_PRELOAD for libraries that a sanitized
plugin needs.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import lit.formats

config.name = "mlir-workgroup"
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".mlir", ".test"]
config.excludes = ["Inputs", "oracles", "python"]
config.test_source_root = str(Path(__file__).parent)
config.test_exec_root = str(Path(__file__).parent.parent / "build" / "lit")


def find_tool(*names):
    """Return the first of `names` that LLVM 22 or PATH has."""
    folders = [os.environ["PATH"]]
    if llvm_config := shutil.which("llvm-config-22"):
        folders.insert(0, subprocess.check_output([llvm_config, "--bindir"], text=True).strip())
    folders.append(str(Path(sys.executable).parent))
    path = os.pathsep.join(folders)
    found = next(filter(None, (shutil.which(name, path=path) for name in names)), None)
    return found or lit_config.fatal(f"none of {', '.join(names)} was found")


plugin = (
    os.environ.get("WORKGROUP_PLUGIN")
    or subprocess.check_output([sys.executable, "-m", "pipeline", "plugin-path"], text=True).strip()
)
kind = os.environ.get("WORKGROUP_FILECHECK")
filecheck = find_tool("filecheck") if kind == "python" else find_tool("FileCheck-22", "FileCheck")
if kind == "both":
    filecheck = f"{sys.executable} {config.test_source_root}/filechecks.py {filecheck}"
mlir_opt = find_tool("mlir-opt-22", "mlir-opt")
mlir_opt += f" --load-pass-plugin={plugin} --load-dialect-plugin={plugin}"
if preload := os.environ.get("WORKGROUP_PRELOAD"):
    mlir_opt = f"env LD_PRELOAD={preload} ASAN_OPTIONS=detect_leaks=0 {mlir_opt}"
else:
    config.available_features.add("package")

config.substitutions += [
    (r"\bmlir-opt\b", mlir_opt),
    (r"\bFileCheck\b", f"{filecheck} --enable-var-scope"),
    (r"\bnot\b", find_tool("not-22", "not")),
    ("%pipeline", f"{sys.executable} -m pipeline"),
    ("%python", sys.executable),
]
try:
    subprocess.run(
        [sys.executable, "-c", "from pipeline.system.toolchain import find_ptxas; find_ptxas()"],
        check=True,
        capture_output=True,
    )
    config.available_features.add("ptxas")
except subprocess.CalledProcessError:
    lit_config.note("ptxas was not found: tests that assemble PTX are skipped")
for variable in ("CUDA_HOME", "LD_LIBRARY_PATH", "PYTHONPATH"):
    if value := os.environ.get(variable):
        config.environment[variable] = value
