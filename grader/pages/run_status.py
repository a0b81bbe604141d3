"""The run panel: one sentence on what is happening; pure functions.

A panel changes ten times a second. What somebody hears who listens to the page is `said`: once for each change that
matters, and the score with the number of failed checks at the end.
"""

from __future__ import annotations

from collections.abc import Sequence

from grader.box.run import STARVED_FACTOR
from grader.exercise.spec import LimitsSpec
from grader.judge.report import Report, Status, Verdict
from grader.pages.render import TITLES, title
from grader.pages.wording import View, clean, count, number
from grader.store.records import State, Watch
from grader.store.standings import FREE

NOT_CANCELLED = "This could not be cancelled because of an error on our side. Please try again."
_AGAIN = "Please try again in a moment. If that does not help, give your instructor this id"
_KEPT = "Your code is saved. You may close this page and come back; you keep your place in line."
_OVERTAKEN = "It ran for long while others waited, so they go first; then it is run anew, with more time to itself."
_MANY = 5  # ahead; fewer are through before the sentence has been read


def idle_view() -> View:
    """Return the panel before anything was sent."""
    return _panel("idle", "Run checks: Ctrl Enter. Try on an example: Shift Enter.", said="")


def sending_view() -> View:
    """Return the panel between the click and the first word of the server; not busy, so that one can click again."""
    return _panel("queued", "Sending your code")


def not_sent_view() -> View:
    """Return the panel for code that did not get through."""
    return _panel("refused", "Your code was not sent. It is still in the editor; please try again in a moment.")


def away_view() -> View:
    """Return the panel while the server cannot be reached; the code is sent once it can."""
    text = "The server cannot be reached. Your code was not sent; it is kept here and goes out when the server is back."
    return _panel("queued", text, busy=True, look=True)


def unreachable_view() -> View:
    """Return the panel while the server of a run cannot be reached; the run is followed again once it can."""
    text = "The server cannot be reached. It has your code, and the result is shown here when the server is back."
    return _panel("queued", text, busy=True, look=True)


def other_view() -> View:
    """Return the panel for code that was not taken, as another one of theirs is on its way, which is shown instead."""
    text = (
        "This code was not sent: your last submission to this exercise is still being checked, and is shown below. "
        "Press Run checks again when it has ended."
    )
    return _panel("queued", "Looking for your last submission", busy=True, note=text)


def guest_view() -> View:
    """Return the panel that asks a guest to sign in."""
    return _panel("guest", "Sign in to run the checks; your code stays here.")


def refused_view(why: str) -> View:
    """Return the panel for a request that was not allowed, with the reason."""
    return _panel("refused", clean(why, 400))


def not_taken_view(incident: str) -> View:
    """Return the panel for a submission that could not be stored, by a fault of ours."""
    text = (
        "Your code was not submitted because of an error on our side. "
        "It is still in the editor, and nothing was counted."
    )
    return _panel("broken", text, detail=f"{_AGAIN}: {incident}")


def opened_view(number: int) -> dict[str, View]:
    """Return the panel for an earlier attempt that was opened again; 0 for one that was not counted."""
    what = f"attempt {number} again" if number else "the report on code that was not counted"
    return _panel("idle", f"Below is {what}. Change the code and press Run checks.")


def watch_view(watch: Watch, limits: LimitsSpec | None = None) -> View:
    """Return the panel for a submission on its way or at its end, with how long a run may take at most."""
    if watch.state is State.QUEUED:
        return _waiting(watch)
    if watch.state is State.RUNNING:
        return _running(watch, limits)
    if watch.state is State.CANCELLED:
        return _panel("cancelled", "Cancelled. Nothing was counted.")
    if watch.state is State.SEALED:
        return _partly(watch)
    if watch.report is None:
        return _panel("broken", "Something broke on our side. This costs you nothing; please try again.")
    return _finished(watch, watch.report)


def _waiting(watch: Watch) -> View:
    line = "In line again" if watch.again else "In line"
    text = f"{line}: you are next" if watch.ahead == 0 else f"{line}: {watch.ahead} ahead of you"
    detail = _OVERTAKEN if watch.again else _KEPT if watch.ahead >= _MANY else ""
    said = line if watch.ahead else ""
    return _panel("queued", text + _eta(watch.eta), detail=detail, busy=True, elapsed=watch.elapsed, said=said)


def _eta(seconds: int | None) -> str:
    if seconds is None:
        return ""
    return f", about {seconds} s" if seconds < 100 else f", about {round(seconds / 60)} min"


def _running(watch: Watch, limits: LimitsSpec | None) -> View:
    step = clean(watch.step, 120)
    done = f"{watch.done} of {count(watch.total, 'call')} of your code done" if watch.total else ""
    detail = ". ".join(filter(None, (done, _longest(limits) if limits else "")))
    share = 100 * watch.done / watch.total if watch.total else 0
    text = f"Checking: {step}" if step else "Starting your code"
    return _panel(
        "running",
        text,
        detail=detail,
        share=share,
        busy=True,
        elapsed=watch.elapsed,
        curve=watch.curve,
        said="",
    )


def _longest(limits: LimitsSpec) -> str:
    longest = STARVED_FACTOR * limits.wall_seconds
    own = f"It is stopped after {limits.cpu_seconds:g} s of processor time, or {limits.wall_seconds:g} s in all"
    return f"{own}; that may last {longest:g} s on a busy machine."


def _finished(watch: Watch, report: Report) -> View:
    passed = sum(check.status is Verdict.PASSED for check in report.checks)
    if watch.state is State.BROKEN or report.incident:
        phase, text = "broken", "Something broke on our side. This costs you nothing; please try again."
    elif report.accepted:
        ours = len(report.checks) - passed
        rest = f"; {ours} could not run because of a grader error, and you get the points" if ours else ""
        phase, text = "passed", f"Done: {'' if ours else 'all '}{count(passed, 'check')} passed{rest}"
    elif report.status is Status.GRADED:
        phase, text = "failed", f"Done: {passed} of {len(report.checks)} checks passed"
    else:
        phase, text = "failed", title(report)
    return _panel(phase, text, elapsed=watch.elapsed, said=text if phase == "broken" else verdict(report))


def _partly(watch: Watch) -> View:
    """Return the panel for a result of which nothing, or only a part, is shown yet."""
    part = watch.part
    if part is None or (part.status is Status.GRADED and not part.checks):
        return _panel("idle", "Handed in. Your class shows the result later.")
    if part.status is not Status.GRADED:
        return _panel("failed", TITLES[part.status])
    passed = sum(check.status is Verdict.PASSED for check in part.checks)
    text = f"Done: {passed} of {count(len(part.checks), 'check')} passed; your score is shown later"
    return _panel("passed" if passed == len(part.checks) else "failed", text)


def verdict(report: Report) -> str:
    """Return a verdict as it is read aloud: what it is, the score, and how many checks failed."""
    if report.status in FREE:
        return f"{title(report)}. No attempt was used."
    score = f"{title(report)}: {number(report.score)} of 100 points"
    if not report.checks:
        return f"{score}."
    failed, skipped = (sum(check.status is one for check in report.checks) for one in (Verdict.FAILED, Verdict.SKIPPED))
    rest = f", {skipped} skipped" if skipped else ""
    return f"{score}. {failed} of {count(len(report.checks), 'check')} failed{rest}."


def _panel(
    phase: str,
    text: str,
    *,
    detail: str = "",
    busy: bool = False,
    share: float = 0,
    elapsed: float | None = None,
    curve: Sequence[float] = (),
    look: bool = False,
    note: str = "",
    said: str | None = None,
) -> dict[str, View]:
    return {
        "phase": phase,
        "text": text,
        "detail": detail,
        "busy": busy,
        "share": share,
        "elapsed": elapsed,
        "curve": list(curve),
        "scroll": phase in ("passed", "failed"),
        "look": look or phase in ("refused", "broken"),
        "note": note,
        "said": text if said is None else said,
    }
