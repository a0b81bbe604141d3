"""Hand in the attention that our own drivers are built with.

Expected: error ModuleNotFoundError
Stopped by: nothing of ours is left to be imported once the plan is read, and no file can be opened
"""

from grader.box.drivers.transfer import ParameterAttention as SelfAttention
