package browsertest

import "strings"

// Attacks are texts that a page must show and never obey: those that would run
// set window.obeyed; others end what they stand in, reorder, hide, or do not
// fit.
func Attacks() []string {
	return []string{
		`</script><script>window.obeyed = 1</script>`,
		`<img src=x onerror="window.obeyed = 2">`,
		`"><svg onload=window.obeyed=3>`,
		`<!--<script>`, `]]>`, `{{.Policy}}`, `javascript:window.obeyed=4`,
		"evil\u202egnp.exe \u2066hidden\u2069", "\x1b[31mred\x00\x07", "line\u2028separator", "<b>bold</b> & 'quotes' `ticks`",
		strings.Repeat("x", 10_000),
	}
}
