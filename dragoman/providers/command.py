"""A machine translator that is a program: text goes into its standard input, the translation comes out.

One process for each text, never through a shell, in a session of its own, so that a call which ends early ends whatever
the program has started as well. What the program writes to standard error is not read: it could repeat the text.
"""

from __future__ import annotations

import asyncio
import codecs
import contextlib
import errno
import importlib.util
import os
import re
import shutil
import signal
from asyncio.subprocess import PIPE, Process, SubprocessStreamProtocol
from collections.abc import Sequence
from pathlib import PurePath
from weakref import WeakKeyDictionary

from ..languages import alpha3_of, is_language
from ..missing import MissingExtra
from ..protocol.calls import Completion, ProviderCall
from ..protocol.content import is_blank
from ..protocol.errors import InvalidArgument
from ..protocol.failures import API_RESPONSE_INVALID, ProviderError
from ..protocol.settings import is_seconds
from ..protocol.statuses import CallFormat
from .unavailable import ProviderUnavailable

__all__ = ["CommandProvider"]

_PLACEHOLDER = re.compile(r"\{(source|target)(3?)\}")
_BLOCK_BYTES = 1 << 16
_FACTOR = 64
"""A translation longer than so many times its source, and a block, is none."""

_NO_PROGRAM = frozenset({errno.ENOENT, errno.EACCES, errno.ENOEXEC, errno.ENOTDIR, errno.EPERM, errno.ELOOP})


class CommandProvider:
    """Translates by a program, for a policy of `kind="machine"`.

    `command` is the program and its arguments, such as `["apertium", "-u", "{source3}-{target3}"]`. `{source}` and
    `{target}` stand for the language tags of the call, `{source3}` and `{target3}` for the same as ISO 639-3, which
    needs the extra `documents`. A text goes in without its outer white space, which is put back around the answer, and
    with a line break behind it; a blank one does not go in. `timeout` is in seconds, for each text. As many processes
    run at once as there are processors.

    `complete` raises `ProviderError`: `VALIDATION` for a program that cannot be started, a language or a text that it
    cannot be told, and a call that is not for a machine; `COMMAND_FAILED` for an exit status other than 0;
    `COMMAND_TIMED_OUT`; `API_RESPONSE_INVALID` for an answer that is far too long or not in the encoding.
    """

    def __init__(self, command: Sequence[str], *, timeout: float = 60.0, encoding: str = "utf-8") -> None:
        if isinstance(command, str) or not command or not all(_is_argument(one) for one in command) or not command[0]:
            raise InvalidArgument("command", "must be the list of a program and its arguments")
        if not is_seconds(timeout) or timeout == 0:
            raise InvalidArgument("timeout", "must be a number of seconds above 0")
        try:
            codecs.lookup(encoding)
        except (LookupError, TypeError):
            raise InvalidArgument("encoding", "must be the name of an encoding") from None
        self._command = tuple(command)
        self._timeout = timeout
        self._encoding = encoding
        self._at_once = os.cpu_count() or 1
        self._turns: WeakKeyDictionary[asyncio.AbstractEventLoop, asyncio.Semaphore] = WeakKeyDictionary()
        if any(digit for part in command for _, digit in _PLACEHOLDER.findall(part)) and not _knows_languages():
            raise MissingExtra("documents", "CommandProvider with {source3} or {target3}")

    def __repr__(self) -> str:
        return f"<CommandProvider {PurePath(self._command[0]).name}>"

    async def check(self) -> None:
        """Raises `ProviderUnavailable` if there is no such program, or it may not be run."""
        program = self._command[0]
        if not _PLACEHOLDER.search(program) and shutil.which(program) is None:
            raise ProviderUnavailable(
                "CommandProvider", f"there is no program {program} that can be run; is it installed?"
            )

    async def complete(self, call: ProviderCall) -> Completion:
        if call.format is not CallFormat.TEXTS:
            raise ProviderError("VALIDATION")
        command = [self._filled(part, call) for part in self._command]
        tasks = [asyncio.ensure_future(self._translated(command, text)) for text in call.texts]
        try:
            return Completion(texts=tuple(await asyncio.gather(*tasks)))
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    def _filled(self, part: str, call: ProviderCall) -> str:
        """An argument with the languages of the call."""

        def language(found: re.Match[str]) -> str:
            tag = call.source_language if found[1] == "source" else call.target_language
            if not is_language(tag):
                raise ProviderError("VALIDATION")
            told = alpha3_of(tag) if found[2] else tag
            if told is None:
                raise ProviderError("VALIDATION")
            return told

        return _PLACEHOLDER.sub(language, part)

    async def _translated(self, command: Sequence[str], text: str) -> str:
        if is_blank(text):
            return text
        core = text.strip()
        before, _, after = text.partition(core)
        try:
            given = f"{core}\n".encode(self._encoding)
        except UnicodeError:
            # Its own error would hold the text.
            raise ProviderError("VALIDATION") from None
        async with self._turns.setdefault(asyncio.get_running_loop(), asyncio.Semaphore(self._at_once)):
            answer = await self._run(command, given)
        try:
            return f"{before}{answer.decode(self._encoding).strip()}{after}"
        except UnicodeError:
            raise ProviderError(API_RESPONSE_INVALID) from None

    async def _run(self, command: Sequence[str], given: bytes) -> bytes:
        loop = asyncio.get_running_loop()
        try:
            transport, protocol = await loop.subprocess_exec(
                lambda: SubprocessStreamProtocol(_BLOCK_BYTES, loop),
                *command,
                stdin=PIPE,
                stdout=PIPE,
                stderr=asyncio.subprocess.DEVNULL,
                start_new_session=True,
            )
        except OSError as error:
            raise ProviderError("VALIDATION" if error.errno in _NO_PROGRAM else "COMMAND_FAILED") from None
        process = Process(transport, protocol, loop)
        finished = False
        try:
            async with asyncio.timeout(self._timeout):
                answer, _ = await asyncio.gather(
                    _read(process, _BLOCK_BYTES + _FACTOR * len(given)), _feed(process, given)
                )
                status = await process.wait()
            finished = True
        except TimeoutError:
            raise ProviderError("COMMAND_TIMED_OUT") from None
        finally:
            if not finished:
                _kill(process)
            # The pipes first: a program that left the session may hold their other ends for ever.
            for pipe in map(transport.get_pipe_transport, (0, 1)):
                if pipe is not None:
                    pipe.close()
            await process.wait()
            transport.close()
        if status != 0:
            raise ProviderError("COMMAND_FAILED")
        return answer


async def _read(process: Process, most_bytes: int) -> bytes:
    assert process.stdout is not None
    answer = bytearray()
    while block := await process.stdout.read(_BLOCK_BYTES):
        answer += block
        if len(answer) > most_bytes:
            raise ProviderError(API_RESPONSE_INVALID)
    return bytes(answer)


async def _feed(process: Process, given: bytes) -> None:
    assert process.stdin is not None
    try:
        process.stdin.write(given)
        await process.stdin.drain()
        process.stdin.close()
        await process.stdin.wait_closed()
    except (BrokenPipeError, ConnectionResetError):
        # It did not read to the end; its exit status tells whether that was right.
        return


def _kill(process: Process) -> None:
    """End it, and all that it has started, unless that left its session."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)


def _is_argument(part: object) -> bool:
    return isinstance(part, str) and "\0" not in part


def _knows_languages() -> bool:
    return importlib.util.find_spec("langcodes") is not None
