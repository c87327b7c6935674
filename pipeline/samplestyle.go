package pipeline

import (
	"fmt"

	"github.com/goldgen/goldgen/internal/wording"
	"github.com/goldgen/goldgen/sample"
)

// readStyles reads who asks, and what the team's own queries sound like.
func (p *Project) readStyles(in *sample.Input) (err error) {
	o := p.Config.Sample
	if o.Personas != "" {
		if in.Personas, err = sample.ReadPersonas(p.Path(o.Personas)); err != nil {
			return fmt.Errorf("%w: sample.personas: %w", ErrConfig, err)
		}
	}
	if o.Examples == "" {
		return nil
	}
	personal := 0
	if in.Examples, personal, err = sample.ReadExamples(p.Path(o.Examples)); err != nil {
		return fmt.Errorf("%w: sample.examples: %w", ErrConfig, err)
	}
	if personal > 0 {
		p.Log.Warn(fmt.Sprintf("sample.examples: %s left out for personal data", wording.Count(personal, "query")))
	}
	return nil
}
