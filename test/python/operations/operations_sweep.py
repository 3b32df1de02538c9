"""Every operation of the dialects gpu, nvgpu and nvvm that can be built, as snippets."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

from operations import matrix_operations, warp_matrices
from operations.operation_snippets import Snippet, read_snippets

FOLDER = Path(__file__).parent

SREGS = {
    "all": "laneid warpsize warpid nwarpid smid nsmid gridid lanemask.eq lanemask.le lanemask.lt "
    "lanemask.ge lanemask.gt tid.x tid.y tid.z ntid.x ntid.y ntid.z ctaid.x ctaid.y ctaid.z "
    "nctaid.x nctaid.y nctaid.z total.smem.size dynamic.smem.size clock globaltimer.lo "
    + " ".join(f"envreg{i}" for i in range(32)),
    "sm_90+": "clusterid.x clusterid.y clusterid.z nclusterid.x nclusterid.y nclusterid.z "
    "cluster.ctaid.x cluster.ctaid.y cluster.ctaid.z cluster.nctaid.x cluster.nctaid.y "
    "cluster.nctaid.z cluster.ctarank cluster.nctarank aggr.smem.size",
}

# Operations that stand in no kernel, or that every snippet has.
OUTSIDE = {
    "gpu.binary": "the result of a compilation",
    "gpu.launch": "of the host: the rest of the suite",
    "gpu.launch_func": "of the host: the rest of the suite",
    "gpu.terminator": "the end of a gpu.launch",
    "gpu.module": "around each snippet",
    "gpu.func": "around each snippet",
    "gpu.return": "in each snippet",
    "gpu.yield": "the end of regions of other operations",
}
# Calls of NVIDIA's library of sparse matrices, made on the host.
SPARSE = (
    "create_2to4_spmat create_bsr create_coo create_coo_aos create_csc create_csr "
    "create_dn_tensor destroy_dn_tensor destroy_sp_mat sddmm sddmm_buffer_size set_csr_pointers "
    "spgemm_copy spgemm_create_descr spgemm_destroy_descr spgemm_work_estimation_or_compute "
    "spmat_get_size spmm spmm_buffer_size spmv spmv_buffer_size"
)
OUTSIDE |= {f"gpu.{name}": "of the host" for name in SPARSE.split()}


def make_registers() -> Iterator[Snippet]:
    for chips, names in SREGS.items():
        for name in names.split():
            yield Snippet(f"%r = nvvm.read.ptx.sreg.{name} : i32", chips)
    for name in ["clock64", "globaltimer"]:
        yield Snippet(f"%r = nvvm.read.ptx.sreg.{name} : i64", "all")


def make_snippets() -> list[Snippet]:
    files = [read_snippets(FOLDER / f"{name}.mlir") for name in ("gpu", "nvgpu", "nvvm")]
    return [
        *(snippet for snippets in files for snippet in snippets),
        *make_registers(),
        *matrix_operations.make_snippets(),
        *warp_matrices.make_snippets(),
    ]


def find_headers() -> Path | None:
    """The headers of the LLVM that is built against, where it is installed."""
    program = shutil.which("llvm-config-22")
    if program is None:
        return None
    result = subprocess.run([program, "--includedir"], capture_output=True, text=True, check=True)
    return Path(result.stdout.strip())
