"""Every measure by its name, in the order of the report."""

from __future__ import annotations

from collections.abc import Callable

from .acceptance import acceptance, acceptance_of_many
from .content import content_store, content_workload, store_entries
from .documents import documents
from .execution import execution
from .figures import Figure
from .growth import growing_requests, open_handles, waiting
from .journal import journal
from .metrics import metrics
from .others import others
from .replaying import replaying
from .sharding import sharding
from .sizes import Size

__all__ = ["MEASURES"]

MEASURES: dict[str, Callable[[Size, int], list[Figure]]] = {
    "acceptance": acceptance,
    "acceptance-of-many": acceptance_of_many,
    "growing-requests": growing_requests,
    "open-handles": open_handles,
    "waiting": waiting,
    "content-store": content_store,
    "content-workload": content_workload,
    "store-entries": store_entries,
    "execution": execution,
    "documents": documents,
    "journal": journal,
    "metrics": metrics,
    "replaying": replaying,
    "others": others,
    "sharding": sharding,
}
