"""What one exercise alone needs: `labs.<exercise>.lab` and `labs.<exercise>.checks`, two files of its folder.

`lab.py` holds drivers, and the models that they put a submission into: `driver = "kv_cache.Decode"` in an
`exercise.toml` is the class `Decode` of `exercises/kv_cache/lab.py`. Its source travels with the exercise's own jobs
(`grader.box.drivers.carried`), so it must not answer the exercise itself.

`checks.py` holds checks, below the decorator of `grader.checks.registry`. It stays outside of the sandbox.
"""

from grader.exercise import ROOT

__path__ = [str(ROOT / "exercises")]
