"""The classic text of a training run: the lines and the result file as the authors' program prints them.

Its users read and parse them, so they are kept to the letter: epochs are counted from 0, losses are sums over the
steps of an epoch, an epoch that is evaluated shows training plus evaluation seconds and, on a second line, the metrics
at the first and the last cut-off, and the best iteration is the number of an evaluation, counted from 0. F1 stands
where the authors' program has NDCG.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from paragone.models.recommenders.smgcn.settings import Settings

# What the authors' program calls the adjacency and the algorithm that are built in here.
ADJACENCY, ALGORITHM = "norm", "SMGCN"
DIVERGED = "ERROR: loss is nan."
SHOWN = ("recall", "precision", "f1", "rmrr")


@dataclass(frozen=True)
class EpochTimes:
    """What is kept of an epoch beside its metrics: seconds and mean losses.

    Attributes
    ----------
    training, evaluation : float
        Seconds; the second is 0 where nothing was evaluated.
    total, loss, penalty : float
        Means over the steps of the epoch.
    """

    training: float
    evaluation: float
    total: float
    loss: float
    penalty: float


def epoch_lines(epoch: int, times: EpochTimes, n_steps: int, evaluated: Mapping[str, Any] | None, paras: str) -> str:
    r"""Return the text of one epoch, with its line ends.

    Parameters
    ----------
    epoch : int
        Counted from 1, as everywhere else here; printed from 0.
    times : EpochTimes
        Its seconds and losses.
    n_steps : int
        Steps of an epoch; the authors' program prints sums over them.
    evaluated : mapping, optional
        The metrics, where the epoch was evaluated on validation rows.
    paras : str
        The parameters, as `parameters` writes them, repeated after every evaluation.

    Examples
    --------
    >>> times = EpochTimes(1.25, 0.5, 3.0, 2.5, 0.5)
    >>> epoch_lines(9, times, 2, None, "")
    'Epoch 8 [1.2s]: train==[6.00000=5.00000 + 1.00000 + 0.00000  ]\n'
    >>> metrics = {name: [0.5, 0.3, 0.25] for name in SHOWN}
    >>> print(epoch_lines(10, times, 2, metrics, "0.001"), end="")
    Epoch 9 [1.2s + 0.5s]: train==[6.00000=5.00000 + 1.00000 + 0.00000 ]
     recall=[0.50000, 0.25000], precision=[0.50000, 0.25000],  f1=[0.50000, 0.25000], RMRR=[0.50000, 0.25000]
    paras	 0.001
    """
    total, loss, penalty = (n_steps * mean for mean in (times.total, times.loss, times.penalty))
    losses = f"{total:.5f}={loss:.5f} + {penalty:.5f} + {0:.5f}"
    if evaluated is None:
        return f"Epoch {epoch - 1} [{times.training:.1f}s]: train==[{losses}  ]\n"
    shown = {name: f"[{evaluated[name][0]:.5f}, {evaluated[name][-1]:.5f}]" for name in SHOWN}
    return (
        f"Epoch {epoch - 1} [{times.training:.1f}s + {times.evaluation:.1f}s]: train==[{losses} ]\n"
        f" recall={shown['recall']}, precision={shown['precision']},  f1={shown['f1']}, RMRR={shown['rmrr']}\n"
        f"paras\t {paras}\n"
    )


def best_line(iteration: int, seconds: float, metrics: Mapping[str, Sequence[float]]) -> str:
    r"""Return the line of the chosen evaluation, all cut-offs, tabs between them.

    Examples
    --------
    >>> best_line(0, 1.25, {name: [0.5, 0.25] for name in SHOWN})
    'Best Iter=[0]@[1.2]\trecall=[0.50000\t0.25000], precision=[0.50000\t0.25000],  f1=[0.50000\t0.25000], rmrr=[...]'
    """
    shown = {name: "[" + "\t".join(f"{value:.5f}" for value in metrics[name]) + "]" for name in SHOWN}
    return (
        f"Best Iter=[{iteration}]@[{seconds:.1f}]\trecall={shown['recall']}, precision={shown['precision']},  "
        f"f1={shown['f1']}, rmrr={shown['rmrr']}"
    )


def parameters(settings: Settings) -> str:
    """Return the parameters in one word, as they are repeated after every evaluation."""
    rate, penalty = f"{settings.learning_rate:g}", f"[{settings.penalty:g}]"
    return f"{rate}_{penalty}_{_dropouts(settings)}_{settings.widths[0]}_{ADJACENCY}_{ALGORITHM}"


def result_text(settings: Settings, best: str, now: datetime) -> str:
    """Return what is appended to the result file: a line of hyper-parameters, and the best line after a tab."""
    layers = ",".join(str(width) for width in settings.widths[1:])
    return (
        f"time={now:%Y-%m-%d %H:%M:%S}, fusion={settings.fusion}, embed_size={settings.widths[0]}, "
        f"lr={settings.learning_rate:g}, layer_size=[{layers}], mess_dropout={_dropouts(settings)}, "
        f"regs=[{settings.penalty:g}], adj_type={ADJACENCY}\n\t{best}\n"
    )


def _dropouts(settings: Settings) -> str:
    return "[" + ", ".join(str(float(settings.dropout)) for _ in settings.widths[1:]) + "]"
