package diff

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/octavo-docs/octavo/cmd/engine/enginetest/cputime"
)

// shown returns a and b as one text. Parts that only a contains are in brackets. Parts that only b contains are in
// braces.
func shown(a, b string) string {
	pairs := Match([]rune(a), []rune(b))
	var out strings.Builder
	next := 0
	added := func(to int) {
		if to > next {
			fmt.Fprintf(&out, "{%s}", string([]rune(b)[next:to]))
		}
		next = to
	}
	for i, r := range []rune(a) {
		if pairs[i] == None {
			fmt.Fprintf(&out, "[%c]", r)
			continue
		}
		added(pairs[i])
		out.WriteRune(r)
		next++
	}
	added(len([]rune(b)))
	return out.String()
}

func TestMatch(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ a, b, want string }{
		{"", "", ""}, {"abc", "abc", "abc"}, {"abc", "", "[a][b][c]"}, {"", "abc", "{abc}"},
		{"abc", "axc", "a[b]{x}c"}, {"abcd", "bcde", "[a]bcd{e}"}, {"abab", "baba", "[a]bab{a}"},
		{"a,b,c,d", "x,b,y,d", "[a]{x},b,[c]{y},d"},
		{"one", "two", "{tw}o[n][e]"},
	} {
		if got := shown(c.a, c.b); got != c.want {
			t.Errorf("%q %q: %s, want %s", c.a, c.b, got, c.want)
		}
	}
}

func TestMatchIsACommonSubsequence(t *testing.T) {
	t.Parallel()
	letters := rapid.SliceOfN(rapid.IntRange(0, 6), 0, 60)
	rapid.Check(t, func(t *rapid.T) {
		a, b := letters.Draw(t, "a"), letters.Draw(t, "b")
		pairs, last, matched := Match(a, b), -1, 0
		for i, j := range pairs {
			if j == None {
				continue
			}
			if j <= last || a[i] != b[j] {
				t.Fatalf("%v %v: %v", a, b, pairs)
			}
			last, matched = j, matched+1
		}
		if fmt.Sprint(a) == fmt.Sprint(b) && matched != len(a) {
			t.Fatalf("%v is not all of itself", a)
		}
	})
}

// TestMatchIsBounded uses inputs for which a simple algorithm takes quadratic time.
func TestMatchIsBounded(t *testing.T) {
	t.Parallel()
	const n = 200_000
	reversed, twice, two, three := make([]int, n), make([]int, n), make([]int, n), make([]int, n)
	up := make([]int, n)
	for i := range n {
		up[i], reversed[i], twice[i], two[i], three[i] = i, n-i, i/2, i%2, i%3
	}
	took := cputime.Of(func() {
		for _, pair := range [][2][]int{{up, reversed}, {up, twice}, {twice, reversed}, {two, three}, {twice, two}} {
			Match(pair[0], pair[1])
		}
	})
	if took > 20*time.Second {
		t.Errorf("Match took %v of processor time, want at most 20s", took)
	}
}

func TestIncreasing(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{"[]": "[]", "[3 1 2]": "[1 2]", "[1 2 3]": "[0 1 2]", "[2 2 1]": "[2]", "[5 1 4 2 3]": "[1 3 4]"} {
		var values []int
		for _, field := range strings.Fields(strings.Trim(in, "[]")) {
			values = append(values, int(field[0]-'0'))
		}
		if got := fmt.Sprint(Increasing(values)); got != want {
			t.Errorf("%s: %s, want %s", in, got, want)
		}
	}
}
