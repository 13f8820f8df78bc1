"""What all tests share."""

from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def models_dir() -> Path:
    """The folder of the models that set-up has put there."""
    return Path(__file__).parent.parent / "models"
