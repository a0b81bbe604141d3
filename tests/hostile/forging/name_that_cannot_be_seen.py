"""Raise an exception whose name holds signs that are not seen, and one that turns the writing around.

Expected: error Pass‮ed​Error
Stopped by: protocol
Own: yes
"""

raise type("Pass\u202eed\u200bError", (Exception,), {})
