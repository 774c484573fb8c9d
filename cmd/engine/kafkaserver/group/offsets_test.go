package group

import (
	stdjson "encoding/json"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
)

// TestCommitsAreReadByOtherVersions checks that commits in the journal are compatible with encoding/json, which earlier
// versions used.
func TestCommitsAreReadByOtherVersions(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]Commit{
		"zero":           {},
		"every member":   {Offset: 1<<63 - 1, Epoch: 7, Metadata: "octavo1 to=4", TopicID: "id", At: time.Date(2026, 3, 4, 5, 6, 7, 89, time.UTC)},
		"HTML":           {Metadata: "<a> & 'b'\u2028"},
		"not UTF-8":      {Metadata: "a\xffb"},
		"quotes and NUL": {Metadata: "\"\\\x00\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			earlier, err := stdjson.Marshal(c)
			if err != nil {
				t.Fatal(err)
			}
			var want, got, read Commit
			if err := stdjson.Unmarshal(earlier, &want); err != nil {
				t.Fatal(err)
			}
			if err := json.Unmarshal(earlier, &got); err != nil || got != want {
				t.Errorf("this version reads %s as %+v, %v", earlier, got, err)
			}
			entry := c.Entry("g", "t", 0)
			if err := stdjson.Unmarshal(entry.Value, &read); err != nil || read != want {
				t.Errorf("an earlier version reads %s as %+v, %v", entry.Value, read, err)
			}
		})
	}
}
