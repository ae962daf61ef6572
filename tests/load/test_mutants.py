"""The load run and its verdict notice planted faults of the product (style 10)."""

from __future__ import annotations

import pytest

from dragoman.scenarios.load import LoadReport, run_load
from dragoman.scenarios.load_options import LoadOptions

from ..acceptance.mutants import MUTANTS
from ..content.mutants import MUTANTS as CONTENT_MUTANTS
from ..execution.mutants import MUTANTS as EXECUTION_MUTANTS
from ..planting import Mutants

IN_VIRTUAL_TIME = (
    *("commits_in_arrival_order", "commits_again_on_a_duplicate", "does_not_await_a_commit_in_flight"),
    *("does_not_pin_sessions", "does_not_wait_for_earlier_requests", "does_not_pass_the_turn_on"),
    *("restarts_the_window_on_a_second_activation", "passes_over_active_requests", "expires_complete_requests"),
    *("rewrites_accepted_parents_on_closing", "does_not_step_over_rejected_parents", "commits_only_on_an_accept"),
    *("forgets_closed_requests", "a_failed_commit_ends_the_pass", "does_not_wait_for_answers_on_their_way"),
)
WITH_THREADS = (
    *("commits_in_arrival_order", "does_not_wait_for_earlier_requests", "rewrites_accepted_parents_on_closing"),
    *("does_not_step_over_rejected_parents", "forgets_closed_requests", "a_failed_commit_ends_the_pass"),
)
ROUNDS = 4
"""Runs, with other seeds, in which a fault must be noticed."""


def run(seed: int, mode: str) -> LoadReport:
    return run_load(
        LoadOptions(faults="hardest", requests=150, parents=12, sessions=6, mode=mode, seed=seed)  # type: ignore[arg-type]
    )


def noticed(mutants: Mutants, name: str, mode: str) -> bool:
    for seed in range(ROUNDS):
        with pytest.MonkeyPatch.context() as patch:
            mutants[name](patch)
            if not run(seed, mode).verdict.clean:
                return True
    return False


def test_without_a_fault_the_verdict_is_clean() -> None:
    for mode in ("simulated", "threads"):
        verdict = run(0, mode).verdict
        assert verdict.clean, [breach.lines() for breach in verdict.breaches]


@pytest.mark.parametrize("name", IN_VIRTUAL_TIME)
def test_a_planted_fault_is_noticed_in_virtual_time(name: str) -> None:
    assert noticed(MUTANTS, name, "simulated")


@pytest.mark.parametrize(
    ("mutants", "name"),
    [
        (CONTENT_MUTANTS, "answers_a_miss_with_null"),
        (CONTENT_MUTANTS, "opens_the_calls_of_every_session"),
        (EXECUTION_MUTANTS, "acknowledges_what_the_feature_refused"),
    ],
)
def test_a_planted_fault_beside_the_conversation_is_noticed(mutants: Mutants, name: str) -> None:
    assert noticed(mutants, name, "simulated")


@pytest.mark.parametrize("name", WITH_THREADS)
def test_a_planted_fault_is_noticed_with_threads(name: str) -> None:
    assert noticed(MUTANTS, name, "threads")
