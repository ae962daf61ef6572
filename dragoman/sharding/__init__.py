"""Past one machine: the sessions of a runtime, spread over shards in the processes of a Ray cluster.

Importing this does not import Ray; making a `RayRuntime` does, and raises `MissingExtra` where it is not installed.
"""

from .errors import LossReason, ShardLost
from .ray_runtime import RayRuntime

__all__ = ["LossReason", "RayRuntime", "ShardLost"]
