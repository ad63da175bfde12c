"""The environment: the versions and the machine that numbers may depend on."""

from __future__ import annotations

import platform


def environment() -> dict[str, str]:
    """Return what the numbers may depend on beside the declaration: versions and machine."""
    import numba
    import numpy
    import scipy
    import sklearn

    from paragone import __version__

    modules = {"numpy": numpy, "scipy": scipy, "scikit-learn": sklearn, "numba": numba}
    return {
        "paragone": __version__,
        "python": platform.python_version(),
        "system": f"{platform.system()} {platform.machine()}",
        **{name: str(module.__version__) for name, module in modules.items()},
    }
