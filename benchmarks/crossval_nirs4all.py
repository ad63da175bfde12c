"""The same 100 variants by nirs4all, run by the Python that has it; `benchmarks/crossval.py --peer` calls this.

Run: python benchmarks/crossval_nirs4all.py DATA.npz N_FOLDS N_COMPONENTS
"""

from __future__ import annotations

import json
import sys
import time
import warnings

import numpy as np


def main() -> None:
    """Run the pipelines and print CPU seconds as JSON."""
    import nirs4all
    from nirs4all.operators import transforms
    from sklearn.cross_decomposition import PLSRegression
    from sklearn.model_selection import KFold

    warnings.simplefilter("ignore")
    path, n_folds, n_components = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    with np.load(path) as data:
        X, y = data["X"], data["y"]
    steps = [
        None,
        transforms.StandardNormalVariate(),
        transforms.MultiplicativeScatterCorrection(),
        transforms.SavitzkyGolay(window_length=15, polyorder=2, deriv=1),
        transforms.SavitzkyGolay(window_length=15, polyorder=2, deriv=2),
    ]
    pipeline = [
        {"_or_": steps},
        KFold(n_folds, shuffle=True, random_state=42),
        {"_range_": [1, n_components], "param": "n_components", "model": PLSRegression},
    ]
    options = {
        "verbose": 0,
        "save_artifacts": False,
        "save_charts": False,
        "refit": False,
        "random_state": 0,
    }
    begun = time.process_time()
    nirs4all.run(pipeline, (X, y), **options)
    print(json.dumps({"version": nirs4all.__version__, "cpu": time.process_time() - begun}))


if __name__ == "__main__":
    main()
