package datasets

import (
	"encoding/json"
	"errors"
	"fmt"
	"html"
	"regexp"
	"strconv"
	"strings"
)

// Topic is one query of a collection.
type Topic struct {
	ID   string
	Text string // white space folded to single spaces
	Line int    // in the file, from 1
}

// ReadTopics reads the queries of a TREC collection: lines of
// id<TAB>text, or topics marked up as <top><num>..<title> or as
// <DOC><DOCNO>..</DOCNO>text</DOC>. With byPosition a topic's id is its
// position from 1, for collections whose qrels number them so. Errors name
// file and line.
func ReadTopics(path string, byPosition bool) ([]Topic, error) {
	text, err := readText(path)
	if err != nil {
		return nil, fmt.Errorf("queries: %w", err)
	}
	topics, line, err := parseTopics(text)
	if err == nil {
		line, err = checkTopics(topics, byPosition)
	}
	if err != nil {
		return nil, fmt.Errorf("queries %s:%d: %w", path, line, err)
	}
	return topics, nil
}

var topicStart = regexp.MustCompile(`(?im)^\s*<(top|doc)>`)

// parseTopics gives the topics, or the line of the error.
func parseTopics(text string) ([]Topic, int, error) {
	if topicStart.MatchString(text) {
		return markedTopics(text)
	}
	var topics []Topic
	for n, line := range lines(text) {
		if blank(line) {
			continue
		}
		id, query, found := strings.Cut(line, "\t")
		if !found {
			return nil, n, errors.New("want an id, a tab and the query")
		}
		topics = append(topics, Topic{strings.TrimSpace(id), foldSpace(query), n})
	}
	return topics, 0, nil
}

// checkTopics numbers topics when asked, and refuses empty and repeated ones.
func checkTopics(topics []Topic, byPosition bool) (int, error) {
	if len(topics) == 0 {
		return 1, errors.New("no queries")
	}
	seen := make(map[string]int, len(topics))
	for i := range topics {
		t := &topics[i]
		if byPosition {
			t.ID = strconv.Itoa(i + 1)
		}
		switch line, twice := seen[t.ID]; {
		case t.ID == "":
			return t.Line, errors.New("query without an id")
		case t.Text == "":
			return t.Line, fmt.Errorf("query %q is empty", t.ID)
		case twice:
			return t.Line, fmt.Errorf("duplicate query id %q, first on line %d", t.ID, line)
		}
		seen[t.ID] = t.Line
	}
	return 0, nil
}

// The parts of a marked-up topic. A field ends at its end tag or, in older
// files that have none, at the next tag that begins a line.
var (
	topicNumber = regexp.MustCompile(`(?is)<num>\s*(?:Number:)?\s*([^\s<]+)`)
	topicTitle  = regexp.MustCompile(`(?is)<title>\s*(?:Topic:)?(.*?)(?:</title>|\n\s*</?[a-z]+>|$)`)
	docTopic    = regexp.MustCompile(`(?is)<docno>\s*([^\s<]+)\s*</docno>(.*?)(?:</doc>|$)`)
)

func markedTopics(text string) ([]Topic, int, error) {
	unescape := func(s string) string { return s }
	if strings.HasPrefix(text, "<?xml") {
		unescape = html.UnescapeString
	}
	starts := topicStart.FindAllStringIndex(text, -1)
	var topics []Topic
	line, counted := 1, 0
	for i, start := range starts {
		end := len(text)
		if i+1 < len(starts) {
			end = starts[i+1][0]
		}
		line += strings.Count(text[counted:start[1]], "\n")
		counted = start[1]
		id, query, ok := markedTopic(text[start[0]:end])
		if !ok {
			return nil, line, errors.New("topic without <num> and <title>, or <DOCNO>")
		}
		topics = append(topics, Topic{unescape(id), foldSpace(unescape(query)), line})
	}
	return topics, 0, nil
}

func markedTopic(block string) (id, query string, ok bool) {
	if m := docTopic.FindStringSubmatch(block); m != nil {
		return m[1], m[2], true
	}
	num, title := topicNumber.FindStringSubmatch(block), topicTitle.FindStringSubmatch(block)
	if num == nil || title == nil {
		return "", "", false
	}
	return num[1], title[1], true
}

// foldSpace makes every run of white space one space, and trims.
func foldSpace(s string) string { return strings.Join(strings.Fields(s), " ") }

// ReadBEIRQueries reads a queries.jsonl: one {"_id","text"} a line.
func ReadBEIRQueries(path string) ([]Topic, error) {
	text, err := readText(path)
	if err != nil {
		return nil, fmt.Errorf("queries: %w", err)
	}
	var topics []Topic
	for n, line := range lines(text) {
		if blank(line) {
			continue
		}
		var q struct {
			ID   string `json:"_id"`
			Text string `json:"text"`
		}
		if err := json.Unmarshal([]byte(line), &q); err != nil {
			return nil, fmt.Errorf("queries %s:%d: %w", path, n, err)
		}
		topics = append(topics, Topic{q.ID, foldSpace(q.Text), n})
	}
	if line, err := checkTopics(topics, false); err != nil {
		return nil, fmt.Errorf("queries %s:%d: %w", path, line, err)
	}
	return topics, nil
}
