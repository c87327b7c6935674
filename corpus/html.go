package corpus

import (
	"fmt"
	"html"
	"regexp"
	"strings"

	"github.com/JohannesKaufmann/html-to-markdown/v2/converter"
	"github.com/JohannesKaufmann/html-to-markdown/v2/plugin/base"
	"github.com/JohannesKaufmann/html-to-markdown/v2/plugin/commonmark"
	"github.com/JohannesKaufmann/html-to-markdown/v2/plugin/table"
)

var htmlTitle = regexp.MustCompile(`(?is)<title[^>]*>(.*?)</title>`)

// htmlText turns a page into its title and Markdown. Navigation is dropped,
// tables are kept.
func htmlText(page string) (title, markdown string, err error) {
	conv := converter.NewConverter(converter.WithPlugins(
		base.NewBasePlugin(), commonmark.NewCommonmarkPlugin(), table.NewTablePlugin()))
	conv.Register.TagType("nav", converter.TagTypeRemove, converter.PriorityStandard)
	markdown, err = conv.ConvertString(page)
	if err != nil {
		return "", "", fmt.Errorf("html: %w", err)
	}
	if m := htmlTitle.FindStringSubmatch(page); m != nil {
		title = strings.Join(strings.Fields(html.UnescapeString(m[1])), " ")
	}
	return title, markdown, nil
}
