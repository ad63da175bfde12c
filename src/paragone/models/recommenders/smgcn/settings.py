"""What a training run of SMGCN is told: one frozen value."""

from __future__ import annotations

from dataclasses import asdict, dataclass

from paragone.errors import InputError, unknown_name

LOSSES = ("bce", "weighted_mse")
FUSIONS = ("add", "concat")
# The published rate suits the published loss; cross-entropy converges with a larger one.
LEARNING_RATES = {"bce": 1e-3, "weighted_mse": 2e-4}


@dataclass(frozen=True)
class Settings:
    """Checked parameters of one training run; `SMGCN` says what they mean."""

    loss: str
    fusion: str
    widths: tuple[int, ...]
    dropout: float
    learning_rate: float
    penalty: float
    batch_size: int
    max_epochs: int
    evaluate_every: int
    patience: int | None
    choose_by: tuple[str, int]
    ks: tuple[int, ...]
    n_threads: int
    device: str
    seed: int

    def __post_init__(self) -> None:
        for what, value, known in (("loss", self.loss, LOSSES), ("fusion", self.fusion, FUSIONS)):
            if value not in known:
                raise unknown_name(f"smgcn {what}", value, known)
        if not 0 <= self.dropout < 1:
            raise InputError(f"smgcn: dropout must lie in [0, 1), it is {self.dropout}")
        if len(self.widths) < 2 or min(self.widths) < 1:
            raise InputError(f"smgcn: widths must be two or more positive sizes, they are {self.widths}")
        positive = {
            "learning_rate": self.learning_rate,
            "batch_size": self.batch_size,
            "max_epochs": self.max_epochs,
            "evaluate_every": self.evaluate_every,
            "n_threads": self.n_threads,
            "patience": 1 if self.patience is None else self.patience,
        }
        for name, number in positive.items():
            if not number > 0:
                raise InputError(f"smgcn: {name} must be above 0, it is {number}")
        if self.penalty < 0:
            raise InputError(f"smgcn: penalty must not be negative, it is {self.penalty}")

    def as_json(self) -> dict[str, object]:
        """Return the settings as JSON can hold them."""
        return {key: list(value) if isinstance(value, tuple) else value for key, value in asdict(self).items()}
