"""Turn the Cranfield collection into documents, queries and qrels for goldgen.

    python3 prepare.py FOLDER_WITH_THE_COLLECTION

The collection (cran.all.1400.xml, cran.qry.xml, cranqrel.trec.txt) is not part
of this repository. Writes documents.jsonl here. A document's text begins with
its title; the authors and the reference are left out, and so are two documents
without any text.
"""

import json
import re
import sys
from pathlib import Path

here = Path(__file__).parent
source = (Path(sys.argv[1]) / "cran.all.1400.xml").read_text(encoding="utf-8")
kept = 0
with open(here / "documents.jsonl", "w", encoding="utf-8") as out:
    for doc in re.findall(r"<doc>(.*?)</doc>", source, re.S):
        field = {name: re.sub(r"\s+", " ", text).strip()
                 for name, text in re.findall(r"<(docno|title|text)>(.*?)</\1>", doc, re.S)}
        if not field.get("text"):
            continue
        kept += 1
        out.write(json.dumps({"id": field["docno"], "title": field["title"], "text": field["text"]}) + "\n")
print(f"{kept} documents")
