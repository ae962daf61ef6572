"""What the verdict asks of recorded calls and of translations, on good histories and on bad ones (P, C3.3, C15)."""

from __future__ import annotations

from typing import Any

import attrs
import pytest

from dragoman.scenarios.verdict_facts import Registration

from .histories import RULES, History, turn


def recorded(history: History, call: str, value: object, *, nested: bool = False, reply: Any = (True, None)) -> None:
    history.did("record", "", call, (value, 10, nested, False), reply=reply)


def found(history: History, call: str, reply: Any, session: str = "s1") -> None:
    history.did("fetch", "", call, reply=reply, session=session)


@pytest.mark.parametrize(
    ("reply", "clean"),
    [
        (("value", "one"), True),
        (("value", "two"), False),
        (("miss", "unknown"), False),
        (("miss", "not_stored"), False),
        (("miss", "evicted"), False),
        (("miss", "expired"), False),
    ],
)
def test_a_look_up_gives_what_was_recorded(reply: Any, clean: bool) -> None:
    history = History()
    recorded(history, "c1", "one")
    found(history, "c1", reply)
    assert history.verdict.clean is clean


def test_content_stands_in_its_own_session() -> None:
    history = History()
    recorded(history, "c1", "one")
    found(history, "c1", ("miss", "unknown"), session="s2")
    assert history.verdict.clean
    found(history, "c1", ("value", "one"), session="s2")
    assert not history.verdict.clean


def test_content_does_not_come_back_after_a_clearing() -> None:
    history = History()
    recorded(history, "c1", "one")
    history.did("clear", reply="CLEARED")
    found(history, "c1", ("miss", "unknown"))
    assert history.verdict.clean
    found(history, "c1", ("value", "one"))
    assert not history.verdict.clean


def test_content_may_be_evicted_where_there_is_no_room() -> None:
    history = History()
    for number in range(RULES.store_max_entries + 1):
        recorded(history, f"c{number}", "one")
    found(history, "c0", ("miss", "evicted"))
    assert history.verdict.clean


def test_an_id_is_recorded_once() -> None:
    history = History()
    recorded(history, "c1", "one")
    recorded(history, "c1", "two", reply=(False, "duplicate_call"))
    assert history.verdict.clean
    recorded(history, "c1", "two")
    assert not history.verdict.clean


def test_an_id_that_is_free_is_not_refused() -> None:
    history = History()
    recorded(history, "c1", "one", reply=(False, "duplicate_call"))
    assert not history.verdict.clean


def test_a_nested_call_is_not_stored_unasked() -> None:
    history = History()
    recorded(history, "c1", "one", nested=True, reply=(False, "nested_capture_disabled"))
    assert history.verdict.clean
    recorded(history, "c2", "one", nested=True)
    assert not history.verdict.clean


@pytest.mark.parametrize(
    ("ids", "clean"), [(("c1", "c2"), True), (("c2", "c1"), False), (("c1", "c1"), False), (("c1", "c9"), False)]
)
def test_the_list_of_calls_holds_what_was_recorded_in_order(ids: tuple[str, ...], clean: bool) -> None:
    history = History()
    recorded(history, "c1", "one")
    recorded(history, "c2", "two")
    history.did("calls", reply=ids)
    assert history.verdict.clean is clean


class Translated:
    """Two translations in one session, the second started when the first had been."""

    def __init__(self, **rules: Any) -> None:
        self.history = History(attrs.evolve(RULES, **rules))
        for request in ("x1", "x2"):
            registration = Registration(request, ("p1", "p2"), ("source of p1", "source of p2"))
            self.history.did("translate", request, argument=(registration, frozenset()), reply="STARTED")
            texts = (("p1", "result of p1"), ("p2", "result of p2"))
            self.history.did("respond", request, argument=texts, reply="taken")

    def closed(self, request: str, second: str = "COMMITTED") -> None:
        states = (("p1", "COMMITTED"), ("p2", second))
        self.history.did("status", request, reply=(False, "COMPLETED", states))


@pytest.mark.parametrize(
    ("turns", "clean"),
    [
        ((("x1", "p1"), ("x1", "p2"), ("x2", "p1")), True),
        ((("x1", "p2"), ("x1", "p1")), False),
        ((("x2", "p1"), ("x1", "p1")), False),
        ((("x1", "p1"), ("x1", "p1")), False),
        ((("x1", "p3"),), False),
        ((("x3", "p1"),), False),
    ],
    ids=["in order", "out of order", "requests out of order", "twice", "no parent", "no request"],
)
def test_turns_of_translations_stand_in_order_once(turns: tuple[tuple[str, str], ...], clean: bool) -> None:
    translated = Translated()
    translated.history.read(*(turn(*names) for names in turns))
    assert translated.history.verdict.clean is clean


def test_a_turn_has_a_text_that_the_provider_gave() -> None:
    translated = Translated()
    translated.history.read(turn("x1", "p1", "made up"))
    assert not translated.history.verdict.clean


def test_nothing_of_a_translation_commits_after_its_handle_closed() -> None:
    translated = Translated()
    translated.closed("x1", "DISCARDED")
    translated.history.read(turn("x1", "p1"), turn("x1", "p2"))
    assert not translated.history.verdict.clean


def test_what_a_translation_committed_is_there() -> None:
    translated = Translated()
    translated.closed("x1")
    translated.history.read(turn("x1", "p1"), turn("x1", "p2"))
    assert translated.history.verdict.clean
    translated.history.read(turn("x1", "p1"))
    assert not translated.history.verdict.clean


def test_turns_of_a_translation_do_not_come_back_after_a_clearing() -> None:
    translated = Translated()
    translated.history.did("clear", reply="CLEARED")
    translated.history.read(turn("x1", "p1"))
    assert not translated.history.verdict.clean


@pytest.mark.parametrize(
    ("outcomes", "clean"),
    [
        ([("COMPLETED", ("p1",), ("p2",), ())] * 2, True),
        ([("COMPLETED", ("p1",), ("p2",), ()), None], True),
        ([("COMPLETED", ("p1",), (), ())], False),
        ([("COMPLETED", ("p1", "p2"), ("p2",), ())], False),
        ([("COMPLETED", ("p1",), ("p2",), ()), ("CANCELLED", ("p1",), (), ("p2",))], False),
    ],
    ids=["the same again", "forgotten", "one missing", "one twice", "changed"],
)
def test_an_execution_has_one_outcome_that_tells_of_each_parent_once(outcomes: list[Any], clean: bool) -> None:
    translated = Translated()
    for outcome in outcomes:
        translated.history.did("outcome", "x1", reply=outcome)
    assert translated.history.verdict.clean is clean
