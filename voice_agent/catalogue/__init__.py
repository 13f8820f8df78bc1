"""Known models: role, files, sizes, sha256, licence, memory; found, verified and fetched.

::

    model = Catalogue.load().default("stt")
    folder = locate(model, places().models)     # raises ModelMissing, ModelMismatch
    folder = fetch(model, places().models, progress=...)
"""

from voice_agent.catalogue.fetch import Progress, fetch
from voice_agent.catalogue.rows import Catalogue, Choice, Model, ModelFile, Role
from voice_agent.catalogue.sources import HUB, Hub
from voice_agent.catalogue.verify import (
    Finding,
    State,
    examine,
    locate,
    locate_weights,
    overall,
    pull_command,
    require,
    verify,
)

__all__ = [
    "HUB",
    "Catalogue",
    "Choice",
    "Finding",
    "Hub",
    "Model",
    "ModelFile",
    "Progress",
    "Role",
    "State",
    "examine",
    "fetch",
    "locate",
    "locate_weights",
    "overall",
    "pull_command",
    "require",
    "verify",
]
