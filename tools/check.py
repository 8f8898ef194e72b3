"""`make lint`, `make test`, `make test-changed`: runs their jobs, counts, and compares with the budgets.

    .venv/bin/python tools/check.py lint|test ... [--changed]

Two jobs run at a time, longest first, without phases (schedule.py); jobs.py has the list. The output of what failed is
shown whole, that of all is in build/logs. The last line is `N passed, N failed`.
"""

import argparse
import json
import sys
import time
import tomllib
from pathlib import Path

import skips
from jobs import bench_jobs, closing_lines, commit, lint_jobs, plugin_jobs, proof_jobs, rust_jobs
from project import BUILD, CACHE, ROOT, read_json, write_atomically
from schedule import LOGS, Count, Done, Job, Schedule, end_with_what_runs

WORKERS = 2
BUDGET = ROOT / "tools" / "budget.toml"
# Seconds that each job took when it last ran here.
TIMES = CACHE / "times.json"
PASSED = CACHE / "passed"
REPORT = BUILD / "check.json"
# What counts as tests.
TESTS = ("rust", "scripts", "benches", "proofs")
GROUPS = {"lint": ["lint"], "test": ["build", *TESTS]}
# What a job is taken to last when nobody has said.
UNKNOWN_SECONDS = 5.0
LONGEST = 15


def main() -> None:
    parser = argparse.ArgumentParser(
        description="Runs checks and tests, two at a time.",
        epilog="example: check.py test --changed   skips what passed with the same inputs, and says what",
    )
    parser.add_argument("what", nargs="+", choices=GROUPS)
    parser.add_argument("--changed", action="store_true", help="skip jobs that passed with the same inputs")
    arguments = parser.parse_args()

    budget = tomllib.loads(BUDGET.read_text())
    times = read_json(TIMES) or {}

    def seconds(job: Job) -> float:
        return times.get(job.name, budget["job"].get(job.name, UNKNOWN_SECONDS))

    def ended(one: Done, number: int, of: int) -> None:
        if one.good and not one.skipped:
            times[one.job.name] = round(one.wall, 1)
            if one.job.inputs is not None:
                write_atomically(_stamp(one.job), "")
        _show(one, number, of)

    schedule = Schedule(seconds, WORKERS, ended)
    jobs = []
    if "lint" in arguments.what:
        jobs += lint_jobs(plugins="test" in arguments.what)
    if "test" in arguments.what:
        jobs += [*plugin_jobs(), *rust_jobs(schedule), *bench_jobs(), *proof_jobs()]
    schedule.add(jobs)

    def skip(job: Job) -> bool:
        return arguments.changed and job.inputs is not None and _stamp(job).exists()

    end_with_what_runs()
    begin = time.monotonic()
    try:
        done = schedule.run(skip)
    except KeyboardInterrupt:
        sys.exit("check.py: interrupted")
    took = time.monotonic() - begin
    write_atomically(TIMES, f"{_json(times)}\n")
    _report(done, took, budget)
    total = sum_of(done)
    print(f"{total.passed} passed, {total.failed} failed")
    sys.exit(1 if total.failed or ("test" in arguments.what and ran_no_test(done, total)) else 0)


def _json(value: object) -> str:
    return json.dumps(value, indent=1, sort_keys=True)


def _stamp(job: Job) -> Path:
    return PASSED / f"{job.name.replace('/', '_')} {job.inputs()}"


def sum_of(done: list[Done]) -> Count:
    """All tests; of lint and builds only what failed, for those are no tests."""
    total = Count()
    for one in done:
        total += one.count if one.job.group in TESTS else Count(0, one.count.failed)
    return total


def ran_no_test(done: list[Done], total: Count) -> bool:
    """Nothing was counted, and not because all of it passed before with the same inputs."""
    return not total.passed and not any(one.skipped for one in done)


def _show(one: Done, number: int, of: int) -> None:
    if one.skipped:
        return
    state = "ok" if one.good else "NOT RUN" if one.blocked else "FAILED"
    print(f"[{number:3}/{of}] {one.job.name:<44} {state:<7} {one.wall:6.1f} s", flush=True)
    if not one.good:
        print(one.text.rstrip())
    for line in closing_lines(one.text):
        print(line)
    sys.stdout.flush()


def _report(done: list[Done], seconds: float, budget: dict) -> None:
    skipped = [one.job.name for one in done if one.skipped]
    if skipped:
        print(f"\nskipped, for they passed with the same inputs: {len(skipped)} jobs")
        print("  " + ", ".join(skipped))
    ran = [one for one in done if not one.skipped]
    print(f"\nlongest jobs of {len(ran)}                            wall     CPU")
    for one in sorted(ran, key=lambda one: -one.wall)[:LONGEST]:
        print(f"  {one.job.name:<42} {one.wall:6.1f} s {one.cpu:6.1f} s")
    _compare(ran, budget["engine"], bool(skipped))
    for group in ("lint", *TESTS):
        mine = [one for one in ran if one.job.group == group]
        total = Count()
        for one in mine:
            total += one.count
        if mine:
            print(f"{group}: {total.passed} passed, {total.failed} failed")
    print("\n".join(skips.report((one.job.name, one.text) for one in ran)))
    used = sum(one.cpu for one in ran)
    print(f"took {seconds:.0f} s on {WORKERS} workers, {used:.0f} CPU s; logs in {LOGS.relative_to(ROOT)}")
    jobs = [
        {"job": one.job.name, "group": one.job.group, "engine": one.job.engine, "seconds": round(one.wall, 1),
         "cpu": round(one.cpu, 1), "passed": one.count.passed, "failed": one.count.failed}
        for one in ran
    ]  # fmt: skip
    write_atomically(REPORT, f"{_json({'commit': commit(), 'seconds': round(seconds), 'jobs': jobs})}\n")


def _compare(ran: list[Done], budgets: dict[str, int], partly: bool) -> None:
    """What each engine used beside its budget. Machines differ: going over is told, and fails nothing."""
    print("engine       CPU  budget" + (" (of a whole run)" if partly else ""))
    for engine in sorted({one.job.engine for one in ran}):
        used = sum(one.cpu for one in ran if one.job.engine == engine)
        most = budgets.get(engine)
        verdict = "no budget in tools/budget.toml" if most is None else "OVER" if used > most else ""
        print(f"  {engine:<7} {used:6.0f}  {most if most is not None else '-':>6}  {verdict}".rstrip())


if __name__ == "__main__":
    main()
