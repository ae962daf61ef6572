"""What a journal costs: translations whose provider answers at once, and bare ACKs, each with a journal and without.

The provider of the translations is scripted: it takes no time of its own, so that what is left is the runtime. The
journal is written by a thread of its own, which shares the interpreter with all others; that it still writes when the
clock has stopped is not counted, that it holds the others up is.
"""

from __future__ import annotations

from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

import attrs

from dragoman import Runtime, ScriptedProvider, Settings, TextDocument, TranslationRequest

from .clock import clock
from .committed import WrongAnswers
from .contestants import blocking, seconds
from .figures import Comparison, Figure, compare
from .sizes import Size
from .workload import Workload, make_workload

__all__ = ["journal"]

_PARENTS = 20


def journal(size: Size, runs: int) -> list[Figure]:
    """Seconds for a parent with a journal over those without, of translations and of bare ACKs."""
    workload = make_workload(size.requests, size.sessions, size.parents)
    return compare(
        [
            Comparison(
                title=f"translating {size.executions * _PARENTS} parents with a journal / without",
                over=partial(_translated, size.executions, with_journal=True),
                under=partial(_translated, size.executions, with_journal=False),
                names=("with a journal", "without"),
                at_most=1.15,
                note="a scripted provider, which takes no time of its own",
            ),
            Comparison(
                title=f"{workload.accepted} bare ACKs with a journal / without",
                over=partial(_acknowledged, workload, with_journal=True),
                under=partial(_acknowledged, workload, with_journal=False),
                names=("with a journal", "without"),
                note="one blocking caller; a line for each ACK that is answered at once, several for one that commits",
            ),
        ],
        runs,
    )


def _settings(folder: str, *, with_journal: bool) -> Settings:
    return Settings(journal=Path(folder) / "journal") if with_journal else Settings()


def _translated(requests: int, *, with_journal: bool) -> float:
    with TemporaryDirectory() as folder:
        settings = attrs.evolve(_settings(folder, with_journal=with_journal), batch_units=_PARENTS)
        calls = ScriptedProvider()
        with Runtime(settings) as runtime:
            began = clock.now()
            for request in range(requests):
                texts = {f"p{parent}": f"request {request}, parent {parent}" for parent in range(_PARENTS)}
                wanted = TranslationRequest(f"r{request}", f"s{request % 40}", texts, "de")
                translation = runtime.translate(wanted, provider=calls, feature=TextDocument(texts))
                translation.started.get()
                answers = {unit.id: unit.text.upper() for unit in calls.calls[-1].units}
                runtime.respond(f"r{request}/1", translations=answers).get()
                if len(translation.get().translated) != _PARENTS:
                    raise WrongAnswers("a parent was not translated")
            return (clock.now() - began) / (requests * _PARENTS)


def _acknowledged(workload: Workload, *, with_journal: bool) -> float:
    with TemporaryDirectory() as folder:
        return seconds(blocking, workload, _settings(folder, with_journal=with_journal))
