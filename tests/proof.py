"""Which tests are the exhaustive proof: `make proof` runs them, and `make test` the others.

`make test` shows every guarantee once: each exercise's reference, starter and texts, a few of its examples, each
attack in one tier, each journey through the pages at one size, each promise of a queue once. Here stands what shows the
same again for everything it could be about, takes a service down on purpose, or walks through all of torch. Each line
is a pattern for a test's id, from its beginning; a line that fits no test is an error.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

EVERY_ATTACK_IN_EVERY_PLACE = (
    r"tests/sandbox/test_(modes|labs|elsewhere|limited|remains|held|locating_attacked)\.py",
    r"tests/sandbox/test_plain\.py::test_(no_module_of_torch|attention_that_is_imported)",
    r"tests/sandbox/test_gpu_workers\.py::test_a_worker_holds_elsewhere_too",
    r"tests/box/test_left_behind\.py",
    r"tests/box/test_measuring\.py::test_a_table_(outside_of_torch|in_memory_from_before)",
    r"tests/judge/test_(forged_answers|results_that_are_kept)\.py",
    r"tests/test_bad_input\.py::test_bad_input_gets_its_verdict",
    r"tests/sandbox/test_budget\.py",
    r"tests/pages/test_web_attacks\.py::.*\[every_field_of_a_request",
)
EVERY_PAGE_AT_EVERY_SIZE = (
    r"tests/pages/test_walks\.py::.*390",
    r"tests/pages/test_walks\.py::test_keys_bring_a_control_into_view",
    r"tests/pages/test_(accessibility|targets|weight|heard|microscope|cost|addresses|probes)\.py::.*\[",
    r"tests/pages/test_cost\.py",
    r"tests/pages/test_journeys\.py::test_a_result_stands_in_view_after_a_run\[(?!390)",
    r"tests/pages/test_editor\.py::test_nothing_typed\w+\[(?!sign-in-own = 1-visitor-2)",
    r"tests/pages/test_editor\.py::test_no_tab_loses\w+\[(?!ABC-new-member)",
    r"tests/pages/test_editor\.py::test_one_can_type\w+\[(?!early-on the server)",
    r"tests/pages/test_editor\.py::test_(no_line_is_cut_off\[(?!320)|the_frame\w+\[dark)",
    r"tests/pages/test_(journeys\.py::test_the_picker\w+\[Tab|tryouts\.py::test_try_shows\w+\[viewport1)",
    r"tests/pages/test_(store_away|several_processes|away|listening|screenshots)\.py",
)
RESTARTS_KILLS_AND_CROWDS = (
    r"tests/test_(storm|killed_service|machines)\.py",
    r"tests/jobs/test_(outages|cut_off|killed_regrade|fairness)\.py",
    r"tests/service/test_pools\.py",
    r"tests/test_stopping\.py::test_(a_shell_that_allows|a_signal_while|a_service_that_could|the_plugin_tells)",
    r"tests/test_operation\.py::test_(two_services|only_a_start|no_command_breaks|a_backup_that_says)",
    r"tests/jobs/test_supervisor\.py::test_(a_grading_process_that_dies|a_tryout_whose_process|the_longest|the_first_process)",
    r"tests/jobs/test_cluster\.py::test_searches_wait_quietly",
    r"tests/service/test_lockouts\.py::test_nobody_is_kept_out",
    r"tests/test_bootstrap\.py::test_a_grading_process_logs",
    r"tests/sandbox/test_runner\.py::test_four_hundred_runs",
)
WALKS_AND_FUZZ = (
    r"tests/rules/test_second\.py::.*range\((?!0,)",
    r"tests/term/test_graded\.py::.*\[whole",
    r"tests/service/classes/test_terms\.py::test_a_random_term_is_answered_\w+\[(?!0\]|10\])",
    r"tests/service/classes/test_odd_values\.py",
    r"tests/box/test_(operators|wire_fuzz)\.py",
    r"tests/box/test_inline\.py::test_modules_that_were_built_before_give_the_same",
    r"tests/judge/test_readers\.py::test_a_reader_(needs_time|takes_steps)",
    r"tests/test_(search_path|wrong_use|files_written|passwords|wheel|starts)\.py",
    r"tests/test_plots\.py::test_(each_file|every_number|every_kind)",
    r"tests/test_served\.py::test_settings_and_errors",
    r"tests/test_cli\.py::test_(a_new_exercise_fails|json_is_one_object)",
    r"tests/test_pytest_plugin\.py::test_(neither_service|what_pytest_runs)",
    r"tests/judge/test_inspection\.py::test_(several_threads|no_example)",
    r"tests/sandbox/test_walk\.py::test_nothing_that_every_child_holds_answers_an_exercise\[[1-5]\]",
)
EVERY_EXERCISE_AGAIN = (
    r"tests/test_gate\.py::test_an_exercise_passes_the_gate\[",  # with all mistakes and examples
    r"tests/exercise/test_(one_call_of_each_kind|fill_values)\.py",
    r"tests/exercise/test_offers\.py::test_what_is_declined_as_the_same",
    r"tests/judge/test_habits\.py::test_the_(starter_is_refused|first_sentence)",
    r"tests/judge/test_mistake_runs\.py",
    r"tests/judge/test_habits\.py::test_an_apostrophe",
    r"tests/judge/test_sentences\.py::test_a_title_is_told",
    r"tests/judge/test_locating\.py::test_a_known_mistake_is_located",
    r"tests/judge/test_tryout\.py::test_it_travels",
    r"tests/checks/test_messages\.py::test_a_message_is_told",
    r"tests/checks/test_reasons\.py::test_a_right_dropout",
    r"tests/checks/test_learning\.py::test_a_(mistake_learns_no_more|known_mistake_is_repeated)",
    r"tests/exercise/test_mistakes\.py::test_what_a_shape_tells",
    r"tests/judge/test_tryout\.py::test_a_right_answer_is_as_expected",
    r"tests/pack/test_replay\.py::test_the_numbers_of_a_pack",
    r"tests/pack/test_pack\.py::test_a_right_answer_passes",
)

_PROOF = (
    *EVERY_ATTACK_IN_EVERY_PLACE,
    *EVERY_PAGE_AT_EVERY_SIZE,
    *RESTARTS_KILLS_AND_CROWDS,
    *WALKS_AND_FUZZ,
    *EVERY_EXERCISE_AGAIN,
)
_ANY = re.compile("|".join(f"(?:{pattern})" for pattern in _PROOF))


def is_proof(nodeid: str) -> bool:
    """Return whether a test belongs to the exhaustive proof."""
    return _ANY.match(nodeid) is not None


def unused(nodeids: Iterable[str]) -> list[str]:
    """Return the patterns that fit none of these tests."""
    ids = list(nodeids)
    return [pattern for pattern in _PROOF if not any(re.match(pattern, one) for one in ids)]
