"""The ARFF reader against hand-made files and the rules of the format."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from scipy import sparse

from paragone.data import load
from paragone.errors import InputError

XML = '<labels xmlns="http://mulan.sourceforge.net/labels">{}</labels>'


def write(folder: Path, text: str, labels: list[str] | None = None, name: str = "tiny") -> Path:
    path = folder / f"{name}.arff"
    path.write_text(text, encoding="utf-8")
    if labels is not None:
        (folder / f"{name}.xml").write_text(
            XML.format("".join(f'<label name="{label}"/>' for label in labels))
        )
    return path


def dense(X: object) -> np.ndarray:
    return X.toarray() if sparse.issparse(X) else np.asarray(X)


def test_labels_come_in_the_order_of_the_xml_from_anywhere_among_the_attributes(
    tmp_path: Path,
) -> None:
    text = (
        "@relation t\n@attribute a {0,1}\n@attribute x real\n@attribute b"
        " {0,1}\n@data\n1,2.5,0\n0,3,1\n"
    )
    dataset = load(write(tmp_path, text, ["b", "a"]))
    assert dataset.target_names == ("b", "a")
    assert dataset.y.tolist() == [[0, 1], [1, 0]]
    assert dataset.feature_names == ("x",)
    assert dataset.X.tolist() == [[2.5], [3.0]]


def test_nested_labels_follow_their_parent(tmp_path: Path) -> None:
    path = write(
        tmp_path,
        "@relation t\n@attribute c {0,1}\n@attribute x real\n@attribute p {0,1}\n@data\n1,2,0\n",
    )
    (tmp_path / "tiny.xml").write_text(
        '<labels><label name="p"><label name="c"></label></label></labels>'
    )
    assert load(path).target_names == ("p", "c")


@pytest.mark.parametrize(
    ("declared", "name"),
    [
        ("'two words'", "two words"),
        ('"two words"', "two words"),
        (r"'it\'s'", "it's"),
        (r"it\'s", "it's"),
        (r"'ends\''", "ends'"),
        ("a.b/c-1", "a.b/c-1"),
        ("'{x}'", "{x}"),
        ("50%", "50%"),
        ("größe", "größe"),
    ],
)
def test_quoted_and_escaped_names_are_read_as_their_plain_name(
    tmp_path: Path, declared: str, name: str
) -> None:
    text = (
        f"@RELATION t\n@ATTRIBUTE {declared} {{'0' , '1'}}\n@attribute x\tREAL\n@DATA\n1,2\n0,3\n"
    )
    path = write(tmp_path, text)
    (tmp_path / "tiny.xml").write_text(XML.format(f'<label name="{name}"/>'), encoding="utf-8")
    dataset = load(path)
    assert dataset.target_names == (name,)
    assert dataset.y.ravel().tolist() == [1, 0]


@pytest.mark.parametrize(
    "values", ["YES,NO", "NO,YES", "no, yes", "TRUE,FALSE", "False,True", "1,0", "0,1", "Y,N"]
)
def test_yes_is_one_in_any_case_and_order(tmp_path: Path, values: str) -> None:
    yes, no = sorted(
        (v.strip() for v in values.split(",")), key=lambda v: v.lower() in ("yes", "true", "1", "y")
    )[::-1]
    text = (
        f"@relation t\n@attribute f {{{values}}}\n@attribute l"
        f" {{{values}}}\n@data\n{yes},{no}\n{no},{yes}\n"
    )
    dataset = load(write(tmp_path, text, ["l"]))
    assert dataset.X.ravel().tolist() == [1.0, 0.0]
    assert dataset.y.ravel().tolist() == [0, 1]


def test_sparse_rows_leave_out_zero_and_the_first_declared_value(tmp_path: Path) -> None:
    text = (
        "@relation t\n@attribute x real\n@attribute yes_first {YES,NO}\n@attribute kind"
        " {a,b,c}\n@attribute l {0,1}\n@data\n{0 2.5,3 1}\n{1 NO, 2 c}\n{}\n"
    )
    path = write(tmp_path, text, ["l"])
    dataset = load(path, nominal="onehot")
    assert isinstance(dataset.X, sparse.csr_array)
    assert dataset.feature_names == ("x", "yes_first", "kind=a", "kind=b", "kind=c")
    assert dense(dataset.X).tolist() == [[2.5, 1, 1, 0, 0], [0, 0, 0, 0, 1], [0, 1, 1, 0, 0]]
    assert dataset.y.ravel().tolist() == [1, 0, 0]
    ordinal = load(path, nominal="ordinal")
    assert dense(ordinal.X).tolist() == [[2.5, 1, 0], [0, 0, 2], [0, 1, 0]]


def test_the_same_table_is_the_same_data_dense_and_sparse(tmp_path: Path) -> None:
    rng = np.random.default_rng(3)
    values = rng.integers(0, 3, (20, 6)) * rng.integers(0, 2, (20, 6))
    labels = rng.integers(0, 2, (20, 2))
    rows = np.hstack([values, labels])
    head = "@relation t\n" + "".join(f"@attribute x{j} numeric\n" for j in range(6))
    head += "@attribute l0 {0,1}\n@attribute l1 {0,1}\n@data\n"
    full = write(
        tmp_path, head + "\n".join(",".join(map(str, row)) for row in rows), ["l0", "l1"], "full"
    )
    lines = ["{" + ",".join(f"{j} {v}" for j, v in enumerate(row) if v) + "}" for row in rows]
    thin = write(tmp_path, head + "\n".join(lines), ["l0", "l1"], "thin")
    np.testing.assert_array_equal(load(full).X, values)
    np.testing.assert_array_equal(dense(load(thin).X), values)
    np.testing.assert_array_equal(load(thin).y, labels)


def test_integer_attributes_keep_their_fractions(tmp_path: Path) -> None:
    text = "@relation t\n@attribute x integer\n@attribute l {0,1}\n@data\n1.75,1\n-3,0\n"
    assert load(write(tmp_path, text, ["l"])).X.ravel().tolist() == [1.75, -3.0]


def test_nominal_features_are_one_column_a_value_or_their_position(tmp_path: Path) -> None:
    text = (
        "@relation t\n@attribute c {red,'dark blue',green}\n@attribute l {0,1}\n@data\n'dark"
        " blue',1\nred,0\nred,0\n"
    )
    path = write(tmp_path, text, ["l"])
    onehot = load(path, nominal="onehot")
    assert onehot.feature_names == ("c=red", "c=dark blue", "c=green")
    assert onehot.X.tolist() == [[0, 1, 0], [1, 0, 0], [1, 0, 0]]
    ordinal = load(path, nominal="ordinal")
    assert ordinal.feature_names == ("c",)
    assert ordinal.X.ravel().tolist() == [1, 0, 0]


@pytest.mark.parametrize("kind", ["string", "{P1,P2,P3,P4}"])
def test_a_column_with_another_value_in_every_row_is_dropped_and_reported(
    tmp_path: Path, kind: str
) -> None:
    text = (
        f"@relation t\n@attribute protein {kind}\n@attribute x real\n@attribute l {{0,1}}\n@data\n"
    )
    path = write(tmp_path, text + "P1,1,0\nP3,2,1\nP2,3,0\n", ["l"])
    dataset = load(path)
    assert dataset.feature_names == ("x",)
    assert any("'protein'" in note for note in dataset.notes)
    assert load(path, drop_ids=False).n_features > 1


def test_a_nominal_column_with_a_repeated_value_is_no_id(tmp_path: Path) -> None:
    text = (
        "@relation t\n@attribute c {a,b}\n@attribute x real\n@attribute l"
        " {0,1}\n@data\na,1,0\nb,2,1\na,3,1\n"
    )
    assert load(write(tmp_path, text, ["l"]), nominal="onehot").feature_names == ("c=a", "c=b", "x")


def test_missing_features_are_nan_and_counted(tmp_path: Path) -> None:
    text = (
        "@relation t\n@attribute x real\n@attribute c {a,b}\n@attribute l"
        " {0,1}\n@data\n?,a,0\n1,?,1\n2,a,1\n"
    )
    dataset = load(write(tmp_path, text, ["l"]), nominal="onehot")
    assert np.isnan(dataset.X).tolist() == [
        [True, False, False],
        [False, True, True],
        [False, False, False],
    ]
    assert "3 missing feature value(s) kept as NaN" in dataset.notes


def test_meka_writes_the_number_of_labels_into_the_relation_name(tmp_path: Path) -> None:
    body = "@attribute a {0,1}\n@attribute b {0,1}\n@attribute x {0,1}\n@data\n1,0,1\n0,1,1\n"
    assert load(write(tmp_path, f"@relation 'Some: -C 2'\n{body}")).target_names == ("a", "b")
    assert load(write(tmp_path, f"@relation 'Some: -C -1'\n{body}")).target_names == ("x",)
    assert load(write(tmp_path, f"@relation plain\n{body}"), labels=-2).target_names == ("b", "x")
    assert load(write(tmp_path, f"@relation plain\n{body}"), labels=["x", "a"]).target_names == (
        "x",
        "a",
    )


def test_a_weka_filter_after_the_meka_count_makes_it_void(tmp_path: Path) -> None:
    relation = "@relation 'M: -C 1-weka.filters.unsupervised.attribute.Remove-R1'\n"
    path = write(tmp_path, relation + "@attribute x real\n@attribute a {0,1}\n@data\n1,0\n")
    with pytest.raises(InputError, match="nothing says which attributes are labels"):
        load(path)


def test_a_named_target_makes_a_classification(tmp_path: Path) -> None:
    text = (
        "@relation t\n@attribute x real\n@attribute class"
        " {setosa,virginica}\n@data\n1,setosa\n2,virginica\n"
    )
    dataset = load(write(tmp_path, text), target="class", task="classification")
    assert dataset.y.tolist() == ["setosa", "virginica"]


def test_train_and_test_parts_are_pooled_train_first_with_the_union_of_values(
    tmp_path: Path,
) -> None:
    folder = tmp_path / "birds"
    folder.mkdir()
    head = "@relation t\n@attribute c {{{}}}\n@attribute l {{0,1}}\n@data\n"
    write(folder, head.format("a,b") + "a,1\nb,0\nb,0\n", name="birds-train")
    write(folder, head.format("b,z") + "z,0\nz,1\n", name="birds-test")
    (folder / "birds.xml").write_text(XML.format('<label name="l"/>'))
    dataset = load(folder, nominal="onehot")
    assert dataset.name == "birds"
    assert dataset.feature_names == ("c=a", "c=b", "c=z")
    assert dataset.X.tolist() == [[1, 0, 0], [0, 1, 0], [0, 1, 0], [0, 0, 1], [0, 0, 1]]
    assert dataset.train_part.tolist() == [True, True, True, False, False]


def test_one_part_alone_finds_the_xml_of_the_dataset(tmp_path: Path) -> None:
    text = "@relation t\n@attribute l {0,1}\n@attribute x real\n@data\n1,2\n0,3\n"
    path = write(tmp_path, text, name="birds-train")
    (tmp_path / "birds.xml").write_text(XML.format('<label name="l"/>'))
    dataset = load(path)
    assert (dataset.name, dataset.target_names, dataset.train_part) == ("birds-train", ("l",), None)


def test_an_id_of_a_sparse_file_is_seen_with_the_value_it_leaves_out(tmp_path: Path) -> None:
    text = "@relation t\n@attribute id {a,b,c}\n@attribute x real\n@attribute l {0,1}\n@data\n"
    distinct = write(tmp_path, text + "{0 b,1 1}\n{1 2}\n{0 c,2 1}\n", ["l"])
    assert load(distinct).feature_names == ("x",)
    repeated = write(tmp_path, text + "{0 b,1 1}\n{1 2}\n{1 3}\n{0 c,2 1}\n", ["l"])
    assert load(repeated, nominal="onehot").feature_names == ("id=a", "id=b", "id=c", "x")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "@relation t\n@attribute x real\n@attribute l {0,1}\n@data\n1,0\nhello,1\n",
            "row 2 .*'x'.*'hello'",
        ),
        ("@relation t\n@attribute x real\n@attribute l {0,1}\n@data\n1,2\n", "'l' holds '2'"),
        ("@relation t\n@attribute x real\n@attribute l {0,1}\n@data\n1,?\n", "missing values"),
        ("@relation t\n@attribute x real\n@attribute l {0,1}\n@data\n", "no data rows"),
        ("@relation t\n@attribute x real\n@attribute l {0,1}\n", "no @data"),
        ("@relation t\n@attribute x real\n@attribute l {0,1}\n@data\n1,2,3\n", "line 5"),
        ("@relation t\n@attribute x real\n@attribute l {a,b}\n@data\n1,a\n", "yes/no"),
        (
            "@relation t\n@attribute x real\n@attribute x real\n@attribute l {0,1}\n@data\n1,1,1\n",
            "twice",
        ),
        ("@relation t\n@attribute x date\n@attribute l {0,1}\n@data\n1,1\n", "date"),
        ("@relation t\n@attribute x real\n@attribute other {0,1}\n@data\n1,1\n", "unknown label"),
        ("@relation t\n@attribute x real\n@attribute l {0,1}\n@data\n{5 1}\n", "tiny.arff"),
        ("junk\n", "not an ARFF declaration"),
    ],
)
def test_a_broken_file_is_refused_with_its_name_and_the_reason(
    tmp_path: Path, text: str, message: str
) -> None:
    with pytest.raises(InputError, match=message) as caught:
        load(write(tmp_path, text, ["l"]))
    assert "tiny.arff" in str(caught.value)


@pytest.mark.parametrize(
    "xml", ["<labels>", "<labels/>", '<labels><label name="l"/><label name="l"/></labels>']
)
def test_a_broken_label_file_is_refused(tmp_path: Path, xml: str) -> None:
    path = write(tmp_path, "@relation t\n@attribute x real\n@attribute l {0,1}\n@data\n1,1\n")
    (tmp_path / "tiny.xml").write_text(xml)
    with pytest.raises(InputError, match=r"tiny\.xml"):
        load(path)
