"""Turns, their projection into a prompt, and the messages of a chat (C2 "HistoryRead", C3.2, C14)."""

from __future__ import annotations

import copy
import json
import pickle
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dragoman.protocol.history import ChatMessage, Turn, chat_messages, cut, project

from ..strategies import texts

turn_lists = st.lists(st.builds(Turn, st.just("r1"), st.just("p1"), texts, texts), max_size=6)


@given(turn_lists, st.integers(0, 8))
def test_the_projection_takes_the_newest_turns_oldest_first(turns: list[Turn], most: int) -> None:
    expected = [turn for place, turn in enumerate(turns) if len(turns) - place <= most]
    assert project(turns, most, None) == tuple(expected)


@given(turn_lists, st.integers(0, 45))
def test_the_projection_cuts_each_side_by_itself(turns: list[Turn], limit: int) -> None:
    shown = project(turns, 6, limit)
    assert [(turn.user, turn.assistant) for turn in shown] == [
        (cut(turn.user, limit), cut(turn.assistant, limit)) for turn in turns
    ]
    assert all((turn.request_id, turn.parent_id) == ("r1", "p1") for turn in shown)


def test_the_projection_leaves_the_turns_as_they_are() -> None:
    turns = [Turn("r1", "p1", "a long source", "a long translation")]
    project(turns, 1, 4)
    assert turns == [Turn("r1", "p1", "a long source", "a long translation")]


def test_a_prompt_is_system_then_history_then_user() -> None:
    turns = (Turn("r1", "p1", "one", "eins"), Turn("r2", "p1", "two", "zwei"))
    assert chat_messages(turns, "translate", "three") == (
        {"role": "system", "content": "translate"},
        {"role": "user", "content": "one"},
        {"role": "assistant", "content": "eins"},
        {"role": "user", "content": "two"},
        {"role": "assistant", "content": "zwei"},
        {"role": "user", "content": "three"},
    )


def test_a_prompt_has_no_message_for_what_was_not_given() -> None:
    assert chat_messages((), None, None) == ()
    assert chat_messages((), "translate", None) == ({"role": "system", "content": "translate"},)
    assert chat_messages((), None, "one") == ({"role": "user", "content": "one"},)


def test_an_empty_text_is_a_message_too() -> None:
    assert chat_messages((), "", "") == ({"role": "system", "content": ""}, {"role": "user", "content": ""})


CHANGES: dict[str, Callable[[Any], Any]] = {
    "set an item": lambda message: message.__setitem__("content", "other"),
    "add an item": lambda message: message.__setitem__("name", "other"),
    "delete an item": lambda message: message.__delitem__("content"),
    "update": lambda message: message.update(content="other"),
    "merge": lambda message: message.__ior__({"content": "other"}),
    "pop": lambda message: message.pop("content"),
    "pop any": lambda message: message.popitem(),
    "clear": lambda message: message.clear(),
    "set a default": lambda message: message.setdefault("name", "other"),
    "set role": lambda message: setattr(message, "role", "other"),
    "set content": lambda message: setattr(message, "content", "other"),
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_a_chat_message_is_read_only(change: Callable[[Any], Any]) -> None:
    message = ChatMessage("user", "one")
    with pytest.raises((TypeError, AttributeError)):
        change(message)
    assert message == {"role": "user", "content": "one"}


@given(texts)
def test_a_chat_message_is_json_like_any_dict(content: str) -> None:
    assert json.loads(json.dumps(ChatMessage("user", content))) == {"role": "user", "content": content}


@given(texts, st.integers(0, pickle.HIGHEST_PROTOCOL))
def test_a_chat_message_can_be_pickled(content: str, protocol: int) -> None:
    again = pickle.loads(pickle.dumps(ChatMessage("assistant", content), protocol))
    assert type(again) is ChatMessage
    assert (again.role, again.content) == ("assistant", content)


def test_a_chat_message_can_be_copied() -> None:
    message = ChatMessage("user", "one")
    assert copy.copy(message) == copy.deepcopy([message])[0] == message


def test_a_plain_copy_of_a_chat_message_may_be_changed() -> None:
    message = ChatMessage("user", "one")
    mine = dict(message)
    mine["content"] = "other"
    assert message.content == "one"


def test_no_way_of_showing_a_chat_message_shows_its_text() -> None:
    message = ChatMessage("user", "canary")
    for shown in (repr(message), str(message), f"{message}", f"{[message]}", "%s" % message):  # noqa: UP031
        assert "canary" not in shown
        assert "user" in shown
        assert "6" in shown


def test_a_turn_shows_ids_and_lengths_only() -> None:
    shown = repr(Turn("r1", "p1", "canary", "canary bird", "content:ref"))
    assert "canary" not in shown
    assert all(part in shown for part in ("r1", "p1", "6", "11", "content:ref"))
