package main

import (
	"fmt"
	"os"
	"strconv"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"
)

// recordCases is how many cases records makes, each over a document of its own.
const recordCases = 40

// records [line...]: makes a project of forty records with a golden set of
// people's judgments, in which each record is asked for and six are judged for
// each case. Lines are added to its goldgen.yaml. Even cases are factual, odd
// ones keyword; the first three are critical.
func records(ts *testscript.TestScript, _ bool, args []string) {
	var chunks strings.Builder
	for i := range recordCases {
		fmt.Fprintf(&chunks, `{"chunk_id": "r%02d", "doc_id": "r%02d", "text": "Record %d holds the rules of procedure %d and of nothing else at all."}`+"\n", i, i, i, i)
	}
	yaml := "version: 1\nname: records\ncorpus: {chunks: chunks.jsonl}\n" + strings.Join(args, "\n") + "\n"
	ts.Check(os.WriteFile(ts.MkAbs("chunks.jsonl"), []byte(chunks.String()), 0o644))
	ts.Check(os.WriteFile(ts.MkAbs("goldgen.yaml"), []byte(yaml), 0o644))
	ts.Check(ts.Exec("goldgen", "snapshot", "-q"))
	relabel(ts, false, []string{"6"})
}

// relabel N: makes the next version of the set, with N judged records a case.
func relabel(ts *testscript.TestScript, _ bool, args []string) {
	judged, err := strconv.Atoi(strings.Join(args, " "))
	ts.Check(err)
	var cases strings.Builder
	for i := range recordCases {
		cases.WriteString(recordCase(i, judged))
	}
	ts.Check(os.WriteFile(ts.MkAbs("cases.jsonl"), []byte(cases.String()), 0o644))
	ts.Check(ts.Exec("goldgen", "datasets", "import", "--format", "jsonl", "--queries", "cases.jsonl", "--name", "records"))
}

func recordCase(i, judged int) string {
	var labels []string
	for j := range judged {
		grade := 0
		if j == 0 {
			grade = 2
		}
		labels = append(labels, fmt.Sprintf(`{"chunk_id": "r%02d", "grade": %d}`, (i+j)%recordCases, grade))
	}
	kind, tags := "factual", ""
	if i%2 == 1 {
		kind = "keyword"
	}
	if i < 3 {
		tags = `, "tags": ["critical"]`
	}
	return fmt.Sprintf(`{"case_id": "q%02d", "query": "procedure %d", "query_type": %q%s, "relevant_chunk_ids": [%s]}`+"\n", i, i, kind, tags, strings.Join(labels, ", "))
}

// ranks NAME RANK...: writes NAME.txt, a run of five hits a case in which the
// right one stands at the first rank in the first case, at the second in the
// second, and so on in turn; 0 leaves it out.
func ranks(ts *testscript.TestScript, _ bool, args []string) {
	if len(args) < 2 {
		ts.Fatalf("usage: ranks NAME RANK...")
	}
	var run strings.Builder
	for i := range recordCases {
		right, err := strconv.Atoi(args[1+i%(len(args)-1)])
		ts.Check(err)
		for rank, other := 1, 1; rank <= 5; rank++ {
			hit := i
			if rank != right {
				hit, other = i+other, other+1
			}
			fmt.Fprintf(&run, "q%02d Q0 r%02d %d %d %s\n", i, hit%recordCases, rank, 100-rank, args[0])
		}
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[0]+".txt"), []byte(run.String()), 0o644))
}
