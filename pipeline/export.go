package pipeline

import (
	"fmt"

	"github.com/goldgen/goldgen/datasets"
)

// ExportOptions say which set to export, and how.
type ExportOptions struct {
	datasets.ExportOptions
	Golden   string
	Snapshot string // folder to take texts from; "" the pinned one
}

// Export writes a golden set in another format. A format that holds texts needs
// the snapshot that the set is pinned to.
func (p *Project) Export(o ExportOptions, sink datasets.Sink) (datasets.ExportReport, error) {
	if err := o.Validate(); err != nil {
		return datasets.ExportReport{}, fmt.Errorf("%w: %w", ErrConfig, err)
	}
	set, err := p.Store().Load(o.Golden)
	if err != nil {
		return datasets.ExportReport{}, err
	}
	if !o.NeedsCorpus() {
		return datasets.Export(set, nil, o.ExportOptions, sink)
	}
	s, err := p.snapshotOf(set, o.Snapshot)
	if err != nil {
		return datasets.ExportReport{}, err
	}
	return datasets.Export(set, s, o.ExportOptions, sink)
}
