"""What the runtime does about each error: attempts, delays, keys, circuit (language page "Retries", C7)."""

from __future__ import annotations

import copy
import pickle

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dragoman.protocol.errors import DragomanError, InvalidArgument
from dragoman.protocol.failures import (
    KEY_ERRORS,
    ProviderError,
    attempts_for,
    counts_for_circuit,
    is_error_name,
    longest_delay_us,
)

from .scripted import ROWS

SECOND = 1_000_000
OF_A_KEY = {"API_KEY_INVALID", "QUOTA_EXCEEDED", "INSUFFICIENT_BALANCE", "RATE_LIMIT_REACHED"}


@pytest.mark.parametrize(("error", "attempts"), ROWS.items())
def test_an_error_has_the_attempts_of_its_row(error: str, attempts: int) -> None:
    assert attempts_for(error) == attempts


@given(st.text("ABCXYZ_0123", min_size=1).filter(lambda name: name not in ROWS))
def test_any_other_error_has_two_attempts_and_stays_with_its_key(name: str) -> None:
    assert attempts_for(name) == 2
    assert name not in KEY_ERRORS
    assert counts_for_circuit(name)


@pytest.mark.parametrize(("attempt", "seconds"), [(1, 2), (2, 4), (3, 8), (4, 16), (5, 30), (6, 30), (1000, 30)])
def test_the_longest_delay_doubles_with_each_attempt_up_to_half_a_minute(attempt: int, seconds: int) -> None:
    assert longest_delay_us(attempt) == seconds * SECOND


@given(st.integers(1, 10_000))
def test_the_delay_never_falls_and_never_exceeds_half_a_minute(attempt: int) -> None:
    assert 2 * SECOND <= longest_delay_us(attempt) <= longest_delay_us(attempt + 1) <= 30 * SECOND


def test_the_errors_of_a_key_are_those_of_the_page() -> None:
    assert KEY_ERRORS == OF_A_KEY
    assert isinstance(KEY_ERRORS, frozenset)


@pytest.mark.parametrize("error", ROWS)
def test_local_errors_and_errors_of_a_key_do_not_count_for_the_circuit(error: str) -> None:
    assert counts_for_circuit(error) == (error not in OF_A_KEY | {"VALIDATION", "TEXT_TOO_LONG", "POLICY"})


@pytest.mark.parametrize("name", ["NETWORK_ERROR", "A", "HTTP_503", "X1", *ROWS])
def test_a_name_in_capitals_is_an_error_name(name: str) -> None:
    assert is_error_name(name)
    assert ProviderError(name).name == name


@pytest.mark.parametrize(
    "name", ["", "_", "network_error", "Network", "NET WORK", "NET-WORK", "5XX", "ÄRGER", "A\n", None, 5, b"A", ["A"]]
)
def test_any_other_name_is_refused_without_being_told(name: object) -> None:
    assert not is_error_name(name)
    with pytest.raises(InvalidArgument) as caught:
        ProviderError(name)  # type: ignore[arg-type]
    assert caught.value.field == "name"
    assert not isinstance(name, str) or len(name) < 2 or name not in str(caught.value)


def test_an_error_of_a_provider_is_caught_by_its_standard_type_and_survives_being_copied() -> None:
    error = ProviderError("NETWORK_ERROR")
    assert isinstance(error, DragomanError)
    assert isinstance(error, RuntimeError)
    for other in (pickle.loads(pickle.dumps(error)), copy.copy(error)):
        assert type(other) is ProviderError
        assert (other.name, str(other)) == ("NETWORK_ERROR", str(error))
