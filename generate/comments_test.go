package generate_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/goldgen/goldgen/corpus"
	"github.com/goldgen/goldgen/datasets"
	"github.com/goldgen/goldgen/generate"
)

// symbol is a unit about a function.
func symbol(language, code string) generate.Unit {
	u := whole("shop/cart", code, datasets.Factual)
	u.Chunks[0].Unit = corpus.UnitCodeSymbol
	u.Chunks[0].HeadingPath = []string{"shop", "Cart", "Add"}
	u.Chunks[0].Metadata = map[string]string{corpus.MetaCodeLanguage: language, "symbol_kind": "function"}
	return u
}

const goAdd = `// Add puts an article into the cart of a customer and
// counts it against the stock of the nearest warehouse.
//
// Deprecated: use Put.
//
//go:noinline
func (c *Cart) Add(a Article) error {
	url := "https://shop.example/add" // Every article is also reported to the warehouse in the background.
	log.Print("// This text in a string is no comment that could be asked about.")
	return c.put(a, url)
}
`

const pythonAdd = `@logged
def add(self, article):
    """Put an article into the cart of a customer.

    The article is counted against the stock
    of the nearest warehouse until the customer pays.

    :param article: the article that the customer
        wants to have in the cart at the end of the day.
    """
    # Reserved articles are given back to the warehouse
    # when a customer has not paid after thirty minutes.
    text = """
    Nobody asks about the words of a string that is no documentation."""
    return self.put(article, text)
`

const javaAdd = `/**
 * Puts an article into the cart of a customer and
 * counts it against the stock of the warehouse.
 *
 * @param article the article that the customer wants
 *     to have in the cart at the end of the day.
 * @return the number of articles that the customer now has in the cart.
 */
int add(Article article) {
    char quote = '"'; /* A customer who has not paid loses the articles after thirty minutes. */
    return put(article, "/* no comment at all, although it looks like one to a careless reader. */");
}
`

const typescriptAdd = "export function add(article: Article): number {\n" +
	"  const sql = `-- // Not a comment of the program but a part of a template string.`;\n" +
	"  // Articles of other shops are put into the cart without looking at the stock.\n" +
	"  return put(article, sql);\n}\n"

// asksAbout lists the sentences that a symbol's queries are written about, slot by
// slot.
func asksAbout(t *testing.T, u generate.Unit) (quotes []string) {
	t.Helper()
	for ; ; u.Row.Slot++ {
		quote := evidenceOf(t, u)
		if quote == generate.ReasonNoTarget {
			return quotes
		}
		quotes = append(quotes, quote)
	}
}

func TestCodeIsAskedAboutByItsComments(t *testing.T) {
	for _, tc := range []struct {
		language, code string
		want           []string
	}{
		{"go", goAdd, []string{
			"Add puts an article into the cart of a customer and\n// counts it against the stock of the nearest warehouse.",
			"Every article is also reported to the warehouse in the background.",
		}},
		{"python", pythonAdd, []string{
			"Put an article into the cart of a customer.",
			"The article is counted against the stock\n    of the nearest warehouse until the customer pays.",
			"Reserved articles are given back to the warehouse\n    # when a customer has not paid after thirty minutes.",
		}},
		{"java", javaAdd, []string{
			"Puts an article into the cart of a customer and\n * counts it against the stock of the warehouse.",
			"A customer who has not paid loses the articles after thirty minutes.",
		}},
		{"typescript", typescriptAdd, []string{
			"Articles of other shops are put into the cart without looking at the stock.",
		}},
		{"go", "func (c *Cart) Add(a Article) error {\n\tpanic(\"nobody may put an article into a cart that is closed.\")\n}\n", nil},
		{"python", "# Copyright 2026 of the people who made this shop and all of its parts.\n", nil},
	} {
		t.Run(tc.language, func(t *testing.T) {
			u := symbol(tc.language, tc.code)
			got := asksAbout(t, u)
			if diff := cmp.Diff(tc.want, got, cmpopts.SortSlices(strings.Compare)); diff != "" {
				t.Errorf("sentences (-want +got):\n%s", diff)
			}
		})
	}
}

// The model reads a comment as people do, and that of a function before those in
// it.
func TestTheModelReadsCommentsWithoutMarks(t *testing.T) {
	u := symbol("go", goAdd)
	prompt := promptOf(t, u)
	contains(t, prompt, "<sentence>\nAdd puts an article into the cart of a customer and counts it against the stock of the nearest warehouse.\n</sentence>")
}

func TestAQuoteOfACommentIsFoundInTheCode(t *testing.T) {
	o := options()
	o.Evidence = generate.EvidenceQuote
	reply := `{"quotes":["The article is counted against the stock of the nearest warehouse until the customer pays.",` +
		`"Reserved articles are given back to the warehouse when a customer has not paid after thirty minutes."],"question":"How long does a shop hold goods back for somebody who never orders?"}`
	u := symbol("python", pythonAdd)
	got := write(t, newModel(t, says(reply, .9), o, pythonAdd), u)
	if got.Case == nil {
		t.Fatalf("rejected: %+v", got.Reject)
	}
	var quotes []string
	for _, e := range got.Case.Evidence {
		if u.Doc.Text[e.Start:e.End] != e.Quote {
			t.Errorf("[%d,%d) is not %q", e.Start, e.End, e.Quote)
		}
		quotes = append(quotes, e.Quote)
	}
	want := []string{
		"The article is counted against the stock\n    of the nearest warehouse until the customer pays.",
		"Reserved articles are given back to the warehouse\n    # when a customer has not paid after thirty minutes.",
	}
	if diff := cmp.Diff(want, quotes); diff != "" {
		t.Errorf("quotes (-want +got):\n%s", diff)
	}
}

// Whatever the code is, evidence is the file's bytes, and nothing panics.
func TestCommentOffsets(t *testing.T) {
	parts := []string{
		goAdd, pythonAdd, javaAdd, typescriptAdd, "/*", "*/", "/**/", `"""`, "'''", `""""""`, "`", `"`, "'", `\`, "//", "#", "#!", "\n", "\r\n",
		"// ", "  * ", ":", "x", "Größe: Łódź 🧰 is where the shop keeps all of its articles in the cold winter. ", "@param x y", " ",
	}
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Join(rapid.SliceOfN(rapid.SampledFrom(parts), 1, 12).Draw(t, "parts"), "")
		u := symbol(rapid.SampledFrom([]string{"go", "python", "java", "typescript"}).Draw(t, "language"), text)
		checkWritten(t, u, text, `{"question":"x"}`)
	})
}
