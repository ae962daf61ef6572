"""Whether concurrency pays: a document in requests of five parents, through a provider that always takes as long.

The ideal is what the provider alone takes: calls ÷ concurrency × latency. With a constant latency the calls come in
whole waves, so that the least is the number of waves, rounded up. The history is checked to be exact.
"""

from __future__ import annotations

import asyncio
import json
import tempfile
import time
from functools import partial
from pathlib import Path

from dragoman import Completion, FeatureOperation, ProviderCall, Runtime, TextDocument, operation_settings

from .committed import WrongAnswers
from .figures import Figure, undisturbed
from .sizes import Size

__all__ = ["documents"]

_GROUP = 5
_CONCURRENCY = 16
_AT_MOST = 1.3


def documents(size: Size, runs: int) -> list[Figure]:
    """Seconds of an operation over those of its provider alone, with the durable feature history and without."""
    calls = -(-size.document_parents // _GROUP)
    ideal_s = calls / _CONCURRENCY * size.document_latency_s
    waves_s = -(-calls // _CONCURRENCY) * size.document_latency_s
    figures = []
    for what, durable in (("in memory", False), ("with a durable history", True)):
        taken = [undisturbed(partial(_run, size, durable=durable)) for _run_number in range(runs)]
        figures.append(
            Figure(
                title=f"a document of {size.document_parents} parents, {what} / its provider alone",
                values=tuple(took_s / ideal_s for took_s in taken),
                at_most=_AT_MOST,
                note=f"concurrency {_CONCURRENCY}, {size.document_latency_s} s a call; "
                f"whole waves take {waves_s / ideal_s:.2f}",
            )
        )
    return figures


class _Steady:
    def __init__(self, latency_s: float) -> None:
        self._latency_s = latency_s

    async def complete(self, call: ProviderCall) -> Completion:
        await asyncio.sleep(self._latency_s)
        items = [{"id": unit.id, "text": unit.text.upper()} for unit in call.units]
        return Completion(json.dumps({"translations": items}))


def _run(size: Size, *, durable: bool) -> float:
    with tempfile.TemporaryDirectory() as folder:
        return asyncio.run(_translate(size, Path(folder) / "applied.db" if durable else None))


async def _translate(size: Size, feature_history: Path | None) -> float:
    texts = {f"p{parent}": f"paragraph {parent}" for parent in range(size.document_parents)}
    settings = operation_settings(
        concurrency=_CONCURRENCY, max_turns=size.document_parents + 100, feature_history=feature_history
    )
    async with Runtime(settings) as runtime:
        operation = FeatureOperation(
            runtime,
            [TextDocument(texts)],
            session_id="s1",
            target_language="de",
            provider=_Steady(size.document_latency_s),
            concurrency=_CONCURRENCY,
            group_parents=_GROUP,
        )
        began = time.perf_counter()
        await operation.run()
        took_s = time.perf_counter() - began
        turns = await runtime.history("s1", max_turns=len(texts))
        if [(turn.user, turn.assistant) for turn in turns] != [(text, text.upper()) for text in texts.values()]:
            raise WrongAnswers("the history of the document is not exact")
    return took_s
