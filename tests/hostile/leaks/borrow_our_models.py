"""Hand in the attention that our own drivers are built with.

Expected: error ModuleNotFoundError
Stopped by: clean start
"""

from grader.exercise.labs.weight_transfer.lab import ParameterAttention as SelfAttention
