"""A server that goes wrong in every way, at every rate: the history is exact, and the report tells the truth."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from dragoman import FeatureOperation, OperationReport, Runtime, Turn, operation_settings
from dragoman.documents import PlainText
from dragoman.protocol.participation import ProviderPolicy
from dragoman.providers import OpenAIProvider

from ..providers.server import Fault, FaultServer, source_of, translation_of

SENTENCES = [f"This is sentence number {number} of a long book." for number in range(200)]
KINDS = tuple(fault for fault in Fault if fault is not Fault.HANG)


@pytest.fixture(autouse=True)
def _retries_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dragoman.actors.operation.longest_delay_us", lambda _attempt: 0)


def translate(
    server: FaultServer, book: PlainText, concurrency: int, history: Path
) -> tuple[OperationReport, tuple[Turn, ...]]:
    async def work() -> tuple[OperationReport, tuple[Turn, ...]]:
        provider = OpenAIProvider("m", base_url=server.base_url, keys=["one", "two"])
        settings = operation_settings(concurrency=concurrency, feature_history=history)
        async with Runtime(settings, providers={"openai": ProviderPolicy(keys=provider.keys)}) as runtime:
            operation = FeatureOperation(
                runtime,
                [book],
                session_id="s1",
                target_language="de",
                source_language="en",
                provider=provider,
                concurrency=concurrency,
            )
            report = await operation.run()
            return report, await runtime.history("s1", max_turns=1000)

    return asyncio.run(work())


def book() -> PlainText:
    return PlainText("\n\n".join(SENTENCES), target_language="de", source_language="en")


@pytest.mark.parametrize("seed", [1, 2])
@pytest.mark.parametrize("rate", [0.0, 0.05, 0.2, 0.35, 0.5])
def test_the_history_is_what_was_accepted_and_nothing_is_lost_or_doubled(
    tmp_path: Path, rate: float, seed: int
) -> None:
    document = book()
    with FaultServer(rate, kinds=KINDS, seed=seed) as server:
        report, turns = translate(server, document, 16, tmp_path / "applied.db")
    (told,) = report.documents
    kept = {entry.parent_id for entry in told.kept}
    sources = {parent: "".join(texts) for parent, texts in document.parents.items()}
    assert list(sources.values()) == SENTENCES
    accepted = [text for parent, text in sources.items() if parent not in kept]
    assert [(turn.user, turn.assistant) for turn in turns] == [(text, translation_of(text)) for text in accepted]
    shown = document.render().decode().split("\n\n")
    assert [source_of(text) for text in shown] == SENTENCES
    assert [text for text in shown if text.startswith("⟦")] == [translation_of(text) for text in accepted]
    assert (told.accepted, len(kept), report.accepted) == (len(accepted), 200 - len(accepted), len(accepted))
    assert document.translated == set(sources) - kept
    assert report.calls == len(server.completions)
    if rate == 0:
        assert report.complete


def test_runs_that_resume_come_to_the_end_and_to_the_same(tmp_path: Path) -> None:
    for attempt in range(20):
        document = book()
        with FaultServer(0.3, kinds=KINDS, seed=attempt) as server:
            report, turns = translate(server, document, 8, tmp_path / "applied.db")
        if report.complete:
            break
    assert report.complete
    assert report.resumed > 100
    assert document.render().decode() == "\n\n".join(map(translation_of, SENTENCES))
    assert [turn.user for turn in turns] == SENTENCES
