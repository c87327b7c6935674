package prompts

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// controlToken matches what chat templates use to end a message or to begin
// another one. In the text of a corpus it must stay text.
var controlToken = regexp.MustCompile(`(?i)<\|[^<>\n]{0,40}\|>|<\|im_|<｜[^<>\n]{0,40}｜>|<(?:start|end)_of_turn>|\[/?INST\]|</?s>|<<?/?SYS>?>|</?think>|<(?:bos|eos|pad|unk)>`)

// defuse makes control tokens harmless by a space after their first character,
// and turns control characters other than tab and line feed into spaces.
func defuse(text string) string {
	text = controlToken.ReplaceAllStringFunc(text, func(tok string) string {
		return tok[:1] + " " + tok[1:]
	})
	return strings.Map(func(r rune) rune {
		if (r < 0x20 && r != '\n' && r != '\t') || r == 0x7f {
			return ' '
		}
		return r
	}, strings.ReplaceAll(text, "\r\n", "\n"))
}

func fence(tag, text string) string {
	return fmt.Sprintf("<%s>\n%s\n</%s>", tag, text, tag)
}

// fenceSuffix returns what the tags of a prompt's data need so that neither the
// data nor the short values beside them can write them: "" in nearly all cases,
// else digits derived from both, so that the same values give the same prompt.
func fenceSuffix(names []string, data, short map[string]string) string {
	var all strings.Builder
	for _, name := range names {
		all.WriteString(data[name])
		all.WriteByte(0)
	}
	for _, name := range slices.Sorted(maps.Keys(short)) {
		all.WriteString(short[name])
		all.WriteByte(0)
	}
	folded := squeeze(all.String())
	suffix := ""
	for n := 0; writesTag(folded, names, suffix); n++ {
		sum := sha256.Sum256(fmt.Appendf(nil, "%d\x00%s", n, all.String()))
		suffix = "-" + hex.EncodeToString(sum[:4])
	}
	return suffix
}

func writesTag(folded string, names []string, suffix string) bool {
	for _, name := range names {
		tag := squeeze(name + suffix)
		if strings.Contains(folded, "<"+tag) || strings.Contains(folded, "</"+tag) {
			return true
		}
	}
	return false
}

// squeeze folds case and drops white space: a model reads "< / TEXT >" as the
// tag that it resembles.
func squeeze(s string) string {
	return strings.Join(strings.Fields(strings.ToLower(s)), "")
}
