"""Where keys come from, and that nothing shows them."""

from __future__ import annotations

import copy
from pathlib import Path

import pytest

from dragoman import DragomanError, InvalidArgument
from dragoman.providers.credentials import Credentials, InvalidCredentials, credentials_from

from .openai_calls import SECRET

VARIABLE = "DRAGOMAN_TEST_KEYS"


def revealed(credentials: Credentials) -> list[str]:
    return [credentials.reveal(number) for number in range(1, len(credentials) + 1)]


@pytest.fixture(autouse=True)
def _no_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(VARIABLE, raising=False)


@pytest.mark.parametrize("value", ["one,two", "one two", " one ,\n\ttwo, ", "one\r\ntwo\r\n"])
def test_commas_and_white_space_separate_the_keys_of_a_variable(monkeypatch: pytest.MonkeyPatch, value: str) -> None:
    monkeypatch.setenv(VARIABLE, value)
    assert revealed(credentials_from(None, None, VARIABLE)) == ["one", "two"]


@pytest.mark.parametrize("value", [None, "", " ,\n"])
def test_a_variable_that_holds_nothing_is_no_error(monkeypatch: pytest.MonkeyPatch, value: str | None) -> None:
    if value is not None:
        monkeypatch.setenv(VARIABLE, value)
    assert len(credentials_from(None, None, VARIABLE)) == 0


def test_what_is_given_goes_before_the_variable(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv(VARIABLE, "from-the-variable")
    file = tmp_path / "keys"
    file.write_bytes(b"one\r\n\r\ntwo\n")
    assert revealed(credentials_from("given", None, VARIABLE)) == ["given"]
    assert revealed(credentials_from(iter(["a", "b"]), None, VARIABLE)) == ["a", "b"]
    assert revealed(credentials_from(None, file, VARIABLE)) == ["one", "two"]


def test_keys_and_a_file_of_keys_are_too_much() -> None:
    with pytest.raises(InvalidArgument):
        credentials_from("given", "a-file", VARIABLE)


UNUSABLE = {
    f"{SECRET}\n": "white space",
    f" {SECRET}": "white space",
    f"{SECRET} {SECRET}": "white space",
    f"\ufeff{SECRET}": "byte order mark",
    f"{SECRET}ü": "not ASCII",
    f"{SECRET}\u200b": "not ASCII",
    f"{SECRET}\x00": "control character",
    "": "is empty",
}


@pytest.mark.parametrize(("key", "problem"), UNUSABLE.items())
def test_a_key_that_cannot_be_sent_is_refused_by_its_number_and_not_shown(key: str, problem: str) -> None:
    with pytest.raises(InvalidCredentials, match=f"^keys: key 2 .*{problem}") as refused:
        credentials_from(["fine", key], None, VARIABLE)
    assert isinstance(refused.value, DragomanError)
    assert isinstance(refused.value, ValueError)
    assert SECRET not in repr(refused.value)
    assert refused.value.__context__ is None
    assert copy.copy(refused.value).problem == refused.value.problem


@pytest.mark.parametrize("key", ["sk-\u00a0here", "\ufeffsk-here"])
def test_what_only_looks_like_white_space_separates_no_keys(monkeypatch: pytest.MonkeyPatch, key: str) -> None:
    monkeypatch.setenv(VARIABLE, key)
    with pytest.raises(InvalidCredentials, match=f"^{VARIABLE}: key 1 ") as refused:
        credentials_from(None, None, VARIABLE)
    assert "here" not in str(refused.value)


FILES = {
    b"fine\n" + SECRET.encode() + b" \n": "line 2 holds white space",
    b"\n" + SECRET.encode() + "ü".encode(): "line 2 holds a character that is not ASCII",
    b"\xef\xbb\xbf" + SECRET.encode(): "begins with a byte order mark",
    SECRET.encode("utf-16"): "begins with a byte order mark",
    SECRET.encode() + b"\xff": "line 1 holds a character that is not ASCII",
    b"\n\n": "holds no key",
    b"": "holds no key",
    b"k\n" * (1 << 20): "too large",
}


@pytest.mark.parametrize(("content", "problem"), FILES.items(), ids=range(len(FILES)))
def test_a_file_that_holds_something_else_is_refused_by_its_name(tmp_path: Path, content: bytes, problem: str) -> None:
    file = tmp_path / "keys"
    file.write_bytes(content)
    with pytest.raises(InvalidCredentials, match=problem) as refused:
        credentials_from(None, file, VARIABLE)
    assert refused.value.source == str(file)
    assert SECRET not in str(refused.value)
    assert refused.value.__context__ is None


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    for path in (tmp_path / "nothing", tmp_path):
        with pytest.raises(InvalidCredentials, match="cannot be read") as refused:
            credentials_from(None, path, VARIABLE)
        assert refused.value.source == str(path)


@pytest.mark.parametrize("keys", [[], [None], [b"bytes"]])
def test_what_is_no_key_is_refused(keys: list[str]) -> None:
    with pytest.raises(InvalidCredentials, match="keys"):
        credentials_from(keys, None, VARIABLE)


def test_credentials_show_how_many_they_are() -> None:
    credentials = Credentials([SECRET, SECRET])
    assert repr(credentials) == str(credentials) == "<2 keys>"
