// Package browsertest drives a real Chromium in tests of pages: it finds and
// starts one, sees a page as different people do, and looks for barriers.
package browsertest

import (
	"cmp"
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// Start starts a Chromium that resolves no name, so that nothing can be fetched
// but from this machine by number. It skips the test where there is none, but
// not in CI. The browser ends with the test.
func Start(t *testing.T) context.Context {
	t.Helper()
	if testing.Short() {
		t.Skip("starts a browser")
	}
	options := append(chromedp.DefaultExecAllocatorOptions[:],
		chromedp.ExecPath(find(t)), chromedp.NoSandbox, chromedp.Flag("host-resolver-rules", "MAP * ~NOTFOUND, EXCLUDE 127.0.0.1"))
	ctx, stop := context.WithTimeout(t.Context(), 3*time.Minute)
	t.Cleanup(stop)
	ctx, stop = chromedp.NewExecAllocator(ctx, options...)
	t.Cleanup(stop)
	return Tab(t, ctx)
}

// Tab opens a further tab of a browser that Start started.
func Tab(t *testing.T, ctx context.Context) context.Context {
	t.Helper()
	ctx, stop := chromedp.NewContext(ctx)
	t.Cleanup(stop)
	if err := chromedp.Do(ctx); err != nil {
		t.Fatal(err)
	}
	return ctx
}

func find(t *testing.T) string {
	t.Helper()
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	absent(t, "no Chromium on this machine")
	return ""
}

// absent skips a test for want of something, and fails in CI.
func absent(t *testing.T, what string) {
	t.Helper()
	if os.Getenv("CI") == "true" {
		t.Fatal(what)
	}
	t.Skip(what)
}

// Ask evaluates an expression in the page.
func Ask[T any](t *testing.T, ctx context.Context, expression string) T {
	t.Helper()
	v, err := chromedp.Run(ctx, chromedp.Evaluate[T](expression))
	if err != nil {
		t.Fatalf("%s: %v", expression, err)
	}
	return v
}

// Press strikes keys as a keyboard does: a keydown that the page takes for itself
// types nothing. (chromedp.KeyEvent types the character all the same, into
// whatever has the focus by then.)
func Press(t *testing.T, ctx context.Context, keys string) {
	t.Helper()
	err := chromedp.Do(ctx, chromedp.Func(func(ctx context.Context, target *chromedp.Target) error {
		for _, r := range keys {
			for _, event := range strokes(r) {
				if _, err := cdp.Call(ctx, target, input.DispatchKeyEvent, *event); err != nil {
					return err
				}
			}
		}
		return nil
	}))
	if err != nil {
		t.Fatalf("keys %q: %v", keys, err)
	}
}

// strokes are a key's going down, with what it types, and up.
func strokes(r rune) []*input.DispatchKeyEventParams {
	events := kb.Encode(r)
	if len(events) < 3 {
		return events
	}
	down, char, up := events[0], events[1], events[2]
	down.Text, down.UnmodifiedText = char.Text, char.UnmodifiedText
	return []*input.DispatchKeyEventParams{down, up}
}

// Look is one way to see a page.
type Look struct {
	Name   string
	Width  int64  // pixels
	Height int64  // pixels; 900 for 0
	Scheme string // light or dark
	Media  string // screen or print
}

// See opens a page in one way.
func (l Look) See(t *testing.T, ctx context.Context, address string) {
	t.Helper()
	media := emulation.SetEmulatedMediaParams{Media: l.Media, Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: l.Scheme}}}
	err := chromedp.Do(ctx,
		chromedp.EmulateViewport(l.Width, cmp.Or(l.Height, 900)),
		chromedp.Func(func(ctx context.Context, target *chromedp.Target) error {
			_, err := cdp.Call(ctx, target, emulation.SetEmulatedMedia, media)
			return err
		}),
		chromedp.Navigate(address))
	if err != nil {
		t.Fatal(err)
	}
}

// Keep writes a screenshot of the whole page to the folder that
// GOLDGEN_SCREENSHOTS names, for a person to look at.
func Keep(t *testing.T, ctx context.Context, name string) {
	t.Helper()
	dir := os.Getenv("GOLDGEN_SCREENSHOTS")
	if dir == "" {
		return
	}
	png, err := chromedp.Run(ctx, chromedp.FullScreenshot(100))
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, name+".png"), png, 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// TooWide lists what makes a page wider than its screen.
const TooWide = `document.documentElement.scrollWidth <= innerWidth ? [] : [...document.body.querySelectorAll("*")].filter(
	(e) => !e.closest(".hidden, .stack thead") && e.getBoundingClientRect().right > innerWidth).map((e) => e.outerHTML.slice(0, 100)).slice(0, 5)`

// Listen collects what the page's console says from here on; call the answer
// once.
func Listen(t *testing.T, ctx context.Context) func() []string {
	t.Helper()
	own, stop := context.WithCancel(ctx)
	lines := chromedp.Console(own)
	done := make(chan []string, 1)
	go func() {
		var said []string
		for m, err := range lines {
			if err != nil {
				break
			}
			said = append(said, m.String())
		}
		done <- said
	}()
	return func() []string {
		stop()
		return <-done
	}
}

// violation is a rule of axe that a page breaks.
type violation struct {
	ID     string
	Impact string
	Nodes  []string
}

// atRest waits for transitions to end: a colour on its way to another has a
// contrast that nobody gets to read by.
const atRest = `Promise.allSettled(document.getAnimations().map((a) => a.finished)).then(() => true)`

// Axe looks for what keeps people out: GOLDGEN_AXE names the file axe.min.js of
// the npm package axe-core.
func Axe(t *testing.T, ctx context.Context) {
	t.Helper()
	path := os.Getenv("GOLDGEN_AXE")
	if path == "" {
		if os.Getenv("CI") == "true" {
			t.Fatal("GOLDGEN_AXE names no axe.min.js")
		}
		t.Log("not looked for barriers: GOLDGEN_AXE names no axe.min.js")
		return
	}
	source, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	Ask[bool](t, ctx, string(source)+"\n;true")
	if _, err := chromedp.Run(ctx, chromedp.Evaluate[bool](atRest, chromedp.EvalAwaitPromise)); err != nil {
		t.Fatal(err)
	}
	found, err := chromedp.Run(ctx, chromedp.Evaluate[string](`axe.run().then((r) => JSON.stringify(r.violations.map(
		(v) => ({ID: v.id, Impact: v.impact, Nodes: v.nodes.slice(0, 3).map((n) => n.html.slice(0, 200) + " " + n.failureSummary)}))))`, chromedp.EvalAwaitPromise))
	if err != nil {
		t.Fatal(err)
	}
	var violations []violation
	if err := json.Unmarshal([]byte(found), &violations); err != nil {
		t.Fatal(err)
	}
	for _, v := range violations {
		t.Errorf("axe: %s (%s): %q", v.ID, v.Impact, v.Nodes)
	}
}
