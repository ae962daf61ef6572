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
from .protocol.errors import (  # noqa: E402
    ActorFailed,
    ActorStopped,
    BlockingInHandler,
    DragomanError,
    InvalidArgument,
    InvalidSetting,
    RuntimeClosed,
    SimulationStalled,
)
from .protocol.handoff import Handoff, Parent  # noqa: E402
from .protocol.history import ChatMessage, Turn  # noqa: E402
from .protocol.participation import ProviderPolicy  # noqa: E402
from .protocol.replies import (  # noqa: E402
    AckReply,
    ActivateReply,
    ClearReply,
    CloseReply,
    ConfigureReply,
    RegisterReply,
    RequestStatus,
)
from .protocol.settings import Settings  # noqa: E402
from .protocol.statuses import (  # noqa: E402
    AckStatus,
    ActivateStatus,
    ClaimStatus,
    ClearStatus,
    CloseCause,
    CloseStatus,
    ConfigureStatus,
    ParentState,
    Purpose,
    RegisterStatus,
)
from .reports import ShutdownReport, Snapshot  # noqa: E402
from .runtime import Runtime  # noqa: E402

__all__ = [
    "AckReply",
    "AckStatus",
    "ActivateReply",
    "ActivateStatus",
    "ActorFailed",
    "ActorStopped",
    "BlockingInHandler",
    "ChatMessage",
    "ClaimStatus",
    "ClearReply",
    "ClearStatus",
    "CloseCause",
    "CloseReply",
    "CloseStatus",
    "ConfigureReply",
    "ConfigureStatus",
    "DragomanError",
    "Future",
    "Handoff",
    "InvalidArgument",
    "InvalidSetting",
    "Parent",
    "ParentState",
    "ProviderPolicy",
    "Purpose",
    "RegisterReply",
    "RegisterStatus",
    "RequestStatus",
    "Runtime",
    "RuntimeClosed",
    "Settings",
    "ShutdownReport",
    "SimulatedDispatcher",
    "SimulationStalled",
    "Snapshot",
    "ThreadDispatcher",
    "Turn",
    "WaitTimeout",
]

logger.disable("dragoman")
