"""Which tests are longer proofs of what a shorter test shows too: `make test-slow` runs them, `make test` does not.

Tests that are long by nature carry the mark `slow` themselves. Those here would make `make test`
too long a wait on two cores; each stands beside what shows the same law there.
"""

from __future__ import annotations

import pytest

LONGER = {
    "test_a_dask_cluster_keeps_the_contract": "test_on_dask_the_bytes_are_the_same",
    "test_jobs_keep_the_contract_of_an_executor": (
        "test_jobs_give_the_bytes_of_this_machine_and_end_with_the_run"
    ),
    "test_a_job_is_left_before_its_end_and_another_goes_on": (
        "test_cells_that_are_longer_than_a_job_are_not_begun"
    ),
    "test_a_run_on_this_machine_stops_cleanly_at_a_schedulers_signal[10]": (
        "the same test with SIGTERM"
    ),
    "test_a_local_executor_keeps_the_contract": "the example of check_executor, on threads",
    "test_a_search_that_was_stopped_goes_on_to_the_same_end": (
        "test_the_time_of_a_search_goes_on_where_it_was_stopped"
    ),
    "test_methods_are_tuned_on_every_sample_of_the_proof": (
        "test_every_fit_is_what_scikit_learn_gives_on_the_same_rows"
    ),
    "test_killed_in_the_second_stage_and_resumed_the_final_table_is_the_same": (
        "test_a_run_stopped_in_any_cell_resumes_to_the_same_final_table_byte_for_byte"
    ),
    "test_the_page_of_equal_variants_prints_the_same_bytes_under_other_kernels[Zen]": (
        "the same test under Nehalem; Zen uses Haswell's kernels"
    ),
    "test_every_block_does_what_the_page_says[docs/tutorial-evolve.md]": (
        "test_evolve_writes_a_collection_that_inspect_reads"
    ),
    "test_the_live_view_shows_chooses_and_drills_down[crossval]": "the same test for topk",
    "test_axe_finds_nothing[True-crossval]": "the same test for topk",
    "test_nothing_runs_is_fetched_or_complains_on_any_screen[crossval]": "the same test for topk",
    "test_every_table_of_an_unaltered_report_verifies_clean[garden]": (
        "the same test for curves and numbers"
    ),
    "test_the_published_stages_run_at_small_sizes": (
        "test_stages_score_every_method_on_every_formula_and_seed"
    ),
    "test_a_method_of_the_users_is_evolved_against": "test_a_method_of_the_users_joins_the_others",
    "test_data_where_a_method_loses_holds_no_set_made_for_its_wins": (
        "test_a_goal_keeps_only_the_pairs_that_serve_it"
    ),
    "test_done_cells_leave_their_logs_alone_and_cells_that_run_again_replace_them": (
        "test_worker_processes_keep_the_same_files"
    ),
    "test_the_json_log_is_kept_on_request": (
        "test_the_text_and_one_result_file_stand_beside_the_store_and_the_results_are_those_without"
    ),
    "test_a_method_that_knows_a_checkpoint_only_still_runs": "test_a_failed_fit_keeps_its_log_too",
    "test_names_that_a_file_system_would_not_take_are_told_apart": (
        "test_worker_processes_keep_the_same_files"
    ),
    "test_the_longest_cells_come_first_once_they_are_known": (
        "test_with_a_budget_no_cell_begins_that_cannot_end_in_time_and_shorter_ones_do"
    ),
    "test_tecators_duplicate_spectra_are_reported": (
        "test_gasoline_is_predicted_well_below_its_spread"
    ),
    "test_mayonnaise_replicates_flatter_a_nearest_neighbour": (
        "test_gasoline_is_predicted_well_below_its_spread"
    ),
    "test_diesel_counts_the_missing_values_of_every_target": (
        "test_gasoline_is_predicted_well_below_its_spread"
    ),
    "test_a_fault_loses_doubles_and_falsifies_nothing[file or log damaged]": (
        "the same test with the coordinator killed"
    ),
    "test_a_cluster_gives_the_same_bytes_with_the_users_module_beside_the_file": (
        "test_on_dask_the_bytes_are_the_same"
    ),
    "test_run_prints_json_only_whatever_a_method_prints[0]": "the same test with one worker",
    "test_every_update_of_the_whole_course_follows_the_formulas[medical]": (
        "the same test on emotions"
    ),
    "test_lsmfs_converges_at_its_defaults_on_every_set[arts]": "the same test on the smaller sets",
    "test_lsmfs_converges_at_its_defaults_on_every_set[education]": (
        "the same test on the smaller sets"
    ),
    "test_lsmfs_converges_at_its_defaults_on_every_set[enron]": "the same test on the smaller sets",
    "test_lsmfs_converges_at_its_defaults_on_every_set[medical]": (
        "the same test on the smaller sets"
    ),
    "test_lsmfs_converges_at_its_defaults_on_every_set[science]": (
        "the same test on the smaller sets"
    ),
    "test_lsmfs_converges_at_its_defaults_on_every_set[business]": (
        "the same test on the smaller sets"
    ),
    "test_lsmfs_converges_at_its_defaults_on_every_set[health]": (
        "the same test on the smaller sets"
    ),
}
"""Name of a test, with its parameter where only one case of it is meant -> what shows its law in `make test`."""


def mark_slow_tests(items: list[pytest.Item]) -> None:
    """Mark the tests above."""
    for item in items:
        if item.name in LONGER or item.name.partition("[")[0] in LONGER:
            item.add_marker(pytest.mark.slow)
