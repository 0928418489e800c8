"""Tables in, tables out."""

import numpy as np
import pytest

import hg2v
from shared import same
from test_inputs import arrow_table, duckdb_relation

pa = pytest.importorskip("pyarrow")


def rows(table):
    return np.stack([np.asarray(row, np.float32) for row in table])


def test_each_kind_comes_back_as_itself(arrays, vectors, folder):
    table = arrow_table(arrays)
    made = hg2v.embed_arrow(folder, table)
    assert isinstance(made, pa.Table) and made.column_names == ["id", "y", "embedding"]
    same(rows(made["embedding"].to_pylist()), vectors)
    assert made["id"].to_pylist() == table["id"].to_pylist()
    batch = table.combine_chunks().to_batches()[0]
    made = hg2v.embed_arrow(folder, batch)
    assert isinstance(made, pa.RecordBatch)
    same(rows(made.column("embedding").to_pylist()), vectors)
    pandas = pytest.importorskip("pandas")
    made = hg2v.embed_arrow(folder, table.to_pandas())
    assert isinstance(made, pandas.DataFrame)
    same(rows(made["embedding"]), vectors)
    made = hg2v.embed_arrow(folder, duckdb_relation(arrays))
    same(rows(pa.table(made)["embedding"].to_pylist()), vectors)
    polars = pytest.importorskip("polars")
    made = hg2v.embed_arrow(folder, polars.from_arrow(table))
    assert isinstance(made, polars.DataFrame)
    same(rows(made["embedding"].to_list()), vectors)


def test_chunks_slices_and_none(arrays, vectors, folder):
    table = arrow_table(arrays)
    chunked = pa.concat_tables([table.slice(0, 7), table.slice(7, 1), table.slice(8)])
    same(rows(hg2v.embed_arrow(folder, chunked)["embedding"].to_pylist()), vectors)
    part = table.combine_chunks().to_batches()[0].slice(11, 13)
    same(rows(hg2v.embed_arrow(folder, part).column("embedding").to_pylist()), vectors[11:24])
    none = hg2v.embed_arrow(folder, table.slice(0, 0))
    assert none.num_rows == 0 and none.column_names == ["id", "y", "embedding"]
    assert none.schema == hg2v.embed_arrow(folder, table).schema


@pytest.mark.parametrize("lists", ["list", "large_list", "fixed_x"])
def test_other_list_types(lists, arrays, vectors, folder):
    table = arrow_table(arrays)
    make = {"list": pa.list_, "large_list": pa.large_list, "fixed_x": pa.list_}[lists]
    inner = pa.list_(pa.float32(), 2) if lists == "fixed_x" else make(pa.float64())
    schema = pa.schema(
        [
            ("id", pa.dictionary(pa.int32(), pa.string())),
            ("y", pa.int8()),
            ("src", make(pa.uint16())),
            ("dst", make(pa.int32())),
            ("weight", make(pa.float64())),
            ("x", make(inner)),
        ]
    )
    found = rows(hg2v.embed_arrow(folder, table.cast(schema))["embedding"].to_pylist())
    if lists == "fixed_x":
        np.testing.assert_allclose(found, vectors, rtol=1e-3, atol=1e-3)
    else:
        same(found, vectors)


def test_graphs_to_tables_and_back(arrays, vectors, folder):
    table = pa.record_batch(hg2v.to_arrow(arrays))
    same(hg2v.load(folder).transform(table), vectors)
    mixed = [
        {"edge_index": [[0], [1]], "node_label": ["a", 1]},
        {"edge_index": [[0], [1]], "node_label": [True, 2.5]},
    ]
    there = pa.record_batch(hg2v.to_arrow(mixed))
    again = pa.record_batch(hg2v.graphs(there).to_arrow())
    assert there.equals(again) and there.schema.metadata == again.schema.metadata


def test_streams_of_tables(arrays, vectors, folder):
    """A batch out for a batch in, and no batch is taken before it is asked for."""
    table = arrow_table(arrays)
    pieces = [table.slice(at, 5).combine_chunks().to_batches()[0] for at in range(0, len(table), 5)]
    taken = []

    def batches():
        for piece in pieces:
            taken.append(len(piece))
            yield piece

    given = pa.RecordBatchReader.from_batches(table.schema, batches())
    made = hg2v.embed_batches(folder, given)
    assert isinstance(made, pa.RecordBatchReader) and taken == []
    first = made.read_next_batch()
    while not len(first):
        first = made.read_next_batch()
    assert first.num_rows == 5 and len(taken) == 1
    rest = made.read_all()
    same(rows(first.column("embedding").to_pylist() + rest["embedding"].to_pylist()), vectors)
    whole = hg2v.embed_arrow(folder, table)
    assert rest.schema == whole.schema
    assert (
        hg2v.embed_batches(folder, iter(pieces))
        .read_all()
        .combine_chunks()
        .equals(whole.combine_chunks())
    )
    assert hg2v.load(folder).embed_batches(table).read_all().num_rows == len(table)
    none = pa.RecordBatchReader.from_batches(table.schema, [])
    assert hg2v.embed_batches(folder, none).read_all().schema == whole.schema


def test_streams_of_graphs(arrays, vectors, folder, monkeypatch, caplog):
    monkeypatch.setattr("hg2v.arrow._AT_ONCE", 7)
    taken = []

    def graphs(given):
        for graph in given:
            taken.append(graph)
            yield graph

    made = hg2v.embed_batches(folder, graphs(arrays))
    assert len(taken) == 7
    first = made.read_next_batch()
    assert first.num_rows == 7 and len(taken) == 7
    rest = made.read_all()
    same(rows(first.column("embedding").to_pylist() + rest["embedding"].to_pylist()), vectors)
    assert hg2v.embed_batches(folder, iter([])).read_all().num_rows == 0
    bad = [*arrays[:9], 3, *arrays[9:]]
    with pytest.raises(hg2v.InputError, match="graph 9: "):
        hg2v.embed_batches(folder, graphs(bad)).read_all()
    found = rows(
        hg2v.embed_batches(folder, iter(bad), errors="nan").read_all()["embedding"].to_pylist()
    )
    assert np.isnan(found[9]).all() and "graph 9 " in caplog.text
    same(np.delete(found, 9, axis=0), vectors)
    with pytest.raises(hg2v.InputError, match="int is no stream of graphs"):
        hg2v.embed_batches(folder, 3)


def test_streams_of_other_columns(folder, arrays):
    table = arrow_table(arrays)
    other = table.set_column(table.schema.get_field_index("id"), "id", pa.array(range(len(table))))
    batches = [each.combine_chunks().to_batches()[0] for each in (table, other)]
    with pytest.raises(hg2v.InputError, match=f"from graph {len(table)} on the columns are"):
        hg2v.embed_batches(folder, iter(batches)).read_all()


def test_a_column_that_is_none_is_named(folder):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"src": [[0], [1]], "dst": [[1], [2]], "y": [3, object()]})
    with pytest.raises(
        hg2v.InputError, match="^column `y` of this pandas.(core.frame.)?DataFrame cannot be read"
    ):
        hg2v.embed_arrow(folder, frame)
