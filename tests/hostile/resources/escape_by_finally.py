"""Swallow the exception of a limit in a `finally`, over and over.

Expected: timeout
Stopped by: limits
Own: yes
"""


def again():
    while True:
        try:
            raise MemoryError
        finally:
            continue


again()
