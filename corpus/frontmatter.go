package corpus

import (
	"fmt"
	"strings"

	"go.yaml.in/yaml/v4"
)

// frontMatterEnd is the length of the YAML front matter at the head of a text,
// its closing line included; 0 when there is none.
func frontMatterEnd(text string) int {
	offset, first := 0, true
	for line := range strings.Lines(text) {
		offset += len(line)
		bare := strings.TrimRight(line, " \t\r\n")
		switch {
		case first && bare != "---":
			return 0
		case !first && (bare == "---" || bare == "..."):
			return offset
		}
		first = false
	}
	return 0
}

// splitFrontMatter parts a Markdown file into the fields of its front matter
// and the text after it. A head that is no YAML mapping is left in the text,
// as a thematic break may begin a file.
func splitFrontMatter(content string) (map[string]any, string, error) {
	end := frontMatterEnd(content)
	if end == 0 {
		return nil, content, nil
	}
	var node yaml.Node
	if err := yaml.Unmarshal([]byte(content[:end]), &node); err != nil {
		return nil, "", fmt.Errorf("front matter: %w", err)
	}
	if len(node.Content) == 0 {
		return nil, strings.TrimLeft(content[end:], "\r\n"), nil
	}
	if node.Content[0].Kind != yaml.MappingNode {
		return nil, content, nil
	}
	fields := map[string]any{}
	if err := node.Content[0].Decode(&fields); err != nil {
		return nil, "", fmt.Errorf("front matter: %w", err)
	}
	return fields, strings.TrimLeft(content[end:], "\r\n"), nil
}
