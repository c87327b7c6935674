package datasets

import (
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// maxName is in bytes; a name is also a folder and a file name.
const maxName = 100

// windowsNames cannot be file names on Windows, with any extension.
var windowsNames = regexp.MustCompile(`(?i)^(con|prn|aux|nul|com[0-9]|lpt[0-9])(\.|$)`)

// ValidateName refuses a set's name that could leave its folder, hide, be read
// as something else in a reference, or that some file system cannot hold. A
// name is letters, digits, "-", "_" and ".", and begins with a letter or digit.
func ValidateName(name string) error {
	fail := func(why string) error { return fmt.Errorf("set name %q: %s", name, why) }
	switch {
	case name == "":
		return errors.New("set name is empty")
	case len(name) > maxName:
		return fmt.Errorf("set name %q...: longer than %d bytes", strings.ToValidUTF8(name[:20], ""), maxName)
	case !norm.NFC.IsNormalString(name):
		return fail("not UTF-8 in normal form C")
	case windowsNames.MatchString(name):
		return fail("reserved on Windows")
	case strings.HasSuffix(name, "."):
		return fail("ends with a dot")
	}
	for i, r := range name {
		letter := unicode.IsLetter(r) || unicode.IsDigit(r)
		switch {
		case i == 0 && !letter:
			return fail(fmt.Sprintf("begins with %q; want a letter or digit", r))
		case !letter && !unicode.IsMark(r) && !strings.ContainsRune("-_.", r):
			return fail(fmt.Sprintf("holds %q; want letters, digits, '-', '_' and '.'", r))
		}
	}
	return nil
}

// versionFolder is v0001, v0002, ...: at least four digits, so that a listing
// is in order.
var versionFolder = regexp.MustCompile(`^v([0-9]{4,})$`)

func folderOf(version int) string { return fmt.Sprintf("v%04d", version) }

// versionOf reads a version folder's name; false for another name.
func versionOf(folder string) (int, bool) {
	m := versionFolder.FindStringSubmatch(folder)
	if m == nil {
		return 0, false
	}
	n, err := strconv.Atoi(m[1])
	return n, err == nil && n > 0 && folderOf(n) == folder
}

// label is a version as cases name it: v3.
func label(version int) string { return "v" + strconv.Itoa(version) }

// selector is what follows the name in a reference: a version, the beginning of
// a digest, a tag, or nothing, which is the newest.
type selector struct {
	version int
	digest  string
	tag     string
}

var digestSelector = regexp.MustCompile(`^sha256:[0-9a-f]{4,64}$`)

// parseRef splits name@selector.
func parseRef(ref string) (name string, sel selector, err error) {
	name, rest, found := strings.Cut(ref, "@")
	if err := ValidateName(name); err != nil || !found {
		return name, sel, err
	}
	if digestSelector.MatchString(rest) {
		return name, selector{digest: rest}, nil
	}
	digits, ok := strings.CutPrefix(rest, "v")
	if n, err := strconv.Atoi(digits); ok && err == nil && n > 0 && digits[0] != '+' {
		return name, selector{version: n}, nil
	}
	if ValidateTag(rest) == nil {
		return name, selector{tag: rest}, nil
	}
	return "", sel, fmt.Errorf("reference %q: after @ stands %q; want v3, sha256: with at least 4 hex digits, or a tag", ref, rest)
}

func (sel selector) String() string {
	if sel.digest != "" {
		return sel.digest
	}
	return label(sel.version)
}

func names(refs []Ref) []string {
	out := make([]string, len(refs))
	for i, r := range refs {
		out[i] = label(r.Version)
	}
	return out
}
