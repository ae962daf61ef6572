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
from .content_tool import ContentTool  # noqa: E402
from .feature_operation import FeatureOperation, TranslatableDocument  # noqa: E402
from .missing import MissingExtra  # noqa: E402
from .operation_report import DocumentReport, KeptSource, OperationProgress, OperationReport  # noqa: E402
from .operation_settings import operation_settings  # noqa: E402
from .protocol.applied import AppliedKey, AppliedParent  # noqa: E402
from .protocol.calls import CallTaker, CallUnit, Completion, CompletionRecord, Provider, ProviderCall  # noqa: E402
from .protocol.circuits import CircuitState  # noqa: E402
from .protocol.content_replies import (  # noqa: E402
    FollowUpReply,
    ReferReply,
    SessionContent,
    StoreCounters,
    StoreSnapshot,
)
from .protocol.continuity import Advice, ContinuityReport, FollowUpCounts, Trigger  # noqa: E402
from .protocol.errors import (  # noqa: E402
    ActorFailed,
    ActorStopped,
    BlockingInHandler,
    ContentRefNotFound,
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
from .protocol.follow_ups import Intent, Trace  # noqa: E402
from .protocol.handoff import Handoff, Parent  # noqa: E402
from .protocol.histogram import Histogram  # noqa: E402
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
from .protocol.payloads import Payload  # noqa: E402
from .protocol.prompt_refs import PromptRefs  # noqa: E402
from .protocol.proposals import AuditEntry, Proposal, ProposalReply  # noqa: E402
from .protocol.records import Call, CallRecord  # noqa: E402
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
from .protocol.retention import Retention  # noqa: E402
from .protocol.runtime_statistics import (  # noqa: E402
    AcceptanceStatistics,
    ConnectionStatistics,
    ExecutionStatistics,
    MailboxStatistics,
    MessageStatistics,
    OutcomeCount,
    RuntimeStatistics,
    SessionEnd,
    SessionStatistics,
    StoreStatistics,
)
from .protocol.settings import Settings  # noqa: E402
from .protocol.statuses import (  # noqa: E402
    AckStatus,
    ActivateStatus,
    Authority,
    CallFormat,
    CallStatus,
    ClaimStatus,
    ClearStatus,
    CloseCause,
    CloseStatus,
    ConfigureStatus,
    ContentKind,
    ExecutionStatus,
    FollowUpDecision,
    FollowUpMiss,
    LowUtility,
    MissReason,
    ParentState,
    ProposalState,
    ProposalStatus,
    Purpose,
    Quality,
    RegisterStatus,
    SerializationMode,
    SkipReason,
    StartStatus,
    Termination,
)
from .protocol.translations import DirectRequest, TranslationRequest  # noqa: E402
from .protocol.verdicts import Violation  # noqa: E402
from .recorded import Outcome, RecordedCall  # noqa: E402
from .reports import ShutdownReport, Snapshot  # noqa: E402
from .runtime import Runtime  # noqa: E402
from .scripted import ScriptedProvider  # noqa: E402
from .text import TextDocument  # noqa: E402
from .translation import Translation  # noqa: E402

__all__ = [
    "AcceptanceStatistics",
    "AckReply",
    "AckStatus",
    "ActivateReply",
    "ActivateStatus",
    "ActorFailed",
    "ActorStopped",
    "Advice",
    "AppliedKey",
    "AppliedParent",
    "AuditEntry",
    "Authority",
    "BlockingInHandler",
    "Call",
    "CallFormat",
    "CallRecord",
    "CallStatus",
    "CallTaker",
    "CallUnit",
    "ChatMessage",
    "CircuitState",
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
    "ConnectionStatistics",
    "ContentKind",
    "ContentRefNotFound",
    "ContentTool",
    "ContinuityReport",
    "Diagnostic",
    "DiagnosticCode",
    "DirectRequest",
    "DispatchFailed",
    "DocumentReport",
    "DragomanError",
    "ExecutionStatistics",
    "ExecutionStatus",
    "Feature",
    "FeatureOperation",
    "FollowUpCounts",
    "FollowUpDecision",
    "FollowUpMiss",
    "FollowUpReply",
    "Future",
    "Handoff",
    "Histogram",
    "Intent",
    "InvalidArgument",
    "InvalidSetting",
    "KeptSource",
    "LowUtility",
    "MailboxStatistics",
    "MessageStatistics",
    "MissReason",
    "MissingExtra",
    "OperationProgress",
    "OperationReport",
    "Outcome",
    "OutcomeCount",
    "Parent",
    "ParentEvent",
    "ParentEventKind",
    "ParentRefused",
    "ParentState",
    "Payload",
    "PromptRefs",
    "Proposal",
    "ProposalReply",
    "ProposalState",
    "ProposalStatus",
    "Provider",
    "ProviderCall",
    "ProviderError",
    "ProviderPolicy",
    "ProviderStatistics",
    "Purpose",
    "Quality",
    "RecordedCall",
    "ReferReply",
    "RegisterReply",
    "RegisterStatus",
    "Replacement",
    "RequestStatus",
    "Retention",
    "Runtime",
    "RuntimeClosed",
    "RuntimeStatistics",
    "ScriptedProvider",
    "SerializationMode",
    "SessionContent",
    "SessionEnd",
    "SessionStatistics",
    "Settings",
    "ShutdownReport",
    "SimulatedDispatcher",
    "SimulationStalled",
    "SkipReason",
    "Snapshot",
    "StartReply",
    "StartStatus",
    "StoreCounters",
    "StoreSnapshot",
    "StoreStatistics",
    "Termination",
    "TextDocument",
    "ThreadDispatcher",
    "Trace",
    "TranslatableDocument",
    "Translation",
    "TranslationOutcome",
    "TranslationRefused",
    "TranslationRequest",
    "Trigger",
    "Turn",
    "UnknownCall",
    "Violation",
    "WaitTimeout",
    "operation_settings",
]

logger.disable("dragoman")
