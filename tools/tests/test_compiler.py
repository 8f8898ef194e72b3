"""Which compiler builds the plug-ins."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent.parent))

import compiler  # noqa: E402


@pytest.fixture(autouse=True)
def forgotten(monkeypatch):
    monkeypatch.delenv(compiler.VARIABLE, raising=False)
    compiler.chosen.cache_clear()
    yield
    compiler.chosen.cache_clear()


def test_the_first_candidate_that_is_there_is_chosen(monkeypatch):
    monkeypatch.setattr(compiler, "CANDIDATES", ("clang++-of-nobody", "g++"))
    assert compiler.chosen().command == "g++"
    assert "-fcoroutines" in compiler.chosen().language


def test_a_compiler_that_does_not_find_its_library_is_passed_over(monkeypatch, tmp_path):
    broken = tmp_path / "clang++"
    broken.write_text('#!/bin/sh\n[ "$1" = --version ] && echo broken 1.0 || exit 1\n')
    broken.chmod(0o755)
    monkeypatch.setattr(compiler, "CANDIDATES", (str(broken), "g++"))
    assert compiler.chosen().command == "g++"


def test_the_variable_names_the_compiler_and_a_wrong_name_is_refused(monkeypatch, capsys):
    monkeypatch.setenv(compiler.VARIABLE, "g++")
    assert compiler.chosen().command == "g++"
    compiler.chosen.cache_clear()
    monkeypatch.setenv(compiler.VARIABLE, "clang++-of-nobody")
    with pytest.raises(SystemExit) as left:
        compiler.chosen()
    assert "SLUICE_CXX=clang++-of-nobody" in str(left.value) + capsys.readouterr().err


def test_coroutines_are_asked_for_with_gcc_alone():
    assert compiler.Compiler("clang++-14", "").language == ["-std=c++20"]
    assert compiler.Compiler("/usr/bin/g++-12", "").language == ["-std=c++20", "-fcoroutines"]


def test_ccache_stands_before_the_compiler_where_it_is_there_and_is_not_needed(monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    assert compiler.Compiler("g++", "").cached == ["g++"]
    (tmp_path / "ccache").write_text("#!/bin/sh\n")
    (tmp_path / "ccache").chmod(0o755)
    assert compiler.Compiler("g++", "").cached == ["ccache", "g++"]
