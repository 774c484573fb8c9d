package words

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestTokens(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"":                      "",
		"Run the COMMAND, now!": "1run 2the 3command 4now",
		"l'été où ça":           "1l 2ete 3ou 4ca",
		"Straße ﬁnden Ｗｉｄｅ":     "1strasse 2finden 3wide",
		"ΟΔΟΣ οδός":             "1οδοσ 2οδοσ",
		"ёлка й":                "1елка 2и",
		"createPage HTTPServer": "1createpage 1create 1page 2httpserver 2http 2server",
		"snake_case v2.0 a-b":   "1snake 2case 3v2 40 5a 6b",
		"東京都 is big":            "1東京 2京都 3都 4is 5big",
		"漢字kana":                "1漢字 2字 3kana",
		"サーバー":                  "1サー 2ーバ 3バー 4ー",
		"ｻｰﾊﾞｰ":                 "1サー 2ーバ 3バー 4ー",
		"हिन्दी में":            "1हिन्दी 2में",
		"ไทย":                   "1ไท 2ทย 3ย",
		"İstanbul ısı":          "1istanbul 2isi",
		"\u0301a \x00\xff":      "1a",
	} {
		var got []string
		for _, token := range Tokens(text, 100) {
			got = append(got, string(rune('0'+token.Position))+token.Folded)
		}
		if d := cmp.Diff(want, strings.Join(got, " ")); d != "" {
			t.Errorf("%q: %s", text, d)
		}
	}
}

func TestTokensAreBounded(t *testing.T) {
	t.Parallel()
	for _, text := range []string{strings.Repeat("a ", 1000), strings.Repeat("aB", 1000), strings.Repeat("東", 1000), strings.Repeat("aBc ", 1000)} {
		if n := len(Tokens(text, 100)); n > 100 {
			t.Errorf("%d tokens", n)
		}
	}
	long := Tokens(strings.Repeat("x", 10_000), 10)
	if len(long) != 1 || len(long[0].Folded) != maxWord {
		t.Errorf("%d tokens, the first of %d letters", len(long), len(long[0].Folded))
	}
}

func TestNear(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		written, meant string
		edits          int
		ok             bool
	}{
		{"word", "word", 0, true},
		{"wrod", "word", 1, true},
		{"wod", "word", 1, true},
		{"woord", "word", 1, true},
		{"wird", "word", 1, true},
		{"wirt", "word", 2, false},
		{"authentcaton", "authentication", 2, true},
		{"authntcaton", "authentication", 3, false},
		{"прогрма", "программа", 2, false},
	} {
		if edits, ok := Near(test.written, test.meant); ok != test.ok || ok && edits != test.edits {
			t.Errorf("%s, %s: %d %t", test.written, test.meant, edits, ok)
		}
	}
}

// TestOneEditLeavesACommonKey makes one edit in random words. The word before the edit and the word after it must have
// an equal key.
func TestOneEditLeavesACommonKey(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		letter := rapid.SampledFrom([]rune("abcñ"))
		word := rapid.SliceOfN(letter, minKnown, 10).Draw(t, "word")
		other := slices.Clone(word)
		at := rapid.IntRange(0, len(word)-2).Draw(t, "at")
		switch rapid.IntRange(0, 3).Draw(t, "edit") {
		case 0:
			other = slices.Delete(other, at, at+1)
		case 1:
			other = slices.Insert(other, at, letter.Draw(t, "letter"))
		case 2:
			other[at] = letter.Draw(t, "letter")
		default:
			other[at], other[at+1] = other[at+1], other[at]
		}
		a, b := string(word), string(other)
		if edits, ok := Near(a, b); !ok || edits > 1 {
			t.Errorf("%s and %s are %d edits apart", a, b, edits)
		}
		keys := Keys("1", a)
		if !slices.ContainsFunc(Keys("1", b), func(key string) bool { return slices.Contains(keys, key) }) {
			t.Errorf("%s and %s have no common key", a, b)
		}
		if slices.Contains(Keys("2", b), keys[0]) {
			t.Error("scopes share keys")
		}
	})
}

func TestMeant(t *testing.T) {
	t.Parallel()
	candidates := []Candidate{{"installing", 3}, {"installed", 9}, {"instilling", 9}, {"other", 100}, {"instaling", 1}}
	if got := Meant("instaling", candidates); !slices.Equal(got, []string{"installing"}) {
		t.Errorf("%q", got)
	}
	if got := Meant("xnstilling", candidates); !slices.Equal(got, []string{"instilling"}) {
		t.Errorf("%q", got)
	}
}

func TestCompile(t *testing.T) {
	t.Parallel()
	stems := Stems{"installing": "instal", "the": "", "how": "", "to": "", "run": "run"}
	meant := map[string][]string{"comand": {"command"}}
	for text, want := range map[string]struct{ all, exact, terms, without string }{
		"":         {},
		" - -a \"": {all: "!(('1 a' | '1~a'))", without: "(('1 a' | '1~a'))"},
		"run":      {"(('1 run':* | '1~run'))", "'1 run'", "('1 run':* | '1~run')", ""},
		"installing run": {
			"(('1 installing' | '1~instal' | '1 instal')) & (('1 run':* | '1~run'))", "'1 installing' | '1 run'",
			"('1 installing' | '1~instal' | '1 instal') ; ('1 run':* | '1~run')", "",
		},
		"the run comand": {
			"(('1 run' | '1~run')) & (('1 comand':* | '1~comand' | '1 command'))", "'1 run' | '1 comand'",
			"('1 run' | '1~run') ; ('1 comand':* | '1~comand' | '1 command')", "",
		},
		`"run the" -it's -x`: {
			"('1 run' <-> '1 the') & !(('1 it' | '1~it') & ('1 s' | '1~s')) & !(('1 x' | '1~x'))", "'1 run' | '1 the'",
			"('1 run' <-> '1 the')", "(('1 it' | '1~it') & ('1 s' | '1~s')) | (('1 x' | '1~x'))",
		},
		"openRun x": {
			"((('1 openrun' | '1~openrun') | (('1 open' | '1~open') & ('1 run' | '1~run')))) & (('1 x':* | '1~x'))",
			"'1 openrun' | '1 open' | '1 run' | '1 x'",
			"(('1 openrun' | '1~openrun') | (('1 open' | '1~open') & ('1 run' | '1~run'))) ; ('1 x':* | '1~x')", "",
		},
		"openRun": {
			"((('1 openrun':* | '1~openrun') | (('1 open' | '1~open') & ('1 run':* | '1~run'))))",
			"'1 openrun' | '1 open' | '1 run'",
			"(('1 openrun':* | '1~openrun') | (('1 open' | '1~open') & ('1 run':* | '1~run')))", "",
		},
		`"openRun x" -openRun y`: {
			"('1 openrun' <-> '1 x') & !(('1 openrun' | '1~openrun')) & (('1 y':* | '1~y'))",
			"'1 openrun' | '1 open' | '1 run' | '1 x' | '1 y'", "('1 openrun' <-> '1 x') ; ('1 y':* | '1~y')",
			"(('1 openrun' | '1~openrun'))",
		},
		`"東京都"`: {"('1 東京' <-> '1 京都' <-> '1 都':*)", "'1 東京' | '1 京都' | '1 都'", "('1 東京' <-> '1 京都' <-> '1 都':*)", ""},
		"東京都": {"(('1 東京') & ('1 京都') & ('1 都':*))", "'1 東京' | '1 京都' | '1 都'", "('1 東京') ; ('1 京都') ; ('1 都':*)",
			""},
	} {
		got := ParseQuery(text).Compile("1", stems, meant)
		if got.All != want.all || got.Exact != want.exact || strings.Join(got.Terms, " ; ") != want.terms ||
			got.Without != want.without {
			t.Errorf("%q:\n%s\n%s\n%s\n%s", text, got.All, got.Exact, strings.Join(got.Terms, " ; "), got.Without)
		}
	}
}

// TestParts divides texts into parts. Every word must be in a part, the parts must be bounded, and each phrase must be
// within one part.
func TestParts(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		text  string
		parts int
	}{
		"nothing":    {"", 1},
		"short":      {strings.Repeat("word ", maxWhole), 1},
		"long":       {strings.Repeat("word ", maxWhole+1), 3},
		"long words": {strings.Repeat(strings.Repeat("ж", 100)+" ", 10_000), 4},
		"camel case": {strings.Repeat("openTelemetryCollector ", 20_000), 6},
		"one word":   {strings.Repeat("aB", 200_000), 9},
		"chinese":    {strings.Repeat("文", 20_000), 3},
	} {
		tokens := Tokens(test.text, 1<<20)
		parts := Parts(tokens)
		if len(parts) != test.parts {
			t.Errorf("%s: %d parts, want %d", name, len(parts), test.parts)
		}
		at := 0
		for i, part := range parts {
			if i > 0 {
				back := 0
				for back < overlapTokens && tokens[at-back-1].Position > tokens[at-1].Position-overlap {
					back++
				}
				at -= back
			}
			for j, token := range part {
				same := tokens[at]
				if same.Position -= tokens[at-j].Position - part[0].Position; token != same {
					t.Fatalf("%s: word %d of part %d is %+v, want %+v", name, j, i, token, same)
				}
				at++
			}
			vector := Vector("zzzz", nil, Field{Body, part})
			if last := part; len(last) > 0 && len(parts) > 1 &&
				(last[len(last)-1].Position > maxPart || vectorBytes(last) > maxPartBytes+1<<10) {
				t.Errorf(
					"%s: part %d has %d words, and %d bytes of %d",
					name,
					i,
					len(last),
					vectorBytes(last),
					len(vector.Text),
				)
			}
		}
		if at != len(tokens) {
			t.Errorf("%s: %d words of %d are in parts", name, at, len(tokens))
		}
	}
}

func TestVector(t *testing.T) {
	t.Parallel()
	title, body := Tokens("Installing", 9), Tokens("It's the installing", 9)
	got := Vector("z", Stems{"installing": "instal", "the": ""}, Field{Title, title}, Field{Body, body})
	if want := "'z installing':1A,13D 'z it':10D 'z s':11D 'z the':12D 'z~instal':1A,13D "; got.Text != want {
		t.Errorf("%s", got.Text)
	}
	if known := Known("z", got.Lexemes); !slices.Equal(known, []string{"installing"}) {
		t.Errorf("%q", known)
	}
}

func FuzzQuery(f *testing.F) {
	for _, seed := range []string{"", `a "b c" -d`, `'\`, "東京 ｻｰ", "createPage", "\xff\x00", `"`, "--", "İı"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		query := ParseQuery(text)
		words := 0
		for _, term := range query.terms {
			words += len(term.words())
			for _, token := range term.tokens {
				if token.Folded == "" || !utf8.ValidString(token.Folded) || strings.ContainsAny(token.Folded, " ~'\\\x00") {
					t.Errorf("%q has the word %q", text, token.Folded)
				}
			}
		}
		if words > maxQuery {
			t.Errorf("%d words", words)
		}
		if compiled := query.Compile("1", nil, nil); query.None() != (compiled.Exact == "") {
			t.Errorf("%q: %+v", text, compiled)
		}
	})
}

// TestCount checks that Count returns the position of a text's last token.
func TestCount(t *testing.T) {
	t.Parallel()
	letters := []rune("aZ9 .-\n_'éßｶﾞ漢字ーっสระ한글ا\u0301\u200dﬁ½①")
	rapid.Check(t, func(t *rapid.T) {
		text := string(rapid.SliceOf(rapid.SampledFrom(letters)).Draw(t, "text"))
		want := 0
		if tokens := Tokens(text, 1<<20); len(tokens) > 0 {
			want = tokens[len(tokens)-1].Position
		}
		if got := Count(text); got != want {
			t.Fatalf("%q: %d words, want %d", text, got, want)
		}
	})
	if n := Count("Install the CLI, then run `octavo site`."); n != 7 {
		t.Errorf("%d words, want 7", n)
	}
}
