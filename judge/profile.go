package judge

import (
	"bytes"
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/goldgen/goldgen/datasets"
)

// ProfileFormat is the version of a judge profile's format.
const ProfileFormat = 2

// Levels of a profile.
const (
	LevelPrior  = "prior"  // fitted on other collections
	LevelFitted = "fitted" // fitted on labels of the team's own
)

// ErrProfile says that a profile cannot be used: it is damaged, or was made for
// other features or another embedder.
var ErrProfile = errors.New("judge profile")

// Profile is a label model with all that is known of how good it is. It is kept
// as JSON.
type Profile struct {
	Format         int             `json:"format"`
	Level          string          `json:"level"`
	FeatureVersion string          `json:"feature_version"`
	Embedder       string          `json:"embedder,omitempty"` // digest of the embedding that its features need, "" none
	Judge          string          `json:"judge,omitempty"`    // the model whose grades its features need, "" none
	Model          LabelModel      `json:"model"`
	Penalty        float64         `json:"penalty"` // of the prior's slopes
	Training       Training        `json:"training"`
	Figures        Figures         `json:"figures"`
	Shift          []ShiftVariance `json:"shift"`
	ShiftAfter     []ShiftShare    `json:"shift_after,omitempty"` // by number of labels
	ShiftFrom      []ShiftBasis    `json:"shift_from,omitempty"`  // what both were measured with
}

// Training says what a model was fitted on.
type Training struct {
	From     []string `json:"from"` // collections, or label files
	Pairs    int      `json:"pairs"`
	Queries  int      `json:"queries"`
	Relevant int      `json:"relevant"`
	Digest   string   `json:"digest"` // of the labelled pairs with their features
}

// ShiftVariance is the error of a measure's mean differences between retrievers
// that all queries share, and that draws do not show: the mean square of
// (difference under the model's labels - difference under people's labels) beyond
// sampling and the draws, between two retrievers that have nothing in common. It
// counts by the square of how far two retrievers lie apart (eval.Apart). With
// synthetic queries it is a share: of the square of the mean of the two retrievers'
// means, for how far apart means lie at all, and so errors, differs between sets as
// their queries are easy or hard.
type ShiftVariance struct {
	Metric   string  `json:"metric"`
	Source   string  `json:"source"`            // in, judged or out
	Queries  string  `json:"queries,omitempty"` // QueriesHuman or QueriesSynthetic; "" is human
	Model    float64 `json:"model,omitempty"`   // of synthetic queries: what of the variance the label model brings
	Variance float64 `json:"variance"`
	Pairs    int     `json:"pairs"` // pairs of retrievers
}

// ShiftShare is the share of a shift variance that so many labels of a
// collection's own leave, as measured on other collections.
type ShiftShare struct {
	Labels int     `json:"labels"`
	Share  float64 `json:"share"`
}

//go:embed prior.json
var priorJSON []byte

// Prior is the profile that is shipped. See docs/trust.md for what it was fitted
// on and how good it is.
func Prior() (*Profile, error) { return ParseProfile(bytes.NewReader(priorJSON)) }

// ParseProfile reads a profile and checks that it is whole. Errors are
// ErrProfile.
func ParseProfile(r io.Reader) (*Profile, error) {
	decoder := json.NewDecoder(r)
	decoder.DisallowUnknownFields()
	var p Profile
	if err := decoder.Decode(&p); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrProfile, err)
	}
	if err := p.Validate(); err != nil {
		return nil, err
	}
	return &p, nil
}

// Validate names what makes a profile unusable for this version.
func (p *Profile) Validate() error {
	switch {
	case p.Format != ProfileFormat:
		return fmt.Errorf("%w: format %d, this goldgen reads %d", ErrProfile, p.Format, ProfileFormat)
	case p.FeatureVersion != FeatureVersion:
		return fmt.Errorf("%w: made for features %s, this goldgen computes %s", ErrProfile, p.FeatureVersion, FeatureVersion)
	case p.Level != LevelPrior && p.Level != LevelFitted:
		return fmt.Errorf("%w: level %q: want %s or %s", ErrProfile, p.Level, LevelPrior, LevelFitted)
	}
	for _, name := range p.Model.Features {
		if !slices.Contains(LabelFeatures(), name) {
			return fmt.Errorf("%w: feature %q is not one that this goldgen computes", ErrProfile, name)
		}
	}
	for _, v := range p.Shift {
		if k := v.kind(); k != QueriesHuman && k != QueriesSynthetic {
			return fmt.Errorf("%w: shift variance of %s: queries %q: want %s or %s", ErrProfile, v.Metric, k, QueriesHuman, QueriesSynthetic)
		}
	}
	if err := p.Model.Validate(); err != nil {
		return fmt.Errorf("%w: %w", ErrProfile, err)
	}
	return nil
}

// CheckUse refuses a profile for pairs with another embedder's features, or
// another judge's grades, than it was fitted with. embedder is the digest of the
// embedding in use and judge the name of the model that grades, "" where there
// is none.
func (p *Profile) CheckUse(embedder, judge string) error {
	if NeedsEmbedder(p.Model.Features) && p.Embedder != embedder {
		return fmt.Errorf("%w: made with the embedding %s, here it is %s", ErrProfile, p.Embedder, orNone(embedder))
	}
	if p.needsJudge() && p.Judge != judge {
		return fmt.Errorf("%w: made with the grades of %s, here the judge is %s", ErrProfile, p.Judge, orNone(judge))
	}
	return nil
}

func orNone(s string) string {
	if s == "" {
		return "none"
	}
	return s
}

func (p *Profile) needsJudge() bool {
	return slices.Contains(p.Model.Features, FeatureExpected) || slices.Contains(p.Model.Features, FeaturePYes)
}

// JSON is the profile as it is kept.
func (p *Profile) JSON() ([]byte, error) {
	data, err := json.MarshalIndent(p, "", " ")
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrProfile, err)
	}
	return append(data, '\n'), nil
}

// Digest is the hex SHA-256 of the profile as it is kept.
func (p *Profile) Digest() (string, error) {
	data, err := p.JSON()
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:]), nil
}

// Name is what judgments call the profile: its level and the beginning of its
// digest.
func (p *Profile) Name() (string, error) {
	digest, err := p.Digest()
	if err != nil {
		return "", err
	}
	return "label-model/" + p.Level + "@" + digest[:12], nil
}

// Figure names of a set whose labels are a model's: the profile's figures, and
// the root of each of its shift variances; ofLevel marks those that are relative to
// the level of means.
const (
	shiftPrefix = "shift_sd "
	ofLevel     = "/level"
)

// measure names a shift variance's measure among a set's figures.
func (v ShiftVariance) measure() string {
	if v.kind() == QueriesSynthetic {
		return v.Metric + ofLevel
	}
	return v.Metric
}

// labelsWhy begins what a set says of a label model.
const labelsWhy = "labels are probabilities of a model"

// TrustIn is the trust of a set that the profile labelled, with the shift variances
// that hold for its queries. Queries that no model and nobody wrote stay worth
// nothing.
func (p *Profile) TrustIn(before datasets.Trust, l Labels) datasets.Trust {
	t := before
	f := p.Figures
	t.Figures = maps.Clone(before.Figures)
	if t.Figures == nil {
		t.Figures = map[string]float64{}
	}
	t.Figures["label_auc"], t.Figures["label_auc_low"], t.Figures["label_auc_high"] = f.AUC.Value, f.AUC.Low, f.AUC.High
	t.Figures["label_brier"] = f.Brier.Value
	t.Figures["label_pairs"], t.Figures["label_outside"] = float64(l.Pairs), float64(l.Outside)
	p.teach(t.Figures)
	maps.DeleteFunc(t.Figures, func(name string, _ float64) bool { return strings.HasPrefix(name, shiftPrefix) })
	for _, s := range p.ShiftFor(l.Cases) {
		t.Figures[shiftPrefix+s.measure()+" "+s.Source] = datasets.Round(math.Sqrt(s.Variance))
	}
	why := fmt.Sprintf(labelsWhy+" fitted on %s: AUC %.2f [%.2f, %.2f] on queries that it did not see",
		strings.Join(p.Training.From, ", "), f.AUC.Value, f.AUC.Low, f.AUC.High)
	if before.Level == datasets.TrustNone || before.Level == datasets.TrustReviewed {
		earlier, _, _ := strings.Cut(before.Why, "; "+labelsWhy)
		t.Why = earlier + "; " + why
		return t
	}
	t.Level, t.Why = p.Level, why
	return t
}

// ShiftsIn reads the shift variances of a source mode from a set's figures, as
// TrustIn wrote them, by measure; nil for a set that no label model labelled. They
// are to be read with ShiftOf.
func ShiftsIn(figures map[string]float64, mode datasets.SourceMode) map[string]float64 {
	var out map[string]float64
	for name, sd := range figures {
		metric, prefixed := strings.CutPrefix(name, shiftPrefix)
		metric, ofMode := strings.CutSuffix(metric, " "+string(mode))
		if !prefixed || !ofMode {
			continue
		}
		if out == nil {
			out = map[string]float64{}
		}
		out[metric] = float64(sd * sd)
	}
	return out
}

// ShiftOf is the shift variance of a measure among ShiftsIn's, where level is the
// mean of two retrievers' means. One that was not measured has the greatest of the
// same formula at another cut, or else of all. Of a set with queries of both kinds
// it is the greater one: slices and gates may look at those of one kind alone.
func ShiftOf(shifts map[string]float64, metric string, level float64) float64 {
	absolute, relative := map[string]float64{}, map[string]float64{}
	for name, v := range shifts {
		if of, ok := strings.CutSuffix(name, ofLevel); ok {
			relative[of] = v
		} else {
			absolute[name] = v
		}
	}
	return max(shiftAmong(absolute, metric), float64(shiftAmong(relative, metric)*level*level))
}

func shiftAmong(shifts map[string]float64, metric string) float64 {
	if v, ok := shifts[metric]; ok {
		return v
	}
	greatest, same, known := 0.0, 0.0, false
	formula, _, _ := strings.Cut(metric, "@")
	for name, v := range shifts {
		greatest = max(greatest, v)
		if of, _, _ := strings.Cut(name, "@"); of == formula {
			same, known = max(same, v), true
		}
	}
	if known {
		return same
	}
	return greatest
}
