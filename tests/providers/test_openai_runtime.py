"""The provider under a real runtime, against a server that goes wrong."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from dragoman import ProviderPolicy, Runtime, Settings, TextDocument, TranslationOutcome, TranslationRequest
from dragoman.providers import OpenAIProvider

from .openai_calls import provider_of
from .server import MENDING, Fault, FaultServer, source_of, translation_of

PATIENCE_S = 60.0
PAGE = {"p1": "Hello", "p2": ("Good ", "night", "!"), "p3": "World"}
TRANSLATED = {"p1": "⟦Hello⟧", "p2": ["⟦Good ⟧", "⟦night⟧", "⟦!⟧"], "p3": "⟦World⟧"}


@pytest.fixture(autouse=True)
def _retries_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dragoman.actors.operation.longest_delay_us", lambda _attempt: 0)


@pytest.fixture
def runtime() -> Iterator[Runtime]:
    with Runtime(providers={"openai": ProviderPolicy(keys=3)}) as made:
        yield made
    assert made.close().clean


def translate(runtime: Runtime, provider: OpenAIProvider) -> tuple[TranslationOutcome, TextDocument]:
    document = TextDocument(PAGE)
    request = TranslationRequest("r1", "s1", PAGE, "de")
    return runtime.translate(request, provider=provider, feature=document).get(PATIENCE_S), document


@pytest.mark.parametrize("fault", MENDING)
def test_a_fault_that_mends_leaves_no_trace_in_the_result(runtime: Runtime, fault: Fault) -> None:
    with FaultServer([fault]) as server:
        outcome, document = translate(runtime, provider_of(server.base_url, keys=["a", "b", "c"]))
        asked = len(server.requests)
    assert (outcome.execution, outcome.quality, outcome.error) == ("COMPLETED", "COMPLETE", None)
    assert document.texts() == TRANSLATED
    turns = [(turn.user, turn.assistant) for turn in runtime.history("s1").get(PATIENCE_S)]
    assert turns == [("Hello", "⟦Hello⟧"), ("Good night!", "⟦Good ⟧⟦night⟧⟦!⟧"), ("World", "⟦World⟧")]
    assert (asked > 1) == (fault not in (Fault.SLOW, Fault.FENCED, Fault.PROSE))


@pytest.mark.parametrize("fault", [Fault.HTML, Fault.NO_CHOICES, Fault.NO_CONTENT])
def test_a_response_that_is_no_completion_is_asked_for_once_more(runtime: Runtime, fault: Fault) -> None:
    with FaultServer([fault]) as server:
        outcome, _document = translate(runtime, provider_of(server.base_url))
        assert len(server.requests) == 2
    assert (outcome.quality, outcome.retries) == ("COMPLETE", 1)


def test_a_refused_text_is_neither_recovered_nor_tried_again(runtime: Runtime) -> None:
    with FaultServer([Fault.FILTERED]) as server:
        outcome, document = translate(runtime, provider_of(server.base_url))
        assert len(server.requests) == 1
    assert (outcome.quality, outcome.error) == ("NONE", "POLICY")
    assert document["p1"] == "Hello"


def test_one_key_after_another_is_tried_until_one_is_good(runtime: Runtime) -> None:
    with FaultServer([Fault.WRONG_KEY, Fault.NO_BALANCE]) as server:
        outcome, _document = translate(runtime, provider_of(server.base_url, keys=["one", "two", "three"]))
        assert [request.key for request in server.requests] == ["one", "two", "three"]
    assert (outcome.quality, outcome.failover, outcome.retries) == ("COMPLETE", True, 0)


def test_keys_that_are_all_bad_end_the_request(runtime: Runtime) -> None:
    with FaultServer([Fault.WRONG_KEY] * 9) as server:
        outcome, _document = translate(runtime, provider_of(server.base_url, keys=["one", "two", "three"]))
        assert [request.key for request in server.requests] == ["one", "two", "three"]
    assert (outcome.execution, outcome.error) == ("FAILED", "API_KEY_INVALID")


def test_a_recovery_is_told_what_was_wrong_and_no_history(runtime: Runtime) -> None:
    with FaultServer([Fault.MISSING_ID]) as server:
        outcome, _document = translate(runtime, provider_of(server.base_url))
        first, second = server.completions
    assert outcome.quality == "COMPLETE"
    assert first.units is not None
    assert second.units == [("p3", "World")]
    system = second.body["messages"][0]["content"]
    assert 'id "p3": its translation was missing' in system
    assert "missing" not in first.body["messages"][0]["content"]


def test_accepted_turns_are_the_context_of_the_next_request(runtime: Runtime) -> None:
    with FaultServer() as server:
        provider = provider_of(server.base_url)
        for name in ("r1", "r2"):
            page = {"p1": f"text of {name}"}
            request = TranslationRequest(name, "s1", page, "de")
            runtime.translate(request, provider=provider, feature=TextDocument(page)).get(PATIENCE_S)
        roles = [(message["role"], message["content"]) for message in server.completions[1].body["messages"][1:3]]
    assert roles == [("user", "text of r1"), ("assistant", "⟦text of r1⟧")]


def test_a_cancelled_request_ends_its_http_request(runtime: Runtime) -> None:
    with FaultServer([Fault.HANG]) as server:
        request = TranslationRequest("r1", "s1", PAGE, "de")
        running = runtime.translate(request, provider=provider_of(server.base_url), feature=TextDocument(PAGE))
        server.wait_for(lambda: len(server.requests) == 1)
        runtime.cancel("r1").get(PATIENCE_S)
        server.wait_for(lambda: server.requests[0].aborted)
        assert running.get(PATIENCE_S).error == "USER_CANCELLED"


def test_a_closed_runtime_leaves_no_connection() -> None:
    with FaultServer([None, Fault.HANG]) as server:
        provider = provider_of(server.base_url)
        with Runtime(Settings(batch_units=1, max_concurrent_calls=1)) as runtime:
            request = TranslationRequest("r1", "s1", PAGE, "de")
            runtime.translate(request, provider=provider, feature=TextDocument(PAGE))
            server.wait_for(lambda: len(server.requests) == 2)
        server.wait_for(lambda: not server.open_connections)
        assert server.requests[1].aborted


def test_two_runtimes_share_a_provider_at_the_same_time() -> None:
    with FaultServer(latency=0.05) as server, Runtime() as one, Runtime() as other:
        provider, documents = provider_of(server.base_url), (TextDocument(PAGE), TextDocument(PAGE))
        request = TranslationRequest("r1", "s1", PAGE, "de")
        running = [
            runtime.translate(request, provider=provider, feature=document)
            for runtime, document in zip((one, other), documents, strict=True)
        ]
        assert [translation.get(PATIENCE_S).quality for translation in running] == ["COMPLETE", "COMPLETE"]
        assert [document.texts() for document in documents] == [TRANSLATED, TRANSLATED]
        assert server.connections == 2


@pytest.mark.parametrize("seed", [1, 2])
def test_two_hundred_parents_come_through_a_server_that_fails_every_third_time(seed: int) -> None:
    page = {f"p{number}": (f"Line {number}", f" and its end {number}") for number in range(200)}
    settings = Settings(max_turns=10**6, batch_units=1, max_concurrent_calls=200, execution_timeout=PATIENCE_S)
    with (
        FaultServer(0.3, seed=seed, refuses=("json_schema",)) as server,
        Runtime(settings, providers={"openai": ProviderPolicy(keys=2)}) as runtime,
    ):
        document = TextDocument(page)
        request = TranslationRequest("r1", "s1", page, "de")
        provider = provider_of(server.base_url, keys=["one", "two"])
        outcome = runtime.translate(request, provider=provider, feature=document).get(PATIENCE_S)
        turns = runtime.history("s1", max_turns=10**6).get(PATIENCE_S)
        hit = {request.fault for request in server.completions if request.fault is not None}
    assert len(hit) > 5
    translated = [name for name in page if name in set(outcome.translated)]
    assert len(translated) > 150
    assert [turn.parent_id for turn in turns] == translated
    assert [turn.user for turn in turns] == ["".join(page[name]) for name in translated]
    assert [turn.assistant for turn in turns] == ["".join(map(translation_of, page[name])) for name in translated]
    for name, source in page.items():
        shown = document[name]
        expected = list(map(translation_of, source)) if name in set(translated) else list(source)
        assert list(shown) == expected
        assert tuple(map(source_of, shown)) == source
