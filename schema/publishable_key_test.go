package schema

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// TestPublishableKeyTexts generates random keys. Reading the text of a key must give the id and the generation of the
// key. Any other text of the same length must be refused.
func TestPublishableKeyTexts(t *testing.T) {
	t.Parallel()
	secret, other := []byte(strings.Repeat("s", 32)), []byte(strings.Repeat("o", 32))
	rapid.Check(t, func(t *rapid.T) {
		id, generation := NewID(), rapid.IntRange(1, MaxKeyGeneration).Draw(t, "generation")
		text := PublishableKeyText(secret, id, generation)
		if got, n, made := ReadPublishableKey(secret, text); got != id || n != generation || !made {
			t.Fatalf("%s is read as %q %d %t, want %q %d", text, got, n, made, id, generation)
		}
		if _, _, made := ReadPublishableKey(other, text); made {
			t.Fatal("another secret makes the same text")
		}
		at := rapid.IntRange(0, len(text)-1).Draw(t, "at")
		digit := rapid.SampledFrom([]byte("0123456789abcdefghijklmnopqrstuvwxyzABCV_-=%\n\r\x00\xff")).Draw(t, "digit")
		if spoiled := text[:at] + string([]byte{digit}) + text[at+1:]; spoiled != text {
			if _, _, made := ReadPublishableKey(secret, spoiled); made {
				t.Fatalf("%q is taken for %q", spoiled, text)
			}
		}
	})
}

func TestTextsThatAreNoKeys(t *testing.T) {
	t.Parallel()
	secret := []byte(strings.Repeat("s", 32))
	good := PublishableKeyText(secret, NewID(), 1)
	if len(good) > 60 || !ValidID(good) {
		t.Errorf("%q is long, or is no part of a path", good)
	}
	for _, text := range []string{
		"", "opk_", good[4:], "opk_" + good, good + "0", good[:len(good)-1], good + "\n", strings.ToUpper(good),
		"oct_" + good[4:], good + ".gif", " " + good, "opk_" + strings.Repeat("0", len(good)-4),
		good[:len(good)-1] + "\n", strings.Repeat("opk_", 13),
	} {
		if _, _, made := ReadPublishableKey(secret, text); made {
			t.Errorf("%q is a key", text)
		}
	}
}
