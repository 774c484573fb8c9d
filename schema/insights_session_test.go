package schema

import (
	"strings"
	"testing"
	"time"
)

// TestInsightsSessionTokens checks that reading a token gives the values that were signed. Any other text must be
// refused.
func TestInsightsSessionTokens(t *testing.T) {
	t.Parallel()
	key := []byte(strings.Repeat("k", 32))
	want := InsightsSessionToken{Link: NewID(), Generation: 1 << 20, ExpiresAt: time.Unix(1_800_000_000, 0)}
	text := want.Sign(key)
	if got, ok := ReadInsightsSession(key, []byte(text)); !ok || got != want || !IsInsightsSession([]byte(text)) {
		t.Errorf("%+v %v, want %+v", got, ok, want)
	}
	if !ValidToken(text) || IsIntegrationToken([]byte(text)) || IsInsightsSession([]byte(NewToken())) {
		t.Errorf("%s has the form of another token, or of none", text)
	}
	if _, ok := ReadInsightsSession([]byte(strings.Repeat("l", 32)), []byte(text)); ok {
		t.Error("another key's signature is accepted")
	}
	// every change of a single digit
	for i := range len(text) {
		other := []byte(text)
		if other[i] = '0'; text[i] == '0' {
			other[i] = '1'
		}
		if got, ok := ReadInsightsSession(key, other); ok {
			t.Errorf("%s is read as %+v", other, got)
		}
	}
	for _, other := range []string{"", InsightsSessionPrefix, text + "0", text[:len(text)-1],
		strings.ToUpper(text), text[:20] + "\n" + text[20:]} {
		if got, ok := ReadInsightsSession(key, []byte(other)); ok {
			t.Errorf("%q is read as %+v", other, got)
		}
	}
}
