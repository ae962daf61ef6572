"""Apertium, a machine translator of its own kind, behind a command; Debian: apertium and apertium-eng-spa."""

from __future__ import annotations

import asyncio
import shutil
import subprocess

import pytest

from dragoman import CallFormat, ProviderError, ProviderPolicy, Runtime, TextDocument, TranslationRequest
from dragoman.providers import CommandProvider

from .wire_calls import unit_of, wire_call

PATIENCE_S = 60.0


def _has_the_pair() -> bool:
    if shutil.which("apertium") is None:
        return False
    return "eng-spa" in subprocess.run(["apertium", "-l"], capture_output=True, text=True, check=False).stdout.split()


pytestmark = pytest.mark.skipif(not _has_the_pair(), reason="apertium with its pair eng-spa is not installed")


@pytest.fixture
def apertium() -> CommandProvider:
    pytest.importorskip("langcodes", reason="the extra documents is not installed")
    return CommandProvider(["apertium", "-u", "{source3}-{target3}"])


def test_apertium_translates_a_document_of_segments(apertium: CommandProvider) -> None:
    source = {"p1": "The house is red.", "p2": ["The ", "big", " house is\nred.\n"]}
    document = TextDocument(source)
    with Runtime(providers={"apertium": ProviderPolicy(kind="machine")}) as runtime:
        request = TranslationRequest("r1", "s1", source, "es", provider="apertium")
        outcome = runtime.translate(request, provider=apertium, feature=document).get(PATIENCE_S)
    assert outcome.quality == "COMPLETE"
    assert document["p1"] == "La casa es roja."
    _the, big, house = document["p2"]
    assert big.strip().lower().startswith("grande")
    assert "casa" in house
    assert house.endswith("\n")


def test_a_pair_that_apertium_has_not_fails_the_call(apertium: CommandProvider) -> None:
    call = wire_call([unit_of("p1", "The house")], CallFormat.TEXTS)
    with pytest.raises(ProviderError, match="COMMAND_FAILED"):
        asyncio.run(apertium.complete(call))
