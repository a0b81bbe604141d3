"""What the rest of the grader may ask about a check, so that no other module needs to know a check's name."""

from __future__ import annotations

from enum import Enum, auto


class Trait(Enum):
    """Something that a check does, and that others depend on."""

    REFUSES = auto()
    """Its cases are configurations that a right answer refuses."""
    SHOWS_OUTPUTS = auto()
    """It compares the outputs of the plain call, so these can be drawn."""
    SHOWS_INFLUENCE = auto()
    """It finds out who sees whom; see `masking.influence`."""
    SHOWS_GRADIENTS = auto()
    """It looks at the gradients of the plain call."""
    SHOWS_MEMORY = auto()
    """It measures the plain call; see `memory.limit_of`."""
    BOUNDS_LOSS = auto()
    """It says what a loss must come down to; see `learning.bound_of`."""
    CHANGES_IN_TRAINING = auto()
    """It asks for dropout in training mode."""
    SAME_IN_TRAINING = auto()
    """It asks that training mode changes nothing where nothing is dropped."""
