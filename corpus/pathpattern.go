package corpus

import (
	"fmt"
	"path"
	"regexp"
	"strings"
)

// pathPattern takes fields from a slash path: {name} stands for one segment or
// a part of one, * for part of a segment, ** for any number of segments.
type pathPattern struct {
	re    *regexp.Regexp
	names []string
}

var patternPart = regexp.MustCompile(`\{[^{}]*\}|\*\*/|\*\*|\*|[^*{}]+|[{}]`)
var patternName = regexp.MustCompile(`^\{[a-zA-Z_][a-zA-Z0-9_.-]*\}$`)

func parsePathPattern(pattern string) (pathPattern, error) {
	var re strings.Builder
	var names []string
	re.WriteString("^")
	for _, part := range patternPart.FindAllString(pattern, -1) {
		switch {
		case part == "**/":
			re.WriteString(`(?:.*/)?`)
		case part == "**":
			re.WriteString(`.*`)
		case part == "*":
			re.WriteString(`[^/]*`)
		case patternName.MatchString(part):
			re.WriteString(`([^/]+?)`)
			names = append(names, part[1:len(part)-1])
		case strings.ContainsAny(part, "{}"):
			return pathPattern{}, fmt.Errorf("path pattern %q: %q is no field name", pattern, part)
		default:
			re.WriteString(regexp.QuoteMeta(part))
		}
	}
	re.WriteString("$")
	compiled, err := regexp.Compile(re.String())
	if err != nil {
		return pathPattern{}, fmt.Errorf("path pattern %q: %w", pattern, err)
	}
	return pathPattern{compiled, names}, nil
}

// fields returns what the pattern reads from a path; false when it does not fit.
func (p pathPattern) fields(id string) (map[string]any, bool) {
	m := p.re.FindStringSubmatch(id)
	if m == nil {
		return nil, false
	}
	fields := map[string]any{}
	for i, name := range p.names {
		fields[name] = m[i+1]
	}
	return fields, true
}

// firstSegment is the category of a document by its path alone.
func firstSegment(id string) string {
	if dir := path.Dir(id); dir != "." {
		first, _, _ := strings.Cut(dir, "/")
		return first
	}
	return ""
}
