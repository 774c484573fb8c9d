package pdf_test

import (
	"math"
	"strings"
	"testing"
)

// TestWordsStayWhole: long lines of code and names break between their words, at whichever place the line ends.
func TestWordsStayWhole(t *testing.T) {
	t.Parallel()
	code := "function revokeUserDecryptionDelegations(address delegate, address[] memory contractAddresses) " +
		"internal returns (bool)"
	words := strings.Fields("function revoke User Decryption Delegations( address delegate, memory contract " +
		"Addresses internal returns bool)")
	for name, c := range map[string]struct {
		before, code, after string
		words               []string
	}{
		"a block":             {"```\n", code, "\n```\n\n", words},
		"a block in solidity": {"```solidity\n", code, "\n```\n\n", words},
		"inline code": {"", "`IACL.delegateForUserDecryption(HCUBlockLimitExceeded, msg.sender)`", "\n\n", []string{
			"IACL.", "delegate", "For", "User", "Decryption(", "Limit", "Exceeded", "msg.", "sender)",
		}},
		"text": {"", "see com.example.service.AccountNameResolverForLegacySystems.resolveAll", "\n\n", []string{
			"example.", "service.", "Account", "Name", "Resolver", "Legacy", "Systems.", "resolve", "All",
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var text strings.Builder
			for n := range 60 {
				text.WriteString(c.before + strings.Repeat("x ", n) + c.code + c.after)
			}
			r := render(t, source(t, read(t, text.String())))
			lines := map[string]int{}
			for i := 1; i <= r.NumPage(); i++ {
				glyphs := r.Page(i).Content().Text
				var line strings.Builder
				for j, g := range glyphs {
					line.WriteString(g.S)
					if j+1 == len(glyphs) || math.Round(glyphs[j+1].Y) != math.Round(g.Y) {
						lines[strip(line.String())]++
						line.Reset()
					}
				}
			}
			for _, word := range c.words {
				found, want := 0, 60*strings.Count(c.code, word)
				for line, n := range lines {
					found += n * strings.Count(line, word)
				}
				if found != want {
					t.Errorf("%q is whole in %d of %d places", word, found, want)
				}
			}
		})
	}
}
