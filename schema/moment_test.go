package schema_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/octavo-docs/octavo/schema"
)

// TestMoments encodes times at every place of a value that can contain them. All times must have the same form and the
// same length. The order of the texts must be the order of the times.
func TestMoments(t *testing.T) {
	t.Parallel()
	zone := time.FixedZone("", 2*60*60+30*60)
	whole := time.Date(2026, 11, 26, 11, 44, 5, 0, time.UTC)
	for _, test := range []struct {
		at   time.Time
		want string
	}{
		{whole, "2026-11-26T11:44:05.000Z"},
		{whole.Add(460 * time.Millisecond), "2026-11-26T11:44:05.460Z"},
		{whole.Add(460*time.Millisecond + 1), "2026-11-26T11:44:05.460Z"},
		{whole.Add(460_999_999), "2026-11-26T11:44:05.460Z"},
		{whole.Add(999_999_999), "2026-11-26T11:44:05.999Z"},
		{whole.In(zone), "2026-11-26T11:44:05.000Z"},
		{time.Date(1, 1, 1, 0, 0, 0, 1000, time.UTC), "0001-01-01T00:00:00.000Z"},
		{time.Date(9999, 12, 31, 23, 59, 59, 999_999_000, time.UTC), "9999-12-31T23:59:59.999Z"},
	} {
		if got := schema.FormatMoment(test.at); got != test.want {
			t.Errorf("%v is %s, want %s", test.at, got, test.want)
		}
		type inner struct {
			At *time.Time `json:"at,omitempty"`
		}
		for name, value := range map[string]any{
			"plain": test.at, "pointer": &test.at, "list": []time.Time{test.at},
			"map": map[string]time.Time{"at": test.at}, "any": map[string]any{"at": test.at},
			"member": inner{&test.at}, "members": []any{inner{&test.at}}, "opt": schema.Some(test.at),
			"list of objects": schema.List[inner]{Items: []inner{{&test.at}}},
		} {
			want := map[string]string{
				"plain": `"M"`, "pointer": `"M"`, "list": `["M"]`, "map": `{"at":"M"}`, "any": `{"at":"M"}`,
				"member": `{"at":"M"}`, "members": `[{"at":"M"}]`,
				"opt": `"M"`, "list of objects": `{"items":[{"at":"M"}],"count":0}`,
			}[name]
			got, err := schema.EncodeJSON(value)
			if diff := cmp.Diff(strings.ReplaceAll(want, "M", test.want), string(got)); diff != "" || err != nil {
				t.Errorf("%s: %s %v", name, diff, err)
			}
		}
	}
}
