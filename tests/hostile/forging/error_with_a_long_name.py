"""Raise an exception whose name is a hundred thousand characters long.

Expected: error XXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXX
Stopped by: protocol
Own: yes
"""

raise type("X" * 100_000, (Exception,), {})
