"""SMGCN: forward pass against loops, gradients against differences, training, resuming, logging."""

from __future__ import annotations

import json

import numpy as np
import pytest
import torch

from paragone.errors import InputError
from paragone.methods.recommenders import make_recommender
from paragone.methods.recommenders.smgcn import SMGCN
from paragone.methods.recommenders.smgcn.settings import build_graphs
from paragone.methods.recommenders.smgcn.training import (
    Network,
    TrainingDivergedError,
    csr_tensor,
    embedding_penalty,
    mean_rows,
    sample_loss,
)
from paragone.metrics.topk import topk_scores
from paragone.testing.recommenders import check_recommender, example_prescriptions

SMALL = {"widths": (4, 6, 8), "batch_size": 16, "max_epochs": 6, "evaluate_every": 2, "ks": (1, 3)}
SMALL |= {"choose_by": "recall@3", "token_pairs_from": 2, "item_pairs_from": 2}


@pytest.fixture(scope="module")
def rows():
    return example_prescriptions(60, 7, 11, seed=2)


@pytest.fixture(scope="module")
def pairs():
    return np.array([[0, 1], [2, 5]]), np.array([[0, 3], [1, 2], [4, 9]])


def small_network(rows, pairs, widths=(4, 6, 8), fusion="add", dropout=0.0):
    torch.manual_seed(1)
    return Network(build_graphs(rows, *pairs), widths, dropout, fusion)


def naive_scores(network, rows, pairs, fusion):
    """The whole forward pass with loops over nodes and neighbours, in float64."""
    values = {
        name: value.detach().numpy().astype(np.float64)
        for name, value in network.named_parameters()
    }
    n_tokens, n_items = rows.n_tokens, rows.n_items
    bipartite = {node: {node} for node in range(n_tokens + n_items)}
    for row in range(rows.n_rows):
        for token in np.flatnonzero(rows.queries[[row]].toarray()[0]):
            for item in rows.items[rows.indptr[row] : rows.indptr[row + 1]]:
                bipartite[int(token)].add(n_tokens + int(item))
                bipartite[n_tokens + int(item)].add(int(token))
    start = np.vstack([values["token_embedding"], values["item_embedding"]])

    def tower(prefix, own):
        hidden = start
        for layer in range(2):
            following = []
            for node in range(n_tokens + n_items):
                mean = sum(hidden[other] for other in bipartite[node]) / len(bipartite[node])
                message = np.tanh(mean @ values[f"{prefix}.messages.{layer}"])
                joined = np.concatenate([hidden[node], message])
                following.append(
                    np.tanh(
                        joined @ values[f"{prefix}.weights.{layer}"]
                        + values[f"{prefix}.biases.{layer}"][0]
                    )
                )
            hidden = np.array(following)
        return np.array([hidden[node] / np.linalg.norm(hidden[node]) for node in own])

    def synergy(embedding, edges, weight):
        out = []
        for node in range(len(embedding)):
            near = {node} | {b for a, b in edges if a == node} | {a for a, b in edges if b == node}
            out.append(np.tanh(sum(embedding[other] for other in near) @ weight))
        return np.array(out)

    tokens = [tower("token_tower", range(n_tokens))]
    tokens.append(
        synergy(values["token_embedding"], pairs[0].tolist(), values["token_synergy_weight"])
    )
    items = [tower("item_tower", range(n_tokens, n_tokens + n_items))]
    items.append(
        synergy(values["item_embedding"], pairs[1].tolist(), values["item_synergy_weight"])
    )
    join = (lambda parts: np.hstack(parts)) if fusion == "concat" else sum
    token_final, item_final = join(tokens), join(items)
    scores = []
    for query in rows.queries.toarray():
        mean = sum(token_final[token] for token in np.flatnonzero(query)) / query.sum()
        syndrome = np.maximum(mean @ values["syndrome_weight"] + values["syndrome_bias"][0], 0)
        scores.append([syndrome @ item for item in item_final])
    return np.array(scores)


@pytest.mark.parametrize("fusion", ["add", "concat"])
def test_the_forward_pass_is_that_of_a_naive_loop(rows, pairs, fusion):
    network = small_network(rows, pairs, fusion=fusion)
    found = (
        network.logits(csr_tensor(mean_rows(rows.queries)), *network.embeddings()).detach().numpy()
    )
    np.testing.assert_allclose(found, naive_scores(network, rows, pairs, fusion), atol=1e-5)


@pytest.mark.parametrize("loss", ["bce", "weighted_mse"])
def test_gradients_are_those_of_finite_differences(rows, pairs, loss):
    network = small_network(rows, pairs, widths=(3, 4, 5)).double()
    for name in ("propagation", "token_part", "item_part", "token_graph", "item_graph"):
        setattr(network, name, getattr(network, name).to_dense())
    queries = torch.as_tensor(mean_rows(rows.queries).toarray(), dtype=torch.float64)
    targets = torch.as_tensor(rows.multi_hot().toarray())
    weights = torch.linspace(1.0, 3.0, rows.n_items, dtype=torch.float64)
    present = torch.ones(rows.n_tokens, dtype=torch.float64)

    def total():
        tokens, items = network.embeddings()
        main = sample_loss(loss, network.logits(queries, tokens, items), targets, weights)
        return main + embedding_penalty(tokens, items, present, 0.5, rows.n_rows)

    total().backward()
    rng = np.random.default_rng(0)
    for name, value in network.named_parameters():
        for _ in range(3):
            place = tuple(int(rng.integers(size)) for size in value.shape)
            with torch.no_grad():
                before = value[place].item()
                value[place] = before + 1e-6
                above = total().item()
                value[place] = before - 1e-6
                below = total().item()
                value[place] = before
            assert value.grad[place].item() == pytest.approx(
                (above - below) / 2e-6, abs=1e-6, rel=1e-5
            ), name


def test_losses_are_their_formulas():
    logits, targets = (
        torch.tensor([[0.3, -1.0], [2.0, 0.1]]),
        torch.tensor([[1.0, 0.0], [0.0, 1.0]]),
    )
    weights = torch.tensor([1.0, 4.0])
    chance = 1 / (1 + np.exp(-logits.numpy()))
    y = targets.numpy()
    entropy = -(y * np.log(chance) + (1 - y) * np.log(1 - chance)).sum(axis=1).mean()
    squares = (np.array([1.0, 4.0]) * (y - chance) ** 2).sum(axis=1).mean()
    assert sample_loss("bce", logits, targets, weights).item() == pytest.approx(entropy, rel=1e-6)
    assert sample_loss("weighted_mse", logits, targets, weights).item() == pytest.approx(
        squares, rel=1e-6
    )
    tokens, items = torch.tensor([[1.0, 2.0], [3.0, 0.0]]), torch.tensor([[2.0, 1.0]])
    penalty = embedding_penalty(tokens, items, torch.tensor([1.0, 0.0]), 0.6, 3)
    assert penalty.item() == pytest.approx(0.6 / 3 * 0.5 * (5 + 5))


def test_the_graphs_are_those_of_a_plain_count(rows, pairs):
    graphs = build_graphs(rows, *pairs)
    together = (rows.queries.toarray().T @ rows.multi_hot().toarray() > 0).astype(float)
    size = rows.n_tokens + rows.n_items
    adjacency = np.eye(size)
    adjacency[: rows.n_tokens, rows.n_tokens :] = together
    adjacency[rows.n_tokens :, : rows.n_tokens] = together.T
    np.testing.assert_allclose(
        graphs.propagation.toarray(), adjacency / adjacency.sum(axis=1, keepdims=True)
    )
    assert graphs.token_synergy.toarray()[0, 1] == graphs.token_synergy.toarray()[1, 0] == 1
    assert graphs.token_synergy.toarray().sum() == rows.n_tokens + 4


def test_dense_graphs_and_resident_rows_change_nothing_but_rounding(rows, pairs):
    from paragone.methods.recommenders.smgcn.training import Batches

    sparse_network = small_network(rows, pairs)
    torch.manual_seed(1)
    dense_network = Network(build_graphs(rows, *pairs), (4, 6, 8), 0.0, "add", dense=True)
    for one, other in zip(sparse_network.embeddings(), dense_network.embeddings(), strict=True):
        torch.testing.assert_close(one, other)
    batches = Batches(rows, torch.device("cpu"))
    chosen = np.array([3, 1, 7])
    sparse_queries, present, targets = batches.take(chosen)
    batches.resident = tuple(
        torch.as_tensor(part.toarray()) for part in (batches.queries, batches.answers)
    )
    queries, present_too, targets_too = batches.take(chosen)
    torch.testing.assert_close(sparse_queries.to_dense(), queries)
    torch.testing.assert_close(present, present_too)
    torch.testing.assert_close(targets, targets_too)


def test_dropout_is_on_in_training_and_off_in_evaluation(rows, pairs):
    network = small_network(rows, pairs, dropout=0.5)
    network.eval()
    first, second = (network.embeddings()[0] for _ in range(2))
    assert torch.equal(first, second)
    network.train()
    assert not torch.equal(network.embeddings()[0], network.embeddings()[0])


def test_smgcn_keeps_the_contract():
    check_recommender(SMGCN(**SMALL, dropout=0.2))


def split(rows):
    return rows.take(np.arange(40), name="train"), rows.take(np.arange(40, 60), name="validation")


def test_another_seed_gives_another_network(rows):
    first, second = (
        SMGCN(**SMALL, seed=seed).fit(*split(rows)).score(rows.queries) for seed in (0, 1)
    )
    assert not np.allclose(first, second)


def test_it_learns_what_a_token_asks_for():
    # Every token asks for one item of its own: a network that learns at all gets all of them right.
    from paragone.data.prescriptions import Prescriptions

    train = Prescriptions.from_rows([([token], [token]) for token in range(6) for _ in range(10)])
    made = SMGCN(**(SMALL | {"max_epochs": 150, "patience": None}), learning_rate=5e-3).fit(train)
    assert made.score(np.eye(6)).argmax(axis=1).tolist() == list(range(6))
    assert made.epoch_ == 150


def test_the_published_loss_trains(rows):
    made = SMGCN(
        **(SMALL | {"max_epochs": 30, "patience": None}), loss="weighted_mse", learning_rate=5e-3
    )
    losses = [record["loss"] for record in made.fit(*split(rows)).history_]
    assert losses[-1] < 0.8 * losses[0]


def test_the_chosen_epoch_is_the_best_on_validation(rows):
    train, validation = split(rows)
    made = SMGCN(**(SMALL | {"max_epochs": 20, "patience": None})).fit(train, validation)
    values = [record["metrics"]["recall"][1] for record in made.history_]
    assert made.epoch_ == made.history_[int(np.argmax(values))]["epoch"]
    again = topk_scores(made.score(validation.queries), validation.truth, k=3, metrics=("recall",))
    assert again.value("recall", 3) == pytest.approx(max(values), abs=1e-12)


def test_training_ends_when_nothing_improves(rows):
    made = SMGCN(**(SMALL | {"max_epochs": 400, "patience": 2})).fit(*split(rows))
    assert made.history_[-1]["epoch"] == made.epoch_ + 4
    assert made.history_[-1]["epoch"] < 400


def test_an_interrupted_fit_goes_on_as_if_nothing_had_happened(rows, tmp_path):
    settings = SMALL | {"dropout": 0.3, "patience": None}
    whole = SMGCN(**settings).fit(*split(rows))

    class PowerCutError(Exception):
        pass

    def stop(epoch, last, loss):
        if epoch == 5:
            raise PowerCutError

    checkpoint = tmp_path / "fit.npz"
    with pytest.raises(PowerCutError):
        SMGCN(**settings).observe(checkpoint=checkpoint, progress=stop).fit(*split(rows))
    seen = []
    resumed = SMGCN(**settings).observe(
        checkpoint=checkpoint, progress=lambda *now: seen.append(now[0])
    )
    resumed.fit(*split(rows))
    assert seen == [5, 6]
    assert resumed.score(rows.queries).tobytes() == whole.score(rows.queries).tobytes()
    assert [r["metrics"] for r in resumed.history_] == [r["metrics"] for r in whole.history_]


def test_a_checkpoint_of_another_fit_is_refused(rows, tmp_path):
    path = tmp_path / "fit.npz"
    SMGCN(**SMALL).observe(checkpoint=path).fit(*split(rows))
    with pytest.raises(InputError, match="other settings or data"):
        SMGCN(**SMALL, penalty=0.5).observe(checkpoint=path).fit(*split(rows))
    path.write_bytes(b"rubbish")
    with pytest.raises(InputError, match="not a readable"):
        SMGCN(**SMALL).observe(checkpoint=path).fit(*split(rows))


def test_the_log_has_a_json_line_an_evaluation_and_says_which_set_chose(rows, tmp_path):
    lines: list[str] = []
    made = SMGCN(**SMALL).observe(
        log=tmp_path / "log.jsonl", classic=lines.append, result_file=tmp_path / "best.txt"
    )
    made.fit(*split(rows))
    records = [json.loads(line) for line in (tmp_path / "log.jsonl").read_text().splitlines()]
    evaluations = [record for record in records if record["event"] == "evaluation"]
    assert [record["epoch"] for record in evaluations] == [2, 4, 6]
    assert set(evaluations[0]["metrics"]) == {"precision", "recall", "f1", "rmrr", "ndcg"}
    assert {record["set"] for record in evaluations} == {"validation"}
    assert records[-1] == {
        "event": "chosen",
        "epoch": made.epoch_,
        "set": "validation",
        "by": "recall@3",
    }
    assert lines[0].startswith("Epoch 0 [")
    assert lines[-1].startswith(f"Best Iter=[{made.epoch_ // 2 - 1}]@[")
    assert (tmp_path / "best.txt").read_text().endswith("\n\t" + lines[-1] + "\n")


def test_without_validation_the_last_epoch_is_taken_and_the_log_says_so(rows, tmp_path):
    made = SMGCN(**SMALL).observe(log=tmp_path / "log.jsonl").fit(rows)
    assert made.epoch_ == 6
    last = json.loads((tmp_path / "log.jsonl").read_text().splitlines()[-1])
    assert last == {"event": "chosen", "epoch": 6, "set": None, "by": "last epoch"}


def test_a_loss_that_is_no_number_aborts_with_a_clear_message(rows):
    with pytest.raises(TrainingDivergedError, match=r"epoch \d+, step \d+: lower learning_rate"):
        SMGCN(**SMALL, learning_rate=1e30).fit(rows)


def test_a_network_below_popularity_gets_a_warning(rows, tmp_path):
    settings = SMALL | {
        "max_epochs": 50,
        "evaluate_every": 50,
        "patience": None,
        "choose_by": "precision@1",
    }
    # All rows want item 0 as well, so popularity is perfect at 1; a rate of nearly nothing learns
    # nothing.
    from paragone.data.prescriptions import Prescriptions

    wanting = Prescriptions.from_rows([([token % 5], [0, 1 + token % 9]) for token in range(60)])
    made = SMGCN(**settings, learning_rate=1e-12, seed=3).observe(log=tmp_path / "log.jsonl")
    with pytest.warns(UserWarning, match="below popularity after 50 epochs"):
        made.fit(wanting.take(np.arange(40)), wanting.take(np.arange(40, 60), name="validation"))
    assert '"event": "warning"' in (tmp_path / "log.jsonl").read_text()


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ({"loss": "bse"}, "did you mean 'bce'"),
        ({"fusion": "mul"}, "fusion"),
        ({"dropout": 1.0}, "dropout"),
        ({"widths": (4,)}, "widths"),
        ({"learning_rate": 0.0}, "learning_rate"),
        ({"max_epochs": 0}, "max_epochs"),
        ({"penalty": -1.0}, "penalty"),
        ({"choose_by": "recall@7"}, "choose_by"),
        ({"choose_by": "recall"}, "choose_by"),
        ({"item_pairs": np.array([[0, 99]])}, "item pairs name id 99"),
        ({"item_pairs": np.array([1, 2, 3])}, "two columns"),
    ],
)
def test_a_parameter_that_makes_no_sense_is_explained(rows, parameters, words):
    with pytest.raises(InputError, match=words):
        SMGCN(**(SMALL | parameters)).fit(rows)


def test_pairs_may_come_from_files(rows, tmp_path):
    (tmp_path / "pairs.txt").write_text("0 1\n2 3\n")
    from_file = SMGCN(**SMALL, token_pairs=tmp_path / "pairs.txt").fit(rows).score(rows.queries)
    from_array = (
        SMGCN(**SMALL, token_pairs=np.array([[0, 1], [2, 3]])).fit(rows).score(rows.queries)
    )
    np.testing.assert_array_equal(from_file, from_array)


def test_the_number_of_threads_is_put_back(rows):
    before = torch.get_num_threads()
    SMGCN(**SMALL).fit(rows)
    assert torch.get_num_threads() == before


def test_a_query_without_tokens_gets_finite_scores(rows):
    scores = SMGCN(**SMALL).fit(rows).score(np.zeros((1, rows.n_tokens)))
    assert np.isfinite(scores).all()


def test_without_torch_the_user_is_told_how_to_install_it(rows, monkeypatch):
    from paragone.methods.recommenders.smgcn import settings as torch_import

    def missing(name):
        raise ImportError(f"No module named {name!r}")

    monkeypatch.setattr(torch_import, "import_module", missing)
    with pytest.raises(InputError, match=r"pip install 'paragone\[recsys\]'"):
        make_recommender("smgcn").fit(rows)


@pytest.mark.known_answer
@pytest.mark.slow
def test_one_seed_on_the_herb_data_reaches_the_published_level(data_folder):
    from paragone.data.prescriptions import read_prescriptions, read_row_numbers

    herb = data_folder / "herb"
    train = read_prescriptions(herb / "train.txt")
    chosen = read_row_numbers(herb / "valid_row_indices.txt", n_rows=train.n_rows)
    test = read_prescriptions(herb / "test.txt", n_tokens=train.n_tokens, n_items=train.n_items)
    made = SMGCN(seed=0).fit(
        train.without(chosen, name="train"), train.take(chosen, name="validation")
    )
    result = topk_scores(made.score(test.queries), test.truth)
    assert result.value("precision", 5) >= 0.284
    assert result.value("recall", 20) >= 0.465
