package llm_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/goldgen/goldgen/llm"
)

// Retry-After is obeyed, and capped.
func TestRetryAfter(t *testing.T) {
	tests := map[string]struct {
		after       string
		most        time.Duration
		least, upto time.Duration
	}{
		"seconds":          {"1", 10 * time.Second, time.Second, 3 * time.Second},
		"seconds, capped":  {"3600", 30 * time.Millisecond, 30 * time.Millisecond, time.Second},
		"a date, capped":   {"Fri, 31 Dec 2100 23:59:59 GMT", 30 * time.Millisecond, 30 * time.Millisecond, time.Second},
		"a date that past": {"Fri, 31 Dec 1999 23:59:59 GMT", time.Second, 0, 500 * time.Millisecond},
		"nonsense":         {"soon", 20 * time.Millisecond, time.Millisecond, time.Second},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			calls := 0
			s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				if calls++; calls == 1 {
					w.Header().Set("Retry-After", tt.after)
					w.WriteHeader(http.StatusTooManyRequests)
				}
			}))
			defer s.Close()
			c := llm.NewHTTPClient(llm.TransportConfig{WaitMin: time.Millisecond, WaitMax: tt.most, RandomFloat64: func() float64 { return 0 }})
			start := time.Now()
			resp, err := c.Post(s.URL, "application/json", strings.NewReader("{}"))
			if err != nil || resp.StatusCode != http.StatusOK || calls != 2 {
				t.Fatalf("%v after %d calls", err, calls)
			}
			resp.Body.Close()
			if took := time.Since(start); took < tt.least || took > tt.upto {
				t.Errorf("waited %s, want %s to %s", took, tt.least, tt.upto)
			}
		})
	}
}

func TestRateIsKept(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	defer s.Close()
	c := llm.NewHTTPClient(llm.TransportConfig{Rate: 20})
	start := time.Now()
	for range 26 { // 20 at once, then one each 50 ms
		resp, err := c.Get(s.URL)
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
	}
	if took := time.Since(start); took < 250*time.Millisecond {
		t.Errorf("26 requests at 20 a second took %s", took)
	}
}
