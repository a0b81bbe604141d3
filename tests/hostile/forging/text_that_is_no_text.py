"""Raise an exception whose text is a string of a class of one's own, which gives something else when it is cut.

Expected: error Sly
Stopped by: protocol
Own: yes
"""


class Text(str):
    def __getitem__(self, place):
        return {"not": ["a", "text"]}


class Sly(Exception):
    def __str__(self):
        return Text("harmless")


def attend(q, k, v):
    raise Sly
