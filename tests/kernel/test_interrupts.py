"""Ctrl-C in a thread that helps tears no handler, loses no message, and is not lost itself (interrupts.py).

Each test is a program of its own: signals belong to the main thread of a process.
"""

from __future__ import annotations

import os

import pytest

from .probes import run_program

INTERRUPTS = int(os.environ.get("DRAGOMAN_INTERRUPTS", "300"))


@pytest.mark.timeout(120 + INTERRUPTS / 50)
@pytest.mark.parametrize("seed", [1, 2])
def test_a_caller_that_is_interrupted_again_and_again_leaves_everything_whole(seed: int) -> None:
    """The long form: `DRAGOMAN_INTERRUPTS=20000 pytest tests/kernel/test_interrupts.py`."""
    timeout_s = 30.0 + INTERRUPTS / 50
    assert run_program("interrupted_caller", INTERRUPTS, seed, timeout_s=timeout_s) == f"{INTERRUPTS} interrupts\n"


def test_an_interrupt_in_a_handler_is_raised_after_it() -> None:
    run_program("held_interrupts", "in_a_handler")


def test_an_interrupt_is_not_raised_in_a_handler_that_sends_through_a_ref() -> None:
    run_program("held_interrupts", "in_a_handler_that_sends")


def test_an_interrupt_is_not_raised_in_a_handler_that_its_sender_runs() -> None:
    run_program("held_interrupts", "in_a_handler_of_its_sender_that_sends")


def test_an_interrupt_in_a_callback_keeps_no_other_callback_from_its_answer() -> None:
    run_program("held_interrupts", "in_a_callback_that_sends")


def test_an_interrupt_as_a_worker_is_woken_does_not_put_it_to_sleep_for_ever() -> None:
    run_program("held_interrupts", "as_a_worker_is_woken")


def test_an_interrupt_as_a_waiter_is_told_keeps_no_other_waiter_from_its_answer() -> None:
    run_program("held_interrupts", "as_a_waiter_is_told")


def test_an_interrupt_just_before_a_wait_ends_the_wait() -> None:
    run_program("held_interrupts", "just_before_a_wait")


def test_an_interrupt_in_a_wait_ends_it_at_once() -> None:
    run_program("held_interrupts", "in_a_wait")


def test_an_interrupt_as_an_answer_is_read_is_raised_by_that_call() -> None:
    run_program("held_interrupts", "as_an_answer_is_read")


def test_an_interrupt_as_a_question_is_answered_at_once_is_raised_by_that_call() -> None:
    run_program("held_interrupts", "as_a_question_is_answered_at_once")


def test_an_interrupt_as_an_error_is_read_is_raised_by_that_call() -> None:
    run_program("held_interrupts", "as_an_error_is_read")


def test_an_interrupt_while_a_runtime_closes_is_raised_by_the_close() -> None:
    run_program("held_interrupts", "while_the_threads_are_joined")


def test_pythons_handler_is_back_though_another_thread_closed_the_runtime() -> None:
    run_program("held_interrupts", "closed_by_another_thread")


def test_a_program_keeps_a_handler_of_its_own() -> None:
    run_program("held_interrupts", "with_a_handler_of_its_own")


def test_a_handler_that_was_set_while_a_runtime_lived_stays() -> None:
    run_program("held_interrupts", "set_by_the_program_meanwhile")


def test_the_last_of_several_runtimes_restores_the_handler() -> None:
    run_program("held_interrupts", "with_several_runtimes")


def test_an_interrupt_outside_of_the_kernel_is_raised_at_once() -> None:
    run_program("held_interrupts", "outside_of_the_kernel")
