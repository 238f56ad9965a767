"""The attacks that the service withstands, each with the tests that perform it: the list is complete and no name stale.

What a test expects is the answer that is promised: a 404 like that of what there is not, a 422 with the field, a count.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import proctor

TESTS = Path(__file__).parents[1]
STRANGERS, ACCOUNTS = "server/test_strangers.py", "server/test_accounts.py"
ATTACKS: dict[str, tuple[str, ...]] = {
    "1 a key is sent to an attacker's address": (
        f"{STRANGERS}:test_a_stranger_says_neither_where_a_key_goes_nor_which",
        "server/test_provider_keys.py:test_a_key_is_bound_to_scheme_host_and_port",
        "server/test_provider_keys.py:test_no_caller_says_that_a_key_goes_elsewhere",
        "models/test_trust.py:test_a_redirect_takes_the_key_nowhere",
    ),
    "2 any variable of the environment as a key": (
        f"{STRANGERS}:test_a_stranger_says_neither_where_a_key_goes_nor_which",
        f"{ACCOUNTS}:test_a_plan_says_neither_where_a_key_goes_nor_which",
        "worker/test_celery_workers.py:test_workers_use_the_keys_that_the_project_has",
    ),
    "3 code through plans": (
        f"{STRANGERS}:test_a_stranger_runs_no_code_and_reads_no_file",
        f"{ACCOUNTS}:test_a_member_runs_no_code_and_reads_no_file_of_the_servers_machine",
        "server/test_own_benchmarks.py:test_a_benchmark_runs_no_code_and_reads_nothing_of_the_servers",
    ),
    "4 templates that grow": (
        "prompts/test_template_limits.py:test_a_template_that_grows_out_of_hand_is_ended_and_the_next_is_filled_in",
        "server/test_own_benchmarks.py:test_templates_patterns_and_schemas_of_strangers_have_limits",
    ),
    "5 addresses inside the network": (
        "server/test_private_addresses.py:test_no_address_inside_is_taken_and_none_is_connected_to",
        "server/test_private_addresses.py:test_a_picture_in_a_sample_is_no_address_that_is_fetched",
        "server/test_webhooks.py:test_private_addresses_are_refused_in_whatever_notation",
        "runs/test_webhook_deliveries.py:test_a_name_is_looked_at_again_when_it_is_connected_to",
        "server/test_single_sign_on.py:test_an_issuer_that_says_it_is_another_or_sends_secrets_in_the_clear_is_not_used",
    ),
    "6 a forgotten route": (
        "server/test_security_middleware.py:test_a_forgotten_route_stops_the_server_from_starting",
        "server/test_security_middleware.py:test_the_table_names_every_route_and_no_other",
    ),
    "7 signed in is not allowed": (
        f"{ACCOUNTS}:test_a_route_is_open_to_whom_the_table_says_and_to_nobody_else",
        "server/test_fuzz_roles.py:test_each_operation_answers_as_it_says_to_every_role",
    ),
    "8 another project's id": (
        "server/test_matrix.py:test_another_projects_object_is_as_unknown_as_none",
        f"{ACCOUNTS}:test_no_id_in_a_path_a_body_a_cursor_or_a_header_opens_another_projects",
        "stores/test_scope.py:test_another_projects_rows_are_as_if_they_did_not_exist",
        "stores/test_scope.py:test_a_query_that_forgets_its_scope_returns_nothing_of_others",
    ),
    "9 a second way to sign in": (
        "server/test_attacks.py:test_sessions_begin_at_one_place",
        f"{ACCOUNTS}:test_a_disabled_user_is_out_at_once_and_his_streams_end",
        "server/test_project_events.py:test_the_streams_of_a_disabled_user_end_within_five_seconds",
    ),
    "10 forged and reused tokens": (
        "accounts/test_access_tokens.py:test_a_token_that_somebody_made_himself_lets_nobody_in",
        "accounts/test_access_tokens.py:test_a_refresh_token_is_good_once_and_twice_ends_its_family",
        "server/test_single_sign_on.py:test_a_token_must_be_this_issuers_for_this_client_and_this_attempt",
        "server/test_single_sign_on.py:test_a_code_without_its_verifier_is_refused_by_the_provider",
        "server/test_single_sign_on.py:test_nobody_is_sent_elsewhere_afterwards",
    ),
    "11 guessing and enumeration": (
        f"{ACCOUNTS}:test_guessing_is_answered_alike_and_then_stopped",
        "accounts/test_accounts.py:test_passwords_are_checked_four_at_a_time_whether_or_not_there_is_such_a_user",
        "accounts/test_accounts.py:test_every_refusal_says_the_same",
        "server/test_encryption.py:test_a_trusted_proxy_says_where_the_request_comes_from",
    ),
    "12 CSRF and DNS rebinding": (
        "server/test_security_middleware.py:test_a_foreign_host_reaches_no_route",
        "server/test_security_middleware.py:test_a_page_of_another_origin_changes_nothing",
        f"{ACCOUNTS}:test_a_change_needs_the_sessions_token_and_a_key_needs_none",
    ),
    "13 scripts in what is shown": (
        "dashboard/test_journeys.py:test_two_hundred_hostile_texts_stay_text_wherever_they_are_shown",
        "dashboard/test_journeys.py:test_the_page_has_no_inline_script_and_names_no_other_host",
        "server/test_security_middleware.py:test_browsers_are_told_to_stay_within",
    ),
    "14 pictures and links that tell": (
        "dashboard/test_journeys.py:test_two_hundred_hostile_texts_stay_text_wherever_they_are_shown",
        "dashboard/test_journeys.py:test_answers_are_shown_as_markdown_where_somebody_chose_that",
        f"{STRANGERS}:test_what_models_wrote_is_a_file_to_keep_or_confined",
    ),
    "15 generated pages and uploads": (
        f"{STRANGERS}:test_what_models_wrote_is_a_file_to_keep_or_confined",
        "server/test_files.py:test_a_file_is_what_its_content_says_and_comes_back_byte_for_byte",
    ),
    "16 formulas and characters that steer": (
        "cli/test_export.py:test_no_cell_can_be_taken_for_a_formula",
        "cli/test_export.py:test_a_negative_answer_reaches_every_column_unaltered",
        "server/test_same_as_cli.py:test_exports_are_the_same",
        "cli/test_terminal.py:test_text_from_a_model_cannot_steer_the_terminal",
    ),
    "17 paths": (
        f"{STRANGERS}:test_names_never_become_paths",
        f"{STRANGERS}:test_no_route_and_no_notation_leads_to_a_file_of_the_machine",
        "runs/test_uploaded_files.py:test_names_are_not_paths",
    ),
    "18 archives": ("server/test_programs.py:test_a_hostile_archive_is_refused_in_words_and_leaves_nothing",),
    "19 uploads": (
        "server/test_files.py:test_the_limit_is_enforced_while_the_body_streams",
        "server/test_files.py:test_what_is_not_taken_is_refused_in_words",
        "server/test_files.py:test_work_on_a_file_has_limits",
    ),
    "20 bodies that are no JSON, or too much": (
        "server/test_saved.py:test_bodies_that_are_no_json_or_too_much_are_refused_in_words",
        f"{STRANGERS}:test_a_body_that_grows_when_it_is_unpacked_is_not_unpacked",
        "server/test_openapi.py:test_no_request_makes_the_server_answer_otherwise_than_it_says",
    ),
    "21 slow patterns, injection through filters": (
        "server/test_own_benchmarks.py:test_templates_patterns_and_schemas_of_strangers_have_limits",
        "server/test_result_filters.py:test_what_is_no_filter_is_refused",
        "server/test_project_events.py:test_a_wrong_place_is_a_mistake_and_one_that_was_never_reached_is_the_end",
    ),
    "22 mass assignment": (
        f"{STRANGERS}:test_what_is_not_the_callers_to_set_is_refused",
        f"{ACCOUNTS}:test_nobody_sets_what_is_not_his_to_set",
    ),
    "23 orders in texts": (
        "planner/test_answers.py:test_an_order_to_the_planner_inside_a_query_changes_nothing_that_it_should_not",
        "planner/test_answers.py:test_a_model_lowers_a_limit_of_the_plan_and_never_raises_it",
        "server/test_private_addresses.py:test_a_sentence_starts_nothing_raises_no_limit_and_names_no_program",
        "judges/test_injection.py:test_no_verdict_is_taken_from_what_the_answer_says",
    ),
    "24 races for a budget": (
        "accounts/test_budgets.py:test_fifty_submits_at_once_never_pass_a_budget",
        "server/test_budgets.py:test_runs_that_come_at_once_spend_no_more_than_the_budget",
        "accounts/test_budgets.py:test_what_was_given_back_is_reserved_again_when_a_run_goes_on",
        f"{STRANGERS}:test_a_plan_of_too_many_trials_is_refused_with_their_count",
    ),
    "25 floods": (
        f"{STRANGERS}:test_a_plan_of_too_many_trials_is_refused_with_their_count",
        "server/test_project_events.py:test_an_eleventh_stream_of_a_user_is_refused_until_one_is_closed",
        "server/test_export_memory.py:test_no_export_takes_memory_for_the_whole_of_it",
        "stores/test_chunks.py:test_projects_share_alike_however_many_runs_each_has",
        "stores/test_chunks.py:test_runs_are_prepared_for_projects_in_turn",
        "runs/test_rescoring_queue.py:test_projects_have_their_runs_scored_again_in_turn",
        "runs/test_submission_queue.py:test_programs_are_marked_for_projects_in_turn",
        "runs/test_webhook_deliveries.py:test_many_messages_of_one_project_keep_no_other_waiting",
    ),
    "26 forged messages of a broker": (
        "worker/test_celery_workers.py:test_workers_do_what_they_are_told_and_nothing_else",
        "worker/test_bad_input.py:test_a_broker_that_strangers_could_use_is_refused",
    ),
    "27 the cache as an oracle": (
        "server/test_provider_keys.py:test_an_answer_that_a_project_paid_for_is_none_for_another",
        "stores/test_scope.py:test_another_projects_rows_are_as_if_they_did_not_exist",
    ),
    "28 secrets in what is read": (
        "server/test_planted_secrets.py:test_no_answer_log_event_export_page_or_process_shows_a_secret",
        "server/test_planted_secrets.py:test_no_file_holds_a_secret",
        "server/test_planted_secrets.py:test_the_key_was_echoed_and_is_seen_to_be_left_out",
    ),
    "29 forged evidence": (
        "runs/test_imports.py:test_no_leaderboard_ranks_what_was_imported",
        "programs/test_building.py:test_forged_coverage_gets_no_mark",
        "accounts/test_accounts.py:test_the_audit_log_is_one_chain_however_many_write",
        "accounts/test_accounts.py:test_a_row_that_was_changed_or_removed_is_found",
    ),
    "30 webhooks": (
        "server/test_webhooks.py:test_whoever_listens_is_told_how_runs_end_and_can_prove_it",
        "runs/test_webhook_deliveries.py:test_no_redirect_is_followed_and_no_slow_answer_waited_for",
        "runs/test_webhook_deliveries.py:test_no_slow_answer_is_waited_for_over_tls_either",
    ),
}


@pytest.mark.parametrize("attack", ATTACKS)
def test_each_attack_has_tests_that_are_there(attack: str) -> None:
    for named in ATTACKS[attack]:
        path, name = named.split(":")
        text = (TESTS / path).read_text(encoding="utf-8")
        assert re.search(rf"^(async )?def {name}\(", text, re.MULTILINE), named


def test_no_attack_is_left_out() -> None:
    assert [int(attack.split()[0]) for attack in ATTACKS] == list(range(1, 31))


def test_sessions_begin_at_one_place() -> None:
    """However somebody signs in, what is checked there is passed by nobody: a disabled user gets no session."""
    sources = Path(proctor.__file__).parent

    def places(pattern: str) -> list[str]:
        found = (path for path in sources.rglob("*.py") if "catalog" not in path.parts)
        return [str(path.relative_to(sources)) for path in found if re.search(pattern, path.read_text("utf-8"))]

    assert places(r"INSERT INTO sessions") == ["stores/accounts/credentials.py"]
    assert places(r"\)\.begin_session\(") == ["accounts/sign_in.py"]
