"""Methods by name and by content."""

from __future__ import annotations

import copy

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.linear_model import LogisticRegression
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from paragone.errors import InputError
from paragone.hashing import digest
from paragone.methods.method import Method, methods, reference_of, resolve
from paragone.methods.rankers import DAGFS, RandomOrder

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


def test_the_paper_of_a_method_stands_in_its_docstring() -> None:
    assert reference_of("paragone.models.mlknn:MLkNN").startswith(
        "@article{zhang2007,\n  author  = {Zhang"
    )
    assert reference_of("paragone.methods.rankers.floors:Variance") == ""
    assert reference_of("os:system") == reference_of("paragone.gone:Gone") == reference_of("") == ""


@pytest.mark.parametrize("alias", methods.names())
def test_every_alias_names_a_class_that_can_be_built(alias):
    assert callable(resolve(alias))


@given(VALUES)
def test_equal_content_has_an_equal_hash(value):
    assert digest(value) == digest(copy.deepcopy(value))


@given(VALUES, VALUES)
def test_different_content_has_a_different_hash(one, other):
    if repr(one) != repr(other) and not _same_mapping(one, other):
        assert digest(one) != digest(other)


def _same_mapping(one, other) -> bool:
    return type(one) is type(other) and one == other


def test_arrays_are_hashed_by_value_type_and_shape():
    a = np.arange(4.0)
    assert digest(a) == digest(a.copy())
    assert len({digest(x) for x in (a, a.reshape(2, 2), a.astype(np.float32), a + 1)}) == 4


def test_an_object_without_identity_is_refused():
    with pytest.raises(InputError, match="type object cannot be identified by content"):
        digest(object())


def test_a_seed_that_was_not_set_is_set_and_one_that_was_is_left_alone():
    assert Method.declare("random").build(seed=5).seed == 5
    assert Method.declare({"use": "random", "params": {"seed": 0}}).build(seed=5).seed == 0
    assert Method.declare(RandomOrder(seed=3)).build(seed=5).seed == 3
    assert Method.declare(LogisticRegression()).build(seed=5).random_state == 5


def test_nested_estimators_are_built_hashed_and_versioned():
    declared = Method.declare(
        {
            "use": "sklearn.multiclass:OneVsRestClassifier",
            "params": {
                "estimator": {
                    "use": "sklearn.linear_model:LogisticRegression",
                    "params": {"C": 2.0},
                }
            },
        }
    )
    assert declared.build().estimator.C == 2.0
    configured = Method.declare(OneVsRestClassifier(LogisticRegression(C=2.0)))
    assert configured.build().estimator.C == 2.0
    assert (
        configured.identity()
        != Method.declare(OneVsRestClassifier(LogisticRegression(C=3.0))).identity()
    )
    assert set(declared.versions()) == {"sklearn"}


def test_a_pipeline_can_be_built_again():
    pipeline = make_pipeline(StandardScaler(with_mean=False), LogisticRegression(C=7.0))
    built = Method.declare(pipeline).build()
    assert built[-1].C == 7.0
    assert built[0].with_mean is False


def test_parameters_of_the_class_matter_and_defaults_do_not():
    assert Method.declare(DAGFS()).identity() == Method.declare("dagfs").identity()
    assert Method.declare(DAGFS(alpha=0.2)).identity() != Method.declare("dagfs").identity()
    assert (
        Method.declare(DAGFS(W0=np.ones(3))).identity()
        != Method.declare(DAGFS(W0=np.zeros(3))).identity()
    )


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"params": {}}, "the key 'use' is missing"),
        ({"use": "dagfs", "parms": {}}, "unknown key 'parms'"),
        (3, "expected a name, a mapping, an estimator or a function that makes one, got int"),
        ("numpy:pi", "is not a class"),
    ],
)
def test_wrong_declarations_are_refused(given, sentence):
    with pytest.raises(InputError, match=sentence):
        Method.declare(given)


def test_an_object_that_hides_its_parameters_is_refused():
    class Hiding:
        def __init__(self, alpha):
            self._alpha = alpha

        def fit(self, X, Y):
            return self

    with pytest.raises(InputError, match="does not keep its parameter 'alpha'"):
        Method.declare(Hiding(1))
