"""Providers that translate: a chat model behind an OpenAI-compatible API, one in this process, or a command.

Importing them needs no extra; making one does, and raises `MissingExtra` where it is not installed.
"""

from __future__ import annotations

from ..missing import MissingExtra
from .command import CommandProvider
from .credentials import InvalidCredentials
from .local import LocalProvider
from .openai_compatible import OpenAIProvider
from .unavailable import ProviderUnavailable

__all__ = [
    "CommandProvider",
    "InvalidCredentials",
    "LocalProvider",
    "MissingExtra",
    "OpenAIProvider",
    "ProviderUnavailable",
]
