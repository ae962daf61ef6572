"""Pykka's own surface works on this kernel; the three points for implementors are still there (design 3)."""

from __future__ import annotations

from importlib import metadata
from typing import Any

import pykka
import pytest

from dragoman.actors.actor import Actor, handles
from dragoman.actors.dispatcher import Dispatcher
from dragoman.actors.futures import Future
from dragoman.actors.mailbox import Envelope
from dragoman.protocol.errors import ActorFailed, ActorStopped

from .probes import PATIENCE_S, Do, Doer, mailbox_of, start


class Shop(Actor):
    """An actor as pykka's users write them: fields and methods, reached through a proxy."""

    def __init__(self, dispatcher: Dispatcher) -> None:
        super().__init__(dispatcher)
        self.stock = 3

    def sell(self, count: int) -> int:
        if count > self.stock:
            raise ValueError("not so many")
        self.stock -= count
        return self.stock


class Diary(Actor):
    """Writes down its own life."""

    def __init__(self, dispatcher: Dispatcher, pages: list[str]) -> None:
        super().__init__(dispatcher)
        self.pages = pages

    def on_start(self) -> None:
        self.pages.append("start")

    def on_stop(self) -> None:
        self.pages.append("stop")

    @handles(str)
    def _write(self, message: str, _envelope: Envelope[Any]) -> None:
        self.pages.append(message)


class Eager(Diary):
    """Tells itself something before it was started, as pykka allows."""

    def __init__(self, dispatcher: Dispatcher, pages: list[str]) -> None:
        super().__init__(dispatcher, pages)
        self.actor_ref.tell("told before the start")


def test_the_installed_pykka_is_the_one_that_is_pinned() -> None:
    assert metadata.version("pykka").split(".")[0] == "4"
    (pin,) = [line for line in metadata.requires("dragoman") or () if line.startswith("pykka")]
    assert "<5" in pin


def test_pykka_has_the_three_points_for_implementors_and_no_other() -> None:
    assert pykka.Actor.__abstractmethods__ == {"_create_actor_inbox", "_create_future", "_start_actor_loop"}


def test_an_ask_gives_the_answer(dispatcher: Dispatcher) -> None:
    assert start(Doer, dispatcher).ask("word", timeout=PATIENCE_S) == "word"


def test_an_ask_without_blocking_gives_a_future_of_pykkas_type(dispatcher: Dispatcher) -> None:
    future = start(Doer, dispatcher).ask("word", block=False)
    assert isinstance(future, pykka.Future)
    assert isinstance(future, Future)
    assert future.get(timeout=PATIENCE_S) == "word"


def test_what_was_told_is_handled_before_what_is_asked_after_it(dispatcher: Dispatcher) -> None:
    ref = start(Doer, dispatcher)
    ref.tell("first")
    ref.tell("second")
    assert ref.ask(Do(lambda actor: list(actor.seen)), timeout=PATIENCE_S) == ["first", "second"]


def test_a_started_actor_is_alive_until_it_is_stopped(dispatcher: Dispatcher) -> None:
    ref = start(Doer, dispatcher)
    assert ref.is_alive()
    assert ref.stop(timeout=PATIENCE_S) is True
    assert not ref.is_alive()
    assert ref.stop(timeout=PATIENCE_S) is False


def test_a_stopped_actor_refuses_with_pykkas_error(dispatcher: Dispatcher) -> None:
    ref = start(Doer, dispatcher)
    ref.stop(timeout=PATIENCE_S)
    with pytest.raises(pykka.ActorDeadError):
        ref.tell("late")
    with pytest.raises(pykka.ActorDeadError):
        ref.ask("late", timeout=PATIENCE_S)


def test_what_was_sent_before_the_stop_is_handled_and_what_came_after_is_refused(dispatcher: Dispatcher) -> None:
    ref = start(Doer, dispatcher)
    before, after = [], []

    def send_and_stop(actor: Doer) -> None:
        before.append(actor.actor_ref.ask("before", block=False))
        actor.stop()
        after.append(actor.actor_ref.ask("after", block=False))
        after.append(actor.actor_ref.stop(block=False))

    ref.ask(Do(send_and_stop), timeout=PATIENCE_S)
    assert before[0].get(timeout=PATIENCE_S) == "before"
    with pytest.raises(pykka.ActorDeadError) as refused:
        after[0].get(timeout=PATIENCE_S)
    assert isinstance(refused.value, ActorStopped)
    assert after[1].get(timeout=PATIENCE_S) is True, "a stop of what was being stopped succeeds"


def test_a_proxy_calls_methods_and_reads_and_sets_fields(dispatcher: Dispatcher) -> None:
    shop: Any = start(Shop, dispatcher).proxy()
    assert shop.sell(1).get(timeout=PATIENCE_S) == 2
    assert shop.stock.get(timeout=PATIENCE_S) == 2
    shop.stock = 10
    shop.sell.defer(4)
    assert shop.stock.get(timeout=PATIENCE_S) == 6


def test_a_method_that_raises_behind_a_proxy_is_a_failed_actor(dispatcher: Dispatcher) -> None:
    shop: Any = start(Shop, dispatcher).proxy()
    with pytest.raises(ActorFailed) as failed:
        shop.sell(99).get(timeout=PATIENCE_S)
    assert failed.value.error_type == "ValueError"
    assert shop.stock.get(timeout=PATIENCE_S) == 3


def test_on_start_comes_before_every_message_and_on_stop_after(dispatcher: Dispatcher) -> None:
    pages: list[str] = []
    ref = start(Diary, dispatcher, pages)
    ref.tell("one")
    ref.tell("two")
    ref.stop(timeout=PATIENCE_S)
    assert pages == ["start", "one", "two", "stop"]


def test_on_start_comes_before_what_the_actor_told_itself_while_it_was_made(dispatcher: Dispatcher) -> None:
    pages: list[str] = []
    start(Eager, dispatcher, pages).stop(timeout=PATIENCE_S)
    assert pages == ["start", "told before the start", "stop"]


def test_on_failure_is_told_of_the_fault_under_ask_and_under_tell(dispatcher: Dispatcher) -> None:
    ref = start(Doer, dispatcher)
    ref.tell(Do(lambda _actor: 1 // 0))
    with pytest.raises(ActorFailed):
        ref.ask(Do(lambda _actor: 1 // 0), timeout=PATIENCE_S)
    failures = ref.ask(Do(lambda actor: list(actor.failures)), timeout=PATIENCE_S)
    assert [(kind, value.error_type, trace) for kind, value, trace in failures] == [
        (ActorFailed, "ZeroDivisionError", None)
    ] * 2


def test_the_registry_knows_owners_and_no_children(dispatcher: Dispatcher) -> None:
    ref = start(Doer, dispatcher)

    def bear(actor: Doer) -> pykka.ActorRef[Any]:
        child = Doer(actor.dispatcher)
        child.spawn()
        return child.actor_ref

    child = ref.ask(Do(bear), timeout=PATIENCE_S)
    assert child.ask("hello", timeout=PATIENCE_S) == "hello"
    assert ref in pykka.ActorRegistry.get_all()
    assert child not in pykka.ActorRegistry.get_all()


def test_a_stopped_owner_leaves_the_registry(dispatcher: Dispatcher) -> None:
    ref = start(Doer, dispatcher)
    ref.stop(timeout=PATIENCE_S)
    assert ref not in pykka.ActorRegistry.get_all()


def test_an_owner_that_the_dispatcher_retires_leaves_the_registry(dispatcher: Dispatcher) -> None:
    ref = start(Doer, dispatcher)
    dispatcher.stop(PATIENCE_S)
    dispatcher.retire_all()
    assert not ref.is_alive()
    assert ref not in pykka.ActorRegistry.get_all()


def test_the_registry_stops_what_it_knows(dispatcher: Dispatcher) -> None:
    refs = [start(Doer, dispatcher) for _ in range(3)]
    assert all(pykka.ActorRegistry.stop_all(timeout=PATIENCE_S))
    assert [ref.is_alive() for ref in refs] == [False] * 3


def test_a_message_without_a_handler_is_a_fault_of_its_sender(dispatcher: Dispatcher) -> None:
    ref = start(Doer, dispatcher)
    with pytest.raises(ActorFailed) as failed:
        ref.ask(b"bytes", timeout=PATIENCE_S)
    assert failed.value.error_type == "TypeError"
    assert ref.ask("still here", timeout=PATIENCE_S) == "still here"


def test_the_length_of_a_mailbox_is_what_waits_in_it(simulated: Dispatcher) -> None:
    mailbox = mailbox_of(start(Doer, simulated))
    mailbox.tell("one")
    mailbox.tell("two")
    assert len(mailbox) == 2
