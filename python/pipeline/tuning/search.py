"""``pipeline.tune``: better tiles for the kernels of a program than those chosen by rule."""

from __future__ import annotations

import contextlib
import hashlib
import json
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, Executor, Future, wait
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from .. import __version__
from ..compiling.compiler import Chooser, compile_natively, make_request
from ..compiling.tuned import load_tuned
from ..errors import ToolError, UsageError
from ..schedules.structure import spell
from ..schedules.tuned import Score, TunedTile, TunedTiles, make_key, write_tile
from ..schedules.variants import list_variants
from ..system.assembler import find_version
from ..system.files import write_file
from .executors import LOCAL, open_executor
from .journal import Journal
from .task import Outcome, Task
from .tasks import find_chip, measure, verify

if TYPE_CHECKING:
    from ..compiling.request import Numerics
    from ..schedules.kernel import Kernel
    from ..schedules.target import Target
    from ..schedules.tile import Tile

    Work = Callable[[Task], Outcome]

Backend = Literal["auto", "static", "cuda"]

CANDIDATES = 24
"""Of a kernel, that are tried if nothing is said, the default included."""


class TileTrial(NamedTuple):
    """What came of a candidate of a kernel.

    ``outcome``: ``measured``, ``refused``, ``undecided`` (the proof is not sure of it) or
    ``failed``, of which ``message`` says why. ``cost``: in the unit of its search; None if it was
    not measured. ``check``: whether it is ``right``, once that was asked.
    """

    tile: Tile
    outcome: str
    message: str
    cost: int | None
    default_cost: int | None
    check: str
    check_message: str


@dataclass(frozen=True)
class TunedKernel:
    """What a search came to for a kernel: its trials, and the best one that is right.

    ``best`` is None if nothing could be measured and verified. The first trial is the default.
    """

    name: str
    structure: str
    unit: str
    trials: tuple[TileTrial, ...]
    best: TunedTile | None

    @property
    def speedup(self) -> float | None:
        """How many times as fast the best is as the default, by its costs."""
        if self.best is None:
            return None
        return self.best.score.default_cost / max(self.best.score.cost, 1)


@dataclass(frozen=True)
class Tuning:
    """What a search came to. ``is_finished``: nothing that it wanted to try is left."""

    chip: str
    kernels: tuple[TunedKernel, ...]
    tiles: TunedTiles
    is_finished: bool

    def save(self, path: str | Path) -> None:
        """Write the tiles to a file, in the places of those that it has for the same kernels."""
        known = load_tuned(path) if Path(path).exists() else TunedTiles()
        write_file(path, known.updated(self.tiles.entries).write(_name_producer()))


def tune(
    source: str | Path,
    *,
    output: str | Path | None = None,
    chip: str | None = None,
    numerics: Numerics = "exact",
    memory_options: str = "",
    arguments: Sequence[Any] = (),
    executor: str | Executor = LOCAL,
    workers: int = 0,
    candidates: int = CANDIDATES,
    budget: float | None = None,
    backend: Backend = "auto",
    seed: int = 0,
    progress: bool = False,
) -> Tuning:
    """Search for the tiles with which the kernels of a program are fastest.

    source, chip, numerics, memory_options: as for :func:`pipeline.compile`.
    output: the file for the tiles, which :func:`pipeline.compile` takes as ``tuned``. Beside it,
        in ``OUTPUT.trials``, is kept what was tried: a search that is started again goes on there.
    arguments: what the program runs on, one value for each of its host function's. Default: random
        values, where shapes tell how many; results are compared on a smaller instance then.
    executor: ``local`` (processes of this machine), ``dask://HOST:PORT``, ``ray://HOST:PORT``, or
        any :class:`concurrent.futures.Executor`, whose workers have this package.
    workers: processes of ``local``; 0 is one per core.
    candidates: of each kernel, that are tried, the default included.
    budget: seconds after which nothing more is begun.
    backend: ``cuda`` times candidates on the GPU of the workers, which takes PyTorch; ``static``
        goes by a model of what is known without a GPU; ``auto`` is ``cuda`` if this machine can.
    progress: show a bar on standard error.

    Only what the proof calls SAFE, and what computes the same as the default, can win. Raises what
    :func:`pipeline.compile` raises for the program itself, and UsageError and ToolError.
    """
    search = _Search(
        source,
        {"chip": find_chip(chip), "numerics": numerics, "memory_options": memory_options},
        Limits(candidates, budget, seed),
        tuple(arguments),
        uses_gpu=_decide(backend),
        output=None if output is None else Path(output),
    )
    with open_executor(executor, workers) as pool, _Bar(progress) as bar:
        try:
            search.run(pool, bar)
        finally:
            search.save()
    return search.result()


class Limits(NamedTuple):
    """How much is tried: candidates of a kernel, seconds; and the seed of random values."""

    candidates: int
    budget: float | None
    seed: int


def _decide(backend: str) -> bool:
    from .on_gpu import find_torch

    if backend not in ("auto", "static", "cuda"):
        words = "must be auto, static or cuda"
        raise UsageError.of_option("backend", f"is '{backend}', but {words}")
    found = backend != "static" and find_torch() is not None
    if backend == "cuda" and not found:
        raise ToolError("error: candidates are timed by PyTorch, which is missing or sees no GPU")
    return found


@dataclass
class _Candidate:
    """A tile, and what is known of it."""

    task: Task
    tile: Tile
    measured: Outcome | None = None
    verified: Outcome | None = None

    @property
    def cost(self) -> float:
        """The cost beside that of the default in the same measurement, where there is one."""
        found = self.measured or {}
        if found.get("outcome") != "measured":
            return float("inf")
        return float(found["cost"]) / float(found.get("default_cost") or 1)


@dataclass
class _Subject:
    """A kernel that is searched for."""

    kernel: Kernel
    key: tuple[str, str, str]
    candidates: list[_Candidate] = field(default_factory=list)

    @property
    def ranked(self) -> list[_Candidate]:
        """Those that were measured, the best first; of equals the default."""
        known = [one for one in self.candidates if one.cost < float("inf")]
        return sorted(known, key=lambda one: one.cost)

    def find_best(self) -> _Candidate | None:
        """Return the best that is right, if all that are better are known not to be."""
        for one in self.ranked:
            if one.verified is None:
                return None
            if one.verified["outcome"] == "right":
                return one
        return None


class _Search:
    def __init__(
        self,
        source: str | Path,
        options: dict[str, str],
        limits: Limits,
        arguments: tuple[Any, ...],
        *,
        uses_gpu: bool,
        output: Path | None,
    ) -> None:
        if limits.candidates < 1:
            raise UsageError.of_option("candidates", "must be at least 1")
        if limits.budget is not None and not limits.budget >= 0:
            raise UsageError.of_option("budget", "must not be negative")
        given: dict[str, Any] = dict(options)
        _, request = make_request(source, **given)
        chooser = Chooser(options["chip"], given["numerics"], only=True)
        compile_natively(request, chooser)
        if not chooser.kernels:
            words = "error: there is nothing to tune: no schedule is chosen for this program"
            raise UsageError(words)
        self._target = chooser.target
        self._limits = limits
        self._uses_gpu = uses_gpu
        self._output = output
        self._deadline = None if limits.budget is None else time.monotonic() + limits.budget
        self._journal = Journal(output.with_name(f"{output.name}.trials")) if output else None
        if output and output.exists():
            load_tuned(output)  # what is there will be kept, so it has to be read
        base = Task(request.text, options, "", {}, arguments, limits.seed, uses_gpu)
        self._subjects = _list_subjects(chooser.kernels, chooser.target, base, limits.candidates)
        self._stamp = _make_stamp(request.text, options, arguments)
        self._is_over = False

    def run(self, pool: Executor, bar: _Bar) -> None:
        """Measure all candidates, then verify from the best on until one is right."""
        everything = [(s, one) for s in self._subjects for one in s.candidates]
        bar.begin(len(everything))
        for candidate, outcome in self._submit(pool, measure, [one for _, one in everything]):
            candidate.measured = outcome
            bar.step(self._describe_best())
        while wanted := [one for s in self._subjects if (one := _next_to_verify(s))]:
            bar.extend(len(wanted))
            done = 0
            for candidate, outcome in self._submit(pool, verify, wanted):
                candidate.verified = outcome
                done += 1
                bar.step(self._describe_best())
            if done < len(wanted):
                return

    def _submit(
        self, pool: Executor, work: Work, candidates: Iterable[_Candidate]
    ) -> Iterator[tuple[_Candidate, Outcome]]:
        """Yield what comes of work, as it comes; what is known already first."""
        pending: dict[Future[Outcome], _Candidate] = {}
        for candidate in candidates:
            if (known := self._find(work, candidate)) is not None:
                yield candidate, known
            elif not self._check_time():
                pending[pool.submit(work, candidate.task)] = candidate
        try:
            while pending:
                left = None if self._deadline is None else self._deadline - time.monotonic()
                done, _ = wait(pending, None if left is None else max(left, 0), FIRST_COMPLETED)
                if not done and self._check_time():
                    return
                for future in done:
                    candidate = pending.pop(future)
                    yield candidate, self._keep(work, candidate, _result_of(future))
        finally:
            for future in pending:
                future.cancel()

    def _check_time(self) -> bool:
        over = self._deadline is not None and time.monotonic() >= self._deadline
        self._is_over |= over
        return over

    def _find(self, work: Work, candidate: _Candidate) -> Outcome | None:
        return self._journal.find(self._key(work, candidate)) if self._journal else None

    def _keep(self, work: Work, candidate: _Candidate, outcome: Outcome) -> Outcome:
        if self._journal is None or outcome["outcome"] == "failed":
            return outcome
        record = {"kernel": candidate.task.kernel, "step": work.__name__, **outcome}
        record |= {"chip": self._target.chip, "tile": candidate.task.tile}
        return self._journal.add(self._key(work, candidate), record)

    def _key(self, work: Work, candidate: _Candidate) -> str:
        """Return what a result holds for: another program, version or way makes it another."""
        task = candidate.task
        way = "cuda" if self._uses_gpu else "static"
        parts = (self._stamp, work.__name__, way, task.kernel, json.dumps(task.tile))
        return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:32]

    def _describe_best(self) -> str:
        words = []
        for subject in self._subjects:
            default, ranked = subject.candidates[0], subject.ranked
            if ranked and default.cost < float("inf"):
                words.append(f"{default.cost / ranked[0].cost:.2f}x")
        return " ".join(words[:4])

    # --- results ----------------------------------------------------------------------------------

    def save(self) -> None:
        """Write the tiles that are known to be best."""
        made = self.result()
        if self._output is not None and made.tiles.entries:
            made.save(self._output)

    def result(self) -> Tuning:
        """Return what is known."""
        kernels = tuple(map(self._conclude, self._subjects))
        entries = tuple(one.best for one in kernels if one.best is not None)
        tiles = TunedTiles(entries, _name_producer())
        return Tuning(self._target.chip, kernels, tiles, not self._is_over)

    def _conclude(self, subject: _Subject) -> TunedKernel:
        unit = "nanoseconds" if self._uses_gpu else "cycles"
        best, found = subject.find_best(), None
        if best is not None and best.measured is not None:
            measured, default = best.measured, subject.candidates[0].measured or {}
            beside = measured.get("default_cost") or default.get("cost") or measured["cost"]
            score = Score(unit, measured["cost"], beside, measured.get("gpu", ""))
            found = TunedTile(*subject.key, best.tile, score)
        trials = tuple(map(_describe_trial, subject.candidates))
        return TunedKernel(subject.kernel.name, subject.key[0], unit, trials, found)


def _list_subjects(
    kernels: Sequence[Kernel], target: Target, base: Task, most: int
) -> list[_Subject]:
    """Return the kernels of a program, those of the same structure once."""
    subjects: dict[str, _Subject] = {}
    for kernel in kernels:
        if (structure := spell(kernel)) in subjects or kernel.kind == "fill":
            continue
        subject = subjects[structure] = _Subject(kernel, make_key(kernel, target))
        for tile in list_variants(kernel, target)[:most]:
            task = base._replace(kernel=kernel.name, tile=write_tile(tile))
            subject.candidates.append(_Candidate(task, tile))
    return list(subjects.values())


def _next_to_verify(subject: _Subject) -> _Candidate | None:
    """Return the best candidate that may win, if that is not known yet."""
    if subject.find_best() is not None:
        return None
    return next((one for one in subject.ranked if one.verified is None), None)


def _result_of(future: Future[Outcome]) -> Outcome:
    try:
        return future.result()
    except BrokenExecutor as error:
        raise ToolError(f"error: a worker has ended: {error}") from error
    except Exception as error:  # whatever a worker's libraries say, others go on
        return {"outcome": "failed", "message": f"{type(error).__name__}: {error}"[:400]}


def _describe_trial(candidate: _Candidate) -> TileTrial:
    measured, verified = candidate.measured or {}, candidate.verified or {}
    return TileTrial(
        candidate.tile,
        measured.get("outcome", "not tried"),
        measured.get("message", ""),
        measured.get("cost"),
        measured.get("default_cost"),
        verified.get("outcome", ""),
        str(verified.get("message") or verified.get("instance") or ""),
    )


def _make_stamp(text: str, options: Mapping[str, str], arguments: Sequence[Any]) -> str:
    """Return what tells a program, with all that its results depend on, from others."""
    shapes = [(getattr(one, "shape", None), str(getattr(one, "dtype", one))) for one in arguments]
    parts = (__version__, text, json.dumps(options, sort_keys=True), repr(shapes))
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()


def _name_producer() -> dict[str, str]:
    from .. import _native

    versions = {"mlir-workgroup": __version__, "llvm": _native.llvm_version()}
    with contextlib.suppress(ToolError):
        versions["ptxas"] = find_version()
    return versions


class _Bar:
    """A bar of tqdm; nothing where it is not wanted."""

    def __init__(self, is_shown: bool) -> None:
        self._is_shown = is_shown
        self._bar: Any = None

    def __enter__(self) -> _Bar:
        return self

    def __exit__(self, *_: object) -> None:
        if self._bar is not None:
            self._bar.close()

    def begin(self, total: int) -> None:
        """Show that there is so much to do."""
        if self._is_shown:
            from tqdm import tqdm

            self._bar = tqdm(total=total, unit="trial", disable=None, dynamic_ncols=True)

    def extend(self, more: int) -> None:
        """Show that there is more to do."""
        if self._bar is not None:
            self._bar.total += more
            self._bar.refresh()

    def step(self, words: str) -> None:
        """Show that something is done, and the best so far."""
        if self._bar is not None:
            self._bar.set_postfix_str(words, refresh=False)
            self._bar.update()
