package review_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/goldgen/goldgen/review"
)

// serve runs a desk's page until the test ends, and gives its address and token.
func serve(t *testing.T, d review.Desk) (base, token string) {
	t.Helper()
	base, token, _ = serveUntil(t, d)
	return base, token
}

// serveUntil is serve with a function that stops the server and waits for it.
func serveUntil(t *testing.T, d review.Desk) (base, token string, stop func()) {
	t.Helper()
	s, err := review.Listen(t.Context(), 0, rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	u, err := url.Parse(s.URL())
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- s.Serve(ctx, d) }()
	stopped := false
	stop = func() {
		if stopped {
			return
		}
		stopped = true
		cancel()
		if err := <-ended; err != nil {
			t.Errorf("serve: %v", err)
		}
	}
	t.Cleanup(stop)
	return "http://" + u.Host, u.Query().Get("token"), stop
}

// call is one request to the server.
type call struct {
	name   string
	method string
	path   string // %T stands for the token
	host   string // "" for the server's own; %P stands for its port
	header map[string]string
	body   string
	want   int
}

// do sends a call. A header's %T stands for the token, %H for the host.
func (c call) do(t *testing.T, base, token string) (*http.Response, string) {
	t.Helper()
	host := strings.TrimPrefix(base, "http://")
	_, port, _ := net.SplitHostPort(host)
	filled := strings.NewReplacer("%T", token, "%H", host, "%P", port)
	r, err := http.NewRequestWithContext(t.Context(), c.method, base+filled.Replace(c.path), strings.NewReader(c.body))
	if err != nil {
		t.Fatal(err)
	}
	r.Host = filled.Replace(c.host)
	for k, v := range c.header {
		r.Header.Set(k, filled.Replace(v))
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answer, string(text)
}

func with(pairs ...string) map[string]string {
	m := map[string]string{review.TokenHeader: "%T"}
	for i := 0; i < len(pairs); i += 2 {
		m[pairs[i]] = pairs[i+1]
	}
	return m
}

const labelPath, labelBody = "/api/items/0/label", `{"grade":2,"label":"","skip":false}`

func TestWhoIsAnswered(t *testing.T) {
	kind := "Content-Type"
	calls := []call{
		{"the page by its address", "GET", "/?token=%T", "", nil, "", 200},
		{"the page opened from a link", "GET", "/?token=%T", "", map[string]string{"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document"}, "", 200},
		{"the page as localhost", "GET", "/?token=%T", "localhost:%P", nil, "", 200},
		{"the style", "GET", "/page.css", "", nil, "", 200},
		{"the script", "GET", "/page.js", "", map[string]string{"Sec-Fetch-Site": "same-origin"}, "", 200},
		{"a call", "GET", "/api/session", "", with("Sec-Fetch-Site", "same-origin"), "", 200},
		{"a call of a program", "GET", "/api/items/0", "", with(), "", 200},
		{"a label", "POST", labelPath, "", with(kind, "application/json", "Origin", "http://%H", "Sec-Fetch-Site", "same-origin"), labelBody, 200},

		{"the page without a token", "GET", "/", "", nil, "", 403},
		{"the page with another token", "GET", "/?token=A%T", "", nil, "", 403},
		{"the page with the token in a header", "GET", "/", "", with(), "", 403},
		{"the page in a frame of another site", "GET", "/?token=%T", "", map[string]string{"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "iframe"}, "", 403},
		{"the page under another name", "GET", "/?token=%T", "attacker.example:%P", nil, "", 403},
		{"the page under another name and no port", "GET", "/?token=%T", "127.0.0.1", nil, "", 403},
		{"the script under another name", "GET", "/page.js", "attacker.example:%P", nil, "", 403},
		{"the script for another site", "GET", "/page.js", "", map[string]string{"Sec-Fetch-Site": "cross-site"}, "", 403},
		{"a call without a token", "GET", "/api/session", "", nil, "", 403},
		{"a call with half the token", "GET", "/api/session", "", map[string]string{review.TokenHeader: "x"}, "", 403},
		{"a call with the token in its query", "GET", "/api/session?token=%T", "", nil, "", 403},
		{"a call from another site", "GET", "/api/session", "", with("Sec-Fetch-Site", "cross-site"), "", 403},
		{"a call from another port", "GET", "/api/session", "", with("Sec-Fetch-Site", "same-site"), "", 403},
		{"a call from another tab's address", "GET", "/api/session", "", with("Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", "navigate", "Sec-Fetch-Dest", "document"), "", 403},
		{"a label from another origin", "POST", labelPath, "", with(kind, "application/json", "Origin", "http://attacker.example"), labelBody, 403},
		{"a label from the same origin with TLS", "POST", labelPath, "", with(kind, "application/json", "Origin", "https://%H"), labelBody, 403},
		{"a label from no origin", "POST", labelPath, "", with(kind, "application/json", "Origin", "null"), labelBody, 403},
		{"a label under another name", "POST", labelPath, "attacker.example:%P", with(kind, "application/json", "Origin", "http://attacker.example:%P"), labelBody, 403},
		{"a preflight", "OPTIONS", labelPath, "", map[string]string{"Origin": "http://attacker.example", "Access-Control-Request-Method": "POST"}, "", 403},
		{"a form", "POST", labelPath, "", with(kind, "application/x-www-form-urlencoded", "Origin", "http://%H"), labelBody, 415},
		{"a label as text", "POST", labelPath, "", with(kind, "text/plain"), labelBody, 415},
		{"a body of more than 64 KiB", "POST", labelPath, "", with(kind, "application/json"), `{"label":"` + strings.Repeat("x", 64<<10) + `"}`, 413},
		{"a path that is not there", "GET", "/page/index.html", "", with(), "", 404},
		{"a path beside the page", "GET", "/../serve.go", "", with(), "", 404},
		{"the page posted", "POST", "/?token=%T", "", nil, "", 405},
	}
	for _, c := range calls {
		t.Run(c.name, func(t *testing.T) {
			d := newDesk(1)
			base, token := serve(t, d)
			answer, text := c.do(t, base, token)
			if answer.StatusCode != c.want {
				t.Fatalf("status %d, want %d: %s", answer.StatusCode, c.want, text)
			}
			if strings.Contains(text, token) {
				t.Error("the answer holds the token")
			}
			if labelled := d.said(0) != ""; labelled != (c.want == 200 && c.method == "POST") {
				t.Errorf("labelled: %v", labelled)
			}
		})
	}
}

// Every answer, the refused ones too, says that it is not to be kept, framed,
// guessed at or read from elsewhere.
func TestHeadersOfEveryAnswer(t *testing.T) {
	base, token := serve(t, newDesk(1))
	want := map[string]string{
		"Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; " +
			"base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'",
		"X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer", "Cache-Control": "no-store",
		"Cross-Origin-Opener-Policy": "same-origin", "Cross-Origin-Resource-Policy": "same-origin", "Access-Control-Allow-Origin": "",
	}
	types := map[string]string{
		"/?token=%T": "text/html; charset=utf-8", "/page.js": "text/javascript; charset=utf-8", "/page.css": "text/css; charset=utf-8",
		"/icon.svg": "image/svg+xml", "/api/session": "application/json; charset=utf-8", "/": "application/json; charset=utf-8",
	}
	for path, kind := range types {
		c := call{method: "GET", path: path}
		if path == "/api/session" {
			c.header = with()
		}
		answer, _ := c.do(t, base, token)
		want["Content-Type"] = kind
		got := map[string]string{}
		for name := range want {
			got[name] = answer.Header.Get(name)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", path, diff)
		}
	}
}

func TestRefusalIsReadable(t *testing.T) {
	base, token := serve(t, newDesk(1))
	_, text := call{method: "GET", path: "/api/session"}.do(t, base, token)
	var got review.Problem
	if err := json.Unmarshal([]byte(text), &got); err != nil {
		t.Fatal(err)
	}
	want := review.Problem{Text: "the request has not the token of this page", Hint: "open the address that goldgen review printed, whole"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestTokenIsDrawnFromWhatIsGiven(t *testing.T) {
	token := func(seed byte) string {
		s, err := review.Listen(t.Context(), 0, bytes.NewReader(bytes.Repeat([]byte{seed}, 32)))
		if err != nil {
			t.Fatal(err)
		}
		u, _ := url.Parse(s.URL())
		return u.Query().Get("token")
	}
	if a, b := token(1), token(2); a == b || len(a) != 43 {
		t.Errorf("tokens %q and %q: want 43 characters each, and different ones", a, b)
	}
	if _, err := review.Listen(t.Context(), 0, bytes.NewReader(make([]byte, 31))); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("31 random bytes: %v", err)
	}
}

func TestPortInUse(t *testing.T) {
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	_, err = review.Listen(t.Context(), l.Addr().(*net.TCPAddr).Port, rand.Reader)
	if err == nil || !strings.Contains(err.Error(), "port of the page") {
		t.Errorf("a port in use: %v", err)
	}
}

// slowDesk answers a label only when it is let go.
type slowDesk struct {
	*desk
	asked, answer chan struct{}
}

func (d *slowDesk) Label(ctx context.Context, n int, said review.Said) (review.Labelled, error) {
	d.asked <- struct{}{}
	<-d.answer
	if err := ctx.Err(); err != nil {
		return review.Labelled{}, err
	}
	return d.desk.Label(ctx, n, said)
}

// A label that was under way when the server was told to stop is still kept and
// answered; nobody is answered after that.
func TestStopFinishesALabelUnderWay(t *testing.T) {
	d := &slowDesk{desk: newDesk(1), asked: make(chan struct{}, 9), answer: make(chan struct{})}
	base, token, stop := serveUntil(t, d)
	status := make(chan int, 1)
	go func() {
		answer, _ := call{method: "POST", path: labelPath, header: with("Content-Type", "application/json"), body: labelBody}.do(t, base, token)
		status <- answer.StatusCode
	}()
	<-d.asked
	stopped := make(chan struct{})
	go func() { stop(); close(stopped) }()
	for refused(base) == nil {
	}
	close(d.answer)
	if got := <-status; got != http.StatusOK {
		t.Errorf("status %d", got)
	}
	<-stopped
	if got := d.said(0); got != "2" {
		t.Errorf("label %q, want 2", got)
	}
}

// refused is why nobody listens at the address, nil while somebody does.
func refused(base string) error {
	conn, err := net.DialTimeout("tcp4", strings.TrimPrefix(base, "http://"), time.Second)
	if err == nil {
		conn.Close()
	}
	return err
}
