package frame

import "strings"

// Preference finds a preference by name in the header Prefer (RFC 7240). `values` has the header's parts between
// commas. It returns the value of the first match in lower case, or "" if no part has the name.
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
