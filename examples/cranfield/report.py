"""Print a version of a golden set as the tables of docs/quality.md.

    goldgen datasets show cranfield --json >set.json
    goldgen datasets show cranfield --rejects --json >rejects.json
    python3 report.py set.json rejects.json

Ten cases and five rejects are drawn with a fixed seed, none is left out.
"""

import json
import random
import sys

golden = json.load(open(sys.argv[1], encoding="utf-8"))
rejects = json.load(open(sys.argv[2], encoding="utf-8"))["rejects"]
manifest, cases = golden["manifest"], golden["cases"]


def cell(text):
    return " ".join(str(text).split()).replace("|", "\\|")


def grades(case):
    found = [j["grade"] for j in case["judgments"] if j["by"] == "llm"]
    source = [j["grade"] for j in case["judgments"] if j["by"] == "llm" and j["chunk_id"] in case["source"]]
    return f"{source[0] if source else '-'} of {len(found)} judged"


counts = manifest["counts"]
asked = counts["cases"] + counts["rejected"]
print(f"| funnel | n |\n|---|---:|\n| rows that became a case or a reject | {asked} |")
for reason, n in sorted(manifest["funnel"].items(), key=lambda x: (-x[1], x[0])):
    print(f"| rejected: {reason} | {n} |")
print(f"| cases | {counts['cases']} |")
print(f"| of them active | {counts['active']} |\n| of them needs_review | {counts['needs_review']} |")
print(f"\nTrust: `{manifest['trust']['level']}`: {manifest['trust']['why']}.\n")
print("| # | type | query | evidence | grade of the source | status |\n|---|---|---|---|---|---|")
for n, case in enumerate(random.Random(1).sample(cases, min(10, len(cases))), 1):
    quote = case["evidence"][0]["quote"] if case["evidence"] else ""
    print(f"| {n} | {case['query_type']} | {cell(case['query'])} | {cell(quote)} | {grades(case)} | {case['status']} |")
print("\n| type | reason | query | evidence |\n|---|---|---|---|")
for reject in random.Random(1).sample(rejects, min(5, len(rejects))):
    quote = reject["evidence"][0]["quote"] if reject["evidence"] else ""
    print(f"| {reject['query_type']} | {reject['reason']} | {cell(reject['query'])} | {cell(quote)} |")
