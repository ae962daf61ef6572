"""What is not promised of processes (docs/guarantees.md): a runtime stays in the one that made it."""

from __future__ import annotations

import os
import pickle

import pytest

from dragoman import Runtime

from .probes import run_program


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_a_forked_copy_of_a_runtime_has_no_timers() -> None:
    run_program("forked", "a_copy_has_no_timers")


def test_a_runtime_and_its_futures_cannot_be_pickled() -> None:
    with Runtime() as runtime:
        for owner in (runtime, runtime.history("s1")):
            with pytest.raises(TypeError, match="cannot pickle"):
                pickle.dumps(owner)
