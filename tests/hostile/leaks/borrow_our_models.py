"""Hand in the attention that our own drivers are built with.

Expected: error ModuleNotFoundError
Stopped by: clean start
"""

from grader.box.drivers.transfer import ParameterAttention as SelfAttention
