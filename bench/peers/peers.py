"""Score the same run with goldgen, pytrec_eval, ranx and ir_measures.

    pip install pytrec-eval-terrier ranx ir_measures pyarrow 'pandas<3'   # ranx 0.3.21 refuses pandas 3
    go build -o /tmp/goldgen ./cmd/goldgen
    python3 bench/peers/peers.py /tmp/peers --goldgen /tmp/goldgen

Each tool scores one made-up run (--queries, 100,000 by default, of 10 results)
with ten measures, as a process of its own, three times. Cold is the whole
process, from its start over reading the files to the means; warm is scoring
alone, once more in the same process, with everything read and compiled. The median
of the runs counts: ranx compiles in its first ones. goldgen has no warm figure: it
is a command. All must agree to 4 decimals, or the script
ends with an error.
"""

import argparse
import json
import math
import os
import pathlib
import random
import statistics
import subprocess
import sys
import time

# name of the measure: goldgen and pytrec_eval, ranx, ir_measures
MEASURES = {
    "P_1": ("precision@1", "P@1"),
    "P_5": ("precision@5", "P@5"),
    "P_10": ("precision@10", "P@10"),
    "recall_1": ("recall@1", "R@1"),
    "recall_5": ("recall@5", "R@5"),
    "recall_10": ("recall@10", "R@10"),
    "ndcg_cut_5": ("ndcg@5", "nDCG@5"),
    "ndcg_cut_10": ("ndcg@10", "nDCG@10"),
    "map": ("map", "AP"),
    "recip_rank": ("mrr", "RR"),
}
TOOLS = ["goldgen (Parquet)", "goldgen (TREC files)", "pytrec_eval", "ranx (Parquet)", "ranx (TREC files)", "ir_measures"]


def make(folder, queries):
    """Write the run and the qrels as TREC files and as Parquet."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    rng = random.Random(7)
    run, qrels = [], []
    for q in range(queries):
        docs = rng.sample(range(50_000), 14)
        grades = {f"d{d}": rng.choice([0, 0, 1, 2, 3]) for d in docs[:4] + docs[10:]}
        grades[f"d{docs[rng.randrange(14)]}"] = 2
        qrels += [(f"q{q:06d}", d, g) for d, g in grades.items()]
        run += [(f"q{q:06d}", f"d{d}", 1 - rank / 16, rank + 1) for rank, d in enumerate(docs[:10])]
    with open(folder / "run.txt", "w", encoding="utf-8") as f:
        f.writelines(f"{q} Q0 {d} {rank} {score:.4f} made\n" for q, d, score, rank in run)
    with open(folder / "qrels.txt", "w", encoding="utf-8") as f:
        f.writelines(f"{q} 0 {d} {g}\n" for q, d, g in qrels)
    q, d, score, rank = map(list, zip(*run))
    pq.write_table(pa.table({"case_id": q, "rank": pa.array(rank, pa.int32()), "chunk_id": d, "score": score}), folder / "run.parquet")
    pq.write_table(pa.table({"q_id": q, "doc_id": d, "score": score}), folder / "ranx-run.parquet")
    q, d, grade = map(list, zip(*qrels))
    pq.write_table(pa.table({"query_id": q, "chunk_id": d, "grade": pa.array(grade, pa.int32())}), folder / "qrels.parquet")
    pq.write_table(pa.table({"q_id": q, "doc_id": d, "score": pa.array(grade, pa.int64())}), folder / "ranx-qrels.parquet")


def with_pytrec_eval(folder):
    import pytrec_eval

    with open(folder / "qrels.txt", encoding="utf-8") as f:
        qrels = pytrec_eval.parse_qrel(f)
    with open(folder / "run.txt", encoding="utf-8") as f:
        run = pytrec_eval.parse_run(f)
    evaluator = pytrec_eval.RelevanceEvaluator(qrels, set(MEASURES))

    def score():
        per_query = evaluator.evaluate(run)
        return {m: statistics.fmean(values[m] for values in per_query.values()) for m in MEASURES}

    return score


def with_ranx(folder, kind):
    from ranx import Qrels, Run, evaluate

    if kind == "parquet":
        qrels, run = Qrels.from_parquet(str(folder / "ranx-qrels.parquet")), Run.from_parquet(str(folder / "ranx-run.parquet"))
    else:
        qrels, run = Qrels.from_file(str(folder / "qrels.txt"), kind="trec"), Run.from_file(str(folder / "run.txt"), kind="trec")
    names = [theirs[0] for theirs in MEASURES.values()]

    def score():
        means = evaluate(qrels, run, names)
        return {ours: float(means[theirs[0]]) for ours, theirs in MEASURES.items()}

    return score


def with_ir_measures(folder):
    import ir_measures

    measures = {ours: ir_measures.parse_measure(theirs[1]) for ours, theirs in MEASURES.items()}
    qrels = list(ir_measures.read_trec_qrels(str(folder / "qrels.txt")))
    run = list(ir_measures.read_trec_run(str(folder / "run.txt")))

    def score():
        means = ir_measures.calc_aggregate(measures.values(), qrels, run)
        return {ours: float(means[m]) for ours, m in measures.items()}

    return score


def one(tool, folder, queries):
    """Runs in a process of its own: scores twice and prints what the second took."""
    if tool == "make":
        return make(folder, queries)
    prepare = {
        "pytrec_eval": with_pytrec_eval,
        "ranx (Parquet)": lambda f: with_ranx(f, "parquet"),
        "ranx (TREC files)": lambda f: with_ranx(f, "trec"),
        "ir_measures": with_ir_measures,
    }[tool]
    begun = time.perf_counter()
    score = prepare(folder)
    means = score()
    cold = time.perf_counter() - begun
    begun = time.perf_counter()
    score()
    print(json.dumps({"means": means, "warm": time.perf_counter() - begun, "inside": cold}))


def command(tool, folder, goldgen):
    if not tool.startswith("goldgen"):
        return [sys.executable, __file__, str(folder), "--one", tool]
    end = "parquet" if "Parquet" in tool else "txt"
    return [goldgen, "eval", "--qrels", str(folder / f"qrels.{end}"), "--run", str(folder / f"run.{end}"),
            "-m", ",".join(MEASURES), "--json"]


def measure(tool, folder, goldgen):
    """Returns seconds cold and warm, MB and means of one process."""
    begun = time.perf_counter()
    done = subprocess.Popen(command(tool, folder, goldgen), stdout=subprocess.PIPE)
    out = done.stdout.read()
    _, status, used = os.wait4(done.pid, 0)
    seconds = time.perf_counter() - begun
    if status != 0:
        sys.exit(f"{tool}: ended with {status}")
    answer, megabytes = json.loads(out), used.ru_maxrss / 1024
    if tool.startswith("goldgen"):
        return seconds, None, megabytes, {m: answer["metrics"][m]["mean"] for m in MEASURES}
    # the process scored twice: the second time belongs to warm alone
    return seconds - answer["warm"], answer["warm"], megabytes, answer["means"]


def agree(means):
    first = means[TOOLS[0]]
    for tool, values in means.items():
        for m, v in values.items():
            if not math.isclose(v, first[m], abs_tol=5e-5):
                sys.exit(f"{tool}: {m} is {v:.6f}, {TOOLS[0]} has {first[m]:.6f}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--goldgen", default="goldgen")
    parser.add_argument("--queries", type=int, default=100_000)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--one", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.one:
        return one(args.one, args.folder, args.queries)
    args.folder.mkdir(parents=True, exist_ok=True)
    # in a process of its own: what a child takes is counted from its parent's size up
    subprocess.run([sys.executable, __file__, str(args.folder), "--queries", str(args.queries), "--one", "make"], check=True)
    figures = {tool: [measure(tool, args.folder, args.goldgen) for _ in range(args.runs)] for tool in TOOLS}
    agree({tool: runs[0][3] for tool, runs in figures.items()})
    table(figures, args.queries)


def table(figures, queries):
    median = lambda runs, at: statistics.median(r[at] for r in runs)
    ours = median(figures[TOOLS[0]], 0)
    print(f"{queries:,} queries x 10 results, {len(MEASURES)} measures; all agree to 4 decimals.\n")
    print("| tool | cold s | times goldgen | warm s | MB |\n|---|---:|---:|---:|---:|")
    for tool, runs in figures.items():
        cold = median(runs, 0)
        warm = "-" if runs[0][1] is None else f"{median(runs, 1):.2f}"
        print(f"| {tool} | {cold:.2f} | {cold / ours:.1f} | {warm} | {median(runs, 2):.0f} |")


if __name__ == "__main__":
    main()
