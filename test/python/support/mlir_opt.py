"""Passes by mlir-opt, with the plugin in it."""

from __future__ import annotations

import subprocess

import pipeline
from pipeline.system.toolchain import find_mlir_opt


def run_opt(text: str, passes: str) -> str:
    """Return what passes on the module make of a program."""
    command = [
        str(find_mlir_opt()),
        f"--load-pass-plugin={pipeline.plugin_path()}",
        f"--load-dialect-plugin={pipeline.plugin_path()}",
        f"--pass-pipeline=builtin.module({passes})",
    ]
    result = subprocess.run(command, input=text, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr
    return result.stdout
