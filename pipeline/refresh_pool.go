package pipeline

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"maps"
	"slices"

	"golang.org/x/sync/errgroup"

	"github.com/goldgen/goldgen/corpus"
	"github.com/goldgen/goldgen/datasets"
	"github.com/goldgen/goldgen/judge"
	"github.com/goldgen/goldgen/retrieve"
)

// textOf tells a chunk's text within its document, as a hash: 8 bytes a chunk.
func textOf(docID, digest string) uint64 {
	h := fnv.New64a()
	io.WriteString(h, docID)
	h.Write([]byte{0})
	io.WriteString(h, digest)
	return h.Sum64()
}

// newChunks gives the ids of the chunks whose text was not in their document
// before. Where the chunks are cut as they were, only documents that are not what
// they were can have any.
func (r *refresher) newChunks() (map[string]bool, error) {
	renamed, touched := map[string]string{}, map[string]bool{}
	for _, c := range r.report.Changes {
		if c.Kind == datasets.DocumentRenamed {
			renamed[c.Before] = c.Now
		}
		touched[c.Now] = true
	}
	recut := r.from.Manifest().Chunking != r.to.Manifest().Chunking
	may := func(doc string) bool { return recut || touched[doc] }
	before := map[uint64]bool{}
	for c, err := range r.from.ChunkInfos() {
		if err != nil {
			return nil, err
		}
		doc, moved := renamed[c.DocID]
		if !moved {
			doc = c.DocID
		}
		if may(doc) {
			before[textOf(doc, c.TextDigest)] = true
		}
	}
	return chunksBut(r.to, may, before)
}

// chunksBut gives the ids of a snapshot's chunks in documents that may have new
// ones, without those that were there before.
func chunksBut(s *corpus.Snapshot, may func(doc string) bool, before map[uint64]bool) (map[string]bool, error) {
	out := map[string]bool{}
	for c, err := range s.ChunkInfos() {
		if err != nil {
			return nil, err
		}
		if may(c.DocID) && !before[textOf(c.DocID, c.TextDigest)] {
			out[string([]byte(c.ChunkID))] = true
		}
	}
	return out, nil
}

// pool has the new chunks that are in a case's pool judged: one of them may answer
// an old query. Without a judge and a label model they stay unjudged, and so they do where only the
// builtin judge is there for a set that others judged.
func (r *refresher) pool(ctx context.Context, b *bench) error {
	var err error
	if r.fresh, err = r.newChunks(); err != nil {
		return err
	}
	r.drift.NewChunks = len(r.fresh)
	if len(r.fresh) == 0 || r.foreignToBuiltin() {
		return nil
	}
	tops, err := r.tops(ctx, b)
	if err != nil {
		return err
	}
	before := r.pairs()
	moved := &datasets.Set{Manifest: r.draft.Manifest, Cases: r.draft.Cases, Rejects: r.draft.Rejects}
	extended, err := r.extendOn(ctx, b, moved, tops)
	if errors.Is(err, errNoJudge) {
		return nil
	}
	if errors.Is(err, judge.ErrOtherJudge) {
		err = hinted("name that judge in goldgen.yaml, or switch it off with judge: none; goldgen run makes a set with another one", "%w", err)
	}
	if err != nil {
		return err
	}
	r.draft.Cases, r.draft.Manifest = extended.Cases, extended.Manifest
	for pair := range r.pairs() {
		if !before[pair] {
			r.drift.Pooled++
		}
	}
	return nil
}

// foreignToBuiltin reports a set that people or a model judged where no judge is
// configured: what the builtin judge says of two texts would lower its trust.
func (r *refresher) foreignToBuiltin() bool {
	pin := r.set.Manifest.Pins.Judge
	return r.Config.Judge.Provider == ProviderBuiltin && (pin == nil || pin.Provider != ProviderBuiltin) &&
		r.Config.Judge.labelModelOf(r.set.Manifest.Trust, r.set.Cases) == LabelsNone
}

// pairs are the judgments of new chunks: case, chunk and by whom.
func (r *refresher) pairs() map[[3]string]bool {
	out := map[[3]string]bool{}
	for i := range r.draft.Cases {
		for _, j := range r.draft.Cases[i].Judgments {
			if r.fresh[j.ChunkID] {
				out[[3]string{r.draft.Cases[i].ID, j.ChunkID, j.By}] = true
			}
		}
	}
	return out
}

// tops asks the members of the pool about every case that is not retired. Of what
// they return only new chunks count.
func (r *refresher) tops(ctx context.Context, b *bench) (judge.Tops, error) {
	members, depth, err := r.poolMembers(ctx, b)
	if err != nil {
		return judge.Tops{}, err
	}
	tops := judge.Tops{Rankings: map[string][]judge.Ranking{}, Only: func(id string) bool { return r.fresh[id] }}
	for _, name := range slices.Sorted(maps.Keys(members)) {
		if depth[name] == 0 {
			continue
		}
		tops.Depth = max(tops.Depth, depth[name])
		if err := r.ask(ctx, members[name], name, depth[name], tops.Rankings); err != nil {
			return tops, err
		}
	}
	tops.Depth = max(tops.Depth, 1)
	return tops, nil
}

// ask adds a member's ranking of each case.
func (r *refresher) ask(ctx context.Context, member retrieve.Retriever, name string, depth int, to map[string][]judge.Ranking) error {
	cases := r.draft.Cases
	found := make([][]retrieve.Hit, len(cases))
	group, gctx := errgroup.WithContext(ctx)
	group.SetLimit(max(1, inFlight(member)))
	for i := range cases {
		c := &cases[i]
		if c.Status == datasets.Retired {
			continue
		}
		group.Go(func() error {
			q := retrieve.Query{ID: c.ID, Text: c.Query, K: depth, Scope: c.Scope, Filters: c.Filters, AsOf: c.AsOf}
			result, err := member.Retrieve(gctx, q)
			if err != nil {
				return fmt.Errorf("case %s: pool member %s: %w", c.ID, name, err)
			}
			found[i] = result.Hits[:min(depth, len(result.Hits))]
			return nil
		})
	}
	err := group.Wait()
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	for i := range cases {
		if len(found[i]) > 0 {
			to[cases[i].ID] = append(to[cases[i].ID], judge.Ranking{Name: name, Hits: found[i]})
		}
	}
	return err
}
