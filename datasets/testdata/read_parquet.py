"""Read a version of a golden set with DuckDB, pyarrow and pandas, nested columns included.

    pip install duckdb pyarrow pandas
    python3 datasets/testdata/read_parquet.py golden/handbook/v0001

Each reader must see the same rows, and those that manifest.json counts. Prints
one line and ends with 0, or says what differs and ends with 1.
"""

import json
import sys
from pathlib import Path

import duckdb
import pandas
import pyarrow
import pyarrow.parquet

# Column -> the Arrow type that other programs may rely on.
CASES = {
    "case_id": "string",
    "tags": "list<element: string not null>",
    "scope": "list<element: struct<key: string not null, values: list<element: string not null> not null> not null>",
    "filters": "list<element: struct<field: string not null, op: string not null, "
    "values: list<element: string not null> not null> not null>",
    "as_of": "timestamp[us, tz=UTC]",
    "expected_abstention": "bool",
    "source": "list<element: string not null>",
    "judgments": "list<element: struct<chunk_id: string not null, doc_id: string not null, grade: int32, p: double, "
    "p_draws: list<element: double not null>, label: string not null, by: string not null, judge: string not null, "
    "features: list<element: struct<name: string not null, value: double not null> not null> not null, "
    "inclusion: double not null, "
    "spans: list<element: struct<start: int64 not null, end: int64 not null> not null> not null> not null>",
    "evidence": "list<element: struct<doc_id: string not null, chunk_id: string not null, start: int64 not null, "
    "end: int64 not null, quote: string not null> not null>",
    "difficulty": "struct<source_rank_bm25: int32, source_rank_dense: int32, overlap: double not null>",
    "checks": "list<element: struct<name: string not null, passed: bool not null, value: double not null> not null>",
}


def by_duckdb(folder):
    """Counts and sums that need every nested column, by SQL."""
    rows = f"read_parquet('{folder / 'cases.parquet'}')"
    one = lambda sql: duckdb.sql(sql).fetchall()[0][0]
    judged = f"(SELECT unnest(judgments) AS j FROM {rows})"
    return {
        "cases": one(f"SELECT count(*) FROM {rows}"),
        "rejected": one(f"SELECT count(*) FROM read_parquet('{folder / 'rejects.parquet'}')"),
        "judgments": one(f"SELECT count(*) FROM {judged}"),
        "unknown_grades": one(f"SELECT count(*) FROM {judged} WHERE j.grade IS NULL AND j.p IS NULL"),
        "grades": one(f"SELECT coalesce(sum(j.grade), 0) FROM {judged}"),
        "draws": one(f"SELECT coalesce(sum(len(j.p_draws)), 0) FROM {judged}"),
        "no_draws": one(f"SELECT count(*) FROM {judged} WHERE j.p_draws IS NULL"),
        "features": one(f"SELECT count(*) FROM (SELECT unnest(j.features) FROM {judged})"),
        "quoted": one(f"SELECT coalesce(sum(strlen(e.quote)), 0) FROM (SELECT unnest(evidence) AS e FROM {rows})"),
        "scoped": one(f"SELECT count(*) FROM (SELECT unnest(s.values) FROM (SELECT unnest(scope) AS s FROM {rows}))"),
        "ranked": one(f"SELECT count(difficulty.source_rank_bm25) FROM {rows}"),
        "dated": one(f"SELECT count(as_of) FROM {rows}"),
    }


def by_rows(cases, rejects):
    """The same from rows as Python objects."""
    judgments = [j for c in cases for j in c["judgments"]]
    missing = lambda x: x is None or x != x  # pandas has NaN and NaT for null
    return {
        "cases": len(cases),
        "rejected": len(rejects),
        "judgments": len(judgments),
        "unknown_grades": sum(missing(j["grade"]) and missing(j["p"]) for j in judgments),
        "grades": int(sum(j["grade"] for j in judgments if not missing(j["grade"]))),
        "draws": sum(len(j["p_draws"]) for j in judgments if j["p_draws"] is not None),
        "no_draws": sum(j["p_draws"] is None for j in judgments),
        "features": sum(len(j["features"]) for j in judgments),
        "quoted": sum(len(e["quote"].encode()) for c in cases for e in c["evidence"]),
        "scoped": sum(len(s["values"]) for c in cases for s in c["scope"]),
        "ranked": sum(not missing(c["difficulty"]["source_rank_bm25"]) for c in cases),
        "dated": sum(not missing(c["as_of"]) for c in cases),
    }


def types(table):
    return {name: str(table.schema.field(name).type) for name in CASES}


def main(folder):
    counts = json.loads((folder / "manifest.json").read_text())["counts"]
    cases = pyarrow.parquet.read_table(folder / "cases.parquet")
    rejects = pyarrow.parquet.read_table(folder / "rejects.parquet")
    seen = {
        "duckdb": by_duckdb(folder),
        "pyarrow": by_rows(cases.to_pylist(), rejects.to_pylist()),
        "pandas": by_rows(
            pandas.read_parquet(folder / "cases.parquet").to_dict("records"),
            pandas.read_parquet(folder / "rejects.parquet").to_dict("records"),
        ),
    }
    problems = [f"{name}: type {got}, want {CASES[name]}" for name, got in types(cases).items() if got != CASES[name]]
    for reader, figures in seen.items():
        for name, value in figures.items():
            for other, want in (("duckdb", seen["duckdb"].get(name)), ("manifest.json", counts.get(name, value))):
                if value != want:
                    problems.append(f"{reader}: {name} is {value}, {other} has {want}")
    for problem in problems:
        print(f"{folder}: {problem}", file=sys.stderr)
    print(f"{folder}: {json.dumps(seen['duckdb'])}")
    return 1 if problems else 0


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    sys.exit(main(Path(sys.argv[1])))
