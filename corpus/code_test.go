package corpus_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/goldgen/goldgen/corpus"
)

// cutOf is what a test says of a chunk of code: its kind, heading path and the
// first and last line of its text.
type cutOf struct{ Kind, Path, First, Last string }

// codeChunker cuts by symbols. Making one is cheap; the first text of a language
// takes a while.
func codeChunker(t testing.TB) *corpus.Chunker {
	t.Helper()
	chunker, err := corpus.NewChunker(corpus.Chunking{Method: "code"})
	if err != nil {
		t.Fatal(err)
	}
	return chunker
}

func cutCode(t testing.TB, chunker *corpus.Chunker, id, text string) []corpus.Chunk {
	t.Helper()
	chunks, err := chunker.Chunks(t.Context(), corpus.Document{ID: id, Text: text})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range chunks {
		if c.Text != text[c.Start:c.End] {
			t.Errorf("chunk %s is not bytes %d to %d", c.ID, c.Start, c.End)
		}
	}
	return chunks
}

func cutsOf(chunks []corpus.Chunk) []cutOf {
	var list []cutOf
	for _, c := range chunks {
		lines := strings.Split(c.Text, "\n")
		list = append(list, cutOf{
			c.Metadata[corpus.MetaSymbolKind], strings.Join(c.HeadingPath, " > "),
			strings.TrimSpace(lines[0]), strings.TrimSpace(lines[len(lines)-1]),
		})
	}
	return list
}

const goSource = `// Package shop sells.
package shop

import "fmt"

// limit is how many fit.
const limit = 3

// A Cart holds what is bought.
// It is not safe for concurrent use.
type Cart struct {
	items []string // in order
} // end of cart

// detached comment

type (
	// Price is in cents.
	Price int
	// Payer pays.
	Payer interface{ Pay(Price) error }
)

//go:noinline
// Add puts an item into the cart.
func (c *Cart) Add(item string) { c.items = append(c.items, item) }

func (s Set[K, V]) Has(k K) bool {
	check := func() bool { return true }
	return check()
}

func main() { fmt.Println(limit) }
`

const pythonSource = `"""Sells things."""
import os

LIMIT = 3  # how many fit

# Holds what is bought.
@dataclass
class Cart:
    """A cart."""
    items: list

    # Puts an item in.
    @property
    def add(self, item):
        """Adds an item."""
        def inner():
            pass
        self.items.append(item)

    size = 3

    class Line:
        def total(self): return 1

async def buy(cart):  # at once
    return [x async for x in cart]

if os.name == "nt":
    def sep(): return ";"
`

const typescriptSource = `import { a } from "b";

/** How many fit. */
export const limit = 3;

/**
 * Holds what is bought.
 */
@Injectable()
export class Cart<T> extends Base {
  private items: T[] = [];

  /** Adds an item. */
  @Log()
  async add(item: T): Promise<void> {
    const inner = () => 1;
    this.items.push(item);
  }

  onClick = (e: Event) => { this.add(e as any); };
}

export interface Price { cents: number }
export type Id = string | number;
declare enum Colour { Red }
export default function pay(p: Price) { return p; }
export const total = (xs: number[]) => xs.length; // sums up
namespace Deep.Down { export function f() {} }
describe("cart", () => { function helper() {} });
`

const javaSource = `package com.acme.shop;

import java.util.List;

/**
 * Holds what is bought.
 */
@Entity
public class Cart<T> implements Bag {
    private int n = 3;

    /** Makes one. */
    public Cart() { }

    @Override
    public void add(T item) {
        new Thread(new Runnable() { public void run() { } }).start();
    }

    enum Colour { RED, BLUE }

    static final Runnable NOTHING = () -> { };
}

interface Payer { /** Pays. */ void pay(int cents); }
record Point(int x, int y) { Point { } }
`

func TestCodeChunks(t *testing.T) {
	chunker := codeChunker(t)
	for name, c := range map[string]struct {
		id, text string
		want     []cutOf
	}{
		"go": {"shop/cart.go", goSource, []cutOf{
			{"", "shop", "// Package shop sells.", "const limit = 3"},
			{"struct", "shop > Cart", "// A Cart holds what is bought.", "} // end of cart"},
			{"", "shop", "// detached comment", "// detached comment"},
			{"type", "shop > Price", "type (", "Price int"},
			{"interface", "shop > Payer", "// Payer pays.", "Payer interface{ Pay(Price) error }"},
			{"method", "shop > Cart > Add", "//go:noinline", "func (c *Cart) Add(item string) { c.items = append(c.items, item) }"},
			{"method", "shop > Set > Has", "func (s Set[K, V]) Has(k K) bool {", "}"},
			{"function", "shop > main", "func main() { fmt.Println(limit) }", "func main() { fmt.Println(limit) }"},
		}},
		"python": {"shop/cart.py", pythonSource, []cutOf{
			{"", "shop.cart", `"""Sells things."""`, "LIMIT = 3  # how many fit"},
			{"class", "shop.cart > Cart", "# Holds what is bought.", "items: list"},
			{"method", "shop.cart > Cart > add", "# Puts an item in.", "self.items.append(item)"},
			{"", "shop.cart > Cart", "size = 3", "size = 3"},
			{"class", "shop.cart > Cart > Line", "class Line:", "class Line:"},
			{"method", "shop.cart > Cart > Line > total", "def total(self): return 1", "def total(self): return 1"},
			{"function", "shop.cart > buy", "async def buy(cart):  # at once", "return [x async for x in cart]"},
			{"", "shop.cart", `if os.name == "nt":`, `if os.name == "nt":`},
			{"function", "shop.cart > sep", `def sep(): return ";"`, `def sep(): return ";"`},
		}},
		"typescript": {"shop/cart.ts", typescriptSource, []cutOf{
			{"", "shop/cart", `import { a } from "b";`, "export const limit = 3;"},
			{"class", "shop/cart > Cart", "/**", "private items: T[] = [];"},
			{"method", "shop/cart > Cart > add", "/** Adds an item. */", "}"},
			{"method", "shop/cart > Cart > onClick", "onClick = (e: Event) => { this.add(e as any); }", "onClick = (e: Event) => { this.add(e as any); }"},
			{"interface", "shop/cart > Price", "export interface Price { cents: number }", "export interface Price { cents: number }"},
			{"type", "shop/cart > Id", "export type Id = string | number;", "export type Id = string | number;"},
			{"enum", "shop/cart > Colour", "declare enum Colour { Red }", "declare enum Colour { Red }"},
			{"function", "shop/cart > pay", "export default function pay(p: Price) { return p; }", "export default function pay(p: Price) { return p; }"},
			{"function", "shop/cart > total", "export const total = (xs: number[]) => xs.length; // sums up", "export const total = (xs: number[]) => xs.length; // sums up"},
			{"namespace", "shop/cart > Deep.Down", "namespace Deep.Down {", "namespace Deep.Down {"},
			{"function", "shop/cart > Deep.Down > f", "export function f() {}", "export function f() {}"},
			{"", "shop/cart", `describe("cart", () => { function helper() {} });`, `describe("cart", () => { function helper() {} });`},
		}},
		"java": {"shop/Cart.java", javaSource, []cutOf{
			{"", "com.acme.shop", "package com.acme.shop;", "import java.util.List;"},
			{"class", "com.acme.shop > Cart", "/**", "private int n = 3;"},
			{"constructor", "com.acme.shop > Cart > Cart", "/** Makes one. */", "public Cart() { }"},
			{"method", "com.acme.shop > Cart > add", "@Override", "}"},
			{"enum", "com.acme.shop > Cart > Colour", "enum Colour { RED, BLUE }", "enum Colour { RED, BLUE }"},
			{"", "com.acme.shop > Cart", "static final Runnable NOTHING = () -> { };", "}"},
			{"interface", "com.acme.shop > Payer", "interface Payer {", "interface Payer {"},
			{"method", "com.acme.shop > Payer > pay", "/** Pays. */ void pay(int cents);", "/** Pays. */ void pay(int cents);"},
			{"record", "com.acme.shop > Point", "record Point(int x, int y) {", "record Point(int x, int y) {"},
			{"constructor", "com.acme.shop > Point > Point", "Point { }", "Point { }"},
		}},
	} {
		t.Run(name, func(t *testing.T) {
			chunks := cutCode(t, chunker, c.id, c.text)
			if diff := cmp.Diff(c.want, cutsOf(chunks)); diff != "" {
				t.Error(diff)
			}
			for _, chunk := range chunks {
				symbol := chunk.Metadata[corpus.MetaSymbolKind] != ""
				if symbol != (chunk.Unit == corpus.UnitCodeSymbol) || chunk.Metadata[corpus.MetaCodeLanguage] != name {
					t.Errorf("chunk %s: unit %s, metadata %v", chunk.ID, chunk.Unit, chunk.Metadata)
				}
			}
		})
	}
}

func TestCodeThatDoesNotParse(t *testing.T) {
	chunker := codeChunker(t)
	for id, c := range map[string]struct{ text, want string }{
		"a.go":    {"package a\n\nfunc f( {}\n", "a.go:3:9: does not parse as Go"},
		"a.py":    {"x = 1\ndef f(:\n    pass\n", "a.py:2:7: does not parse as Python"},
		"a.ts":    {"class A {\n  f( {}\n", "a.ts:1:1: does not parse as TypeScript"},
		"a.tsx":   {"const a = <b>;\n", "a.tsx:1:1: does not parse as TypeScript"},
		"A.java":  {"class A { void f() { int = 3; } }", "A.java:1:25: does not parse as Java"},
		"none.go": {"", "none.go:1:1: does not parse as Go"},
	} {
		t.Run(id, func(t *testing.T) {
			chunks, err := chunker.Chunks(t.Context(), corpus.Document{ID: id, Text: c.text})
			if err == nil || err.Error() != c.want || chunks != nil {
				t.Errorf("%d chunks, error %v, want %s", len(chunks), err, c.want)
			}
		})
	}
}
