"""The targets of the benches: the tiny one in every run, the default one in `make long`."""

import pytest

DEFAULT = pytest.param(0, id="default", marks=pytest.mark.long)
TINY = pytest.param(1, id="tiny")
