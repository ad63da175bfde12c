"""The record of an experiment: what another person needs to do it again, as plain values."""

from __future__ import annotations

from typing import Any

from paragone.results.results import Results

FORMAT, VERSION = "paragone-provenance", 1
ELEMENT = "paragone-provenance"
"""The id of the script element that holds the record in a page."""


def experiment_record(results: Results, experiment: str) -> dict[str, Any]:
    """Return all that `paragone reproduce` needs of an experiment in a store.

    Parameters
    ----------
    results : Results
        An open store.
    experiment : str
        The experiment's name.

    Returns
    -------
    dict
        Its declaration as text, the runs with their provenance, and what identifies the datasets.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> from paragone.experiment import Experiment
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder) / "a.sqlite"
    ...     with Experiment(["wine-traits"], {"V": "variance"}, {"folds": 2}, seed=3).run(path, 0) as results:
    ...         record = experiment_record(results, "experiment")
    >>> record["seed"], list(record["datasets"])
    (3, ['wine-traits'])
    """
    described = results.described(experiment)
    runs = results.runs()
    # Runs of a version that did not say whose they were count for every experiment of the store.
    mine = [run for run in runs.itertuples() if run.environment.get("experiment", experiment) == experiment]
    return {
        "format": FORMAT,
        "version": VERSION,
        "experiment": described["name"],
        "seed": described["seed"],
        "declared": results.declared(experiment),
        "data": [str(name) for name in described["data"]],
        "datasets": results.fingerprints(experiment),
        "runs": [
            {"begun_at": run.begun_at, "workers": int(run.workers), "environment": run.environment} for run in mine
        ],
    }
