"""Fill a dictionary with keys that all hash alike, so that each look-up walks past all others.

Expected: timeout
Stopped by: limits
Own: yes
"""


class Alike:
    def __hash__(self):
        return 0


kept = {Alike(): None for _ in range(1_000_000)}
