"""Raise an exception whose class raises another one when it is asked for its name.

Expected: crashed
Stopped by: own fork
Own: yes
"""


class Nameless(type):
    @property
    def __name__(cls):
        raise RuntimeError("no name")


class Error(Exception, metaclass=Nameless):
    pass


def attend(q, k, v):
    raise Error
