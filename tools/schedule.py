"""Runs jobs side by side, those with most work behind them first: `Job`, `Done`, `Schedule`.

A job is a command, or a function that calls one. It waits for the jobs that it needs, and for its lock if it has one.
A job may add others while it runs. Nothing here knows what the jobs are for.
"""

import os
import re
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from pathlib import Path

from project import BUILD, ROOT, tool_environment

# A job that takes longer than this hangs.
LIMIT_SECONDS = 2400
LOGS = BUILD / "logs"


@dataclass
class Count:
    """Tests by how they ended."""

    passed: int = 0
    failed: int = 0

    def __iadd__(self, other: "Count") -> "Count":
        self.passed += other.passed
        self.failed += other.failed
        return self


def counted_once(text: str, good: bool) -> Count:
    """A job that is one check: it passed or it failed."""
    return Count(int(good), int(not good))


def nothing(text: str, good: bool) -> Count:
    """A job that only builds; when it fails that is one failure."""
    return Count(0, int(not good))


@dataclass(eq=False)
class Job:
    """One command.

    name     unique; also that of its log, build/logs/NAME.log
    group    what it counts with: lint, build, rust, scripts, benches, proofs
    engine   whose budget it uses (tools/budget.toml)
    command  arguments, run in `folder`
    needs    names of jobs that must have passed before
    lock     what only one job at a time may use
    count    makes a `Count` from output and success
    watch    sees each line of its standard output as it comes; what it consumes (returns True) is not in the log
    inputs   a digest of all that its result depends on, for --changed; None: it always runs
    behind   seconds of work that only show up when it has ended
    """

    name: str
    group: str
    engine: str
    command: Sequence[str]
    needs: Sequence[str] = ()
    lock: str | None = None
    count: Callable[[str, bool], Count] = counted_once
    watch: Callable[[str], bool] | None = None
    inputs: Callable[[], str] | None = None
    environment: Mapping[str, str] = field(default_factory=dict)
    folder: Path = ROOT
    behind: float = 0.0


@dataclass
class Done:
    """How a job ended."""

    job: Job
    count: Count
    good: bool
    text: str
    wall: float = 0.0
    cpu: float = 0.0
    skipped: bool = False
    # Not run, because one that it needs failed.
    blocked: bool = False


class Schedule:
    """`workers` jobs at a time; of those that are ready the one with most work from its begin to the end of all."""

    def __init__(self, seconds: Callable[[Job], float], workers: int, show: Callable[[Done, int, int], None]):
        self._seconds, self._workers, self._show = seconds, workers, show
        self._jobs: dict[str, Job] = {}
        self._done: dict[str, Done] = {}
        self._running: dict[str, subprocess.Popen | None] = {}
        self._change = threading.Condition()
        self._skip: Callable[[Job], bool] = lambda job: False
        self._stopped = False
        self._error: BaseException | None = None

    def add(self, jobs: Iterable[Job]) -> None:
        """Adds jobs, also while others run."""
        with self._change:
            for job in jobs:
                if job.name in self._jobs:
                    raise ValueError(f"two jobs are named {job.name!r}")
                self._jobs[job.name] = job
            self._change.notify_all()

    def run(self, skip: Callable[[Job], bool] = lambda job: False) -> list[Done]:
        """Runs all jobs to their end; those that `skip` picks are passed over. In the order in which they ended."""
        for job in self._jobs.values():
            if unknown := set(job.needs) - self._jobs.keys():
                raise ValueError(f"job {job.name!r} needs {sorted(unknown)}, which do not exist")
        self._skip = skip
        # Not Thread.join: a signal that comes in it makes the thread look ended, and what it runs is left behind.
        with ThreadPoolExecutor(self._workers) as pool:
            try:
                wait([pool.submit(self._work) for _ in range(self._workers)])
            except BaseException:
                self._stop()
                raise
        if self._error:
            raise self._error
        return list(self._done.values())

    def _stop(self) -> None:
        with self._change:
            self._stopped = True
            for process in self._running.values():
                if process:
                    _kill(process)
            self._change.notify_all()

    def _work(self) -> None:
        try:
            while job := self._next():
                done = self._one(job)
                with self._change:
                    del self._running[job.name]
                    self._done[job.name] = done
                    self._show(done, len(self._done), len(self._jobs))
                    self._change.notify_all()
        except BaseException as error:
            # Ours, not a job's: the run ends with it.
            self._error = self._error or error
            self._stop()

    def _next(self) -> Job | None:
        with self._change:
            while not self._stopped:
                waiting = [job for job in self._jobs.values() if job.name not in self._done | self._running.keys()]
                if not waiting and not self._running:
                    return None
                locks = {self._jobs[name].lock for name in self._running} - {None}
                ready = [
                    job for job in waiting if job.lock not in locks and all(name in self._done for name in job.needs)
                ]
                if ready:
                    weights = self._weights()
                    job = max(ready, key=lambda job: weights[job.name])
                    self._running[job.name] = None
                    return job
                if waiting and not self._running:
                    raise ValueError(f"jobs wait for each other: {sorted(job.name for job in waiting)}")
                self._change.wait()
        return None

    def _weights(self) -> dict[str, float]:
        """Seconds from the begin of each job to the end of the last that waits for it."""
        weights: dict[str, float] = {}
        followers: dict[str, list[str]] = {}
        for job in self._jobs.values():
            for name in job.needs:
                followers.setdefault(name, []).append(job.name)

        def weight(name: str) -> float:
            if name not in weights:
                job = self._jobs[name]
                behind = max((weight(other) for other in followers.get(name, ())), default=0.0)
                weights[name] = self._seconds(job) + max(behind, job.behind)
            return weights[name]

        for name in self._jobs:
            weight(name)
        return weights

    def _one(self, job: Job) -> Done:
        if broken := [name for name in job.needs if not self._done[name].good]:
            return Done(job, Count(0, 1), False, f"not run: {', '.join(broken)} failed", blocked=True)
        if self._skip(job):
            return Done(job, Count(), True, "", skipped=True)
        begin = time.monotonic()
        try:
            good, text, cpu = self._execute(job)
        except OSError as error:
            good, text, cpu = False, f"{job.command[0]}: {error}", 0.0
        count = job.count(text, good)
        # A runner that failed before it could count has failed once.
        if not good and not count.failed:
            count.failed = 1
        return Done(job, count, good and not count.failed, text, time.monotonic() - begin, cpu)

    def _execute(self, job: Job) -> tuple[bool, str, float]:
        LOGS.mkdir(parents=True, exist_ok=True)
        log = LOGS / (re.sub(r"[^\w.=-]+", "_", job.name) + ".log")
        with open(log, "w+", errors="replace") as out:
            process = subprocess.Popen(
                job.command,
                cwd=job.folder,
                env=tool_environment() | job.environment,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE if job.watch else out,
                stderr=out if job.watch else subprocess.STDOUT,
                text=True,
                errors="replace",
                start_new_session=True,
            )
            with self._change:
                self._running[job.name] = process
                if self._stopped:
                    _kill(process)
            late = threading.Timer(LIMIT_SECONDS, _kill, [process])
            late.start()
            if job.watch:
                for line in process.stdout:
                    if not job.watch(line):
                        out.write(line)
            _, status, usage = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
            hung = not late.is_alive()
            late.cancel()
            out.flush()
            out.seek(0)
            text = out.read()
        if hung:
            text += f"\nended: it took more than {LIMIT_SECONDS} s\n"
        elif process.returncode != 0:
            text += f"\nexit {process.returncode}: {' '.join(job.command)}\n"
        return process.returncode == 0, text, usage.ru_utime + usage.ru_stime


def _kill(process: subprocess.Popen) -> None:
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass


def end_with_what_runs() -> None:
    """A signal that ends this process ends its jobs, too, as Ctrl-C does; also where a shell ignores that."""
    for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
        signal.signal(number, signal.default_int_handler)
