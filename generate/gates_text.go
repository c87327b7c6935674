package generate

import (
	"regexp"
	"strings"

	"github.com/goldgen/goldgen/datasets"
	"github.com/goldgen/goldgen/retrieve"
)

// textNouns are what a query calls the text that it was written from.
const textNouns = `passage|text|excerpt|paragraph|sentence|snippet|context|abstract|content|quote|statement`

// bookNouns may be what a query is about; only with a demonstrative or in a
// phrase of place do they mean the text.
const bookNouns = `document|article|page|section|paper|study|report|chapter|guide|documentation|handbook|manual|book|readme|authors?|writers?`

// references match mentions of the text itself, language by language.
var references = []*regexp.Regexp{
	regexp.MustCompile(`(?i)\b(?:this|the|that|these|given|provided|above|following|your) (?:\w+ )?(?:` + textNouns + `)\b`),
	regexp.MustCompile(`(?i)\b(?:this|that|these|given|provided|above|following|current|present) (?:` + bookNouns + `)\b`),
	regexp.MustCompile(`(?i)\b(?:in|from|by|of|does|do|did|per|throughout) the (?:` + bookNouns + `)(?:$|\W*$|\W+(?:say|state|describe|mention|discuss|explain|recommend|suggest|propose|refer|present|provide|define|conclude|find|found|argue|claim)\w*\b)`),
	regexp.MustCompile(`(?i)\bthe (?:author|writer)s?\b`),
	regexp.MustCompile(`(?i)\b(?:according to|as (?:mentioned|described|stated|shown|noted|discussed|explained|defined|given|outlined|specified)|(?:mentioned|described|stated|discussed|outlined|listed|given|presented|shown|provided) (?:here|above|below|in|by|earlier|previously))\b`),
	regexp.MustCompile(`(?i)(?:^|\W)(?:above|below)(?:\W*$|[-\s]?mentioned)`),
	regexp.MustCompile(`(?i)\b(?:figure|fig\.?|table|listing|equation|eq\.?|appendix)\s*\(?\d`),
	regexp.MustCompile(`(?i)\bin (?:section|chapter|appendix|paragraph|step) \w+`),
	regexp.MustCompile(`(?i)<\/?(?:text|sentence)>`),
	regexp.MustCompile(`(?i)\b(?:laut|gemäß|dem text|im text|dieser (?:text|abschnitt|artikel)|diesem (?:text|abschnitt|artikel|dokument)|der autor|obige[nrs]?)\b`),
	regexp.MustCompile(`(?i)\b(?:selon|d'après|dans (?:le|ce) (?:texte|passage|document|paragraphe)|ce (?:texte|passage|document)|l'auteur|ci-dessus)\b`),
	regexp.MustCompile(`(?i)\b(?:según|en el (?:texto|pasaje|documento|párrafo)|este (?:texto|pasaje|documento)|el autor)\b`),
	regexp.MustCompile(`本文|文中|上述|このテキスト|この文(?:章|書)|作者|著者`),
}

// RefersToText refuses queries that speak of the text which they were written
// from: nobody who searches has it in front of them. A phrase that the evidence
// has word for word is what it is about ("the passage of a shock wave"). Value:
// mentions found.
func RefersToText(c Candidate) Verdict {
	n, first := 0, ""
	evidence := " " + folded(c.quotes()) + " "
	for _, re := range references {
		if m := re.FindString(c.Query); m != "" && !strings.Contains(evidence, " "+folded(m)+" ") {
			n++
			if first == "" {
				first = strings.TrimSpace(m)
			}
		}
	}
	return verdict("refers_to_text", n == 0, float64(n), "%q speaks of the text", first)
}

var (
	demonstrative = regexp.MustCompile(`(?i)\b(?:this|these|those)\b|\b(?:is|does|do|did|of|for|to|with|by|about|like|use|using) that\b\W*(?:$|work|mean|happen|do\b)|\b(?:the (?:former|latter|above|following|same|aforementioned|given|specified|mentioned)|such an?)\b|\bhere\b|\bmentioned\b`)
	pronoun       = regexp.MustCompile(`(?i)\b(?:it|its|they|them|their|he|him|his|she|her|hers)\b`)
	// existential uses of "it" need no antecedent: "is it possible to ..."
	emptyIt      = regexp.MustCompile(`(?i)\b(?:is|was|be|does|can|would|will|could|makes?|take|should) it (?:be )?(?:possible|necessary|safe|important|required|allowed|better|okay|ok|worth|true|easy|hard|difficult|advisable|recommended|useful|legal|take|cost|mean to|matter)\b|\bit (?:is|was) (?:possible|necessary|important|required|allowed)\b|\b(?:takes?|makes?|find) it\b`)
	deicticOther = regexp.MustCompile(`(?i)\b(?:dies(?:e[rsmn]?)?|obige[rnms]?|cette|ceci|celui-ci|esto|esta|estos)\b|この|その|これ|それ|这个|该`)
)

// SelfContained refuses, by rule, queries that point at something not named in
// them: demonstratives, and pronouns with fewer than two content words before
// them. A model looks at what the rule lets through (see Model). Value: words
// that point nowhere.
func SelfContained(c Candidate) Verdict {
	q := c.Query
	n := len(demonstrative.FindAllString(q, -1)) + len(deicticOther.FindAllString(q, -1))
	masked := emptyIt.ReplaceAllString(q, " ")
	for _, loc := range pronoun.FindAllStringIndex(masked, -1) {
		if len(contentBefore(masked[:loc[0]])) < 2 {
			n++
		}
	}
	return verdict("self_contained", n == 0, float64(n), "it points at something that it does not name")
}

// contentBefore returns the content words of the head of a query, without the
// words that every question has.
func contentBefore(head string) []string {
	var list []string
	for _, w := range retrieve.ContentWords(head) {
		if !questionWord[w] {
			list = append(list, w)
		}
	}
	return list
}

var questionWord = wordSet(`what which who whom whose when where why how do does did can could should would may might
must has have had i you we my your our me us many much long often far soon get use used using need want happen happens
make made about from there any some all more most than when if while after before`)

// functionWord are words that search engines index but nobody searches for.
var functionWord = wordSet(`about above across again against almost along already although always among another around because been
being below between beyond both cannot during each either else enough even ever every except few further here however instead its
itself just least less like likely many may might much neither never next none nor now off often once one only other others otherwise
our out over own per rather same several since so still through throughout thus together too under unless until up upon very via want
well were whether whichever within without yet you your them these those than`)

// genericNoun are words that name nothing in particular: "the tool", "the
// system". A query whose every content word is one of them, or a common verb,
// could be about anything.
var genericNoun = wordSet(`system tool function method command process product feature feature option value setting file
team company service project program application app user users customer item object model result results data information
purpose role effect main key important difference benefit benefits advantage advantages step steps way ways part parts thing
things type types kind example examples case cases problem problems issue issues solution number amount time year day days
work works do does done happen happens used use using need needed required requires provide provides allow allows contain
contains include includes mean means support supports set change changes new same other different each first last one two
three good best better help helps find found show shown approach technique analysis theory`)

func wordSet(list string) map[string]bool {
	set := map[string]bool{}
	for _, w := range strings.Fields(list) {
		set[w] = true
	}
	return set
}

// unsureSelfContained reports whether the rule leaves room for doubt: the query
// says "the X" somewhere, or has fewer than three words that name something.
func unsureSelfContained(c Candidate) bool {
	if c.Type == datasets.Keyword {
		return false
	}
	return specificWords(c.clean()) < 3
}

func specificWords(query string) int {
	n := 0
	seen := map[string]bool{}
	for _, w := range contentBefore(query) {
		if !genericNoun[w] && !seen[w] {
			seen[w] = true
			n++
		}
	}
	return n
}
