"""Who takes part in history: the whole truth table (C3)."""

from __future__ import annotations

from itertools import product

import pytest

from dragoman.protocol.participation import ProviderPolicy, participates

POLICIES = {"openai": ProviderPolicy(kind="ai"), "deepl": ProviderPolicy(kind="machine")}

PROVIDERS = {"openai": True, "deepl": False, "not-listed": True}
HISTORY = {True: True, False: False}
MODES = {"select-element": True, "page": False, "select-elemen": False, "SELECT-ELEMENT": False, "": False}
PURPOSES = {"PRIMARY_TRANSLATION": True, "STRUCTURED_RECOVERY": False, "primary_translation": False, "": False}
SESSIONS = {"s1": True, " ": True, "": False}


@pytest.mark.parametrize(
    ("provider", "history_enabled", "mode", "purpose", "session_id"),
    list(product(PROVIDERS, HISTORY, MODES, PURPOSES, SESSIONS)),
)
def test_all_five_conditions_must_hold(
    provider: str, history_enabled: bool, mode: str, purpose: str, session_id: str
) -> None:
    expected = (
        PROVIDERS[provider] and HISTORY[history_enabled] and MODES[mode] and PURPOSES[purpose] and SESSIONS[session_id]
    )
    assert expected is participates(
        provider=provider,
        providers=POLICIES,
        history_enabled=history_enabled,
        mode=mode,
        eligible_modes=("select-element",),
        purpose=purpose,
        session_id=session_id,
    )


@pytest.mark.parametrize(("eligible_modes", "expected"), [((), False), (("chat",), True), (("page", "chat"), True)])
def test_any_of_the_eligible_modes_will_do(eligible_modes: tuple[str, ...], expected: bool) -> None:
    assert expected is participates(
        provider="openai",
        providers={},
        history_enabled=True,
        mode="chat",
        eligible_modes=eligible_modes,
        purpose="PRIMARY_TRANSLATION",
        session_id="s1",
    )
