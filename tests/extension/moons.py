"""A protocol, a metric, a reader and a chart of one's own: clusters of points, in one file."""

from dataclasses import dataclass
from typing import ClassVar

import altair as alt
import numpy as np
from sklearn.metrics import adjusted_rand_score, silhouette_score

from paragone.data import Dataset, Reader
from paragone.lab.cells import Fitted, Score
from paragone.metrics import declare_metric
from paragone.page import Gallery, Section, figure
from paragone.protocols import Protocol


@declare_metric(title="Silhouette", higher_is_better=True, lowest=-1, highest=1)
def silhouette(X, labels):
    """How much nearer points are to their own cluster than to the next."""
    return silhouette_score(X, labels) if 1 < len(np.unique(labels)) < len(labels) else -1.0


@declare_metric(title="Adjusted Rand index", higher_is_better=True, lowest=-1, highest=1)
def adjusted_rand(truth, labels):
    """How far clusters agree with the classes, 0 by chance."""
    return adjusted_rand_score(truth, labels)


def read_points(path, options):
    """Read lines such as ``0.1;0.7 = upper``."""
    rows = [line.split(" = ") for line in path.read_text(encoding="utf-8").splitlines()]
    X = [[float(number) for number in point.split(";")] for point, _ in rows]
    return Dataset(path.stem, X, [label for _, label in rows], "classification")


points = Reader("points", read_points, suffixes=(".points",))


@dataclass(frozen=True)
class Clustering(Protocol):
    """Cluster the training rows and ask which cluster the test rows fall into."""

    kind: ClassVar[str] = "clustering"
    metrics: ClassVar[tuple] = ("silhouette", "adjusted_rand")
    n_clusters: int = 2

    def fit(self, estimator, data):
        model = estimator.set_params(n_clusters=self.n_clusters).fit(data.X_train)
        return Fitted({"labels": model.predict(data.X_test)}, {"inertia": float(model.inertia_)})

    def scores(self, fitted, data):
        labels = fitted.arrays["labels"]
        yield Score("silhouette", silhouette(data.X_test, labels))
        yield Score("adjusted_rand", adjusted_rand(data.y_test, labels))

    def sections(self, view):
        rows = view.scores[["method", "metric", "value"]].to_dict("records")
        dots = (
            alt.Chart(alt.Data(values=rows))
            .mark_point()
            .encode(x="value:Q", y="method:N", color="metric:N")
        )
        yield Section(
            "clusters",
            "Clusters",
            (Gallery((figure("clusters", dots.properties(title="All folds")),)),),
        )
