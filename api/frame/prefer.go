package frame

import "strings"

// Preference finds a preference in the values of the header Prefer (RFC 7240), which are split at commas. It returns
// the first match in lower case, or "" without a match.
func Preference(values []string, name string) string {
	for _, value := range values {
		value, _, _ = strings.Cut(value, ";")
		key, word, _ := strings.Cut(value, "=")
		if strings.EqualFold(strings.TrimSpace(key), name) {
			return strings.ToLower(strings.Trim(strings.TrimSpace(word), `"`))
		}
	}
	return ""
}
