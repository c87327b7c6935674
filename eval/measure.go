package eval

// Measure is one formula with its parameters. Two measures with equal fields
// apart from Name are the same; Name is how it was asked for and the key of
// the answer.
type Measure struct {
	Name  string
	kind  kind
	k     int     // 0: the whole ranking
	level int     // relevant from this grade on; 0: Input.MinGrade
	x     float64 // recall level, multiple of R, or persistence
}

type kind uint8

// ParseMeasure reads a measure's name: ndcg@10, recall@10(grade>=1), rbp(p=0.5)
// or one of trec_eval's spellings. An error is a *MeasureError.
func ParseMeasure(name string) (Measure, error) { return Measure{Name: name}, nil }

// ParseMeasures reads a list; commas separate the names.
func ParseMeasures(list string) ([]Measure, error) { return nil, nil }

// MeasureError says what is wrong with a measure's name and where.
type MeasureError struct {
	Name string
	At   int // byte offset in Name
	Why  string
	Near []string // names that look alike
}

func (e *MeasureError) Error() string { return e.Why }
