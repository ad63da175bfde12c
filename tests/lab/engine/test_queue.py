"""The order of work: unknown methods first, then the longest cells, else the order of the plan."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from paragone.lab.cells import Cell, Parts
from paragone.lab.engine.run import CellQueue, Estimates, Rest

SIZES = {"small": 10.0, "large": 1000.0}


def cell(method: str, dataset: str = "small", fold: int = 0) -> Cell:
    return Cell(dataset, fold, method, "curve", Parts(dataset, str(fold), method, "", "", ""), "")


def order(queue: CellQueue, within: float = float("inf")) -> list[tuple[str, str, int]]:
    return [(c.method, c.dataset, c.fold) for c in iter(lambda: queue.pop(within), None)]


def test_with_nothing_known_the_order_of_the_plan_stands():
    queue = CellQueue(Estimates(SIZES))
    queue.extend([cell("B", fold=1), cell("A"), cell("B")])
    assert [place[0] for place in order(queue)] == ["B", "A", "B"]


def test_the_longest_comes_first_and_a_method_nobody_knows_before_it():
    estimates = Estimates(SIZES)
    estimates.learn(cell("Slow"), 8.0)
    estimates.learn(cell("Quick"), 2.0)
    queue = CellQueue(estimates)
    queue.extend([cell("Quick", fold=1), cell("Slow", fold=1), cell("New"), cell("Quick", "large")])
    # On a dataset a hundred times as large, Quick is expected to take 200 s.
    assert [place[:2] for place in order(queue)] == [
        ("New", "small"),
        ("Quick", "large"),
        ("Slow", "small"),
        ("Quick", "small"),
    ]


def test_cells_that_take_about_as_long_keep_the_order_of_the_plan():
    estimates = Estimates(SIZES)
    for method, seconds in {"A": 4.2, "B": 7.9, "C": 0.9, "D": 0.001}.items():
        estimates.learn(cell(method), seconds)
    queue = CellQueue(estimates)
    queue.extend([cell(method, fold=fold) for fold in (1, 2) for method in "CDAB"])
    assert [place[0] for place in order(queue)] == list("ABABCDCD")


def test_within_a_time_only_cells_that_fit_are_given_and_the_others_stay():
    estimates = Estimates(SIZES)
    estimates.learn(cell("Slow"), 100.0)
    estimates.learn(cell("Quick"), 2.0)
    queue = CellQueue(estimates)
    queue.extend([cell("Slow", fold=1), cell("Quick", fold=1), cell("New")])
    assert [place[0] for place in order(queue, within=10.0)] == ["New", "Quick"]
    assert (len(queue), queue.shortest()) == (1, 100.0)


@given(
    st.lists(
        st.tuples(st.sampled_from("ABC"), st.sampled_from(sorted(SIZES)), st.integers(0, 5)),
        unique=True,
    )
)
def test_every_cell_is_given_exactly_once_whatever_is_learnt_on_the_way(places):
    estimates = Estimates(SIZES)
    queue = CellQueue(estimates)
    queue.extend([cell(*place) for place in places])
    given_out = []
    while (following := queue.pop()) is not None:
        given_out.append((following.method, following.dataset, following.fold))
        estimates.learn(following, 1.0 + following.fold)
        queue.learnt()
    assert sorted(given_out) == sorted(places)
    assert queue.rest() == Rest()


def test_the_time_left_is_the_sum_of_what_is_expected():
    estimates = Estimates(SIZES)
    estimates.learn(cell("A"), 3.0)
    estimates.learn(cell("B"), 5.0)
    queue = CellQueue(estimates)
    assert CellQueue(Estimates(SIZES)).rest() == Rest()
    queue.extend([cell("A", fold=1), cell("B", fold=1), cell("New")])
    assert queue.pop().method == "New"
    assert queue.rest() == Rest(8.0, n_known=2)
    assert queue.pop().method == "B"
    assert queue.rest() == Rest(3.0, n_known=1)


def test_a_method_known_on_one_dataset_is_expected_to_grow_with_the_size_of_another():
    estimates = Estimates(SIZES)
    estimates.learn(cell("A", "small"), 1.0)
    estimates.learn(cell("A", "small", 1), 3.0)
    assert estimates.expect(cell("A", "small", 2)) == 2.0
    assert estimates.expect(cell("A", "large")) == 200.0
    estimates.learn(cell("A", "large"), 50.0)
    assert estimates.expect(cell("A", "large", 1)) == 50.0
    assert estimates.expect(cell("B", "large")) is None
