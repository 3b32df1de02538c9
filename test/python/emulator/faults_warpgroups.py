"""Kernels that use warpgroups and clusters wrongly."""

from __future__ import annotations

import re

import numpy as np

from corpus.kernels_cluster import BODIES, cluster_text
from corpus.kernels_wgmma import Operand, Product, product_case
from emulator.faults import Fault, kernel, numbers
from pipeline import KernelFaultError, RaceError, SynchronizationError
from pipeline.errors import CheckError

_PRODUCT = product_case(Product(Operand("f16"), Operand("f16"), "f32", 8, steps=1, reads_d=False))
_WAIT = "    nvvm.wgmma.wait.group.sync.aligned 0\n"
_MEET = "    nvvm.cluster.arrive {aligned}\n    nvvm.cluster.wait {aligned}\n"


def product_fault(name: str, pattern: str, replacement: str, error: type[CheckError]) -> Fault:
    """Return a product of one warpgroup with an edit."""
    text, count = re.subn(pattern, replacement, _PRODUCT.text, count=1)
    assert count == 1
    return Fault(
        name,
        text.replace("@multiply", "@k"),
        lambda: _PRODUCT.make(np.random.default_rng(1)),
        error,
        block=(128, 1, 1),
        chip="sm_90a",
    )


def cluster_fault(name: str, text: str, error: type[CheckError]) -> Fault:
    """Return a kernel of clusters of two blocks."""
    return Fault(
        name,
        cluster_text(text, (2, 1, 1)),
        lambda: [numbers(2, 64), numbers(2, 64)],
        error,
        grid=(2, 1, 1),
        chip="sm_90a",
    )


_LOAD = BODIES["load"][0]
FAULTS = (
    product_fault("async.not-waited: a wgmma", _WAIT, "", RaceError),
    product_fault("async.register-fence", r"    nvvm\.wgmma\.fence\.aligned\n", "", RaceError),
    product_fault(
        "matrix-descriptor",
        r"%ha0 = arith\.constant (\d+)",
        f"%ha0 = arith.constant {1 << 62 | 64 << 32 | 1 << 16 | 1 << 49}",
        KernelFaultError,
    ),
    product_fault(
        "divergence: a warpgroup",
        rf"({_WAIT})",
        "\\1    %few = arith.constant 96 : index\n"
        "    %is_one = arith.cmpi ult, %tx, %few : index\n"
        "    scf.if %is_one {\n      nvvm.wgmma.fence.aligned\n    }\n",
        SynchronizationError,
    ),
    Fault(
        "registers",
        kernel("%a: memref<8xi32>", "    nvvm.setmaxregister increase 40\n"),
        lambda: [numbers(8)],
        SynchronizationError,
        block=(128, 1, 1),
        chip="sm_90a",
    ),
    Fault(
        "deadlock: of registers",
        kernel("%a: memref<8xi32>", "    nvvm.setmaxregister increase 208\n"),
        lambda: [numbers(8)],
        SynchronizationError,
        block=(384, 1, 1),
        chip="sm_90a",
    ),
    cluster_fault(
        "race.shared: of a cluster",
        _LOAD.replace("arrive {aligned}", "arrive.relaxed {aligned}", 1),
        RaceError,
    ),
    cluster_fault("exited-block", "".join(_LOAD.rsplit(_MEET, 1)), SynchronizationError),
    cluster_fault(
        "invalid-barrier: of a cluster",
        _LOAD.replace("    nvvm.cluster.arrive {aligned}\n", "", 1),
        SynchronizationError,
    ),
)
