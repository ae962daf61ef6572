"""A GGUF model in the memory of this process, through llama.cpp: the one place that calls the library.

All of it is for one thread. A prompt is decoded in chunks that begin at multiples of `CHUNK` tokens, and only whole
chunks of the prompt before are used again: then the arithmetic of an answer is the same whether anything was or not,
and the answer depends on the prompt alone.

The library's functions are called as they are, not through its class `Llama`: that one closes the standard streams of
the whole program while it loads.
"""

from __future__ import annotations

import ctypes
import importlib
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

from .local_quiet import keep_quiet

__all__ = ["CHUNK", "Grammar", "LocalModel", "ModelFault"]

CHUNK = 64
_MAGIC = b"GGUF"
_PIECE_BYTES = 256


class ModelFault(Exception):
    """The model cannot be loaded or used; its message says why in one sentence, without any text of a call."""


class LocalModel:
    """A loaded model and its context of `context` tokens at most."""

    def __init__(self, path: Path, context: int, threads: int) -> None:
        _examine(path)
        try:
            self._lib: Any = importlib.import_module("llama_cpp")
            self._numpy: Any = importlib.import_module("numpy")
        except (ImportError, OSError, RuntimeError) as error:
            raise ModelFault(f"llama.cpp cannot be loaded ({type(error).__name__})") from None
        keep_quiet(self._lib)
        self._lib.llama_backend_init()
        self._context: Any = None
        self._model = self._lib.llama_model_load_from_file(
            str(path).encode("utf-8", "surrogateescape"), self._lib.llama_model_default_params()
        )
        if not self._model:
            raise ModelFault(f"the model file {path.name} is damaged, or of a kind that llama.cpp does not know")
        try:
            self._open(path, context, threads)
        except BaseException:
            self.close()
            raise

    def _open(self, path: Path, context: int, threads: int) -> None:
        lib = self._lib
        if lib.llama_model_has_encoder(self._model) or not lib.llama_model_has_decoder(self._model):
            raise ModelFault(f"the model file {path.name} holds no language model that goes on with a text")
        self._vocab = lib.llama_model_get_vocab(self._model)
        self.size = lib.llama_vocab_n_tokens(self._vocab)
        wanted = lib.llama_context_default_params()
        trained = lib.llama_model_n_ctx_train(self._model)
        wanted.n_ctx = min(context, trained) if trained > 0 else context
        wanted.n_batch = wanted.n_ubatch = CHUNK
        wanted.n_threads = wanted.n_threads_batch = threads
        self._context = lib.llama_init_from_model(self._model, wanted)
        if not self._context:
            raise ModelFault(f"there is not enough memory for a context of {wanted.n_ctx} tokens of {path.name}")
        self.context = int(lib.llama_n_ctx(self._context))
        self._memory = lib.llama_get_memory(self._context)
        self.ends = frozenset(token for token in range(self.size) if lib.llama_vocab_is_eog(self._vocab, token))
        # What is no text (the marks of a chat, say) must never be said, though the grammar takes it for its name.
        self._unsayable = self._numpy.array(
            [0.0 if token in self.ends or self._is_text(token) else -self._numpy.inf for token in range(self.size)],
            dtype=self._numpy.float32,
        )
        self._kept: list[int] = []
        """The tokens of the whole chunks that stand in the context."""
        self.used = 0
        self.name = self._described("general.name") or path.stem

    def close(self) -> None:
        """Give its memory back."""
        if self._context:
            self._lib.llama_free(self._context)
        if self._model:
            self._lib.llama_model_free(self._model)
        self._context = self._model = None

    @property
    def parameters(self) -> int:
        """How large it is."""
        return int(self._lib.llama_model_n_params(self._model))

    def chat_formatter(self) -> Any:
        """What renders messages by the chat template that the file holds; None where it holds none."""
        written = self._lib.llama_model_chat_template(self._model, None)
        if not written:
            return None
        formats = importlib.import_module("llama_cpp.llama_chat_format")
        end = self._mark(self._lib.llama_vocab_eos(self._vocab))
        try:
            return formats.Jinja2ChatFormatter(written.decode("utf-8", "replace"), eos_token=end, bos_token=self.begin)
        except Exception as error:
            raise ModelFault(f"the chat template of the model cannot be read ({type(error).__name__})") from None

    @property
    def begin(self) -> str:
        """The mark before every prompt, empty where the model knows none."""
        return self._mark(self._lib.llama_vocab_bos(self._vocab))

    @property
    def begins_marked(self) -> bool:
        """Whether a prompt opens with `begin`, whatever the template says."""
        return bool(self._lib.llama_vocab_get_add_bos(self._vocab))

    def tokens(self, text: str, *, marks: bool = False) -> list[int]:
        """The tokens of a text; with `marks`, the marks of a chat in it are read as such."""
        encoded = text.encode("utf-8", "replace")
        room = len(encoded) + 8
        found = (ctypes.c_int32 * room)()
        count = self._lib.llama_tokenize(self._vocab, encoded, len(encoded), found, room, False, marks)
        if count < 0:
            raise ModelFault("the text cannot be tokenised")
        return list(found[:count])

    def tokens_exactly(self, text: str) -> list[int]:
        """Tokens that are this text and nothing else; none where the model has no such way to write it.

        Some models put a white space before whatever they tokenise.
        """
        wanted = text.encode()
        plain = self.tokens(text)
        if b"".join(map(self.piece, plain)) == wanted:
            return plain
        behind = self.tokens(f"\n{text}")
        for start in range(len(behind) + 1):
            if b"".join(map(self.piece, behind[start:])) == wanted:
                return behind[start:]
        return []

    @lru_cache(maxsize=8192)  # noqa: B019  # a model lives as long as its worker
    def piece(self, token: int) -> bytes:
        """The bytes of a token."""
        found = ctypes.create_string_buffer(_PIECE_BYTES)
        size = self._lib.llama_token_to_piece(self._vocab, token, found, _PIECE_BYTES, 0, True)
        return found.raw[: max(0, size)]

    def begin_anew(self, prompt: Sequence[int]) -> int:
        """Begin anew with `prompt`: how many of its first tokens are there already. One at least is left to decode."""
        shared = 0
        limit = min(len(self._kept), len(prompt) - 1)
        while shared + CHUNK <= limit and self._kept[shared : shared + CHUNK] == list(prompt[shared : shared + CHUNK]):
            shared += CHUNK
        if not self._lib.llama_memory_seq_rm(self._memory, 0, shared, -1):
            # A memory that cannot be cut.
            self._lib.llama_memory_clear(self._memory, True)
            shared = 0
        del self._kept[shared:]
        self.used = shared
        return shared

    def decode(self, tokens: Sequence[int], *, keep: bool = False) -> None:
        """Take `tokens` in, at most a chunk. With `keep` they are a part of a prompt."""
        given = (ctypes.c_int32 * len(tokens))(*tokens)
        if self._lib.llama_decode(self._context, self._lib.llama_batch_get_one(given, len(tokens))) != 0:
            raise ModelFault("the model could not be run")
        self.used += len(tokens)
        if keep and len(tokens) == CHUNK:
            self._kept += tokens

    def scores(self) -> Any:
        """How likely each token is to come next, as an array; a copy."""
        found = self._lib.llama_get_logits_ith(self._context, -1)
        return self._numpy.ctypeslib.as_array(found, shape=(self.size,)) + self._unsayable

    def likeliest(self, scores: Any, count: int) -> Any:
        """The tokens of the `count` best scores, as an array in no order."""
        return self._numpy.argpartition(scores, -count)[-count:]

    def grammar(self, gbnf: str) -> Grammar:
        """Begin to decode under a grammar."""
        return Grammar(self._lib, self._numpy, self._vocab, gbnf)

    def _is_text(self, token: int) -> bool:
        lib = self._lib
        none = lib.LLAMA_TOKEN_ATTR_CONTROL | lib.LLAMA_TOKEN_ATTR_UNKNOWN | lib.LLAMA_TOKEN_ATTR_UNUSED
        return not lib.llama_vocab_get_attr(self._vocab, token) & none

    def _mark(self, token: int) -> str:
        return self.piece(token).decode("utf-8", "replace") if token >= 0 else ""

    def _described(self, key: str) -> str:
        found = ctypes.create_string_buffer(_PIECE_BYTES)
        size = self._lib.llama_model_meta_val_str(self._model, key.encode(), found, _PIECE_BYTES)
        return found.value.decode("utf-8", "replace").strip() if size > 0 else ""


class Grammar:
    """Where an answer stands in its grammar. `with` it, for its memory is the library's."""

    def __init__(self, lib: Any, numpy: Any, vocab: Any, gbnf: str) -> None:
        self._lib = lib
        self._numpy = numpy
        self._shape = numpy.dtype([("id", numpy.int32), ("score", numpy.float32), ("p", numpy.float32)])
        self._state = lib.llama_sampler_init_grammar(vocab, gbnf.encode(), b"root")
        if not self._state:
            raise ModelFault("llama.cpp does not read the grammar of the answer")

    def __enter__(self) -> Grammar:
        return self

    def __exit__(self, *_: object) -> None:
        self._lib.llama_sampler_free(self._state)

    def admitted(self, tokens: Any, scores: Any) -> tuple[Any, Any]:
        """Those of the tokens that may come next, and their scores, as arrays."""
        asked = self._numpy.zeros(len(tokens), dtype=self._shape)
        asked["id"] = tokens
        asked["score"] = scores
        lib = self._lib
        told = lib.llama_token_data_array(
            data=asked.ctypes.data_as(lib.llama_token_data_p), size=len(tokens), selected=-1, sorted=False
        )
        lib.llama_sampler_apply(self._state, ctypes.byref(told))
        left = asked[asked["score"] > -self._numpy.inf]
        return left["id"], left["score"]

    def admits(self, token: int) -> bool:
        return len(self.admitted([token], [0.0])[0]) == 1

    def accept(self, token: int) -> None:
        """Go on by a token that is admitted."""
        self._lib.llama_sampler_accept(self._state, token)


def _examine(path: Path) -> None:
    """Refuse what can be no model before the library sees it."""
    try:
        with path.open("rb") as file:
            magic = file.read(len(_MAGIC))
    except FileNotFoundError:
        raise ModelFault(f"there is no model file {path}") from None
    except IsADirectoryError:
        raise ModelFault(f"{path} is a folder, not a model file") from None
    except OSError as error:
        raise ModelFault(f"the model file {path} cannot be read ({type(error).__name__})") from None
    if magic != _MAGIC:
        raise ModelFault(f"{path} is not a GGUF file")
