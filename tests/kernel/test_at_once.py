"""Messages that are handled in the thread of their sender, and questions that are answered at once."""

from __future__ import annotations

import asyncio
import contextlib
import queue
import sys
import threading
from typing import Any

import pytest
from loguru import logger

from dragoman.actors.futures import Answered, Future
from dragoman.actors.mailbox import LATER, Envelope, Mailbox
from dragoman.actors.simulation import SimulatedDispatcher
from dragoman.actors.threads import ThreadDispatcher
from dragoman.protocol.errors import ActorFailed, ActorStopped, BlockingInHandler, InvalidArgument

from ..stacks import at_depth, stack_depth
from .probes import PATIENCE_S, Countdown, Do, Doer, Stopper, conserved, in_threads
from .test_mailbox import SENDERS, Careful, send_all


class Prompt(Doer):
    """Answers a text at once, as long as it is a short one."""

    in_registry = False
    prompt = True

    def answer_at_once(self, message: Any) -> Any:
        if message == "a fault":
            raise LookupError("a secret text")
        if message == "too deep":
            raise RecursionError
        return message if isinstance(message, str) and len(message) < 10 else LATER


class PromptCareful(Careful):
    prompt = True

    def answer_at_once(self, message: Any) -> Any:
        return self._take(message, Envelope(message))


class PromptStopper(Stopper):
    prompt = True


def prompt(dispatcher: Any) -> Mailbox:
    return Prompt(dispatcher).spawn()


def at_once(dispatcher: ThreadDispatcher, mailbox: Mailbox, question: object) -> Future[Any]:
    answer = dispatcher.ask_at_once(mailbox, question)
    assert answer is not None
    return answer


def done(dispatcher: Any, mailbox: Mailbox, message: object) -> Future[Any]:
    return dispatcher.ask(mailbox, message)  # type: ignore[no-any-return]


def test_a_prompt_actor_that_rests_handles_in_the_thread_that_sends(threaded: ThreadDispatcher) -> None:
    answer = done(threaded, prompt(threaded), Do(lambda _actor: threading.get_ident()))
    assert answer.done
    assert answer.get() == threading.get_ident()
    assert threaded._threads == []


def test_under_simulation_nothing_runs_before_somebody_waits(simulated: SimulatedDispatcher) -> None:
    mailbox = prompt(simulated)
    answer = done(simulated, mailbox, "text")
    assert not answer.done
    assert simulated.ask_at_once(mailbox, "text") is None
    assert answer.get() == "text"


def test_what_an_actor_sends_itself_is_handled_after_what_it_handles_now(threaded: ThreadDispatcher) -> None:
    mailbox = prompt(threaded)
    seen: list[str] = []

    def twice(_actor: Prompt) -> None:
        mailbox.tell(Do(lambda _actor: seen.append("second")))
        assert threaded.ask_at_once(mailbox, "text") is None
        seen.append("first")

    threaded.ask(mailbox, Do(twice)).get(PATIENCE_S)
    assert seen == ["first", "second"]


def test_a_chain_of_prompt_actors_runs_in_one_thread_and_back(threaded: ThreadDispatcher) -> None:
    first, second = prompt(threaded), prompt(threaded)
    threads: list[int] = []

    def note(_actor: object) -> None:
        threads.append(threading.get_ident())

    def forth(_actor: object) -> None:
        note(_actor)
        second.tell(Do(back))

    def back(_actor: object) -> None:
        note(_actor)
        first.tell(Do(note))

    threaded.ask(first, Do(forth)).get(PATIENCE_S)
    assert threads == [threading.get_ident()] * 3


def test_each_senders_messages_come_in_order_and_one_at_a_time(threaded: ThreadDispatcher) -> None:
    count = 5_000
    counted = Countdown(SENDERS * count)
    actor = PromptCareful(threaded, counted)
    receiver = actor.spawn()
    in_threads(*(lambda sender=sender: send_all(receiver, sender, count) for sender in range(SENDERS)))
    assert counted.wait() == 0
    assert actor.overlaps == 0
    for sender in range(SENDERS):
        assert [number for who, number in actor.seen if who == sender] == list(range(count))


def test_questions_at_once_messages_and_workers_never_run_one_mailbox_at_a_time(threaded: ThreadDispatcher) -> None:
    count = 2_000
    actor = PromptCareful(threaded, Countdown(SENDERS * count))
    receiver = actor.spawn()

    def ask_all(sender: int) -> None:
        for number in range(count):
            if number % 3:
                question = sender, number
                (threaded.ask_at_once(receiver, question) or threaded.ask(receiver, question)).get(PATIENCE_S)
            else:
                threaded.ask(receiver, (sender, number)).get(PATIENCE_S)

    in_threads(*(lambda sender=sender: ask_all(sender) for sender in range(SENDERS)))
    assert actor.overlaps == 0
    for sender in range(SENDERS):
        assert [number for who, number in actor.seen if who == sender] == list(range(count))
    counts = threaded.counts()
    assert conserved(counts)
    assert counts.handled == SENDERS * count


@pytest.mark.parametrize("times", range(20))
def test_closing_among_senders_answers_every_question_and_conserves(threaded: ThreadDispatcher, times: int) -> None:
    receiver = PromptStopper(threaded).spawn()
    asked: list[Future[Any]] = []

    def ask_all() -> None:
        asked.extend(threaded.ask(receiver, number) for number in range(100))

    def stop() -> None:
        asked.extend(threaded.ask(receiver, 1) for _ in range(times * 5))
        asked.append(threaded.ask(receiver, -1))

    in_threads(ask_all, ask_all, stop)
    answers = []
    for future in asked:
        try:
            answers.append(future.get(PATIENCE_S))
        except Exception as error:
            answers.append(type(error).__name__)
    assert set(answers) <= {*range(101), "ActorGone"}
    counts = threaded.counts()
    assert counts.queued == 0
    assert conserved(counts)
    assert counts.sent == len(asked)


@pytest.mark.parametrize("way", ["callback", "sink", "handler"])
def test_waiting_inside_raises_at_once_wherever_a_handler_leads(threaded: ThreadDispatcher, way: str) -> None:
    mailbox = prompt(threaded)
    errors: list[str] = []

    def wait(_cause: object = None) -> None:
        try:
            threaded.ask(mailbox, "never there in time").get(PATIENCE_S)
        except BlockingInHandler as error:
            errors.append(type(error).__name__)

    def act(_actor: object) -> None:
        if way == "callback":
            answer: Future[None] = Future(threaded)
            answer.add_done_callback(wait)
            answer.settle(None, None)
        elif way == "sink":
            logger.enable("dragoman")
            sink = logger.add(wait, level="DEBUG")
            try:
                threaded.dead_letter("text", "closed")
            finally:
                logger.remove(sink)
                logger.disable("dragoman")
        else:
            wait()

    threaded.ask(mailbox, Do(act)).get(PATIENCE_S)
    assert errors == ["BlockingInHandler"]


def test_a_question_at_once_is_answered_or_takes_its_way_through_the_queue(threaded: ThreadDispatcher) -> None:
    mailbox = prompt(threaded)
    assert mailbox.ask_at_once("short") == "short"
    assert mailbox.ask_at_once("much too long") is LATER
    assert threaded.ask_at_once(mailbox, "much too long") is None
    assert threaded.ask(mailbox, "much too long").get(PATIENCE_S) == "much too long"
    assert mailbox.actor.seen == ["much too long"]  # type: ignore[union-attr]
    threaded.retire(mailbox)
    assert mailbox.ask_at_once("short") is LATER
    counts = threaded.counts()
    assert (counts.handled, conserved(counts)) == (2, True)


def test_a_question_at_once_waits_behind_what_came_before(threaded: ThreadDispatcher) -> None:
    mailbox = prompt(threaded)
    asked: list[Future[Any]] = []

    def act(_actor: object) -> None:
        asked.append(threaded.ask(mailbox, "before"))
        assert threaded.ask_at_once(mailbox, "after") is None

    threaded.ask(mailbox, Do(act)).get(PATIENCE_S)
    assert [future.get(PATIENCE_S) for future in asked] == ["before"]


def test_no_question_is_answered_at_once_while_somebody_watches(threaded: ThreadDispatcher) -> None:
    mailbox = prompt(threaded)
    threaded.observer = lambda *_what: None
    assert threaded.ask_at_once(mailbox, "text") is None
    threaded.observer = None
    assert at_once(threaded, mailbox, "text").get() == "text"


def test_no_question_is_answered_at_once_inside_of_a_handler(threaded: ThreadDispatcher) -> None:
    mailbox, other = prompt(threaded), Doer(threaded).spawn()
    answer = threaded.ask(other, Do(lambda _actor: threaded.ask_at_once(mailbox, "text")))
    assert answer.get(PATIENCE_S) is None


def overtaken(mailbox: Mailbox, message: str) -> None:
    """Put a message where its sender has come too late for the right to run, and its runner too early for it."""
    mailbox._incoming = [Envelope(message)]
    mailbox._queued += 1


def test_what_came_as_the_right_to_run_was_given_back_is_handled_first(threaded: ThreadDispatcher) -> None:
    mailbox = prompt(threaded)
    overtaken(mailbox, "before a question")
    assert mailbox.ask_at_once("question") is LATER
    overtaken(mailbox, "before a message")
    threaded.ask(mailbox, "a message, too long").get(PATIENCE_S)
    assert mailbox.actor.seen == ["before a question", "before a message", "a message, too long"]  # type: ignore[union-attr]


def test_from_the_end_of_a_stack_what_came_meanwhile_is_left_to_a_worker(threaded: ThreadDispatcher) -> None:
    mailbox = prompt(threaded)
    where: list[int] = []
    handled = Countdown(1)

    def ask_as_another_has_sent() -> object:
        mailbox._incoming = [Envelope(Do(lambda _actor: (where.append(threading.get_ident()), handled.count())))]
        mailbox._queued += 1
        return mailbox.ask_at_once("question")

    depth = sys.getrecursionlimit() - stack_depth() - 100
    assert at_depth(depth, ask_as_another_has_sent) is LATER
    assert handled.wait() == 0
    assert where != [threading.get_ident()]


def test_what_comes_after_the_end_of_a_prompt_actor_is_dead(threaded: ThreadDispatcher) -> None:
    mailbox = prompt(threaded)
    threaded.retire(mailbox)
    with pytest.raises(ActorStopped):
        threaded.ask(mailbox, "text").get(PATIENCE_S)
    counts = threaded.counts()
    assert (counts.sent, counts.handled, counts.dead) == (1, 0, 1)


def test_an_answer_at_once_that_runs_out_of_stack_is_given_later(threaded: ThreadDispatcher) -> None:
    mailbox = prompt(threaded)
    assert threaded.ask_at_once(mailbox, "too deep") is None
    assert threaded.ask(mailbox, "too deep").get(PATIENCE_S) == "too deep"
    counts = threaded.counts()
    assert (counts.failed, counts.handled, conserved(counts)) == (0, 1, True)


def test_a_fault_in_an_answer_at_once_is_that_of_any_handler(threaded: ThreadDispatcher) -> None:
    mailbox = prompt(threaded)
    with pytest.raises(ActorFailed) as failed:
        at_once(threaded, mailbox, "a fault").get(PATIENCE_S)
    assert (failed.value.error_type, "secret" in str(failed.value)) == ("LookupError", False)
    assert failed.value.__context__ is None
    assert len(mailbox.actor.failures) == 1  # type: ignore[union-attr]
    assert at_once(threaded, mailbox, "go on").get(PATIENCE_S) == "go on"
    counts = threaded.counts()
    assert (counts.failed, counts.handled, conserved(counts)) == (1, 2, True)


def test_an_answer_that_was_there_at_once_is_a_future_like_any_other() -> None:
    called: list[object] = []
    future: Answered[int] = Answered(5)
    future.add_done_callback(called.append)
    assert (future.get(), future.get(timeout=0), future.done, called) == (5, 5, True, [future])
    assert not future.settle(6, None)
    for change in (lambda: future.set(6), lambda: future.set_get_hook(lambda _timeout: 6)):
        with pytest.raises(queue.Full):
            change()
    with pytest.raises(InvalidArgument):
        future.get(timeout="long")  # type: ignore[arg-type]
    assert future.map(lambda number: number + 1).get() == 6
    assert repr(future) == "<Future done>"

    async def wait() -> list[int]:
        return [await future, *await asyncio.gather(future, Answered(7))]

    assert asyncio.run(wait()) == [5, 5, 7]


def test_a_message_that_no_handler_knows_is_told_to_its_sender_alone(threaded: ThreadDispatcher) -> None:
    mailbox = prompt(threaded)
    answer: Future[Any] = Future(threaded)
    mailbox.put(Envelope(3.5, answer))
    with pytest.raises(ActorFailed, match="TypeError"):
        answer.get(PATIENCE_S)


def test_a_stack_that_is_exhausted_leaves_the_actor_alive(threaded: ThreadDispatcher) -> None:
    mailbox = prompt(threaded)
    outcomes: set[str] = set()

    def dive(depth: int) -> None:
        """Ask at each depth on the way up from the very end of the stack."""
        with contextlib.suppress(RecursionError):
            dive(depth + 1)
        if depth % 2:
            return
        try:
            (threaded.ask_at_once(mailbox, "short") or threaded.ask(mailbox, Do(len))).get(PATIENCE_S)
            outcomes.add("answered")
        except (RecursionError, ActorFailed) as error:
            outcomes.add(type(error).__name__)
        try:
            threaded.ask(mailbox, "much too long").get(PATIENCE_S)
        except (RecursionError, ActorFailed) as error:
            outcomes.add(type(error).__name__)

    diver = threading.Thread(target=dive, args=(0,))
    diver.start()
    diver.join(PATIENCE_S)
    assert not diver.is_alive()
    assert outcomes >= {"answered", "RecursionError"}
    assert threaded.ask(mailbox, "still here").get(PATIENCE_S) == "still here"
