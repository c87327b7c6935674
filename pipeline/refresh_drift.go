package pipeline

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/goldgen/goldgen/corpus"
	"github.com/goldgen/goldgen/datasets"
	"github.com/goldgen/goldgen/sample"
)

// driftByStratum counts the documents that are not what they were, by the strata of
// goldgen.yaml. Topics are left out of these: they are numbered anew in each corpus.
func (r *refresher) driftByStratum(ctx context.Context) ([]datasets.StratumDrift, error) {
	before, now := map[string]bool{}, map[string]bool{}
	for _, c := range r.report.Changes {
		if c.Kind == datasets.DocumentRemoved {
			before[c.Before] = true
		} else {
			now[c.Now] = true
		}
	}
	old, err := r.strataOf(ctx, r.from, before)
	if err != nil {
		return nil, err
	}
	fresh, err := r.strataOf(ctx, r.to, now)
	if err != nil {
		return nil, err
	}
	rows := map[string]*datasets.StratumDrift{}
	for _, c := range r.report.Changes {
		names := fresh[c.Now]
		if c.Kind == datasets.DocumentRemoved {
			names = old[c.Before]
		}
		for _, name := range names {
			if rows[name] == nil {
				rows[name] = &datasets.StratumDrift{Stratum: name}
			}
			rows[name].Count(c.Kind)
		}
	}
	out := make([]datasets.StratumDrift, 0, len(rows))
	for _, name := range slices.Sorted(maps.Keys(rows)) {
		out = append(out, *rows[name])
	}
	return out, nil
}

// strataOf names the strata in which the chunks of documents lie, sorted.
func (p *Project) strataOf(ctx context.Context, s *corpus.Snapshot, docs map[string]bool) (map[string][]string, error) {
	out := map[string][]string{}
	if len(docs) == 0 {
		return out, nil
	}
	o := p.Config.Sample
	o.Strata = slices.DeleteFunc(slices.Clone(o.Strata), func(field string) bool { return field == sample.ByTopic })
	all := infos(ctx, s)
	if p.needsChunkFields() {
		all = fullInfos(ctx, s)
	}
	for info, err := range all {
		if err != nil {
			return nil, err
		}
		if !docs[info.DocID] {
			continue
		}
		name := o.Stratum(&info, nil)
		if at, known := slices.BinarySearchFunc(out[info.DocID], name, cmp.Compare[string]); !known {
			doc := strings.Clone(info.DocID)
			out[doc] = slices.Insert(out[doc], at, strings.Clone(name))
		}
	}
	return out, nil
}
