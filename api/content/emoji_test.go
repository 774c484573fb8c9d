package content

import (
	"testing"
)

func TestEmoji(t *testing.T) {
	t.Parallel()
	for text, ok := range map[string]bool{
		"👍": true, "👍🏽": true, "❤️": true, "👩‍💻": true, "🏴‍☠️": true, "🇩🇪": true, "1️⃣": true, "🏴󠁧󠁢󠁥󠁮󠁧󠁿": true, "1f44d": true, "1F468-200d-1f4bb": true, "2764": true, "2764-fe0f": true,
		"": false, "x": false, "ab": false, ":+1:": false, "not an emoji": false, "👍👍": false, "🇩": false, "1": false, "1f44d-": false, "d800": false, "👍x": false,
	} {
		if isEmoji(text) != ok {
			t.Errorf("%q: %t", text, !ok)
		}
	}
}
