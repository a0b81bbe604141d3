"""The frames in which observations leave the sandbox.

A stream of frames, each a fixed header of 8 bytes and a body whose length the header gives:

    kind u8 | code u8 | call u16 | length u32          (little endian)

    CALLED   body: length of the text u32, a code u8 for each slot of the call, the text, the values.
    BUILT    body: JSON.                               one construction
    LOADING  body: JSON.                               the error that ended it all
    TOUCHED  body: JSON.                               an operation that was trapped; code: 1 while the file is loaded,
                                                       and 2 more for what was let through and only noticed
    LOADED   body: JSON.                               a demonstration that raised, modules that are stood in for
    TRACED   body: line u32, caller u32, axes u8, dtype u8, traits u8, number of lines u8, sizes u32, lines u32, then
             float64 values, and as many of the gradient where the traits say so: one result in a traced call, before
             its CALLED
    END      no body.                                  the last frame

A call is one frame, so that it arrives whole or not at all. A slot's code is the number of its dtype for a tensor as
the plan announced it, `IN_WORDS` and the number of its presence for whatever else came, or `ABSENT`, which only a call
that raised may have. The text is JSON: the exception, what the call modified, and under `slots` an object for each slot
in words, in their order; it is empty where there is nothing to tell. The values are those of all tensors, sorted by
their codes, so that each dtype lies in one piece; they have the shapes that the plan announced.

`packing` writes the frames, in the child; `wire` reads them, in the parent, as if written by an enemy.
"""

from __future__ import annotations

import struct
from enum import IntEnum

from grader.box.observations import Presence
from grader.box.plan import DTYPES

HEADER = struct.Struct("<BBHI")
TEXT_LENGTH = struct.Struct("<I")  # of a call
TEXT_LIMIT = 64 << 10  # bytes of one JSON body
SLOT_TEXT_LIMIT = 4 << 10  # bytes by which each slot of a call lengthens that
PLACES_LIMIT = 4000  # characters that describe an assignment of weights
TRACED = struct.Struct("<IIBBBB")
RANDOM, WRITES, GRADIENT, CUTS = 1, 2, 4, 8  # traits of a result in a traced call
MOST_AXES = 8  # of a result in a traced call
MOST_RESULTS = 400  # in a traced call
MOST_LINES = 60  # from which one of them comes
TRACE_LIMIT = 4 << 20  # bytes of values in a traced call
TRAP_HITS = 4  # frames of that kind between two events; the child sends no more
NOTICES = 8  # of those that are only noticed, in a run
LOADING, NOTICED = 1, 2  # codes of such a frame, to be added up
DTYPE_NAMES = tuple(DTYPES)
PRESENCES = tuple(Presence)
IN_WORDS, ABSENT = 128, 255  # codes of a slot


class Frame(IntEnum):
    """What a frame holds."""

    CALLED = 3
    BUILT = 4
    LOADING = 5
    END = 6
    TOUCHED = 7
    LOADED = 8
    TRACED = 9


END = HEADER.pack(Frame.END, 0, 0, 0)
