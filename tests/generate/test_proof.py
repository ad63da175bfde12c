"""Claims under tuning: what is proven holds, what is luck, a seed or an untuned rival is not proven."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from sklearn.calibration import CalibratedClassifierCV
from sklearn.ensemble import RandomForestClassifier, StackingClassifier
from sklearn.metrics import r2_score, roc_auc_score
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier, ExtraTreeClassifier

from known_leads import InProcess, auroc_of
from paragone.errors import InputError
from paragone.generate.collection import Collection
from paragone.generate.duels import DuelPlan
from paragone.generate.evolve_spec import EvolveSpec
from paragone.generate.evolving import evolve
from paragone.generate.laboratory import Laboratory
from paragone.generate.methods import Contender, reference_methods, reseeded
from paragone.generate.proof import (
    LeadClaim,
    Looks,
    ProofPlan,
    measure,
    prove,
    row_seed,
    tuned_fits,
    tuner_of,
)
from paragone.generate.sampling import GeneratorSpec

SIGN = GeneratorSpec("X0", n_features=2)
KNN = Contender(
    "KNN",
    "sklearn.neighbors:KNeighborsClassifier",
    portfolio=({"n_neighbors": 1}, {"n_neighbors": 25}),
)
NOISE = Contender("Noise", "known_leads:WeightedColumn", {"weight": 3.0})
SMALL = ProofPlan(n_train=100, n_fresh=300, trials=2, looks=(4, 12), n_claims=2)


def hidden(name, estimator):
    """Return a contender that hides an estimator, its seed and all, in a pipeline."""
    return Contender(name, "sklearn.pipeline:Pipeline", {"steps": [("inner", estimator)]})


@pytest.fixture
def laboratory(tmp_path):
    return InProcess(tmp_path / "p.sqlite")


# What a fit is


def test_every_fit_is_what_scikit_learn_gives_on_the_same_rows(laboratory):
    fits = tuned_fits(SIGN, [KNN], laboratory, SMALL, 7, range(3))
    for sample in range(3):
        fit = fits["KNN", sample]
        assert fit.row_seed == row_seed("evidence", 7, SIGN.identity, sample)
        rows = SIGN.parts(100, 300, fit.row_seed)
        X, y = np.asarray(rows.X), np.asarray(rows.y)
        model = KNeighborsClassifier(**fit.params).fit(X[:100], y[:100])
        assert fit.score == pytest.approx(
            roc_auc_score(y[100:], model.predict_proba(X[100:])[:, 1]), abs=1e-12
        )
        # 25 neighbours rank rows far better than one: tuning must find it on the train rows alone.
        assert fit.params == {"n_neighbors": 25}
        assert 0.8 < fit.tuning_score <= 1


def test_a_proof_that_was_stopped_goes_on_to_the_same_proof(tmp_path):
    claims = [LeadClaim("KNN", "Noise", SIGN), LeadClaim("Noise", "KNN", SIGN)]
    looked = iter([False, True, True])
    with InProcess(tmp_path / "a.sqlite") as stopped:
        first = prove(claims, [KNN, NOISE], stopped, SMALL, 1, over=lambda: next(looked))
        again = prove(claims, [KNN, NOISE], stopped, SMALL, 1)
    with InProcess(tmp_path / "b.sqlite") as straight:
        once = prove(claims, [KNN, NOISE], straight, SMALL, 1)
    assert [proof.stopped_at for proof in first] == [4, 4]
    assert (first[0].holds, first[0].ending) == (False, "not shown")
    for mine, theirs in zip(again, once, strict=True):
        assert (mine.leads, mine.interval, mine.ending) == (
            theirs.leads,
            theirs.interval,
            theirs.ending,
        )
        assert [(fit.params, fit.score) for fit in mine.fits] == [
            (fit.params, fit.score) for fit in theirs.fits
        ]
    assert [(proof.holds, proof.ending, proof.stopped_at) for proof in once] == [
        (True, "shown", 12), (False, "hopeless", 4)
    ]  # fmt: skip
    assert first[0].leads == once[0].leads[:4]


def test_workers_change_nothing(tmp_path):
    claim = LeadClaim("KNN", "Noise", SIGN)
    plan = ProofPlan(n_train=60, n_fresh=50, trials=1, looks=(2,))
    found = [
        prove([claim], [KNN, NOISE], Laboratory(tmp_path / f"{n}.sqlite", n), plan, 1)[0].leads
        for n in (0, 2)
    ]
    assert found[0] == found[1]


def test_another_seed_is_a_replication_on_other_rows(laboratory):
    one, other = (tuned_fits(SIGN, [KNN], laboratory, SMALL, seed, range(3)) for seed in (1, 2))
    assert not {fit.row_seed for fit in one.values()} & {fit.row_seed for fit in other.values()}
    assert [fit.score for fit in one.values()] != [fit.score for fit in other.values()]


def test_rows_of_every_role_and_dataset_are_their_own():
    roles = ("shown", "race", "evidence")
    seeds = {
        role: {row_seed(role, s, k, i) for s in (0, 1) for k in "ab" for i in range(50)}
        for role in roles
    }
    assert all(len(found) == 200 for found in seeds.values())
    assert max(seeds["shown"]) < 2**32
    assert 2**32 < min(seeds["race"]) < max(seeds["race"]) < min(seeds["evidence"]) < 2**53
    # Whatever the hash: the ranges of two roles have nothing in common.
    assert min(seeds["shown"]) >= 2**31
    assert max(seeds["race"]) < 3 << 48 <= min(seeds["evidence"])


def test_a_failed_fit_proves_nothing(laboratory):
    broken = Contender("Broken", "sklearn.neighbors:KNeighborsClassifier", {"n_neighbors": 500})
    (proof,) = prove([LeadClaim("KNN", "Broken", SIGN)], [KNN, broken], laboratory, SMALL, 1)
    assert (proof.holds, proof.ending, proof.leads) == (False, "failed", ())


@pytest.mark.parametrize(
    ("claims", "said"),
    [
        ([("KNN", "Nosie")], "did you mean 'Noise'"),
        ([("KNN", "KNN")], "cannot be claimed to beat itself"),
        (
            [("KNN", "Noise"), ("Noise", "KNN"), ("Noise", "KNN", "other")],
            "the family was fixed at 2",
        ),
    ],
)
def test_claims_that_mean_nothing_are_refused(laboratory, claims, said):
    with pytest.raises(InputError, match=said):
        prove(
            [LeadClaim(up, down, SIGN, *key) for up, down, *key in claims],
            [KNN, NOISE],
            laboratory,
            SMALL,
            1,
        )


def test_one_key_is_one_generator(laboratory):
    claims = [
        LeadClaim("KNN", "Noise", SIGN, "k"),
        LeadClaim("Noise", "KNN", GeneratorSpec("X1", 2), "k"),
    ]
    with pytest.raises(InputError, match="two generators"):
        prove(claims, [KNN, NOISE], laboratory, SMALL, 1)


@pytest.mark.parametrize(
    ("options", "kind", "score"),
    [
        ({"target": "multiclass", "n_classes": 3}, "Classifier", "classes"),
        ({"target": "regression", "noise": 0.3}, "Regressor", "r2"),
    ],
)
def test_several_classes_and_numbers_are_proven_alike(laboratory, options, kind, score):
    generator = GeneratorSpec("add(X0, X1)", 3, **options)
    near = Contender(
        "Near",
        f"sklearn.neighbors:KNeighbors{kind}",
        portfolio=({"n_neighbors": 60}, {"n_neighbors": 10}),
    )
    tree = Contender("Tree", f"sklearn.tree:DecisionTree{kind}", {"max_depth": 1})
    plan = ProofPlan(n_train=150, n_fresh=200, trials=2, looks=(4, 24), n_claims=1)
    (proof,) = prove([LeadClaim("Near", "Tree", generator)], [near, tree], laboratory, plan, seed=2)
    assert proof.holds
    fit = proof.fits[0]
    rows = generator.parts(150, 200, fit.row_seed)
    X, y = np.asarray(rows.X), np.asarray(rows.y)
    if score == "r2":
        model = KNeighborsRegressor(**fit.params).fit(X[:150], y[:150])
        assert fit.score == pytest.approx(r2_score(y[150:], model.predict(X[150:])), abs=1e-12)
    else:
        model = KNeighborsClassifier(**fit.params).fit(X[:150], y[:150])
        by_hand = roc_auc_score(y[150:], model.predict_proba(X[150:]), multi_class="ovr")
        assert fit.score == pytest.approx(by_hand, abs=1e-12)


# Randomness


def stump(seed):
    """A tree that looks at one feature, which its seed chooses, whatever the rows are."""
    return DecisionTreeClassifier(max_depth=1, max_features=1, random_state=seed)


def chosen_feature(seed):
    X = np.random.default_rng(0).normal(size=(50, 4))
    return int(stump(seed).fit(X, X[:, 0] > 0).tree_.feature[0])


def test_two_copies_of_a_method_with_unequal_seeds_are_not_told_apart(tmp_path):
    """As the proof was before, fixed seeds made one of them the winner by any margin."""
    seeds = next(
        (a, b) for a in range(9) for b in range(9) if chosen_feature(a) != chosen_feature(b)
    )
    methods = [hidden(name, stump(seed)) for name, seed in zip(("zero", "one"), seeds, strict=True)]
    generator = GeneratorSpec(f"X{chosen_feature(seeds[0])}", n_features=4)
    sizes = {"n_train": 200, "n_fresh": 300}
    with InProcess(tmp_path / "p.sqlite") as laboratory:
        before = measure(
            "before", generator, [(m, {}) for m in methods], laboratory, n_seeds=10, **sizes
        )
        assert before.proven(0.05) == (("zero", "one"),)
        plan = ProofPlan(**sizes, looks=(12, 24), n_claims=2)
        claims = [LeadClaim("zero", "one", generator), LeadClaim("one", "zero", generator)]
        proofs = prove(claims, methods, laboratory, plan, seed=3)
    assert [proof.holds for proof in proofs] == [False, False]
    assert all(proof.interval.low < 0 < proof.interval.high for proof in proofs)
    # Every sample has its own seed, so both features are looked at by both.
    assert len({round(fit.score, 1) for fit in proofs[0].fits if fit.method == "one"}) > 1


def test_every_seed_however_deep_is_set_anew_and_nothing_else():
    forest = RandomForestClassifier(random_state=np.random.RandomState(1), n_estimators=3)
    inner = CalibratedClassifierCV(
        make_pipeline(StandardScaler(), DecisionTreeClassifier(random_state=4))
    )
    whole = StackingClassifier(
        [("a", forest), ("b", inner)], final_estimator=ExtraTreeClassifier(max_depth=2)
    )

    def seeds(estimator):
        return {
            k: v
            for k, v in estimator.get_params(deep=True).items()
            if k.rpartition("__")[2] == "random_state"
        }

    first = seeds(reseeded(whole, 1))
    assert set(first) >= {"a__random_state", "b__estimator__decisiontreeclassifier__random_state"}
    assert all(isinstance(value, int) and 0 <= value < 2**31 for value in first.values())
    assert len(set(first.values())) == len(first)
    assert seeds(reseeded(whole, 1)) == first
    assert not set(seeds(reseeded(whole, 2)).values()) & set(first.values())
    assert whole.get_params()["a__n_estimators"] == 3
    assert reseeded(object, 1) is object


# The null: nothing is claimed between methods that do not differ.

TREE = {"max_depth": 3, "max_features": "sqrt"}
NULLS = {
    "identical": [Contender(n, "sklearn.tree:DecisionTreeClassifier", TREE) for n in "AB"],
    "equal by construction": [
        Contender("A", "sklearn.tree:DecisionTreeClassifier", TREE),
        Contender("B", "sklearn.pipeline:Pipeline", {
            "steps": [("scale", StandardScaler()), ("tree", DecisionTreeClassifier(**TREE))]
        }),
    ],
    "seeds hidden": [hidden(name, DecisionTreeClassifier(**TREE, random_state=s)) for name, s in (("A", 0), ("B", 1))],
}  # fmt: skip
FORMULAS = ("mul(X0, X1)", "add(X0, X1)", "max(X0, X1)", "mul(X0, X0)", "gt(X0, X1)")


def null_claims(laboratory, methods, runs):
    """Return how many of the runs claim something at a margin of nothing, where every claim is false."""
    claimed = 0
    for run in runs:
        generator = GeneratorSpec(FORMULAS[run % len(FORMULAS)], n_features=3)
        claims = [LeadClaim("A", "B", generator), LeadClaim("B", "A", generator)]
        plan = ProofPlan(margin=0.0, n_train=60, n_fresh=100, trials=1, looks=(6, 12), n_claims=2)
        claimed += any(proof.holds for proof in prove(claims, methods, laboratory, plan, seed=run))
    return claimed


@pytest.mark.parametrize("null", NULLS)
def test_nothing_is_claimed_between_equals(laboratory, null):
    assert null_claims(laboratory, NULLS[null], range(5)) == 0


def most_by_chance(runs, alpha=0.05):
    from scipy.stats import binom

    return int(binom.ppf(0.999, runs, alpha))


@pytest.mark.slow
@pytest.mark.parametrize("null", NULLS)
def test_two_hundred_runs_between_equals_claim_at_the_level_at_most(laboratory, null):
    assert null_claims(laboratory, NULLS[null], range(200)) <= most_by_chance(200)


def evolved_claims(folder, methods, seed, n_features=3, **sizes):
    tables = {method.name: method.table() for method in methods}
    options = {
        "generations": 1,
        "batch": 4,
        "chunk": 4,
        "n_train": 60,
        "n_test": 60,
        "races": 2,
        "finalists": 0,
    }
    spec = EvolveSpec(
        "null", seed=seed, margin=0.0, looks=(6, 12), claims=2, evidence_rows=100, trials=1, race_seeds=2,
        n_features=n_features, methods=tables, **{**options, **sizes},
    )  # fmt: skip
    return evolve(spec, folder / f"{seed}.sqlite")


@pytest.fixture
def in_process(monkeypatch):
    monkeypatch.setattr("paragone.generate.evolving.Laboratory", InProcess)


@pytest.mark.usefixtures("in_process")
@pytest.mark.parametrize("null", NULLS)
def test_a_whole_search_claims_nothing_between_equals(tmp_path, null):
    assert not evolved_claims(tmp_path, NULLS[null], seed=1).measured


@pytest.mark.slow
@pytest.mark.usefixtures("in_process")
@pytest.mark.parametrize("null", NULLS)
def test_two_hundred_searches_between_equals_claim_at_the_level_at_most(tmp_path, null):
    claimed = [bool(evolved_claims(tmp_path, NULLS[null], seed).measured) for seed in range(200)]
    assert sum(claimed) <= most_by_chance(200)


@pytest.mark.slow
@pytest.mark.usefixtures("in_process")
def test_one_net_with_two_hidden_seeds_is_not_proven_to_beat_itself(tmp_path):
    from sklearn.neural_network import MLPClassifier

    nets = [
        hidden(n, MLPClassifier((8,), max_iter=60, random_state=s))
        for n, s in (("zero", 0), ("one", 1))
    ]
    found = evolved_claims(
        tmp_path, nets, 1, generations=2, batch=8, n_train=200, n_test=300, finalists=4
    )
    assert found.curve[-1].raced > 0
    assert not found.measured


# Known answers

UP, DOWN = (
    Contender(n, "known_leads:WeightedColumn", {"weight": w})
    for n, w in (("Up", 0.2), ("Down", 1.5))
)
COIN = Contender("Coin", "known_leads:CoinColumn", {"chance": 0.7})
DEAF = Contender("Deaf", "known_leads:CoinColumn", {"chance": 0.0})


def covered(laboratory, pair, truth, runs, **options):
    plan = ProofPlan(**{"n_train": 20, "n_fresh": 200, "looks": (4, 8), "margin": 0.9, **options})
    hits = 0
    for run in runs:
        (proof,) = prove(
            [LeadClaim(*(m.name for m in pair), SIGN)], pair, laboratory, plan, seed=run
        )
        hits += proof.interval.low <= truth <= proof.interval.high
    return hits


def test_the_mean_lead_is_the_one_that_theory_gives(laboratory):
    plan = ProofPlan(n_train=20, n_fresh=20_000, looks=(6,))
    (proof,) = prove([LeadClaim("Up", "Down", SIGN)], [UP, DOWN], laboratory, plan, seed=0)
    error = np.std(proof.leads, ddof=1) / np.sqrt(6)
    assert abs(np.mean(proof.leads) - (auroc_of(0.2) - auroc_of(1.5))) < 4 * error < 0.01


def test_intervals_hold_the_true_lead(laboratory):
    assert covered(laboratory, (UP, DOWN), auroc_of(0.2) - auroc_of(1.5), range(4)) == 4
    assert covered(laboratory, (COIN, DEAF), 0.35, range(4)) == 4


@pytest.mark.slow
@pytest.mark.parametrize("unseen", [0.5, 0.0])
def test_intervals_hold_the_true_lead_in_nearly_all_of_two_hundred_runs(laboratory, unseen):
    """The unseen sample makes them wider than they need be for steady leads; Student's alone are just right there."""
    assert (
        covered(laboratory, (UP, DOWN), auroc_of(0.2) - auroc_of(1.5), range(200), unseen=unseen)
        >= 186
    )
    if unseen:
        assert covered(laboratory, (COIN, DEAF), 0.35, range(200), unseen=unseen) >= 186


MEASURED = ("mul(X0, X1)", "add(mul(X0, X0), X1)", "max(X0, X1)")
GROUP, GROUPS = 12, 40


@pytest.mark.slow
def test_printed_intervals_hold_the_lead_that_hundreds_of_samples_measure(laboratory):
    """Real methods on three formulas: the lead is known as the mean over 480 samples, and 40 intervals are printed."""
    linear = Contender("Linear", "sklearn.linear_model:LogisticRegression")
    tree = Contender("Tree", "sklearn.tree:DecisionTreeClassifier", {"max_depth": 3})
    plan = ProofPlan(n_train=60, n_fresh=150, trials=1)
    looks, alone = Looks((GROUP,)), Looks((GROUP,), unseen=0.0)
    held = dict.fromkeys(("proof", "Student"), 0)
    for formula in MEASURED:
        generator = GeneratorSpec(formula, n_features=3)
        fits = tuned_fits(generator, [linear, tree], laboratory, plan, 5, range(GROUP * GROUPS))
        leads = np.array(
            [fits["Tree", i].score - fits["Linear", i].score for i in range(GROUP * GROUPS)]
        )
        for group in leads.reshape(GROUPS, GROUP):
            for name, rule in (("proof", looks), ("Student", alone)):
                interval = rule.interval(group)
                held[name] += interval.low <= leads.mean() <= interval.high
    n_intervals = GROUPS * len(MEASURED)
    assert held["proof"] >= 0.93 * n_intervals
    # At 95 % the fewest that chance leaves in one of a thousand runs; the proof's are wider and
    # hold more.
    assert n_intervals - most_by_chance(n_intervals) <= held["Student"] <= held["proof"]


# The claims of the first collection that did not survive tuning

SIX = (
    ("SVC", "XGBClassifier"),
    ("KNeighborsClassifier", "XGBClassifier"),
    ("KNeighborsClassifier", "GradientBoostingClassifier"),
    ("RandomForestClassifier", "GradientBoostingClassifier"),
    ("XGBClassifier", "GradientBoostingClassifier"),
    ("LGBMClassifier", "GradientBoostingClassifier"),
)


def test_the_first_collection_marks_the_claims_that_did_not_survive_tuning():
    shipped = Collection.named("paragone-v1")
    # By its own proof, of fixed configurations, they are proven.
    assert set(SIX) <= set(shipped.covered())
    assert set(shipped.refuted) == set(SIX)
    assert set(shipped.surviving()) == set(shipped.covered()) - set(SIX)


@pytest.mark.slow
@pytest.mark.parametrize("pair", SIX)
def test_the_proof_under_tuning_refuses_them(tmp_path, pair):
    shipped = Collection.named("paragone-v1")
    item = next(item for item in shipped.sets if item.name == shipped.covered()[pair])
    known = {method.name: method for method in reference_methods()}
    fixed = [(known[name], item.parameters[name]) for name in pair]
    plan = ProofPlan(
        n_train=1000, n_fresh=2000, trials=12, folds=3, looks=(6, 12), n_claims=len(SIX)
    )
    with Laboratory(tmp_path / "six.sqlite", 2) as laboratory:
        # The proof of the first release, on rows that nobody has seen: one configuration each, each
        # claim by itself.
        before = measure(
            "six",
            item.generator(),
            fixed,
            laboratory,
            n_train=1000,
            n_fresh=2000,
            seeds=range(7, 17),
        )
        (proof,) = prove(
            [LeadClaim(*pair, item.generator())], reference_methods(), laboratory, plan, seed=1
        )
    assert before.proven(0.05) == (pair,)
    assert not proof.holds


def test_a_method_may_try_its_library_s_own_settings_where_its_space_leaves_them_out(laboratory):
    """Ten cuts in a row need a deep tree: a space of shallow ones would prove that everything beats it."""
    shallow = Contender(
        "Tree", "sklearn.tree:DecisionTreeClassifier", space={"max_depth": {"low": 1, "high": 2}}
    )
    shallow = replace(shallow, portfolio=({"max_depth": 1}, {"max_depth": 2}))
    box = GeneratorSpec("max(mul(X0, X0), max(mul(X1, X1), mul(X2, X2)))", n_features=3)
    found = {}
    for defaults in (False, True):
        plan = ProofPlan(n_train=600, n_fresh=500, trials=4, looks=(2,), defaults=defaults)
        assert len(tuner_of(shallow, plan)["params"]["first"]) == 2 + defaults
        found[defaults] = tuned_fits(box, [shallow], laboratory, plan, 1, [0])["Tree", 0]
    assert found[True].params == {}
    assert found[True].score > found[False].score + 0.1
    # A duel always does, and a method without anything to tune is not searched.
    assert DuelPlan().proof().defaults
    plain = Contender("NB", "sklearn.naive_bayes:GaussianNB")
    assert tuner_of(plain, ProofPlan(defaults=True)) == tuner_of(plain, ProofPlan())
