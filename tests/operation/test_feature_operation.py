"""A feature operation: several requests in flight, prompts that do not depend on timing, and work that is not lost."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from dragoman import (
    FeatureOperation,
    InvalidArgument,
    OperationProgress,
    OperationReport,
    ProviderCall,
    ProviderPolicy,
    Runtime,
    Settings,
    TextDocument,
    Turn,
    operation_settings,
)

from .providers import Gated, Prompt, Swapping, answer_of, shuffled


def page(count: int, name: str = "page", **options: Any) -> TextDocument:
    return TextDocument({f"p{number}": f"Text number {number}" for number in range(count)}, document=name, **options)


class Ran:
    def __init__(self, report: OperationReport, turns: tuple[Turn, ...]) -> None:
        self.report = report
        self.turns = [(turn.user, turn.assistant) for turn in turns]


def run(
    provider: Any,
    *documents: TextDocument,
    concurrency: int = 4,
    group_parents: int = 5,
    policy: ProviderPolicy | None = None,
    settings: dict[str, Any] | None = None,
    **options: Any,
) -> Ran:
    async def work() -> Ran:
        made = operation_settings(concurrency=concurrency, group_parents=group_parents, **(settings or {}))
        async with Runtime(made, providers={"openai": policy or ProviderPolicy()}) as runtime:
            operation = FeatureOperation(
                runtime,
                documents,
                session_id="s1",
                target_language="de",
                provider=provider,
                concurrency=concurrency,
                group_parents=group_parents,
                **options,
            )
            report = await operation.run()
            turns = await runtime.history("s1", max_turns=10**6)
            left = runtime.snapshot()
            assert (left.running, left.open_requests, left.open_calls) == ((), (), ())
            return Ran(report, turns)

    return asyncio.run(work())


def in_pairs(runtime: Runtime, documents: list[TextDocument], provider: Any, **options: Any) -> FeatureOperation:
    """An operation of which two requests of one parent each are in flight."""
    return FeatureOperation(
        runtime,
        documents,
        session_id="s1",
        target_language="de",
        provider=provider,
        concurrency=2,
        group_parents=1,
        **options,
    )


def by_content(prompt: Prompt) -> tuple[object, ...]:
    return prompt.key()


def test_every_parent_is_translated_and_remembered_in_source_order() -> None:
    document = page(23)
    ran = run(Swapping(shuffled(1)), document)
    sources = [f"Text number {number}" for number in range(23)]
    assert document.texts() == {f"p{number}": answer_of(text) for number, text in enumerate(sources)}
    assert ran.turns == [(text, answer_of(text)) for text in sources]
    report = ran.report
    assert report.complete
    assert (report.parents, report.accepted, report.resumed, report.calls, report.retries) == (23, 23, 0, 5, 0)
    assert (report.input_tokens, report.output_tokens, report.unrecorded) == (10, 15, 0)
    assert not report.interrupted
    assert report.gave_up is None


@pytest.mark.parametrize("concurrency", [1, 2, 5, 16])
def test_as_many_requests_are_in_flight_as_was_said_and_the_history_is_the_same(concurrency: int) -> None:
    provider = Swapping(shuffled(2))
    ran = run(provider, page(80), concurrency=concurrency)
    assert provider.most_open <= concurrency
    assert ran.turns == [(f"Text number {number}", answer_of(f"Text number {number}")) for number in range(80)]


def test_two_runs_with_other_timings_send_the_same_prompts() -> None:
    prompts = []
    for seed in range(6):
        provider = Swapping(shuffled(seed))
        document = TextDocument({f"p{n}": ["Some ", "bold", f" text {n}"] for n in range(40)})
        run(provider, document, concurrency=3, group_parents=2)
        prompts.append(sorted(map(by_content, provider.prompts)))
    assert all(other == prompts[0] for other in prompts[1:])


def test_a_prompt_holds_the_turns_of_the_groups_up_to_k_minus_n_and_of_no_later_one() -> None:
    provider = Swapping(shuffled(3))
    run(provider, page(12), concurrency=3, group_parents=1, settings={"prompt_turns": 2})
    context = {prompt.asked[0][0]: [user for user, _ in prompt.context] for prompt in provider.prompts}
    for k in range(12):
        assert context[f"p{k}"] == [f"Text number {n}" for n in range(k - 2) if n >= k - 4], k


def test_a_group_begins_when_the_one_n_before_it_has_closed_and_not_earlier() -> None:
    async def work() -> None:
        async with Runtime(operation_settings(concurrency=2, group_parents=1)) as runtime:
            provider = Gated()
            operation = in_pairs(runtime, [page(4)], provider)
            running = asyncio.ensure_future(operation.run())
            await provider.until({"p0", "p1"})
            provider.let_go("p1")
            # The answer to p1 has been taken when its request has an outcome; p2 waits for p0 all the same.
            while (await runtime.request_outcome("s1/1/2.1")) is None:
                await asyncio.sleep(0)
            assert set(provider.waiting) == {"p0", "p1"}
            provider.let_go("p0")
            await provider.until({"p2", "p3"})
            provider.let_go("p3")
            provider.let_go("p2")
            assert (await running).complete

    asyncio.run(work())


def failing(*parents: str, error: str = "POLICY") -> Callable[[ProviderCall], str | None]:
    return lambda call: error if any(unit.id in parents for unit in call.units) else None


def test_the_report_names_each_parent_that_kept_its_source_and_why() -> None:
    document = page(6, refuse={"p1"})
    ran = run(Swapping(error=failing("p4")), document, group_parents=2)
    (told,) = ran.report.documents
    assert [(kept.parent_id, kept.reason) for kept in told.kept] == [
        ("p1", "REFUSED"),
        ("p4", "POLICY"),
        ("p5", "POLICY"),
    ]
    assert (told.parents, told.accepted, told.complete, ran.report.complete) == (6, 3, False, False)
    assert [document[parent] for parent in ("p1", "p4", "p5")] == [f"Text number {n}" for n in (1, 4, 5)]
    assert [user for user, _ in ran.turns] == ["Text number 0", "Text number 2", "Text number 3"]


def test_a_failed_group_still_says_where_the_prompts_of_later_ones_end() -> None:
    provider = Swapping(error=failing("p1"))
    run(provider, page(4), concurrency=1, group_parents=1, settings={"prompt_turns": 2})
    context = {prompt.asked[0][0]: [user for user, _ in prompt.context] for prompt in provider.prompts}
    assert context["p2"] == ["Text number 0"]
    assert context["p3"] == ["Text number 0", "Text number 2"]


def test_several_documents_share_the_conversation_and_each_is_told_when_it_ends() -> None:
    ended: list[tuple[str, int]] = []
    provider = Swapping(shuffled(4))
    ran = run(
        provider,
        page(7, "one"),
        TextDocument({}, document="empty"),
        page(3, "two"),
        concurrency=2,
        finished=lambda document, report: ended.append((document.document, report.accepted)),
    )
    assert sorted(ended) == [("empty", 0), ("one", 7), ("two", 3)]
    assert [document.parents for document in ran.report.documents] == [7, 0, 3]
    assert len(ran.turns) == 10


def test_documents_of_one_name_are_refused() -> None:
    with pytest.raises(InvalidArgument, match="different names"):
        run(Swapping(), page(1), page(1))


def test_a_session_that_keeps_too_few_turns_is_refused_with_what_it_needs() -> None:
    async def work() -> None:
        async with Runtime(Settings(prompt_turns=2, max_turns=16)) as runtime:
            FeatureOperation(
                runtime, [page(1)], session_id="s1", target_language="de", provider=Swapping(), concurrency=4
            )

    with pytest.raises(InvalidArgument, match=r"max_turns=17"):
        asyncio.run(work())


def test_two_operations_of_one_session_go_on_with_its_conversation() -> None:
    async def work() -> list[str]:
        provider = Swapping()
        async with Runtime(operation_settings(concurrency=1)) as runtime:
            for document in (page(5, "one"), page(5, "two")):
                operation = FeatureOperation(
                    runtime, [document], session_id="s1", target_language="de", provider=provider, concurrency=1
                )
                assert (await operation.run()).complete
            return [turn.user for turn in await runtime.history("s1", max_turns=100)]

    assert asyncio.run(work()) == [f"Text number {n}" for n in range(5)] * 2


def test_progress_is_told_and_adds_up_at_every_moment() -> None:
    told: list[OperationProgress] = []
    run(Swapping(error=failing("p2")), page(6), group_parents=2, concurrency=2, progress=told.append)
    assert all(step.accepted + step.failed + step.waiting == step.parents == 6 for step in told)
    assert (told[0].waiting, told[-1].accepted, told[-1].failed, told[-1].waiting) == (6, 4, 2, 0)


def test_a_machine_provider_has_no_part_in_the_conversation() -> None:
    class Machine:
        async def complete(self, call: ProviderCall) -> Any:
            from dragoman import Completion

            assert call.history == ()
            return Completion(texts=tuple(map(answer_of, call.texts)))

    ran = run(Machine(), page(12), policy=ProviderPolicy(kind="machine"))
    assert ran.report.complete
    assert ran.turns == []


@pytest.mark.parametrize("error", ["API_KEY_INVALID", "INSUFFICIENT_BALANCE", "VALIDATION"])
def test_it_gives_up_when_the_first_requests_all_meet_what_every_other_will(error: str) -> None:
    provider = Swapping(error=lambda _call: error)
    ran = run(provider, page(100), concurrency=3)
    assert ran.report.gave_up == error
    assert len(provider.prompts) <= 2 * 3
    (told,) = ran.report.documents
    assert len(told.kept) == 100
    assert {kept.reason for kept in told.kept} <= {error, "USER_CANCELLED"}


def test_one_refused_key_among_answers_is_no_reason_to_give_up() -> None:
    ran = run(Swapping(error=failing("p0", error="API_KEY_INVALID")), page(30), concurrency=3)
    assert ran.report.gave_up is None
    assert ran.report.accepted == 25


def test_stopping_it_cancels_what_runs_and_keeps_what_was_accepted() -> None:
    async def work() -> None:
        document = page(6)
        async with Runtime(operation_settings(concurrency=2, group_parents=1)) as runtime:
            provider = Gated()
            operation = in_pairs(runtime, [document], provider)
            running = asyncio.ensure_future(operation.run())
            await provider.until({"p0", "p1"})
            provider.let_go("p0")
            await provider.until({"p2"})
            operation.stop()
            report = await running
            assert report.interrupted
            assert not report.complete
            (told,) = report.documents
            assert [kept.parent_id for kept in told.kept] == ["p1", "p2", "p3", "p4", "p5"]
            assert {kept.reason for kept in told.kept} == {"USER_CANCELLED"}
            assert document["p0"] == answer_of("Text number 0")
            assert set(provider.waiting) == {"p0", "p1", "p2"}
            assert runtime.snapshot().open_calls == ()

    asyncio.run(work())


def test_cancelling_its_task_cancels_its_requests() -> None:
    async def work() -> None:
        async with Runtime(operation_settings(concurrency=2, group_parents=1)) as runtime:
            provider = Gated()
            operation = in_pairs(runtime, [page(6)], provider)
            running = asyncio.ensure_future(operation.run())
            await provider.until({"p0", "p1"})
            running.cancel()
            with pytest.raises(asyncio.CancelledError):
                await running
            assert runtime.snapshot().running == ()
            assert set(provider.waiting) == {"p0", "p1"}

    asyncio.run(work())


def test_a_fault_of_whoever_is_told_ends_the_operation_and_what_runs() -> None:
    def fault(_document: object, _report: object) -> None:
        raise OSError("no room")

    async def work() -> None:
        async with Runtime(operation_settings(concurrency=2, group_parents=1)) as runtime:
            operation = in_pairs(runtime, [page(1, "one"), page(50, "two")], Swapping(), finished=fault)
            with pytest.raises(OSError, match="no room"):
                await operation.run()
            assert runtime.snapshot().running == ()

    asyncio.run(work())


class Resuming:
    """Runs over one durable history."""

    def __init__(self, folder: Path) -> None:
        self.settings = {"feature_history": folder / "applied.db", "prompt_turns": 2}

    def __call__(self, document: TextDocument, **options: Any) -> tuple[Swapping, Ran]:
        provider = Swapping(shuffled(5), error=options.pop("error", lambda _call: None))
        options = {"concurrency": 2, "group_parents": 3, **options}
        return provider, run(provider, document, settings=self.settings, **options)


@pytest.fixture
def again(tmp_path: Path) -> Resuming:
    return Resuming(tmp_path)


def test_what_an_earlier_run_has_accepted_is_not_asked_for_again(again: Resuming) -> None:
    _first, _ = again(page(20), error=failing("p7", "p16"))
    document = page(20)
    second, ran = again(document)
    assert second.asked == ["p6", "p7", "p8", "p15", "p16", "p17"]
    assert (ran.report.accepted, ran.report.resumed, ran.report.complete) == (20, 14, True)
    undisturbed = page(20)
    run(Swapping(), undisturbed)
    assert document.texts() == undisturbed.texts()
    third, ran = again(page(20))
    assert (third.asked, ran.report.resumed) == ([], 20)


def test_the_prompts_after_an_interruption_are_those_of_an_undisturbed_run(again: Resuming, tmp_path: Path) -> None:
    again(page(20), error=failing("p6", "p15"))
    second, ran = again(page(20))
    undisturbed, whole = Resuming(tmp_path / "..")(page(20), resume=False)
    expected = {prompt.asked[0][0]: prompt.context for prompt in undisturbed.prompts}
    assert {prompt.asked[0][0]: prompt.context for prompt in second.prompts} == {
        parent: expected[parent] for parent in ("p6", "p15")
    }
    assert ran.turns == whole.turns


def test_a_group_that_was_accepted_in_part_is_committed_in_source_order(again: Resuming) -> None:
    again(page(9, refuse={"p1", "p5"}))
    second, ran = again(page(9))
    assert second.asked == ["p1", "p5"]
    assert [user for user, _ in ran.turns] == [f"Text number {number}" for number in range(9)]


def test_without_resuming_everything_is_asked_again_and_recorded_again(again: Resuming) -> None:
    again(page(6))
    second, ran = again(page(6), resume=False)
    assert sorted(second.asked) == [f"p{number}" for number in range(6)]
    assert ran.report.resumed == 0


def test_another_language_or_provider_has_nothing_to_resume(again: Resuming) -> None:
    again(page(3))
    assert len(again(page(3), source_language="fr")[0].asked) == 3
    assert len(again(page(3), provider_name="other")[0].asked) == 3
    assert len(again(page(3, "another page"))[0].asked) == 3
    assert again(page(3))[0].asked == []


def test_a_changed_source_is_asked_for_and_a_moved_one_is_not(again: Resuming) -> None:
    again(TextDocument({"p0": "One thing", "p1": "Two things", "p2": "Two things"}))
    edited = TextDocument(
        {"p0": "Zero things", "p1": "One thing", "p2": "Two things", "p3": "Two things", "p4": "Two things"}
    )
    second, ran = again(edited)
    assert second.asked == ["p0", "p4"]
    assert ran.report.complete
    assert edited["p3"] == answer_of("Two things")


def test_segments_come_back_where_they_were(again: Resuming) -> None:
    parents = {"p0": ["Some ", "bold", " words"], "p1": ["", "Other ", "", "words"]}
    first = TextDocument(parents)
    again(first)
    second = TextDocument(parents)
    provider, _ = again(second)
    assert provider.asked == []
    assert second.texts() == first.texts()
    moved, _ = again(TextDocument({"p0": ["Some bold", "", " words"]}))
    assert moved.asked == ["p0"]


def test_what_the_document_does_not_take_any_more_is_asked_for(again: Resuming) -> None:
    again(page(3))
    second, ran = again(page(3, refuse={"p1"}))
    assert second.asked == ["p1"]
    assert [(kept.parent_id, kept.reason) for kept in ran.report.documents[0].kept] == [("p1", "REFUSED")]


@pytest.mark.parametrize("group_parents", [1, 3])
def test_a_source_that_looks_like_a_marker_is_resumed_all_the_same(again: Resuming, group_parents: int) -> None:
    sources = {"p0": "Before", "p1": "A <dm-abcdefgh-1/> here", "p2": "After"}
    again(TextDocument(sources), group_parents=group_parents)
    second, ran = again(TextDocument(sources), group_parents=group_parents)
    assert second.asked == []
    assert ran.report.complete
    assert [user for user, _ in ran.turns] == ["Before", "After"]


def test_a_group_that_could_not_be_registered_does_not_cut_off_the_context(again: Resuming) -> None:
    sources = {"p0": "Before", "p1": "A <dm-abcdefgh-1/> here"}
    again(TextDocument(sources), group_parents=1)
    second, _ = again(TextDocument({**sources, "p2": "After"}), group_parents=1, concurrency=1)
    (prompt,) = second.prompts
    assert [user for user, _ in prompt.context] == ["Before"]


def test_a_history_that_cannot_be_written_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from dragoman.actors.history_file import HistoryFile

    def full(_file: HistoryFile, _entries: object) -> None:
        raise OSError("no room")

    monkeypatch.setattr(HistoryFile, "append", full)
    _, ran = Resuming(tmp_path)(page(6))
    assert ran.report.complete
    assert ran.report.unrecorded == 2
