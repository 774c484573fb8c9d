package frame

import "strings"

// Preference finds a preference in the values of the header Prefer (RFC 7240), which are cut at commas. It is in lower case; "" if the
// client has none. Of several the first counts.
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
