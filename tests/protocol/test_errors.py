"""Errors: one base, the standard type that a caller would catch, structured fields (design 5)."""

from __future__ import annotations

import pickle

import pytest

from dragoman.protocol import errors
from dragoman.protocol.errors import DragomanError

STANDARD: dict[str, type[Exception]] = {
    "ActorFailed": RuntimeError,
    "ActorStopped": RuntimeError,
    "BlockingInHandler": RuntimeError,
    "ContentRefNotFound": LookupError,
    "IllegalTransition": RuntimeError,
    "InvalidArgument": ValueError,
    "InvalidSetting": ValueError,
    "RuntimeClosed": RuntimeError,
    "SimulationStalled": RuntimeError,
    "TranslationRefused": RuntimeError,
    "UnknownCall": LookupError,
}


def test_no_error_is_left_out_here() -> None:
    assert set(errors.__all__) == {*STANDARD, "DragomanError"}


@pytest.mark.parametrize(("name", "standard"), STANDARD.items())
def test_an_error_is_caught_by_the_common_base_and_by_its_standard_type(name: str, standard: type[Exception]) -> None:
    assert issubclass(getattr(errors, name), DragomanError)
    assert issubclass(getattr(errors, name), standard)


def test_an_unknown_call_is_named() -> None:
    error = errors.UnknownCall("r1/3")
    assert error.call == "r1/3"
    assert "r1/3" in str(error)


@pytest.mark.parametrize(("reason", "shown"), [("mode must be text", "INVALID_HANDOFF, mode must be text"), (None, "")])
def test_a_refused_translation_tells_status_and_reason(reason: str | None, shown: str) -> None:
    error = errors.TranslationRefused("INVALID_HANDOFF", reason)
    assert (error.status, error.reason) == ("INVALID_HANDOFF", reason)
    assert str(error).endswith(shown or "INVALID_HANDOFF")


@pytest.mark.parametrize(
    "error",
    [errors.UnknownCall("r1/3"), errors.TranslationRefused("OVERLOADED"), errors.TranslationRefused("A", "b")],
    ids=repr,
)
def test_an_error_survives_being_pickled(error: DragomanError) -> None:
    copied = pickle.loads(pickle.dumps(error))
    assert type(copied) is type(error)
    assert (str(copied), vars(copied)) == (str(error), vars(error))


def test_a_bad_argument_names_its_field() -> None:
    error = errors.InvalidArgument("max_turns", "must be a number")
    assert (error.field, error.problem) == ("max_turns", "must be a number")
    assert str(error) == "max_turns: must be a number"


def test_a_failed_actor_names_type_and_place_of_the_fault() -> None:
    error = errors.ActorFailed("SessionManager", "KeyError", "sessions", 12)
    assert (error.actor, error.error_type, error.module, error.line) == ("SessionManager", "KeyError", "sessions", 12)
    assert all(part in str(error) for part in ("SessionManager", "KeyError", "sessions", "12"))
