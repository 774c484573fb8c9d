package content

import (
	"regexp"
	"strconv"
	"strings"
)

// emojiForms matches one emoji of Unicode's grammar (UTS #51, ED-17a). The forms are ZWJ sequences of symbols with
// variation selectors, skin tones and tags; flags; and keycaps. It also matches some characters that are not emojis,
// because they are in the same blocks as symbols. These characters do no harm.
var emojiForms = func() *regexp.Regexp {
	const sign = `[©®‼⁉™ℹ↔-↪⌀-⏿Ⓜ▪-◾☀-➿⤴⤵⬅-⭕〰〽㊗㊙\x{1F000}-\x{1F1E5}\x{1F200}-\x{1FAFF}]` +
		`(?:\x{FE0F}|[\x{1F3FB}-\x{1F3FF}])?[\x{E0020}-\x{E007F}]*`
	return regexp.MustCompile(`^(?:` + sign + `(?:\x{200D}` + sign + `)*|[\x{1F1E6}-\x{1F1FF}]{2}|[0-9#*]\x{FE0F}?\x{20E3})$`)
}()

// isEmoji reports whether a text is an emoji in one of the two forms of the contract: 👍 or 1f44d. facts §6.1
func isEmoji(text string) bool {
	if emojiForms.MatchString(text) {
		return true
	}
	var b strings.Builder
	for code := range strings.SplitSeq(text, "-") {
		point, err := strconv.ParseUint(code, 16, 21)
		if err != nil || len(code) < 2 {
			return false
		}
		b.WriteRune(rune(point))
	}
	return emojiForms.MatchString(b.String())
}
