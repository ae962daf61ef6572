"""Dragoman keeps the memory of AI translation honest: only what was finally accepted becomes history.

Importing it starts no thread and logs nothing; `loguru.logger.enable("dragoman")` switches its log on.
"""

from __future__ import annotations

from pathlib import Path

from loguru import logger

_checkout = Path(__file__).resolve().parent.parent
if not (Path(__file__).parent / "actors").exists() and (_checkout / "actors").exists():
    # In a checkout the subpackages lie beside this folder; installed, they lie in it.
    __path__.append(str(_checkout))

from .actors.futures import Future, WaitTimeout  # noqa: E402
from .actors.simulation import SimulatedDispatcher  # noqa: E402
from .actors.threads import ThreadDispatcher  # noqa: E402
from .protocol.applied import AppliedKey, AppliedParent  # noqa: E402
from .protocol.calls import CallTaker, CallUnit, Completion, CompletionRecord, Provider, ProviderCall  # noqa: E402
from .protocol.errors import (  # noqa: E402
    ActorFailed,
    ActorStopped,
    BlockingInHandler,
    DragomanError,
    InvalidArgument,
    InvalidSetting,
    RuntimeClosed,
    SimulationStalled,
    TranslationRefused,
    UnknownCall,
)
from .protocol.failures import ProviderError  # noqa: E402
from .protocol.features import DispatchFailed, Feature, ParentRefused, Replacement  # noqa: E402
from .protocol.handoff import Handoff, Parent  # noqa: E402
from .protocol.history import ChatMessage, Turn  # noqa: E402
from .protocol.outcomes import (  # noqa: E402
    Diagnostic,
    DiagnosticCode,
    ParentEvent,
    ParentEventKind,
    StartReply,
    TranslationOutcome,
)
from .protocol.participation import ProviderPolicy  # noqa: E402
from .protocol.replies import (  # noqa: E402
    AckReply,
    ActivateReply,
    ClearReply,
    CloseReply,
    ConfigureReply,
    ProviderStatistics,
    RegisterReply,
    RequestStatus,
)
from .protocol.settings import Settings  # noqa: E402
from .protocol.statuses import (  # noqa: E402
    AckStatus,
    ActivateStatus,
    CallFormat,
    ClaimStatus,
    ClearStatus,
    CloseCause,
    CloseStatus,
    ConfigureStatus,
    ExecutionStatus,
    ParentState,
    Purpose,
    Quality,
    RegisterStatus,
    StartStatus,
    Termination,
)
from .protocol.translations import DirectRequest, TranslationRequest  # noqa: E402
from .protocol.verdicts import Violation  # noqa: E402
from .reports import ShutdownReport, Snapshot  # noqa: E402
from .runtime import Runtime  # noqa: E402
from .scripted import ScriptedProvider  # noqa: E402
from .text import TextDocument  # noqa: E402
from .translation import Translation  # noqa: E402

__all__ = [
    "AckReply",
    "AckStatus",
    "ActivateReply",
    "ActivateStatus",
    "ActorFailed",
    "ActorStopped",
    "AppliedKey",
    "AppliedParent",
    "BlockingInHandler",
    "CallFormat",
    "CallTaker",
    "CallUnit",
    "ChatMessage",
    "ClaimStatus",
    "ClearReply",
    "ClearStatus",
    "CloseCause",
    "CloseReply",
    "CloseStatus",
    "Completion",
    "CompletionRecord",
    "ConfigureReply",
    "ConfigureStatus",
    "Diagnostic",
    "DiagnosticCode",
    "DirectRequest",
    "DispatchFailed",
    "DragomanError",
    "ExecutionStatus",
    "Feature",
    "Future",
    "Handoff",
    "InvalidArgument",
    "InvalidSetting",
    "Parent",
    "ParentEvent",
    "ParentEventKind",
    "ParentRefused",
    "ParentState",
    "Provider",
    "ProviderCall",
    "ProviderError",
    "ProviderPolicy",
    "ProviderStatistics",
    "Purpose",
    "Quality",
    "RegisterReply",
    "RegisterStatus",
    "Replacement",
    "RequestStatus",
    "Runtime",
    "RuntimeClosed",
    "ScriptedProvider",
    "Settings",
    "ShutdownReport",
    "SimulatedDispatcher",
    "SimulationStalled",
    "Snapshot",
    "StartReply",
    "StartStatus",
    "Termination",
    "TextDocument",
    "ThreadDispatcher",
    "Translation",
    "TranslationOutcome",
    "TranslationRefused",
    "TranslationRequest",
    "Turn",
    "UnknownCall",
    "Violation",
    "WaitTimeout",
]

logger.disable("dragoman")
