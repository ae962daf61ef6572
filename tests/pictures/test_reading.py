"""The picture that is made of a journal: lanes, spans, turns, sentences, and where a failure is."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from dragoman import Handoff, Parent, Runtime, Settings
from dragoman.pictures import Capture, InvalidJournal, Outcome, Picture, picture_of, read_journal
from dragoman.scenarios import SHIPPED, replay_file
from dragoman.scenarios.scenario import read_scenario

from .runs import LONGEST, drawn, late


def said(picture: Picture, topic: str) -> list[str]:
    return [sentence.says for sentence in picture.sentences if sentence.topic == topic]


def lane(picture: Picture, request: str) -> Any:
    return next(lane for lane in picture.lanes if lane.id == request)


def span(picture: Picture, request: str, kind: str) -> Any:
    (found,) = [span for span in lane(picture, request).spans if span.kind == kind]
    return found


def test_who_waited_for_whom_and_how_long_is_said(tmp_path: Path) -> None:
    picture = late(tmp_path)
    assert said(picture, "Waited for its turn") == ["r2 waited 4.2 s for r1, which closed at 5.2 s (EXPIRED)"]


def test_which_ack_was_late_and_by_how_much_is_said(tmp_path: Path) -> None:
    picture = late(tmp_path)
    assert said(picture, "Came too late") == ["The ACK of r1/p3 came 1 s after its window had ended: STALE"]


def test_what_was_committed_when_is_said(tmp_path: Path) -> None:
    assert said(late(tmp_path), "Committed") == ["s1: r1 p1 at 1 s; r2 p1 at 5.2 s"]


def test_each_sentence_leads_to_the_event_that_it_speaks_of(tmp_path: Path) -> None:
    picture = late(tmp_path)
    (late_one,) = [sentence for sentence in picture.sentences if sentence.topic == "Came too late"]
    assert late_one.event is not None
    event = picture.events[late_one.event]
    assert (event.kind, event.word, event.at_us, event.late_us) == ("ack", "STALE", 6_200_000, 1_000_000)


def test_the_window_and_the_wait_of_a_request_begin_and_end_where_they_did(tmp_path: Path) -> None:
    picture = late(tmp_path)
    window, wait = span(picture, "r1", "window"), span(picture, "r2", "waiting")
    assert [picture.events[end].at_us for end in (window.begin, window.end)] == [200_000, 5_200_000]
    assert (window.until_us, window.word) == (5_200_000, "EXPIRED")
    assert [picture.events[end].at_us for end in (wait.begin, wait.end)] == [1_000_000, 5_200_000]
    assert [picture.lanes[place].id for place in wait.lanes] == ["r1"]


def test_the_history_grows_turn_by_turn_and_goes_with_its_session(tmp_path: Path) -> None:
    picture = late(tmp_path)
    (session,) = picture.sessions
    assert [(turn.user, turn.assistant) for turn in session.turns] == [("Hello", "Hallo"), ("Moon", "Mond")]
    ends = [None if turn.until is None else picture.events[turn.until].word for turn in session.turns]
    assert ends == ["EXPIRED", "EXPIRED"]


def test_a_failing_step_is_found_with_what_was_expected_and_what_was_so(tmp_path: Path) -> None:
    picture = late(tmp_path, expected="ACCEPTED")
    (failed,) = picture.outcome.failures
    assert (failed.step, failed.expected, failed.actual) == (7, '"ACCEPTED"', '"STALE"')
    assert failed.event is not None
    assert picture.events[failed.event].says.startswith("ACK of r1/p3: STALE")
    assert not picture.outcome.passed


def test_an_ack_stands_before_what_it_committed(tmp_path: Path) -> None:
    picture = late(tmp_path)
    told = [event.kind for event in picture.events if event.at_us == 1_000_000 and event.lane == 0]
    assert told == ["ack", "commit"]


def test_events_stand_in_the_order_of_time() -> None:
    picture = drawn(LONGEST)
    assert [event.at_us for event in picture.events] == sorted(event.at_us for event in picture.events)


@pytest.mark.parametrize("path", sorted((SHIPPED / "long").glob("*.yaml")), ids=lambda path: path.stem)
def test_the_history_of_a_picture_is_what_the_scenario_expects(path: Path) -> None:
    picture = drawn(path)
    scenario = read_scenario(path)
    expected = scenario.then["history"].value
    names = {session.id: session for session in picture.sessions}
    translated = {lane.id for lane in picture.lanes if lane.kind != "register"}
    for name, entry in expected.items():
        turns = [turn for turn in names[name].turns if turn.until is None] if name in names else []
        wanted = entry.value if hasattr(entry, "value") else entry
        assert len(turns) == len(wanted)
        for turn, (user, assistant) in zip(turns, wanted, strict=True):
            lane = picture.lanes[turn.lane]
            if lane.id not in translated:
                assert (cut(user), cut(assistant)) == (turn.user, turn.assistant)


def cut(text: str) -> str:
    return text if len(text) <= 400 else f"{text[:399]}…"


@pytest.mark.parametrize("path", sorted(SHIPPED.rglob("*.yaml"))[::9], ids=lambda path: path.stem)
def test_a_picture_tells_the_same_last_states_as_the_scenario_expects(path: Path) -> None:
    handles = read_scenario(path).then.get("handles")
    picture = drawn(path)
    if handles is None:
        assert picture.outcome.passed
        return
    for request, states in handles.value.items():
        lanes = [lane for lane in picture.lanes if lane.id == request]
        if not lanes:  # a request that was refused has no lane
            continue
        told = {parent.id: parent.state for parent in lanes[-1].parents}
        for parent, state in getattr(states, "value", states).items():
            assert told[parent] == getattr(state, "value", state)


def test_a_journal_on_the_disk_makes_a_picture_without_texts(tmp_path: Path) -> None:
    path = tmp_path / "journal"
    with Runtime(Settings(journal=path, ack_window=42.0)) as runtime:
        handoff = Handoff("r1", "s1", "openai", "select-element", parents=(Parent("p1", 0, "Hello, you"),))
        runtime.register(handoff).get()
        runtime.activate("r1").get()
        runtime.acknowledge("r1", "p1", "Hallo").get()
    journal = read_journal(path)
    picture = picture_of(journal.lines, Outcome(title="a journal"), settings=journal.head["settings"])
    (session,) = picture.sessions
    assert [(turn.user, turn.assistant) for turn in session.turns] == [(10, 5)]
    window = span(picture, "r1", "window")
    assert window.until_us - picture.events[window.begin].at_us == 42_000_000
    assert window.word == "COMPLETE_ACTIVE"
    assert picture.begin_us <= picture.events[0].at_us < picture.begin_us + 60_000_000


def test_what_is_no_journal_is_refused_with_its_place(tmp_path: Path) -> None:
    path = tmp_path / "journal"
    path.write_text("no journal\n{}\n", encoding="utf-8")
    with pytest.raises(InvalidJournal, match=r"journal:1: is no line of a journal: it is not JSON"):
        read_journal(path)


def test_a_line_that_lacks_what_its_kind_has_is_refused() -> None:
    with pytest.raises(InvalidJournal, match="a line lacks the key 'request'"):
        picture_of([{"t": 0, "k": "handle", "state": "ACTIVE"}], Outcome(title="broken"))


def test_a_kind_that_nobody_knows_is_passed_over() -> None:
    assert picture_of([{"t": 0, "k": "face"}, {"t": 0, "k": "news"}], Outcome(title="newer")).events == ()


def test_what_was_left_out_is_counted() -> None:
    capture = Capture(max_notes=5)
    replay_file(LONGEST, journal=capture)
    picture = picture_of(capture.lines(), Outcome(title="short"), left_out=capture.left_out)
    assert len(capture) == 5
    assert picture.left_out > 1_000


def test_a_journal_that_begins_in_the_middle_is_drawn_all_the_same() -> None:
    capture = Capture(texts=True)
    replay_file(LONGEST, journal=capture)
    lines = list(capture.lines())
    for first in range(0, len(lines), 97):
        picture = picture_of(lines[first:], Outcome(title="the rest"))
        json.dumps([event.says for event in picture.events])


def test_without_texts_only_lengths_are_shown(tmp_path: Path) -> None:
    capture = Capture()
    path = tmp_path / "short.yaml"
    step = "{at: 0s, register: {request: r1, session: s1, parents: {p1: Hello}}}"
    path.write_text(f"scenario: s\ntimeline: [{step}]\n", encoding="utf-8")
    replay_file(path, journal=capture)
    picture = picture_of(capture.lines(), Outcome(title="s"), texts=True)
    assert lane(picture, "r1").parents[0].source == 5
