package review

import (
	"net"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// A test may not take port 80 of the machine it runs on.
func TestHostsAreNamedAsABrowserNamesThem(t *testing.T) {
	for port, want := range map[int][]string{
		8080: {"127.0.0.1:8080", "localhost:8080"},
		80:   {"127.0.0.1:80", "localhost:80", "127.0.0.1", "localhost"},
	} {
		if diff := cmp.Diff(want, hostsOf(&net.TCPAddr{Port: port})); diff != "" {
			t.Errorf("port %d (-want +got):\n%s", port, diff)
		}
	}
}
