package sample_test

import (
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/parquet-go/parquet-go"
	"pgregory.net/rapid"

	"github.com/goldgen/goldgen/sample"
)

// logFile writes a log of that name.
func logFile(t testing.TB, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

// read gives a log's records, each as its query, count and clicks, and its bad
// ones without the folder.
func read(t testing.TB, path string, fields map[string]string) (good, bad []string, end error) {
	t.Helper()
	for s, err := range sample.ReadLog(path, fields) {
		if b, ok := errors.AsType[*sample.BadRecord](err); ok {
			bad = append(bad, strings.TrimPrefix(b.Error(), filepath.Dir(path)+"/"))
			continue
		}
		if err != nil {
			return good, bad, err
		}
		good = append(good, fmt.Sprintf("%s x%d %s", s.Query, s.Count, strings.Join(s.Clicked, ",")))
	}
	return good, bad, nil
}

func TestReadLog(t *testing.T) {
	long := strings.Repeat("x", 10<<20)
	for _, tc := range []struct {
		name, file, text string
		fields           map[string]string
		good, bad        []string
	}{
		{
			name: "JSON lines", file: "log.jsonl",
			text: "\ufeff" + `{"query":"a","count":3,"clicked":["d2","d1"]}` + "\r\n\n" + `{"q":"b","n":"2","cited":"d1"}`,
			good: []string{"a x3 d1,d2", "b x2 d1"},
		},
		{
			name: "names of its own", file: "log.ndjson", text: `{"event":{"term":"a","hits":2}}`,
			fields: map[string]string{"query": "event.term", "count": "event.hits"}, good: []string{"a x2 "},
		},
		{
			name: "broken lines", file: "log.jsonl",
			text: `{"query":"a"}` + "\n" + `{"query":` + "\n[1]\n{\"query\":\"\xff\"}\n" + `{"query":"b","count":-1}` + "\n" +
				`{"query":"c","time":"yesterday"}` + "\n" + `{"query":["d"]}` + "\n" + `{"query":"` + long + `"}` + "\n" + `{"query":"z"}`,
			good: []string{"a x1 ", "z x1 "},
			bad: []string{
				"log.jsonl:2: JSON ends too early", "log.jsonl:3: want a JSON object, not array", "log.jsonl:4: not UTF-8",
				`log.jsonl:5: field "count": want a whole number from 1, not "-1"`,
				`log.jsonl:6: field "time": time "yesterday": want a date such as 2026-01-31 or RFC 3339`,
				`log.jsonl:7: field "query": want a string, not ["d"]`,
				fmt.Sprintf("log.jsonl:8: a line of %d bytes, more than 1048576", len(long)+13),
			},
		},
		{
			name: "CSV with quotes and line ends", file: "log.csv",
			text: "query,count,clicked\n\"say \"\"hi\"\"\nto me, please\",2,d1;d2\nplain,,\n",
			good: []string{"say \"hi\"\nto me, please x2 d1,d2", "plain x1 "},
		},
		{name: "semicolons", file: "log.csv", text: "q;n\na;2\n", good: []string{"a x2 "}},
		{
			name: "CSV that is broken", file: "log.csv",
			text: "query,count\nalpha,1\n\"open,2\nbeta,3\nextra,1,2\n" + long + ",1\n\xff,1\ngamma,4\na\"b\"c,1\n",
			good: []string{"alpha x1 ", "beta x3 ", "gamma x4 "},
			bad: []string{
				"log.csv:3: a quoted field does not end within 65536 bytes", "log.csv:5: 3 columns, the header has 2",
				fmt.Sprintf("log.csv:6: a line of %d bytes, more than 1048576", len(long)+3), "log.csv:7: not UTF-8",
				`log.csv:9: bare " in non-quoted-field`,
			},
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			good, bad, err := read(t, logFile(t, tc.file, tc.text), tc.fields)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.good, good); diff != "" {
				t.Errorf("records (-want +got):\n%s", diff)
			}
			for i, why := range bad { // of some the library's own words follow
				if i < len(tc.bad) && strings.HasPrefix(why, tc.bad[i]) {
					bad[i] = tc.bad[i]
				}
			}
			if diff := cmp.Diff(tc.bad, bad); diff != "" {
				t.Errorf("bad ones (-want +got):\n%s", diff)
			}
		})
	}
}

func TestReadLogRefuses(t *testing.T) {
	for _, tc := range []struct{ name, file, text, want string }{
		{"another kind of file", "log.txt", "a\n", "a query log is a .jsonl, .csv or .parquet file"},
		{"UTF-16", "log.csv", "\xff\xfeq\x00", "it is UTF-16, want UTF-8"},
		{"a CSV file without the column", "log.csv", "term,count\na,1\n", `no column "query" (it has term, count)`},
		{"UTF-16 without a mark", "log.csv", "q\x00u\x00e\x00r\x00y\x00\n\x00", "it is UTF-16LE, want UTF-8"},
		{"UTF-16 of the other kind", "log.jsonl", "\x00{\x00\"\x00q\x00\"", "it is UTF-16BE, want UTF-8"},
		{"an empty CSV file", "log.csv", "", "it is empty"},
		{"no Parquet", "log.parquet", "PAR1", "log.parquet"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			good, _, err := read(t, logFile(t, tc.file, tc.text), nil)
			if err == nil || !strings.Contains(err.Error(), tc.want) || len(good) > 0 {
				t.Errorf("got %v after %q, want %q", err, good, tc.want)
			}
		})
	}
}

// What a header names says what divides its columns.
func TestReadLogTakesWhatDividesColumns(t *testing.T) {
	for _, text := range []string{
		"query;count\n\"open, now\";3\n", "query;count,all;count\nopen, now;1;3\n", "count\tquery\n3\topen, now\n", "count,query\n3,\"open, now\"\n",
	} {
		good, bad, err := read(t, logFile(t, "log.csv", text), nil)
		if diff := cmp.Diff([]string{"open, now x3 "}, good); diff != "" || len(bad) > 0 || err != nil {
			t.Errorf("%q: %v, bad %q, records (-want +got):\n%s", text, err, bad, diff)
		}
	}
	_, bad, err := read(t, logFile(t, "log.csv", "query\nopen\x00now\n"), nil)
	if diff := cmp.Diff([]string{`log.csv:2: field "query": it has a NUL byte`}, bad); diff != "" || err != nil {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
}

func TestReadLogParquet(t *testing.T) {
	type row struct {
		Search string   `parquet:"search"`
		N      int64    `parquet:"n"`
		Opened []string `parquet:"opened,list"`
	}
	path := filepath.Join(t.TempDir(), "log.parquet")
	if err := parquet.WriteFile(path, []row{{"a", 2, []string{"d1"}}, {"b", 0, nil}}); err != nil {
		t.Fatal(err)
	}
	good, bad, err := read(t, path, map[string]string{"query": "search", "count": "n", "clicked": "opened"})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"a x2 d1"}, good); diff != "" || len(bad) != 1 || !strings.Contains(bad[0], "row 1") {
		t.Errorf("bad: %q; records (-want +got):\n%s", bad, diff)
	}
	if _, _, err := read(t, path, nil); err == nil || !strings.Contains(err.Error(), `no column "query" (it has search, n, opened)`) {
		t.Errorf("without a mapping: %v", err)
	}
}

func FuzzReadLog(f *testing.F) {
	f.Add("log.csv", "query,count\n\"a\nb\",1\n\"open,1\n")
	f.Add("log.jsonl", `{"query":"a"}`+"\n{")
	f.Fuzz(func(t *testing.T, name, text string) {
		if name = filepath.Base(name); filepath.Ext(name) == ".parquet" {
			t.Skip("parquet-go's own fuzzing")
		}
		path := filepath.Join(t.TempDir(), "log"+filepath.Ext(strings.ReplaceAll(name, "\x00", "")))
		if os.WriteFile(path, []byte(text), 0o644) != nil {
			t.Skip("no such name")
		}
		good, bad, _ := read(t, path, nil)
		if lines := strings.Count(text, "\n") + 1; len(good)+len(bad) > lines {
			t.Errorf("%d records of %d lines", len(good)+len(bad), lines)
		}
	})
}

// Counts that no int can hold together stay the greatest one, and never turn
// negative.
func TestCountsOfALogThatOverflow(t *testing.T) {
	huge := fmt.Sprint(math.MaxInt)
	path := logFile(t, "log.csv", "query,count,clicked\nzebra crossing,"+huge+",d1\nZebra Crossing!,"+huge+",d1\ncrossing zebra,5,d1\nzoo,3,d2\n")
	o := sample.Defaults()
	o.Queries, o.QueryShare, o.Cases = path, 1, 2
	p, err := sample.DrawLog(t.Context(), path, o)
	if err != nil {
		t.Fatal(err)
	}
	counts := map[string]int{}
	for _, r := range p.Rows {
		counts[r.Query] = r.Asked.Count
	}
	if diff := cmp.Diff(map[string]int{"zebra crossing": math.MaxInt, "zoo": 3}, counts); diff != "" {
		t.Errorf("counts (-want +got):\n%s", diff)
	}
	if p.Summary.Searches != math.MaxInt || p.Summary.Bands[0].Searches != math.MaxInt {
		t.Errorf("searches: %+v", p.Summary)
	}
}

func TestPersonal(t *testing.T) {
	for _, tc := range []struct {
		query string
		want  []string
	}{
		{"invoice for ann.lee+x@example.co.uk please", []string{"mail"}},
		{"ann＠example.com", []string{"mail"}},
		{"4111 1111 1111 1111 declined", []string{"card"}},
		{"card 5500-0000-0000-0004", []string{"card"}},
		{"order 4111 1111 1111 1112", nil}, // the check digit is wrong
		{"+49 171 2345678 unreachable", []string{"phone"}},
		{"call (415) 555-2671", []string{"phone"}},
		{"0171 2345678", []string{"phone"}},
		{"tel 4155552671", []string{"phone"}},
		{"AKIAIOSFODNN7EXAMPLE rejected", []string{"key"}},
		{"password: hunter22", []string{"key"}},
		{"postgres://me:secret@db/x", []string{"key"}},
		{"eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0 expired", []string{"key"}},
		{"9f86d081884c7d659a2feaa0c55ad015", []string{"key"}},
		{"a@b.com or +1 415 555 2671", []string{"mail", "phone"}},
		{"curl -H 'Authorization: Bearer 3f9aK2mPq7' fails", []string{"key"}},
		{"Authorization: Basic dXNlcjpwYXNz", []string{"key"}},
		{"bearer ya29.a0AfH6SMBx7 is refused", []string{"key"}},
		{"authorization=Zm9vYmFyYmF6 in the url", []string{"key"}},
		{"refund to DE89 3704 0044 0532 0130 00 please", []string{"iban"}},
		{"gb82west12345698765432", []string{"iban"}},
		{"BE68-5390-0754-7034 when", []string{"iban"}},
		{"tel-0171-2345678", []string{"phone"}},
		{"my order +49 171 2345678", []string{"phone"}},
		{"bearer\tya29.a0AfH6SMBx7", []string{"key"}},
		{"phone: 0261 230 057", []string{"phone"}},
		{"order by phone 0261 230 057", []string{"phone"}},
		{"the bearer authentication scheme", nil},
		{"authorization: which roles are there", nil},
		{"basic configuration of the proxy", nil},
		{"bearer tokens expire", nil},
		{"refund to GB82 WEST 1234 5698 7654 31", nil}, // the check digits are wrong
		{"part number 0261 230 057", nil},
		{"Teilenummer 0580464121", nil},
		{"Artikel-Nr. 0441 122 3344", nil},
		{"spare for XK-0123-4567-89", nil},
		{"EAN 4006381333931 in stock", nil},
		{"4006381333931", nil},
		{"isbn 978-3-16-148410-0", nil},
		{"sku: 800-555-1234", nil},
		{"reset password", nil},
		{"error 0x80070005 since 2024-01-31", nil},
		{"release 10.0.19045.3803", nil},
		{"port 8080 to 9090", nil},
		{"how do I pass a token to the api", nil},
		{"EnterpriseConfigurationServiceProviderFactory", nil},
		{"ISO 27001 2022", nil},
	} {
		if diff := cmp.Diff(tc.want, sample.Personal(tc.query)); diff != "" {
			t.Errorf("%q (-want +got):\n%s", tc.query, diff)
		}
	}
}

func logOptions(cases int) sample.Options {
	o := sample.Defaults()
	o.Cases, o.Queries, o.QueryShare = cases, "log", 1
	return o
}

func drawLog(t testing.TB, path string, o sample.Options) *sample.LogPlan {
	t.Helper()
	plan, err := sample.DrawLog(t.Context(), path, o)
	if err != nil {
		t.Fatal(err)
	}
	return plan
}

func TestDrawLogFoldsAndClusters(t *testing.T) {
	path := logFile(t, "log.csv", `query,count,time,clicked
How do I reset my password?,5,2026-02-01,d1
how do i  reset my PASSWORD,2,2026-03-01,d2
password resets,1,2026-01-01,d1
export CSV to JSON,2,,
export JSON to CSV,2,,
mail to bob@example.com,9,,
!!!,1,,
`)
	o := logOptions(10)
	o.QueryBands = map[string]float64{"head": 1}
	plan := drawLog(t, path, o)
	var got []string
	for _, r := range plan.Rows {
		got = append(got, fmt.Sprintf("%s: %s x%d in %d, clicked %v", r.Stratum, r.Query, r.Asked.Count, r.Asked.Wording, r.Asked.Clicked))
	}
	// A band without a share gives none, so the shortfall is said.
	want := []string{"log=head: How do I reset my password? x8 in 2, clicked [d1 d2]"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("rows (-want +got):\n%s", diff)
	}
	if first, last := plan.Rows[0].Asked.First, plan.Rows[0].Asked.Last; first.Format("2006-01") != "2026-01" || last.Format("2006-01") != "2026-03" {
		t.Errorf("asked from %v to %v", first, last)
	}
	s := plan.Summary
	if s.Records != 7 || s.Searches != 12 || s.Distinct != 4 || s.Clusters != 3 || s.Personal["mail"] != 1 || s.Dropped["empty"] != 1 {
		t.Errorf("summary: %+v", s)
	}
	if len(plan.Shortfall) != 1 || plan.Shortfall[0].Stratum != "log=head" || plan.Shortfall[0].Got != 1 {
		t.Errorf("shortfall: %+v", plan.Shortfall)
	}
}

// A log with a few frequent queries and many rare ones.
func skewed(head, torso, tail int) string {
	var b strings.Builder
	b.WriteString("query,count\n")
	for n, of := range []int{head, torso, tail} {
		for i := range of {
			fmt.Fprintf(&b, "%c%d %c%d,%d\n", 'a'+n, i, 'k'+n, i, []int{90, 9, 1}[n])
		}
	}
	return b.String()
}

func TestDrawLogByBands(t *testing.T) {
	path := logFile(t, "log.csv", skewed(10, 100, 900))
	o := logOptions(20)
	o.QueryBands = map[string]float64{"head": .25, "torso": .25, "tail": .5}
	plan := drawLog(t, path, o)
	got := map[string]int{}
	for _, r := range plan.Rows {
		if !r.Reserve {
			got[r.Stratum+" "+r.Query[:1]]++
		}
	}
	want := map[string]int{"log=head a": 5, "log=torso b": 5, "log=tail c": 10}
	if diff := cmp.Diff(want, got); diff != "" || len(plan.Shortfall) != 0 {
		t.Errorf("shortfall %v, main rows (-want +got):\n%s", plan.Shortfall, diff)
	}
	if diff := cmp.Diff(plan, drawLog(t, path, o)); diff != "" {
		t.Errorf("a second draw differs:\n%s", diff)
	}
	o.Seed++
	if diff := cmp.Diff(plan.Rows, drawLog(t, path, o).Rows); diff == "" {
		t.Error("another seed draws the same")
	}
}

func TestDrawLogWithoutUsableQueries(t *testing.T) {
	path := logFile(t, "log.jsonl", "{\n{\"query\":\"bob@example.com\"}\n")
	_, err := sample.DrawLog(t.Context(), path, logOptions(5))
	if !errors.Is(err, sample.ErrNoQueries) || !strings.Contains(err.Error(), "2 records, 1 cannot be read, 1 hold personal data") {
		t.Errorf("got %v", err)
	}
	if strings.Contains(err.Error(), "bob") {
		t.Errorf("the error tells the query: %v", err)
	}
}

// Nothing of personal data is left in a plan, wherever in a query it stands.
func TestNoPersonalDataInAPlan(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		secret := rapid.SampledFrom([]string{"kim@example.org", "4111111111111111", "+4915112345678", "ghp_abcdefghijklmnopqrstuvwxyz0123456789"}).Draw(rt, "secret")
		before := rapid.StringMatching(`[a-z ]{0,12}`).Draw(rt, "before")
		path := logFile(t, "log.csv", "query\nsafe words\n"+before+" "+secret+" after\n")
		plan, err := sample.DrawLog(t.Context(), path, logOptions(5))
		if err != nil {
			rt.Fatal(err)
		}
		if text := fmt.Sprintf("%+v", plan); strings.Contains(text, secret) {
			rt.Errorf("%q got through", secret)
		}
	})
}

func TestLogOptionsNameWhatCannotBe(t *testing.T) {
	for want, change := range map[string]func(*sample.Options){
		`sample.query_fields: unknown field "term"`:                func(o *sample.Options) { o.QueryFields = map[string]string{"term": "t"} },
		"sample.query_share: 1.5 is not between 0 and 1":           func(o *sample.Options) { o.QueryShare = 1.5 },
		"sample.query_bands: the shares sum to 0.5, not to 1":      func(o *sample.Options) { o.QueryBands = map[string]float64{"head": .5} },
		`sample.query_bands: unknown "body", valid are head`:       func(o *sample.Options) { o.QueryBands = map[string]float64{"body": 1} },
		"sample.query_bands: share -1 of head is not between 0 an": func(o *sample.Options) { o.QueryBands = map[string]float64{"head": -1, "tail": 2} },
	} {
		o := logOptions(5)
		change(&o)
		if err := o.Validate(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
}

// Of more wordings than are kept, the frequent ones are all there and the rare
// ones are a sample.
func TestDrawLogOfManyWordings(t *testing.T) {
	if testing.Short() {
		t.Skip("half a million wordings")
	}
	const rare = 540_000
	var b strings.Builder
	b.WriteString("query,count\n")
	for i := range rare {
		fmt.Fprintf(&b, "rare thing %d,1\n", i)
		if i%1000 == 0 {
			fmt.Fprintf(&b, "often %d,50\n", i/54_000)
		}
	}
	o := logOptions(10)
	o.QueryBands = map[string]float64{"head": .5, "tail": .5}
	plan := drawLog(t, logFile(t, "log.csv", b.String()), o)
	s := plan.Summary
	if !s.Sampled || s.Distinct > 1<<19 || s.Searches != rare+27_000 {
		t.Errorf("summary: %+v", s)
	}
	for _, r := range plan.Rows {
		if often := strings.HasPrefix(r.Query, "often"); often && r.Asked.Count != 54*50 || !often && r.Asked.Count != 1 {
			t.Errorf("%s: %q was asked %d times", r.Stratum, r.Query, r.Asked.Count)
		}
	}
}
