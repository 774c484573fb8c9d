package pdf_test

import (
	"math"
	"strings"
	"testing"

	"github.com/octavo-docs/octavo/schema/content/pdf"
)

// linesOf returns how often each line occurs in a rendered document. The lines have no white space.
func linesOf(t *testing.T, s pdf.Source) map[string]int {
	t.Helper()
	r := render(t, s)
	lines := map[string]int{}
	for i := 1; i <= r.NumPage(); i++ {
		glyphs := r.Page(i).Content().Text
		var line strings.Builder
		for j, g := range glyphs {
			if strings.ContainsAny(g.S, "\u200b\u2060") {
				t.Fatalf("sheet %d has %q, which readers would copy", i, g.S)
			}
			line.WriteString(g.S)
			if j+1 == len(glyphs) || math.Round(glyphs[j+1].Y) != math.Round(g.Y) {
				lines[strip(line.String())]++
				line.Reset()
			}
		}
	}
	return lines
}

// whole returns how often a word occurs completely within one line.
func whole(lines map[string]int, word string) int {
	found := 0
	for line, n := range lines {
		found += n * strings.Count(line, strip(word))
	}
	return found
}

// longWords has words that fit into an empty line, but do not fit into the rest of a line after other text.
var longWords = []string{
	"FHEVMHandle", "`FHEVMExecutor`", "(`usedBlockHCU`).", "**`HCUTransactionLimitExceeded`**",
	"`IACL.delegateForUserDecryption()`", "com.example.service.AccountNameResolverForLegacySystems",
	"`kubernetes.io_service_account.name`", "0x8ba1f109551bD432803012645Ac136ddd64DBA72",
	"snake_case_names_that_go_on_and_on", "[SystemNameResolver](https://example.com)`ForOlderSystems`", "Donaudampfschifffahrtsgesellschaftskapitän",
	"конфигурирование_ПользовательскогоИнтерфейса",
}

// TestWordsStayWhole checks that a word which fits into a line is not broken, at any place of a line.
func TestWordsStayWhole(t *testing.T) {
	t.Parallel()
	forms := map[string][]struct{ before, after string }{
		"text": {
			{"", "\n\n"}, {"- ", "\n\n"}, {"> ", "\n\n"}, {"### ", "\n\n"},
			{"{% hint style=\"info\" %}\n", "\n{% endhint %}\n\n"},
			{"{% stepper %}\n{% step %}\n", "\n{% endstep %}\n{% endstepper %}\n\n"},
		},
		"parts": {
			{"| a | b |\n| - | - |\n| c | ", " |\n\n"},
			{
				"{% columns %}\n{% column width=\"80%\" %}\n",
				"\n{% endcolumn %}\n\n{% column %}\nx\n{% endcolumn %}\n{% endcolumns %}\n\n",
			},
		},
	}
	for name, list := range forms {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var text strings.Builder
			for i, word := range longWords {
				for n := range 12 {
					form := list[(i+n)%len(list)]
					text.WriteString(form.before + strings.Repeat("xxx ", 2*n) + word + " and more" + form.after)
				}
			}
			lines := linesOf(t, source(t, read(t, text.String())))
			shown := strings.NewReplacer("`", "", "*", "", "[", "", "](https://example.com)", "", "\\", "")
			for _, word := range longWords {
				if found := whole(lines, shown.Replace(word)); found != strings.Count(text.String(), word) {
					t.Errorf("%q is whole in %d of %d places", word, found, strings.Count(text.String(), word))
				}
			}
		})
	}
}

// TestCodeStaysWhole checks that a line of code breaks only at spaces, if each word fits into a line.
func TestCodeStaysWhole(t *testing.T) {
	t.Parallel()
	code := "function revokeUserDecryptionDelegations(address delegate, address[] memory contractAddresses) " +
		"internal returns(bool) // https://example.com/a_path/of/FHEVMExecutor.sol"
	for _, syntax := range []string{"", "js"} {
		var text strings.Builder
		for n := range 40 {
			text.WriteString("```" + syntax + "\n" + strings.Repeat("x ", n) + code + "\n```\n\n")
		}
		lines := linesOf(t, source(t, read(t, text.String())))
		words := "revokeUserDecryptionDelegations(address delegate, contractAddresses) returns(bool)"
		for _, word := range strings.Fields(words) {
			if found := whole(lines, word); found != 40 {
				t.Errorf("%s: %q is whole in %d of 40 places", syntax, word, found)
			}
		}
	}
}

// TestLongWordsBreakBetweenParts checks words that are wider than a line. They break after signs and before capital
// letters. If a reader copies the text, the word is as it was written.
func TestLongWordsBreakBetweenParts(t *testing.T) {
	t.Parallel()
	word := strings.Repeat("IACL.delegateForUserDecryption(HCUBlockLimit,msg_sender)/", 4)
	parts := []string{
		"IACL.", "delegate", "User", "Decryption(", "HCU", "Block", "Limit", "msg_", "sender)/",
	}
	for name, forms := range map[string][]struct{ before, after string }{
		"text": {
			{"", "\n\n"}, {"`", "`\n\n"}, {"(`", "`).\n\n"}, {"**bold**", "\n\n"},
			{"[", "](https://example.com)\n\n"},
		},
		"code":   {{"```\n", "\n```\n\n"}, {"```js\n", "\n```\n\n"}},
		"a cell": {{"| a | b | c | d | e |\n| - | - | - | - | - |\n| some text | here | `", "` | and | there |\n\n"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var text strings.Builder
			for n := range 16 {
				form := forms[n%len(forms)]
				text.WriteString(form.before + strings.Repeat("x", n) + word + form.after)
			}
			lines := linesOf(t, source(t, read(t, text.String())))
			for _, part := range parts {
				if found, want := whole(lines, part), strings.Count(text.String(), part); found != want {
					t.Errorf("%q is whole in %d of %d places", part, found, want)
				}
			}
		})
	}
}
