package retrieve

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"time"

	"github.com/qdrant/go-client/qdrant"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/goldgen/goldgen/corpus"
)

// filter is what a query may see, in Qdrant's words; nil where everything.
func (c QdrantConfig) filter(q Query) (*qdrant.Filter, error) {
	must := c.scopeConditions(q.Scope)
	for _, f := range q.Filters {
		condition, err := c.condition(f)
		if err != nil {
			return nil, fmt.Errorf("filter %s: %w", f.Field, err)
		}
		must = append(must, condition)
	}
	if q.AsOf != nil {
		at := timestamppb.New(*q.AsOf)
		from, to := c.payloadKey("valid_from"), c.payloadKey("valid_to")
		must = append(must,
			anyOf(qdrant.NewIsEmpty(from), qdrant.NewDatetimeRange(from, &qdrant.DatetimeRange{Lte: at})),
			anyOf(qdrant.NewIsEmpty(to), qdrant.NewDatetimeRange(to, &qdrant.DatetimeRange{Gt: at})))
	}
	if len(must) == 0 {
		return nil, nil
	}
	return &qdrant.Filter{Must: must}, nil
}

// scopeConditions let through, for each key, points without it and those that
// share a value with the asker. Qdrant takes an empty list for a missing key.
func (c QdrantConfig) scopeConditions(scope corpus.Scope) []*qdrant.Condition {
	places := map[string]string{}
	for key := range scope {
		places[key] = "scope." + pathKey(key)
	}
	for key, at := range c.Scope {
		places[key] = at
	}
	var must []*qdrant.Condition
	for _, key := range sortedKeys(places) {
		condition := qdrant.NewIsEmpty(places[key])
		if values := scope[key]; len(values) > 0 {
			condition = anyOf(condition, qdrant.NewMatchKeywords(places[key], values...))
		}
		must = append(must, condition)
	}
	return must
}

var plainKey = regexp.MustCompile(`^[A-Za-z0-9_-]+$`)

// pathKey is a key as a part of a payload path.
func pathKey(key string) string {
	if plainKey.MatchString(key) {
		return key
	}
	return strconv.Quote(key)
}

// payloadKey is where the payload has a field.
func (c QdrantConfig) payloadKey(field string) string {
	if at, ok := c.Fields[field]; ok {
		return at
	}
	if isDate(field) || slices.Contains([]string{"category", "language", "unit", "doc_id"}, field) {
		return field
	}
	return "metadata." + pathKey(field)
}

func anyOf(conditions ...*qdrant.Condition) *qdrant.Condition {
	return qdrant.NewFilterAsCondition(&qdrant.Filter{Should: conditions})
}

func noneOf(condition *qdrant.Condition) *qdrant.Condition {
	return qdrant.NewFilterAsCondition(&qdrant.Filter{MustNot: []*qdrant.Condition{condition}})
}

// condition is a filter as a condition. Points without the field satisfy only
// ne and exists=false.
func (c QdrantConfig) condition(f corpus.Filter) (*qdrant.Condition, error) {
	key := c.payloadKey(f.Field)
	switch f.Op {
	case "exists":
		if len(f.Values) == 0 || f.Values[0] == "true" {
			return noneOf(qdrant.NewIsEmpty(key)), nil
		}
		return qdrant.NewIsEmpty(key), nil
	case "ne":
		same, err := sameAs(f, key)
		return noneOf(same), err
	case "eq", "in":
		return sameAs(f, key)
	}
	return inOrder(f, key)
}

// sameAs is eq and in: payloads may hold whole numbers where goldgen has text.
func sameAs(f corpus.Filter, key string) (*qdrant.Condition, error) {
	if isDate(f.Field) {
		var moments []*qdrant.Condition
		for _, v := range f.Values {
			at, err := corpus.ParseTime(v)
			if err != nil {
				return nil, err
			}
			moments = append(moments, qdrant.NewDatetimeRange(key, &qdrant.DatetimeRange{Gte: timestamppb.New(at), Lte: timestamppb.New(at)}))
		}
		return anyOf(moments...), nil
	}
	var numbers []int64
	for _, v := range f.Values {
		if n, err := strconv.ParseInt(v, 10, 64); err == nil && strconv.FormatInt(n, 10) == v {
			numbers = append(numbers, n)
		}
	}
	keywords := qdrant.NewMatchKeywords(key, f.Values...)
	if len(numbers) == 0 {
		return keywords, nil
	}
	return anyOf(keywords, qdrant.NewMatchInts(key, numbers...)), nil
}

// inOrder is lt, le, gt and ge, which Qdrant has for numbers and dates.
func inOrder(f corpus.Filter, key string) (*qdrant.Condition, error) {
	if isDate(f.Field) {
		at, err := corpus.ParseTime(f.Values[0])
		if err != nil {
			return nil, err
		}
		return qdrant.NewDatetimeRange(key, dateRange(f.Op, at)), nil
	}
	x, err := strconv.ParseFloat(f.Values[0], 64)
	if err != nil {
		return nil, fmt.Errorf("value %q: Qdrant orders numbers and dates only", f.Values[0])
	}
	return qdrant.NewRange(key, numberRange(f.Op, x)), nil
}

func dateRange(op string, t time.Time) *qdrant.DatetimeRange {
	at := timestamppb.New(t)
	switch op {
	case "lt":
		return &qdrant.DatetimeRange{Lt: at}
	case "le":
		return &qdrant.DatetimeRange{Lte: at}
	case "gt":
		return &qdrant.DatetimeRange{Gt: at}
	}
	return &qdrant.DatetimeRange{Gte: at}
}

func numberRange(op string, x float64) *qdrant.Range {
	switch op {
	case "lt":
		return &qdrant.Range{Lt: &x}
	case "le":
		return &qdrant.Range{Lte: &x}
	case "gt":
		return &qdrant.Range{Gt: &x}
	}
	return &qdrant.Range{Gte: &x}
}
