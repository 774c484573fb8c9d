package section

import (
	"regexp"
	"strings"
	"testing"
)

func TestForms(t *testing.T) {
	t.Parallel()
	const id = "06h03m2k9v0000000000000abc"
	pattern := regexp.MustCompile(Pattern)
	for sent, want := range map[string]struct{ id, shown string }{
		id:                      {id, Prefix + id},
		Prefix + id:             {id, Prefix + id},
		"":                      {"", ""},
		"sitesc_Ab3dE":          {"sitesc_Ab3dE", "sitesc_Ab3dE"},
		"sec_x":                 {"sec_x", "sec_x"},
		"sec_sec_" + id:         {"sec_sec_" + id, "sec_sec_" + id},
		strings.ToUpper(id):     {strings.ToUpper(id), strings.ToUpper(id)},
		Prefix + id + "0":       {Prefix + id + "0", Prefix + id + "0"},
		strings.Repeat("w", 26): {strings.Repeat("w", 26), strings.Repeat("w", 26)},
	} {
		if got := ID(sent); got != want.id {
			t.Errorf("%q means %q, want %q", sent, got, want.id)
		}
		if got := Shown(want.id); got != want.shown {
			t.Errorf("%q is shown as %q, want %q", want.id, got, want.shown)
		}
		if pattern.MatchString(want.id) != (want.id != want.shown) {
			t.Errorf("the pattern does not agree about %q", want.id)
		}
	}
}
