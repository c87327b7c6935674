package audit

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/goldgen/goldgen/review"
)

// Answers are one person's, or everybody's, to some of the questions about a query.
type Answers map[Question]bool

// Valid reports whether the query is valid; known is false while answers that
// could change that are missing.
func (a Answers) Valid() (valid, known bool) {
	for _, yes := range a {
		if !yes {
			return false, true
		}
	}
	return true, a.Complete()
}

// to reads the answer to one question.
func to(q Question) func(Answers) (yes, known bool) {
	return func(a Answers) (yes, known bool) {
		yes, known = a[q]
		return yes, known
	}
}

// Complete reports whether every question is answered.
func (a Answers) Complete() bool { return len(a) == len(Questions()) }

// Person is what one person said, by the key of the item.
type Person struct {
	Name string
	Said map[string]Answers
}

// PersonOf reads a journal. The last answer to a question counts.
func PersonOf(name string, events []review.Event) Person {
	p := Person{Name: name, Said: map[string]Answers{}}
	stand := review.StandOf(name, events)
	for _, e := range stand.Audited() {
		p.say(e.Key, Question(e.Question), *e.Yes)
	}
	return p
}

func (p *Person) say(key string, q Question, yes bool) {
	if p.Said[key] == nil {
		p.Said[key] = Answers{}
	}
	p.Said[key][q] = yes
}

// Answer is a yes or no as it stands in a file of labels; "" is none yet.
type Answer string

// Answers of a file.
const (
	Yes Answer = "yes"
	No  Answer = "no"
)

// ParseAnswer reads what people and spreadsheets write.
func ParseAnswer(text string) (Answer, error) {
	switch strings.ToLower(strings.TrimSpace(text)) {
	case "":
		return "", nil
	case "yes", "y", "true", "1":
		return Yes, nil
	case "no", "n", "false", "0":
		return No, nil
	}
	return "", fmt.Errorf("answer %.40q: want yes or no", text)
}

// UnmarshalJSON takes a string, a boolean, 1 and 0, or null.
func (a *Answer) UnmarshalJSON(data []byte) (err error) {
	text := string(data)
	if text == "null" {
		text = ""
	} else if strings.HasPrefix(text, `"`) {
		if err := json.Unmarshal(data, &text); err != nil {
			return err
		}
	}
	*a, err = ParseAnswer(text)
	return err
}

// answerOf is a question's answer as a file holds it.
func answerOf(a Answers, q Question) Answer {
	yes, said := a[q]
	switch {
	case !said:
		return ""
	case yes:
		return Yes
	}
	return No
}

// Row is a line of a file of labels, as JSON or CSV. What a gate said, and how
// likely the query was to be drawn, is not in it: who sees it labels by it.
type Row struct {
	CaseID        string `json:"case_id"`
	Key           string `json:"key"`
	QueryType     string `json:"query_type"`
	Query         string `json:"query"`
	Asker         string `json:"asker"`    // scope and date, where they are known and matter
	Evidence      string `json:"evidence"` // a line a quote, behind its document
	Answerable    Answer `json:"answerable"`
	SelfContained Answer `json:"self_contained"`
	Natural       Answer `json:"natural"`
	RightType     Answer `json:"right_type"`
	By            string `json:"by"`
	Note          string `json:"note"`
	Sample        string `json:"sample"`

	Where string `json:"-"` // line of the file it was read from
}

// Columns are those of a file of labels as CSV.
func Columns() []string {
	return []string{
		"case_id", "key", "query_type", "query", "asker", "evidence",
		string(Answerable), string(SelfContained), string(Natural), string(RightType), "by", "note", "sample",
	}
}

// Cells are the row in the order of Columns.
func (r *Row) Cells() []string {
	return []string{
		r.CaseID, r.Key, r.QueryType, r.Query, r.Asker, r.Evidence,
		string(r.Answerable), string(r.SelfContained), string(r.Natural), string(r.RightType), r.By, r.Note, r.Sample,
	}
}

// Answer is the cell of a question.
func (r *Row) Answer(q Question) *Answer {
	return map[Question]*Answer{
		Answerable: &r.Answerable, SelfContained: &r.SelfContained, Natural: &r.Natural, RightType: &r.RightType,
	}[q]
}

func (r *Row) answers() Answers {
	out := Answers{}
	for _, q := range Questions() {
		if a := *r.Answer(q); a != "" {
			out[q] = a == Yes
		}
	}
	return out
}

// Rows is a sample as a file to fill in, with what the person has said already.
func (s *Sample) Rows(p Person) []Row {
	var out []Row
	for _, item := range s.distinct() {
		r := Row{
			CaseID: item.CaseID, Key: item.Key, QueryType: item.Type, Query: item.Query, Asker: item.Asker(),
			Evidence: item.Quoted(), Sample: s.Name(),
		}
		if len(p.Said[item.Key]) > 0 {
			r.By = p.Name
		}
		for _, q := range Questions() {
			*r.Answer(q) = answerOf(p.Said[item.Key], q)
		}
		out = append(out, r)
	}
	return out
}

// distinct leaves out items that one label serves as well.
func (s *Sample) distinct() []*Item {
	var out []*Item
	seen := map[string]bool{}
	for i := range s.Items {
		if item := &s.Items[i].Item; !seen[item.Key] {
			seen[item.Key] = true
			out = append(out, item)
		}
	}
	return out
}

// Left is a label that does not count, and why.
type Left struct {
	Where  string `json:"where"`
	CaseID string `json:"case_id"`
	Why    string `json:"why"`
}

// Taken is what became of a file's rows.
type Taken struct {
	People   []Person
	Read     int // rows with an answer
	Empty    int // rows without one
	Replaced int // by a later one of the same person for the same query
	Left     []Left
}

// Take joins the rows of files of labels to the queries of a frame: by key, or by
// case id where a row has no key. ref is what the frame's set is called.
func Take(rows []Row, f *Frame, ref string) Taken {
	t := Taken{Left: []Left{}}
	byKey, byCase := map[string]bool{}, map[string]string{}
	for i := range f.Items {
		byKey[f.Items[i].Key], byCase[f.Items[i].CaseID] = true, f.Items[i].Key
	}
	for i := range rows {
		r := &rows[i]
		answers := r.answers()
		if len(answers) == 0 {
			t.Empty++
			continue
		}
		t.Read++
		key, there := byCase[r.CaseID]
		switch {
		case r.Key != "" && byKey[r.Key]:
			t.say(r.By, r.Key, answers)
		case there && r.Key == "":
			t.say(r.By, key, answers)
		case there:
			t.Left = append(t.Left, Left{r.Where, r.CaseID, "its query or its evidence is another in " + ref})
		default:
			t.Left = append(t.Left, Left{r.Where, r.CaseID, "no such case in " + ref})
		}
	}
	return t
}

func (t *Taken) say(by, key string, a Answers) {
	i := slices.IndexFunc(t.People, func(p Person) bool { return p.Name == by })
	if i < 0 {
		i = len(t.People)
		t.People = append(t.People, Person{Name: by, Said: map[string]Answers{}})
	}
	if t.People[i].Said[key] != nil {
		t.Replaced++
	}
	t.People[i].Said[key] = a
}

// joined is one answer a question: of several people's that of the majority, no
// where they are even.
func joined(people []Person) map[string]Answers {
	votes := map[string]map[Question]int{}
	for _, p := range people {
		for key, answers := range p.Said {
			if votes[key] == nil {
				votes[key] = map[Question]int{}
			}
			for q, yes := range answers {
				if yes {
					votes[key][q]++
				} else {
					votes[key][q]--
				}
			}
		}
	}
	out := make(map[string]Answers, len(votes))
	for key, byQuestion := range votes {
		out[key] = Answers{}
		for q, balance := range byQuestion {
			out[key][q] = balance > 0
		}
	}
	return out
}
