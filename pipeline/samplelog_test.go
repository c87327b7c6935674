package pipeline_test

import (
	"encoding/json"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/goldgen/goldgen/datasets"
	"github.com/goldgen/goldgen/sample"
)

// Chunks that people opened for a logged query are in its pool, whatever
// retrievers find, and carry no label of their own.
func TestClickedChunksAreCandidates(t *testing.T) {
	b := newBench(t, nil)
	write(t, filepath.Join(b.Dir, "log.jsonl"), `{"query":"zebra crossings","count":5,"clicked":["d03","d11","d19","d27","nosuch"]}`+"\n")
	b.Config.Sample.Queries, b.Config.Sample.QueryShare, b.Config.Sample.Cases = "log.jsonl", 1, 1
	header, rows, err := b.Sample(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	var coverage sample.Coverage
	if err := json.Unmarshal(header.Coverage, &coverage); err != nil || coverage.Log.UnknownClicked != 1 {
		t.Errorf("%v, %d ids that the snapshot does not know, want 1", err, coverage.Log.UnknownClicked)
	}
	g, err := b.Generate(t.Context(), header, rows)
	if err != nil {
		t.Fatal(err)
	}
	committed, err := b.Judge(t.Context(), g.Header, g.Records)
	if err != nil {
		t.Fatal(err)
	}
	set, err := b.Store().Load(committed.Ref.Path)
	if err != nil {
		t.Fatal(err)
	}
	at := slices.IndexFunc(set.Cases, func(c datasets.Case) bool { return c.Origin == datasets.OriginLog })
	if at < 0 {
		t.Fatalf("no logged case among %d", len(set.Cases))
	}
	if set.Manifest.Trust.Level == datasets.TrustNone {
		t.Errorf("queries of people are called made without a model: %s", set.Manifest.Trust.Why)
	}
	c := set.Cases[at]
	pooled := map[string]bool{}
	for _, j := range c.Judgments {
		pooled[j.ChunkID] = true
		if j.Label == datasets.LabelRelevant {
			t.Errorf("chunk %s is called relevant by %s", j.ChunkID, j.By)
		}
	}
	want := map[string]bool{"d03": true, "d11": true, "d19": true, "d27": true}
	for id := range want {
		want[id] = pooled[id]
	}
	if diff := cmp.Diff(map[string]bool{"d03": true, "d11": true, "d19": true, "d27": true}, want); diff != "" {
		t.Errorf("in the pool (-want +got):\n%s", diff)
	}
	if c.Status != datasets.NeedsReview || c.QueryType != datasets.Keyword {
		t.Errorf("status %s, type %s", c.Status, c.QueryType)
	}
}
