"""The command `translate`: files through a provider, with ordered context at parallel speed."""

from __future__ import annotations

import asyncio
import contextlib
import json as json_text
import os
import shlex
import signal
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import attrs
from cyclopts import Parameter
from loguru import logger
from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

from .actors.threads import ThreadDispatcher
from .feature_operation import FeatureOperation
from .languages import is_language
from .missing import MissingExtra
from .operation_report import DocumentReport, OperationProgress, OperationReport
from .operation_settings import operation_settings
from .pictures import Capture, Outcome
from .picturing import unwritable, write_run
from .protocol.errors import DragomanError, InvalidArgument, InvalidSetting
from .protocol.participation import ProviderPolicy
from .providers import CommandProvider, LocalProvider, OpenAIProvider
from .runtime import Runtime
from .terminal import FAILED, INTERRUPTED, PASSED, Switch, console, usage
from .translation_summary import as_json, as_lines, reason_in_words
from .whole_file import write_whole

if TYPE_CHECKING:
    from .document_files import DocumentFile

__all__ = ["translate"]

_OPTIONS = {"feature_history": "history", "prompt_turns": "context-turns", "execution_timeout": "timeout"}
"""Options that do not have the name of their setting."""
_ANY_LANGUAGE = "und"
"""The source language where nobody says which."""


@attrs.frozen
class _Chosen:
    """A provider that was chosen: its name, under which work is resumed, and what it is like."""

    name: str
    provider: OpenAIProvider | LocalProvider | CommandProvider
    policy: ProviderPolicy
    concurrency: int
    group_parents: int


def translate(
    files: Annotated[list[Path], Parameter(name="file", json_list=False)],
    /,
    *,
    to: str,
    from_: Annotated[str | None, Parameter(name="--from")] = None,
    provider: Literal["openai", "local", "command"] | None = None,
    model: str | None = None,
    base_url: str | None = None,
    key_file: Path | None = None,
    command: str | None = None,
    out: Annotated[Path | None, Parameter(name=("--out", "-o"))] = None,
    format: Literal["html", "markdown", "subtitles", "text"] | None = None,  # noqa: A002 (the word of the users)
    encoding: str | None = None,
    instructions: str | None = None,
    session: str = "translate",
    concurrency: int | None = None,
    request_parents: int | None = None,
    context_turns: int = 4,
    timeout: float = 600.0,
    resume: bool = True,
    history: Path | None = None,
    html: Path | None = None,
    json: Switch = False,
) -> int:
    """Translate files: HTML pages, subtitles, Markdown, plain text.

    What was accepted is kept in a file on disk, texts included, so that the same command goes on where an earlier one
    was interrupted. Exit status: 0 if all of it was translated, 1 if a part or nothing was (the summary says why), 2
    for a wrong key, no server, a bad file or bad options, 130 if it was interrupted.

    Parameters
    ----------
    files
        The files.
    to
        The language to translate to, as a BCP 47 tag: de, pt-BR, zh-Hant.
    from_
        The language of the files; left to the model if it is not given.
    provider
        openai: any endpoint of that kind, with the key in OPENAI_API_KEY. local: a model on this machine. command: a
        program such as Apertium. Unless it is said, what --command, --base-url, a key or an installed model tells.
    model
        The name of the model, or for local the path of a GGUF file.
    base_url
        The endpoint, such as http://localhost:11434/v1; OPENAI_BASE_URL otherwise.
    key_file
        A file with the key, or with several, one a line.
    command
        The program and its arguments; {source}, {target}, {source3} and {target3} stand for the languages.
    out
        The file to write, or a folder; otherwise page.html becomes page.de.html beside it.
    format
        What the files are, where their names do not tell.
    encoding
        The encoding of files that do not tell theirs; utf-8 otherwise.
    instructions
        What the model should know besides, such as a glossary or a form of address.
    session
        The conversation that the files share.
    concurrency
        Requests in flight: 4, or 1 for local, unless it is said.
    request_parents
        Blocks, cues or paragraphs in a request: 5, or 1 for local, unless it is said.
    context_turns
        Accepted translations that go into a prompt.
    timeout
        Seconds that a request may take, retries included.
    resume
        Take what an earlier run has accepted, instead of paying for it again.
    history
        The file in which accepted translations are kept; by default one of yours for all runs.
    html
        Draw the run when it has ended: one page without the texts, only their lengths.
    json
        Print one JSON object, and nothing else.
    """
    logger.remove()
    try:
        from .document_files import UnusableFile, open_files
    except MissingExtra as error:
        return usage(str(error))
    for option, tag in (("--to", to), ("--from", from_)):
        if tag is not None and not is_language(tag):
            return usage(f"{option}: {tag[:40]!r} is no language that is known: give a BCP 47 tag, such as de or pt-BR")
    try:
        chosen = _chosen(
            provider,
            model=model,
            base_url=base_url,
            key_file=key_file,
            command=command,
            instructions=instructions,
            has_source=from_ is not None,
        )
        concurrency = chosen.concurrency if concurrency is None else concurrency
        parents = chosen.group_parents if request_parents is None else request_parents
        for option, count in (("--concurrency", concurrency), ("--request-parents", parents)):
            if not 1 <= count <= 1000:
                return usage(f"{option}: must be from 1 to 1000")
        opened = open_files(files, out, kind=format, target_language=to, source_language=from_, encoding=encoding)
        settings = operation_settings(
            concurrency=concurrency,
            group_parents=parents,
            prompt_turns=context_turns,
            prompt_chars=600,
            execution_timeout=timeout,
            feature_history=_history_file(history),
        )
        status = unwritable(html=html)
        if status is not None:
            return status
        dispatcher, capture = ThreadDispatcher(), None if html is None else Capture()
        dispatcher.journal = capture
        runtime = Runtime(settings, providers={chosen.name: chosen.policy}, dispatcher=dispatcher)
    except InvalidSetting as error:
        where = f"{_history_file(history)} " if error.field == "feature_history" else ""
        return usage(f"--{_OPTIONS.get(error.field, error.field)}: {where}{error.problem}")
    except (UnusableFile, DragomanError) as error:
        return usage(str(error))
    run = _Run(opened, runtime, chosen, json=json)
    status = run.run(
        lambda: FeatureOperation(
            runtime,
            [file.document for file in opened],
            session_id=session,
            target_language=to,
            source_language=from_ or _ANY_LANGUAGE,
            provider=chosen.provider,
            provider_name=chosen.name,
            concurrency=concurrency,
            group_parents=parents,
            resume=resume,
            progress=run.show,
            finished=run.write,
        )
    )
    if html is not None and capture is not None:
        title = f"Translation of {len(files)} file{'' if len(files) == 1 else 's'} to {to}"
        passed = {PASSED: True, FAILED: False}.get(status)
        drawn = write_run(html, capture, settings, Outcome(title=title, passed=passed, remarks=(chosen.name,)))
        status = status if drawn is None else drawn
    return status


def _chosen(
    name: str | None,
    *,
    model: str | None,
    base_url: str | None,
    key_file: Path | None,
    command: str | None,
    instructions: str | None,
    has_source: bool,
) -> _Chosen:
    """The provider that is meant; raises what its maker raises, or `InvalidArgument`."""
    if name is None:
        speaks = base_url or key_file or os.environ.get("OPENAI_API_KEY") or os.environ.get("OPENAI_BASE_URL")
        name = "command" if command else "openai" if speaks else "local"
    if name == "command":
        words = shlex.split(command or "")
        if not words:
            raise InvalidArgument("--command", "say which program translates, such as 'apertium -u eng-spa'")
        if not has_source:
            raise InvalidArgument("--from", "a command has to be told the language of the files")
        made = CommandProvider(words)
        return _Chosen(f"command/{' '.join(words)}", made, ProviderPolicy(kind="machine"), os.cpu_count() or 1, 5)
    if name == "local":
        local = LocalProvider(model, instructions=instructions)
        return _Chosen(f"local/{local.path.name}", local, ProviderPolicy(), 1, 1)
    if model is None:
        raise InvalidArgument("--model", "say which model of the endpoint is to translate")
    openai = OpenAIProvider(model, base_url=base_url, key_file=key_file, instructions=instructions)
    return _Chosen(f"openai/{model}", openai, ProviderPolicy(keys=openai.keys), 4, 5)


def _history_file(given: Path | None) -> Path:
    """The durable feature history: as given, or the one of this user, whom alone its texts concern."""
    if given is not None:
        return given
    state = os.environ.get("XDG_STATE_HOME") or os.environ.get("LOCALAPPDATA")
    folder = Path(state) if state else Path.home() / ".local" / "state"
    folder /= "dragoman"
    with contextlib.suppress(OSError):  # opening the file tells
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    return folder / "feature-history.db"


class _Run:
    """One run of the command: what it shows, writes and answers."""

    def __init__(self, files: list[DocumentFile], runtime: Runtime, chosen: _Chosen, *, json: bool) -> None:
        self._files = {file.document.document: file for file in files}
        self._runtime = runtime
        self._chosen = chosen
        self._json = json
        self._written: set[str] = set()
        self._bar: Progress | None = None
        self._task: Any = None

    def run(self, begin: Callable[[], FeatureOperation]) -> int:
        """Run to the end; the exit status."""
        try:
            with self._runtime, self._progress():
                report = asyncio.run(self._translate(begin))
        except DragomanError as error:
            return usage(str(error))
        except OSError as error:
            return usage(f"{error.filename or 'the output'}: cannot be written: {error.strerror}")
        return self._tell(report)

    async def _translate(self, begin: Callable[[], FeatureOperation]) -> OperationReport:
        try:
            await self._chosen.provider.check()
            return await self._run_to_its_end(begin())
        finally:
            if isinstance(self._chosen.provider, OpenAIProvider):
                await self._chosen.provider.aclose()
            elif isinstance(self._chosen.provider, LocalProvider):
                self._chosen.provider.close()

    @staticmethod
    async def _run_to_its_end(operation: FeatureOperation) -> OperationReport:
        """Run it, or until an interrupt stops it."""
        loop = asyncio.get_running_loop()

        def interrupt(number: int) -> None:
            loop.remove_signal_handler(number)  # a second one ends the process
            operation.stop()

        with contextlib.suppress(NotImplementedError):  # where loops know no signals, asyncio cancels this task
            for number in (signal.SIGINT, signal.SIGTERM):
                loop.add_signal_handler(number, interrupt, number)
        return await operation.run()

    @contextlib.contextmanager
    def _progress(self) -> Iterator[None]:
        """A bar on standard error, where that is a terminal."""
        errors = console(sys.stderr)
        if not errors.is_terminal or self._json:
            yield
            return
        columns: tuple[Any, ...] = (
            SpinnerColumn(),
            BarColumn(),
            TextColumn("{task.description}"),
            TimeElapsedColumn(),
        )
        with Progress(*columns, console=errors, transient=True) as self._bar:
            self._task = self._bar.add_task("", total=None)
            yield

    def show(self, reached: OperationProgress) -> None:
        if self._bar is not None:
            self._bar.update(
                self._task,
                total=max(1, reached.parents),
                completed=reached.accepted + reached.failed,
                description=f"{reached.accepted} accepted, {reached.waiting} waiting, "
                f"{reached.retried} retried, {reached.failed} failed",
            )

    def write(self, document: Any, report: DocumentReport) -> None:
        """Write a document that has come to its end; one of which nothing was translated is no translation."""
        if report.accepted or not report.parents:
            write_whole(self._files[report.document].out, document.render())
            self._written.add(report.document)

    def _tell(self, report: OperationReport) -> int:
        files = {name: (file.path, file.out) for name, file in self._files.items()}
        if self._json:
            sys.stdout.write(json_text.dumps(as_json(report, files, self._written)) + "\n")
        else:
            for line in as_lines(report, files, self._written):
                console(sys.stdout).print(line)
        if report.interrupted:
            console(sys.stderr).print(
                f"dragoman: interrupted with {report.accepted} of {report.parents} translated; "
                "the same command goes on from there"
            )
            return INTERRUPTED
        if report.complete:
            return PASSED
        if not report.accepted and report.gave_up is not None:
            return usage(f"{self._chosen.name}: {report.gave_up}: {reason_in_words(report.gave_up)}")
        return FAILED
