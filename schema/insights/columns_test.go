package insights

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"

	"github.com/octavo-docs/octavo/schema/sqltree"
)

var update = flag.Bool("update", false, "write the golden files")

func golden(t *testing.T, path, got string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s (-want +got; -update writes it):\n%s", path, diff)
	}
}

var utc = Env{Zone: UTC}

// sql prints an expression.
func sql(e sqltree.Expr) string {
	text := (&sqltree.Select{Columns: []sqltree.Aliased{{Expr: e}}, Table: "t"}).Print().SQL
	return strings.TrimSuffix(strings.TrimPrefix(text, "SELECT "), "\nFROM t")
}

func (r Role) words() string {
	var list []string
	for i, word := range []string{"filter", "group", "measure", "time"} {
		if r&(1<<i) != 0 {
			list = append(list, word)
		}
	}
	return strings.Join(list, " ")
}

// TestColumnsGolden compares the whole table as text, so that the diff shows the
// effect of a changed row.
func TestColumnsGolden(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	for i := range columns {
		c := &columns[i]
		name := c.Name
		if name == "" {
			name = "(stored only)"
		}
		fmt.Fprintf(&b, "%s\n", name)
		line := func(label, format string, args ...any) {
			if text := fmt.Sprintf(format, args...); text != "" {
				fmt.Fprintf(&b, "    %-9s %s\n", label, text)
			}
		}
		line("doc", "%s", c.Doc)
		line("roles", "%s", c.Roles.words())
		line("privacy", "%s", c.Privacy)
		if c.Value != nil {
			line("values", "%s, bound as %s", c.Value.Shape(), c.Value.Type())
			line("absent", "%s", []string{"never", "null", `""`, "excluded", "0"}[c.Null])
			line("operators", "%s", strings.Join(OperatorWords(c.Operators), " "))
		}
		args := Arguments{}
		if c.Extra != nil {
			line("extra", "%s", c.Extra.Name)
			if c.Extra.Default != nil {
				c.Extra.Default(&args)
			}
		}
		for _, f := range c.Fields {
			line("field", "%d %s %s CODEC(%s)", f.id, f.Name, f.Type, f.Codec)
		}
		if c.Expr != nil {
			line("reads", "%s", sql(c.Expr(args, utc)))
		}
		if c.Extra == extraInterval {
			for _, interval := range intervals {
				line(interval.Word, "%s", sql(c.Expr(Arguments{Interval: interval}, utc)))
			}
		}
		if c.Unique {
			line("bounded", "%s", sql(c.Expr(args, Env{Zone: UTC, Counting: CountBounded})))
			line("totals", "%s", sql(c.Expr(args, Env{Zone: UTC, Counting: CountTotals})))
			line("sketched", "%s", sql(c.Expr(args, Env{Zone: UTC, Counting: CountSketched})))
		}
		for _, part := range c.Session {
			if part.Of == nil {
				line(part.Name, "%s of the visitor's first event", sql(part.First()))
				continue
			}
			line(part.Name, "%s of a session", sql(part.Of()))
		}
		if c.Nothing != nil {
			line("nothing", "%s", sql(c.Nothing()))
		}
		if len(c.Visit) > 0 {
			line("visit", "%s", strings.Join(c.Visit, ", "))
		}
		for _, counter := range c.Counters {
			number, _ := counter.OfVisit(nil)
			line(counter.Name, "%s of an event, %s of a visit", sql(counter.OfEvent()), sql(number))
		}
		if c.HasValue != nil {
			line("present", "%s", sql(c.HasValue()))
		}
		if c.Match != nil {
			line("match", "%s", sql(c.Match(Arguments{}, []any{"8928308280fffff"})))
		}
		if c.Rank != nil {
			line("ranks by", "%s", sql(c.Rank.Of(sqltree.Col("value"))))
		}
	}
	golden(t, "testdata/columns.txt", b.String())
}

func TestColumnsAreSound(t *testing.T) {
	t.Parallel()
	names, ids, stored := map[string]bool{}, map[uint8]string{}, map[string]bool{}
	for _, reserved := range []string{ColumnSite, ColumnPartition, ColumnOffset, ColumnIndex} {
		stored[reserved] = true
	}
	for i := range columns {
		c := &columns[i]
		fail := func(format string, args ...any) {
			t.Helper()
			t.Errorf("row %d %q: %s", i, c.Name, fmt.Sprintf(format, args...))
		}
		if c.Doc == "" || !strings.HasSuffix(c.Doc, ".") {
			fail("its doc is not a sentence: %q", c.Doc)
		}
		for _, f := range c.Fields {
			if other, ok := ids[f.id]; ok {
				fail("the id %d is also that of %s", f.id, other)
			}
			if f.id > 63 {
				fail("the id %d does not fit into the log's mask", f.id)
			}
			if stored[f.Name] {
				fail("the field %s is there twice", f.Name)
			}
			if f.Type == "" || f.Codec == "" || f.wire == nil {
				fail("the field %s is not whole", f.Name)
			}
			if v := reflect.ValueOf(f.wire.buffer().values()); v.Kind() != reflect.Slice {
				fail("the field %s gives no slice", f.Name)
			}
			ids[f.id], stored[f.Name] = f.Name, true
		}
		if c.Name == "" {
			if len(c.Fields) == 0 || c.Roles != 0 || c.Value != nil || c.Expr != nil {
				fail("a row without a name only stores")
			}
			continue
		}
		if names[c.Name] {
			fail("the name is there twice")
		}
		names[c.Name] = true
		if found, ok := ByName(c.Name); !ok || found != c {
			fail("ByName does not find it")
		}
		if c.Value == nil || c.Expr == nil || c.Roles == 0 || c.Value.Shape() == "" || c.Value.Type().String() == "" || c.Value.New() == nil {
			fail("is not whole")
		}
		if c.Has(Group) == c.Has(Measure) {
			fail("is a dimension or a measure, and not both")
		}
		if c.Has(Filter) != (len(c.Operators) > 0) {
			fail("has operators exactly if it is a filter")
		}
		_, measured := c.Value.(measuredValue)
		if (c.Null == Excluded || c.Null == AsZero || measured) != (c.HasValue != nil) {
			fail("has HasValue exactly if absent values are excluded, or zero, or not measured")
		}
		if c.Has(Time) != (c.Extra == extraInterval) {
			fail("takes an interval exactly if it is time")
		}
		if c.Unique && !c.Has(Measure) {
			fail("only measures count different values")
		}
		if _, ok := c.Value.New().(*uint64); c.Unique && !ok {
			fail("an estimate is read as a uint64")
		}
	}
	for i := range len(ids) {
		if _, ok := ids[uint8(i)]; !ok {
			t.Errorf("the field id %d is left out: ids are given in order", i)
		}
	}
	if _, ok := ByName(""); ok {
		t.Error("the empty name matches a column")
	}
}

// TestPublishedColumns checks that the table has all columns of the contract's list (facts §3.2 and §10). All other
// columns must be Octavo's own.
func TestPublishedColumns(t *testing.T) {
	t.Parallel()
	published := strings.Fields(`datetime url eventType eventsCount sessionsCount visitorsCount siteSection siteSpace siteShareKey
		displayContext page visitorGeoCountry visitorGeoPoint visitorDevice visitorBrowser visitorOS visitorBot visitorLanguage
		eventLinkTargetValue eventLinkTargetKind eventLinkTargetDomain eventLinkPosition eventAPIOperationPath eventAPIOperationMethod
		eventSearchQuery eventPageFeedbackRating eventPageFeedbackComment eventAskResponseRating pageFeedbackRating askResponseRating
		referrer referrerDomain utmSource utmMedium utmCampaign utmTerm utmContent visitorClaimProperty visitorClaim eventAdDomain
		eventAdPlacement eventTrademarkPlacement dayOfWeek hourOfDay urlPath visitorAuthenticated eventLLMSVariant
		eventPageNotFoundType eventMarkdownSource eventSearchResultRecordId`)
	left := map[string]bool{}
	for name := range byName {
		left[name] = true
	}
	for _, name := range published {
		if !left[name] {
			t.Errorf("%s is missing", name)
		}
		delete(left, name)
	}
	for _, extension := range strings.Fields("peopleCount bounceRate sessionDuration pagesPerSession entryPage " +
		"exitPage eventSearchResultPage " +
		"searchResults engagedSeconds scrollDepth engagedTime meanScrollDepth pageTitle " +
		"agentClass agentOperator agentVerified contentForm httpStatus eventDoor eventKey channel sourceName " +
		"firstChannel firstSource") {
		delete(left, extension)
	}
	if len(left) > 0 {
		t.Errorf("not in the contract: %v", left)
	}
}

// TestAppendText compares the result of AppendText with the result of encoding/json.
func TestAppendText(t *testing.T) {
	t.Parallel()
	all := make([]byte, 256)
	for i := range all {
		all[i] = byte(i)
	}
	for _, s := range []string{"", "plain", "a<b>&c", `"\`, "\x00\x1f\x7f\n\t\r\b", "ü€😀\u2028", "\xff", "a\xc3", "\xed\xa0\x80x", string(all)} {
		t.Run(strconv.Quote(s), func(t *testing.T) {
			var got, want string
			if err := json.Unmarshal(AppendText(nil, s), &got); err != nil {
				t.Errorf("%q: %v", s, err)
			}
			marshalled, _ := json.Marshal(s)
			_ = json.Unmarshal(marshalled, &want)
			if got != want {
				t.Errorf("%q: %q, want %q", s, got, want)
			}
		})
	}
}

// TestValues has rows for each kind of value. A row has the input, and the value that is read or the error.
func TestValues(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		column, raw string
		want        any // an error's text starts with "!"
	}{
		{"url", `"x"`, "x"},
		{"url", `null`, "!must be a string"},
		{"url", `1`, "!must be a string"},
		{"siteSection", `null`, ""},
		{"siteSection", ` null `, ""},
		{"siteSection", `{}`, "!must be a string or null"},
		{"siteSection", `"06h03m2k9v0000000000000abc"`, "06h03m2k9v0000000000000abc"},
		{"siteSection", `"sec_06h03m2k9v0000000000000abc"`, "06h03m2k9v0000000000000abc"},
		{"siteSection", `"sec_else"`, "sec_else"},
		{"visitorDevice", `"mobile"`, "mobile"},
		{"visitorDevice", `"Mobile"`, `!must be a value of the column, not "Mobile"`},
		{"visitorDevice", `""`, "!must be one of desktop, tablet, mobile, unknown"},
		{"visitorDevice", `null`, "!must be one of desktop, tablet, mobile, unknown"},
		{"visitorBot", `""`, ""},
		{"visitorBot", `null`, ""},
		{"eventLLMSVariant", `null`, ""},
		{"eventLLMSVariant", `""`, "!must be one of standard, full or null"},
		{"eventsCount", `2.5`, 2.5},
		{"eventsCount", `1e999`, "!must be a number"},
		{"eventsCount", `"2"`, "!must be a number"},
		{"eventsCount", `null`, "!must be a number"},
		{"hourOfDay", `23`, int64(23)},
		{"hourOfDay", `2.3e1`, int64(23)},
		{"hourOfDay", `7.0`, int64(7)},
		{"hourOfDay", `24`, "!must be an integer from 0 to 23"},
		{"hourOfDay", `2.5`, "!must be an integer from 0 to 23"},
		{"visitorAuthenticated", `true`, uint8(1)},
		{"visitorAuthenticated", `null`, uint8(2)},
		{"visitorAuthenticated", `1`, "!must be true, false or null"},
		{"datetime", `"2026-01-31T01:02:03.4567+02:00"`, "2026-01-30 23:02:03.456"},
		{"datetime", `"1969-12-31T23:59:59Z"`, "!must be a date-time of the years 1970 to 2105"},
		{"datetime", `"2106-01-01T00:00:00Z"`, "!must be a date-time of the years 1970 to 2105"},
		{"datetime", `1769817600`, "!" + TimeProblem},
		{"page", `{"page":"p","space":"s"}`, sqltree.Tuple{"s", "p"}},
		{"page", `{"page":null,"space":"s"}`, sqltree.Tuple{"s", ""}},
		{"page", `null`, sqltree.Tuple{"", ""}},
		{"page", `{"page":"p"}`, "!must be an object {page: string or null, space: string}, {page: null} or null"},
		{"page", `{}`, "!must be an object {page: string or null, space: string}, {page: null} or null"},
		{"page", `{"page":7}`, "!must be an object {page: string or null, space: string}, {page: null} or null"},
		{"page", `{"page":"p","Space":"s"}`, `!has no member "Space"`},
		{"visitorGeoPoint", `{"latitude":1,"longitude":2,"h3":"8928308280fffff"}`, "8928308280fffff"},
		{"visitorGeoPoint", `{"latitude":1,"longitude":2}`, "!must be an object {latitude: number, longitude: number, h3: string} or null, with h3 as a result gave it"},
		{"visitorGeoPoint", `null`, ""},
		{"eventLinkTargetValue", `{"space":"s","kind":"page","page":"p"}`, `{"kind":"page","page":"p","space":"s"}`},
		{"eventLinkTargetValue", `{"kind":"page","page":"p","foo":1}`, `!has no member "foo"`},
		{"eventLinkTargetValue", `{"kind":"page"}`, "!page must be a non-empty string of at most 8192 bytes"},
		{"eventLinkTargetValue", `null`, "!must be a content reference, an object with kind"},
		{"searchResults", `0`, int64(0)},
		{"searchResults", `1e6`, int64(1_000_000)},
		{"searchResults", `null`, int64(notMeasured)},
		{"searchResults", `-1`, "!must be an integer from 0 to 1000000 or null"},
		{"scrollDepth", `101`, "!must be an integer from 0 to 100 or null"},
		{"engagedTime", `null`, "!must be a number"},
		{"pageFeedbackRating", `1`, "!has no filter"},
	} {
		t.Run(c.column+" "+c.raw, func(t *testing.T) {
			column, _ := ByName(c.column)
			got, err := column.Value.Parse(jsontext.Value(c.raw))
			if err != nil {
				got = "!" + err.Error()
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("%s %s: %s", c.column, c.raw, diff)
			}
		})
	}
}

// TestLinkKindsOfTheContract checks that the column has exactly the kinds of the published contract (facts §3.6). Links
// of other kinds are accepted and stored, but have no value in this column.
func TestLinkKindsOfTheContract(t *testing.T) {
	t.Parallel()
	published := strings.Fields("url page file anchor space collection user reusable-content")
	c, _ := ByName("eventLinkTargetKind")
	for _, kind := range LinkKinds.Words() {
		t.Run(kind, func(t *testing.T) {
			if _, err := c.Value.Parse([]byte(`"` + kind + `"`)); (err == nil) != slices.Contains(published, kind) {
				t.Errorf("%s as a value: %v", kind, err)
			}
		})
	}
	if got := c.Value.Shape(); got != "one of "+strings.Join(published, ", ") {
		t.Errorf("values %q", got)
	}
}

// TestSectionsAreShown checks the form of section ids in responses.
func TestSectionsAreShown(t *testing.T) {
	t.Parallel()
	column, _ := ByName("siteSection")
	for stored, want := range map[string]string{
		"06h03m2k9v0000000000000abc": `"sec_06h03m2k9v0000000000000abc"`, "sitesc_Ab3dE": `"sitesc_Ab3dE"`, "": "null",
	} {
		if got := string(column.Value.Append(nil, &stored)); got != want {
			t.Errorf("%q: %s, want %s", stored, got, want)
		}
	}
}
