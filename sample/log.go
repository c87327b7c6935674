package sample

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"time"

	"github.com/goldgen/goldgen/datasets"
)

// Bands of a query log, by how often something is asked.
const (
	BandHead  = "head"  // what makes the first third of all searches
	BandTorso = "torso" // the second
	BandTail  = "tail"  // the rest, and all that was asked once
)

// LogStratum begins the strata of a log's queries; the band follows.
const LogStratum = "log="

var bands = []string{BandHead, BandTorso, BandTail}

// LogOptions say which real queries stand beside those that are written.
type LogOptions struct {
	Queries     string             `yaml:"queries" json:"queries,omitempty"`           // .jsonl, .csv or .parquet; "" none
	QueryFields map[string]string  `yaml:"query_fields" json:"query_fields,omitempty"` // query, count, time, clicked -> the log's own names
	QueryShare  float64            `yaml:"query_share" json:"query_share,omitempty"`   // of the cases, with a log
	QueryBands  map[string]float64 `yaml:"query_bands" json:"query_bands,omitempty"`   // head, torso, tail -> share; sums to 1
}

// DefaultQueryShare is the share of the cases that a log gives.
const DefaultQueryShare = .5

// DefaultQueryBands are the shares of a log's bands.
func DefaultQueryBands() map[string]float64 {
	return map[string]float64{BandHead: .4, BandTorso: .3, BandTail: .3}
}

func (o LogOptions) validate() error {
	var errs []error
	for _, field := range slices.Sorted(maps.Keys(o.QueryFields)) {
		if !slices.Contains([]string{FieldQuery, FieldCount, FieldTime, FieldClicked}, field) {
			errs = append(errs, fmt.Errorf("sample.query_fields: unknown field %q, valid are query, count, time, clicked", field))
		}
	}
	if !(o.QueryShare >= 0 && o.QueryShare <= 1) {
		errs = append(errs, fmt.Errorf("sample.query_share: %v is not between 0 and 1", o.QueryShare))
	}
	if len(o.QueryBands) > 0 {
		errs = append(errs, CheckShares("sample.query_bands", "unknown", o.QueryBands, bands))
	}
	return errors.Join(errs...)
}

// LogCases gives the number of cases that a log is asked for, of o.Cases.
func (o Options) LogCases() int {
	if o.Queries == "" {
		return 0
	}
	return int(math.Round(float64(float64(o.Cases) * cmp.Or(o.QueryShare, DefaultQueryShare))))
}

// Asked is what a log knows of a row's query and of others in nearly its words.
type Asked struct {
	Count   int        `json:"count"`             // times
	Wording int        `json:"wordings"`          // that it was asked in
	First   *time.Time `json:"first,omitempty"`   // nil without times
	Last    *time.Time `json:"last,omitempty"`    // likewise
	Clicked []string   `json:"clicked,omitempty"` // chunk or document ids, most clicked first
}

// LogSummary is what became of a log's records. It goes into the plan's header
// and the manifest, and holds no query.
type LogSummary struct {
	File     string         `json:"file"`
	Digest   string         `json:"digest"` // hex SHA-256 of the file
	Records  int            `json:"records"`
	Bad      int            `json:"bad"`               // could not be read
	BadFirst []string       `json:"bad_first"`         // the first few, each with its place
	Personal map[string]int `json:"personal"`          // dropped: kind of personal data -> queries
	Dropped  map[string]int `json:"dropped"`           // dropped for another reason -> queries
	Searches int            `json:"searches"`          // in what is left, counts added
	Distinct int            `json:"distinct"`          // wordings, but for case, space and punctuation
	Clusters int            `json:"clusters"`          // of wordings that nearly agree
	Until    *time.Time     `json:"until,omitempty"`   // the latest time in it, nil without times
	Sampled  bool           `json:"sampled,omitempty"` // too many wordings to count all: the rare ones are a sample
	Bands    []Band         `json:"bands"`

	// UnknownClicked is how many of the ids that were clicked for the planned queries
	// are of no chunk and no document of the snapshot, each counted once.
	UnknownClicked int `json:"unknown_clicked,omitempty"`
}

// Band is one band's part of a plan.
type Band struct {
	Name     string `json:"name"`
	Clusters int    `json:"clusters"`
	Searches int    `json:"searches"`
	Wanted   int    `json:"wanted"`
	Planned  int    `json:"planned"`
	Reserves int    `json:"reserves"`
}

// LogPlan is what DrawLog gives: main rows, then reserves, each band by band.
type LogPlan struct {
	Rows      []Row
	Shortfall []datasets.Shortfall
	Summary   LogSummary
}

// ErrNoQueries means that nothing of a log can be used.
var ErrNoQueries = errors.New("no query of the log can be used")

// DrawLog plans o.LogCases queries from the log at path: personal data dropped,
// wordings that are equal but for case, space and punctuation folded, those that
// nearly agree in one cluster, clusters drawn by band, each with the wording
// that was asked most. The plan depends on o and the log alone.
//
// Memory: up to 524,288 wordings of at most 500 characters; of a log with more,
// the frequent ones and a uniform sample of the others are kept.
func DrawLog(ctx context.Context, path string, o Options) (*LogPlan, error) {
	f := newLogTally(path)
	for s, err := range ReadLog(path, o.QueryFields) {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		f.summary.Records++
		if bad, ok := errors.AsType[*BadRecord](err); ok {
			f.bad(bad)
			continue
		}
		if err != nil {
			return nil, err
		}
		f.add(&s)
	}
	clusters := f.clusters()
	if len(clusters) == 0 {
		return nil, fmt.Errorf("%s: %w: %s", path, ErrNoQueries, f.summary.why())
	}
	d := logDraw{o: o, summary: &f.summary, byBand: f.inBands(clusters)}
	return d.plan(), nil
}

// why says what became of the records of a log that gives nothing.
func (s *LogSummary) why() string {
	personal, dropped := 0, 0
	for _, n := range s.Personal {
		personal += n
	}
	for _, n := range s.Dropped {
		dropped += n
	}
	why := fmt.Sprintf("%d records, %d cannot be read, %d hold personal data, %d are no queries", s.Records, s.Bad, personal, dropped)
	if len(s.BadFirst) > 0 {
		why += "; " + s.BadFirst[0]
	}
	return why
}

// logDraw draws clusters by band.
type logDraw struct {
	o       Options
	summary *LogSummary
	byBand  map[string][]*cluster
}

func (d *logDraw) plan() *LogPlan {
	n, shares := d.o.LogCases(), d.o.QueryBands
	if len(shares) == 0 {
		shares = DefaultQueryBands()
	}
	weights, high := make([]float64, len(bands)), make([]int, len(bands))
	for i, band := range bands {
		weights[i], high[i] = shares[band], len(d.byBand[band])
		d.shuffle(d.byBand[band])
	}
	none := make([]int, len(bands))
	wanted := allocate(n, weights, none, fillInts(len(bands), n))
	got := allocate(n, weights, none, high)
	p := &LogPlan{}
	var reserves []Row
	for i, band := range bands {
		list := d.byBand[band]
		p.Rows = append(p.Rows, d.rows(band, list[:got[i]], false)...)
		rest := list[got[i]:]
		spare := min(len(rest), d.o.reserves(got[i]))
		reserves = append(reserves, d.rows(band, rest[:spare], true)...)
		d.summary.Bands = append(d.summary.Bands, Band{
			Name: band, Clusters: len(list), Searches: searches(list), Wanted: wanted[i], Planned: got[i], Reserves: spare,
		})
		if got[i] < wanted[i] {
			p.Shortfall = append(p.Shortfall, datasets.Shortfall{
				Stratum: stratumOfBand(band), Wanted: wanted[i], Got: got[i], Reason: fmt.Sprintf("the log has %d queries there", len(list)),
			})
		}
	}
	if len(p.Rows) == n {
		p.Shortfall = nil // what one band lacks, others gave
	}
	p.Rows, p.Summary = append(p.Rows, reserves...), *d.summary
	return p
}

// shuffle puts clusters in the order of the draw, by the seed and their wording.
func (d *logDraw) shuffle(list []*cluster) {
	slices.SortFunc(list, func(a, b *cluster) int {
		return compareDraws(draw(d.o.Seed, "log", a.best.hash), draw(d.o.Seed, "log", b.best.hash), a.best.text, b.best.text)
	})
}

func (d *logDraw) rows(band string, list []*cluster, reserve bool) []Row {
	rows := make([]Row, len(list))
	for i, c := range list {
		sum := sha256.Sum256([]byte(foldQuery(c.best.text)))
		rows[i] = Row{
			CaseID:   datasets.CaseID(d.o.Seed, datasets.OriginLog, hex.EncodeToString(sum[:]), "", "", 0),
			ChunkIDs: []string{}, DocIDs: []string{}, Stratum: stratumOfBand(band), Reserve: reserve,
			Origin: datasets.OriginLog, Query: c.best.text, Asked: c.asked(),
		}
	}
	return rows
}

func searches(list []*cluster) int {
	n := 0
	for _, c := range list {
		n = plus(n, c.count)
	}
	return n
}
