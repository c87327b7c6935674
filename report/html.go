package report

import (
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"encoding/json"
	"html/template"
	"io"
)

//go:embed page
var pageFiles embed.FS

// HTML writes the findings as one file that needs nothing else: no network, no
// other file, no script but its own, which the page's policy names by digest.
// Text of the corpus and of models is data: it is escaped, and the script never
// reads it as markup.
func HTML(w io.Writer, f *Findings) error {
	style, err := pageFiles.ReadFile("page/style.css")
	if err != nil {
		return err
	}
	script, err := pageFiles.ReadFile("page/page.js")
	if err != nil {
		return err
	}
	t, err := template.ParseFS(pageFiles, "page/*.tmpl")
	if err != nil {
		return err
	}
	v, err := newView(f)
	if err != nil {
		return err
	}
	v.Style, v.Script = template.CSS(style), template.JS(script)
	v.Policy = policy(style, script)
	return t.ExecuteTemplate(w, "page.html.tmpl", v)
}

// policy is the page's content security policy: its own style and script by
// digest, nothing from anywhere, and no text that turns into markup.
func policy(style, script []byte) string {
	return "default-src 'none'; style-src " + source(style) + "; script-src " + source(script) +
		"; base-uri 'none'; form-action 'none'; require-trusted-types-for 'script'; trusted-types 'none'"
}

func source(data []byte) string {
	sum := sha256.Sum256(data)
	return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}

// caseData is a result's cases as JSON that cannot end its script element:
// json.Marshal escapes <, > and &.
func caseData(t *caseTable) (template.JS, error) {
	data, err := json.Marshal(t)
	return template.JS(data), err
}
