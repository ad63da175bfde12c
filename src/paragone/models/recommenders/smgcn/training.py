"""The training loop of SMGCN: draws, steps, evaluations, the choice of the epoch."""

from __future__ import annotations

import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

from paragone.data.prescriptions import Prescriptions
from paragone.metrics.topk import topk_scores
from paragone.models.recommenders.popularity import Popularity
from paragone.models.recommenders.smgcn.batches import Batches
from paragone.models.recommenders.smgcn.checkpoint import Arrays, Progress, load_progress, save_progress
from paragone.models.recommenders.smgcn.graphs import Graphs
from paragone.models.recommenders.smgcn.log import ClassicText, Observation
from paragone.models.recommenders.smgcn.losses import embedding_penalty, sample_loss
from paragone.models.recommenders.smgcn.network import Network
from paragone.models.recommenders.smgcn.scoring import FinalEmbeddings
from paragone.models.recommenders.smgcn.settings import Settings
from paragone.ties import least_loss, slack_of
from paragone.validation import FloatArray

# A network that is still below popularity after so many epochs deserves a word.
PATIENCE_WITH_POPULARITY = 50
METRICS = ("precision", "recall", "f1", "rmrr", "ndcg")


class TrainingDivergedError(ArithmeticError):
    """The loss is no number any more."""


@dataclass(frozen=True, eq=False)
class Trained:
    """What training leaves: final embeddings, the chosen epoch, all evaluations."""

    embeddings: FinalEmbeddings
    parameters: Arrays
    epoch: int
    history: list[dict[str, Any]]


class Trainer:
    """One training run; `run` does it."""

    def __init__(
        self,
        settings: Settings,
        graphs: Graphs,
        train: Prescriptions,
        validation: Prescriptions | None,
        observation: Observation,
        identity: str,
    ) -> None:
        self.settings = settings
        self.validation = validation
        self.observation = observation
        self.identity = identity
        self.device = torch.device(settings.device)
        self.batches = Batches(train, self.device)
        torch.manual_seed(settings.seed)
        dense = self.device.type != "cpu"
        network = Network(graphs, settings.widths, settings.dropout, settings.fusion, dense=dense)
        self.network = network.to(self.device)
        self.optimizer = torch.optim.Adam(self.network.parameters(), lr=settings.learning_rate)
        frequency = np.maximum(graphs.item_frequency, 1.0)
        weights = (frequency.max() / frequency).astype(np.float32)
        self.item_weights = torch.as_tensor(weights, device=self.device)
        self.popularity = self._popularity_floor(train)
        self.classic = ClassicText(observation, settings, self.n_steps)

    def run(self) -> Trained:
        """Train from the checkpoint, or from the start, to the last epoch or until nothing improves."""
        with _threads(self.settings.n_threads):
            progress = self._resume()
            self.observation.resume(progress)
            self.classic.begin(progress)
            while progress.epoch < self.settings.max_epochs and not self._out_of_patience(progress):
                began = time.perf_counter()
                losses = self._trained(progress.epoch)
                progress.epoch += 1
                seconds = time.perf_counter() - began
                progress.seconds += seconds
                progress.epochs.append([seconds, 0.0, *losses])
                if self.observation.progress is not None:
                    self.observation.progress(progress.epoch, self.settings.max_epochs, losses[0])
                if self._evaluation_due(progress.epoch):
                    self._evaluate(progress, losses)
                else:
                    self.classic.epoch(progress)
            return self._finish(progress)

    @property
    def n_steps(self) -> int:
        """Steps of an epoch."""
        n_rows, size = self.batches.n_rows, self._batch_size
        return n_rows // size + 1 if n_rows > size else 1

    @property
    def _batch_size(self) -> int:
        return min(self.settings.batch_size, self.batches.n_rows)

    def _trained(self, epoch: int) -> tuple[float, float, float]:
        try:
            return self.train_epoch(epoch)
        except TrainingDivergedError:
            self.classic.diverged()
            raise

    def train_epoch(self, epoch: int) -> tuple[float, float, float]:
        """Make ``n // B + 1`` steps on independent draws; return the mean total, loss and penalty."""
        n_rows, size = self.batches.n_rows, self._batch_size
        # Seeded an epoch, so that a resumed run draws what an uninterrupted one would have drawn.
        draws = np.random.default_rng([self.settings.seed, epoch])
        torch.manual_seed(int(draws.integers(2**31)))
        self.network.train()
        steps = []
        for _ in range(self.n_steps):
            loss, penalty = self.losses(draws.choice(n_rows, size, replace=False))
            self.optimizer.zero_grad(set_to_none=True)
            (loss + penalty).backward()
            self.optimizer.step()
            # Read once an epoch: reading a number makes a GPU wait for it.
            steps.append(torch.stack([loss.detach(), penalty.detach()]))
        return self._mean_losses(torch.stack(steps).cpu().numpy().astype(np.float64), epoch)

    def _mean_losses(self, steps: FloatArray, epoch: int) -> tuple[float, float, float]:
        bad = np.flatnonzero(~np.isfinite(steps).all(axis=1))
        if len(bad):
            raise TrainingDivergedError(
                f"smgcn: the loss is {steps[bad[0]].sum()} at epoch {epoch + 1}, step {bad[0] + 1}: lower "
                f"learning_rate (it is {self.settings.learning_rate:g}) or check the data"
            )
        loss, penalty = steps.mean(axis=0)
        return float(loss + penalty), float(loss), float(penalty)

    def losses(self, rows: Any) -> tuple[Any, Any]:
        """Return the loss and the embedding penalty of a batch of training rows."""
        queries, present, targets = self.batches.take(rows)
        tokens, items = self.network.embeddings()
        logits = self.network.logits(queries, tokens, items)
        loss = sample_loss(self.settings.loss, logits, targets, self.item_weights)
        return loss, embedding_penalty(tokens, items, present, self.settings.penalty, len(rows))

    def final_embeddings(self) -> FinalEmbeddings:
        """Return the embeddings of the network as it is, dropout off."""
        self.network.eval()
        with torch.no_grad():
            tokens, items = self.network.embeddings()
            arrays = (tokens, items, self.network.syndrome_weight, self.network.syndrome_bias)
            return FinalEmbeddings(*(array.detach().cpu().numpy().copy() for array in arrays))

    def _evaluation_due(self, epoch: int) -> bool:
        return epoch % self.settings.evaluate_every == 0 or epoch == self.settings.max_epochs

    def _evaluate(self, progress: Progress, losses: tuple[float, float, float]) -> None:
        progress.parameters = self._parameters()
        record: dict[str, Any] = {"event": "evaluation", "epoch": progress.epoch}
        record |= dict(zip(("total", "loss", "penalty"), losses, strict=True))
        if self.validation is not None:
            began = time.perf_counter()
            metrics = self._validation_metrics(self.final_embeddings())
            progress.epochs[-1][1] = time.perf_counter() - began
            record |= {"set": self.validation.name, "ks": list(self.settings.ks), "metrics": metrics}
            so_far = [-self._value(one) for one in (*progress.history, record)]
            if least_loss(so_far, size=1.0) == len(progress.history):
                progress.best, progress.best_epoch = progress.parameters, progress.epoch
        record["seconds"] = round(progress.seconds, 3)
        progress.history.append(record)
        self.observation.write(record)
        self.classic.epoch(progress)
        self._warn_below_popularity(record)
        if self.observation.checkpoint is not None:
            progress.moments = self._moments()
            save_progress(self.observation.checkpoint, progress, self.identity)

    def _validation_metrics(self, embeddings: FinalEmbeddings) -> dict[str, list[float]]:
        assert self.validation is not None
        scores = embeddings.score(self.validation.queries)
        result = topk_scores(scores, self.validation.truth, k=self.settings.ks, metrics=METRICS, empty="skip")
        return {name: values.tolist() for name, values in result.as_dict().items()}

    def _value(self, record: dict[str, Any]) -> float:
        name, k = self.settings.choose_by
        return float(record["metrics"][name][self.settings.ks.index(k)])

    def _popularity_floor(self, train: Prescriptions) -> float | None:
        if self.validation is None:
            return None
        scores = Popularity().fit(train).score(self.validation.queries)
        name, k = self.settings.choose_by
        result = topk_scores(scores, self.validation.truth, k=k, metrics=(name,), empty="skip")
        return float(result.as_dict()[name][0])

    def _warn_below_popularity(self, record: dict[str, Any]) -> None:
        if self.popularity is None or record["epoch"] < PATIENCE_WITH_POPULARITY:
            return
        value = self._value(record)
        if value < self.popularity - slack_of(self.popularity, 1.0):
            name, k = self.settings.choose_by
            text = (
                f"smgcn is below popularity after {record['epoch']} epochs: {name}@{k} {value:.4f} against "
                f"{self.popularity:.4f} on {record['set']}"
            )
            warnings.warn(text, UserWarning, stacklevel=2)
            self.observation.write({"event": "warning", "epoch": record["epoch"], "text": text})

    def _out_of_patience(self, progress: Progress) -> bool:
        if self.validation is None or self.settings.patience is None or not progress.history:
            return False
        last = progress.history[-1]["epoch"]
        return bool(last - progress.best_epoch >= self.settings.patience * self.settings.evaluate_every)

    def _finish(self, progress: Progress) -> Trained:
        if progress.best:
            self._load(progress.best)
        epoch = progress.best_epoch or progress.epoch
        name, k = self.settings.choose_by
        chosen_on = self.validation.name if self.validation is not None else None
        rule = f"{name}@{k}" if self.validation is not None else "last epoch"
        self.observation.write({"event": "chosen", "epoch": epoch, "set": chosen_on, "by": rule})
        self.classic.end(progress, epoch)
        return Trained(self.final_embeddings(), self._parameters(), epoch, progress.history)

    def _resume(self) -> Progress:
        path = self.observation.checkpoint
        progress = load_progress(path, self.identity) if path is not None else None
        if progress is None:
            return Progress()
        self._load(progress.parameters)
        self._load_moments(progress.moments)
        return progress

    def _parameters(self) -> Arrays:
        return {name: value.detach().cpu().numpy().copy() for name, value in self.network.named_parameters()}

    def _load(self, parameters: Arrays) -> None:
        with torch.no_grad():
            for name, value in self.network.named_parameters():
                value.copy_(torch.as_tensor(parameters[name]))

    def _moments(self) -> Arrays:
        names = [name for name, _ in self.network.named_parameters()]
        state = self.optimizer.state_dict()["state"]
        return {
            f"{names[index]}/{key}": value.detach().cpu().numpy().copy()
            for index, entry in state.items()
            for key, value in entry.items()
        }

    def _load_moments(self, moments: Arrays) -> None:
        state = self.optimizer.state_dict()
        for index, (name, _) in enumerate(self.network.named_parameters()):
            keys = ("step", "exp_avg", "exp_avg_sq")
            state["state"][index] = {key: torch.as_tensor(moments[f"{name}/{key}"]) for key in keys}
        self.optimizer.load_state_dict(state)


@contextmanager
def _threads(count: int) -> Iterator[None]:
    before = torch.get_num_threads()
    torch.set_num_threads(count)
    try:
        yield
    finally:
        torch.set_num_threads(before)
