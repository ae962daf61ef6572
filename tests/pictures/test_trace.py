"""The trace of the actors: by the rules of the format, complete, and without a text."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from itertools import pairwise
from typing import Any

import pytest

from dragoman.actors.simulation import SimulatedDispatcher
from dragoman.actors.tracing import Tracer
from dragoman.pictures import trace
from dragoman.runtime import Runtime
from dragoman.scenarios import SHIPPED, replay_file
from dragoman.scenarios.load import run_load
from dragoman.scenarios.load_options import LoadOptions

ISLAND = SHIPPED / "long" / "chapter-of-an-island-novel.yaml"


def simulated() -> tuple[str, Tracer]:
    tracer = Tracer()
    assert replay_file(ISLAND, tracer=tracer).passed
    return "an island", tracer


def threaded() -> tuple[str, Tracer]:
    tracer = Tracer()
    options = LoadOptions(sessions=8, requests=12, parents=10, callers=4, mode="threads", faults="light")
    assert run_load(options, tracer=tracer).verdict.clean
    return "a load", tracer


@pytest.fixture(params=[simulated, threaded], ids=["virtual time", "threads"])
def traced(request: pytest.FixtureRequest) -> Tracer:
    return request.param()[1]  # type: ignore[no-any-return]


def events_of(tracer: Tracer) -> list[dict[str, Any]]:
    return json.loads(trace([("a run", tracer)]))["traceEvents"]  # type: ignore[no-any-return]


def test_each_event_has_the_keys_that_its_kind_asks_for(traced: Tracer) -> None:
    keys = {"M": {"args"}, "X": {"dur", "args", "cat"}, "s": {"id", "cat"}, "f": {"id", "cat", "bp"}}
    for event in events_of(traced):
        assert {"ph", "name", "pid", "tid", "ts"} | keys[event["ph"]] <= event.keys()
        assert event["ts"] >= 0


def test_the_events_stand_in_the_order_of_their_time(traced: Tracer) -> None:
    times = [event["ts"] for event in events_of(traced) if event["ph"] != "M"]
    assert times == sorted(times)


def test_each_actor_has_a_named_track_and_each_message_is_one_slice(traced: Tracer) -> None:
    events = events_of(traced)
    names = {event["tid"]: event["args"]["name"] for event in events if event["name"] == "thread_name"}
    slices = [event for event in events if event["ph"] == "X"]
    assert len(slices) == len(traced.handled)
    assert Counter(names[one["tid"]] for one in slices) == Counter(handled.actor for handled in traced.handled)
    assert {"AcceptanceCoordinator", "SessionManager"} <= set(names.values())


def test_the_slices_of_a_track_do_not_overlap(traced: Tracer) -> None:
    tracks: defaultdict[int, list[dict[str, Any]]] = defaultdict(list)
    for event in events_of(traced):
        if event["ph"] == "X":
            tracks[event["tid"]].append(event)
    for slices in tracks.values():
        for before, after in pairwise(slices):
            assert before["ts"] + before["dur"] <= after["ts"]
            assert before["dur"] > 0


def test_each_arrow_begins_in_a_slice_of_its_sender_and_ends_at_one_of_its_receiver(traced: Tracer) -> None:
    events = events_of(traced)
    slices = [event for event in events if event["ph"] == "X"]
    starts = {event["id"]: event for event in events if event["ph"] == "s"}
    ends = {event["id"]: event for event in events if event["ph"] == "f"}
    assert starts.keys() == ends.keys()
    assert len(starts) == sum(event["ph"] == "s" for event in events)
    assert len(starts) > 20
    for number, start in starts.items():
        end = ends[number]
        assert start["ts"] <= end["ts"]
        assert start["name"] == end["name"]
        for point in (start, end):
            assert any(
                one["tid"] == point["tid"] and one["ts"] <= point["ts"] <= one["ts"] + one["dur"] for one in slices
            )


def test_an_arrow_goes_from_who_sent_a_message_to_who_handled_it() -> None:
    events = events_of(simulated()[1])
    names = {event["tid"]: event["args"]["name"] for event in events if event["name"] == "thread_name"}
    arrows = defaultdict(list)
    for event in events:
        if event["ph"] in "sf":
            arrows[event["id"]].append(event)
    ways = {(start["name"], names[start["tid"]].partition("(")[0], names[end["tid"]]) for start, end in arrows.values()}
    assert ("CommitTurns", "AcceptanceHandle", "SessionManager") in ways


def test_several_runs_are_processes_of_one_trace() -> None:
    runs = [simulated(), simulated()]
    events = json.loads(trace(runs))["traceEvents"]
    assert {event["pid"] for event in events} == {1, 2}
    ids = [event["id"] for event in events if event["ph"] == "s"]
    assert len(ids) == len(set(ids))


def test_a_trace_holds_no_text() -> None:
    told = trace([simulated()]).decode()
    assert "ferry" in ISLAND.read_text(encoding="utf-8")
    assert "ferry" not in told


def test_a_trace_changes_nothing_of_what_it_traces() -> None:
    plain = replay_file(ISLAND, with_timeline=True)
    traced = replay_file(ISLAND, with_timeline=True, tracer=Tracer())
    assert traced == plain


def test_a_trace_is_bounded_and_counts_what_it_left_out() -> None:
    tracer = Tracer(max_handled=10)
    replay_file(ISLAND, tracer=tracer)
    assert len(tracer.handled) == 10
    assert tracer.left_out > 500
    assert json.loads(trace([("short", tracer)]))["otherData"]["messages left out"] == tracer.left_out


def test_without_a_tracer_no_mailbox_is_another_than_it_was() -> None:
    dispatcher = SimulatedDispatcher(0)
    with Runtime(dispatcher=dispatcher) as runtime:
        assert {type(mailbox).__name__ for mailbox in dispatcher._live} == {"Mailbox"}
        assert runtime.snapshot().open_handles == 0
