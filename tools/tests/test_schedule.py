"""The schedule: what runs beside what, what waits, what is not run, and how it is counted."""

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent.parent))

import jobs  # noqa: E402
import lint  # noqa: E402
from project import ROOT, configurations  # noqa: E402
from schedule import Count, Job, Schedule, nothing  # noqa: E402

SHELL = "/bin/sh"


def job(name, script="true", **options):
    return Job(name, "rust", "host", [SHELL, "-c", script], **options)


@pytest.fixture(autouse=True)
def logs_elsewhere(tmp_path, monkeypatch):
    monkeypatch.setattr("schedule.LOGS", tmp_path / "logs")


def run(*all_jobs, seconds=lambda job: 1.0, workers=2, skip=lambda job: False):
    schedule = Schedule(seconds, workers, lambda done, number, of: None)
    schedule.add(all_jobs)
    return {done.job.name: done for done in schedule.run(skip)}


def test_the_job_with_most_work_behind_it_begins_first():
    lasts = {"short": 1.0, "long": 5.0, "first of two": 2.0, "second of two": 4.0}
    order = [job(name) for name in ("short", "long", "first of two")] + [job("second of two", needs=["first of two"])]
    done = run(*order, seconds=lambda job: lasts[job.name], workers=1)
    assert list(done) == ["first of two", "long", "second of two", "short"]


def test_two_run_at_a_time_and_those_with_one_lock_one_after_the_other(tmp_path):
    # Each leaves its begin and end; who overlaps is seen from them.
    script = f"date +%s%N >> {tmp_path}/$0; sleep 0.3; date +%s%N >> {tmp_path}/$0"
    locked = [Job(n, "rust", "host", [SHELL, "-c", script, n], lock="cargo") for n in ("a", "b")]
    free = Job("c", "rust", "host", [SHELL, "-c", script, "c"])
    assert all(one.good for one in run(*locked, free).values())
    spans = {n: tuple(map(int, (tmp_path / n).read_text().split())) for n in "abc"}

    def overlap(x, y):
        return max(spans[x][0], spans[y][0]) < min(spans[x][1], spans[y][1])

    assert not overlap("a", "b")
    assert overlap("a", "c") or overlap("b", "c")


def test_what_needs_a_failed_job_is_not_run_and_counts_as_failed(tmp_path):
    touched = tmp_path / "touched"
    done = run(
        job("build", "echo broken; exit 3", count=nothing),
        job("test", f"touch {touched}", needs=["build"]),
        job("other"),
    )
    assert not done["build"].good and "broken" in done["build"].text and "exit 3" in done["build"].text
    assert done["test"].blocked and done["test"].count == Count(0, 1) and not touched.exists()
    assert done["other"].good


def test_a_runner_that_fails_before_it_counts_has_failed_once():
    done = run(job("rust", "echo no result; exit 101", count=jobs._rust_count))
    assert done["rust"].count == Count(0, 1)


def test_a_runner_that_counts_failures_has_failed_whatever_it_exits_with():
    done = run(job("rust", "echo 'test result: FAILED. 2 passed; 1 failed; 0 ignored'", count=jobs._rust_count))
    assert not done["rust"].good and done["rust"].count == Count(2, 1)


def test_a_command_that_does_not_exist_fails_in_words():
    done = run(Job("gone", "rust", "host", ["/there/is/no/such/program"]))
    assert not done["gone"].good and "/there/is/no/such/program" in done["gone"].text


def test_a_job_adds_jobs_while_it_runs():
    schedule = Schedule(lambda job: 1.0, 2, lambda done, number, of: None)

    def watch(line):
        schedule.add([job(f"made {line.strip()}")])
        return True

    schedule.add([job("build", "echo one; echo two", watch=watch, count=nothing)])
    assert sorted(one.job.name for one in schedule.run()) == ["build", "made one", "made two"]


def test_what_is_skipped_lets_others_run_and_counts_nothing():
    done = run(job("a", "exit 1"), job("b", needs=["a"]), skip=lambda job: job.name == "a")
    assert done["a"].skipped and done["a"].count == Count() and done["b"].good and not done["b"].skipped


def test_a_job_that_hangs_is_ended(monkeypatch):
    monkeypatch.setattr("schedule.LIMIT_SECONDS", 0.3)
    begin = time.monotonic()
    done = run(job("hangs", "sleep 60"))
    assert time.monotonic() - begin < 20 and not done["hangs"].good and "took more than" in done["hangs"].text


def test_an_interrupt_ends_what_runs():
    schedule = Schedule(lambda job: 1.0, 1, lambda done, number, of: None)
    schedule.add([job("sleeps", "sleep 60"), job("waits")])
    threading.Timer(0.3, schedule._stop).start()
    begin = time.monotonic()
    schedule.run()
    assert time.monotonic() - begin < 20


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT])
def test_a_signal_ends_the_run_and_its_jobs(tmp_path, number):
    program = f"""
import sys
sys.path.insert(0, {str(Path(__file__).parent.parent)!r})
import schedule
schedule.LOGS = schedule.Path({str(tmp_path)!r})
schedule.end_with_what_runs()
runs = schedule.Schedule(lambda job: 1.0, 1, lambda *done: None)
runs.add([schedule.Job("sleeps", "rust", "host", ["sh", "-c", "echo $$ > {tmp_path}/pid; sleep 60"])])
runs.run()
"""
    process = subprocess.Popen([sys.executable, "-c", program], stderr=subprocess.DEVNULL)
    pid = tmp_path / "pid"
    while not pid.exists() or not pid.read_text():
        time.sleep(0.05)
    process.send_signal(number)
    assert process.wait(20) != 0
    with pytest.raises(ProcessLookupError):
        os.kill(int(pid.read_text()), 0)


def test_needs_that_do_not_exist_and_names_that_come_twice_are_refused():
    with pytest.raises(ValueError, match="needs"):
        run(job("a", needs=["b"]))
    with pytest.raises(ValueError, match="two jobs"):
        run(job("a"), job("a"))
    with pytest.raises(ValueError, match="wait for each other"):
        run(job("a", needs=["b"]), job("b", needs=["a"]))


def test_scripts_without_a_result_have_failed():
    count = jobs._script_count(3)
    assert count("2 passed, 0 failed, 0 skipped\n", True) == Count(2, 1)
    assert count("2 passed, 0 failed, 1 skipped\n", True) == Count(2, 1)
    assert count("error[E0101]: a.pkt:1:1\n", False) == Count(0, 3)


def test_the_closing_line_of_benches_is_counted():
    assert jobs._bench_count("2 failed, 3 passed, 1 deselected in 1.2s\n", False) == Count(3, 2)
    assert jobs._bench_count("seed: 1\n7 passed in 1.2s\n", True) == Count(7, 0)
    assert jobs._bench_count("1 passed, 2 errors in 1.2s\n", False) == Count(1, 2)


def test_every_top_is_linted_by_the_build_of_its_plugin_or_by_a_check():
    strict = {job.command[-1] for job in jobs.plugin_jobs() if "--strict" in job.command}
    assert not strict & set(lint.ONLY_LINTED)
    assert strict | set(lint.ONLY_LINTED) == set(configurations())
    alone, beside = ({job.name for job in jobs.lint_jobs(plugins)} for plugins in (False, True))
    assert alone - beside == {"lint rtl_tops"}
    assert alone == {f"lint {name}" for name in lint.CHECKS}


def test_benches_that_call_cargo_wait_for_the_build_of_rust():
    calls = {str(path.relative_to(ROOT)) for path in ROOT.glob("tb/**/test_*.py") if '"cargo"' in path.read_text()}
    assert calls == set(jobs.RUST_MODELS)
    waiting = {job.name for job in jobs.bench_jobs() if "rust build" in job.needs}
    assert waiting == {f"bench {name}" for name in calls}
