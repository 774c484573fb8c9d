package access

import (
	"strings"
	"testing"
	"time"

	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/store/sites"
	"github.com/octavo-docs/octavo/store/storetest"
)

// TestSiteTokensStayTheSameForADay makes tokens on two nodes: before and after midnight, and before and after the
// weekly change of keys.
func TestSiteTokensStayTheSameForADay(t *testing.T) {
	t.Parallel()
	st := storetest.New(t)
	one, other := NewSiteTokens(st), NewSiteTokens(st)
	claims := SiteClaims{Organization: "o", Site: "s", Space: "p", Spaces: []string{"p"}, Claims: map[string]any{"b": 1, "a": map[string]any{"y": 2, "x": 1}}}
	// The week of a key begins on a Thursday, because the Unix epoch began on a Thursday.
	thursday := time.Unix(3000*7*24*60*60, 0).UTC()
	made := func(node *SiteTokens, at time.Time) string {
		t.Helper()
		text, err := node.Make(t.Context(), claims, at)
		if err != nil {
			t.Fatal(err)
		}
		return text
	}
	midday := made(one, thursday.Add(12*time.Hour))
	if made(one, thursday) != midday || made(other, thursday.Add(24*time.Hour-1)) != midday {
		t.Error("the text changes within a day")
	}
	next := made(other, thursday.Add(24*time.Hour))
	if next == midday || strings.Split(next, ".")[0] != strings.Split(midday, ".")[0] {
		t.Errorf("the next day: %s, before %s", next, midday)
	}
	before := made(one, thursday.Add(-time.Minute))
	if strings.Split(before, ".")[0] == strings.Split(midday, ".")[0] {
		t.Error("the key does not change with the week")
	}
	for _, test := range []struct {
		when  string
		token string
		at    time.Time
		good  bool
	}{
		{"at once", midday, thursday, true}, {"at the end of the day", midday, thursday.Add(24 * time.Hour), true},
		{"after the day", midday, thursday.Add(24*time.Hour + 5*time.Minute), false},
		{"with the key of the week before", before, thursday.Add(4 * time.Minute), true},
		{"after its day", before, thursday.Add(5 * time.Minute), false},
		{"by a clock that is behind", midday, thursday.Add(-time.Minute), true},
		{"weeks later", midday, thursday.Add(21 * 24 * time.Hour), false},
	} {
		for _, node := range []*SiteTokens{one, other} {
			read, err := node.read(t.Context(), []byte(test.token), test.at)
			if test.good && (err != nil || read.Site != "s" || read.Claims["b"] != 1.0) || !test.good && !schema.IsCode(err, schema.CodeUnauthorized) {
				t.Errorf("%s: %v %v", test.when, read, err)
			}
		}
	}
	if len(midday) > 350 {
		t.Errorf("a token of %d characters: %s", len(midday), midday)
	}
}

// TestSiteTokensEndWithTheirClaims makes a token from claims that expire before the end of the day. The token expires
// with them.
func TestSiteTokensEndWithTheirClaims(t *testing.T) {
	t.Parallel()
	tokens := NewSiteTokens(storetest.New(t))
	noon := time.Unix(3000*7*24*60*60, 0).Add(12 * time.Hour)
	text, err := tokens.Make(t.Context(), SiteClaims{Site: "s", ExpiresAt: noon.Add(7 * time.Minute).Unix()}, noon)
	if err != nil {
		t.Fatal(err)
	}
	for after, good := range map[time.Duration]bool{
		0: true, 7 * time.Minute: true, 10*time.Minute - 1: true, 10 * time.Minute: false,
	} {
		if _, err := tokens.read(t.Context(), []byte(text), noon.Add(after)); (err == nil) != good {
			t.Errorf("after %s: %v", after, err)
		}
	}
}

// TestKeysOfSiteTokensAreSealed checks that the table site_token_keys contains the keys only in encrypted form.
func TestKeysOfSiteTokensAreSealed(t *testing.T) {
	t.Parallel()
	st := storetest.New(t)
	key, err := st.Sites.TokenKey(t.Context(), "w1")
	if err != nil || len(key) != 32 {
		t.Fatal(key, err)
	}
	again, err := st.Sites.TokenKey(t.Context(), "w1")
	if err != nil || string(again) != string(key) {
		t.Error("another key of the same name", err)
	}
	if err := st.Sites.EndTokens(t.Context()); err != nil {
		t.Fatal(err)
	}
	if fresh, err := st.Sites.TokenKey(t.Context(), "w1"); err != nil || string(fresh) == string(key) {
		t.Error("the same key after it ended", err)
	}
}

// TestReadersSeeWhatTheirClaimsAllow checks which site spaces a reader sees: with conditions of site spaces and of
// sections, and with a condition that cannot be parsed.
func TestReadersSeeWhatTheirClaimsAllow(t *testing.T) {
	t.Parallel()
	section, beta, broken := "sec", "visitor.claims.beta", "visitor.("
	r := func(claims map[string]any) string {
		return strings.Join(NewReader(sites.Published{Parts: []sites.PublishedPart{
			{ID: "free", SpaceID: "1"}, {ID: "own", SpaceID: "2", Condition: &beta},
			{ID: "section's", SpaceID: "1", SectionID: &section, SectionCondition: &beta}, {ID: "broken", SpaceID: "3", Condition: &broken},
		}}, claims).SiteSpaces(), " ")
	}
	if got := r(nil); got != "free" {
		t.Error(got)
	}
	if got := r(map[string]any{"beta": true}); got != "free own section's" {
		t.Error(got)
	}
}
