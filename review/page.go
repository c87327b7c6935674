package review

import (
	"embed"
	"net/http"
	"path"
)

// The page: index.html holds no data and no code; page.js asks the API and puts
// every text of the corpus in as text, never as markup.
//
//go:embed page
var pageFiles embed.FS

// asset serves one file of the page. Its type is said here: what a machine
// thinks of an ending differs, and browsers run no script of another type.
func asset(name string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		data, err := pageFiles.ReadFile("page/" + name)
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		w.Header().Set("Content-Type", mediaType(name))
		w.Write(data)
	}
}

func mediaType(name string) string {
	switch path.Ext(name) {
	case ".css":
		return "text/css; charset=utf-8"
	case ".js":
		return "text/javascript; charset=utf-8"
	case ".svg":
		return "image/svg+xml"
	}
	return "text/html; charset=utf-8"
}

// besideThePage are the files that the page's own HTML names. They are the same
// for everybody and hold nothing of any set.
func besideThePage() []string {
	return []string{"page.css", "page.js", "api.js", "dialogs.js", "text.js", "icon.svg"}
}
