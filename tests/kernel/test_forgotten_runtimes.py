"""A runtime that nobody closes keeps neither the interpreter alive nor anything else (design 3.7)."""

from __future__ import annotations

import pytest

from .probes import run_program


def test_an_open_runtime_does_not_keep_the_interpreter_alive() -> None:
    run_program("forgotten_runtime", "exits_while_it_is_open", timeout_s=15.0)


def test_the_threads_of_a_forgotten_runtime_end() -> None:
    run_program("forgotten_runtime", "its_threads_end")


def test_a_forgotten_runtime_is_collected_though_its_answers_are_kept() -> None:
    run_program("forgotten_runtime", "it_is_collected")


def test_the_callers_of_a_forgotten_runtime_are_answered() -> None:
    run_program("forgotten_runtime", "its_callers_are_answered")


def test_a_forgotten_runtime_leaves_pykkas_registry() -> None:
    run_program("forgotten_runtime", "it_leaves_the_registry")


def test_a_runtime_may_be_forgotten_in_a_handler_of_its_own() -> None:
    run_program("forgotten_runtime", "it_is_collected_by_its_own_worker")


@pytest.mark.parametrize("call", ["count_messages", "wait_for_an_answer", "start_a_worker", "start_a_timer"])
def test_a_runtime_may_be_collected_at_any_allocation_of_a_call_into_it(call: str) -> None:
    run_program("collected_anywhere", call)
