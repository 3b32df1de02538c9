"""What errors of the driver mean for whoever called a program, and what to do."""

from __future__ import annotations

_LATE = "by this kernel or one launched before it"
_LOST = "the process cannot use the GPU any more and has to be started again"
_CAPTURE = "a CUDA graph is being captured"

_HINTS = {
    2: "the GPU's memory is exhausted: free arrays (torch.cuda.empty_cache() gives back what "
    "PyTorch keeps), or use smaller ones",
    200: "the code is damaged, or of a newer version than the driver reads",
    201: "something belongs to another context than that of its device",
    209: "the code is for another chip: compile with --chip for this one",
    218: "the driver does not accept the PTX",
    222: "the PTX is newer than the driver: update the driver; python -m pipeline doctor tells "
    "what it reads",
    400: "a stream, event or kernel is closed, or belongs to another device",
    700: f"memory was accessed that is no argument's, {_LATE}: run with backend='emulator' and "
    f"check='all' to find where; {_LOST}",
    702: f"a kernel took too long, {_LATE}: the GPU also drives a screen; {_LOST}",
    710: f"an assertion failed, {_LATE}; {_LOST}",
    715: f"an instruction was illegal, {_LATE}; {_LOST}",
    716: f"an address was not aligned, {_LATE}: run with backend='emulator' and check='all' to "
    f"find where; {_LOST}",
    717: f"memory was accessed in the wrong space, {_LATE}; {_LOST}",
    718: f"a jump left the code, {_LATE}; {_LOST}",
    719: f"it was stopped, {_LATE}: run with backend='emulator' and check='all'; {_LOST}",
    900: f"{_CAPTURE}, and this call cannot be part of one: make the same call once before",
    901: f"{_CAPTURE}, and something before this call ended that",
    906: f"{_CAPTURE} on another stream, which the default stream would wait for: call on the "
    "stream that is captured",
    912: "the device cannot have that many blocks in a cluster",
}


def explain_failure(code: int) -> str:
    """Return what an error means and what to do; empty if its name says all."""
    return _HINTS.get(code, "")
