"""Each promise that the verdict checks, on a good history and on a bad one (C4, C8, C11, C15, C16)."""

from __future__ import annotations

import attrs
import pytest

from dragoman.scenarios import verdict_breaches as promises

from .histories import RULES, History, turn

PUNCTUAL = attrs.evolve(RULES, punctual=True)


def test_a_request_that_is_accepted_in_any_order_commits_in_source_order() -> None:
    history = History()
    history.register("r1", "p1", "p2", "p3")
    history.accept("r1", "p2")
    history.accept("r1", "p1", "p1", "p2")
    history.accept("r1", "p3", "p3")
    history.read(turn("r1", "p1"), turn("r1", "p2"), turn("r1", "p3"))
    assert history.verdict.clean
    assert (history.verdict.accepted, history.verdict.committed) == (3, 3)


def test_a_parent_that_commits_before_an_earlier_one_is_a_breach() -> None:
    history = History()
    history.register("r1", "p1", "p2")
    history.accept("r1", "p2", "p2")
    assert history.broken == [promises.CANONICAL]


def test_turns_out_of_order_are_a_breach() -> None:
    history = History()
    history.register("r1", "p1", "p2")
    history.accept("r1", "p1", "p1")
    history.accept("r1", "p2", "p2")
    history.read(turn("r1", "p2"), turn("r1", "p1"))
    assert history.broken == [promises.CANONICAL]


def test_a_later_request_waits_for_an_earlier_one_and_commits_without_another_ack() -> None:
    history = History()
    history.register("r1", "p1")
    history.register("r2", "q1")
    history.accept("r2", "q1")
    history.accept("r1", "p1", "p1")
    history.read(turn("r1", "p1"), turn("r2", "q1"))
    assert history.verdict.clean


def test_a_later_request_that_does_not_wait_is_a_breach() -> None:
    history = History()
    history.register("r1", "p1")
    history.register("r2", "q1")
    history.accept("r2", "q1", "q1")
    assert history.broken == [promises.CANONICAL]


def test_with_an_order_of_requests_alone_it_does_not_wait() -> None:
    history = History(attrs.evolve(RULES, in_session_order=False))
    history.register("r1", "p1")
    history.register("r2", "q1")
    history.accept("r2", "q1", "q1")
    assert history.verdict.clean


def test_a_parent_that_commits_twice_is_a_breach() -> None:
    history = History()
    history.register("r1", "p1", "p2")
    history.accept("r1", "p1", "p1")
    history.read(turn("r1", "p1"), turn("r1", "p1"))
    assert history.broken == [promises.ONCE]


def test_a_doubled_ack_is_a_duplicate() -> None:
    history = History()
    history.register("r1", "p1", "p2")
    history.accept("r1", "p1", "p1")
    history.accept("r1", "p1", status="DUPLICATE")
    assert history.verdict.clean


def test_a_doubled_ack_that_is_accepted_again_is_a_breach() -> None:
    history = History()
    history.register("r1", "p1", "p2")
    history.accept("r1", "p1", "p1")
    history.accept("r1", "p1", "p1")
    assert not history.verdict.clean


def test_an_accepted_parent_that_is_not_in_the_history_is_a_breach() -> None:
    history = History()
    history.register("r1", "p1", "p2")
    history.accept("r1", "p1", "p1")
    history.read()
    assert history.broken == [promises.ACCOUNTED]


def test_a_commit_that_was_made_to_fail_is_accounted_for() -> None:
    history = History()
    history.did("fail_commits", argument=1, reply=None)
    history.register("r1", "p1", "p2")
    history.accept("r1", "p1")
    history.accept("r1", "p2", "p2")
    history.read(turn("r1", "p2"))
    history.did("status", "r1", reply=(False, "COMPLETED", (("p1", "COMMIT_FAILED"), ("p2", "COMMITTED"))))
    assert history.verdict.clean


def test_a_commit_that_fails_by_itself_is_a_breach() -> None:
    history = History()
    history.register("r1", "p1", "p2")
    history.accept("r1", "p1")
    assert not history.verdict.clean


def test_what_was_trimmed_is_accounted_for_and_nothing_else() -> None:
    history = History()
    parents = tuple(f"p{place}" for place in range(6))
    history.register("r1", *parents)
    for parent in parents:
        history.accept("r1", parent, parent)
    newest = [turn("r1", parent) for parent in parents]
    history.read(*newest[2:])
    assert history.verdict.clean
    history.read(*newest[1:5])
    assert not history.verdict.clean


def test_a_turn_that_nobody_accepted_is_a_breach() -> None:
    history = History()
    history.register("r1", "p1", "p2")
    history.read(turn("r1", "p1"))
    assert history.broken == [promises.NO_PHANTOM]


def test_a_turn_with_another_text_is_a_breach() -> None:
    history = History()
    history.register("r1", "p1", "p2")
    history.accept("r1", "p1", "p1")
    history.read(turn("r1", "p1", "another text"))
    assert history.broken == [promises.NO_PHANTOM]


def test_the_first_text_stands() -> None:
    history = History()
    history.register("r1", "p1", "p2")
    first, second = history.begin("ack", "r1", "p1", "one"), history.begin("ack", "r1", "p1", "two")
    history.end(first, ("DUPLICATE", ()))
    history.end(second, ("ACCEPTED", ("p1",)))
    history.read(turn("r1", "p1", "two"))
    assert history.verdict.clean


def test_the_text_of_a_doubled_ack_that_came_second_is_a_breach() -> None:
    history = History()
    history.register("r1", "p1", "p2")
    history.did("ack", "r1", "p1", "one", reply=("ACCEPTED", ("p1",)))
    history.did("ack", "r1", "p1", "two", reply=("DUPLICATE", ()))
    history.read(turn("r1", "p1", "two"))
    assert history.broken == [promises.NO_PHANTOM]


def test_what_was_accepted_when_a_handle_closed_does_not_commit() -> None:
    history = History()
    history.register("r1", "p1", "p2")
    history.accept("r1", "p2")
    history.did("cancel", "r1", reply="DISPOSED")
    history.did("status", "r1", reply=(False, "CANCELLED", (("p1", "DISCARDED"), ("p2", "ACCEPTED"))))
    history.read()
    assert history.verdict.clean


def test_a_commit_after_the_handle_closed_is_a_breach() -> None:
    history = History()
    history.register("r1", "p1", "p2")
    history.accept("r1", "p2")
    history.did("cancel", "r1", reply="DISPOSED")
    history.read(turn("r1", "p2"))
    assert history.broken == [promises.NOT_AFTER_CLOSE]


def test_an_ack_after_the_end_is_stale() -> None:
    history = History()
    history.register("r1", "p1")
    history.did("dispatch_failed", "r1", reply="DISPOSED")
    history.accept("r1", "p1", status="STALE")
    assert history.verdict.clean


def test_an_ack_after_the_end_that_is_not_stale_is_a_breach() -> None:
    history = History()
    history.register("r1", "p1")
    history.did("dispatch_failed", "r1", reply="DISPOSED")
    history.accept("r1", "p1", "p1")
    assert history.broken == [promises.LATE]


@pytest.mark.parametrize(("status", "clean"), [("STALE", True), ("ACCEPTED", False), ("DUPLICATE", False)])
def test_an_ack_to_a_request_that_is_long_over_is_stale(status: str, clean: bool) -> None:
    history = History()
    history.register("r1", "p1")
    history.did("cancel", "r1", reply="DISPOSED")
    history.over("r1")
    history.did("ack", "r1", "p1", reply=(status, ()), is_over=True)
    assert history.verdict.clean is clean


def test_operations_that_overlap_may_take_effect_in_either_order() -> None:
    for status in ("ACCEPTED", "STALE"):
        history = History()
        history.register("r1", "p1")
        cancel = history.begin("cancel", "r1")
        ack = history.begin("ack", "r1", "p1")
        history.end(ack, (status, ("p1",) if status == "ACCEPTED" else ()))
        history.end(cancel, "UNKNOWN_REQUEST" if status == "ACCEPTED" else "DISPOSED")
        assert history.verdict.clean, status


def test_replies_that_fit_no_order_are_a_breach() -> None:
    history = History()
    history.register("r1", "p1")
    cancel = history.begin("cancel", "r1")
    ack = history.begin("ack", "r1", "p1")
    history.end(ack, ("ACCEPTED", ("p1",)))
    history.end(cancel, "DISPOSED")
    assert history.broken == [promises.ONE_ORDER]


def test_real_time_order_is_respected() -> None:
    history = History()
    history.register("r1", "p1", "p2")
    history.accept("r1", "p1", "p1")
    # The read began after the ACK was answered, so it must show the turn.
    history.read()
    assert history.broken == [promises.ACCOUNTED]


def test_an_order_that_shows_only_later_is_followed_until_then() -> None:
    for first, second in (("r1", "r2"), ("r2", "r1")):
        history = History()
        begun = [history.begin("register", request, argument=("p1",)) for request in ("r1", "r2")]
        for operation in begun:
            history.end(operation, "REGISTERED")
        history.accept(second, "p1")
        history.accept(first, "p1", "p1")
        history.read(turn(first, "p1"), turn(second, "p1"))
        assert history.verdict.clean


def test_an_eviction_before_a_registration_that_overlaps_shows_only_later() -> None:
    history = History(attrs.evolve(RULES, crowded=True))
    history.register("r1", "p1")
    history.accept("r1", "p1", "p1")
    register = history.begin("register", "r9", argument=("p1", "p2"))
    history.did("register", "r9", argument=("p1", "p2"), reply="DUPLICATE_REQUEST")
    history.accept("r9", "p2")
    history.read()
    history.end(register, "REGISTERED")
    history.accept("r9", "p1", "p1", "p2")
    history.read(turn("r9", "p1"), turn("r9", "p2"))
    assert history.verdict.clean


def test_a_window_may_end_once_it_is_due_and_not_before() -> None:
    for seconds, clean in ((11, True), (9, False)):
        history = History()
        history.register("r1", "p1")
        history.did("activate", "r1", reply="ACTIVATED")
        history.wait(seconds)
        history.accept("r1", "p1", status="STALE")
        history.did("status", "r1", reply=(False, "EXPIRED", (("p1", "DISCARDED"),)))
        assert history.verdict.clean is clean


def test_in_virtual_time_a_window_ends_at_its_instant() -> None:
    for seconds, clean in ((9.999999, True), (10, False)):
        history = History(PUNCTUAL)
        history.register("r1", "p1", "p2")
        history.did("activate", "r1", reply="ACTIVATED")
        history.wait(seconds)
        history.accept("r1", "p1", "p1")
        assert history.verdict.clean is clean


def test_a_handle_that_has_all_its_acks_does_not_expire() -> None:
    history = History()
    history.register("r1", "p1")
    history.register("r2", "q1")
    history.did("activate", "r2", reply="ACTIVATED")
    history.accept("r2", "q1")
    history.wait(11)
    history.did("status", "r2", reply=(False, "EXPIRED", (("q1", "ACCEPTED"),)))
    assert not history.verdict.clean


def test_a_request_that_was_never_activated_may_be_passed_over_when_another_has_waited() -> None:
    for activated in (False, True):
        history = History()
        history.register("r1", "p1")
        if activated:
            history.did("activate", "r1", reply="ACTIVATED")
        history.register("r2", "q1", "q2")
        history.accept("r2", "q1")
        history.wait(10)
        history.did("status", "r1", reply=(False, "PASSED_OVER", (("p1", "DISCARDED"),)))
        history.read(turn("r2", "q1"))
        assert history.verdict.clean is not activated


def test_a_session_ends_when_it_was_idle_for_longer_than_its_ttl() -> None:
    for seconds, clean in ((100, False), (100.000001, True)):
        history = History(PUNCTUAL)
        history.register("r1", "p1")
        history.accept("r1", "p1", "p1")
        history.wait(seconds)
        history.read()
        assert history.verdict.clean is clean


def test_an_idle_session_is_evicted_only_where_there_may_be_too_many() -> None:
    for crowded in (False, True):
        history = History(attrs.evolve(RULES, crowded=crowded))
        history.did("claim", reply=1)
        history.did("claim", reply=1)
        assert history.verdict.clean is crowded


def test_a_session_with_an_open_handle_is_never_evicted() -> None:
    history = History(attrs.evolve(RULES, crowded=True))
    history.register("r1", "p1")
    history.did("claim", reply=1)
    assert history.verdict.clean
    history.did("claim", reply=1)
    assert not history.verdict.clean


def test_what_was_cleared_does_not_come_back() -> None:
    history = History()
    history.register("r1", "p1", "p2")
    history.accept("r1", "p1", "p1")
    history.did("clear", reply="CLEARED")
    history.did("clear", reply="UNKNOWN_SESSION")
    history.read()
    assert history.verdict.clean
    history.read(turn("r1", "p1"))
    assert not history.verdict.clean


def test_a_closed_request_may_be_forgotten_after_its_time_and_not_before() -> None:
    for seconds, clean in ((99, False), (101, True)):
        history = History()
        history.register("r1", "p1")
        history.accept("r1", "p1", "p1")
        history.wait(seconds)
        history.did("status", "r1", reply=(False, None, ()))
        assert history.verdict.clean is clean


def test_overloaded_without_load_is_a_breach() -> None:
    history = History()
    for number in range(2):
        history.register(f"r{number}", "p1", session=f"s{number}")
    history.did("register", "r9", argument=("p1",), reply="OVERLOADED", session="s9")
    assert history.verdict.clean
    history = History()
    history.did("register", "r9", argument=("p1",), reply="OVERLOADED")
    assert history.broken == [promises.BOUNDS]


def test_what_must_be_refused_is_refused() -> None:
    for reply, clean in (("INVALID_HANDOFF", True), ("REGISTERED", False)):
        history = History()
        history.did("refused", "r1", argument="INVALID_HANDOFF", reply=reply)
        assert history.verdict.clean is clean


def test_a_call_without_an_answer_is_a_breach() -> None:
    history = History()
    history.begin("claim")
    assert history.broken == [promises.ANSWERED]


def test_a_call_that_raises_is_a_breach() -> None:
    history = History()
    history.did("claim", reply=("error", "ActorFailed"))
    assert history.broken == [promises.ANSWERED]


def test_messages_are_conserved() -> None:
    history = History()
    history.look(sent=11, handled=9, dead=1, queued=1)
    assert history.broken == [promises.CONSERVATION]
    history = History()
    history.look(sent=11, handled=9, dead=1)
    assert history.broken == [promises.CONSERVATION]
    history = History()
    history.look(at_rest=False, sent=11, handled=9, dead=1, queued=0)
    assert history.verdict.clean


@pytest.mark.parametrize(
    "parts",
    [
        {"sessions": tuple((f"s{number}", (), 0) for number in range(3))},
        {"sessions": (("s1", tuple(turn("r1", f"p{place}") for place in range(5)), 0),)},
        {"open_requests": tuple(f"r{number}" for number in range(6))},
        {"store": (("s1", 4, 10),), "store_bytes": 10},
        {"store": (("s1", 1, 1_001),), "store_bytes": 1_001},
        {"store_bytes": 2_001},
    ],
    ids=["sessions", "turns", "handles", "entries", "bytes of a session", "bytes in all"],
)
def test_every_bound_holds_at_every_look(parts: dict[str, object]) -> None:
    history = History()
    history.look(at_rest=False)
    assert history.verdict.clean
    history.look(at_rest=False, **parts)
    assert history.broken == [promises.BOUNDS]


def test_an_actor_that_failed_is_a_breach() -> None:
    history = History()
    history.look(failed=1)
    assert history.broken == [promises.NO_FAULT]


def test_at_rest_each_session_shows_what_its_operations_made_of_it() -> None:
    history = History()
    history.register("r1", "p1", "p2")
    history.accept("r1", "p1", "p1")
    history.look(sessions=(("s1", (turn("r1", "p1"),), 0),), open_requests=("r1",))
    assert history.verdict.clean
    history.look(sessions=(("s1", (turn("r1", "p1"),), 0),))
    assert not history.verdict.clean


def test_a_turn_that_was_lost_shows_at_rest() -> None:
    history = History()
    history.register("r1", "p1", "p2")
    history.accept("r1", "p1", "p1")
    history.look(sessions=(("s1", (), 0),), open_requests=("r1",))
    assert history.broken == [promises.ACCOUNTED]


def test_a_session_that_nobody_made_is_a_breach() -> None:
    history = History()
    history.look(sessions=(("s7", (), 3),))
    assert not history.verdict.clean


def test_the_evidence_is_short_and_holds_no_text() -> None:
    history = History()
    for number in range(20):
        history.register(f"a{number}", "p1")
        history.accept(f"a{number}", "p1", "p1")
        history.read(*(turn(f"a{known}", "p1") for known in range(max(0, number - 3), number + 1)))
    history.register("r1", "p1", "p2")
    history.accept("r1", "p1", "p1")
    history.accept("r1", "p1", status="DUPLICATE")
    history.accept("r1", "p2", "p1", "p2")
    (breach,) = history.verdict.breaches
    assert [line.split(": ", 1)[1].split(" →")[0] for line in breach.evidence] == [
        "register r1 in s1",
        "ack r1/p1",
        "ack r1/p2",
    ]
    assert "source of" not in "\n".join(breach.lines())
    assert "result of" not in "\n".join(breach.lines())
