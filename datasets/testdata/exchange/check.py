"""Load goldgen's exports with the libraries that they are for, and score a run with them.

    python3 datasets/testdata/exchange/check.py FOLDER --goldgen GOLDGEN --promptfoo PROMPTFOO

Makes a set of graded labels over the quickstart, with queries that hold tabs, line
breaks, quotation marks and marks of templates; ranks it with bm25; exports it in every
format; and reads each export with the library that it is for. Queries, texts and labels
must be those of the set, and means those of goldgen to 9 decimals. Prints a line a
library and ends with 0, or says what differs and ends with 1.

DeepEval, LangSmith and MTEB are read as the formats that they say they are.
"""

import argparse
import ast
import asyncio
import csv
import json
import os
import pathlib
import random
import shutil
import subprocess
import sys
import warnings

warnings.simplefilter("ignore")
HERE = pathlib.Path(__file__).resolve().parent
NASTY = ["", "\t", "\nand\n", ' "quoted" ', " {{x}} ", " <b> ", ", ", " 'é' \u202e", " {% if %} ", "{{{", " {{query}} ", " {# #} ", "{% raw %}", "; "]
RELEVANT = 2  # least relevant grade
# goldgen's name -> pytrec_eval's, ranx's
MEASURES = {
    "recall@10": ("recall_10", f"recall@10-l{RELEVANT}"),
    "precision@5": ("P_5", f"precision@5-l{RELEVANT}"),
    "ndcg@10": ("ndcg_cut_10", "ndcg@10"),
    "mrr": ("recip_rank", f"mrr-l{RELEVANT}"),
    "map": ("map", f"map-l{RELEVANT}"),
}


def same(what, want, got):
    if want != got:
        sys.exit(f"{what}: want {str(want)[:2000]}\ngot {str(got)[:2000]}")


def close(what, want, got):
    for name, value in want.items():
        if abs(value - got[name]) > 1e-9:
            sys.exit(f"{what}: {name} is {got[name]!r}, goldgen has {value!r}")
    print(f"{what}: " + ", ".join(f"{name} {value:.6f}" for name, value in want.items()))


class Set:
    """The set, its ranking and what goldgen says of it."""

    def __init__(self, folder, goldgen):
        self.folder, self.goldgen = folder, goldgen
        shutil.copytree(HERE.parents[2] / "examples" / "quickstart", folder, ignore=shutil.ignore_patterns(".goldgen", "golden", "results"))
        self.run("snapshot")
        self.make()
        self.run("datasets", "import", "--format", "jsonl", "--from", "made.jsonl", "--relevant-grade", str(RELEVANT), "--name", "made")
        answer = json.loads(self.run("eval", "--golden", "made", "--retriever", "bm25", "-m", ",".join(MEASURES), "--out", "result", "--json"))
        self.means = {name: answer["metrics"][name]["mean"] for name in MEASURES}
        self.rank()

    def run(self, *args):
        done = subprocess.run([self.goldgen, "-C", self.folder, *args], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        if done.returncode != 0:
            sys.exit(f"goldgen {' '.join(args)}: {done.returncode}\n{done.stderr}")
        return done.stdout

    def export(self, form, name):
        self.run("datasets", "export", "made", "--format", form, "-o", name)
        return self.folder / name

    def make(self):
        import pyarrow.parquet as pq

        snapshots = self.folder / ".goldgen" / "snapshots"
        name = (snapshots / "latest").read_text(encoding="utf-8").strip()
        chunks = pq.read_table(snapshots / name / "chunks.parquet", columns=["chunk_id", "text"]).to_pylist()
        self.texts = {c["chunk_id"]: c["text"] for c in chunks}
        rng = random.Random(7)
        self.queries, self.qrels = {}, {}
        with open(self.folder / "made.jsonl", "w", encoding="utf-8") as f:
            for i, c in enumerate(rng.sample(chunks, 40)):
                words = rng.sample(c["text"].split(), min(4, len(c["text"].split())))
                words.insert(2, NASTY[i % len(NASTY)])
                grades = {d["chunk_id"]: rng.choice([0, 1, 2, 3]) for d in rng.sample(chunks, 6)} | {c["chunk_id"]: rng.choice([2, 3])}
                self.queries[f"q{i}"], self.qrels[f"q{i}"] = f"about {' '.join(words)}", grades
                labels = [{"chunk_id": d, "grade": g} for d, g in grades.items()]
                f.write(json.dumps({"case_id": f"q{i}", "query": self.queries[f"q{i}"], "relevant_chunk_ids": labels, "reference_answer": f"answer {i}"}) + "\n")

    def rank(self):
        import pyarrow.parquet as pq

        rows = pq.read_table(self.folder / "result" / "cases.parquet", columns=["case_id", "ranking"]).to_pylist()
        self.ranking = {r["case_id"]: [h["chunk_id"] for h in sorted(r["ranking"], key=lambda h: h["rank"])] for r in rows}
        self.scored = {q: {d: 1 / (n + 1) for n, d in enumerate(ids)} for q, ids in self.ranking.items()}

    def relevant(self, query):
        return {d for d, g in self.qrels[query].items() if g >= RELEVANT}

    def with_pytrec_eval(self, what, qrels):
        import pytrec_eval

        same(f"{what}: labels", self.qrels, qrels)
        per_query = pytrec_eval.RelevanceEvaluator(qrels, {theirs[0] for theirs in MEASURES.values()}, relevance_level=RELEVANT).evaluate(self.scored)
        close(what, self.means, {name: sum(v[theirs[0]] for v in per_query.values()) / len(qrels) for name, theirs in MEASURES.items()})


def grouped(rows):
    qrels = {}
    for query, chunk, grade in rows:
        qrels.setdefault(query, {})[chunk] = grade
    return qrels


def trec(s):
    import pytrec_eval

    folder = s.export("trec", "trec")
    with open(folder / "qrels.txt", encoding="utf-8") as f:
        s.with_pytrec_eval("TREC, pytrec_eval", pytrec_eval.parse_qrel(f))
    with open(folder / "queries.tsv", encoding="utf-8", newline="\n") as f:
        same("TREC: queries", {q: " ".join(t.split()) for q, t in s.queries.items()}, dict(line.rstrip("\n").split("\t") for line in f))


def hugging_face(s):
    from datasets import get_dataset_config_names, load_dataset

    for form in ("huggingface", "mteb"):
        folder = str(s.export(form, form))
        same(f"{form}: configurations", {"default", "queries", "corpus"}, set(get_dataset_config_names(folder)))
        queries, corpus = load_dataset(folder, "queries", split="queries"), load_dataset(folder, "corpus", split="corpus")
        same(f"{form}: queries", s.queries, dict(zip(queries["_id"], queries["text"])))
        same(f"{form}: corpus", s.texts, dict(zip(corpus["_id"], corpus["text"])))
        qrels = load_dataset(folder, split="test")
        s.with_pytrec_eval(f"{form}, datasets and pytrec_eval", grouped(zip(qrels["query-id"], qrels["corpus-id"], qrels["score"])))
    ast.parse((s.folder / "mteb" / "task.py").read_text(encoding="utf-8"))


def beir(s):
    from beir.datasets.data_loader import GenericDataLoader

    corpus, queries, qrels = GenericDataLoader(data_folder=str(s.export("beir", "beir"))).load(split="test")
    same("BEIR: queries", s.queries, queries)
    same("BEIR: corpus", s.texts, {i: c["text"] for i, c in corpus.items()})
    s.with_pytrec_eval("BEIR, its loader and pytrec_eval", qrels)


def ranx(s):
    from ranx import Qrels, Run, evaluate

    qrels = Qrels.from_file(str(s.export("ranx", "qrels.json")), kind="json")
    means = evaluate(qrels, Run(s.scored), [theirs[1] for theirs in MEASURES.values()], make_comparable=True)
    close("ranx", s.means, {name: float(means[theirs[1]]) for name, theirs in MEASURES.items()})


def ragas(s):
    from ragas import EvaluationDataset
    from ragas.metrics import IDBasedContextRecall

    samples = EvaluationDataset.from_jsonl(str(s.export("ragas", "ragas.jsonl"))).samples
    same("ragas: queries", list(s.queries.values()), [x.user_input for x in samples])
    same("ragas: chunks", [s.relevant(q) for q in s.queries], [set(x.reference_context_ids) for x in samples])
    same("ragas: contexts", [[s.texts[i] for i in x.reference_context_ids] for x in samples], [x.reference_contexts for x in samples])
    same("ragas: answers", [f"answer {i}" for i in range(len(s.queries))], [x.reference for x in samples])
    metric, total = IDBasedContextRecall(), 0
    for query, sample in zip(s.queries, samples):
        sample.retrieved_context_ids = s.ranking[query][:10]
        if sample.retrieved_context_ids:
            total += asyncio.run(metric.single_turn_ascore(sample))
    close("ragas", {"recall@10": s.means["recall@10"]}, {"recall@10": total / len(samples)})


def promptfoo(s, command):
    folder = s.folder / "promptfoo"
    folder.mkdir()
    s.export("promptfoo", "promptfoo/tests.json")
    shutil.copy(HERE / "provider.js", folder)
    (folder / "run.json").write_text(json.dumps({text: s.ranking[q][:10] for q, text in s.queries.items()}), encoding="utf-8")
    (folder / "promptfooconfig.yaml").write_text('prompts: ["{{query}}"]\nproviders: [file://provider.js]\ntests: file://tests.json\n')
    env = os.environ | {"PROMPTFOO_DISABLE_TELEMETRY": "1", "PROMPTFOO_DISABLE_UPDATE": "1", "PROMPTFOO_CONFIG_DIR": str(folder / "state")}
    done = subprocess.run([*command.split(), "eval", "--no-write", "--no-cache", "--no-table", "--no-progress-bar", "-o", "out.json"],
                          cwd=folder, env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode not in (0, 100):  # 100: tests failed, as those do for which nothing was found
        sys.exit(f"promptfoo: {done.returncode}\n{done.stdout}")
    results = json.loads((folder / "out.json").read_text(encoding="utf-8"))["results"]
    same("promptfoo: errors", 0, results["stats"]["errors"])
    same("promptfoo: tests", len(s.queries), len(results["results"]))
    total = results["prompts"][0]["metrics"]["namedScores"]["recall"]
    close("promptfoo", {"recall@10": s.means["recall@10"]}, {"recall@10": total / len(s.queries)})


def by_format(s):
    goldens = json.loads(s.export("deepeval", "goldens.json").read_text(encoding="utf-8"))
    same("DeepEval: queries", s.queries, {g["name"]: g["input"] for g in goldens})
    same("DeepEval: contexts", True, all(isinstance(c, str) for g in goldens for c in g["context"]))
    for form, column in (("langsmith", "case_id"), ("csv", "case_id")):
        with open(s.export(form, form + ".csv"), encoding="utf-8", newline="") as f:
            same(f"{form}: queries", s.queries, {row[column]: row["query"] for row in csv.DictReader(f)})
    with open(s.export("jsonl", "cases.jsonl"), encoding="utf-8") as f:
        same("jsonl: queries", s.queries, {c["case_id"]: c["query"] for c in map(json.loads, f)})
    print("DeepEval, LangSmith, CSV, JSONL: read as JSON and CSV")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path, help="made anew")
    parser.add_argument("--goldgen", required=True)
    parser.add_argument("--promptfoo", help="command of promptfoo")
    args = parser.parse_args()
    os.environ |= {"HF_HOME": str(args.folder.resolve()) + "-hf", "HF_HUB_OFFLINE": "1", "RAGAS_DO_NOT_TRACK": "true"}
    s = Set(args.folder.resolve(), os.path.abspath(args.goldgen))
    for check in (trec, hugging_face, beir, ranx, ragas, by_format):
        check(s)
    if args.promptfoo:
        promptfoo(s, args.promptfoo)


if __name__ == "__main__":
    main()
