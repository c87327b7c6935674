package review

import (
	"crypto/subtle"
	"net"
	"net/http"
	"slices"
	"strings"
)

// policy is the page's content security policy: its own script, style and icon
// from this server, calls to this server, nothing else, in no frame, and no text
// that turns into markup.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; " +
	"base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'"

// guard refuses who is not the page itself or the person who has its address,
// and says of every answer that it is this page's alone and not to be kept.
func (s *Server) guard(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		header := w.Header()
		header.Set("Content-Security-Policy", policy)
		header.Set("X-Content-Type-Options", "nosniff")
		header.Set("Referrer-Policy", "no-referrer")
		header.Set("Cache-Control", "no-store")
		header.Set("Cross-Origin-Opener-Policy", "same-origin")
		header.Set("Cross-Origin-Resource-Policy", "same-origin")
		if refused := s.refusal(r); refused != nil {
			answer(func(*http.Request) (any, error) { return nil, refused })(w, r)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// refusal is why a request gets no answer, nil when it gets one. A page that
// another name was made to point here for (DNS rebinding) has another Host; a
// call from another site has another Origin, and browsers say so in
// Sec-Fetch-Site; and neither knows the token.
func (s *Server) refusal(r *http.Request) *Problem {
	switch {
	case !slices.Contains(s.hosts(), r.Host):
		return forbidden("the request is for another host")
	case !s.sameOrigin(r.Header.Get("Origin")):
		return forbidden("the request comes from another origin")
	case !sameSite(r):
		return forbidden("the request comes from another site")
	case needsToken(r) && !s.hasToken(r):
		return forbidden("the request has not the token of this page")
	}
	return nil
}

func forbidden(why string) *Problem {
	return &Problem{Status: http.StatusForbidden, Text: why, Hint: "open the address that goldgen review printed, whole"}
}

// hosts are the names under which the server is asked. Browsers leave HTTP's own
// port out.
func (s *Server) hosts() []string { return hostsOf(s.listener.Addr()) }

func hostsOf(address net.Addr) []string {
	_, port, _ := net.SplitHostPort(address.String())
	hosts := []string{"127.0.0.1:" + port, "localhost:" + port}
	if port == "80" {
		hosts = append(hosts, "127.0.0.1", "localhost")
	}
	return hosts
}

// sameOrigin reports an origin that is this server's, or none: a browser sends
// none where a person opens an address, and names its page's with every POST.
func (s *Server) sameOrigin(origin string) bool {
	host, isHTTP := strings.CutPrefix(origin, "http://")
	return origin == "" || isHTTP && slices.Contains(s.hosts(), host)
}

// sameSite reports a request of the page itself, of a program that is no
// browser, or of a person who opens an address in a tab of its own, which may
// be a link in another page (a terminal in the browser shows one).
func sameSite(r *http.Request) bool {
	switch r.Header.Get("Sec-Fetch-Site") {
	case "", "same-origin":
		return true
	}
	return r.URL.Path == "/" && r.Header.Get("Sec-Fetch-Dest") == "document" && r.Header.Get("Sec-Fetch-Mode") == "navigate"
}

// needsToken reports what holds or changes anything of the set, and the page's
// own address; its style, script and icon are the same for everybody.
func needsToken(r *http.Request) bool {
	return !slices.Contains(besideThePage(), strings.TrimPrefix(r.URL.Path, "/"))
}

// hasToken compares in constant time. Only the page's own address carries the
// token in its query; calls have it in a header, which no link and no form can
// set.
func (s *Server) hasToken(r *http.Request) bool {
	given := r.Header.Get(TokenHeader)
	if r.URL.Path == "/" {
		given = r.URL.Query().Get("token")
	}
	return subtle.ConstantTimeCompare([]byte(given), []byte(s.token)) == 1
}
