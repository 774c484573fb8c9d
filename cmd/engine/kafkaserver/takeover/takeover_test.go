package takeover

import (
	stdjson "encoding/json"
	"reflect"
	"testing"

	"github.com/go-json-experiment/json"
)

// TestOldTopicsAreReadAsBefore: no list of topics of the old broker is refused that encoding/json, which wrote it, reads.
func TestOldTopicsAreReadAsBefore(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"usual":           `{"version":1,"topics":[{"name":"a","partitions":2,"configs":{"retention.ms":"1"},"id":"AAAA"}]}`,
		"other case":      `{"Version":1,"TOPICS":[{"Name":"a","Partitions":2}]}`,
		"duplicate names": `{"version":0,"version":1,"topics":[{"name":"a","configs":{"a":"1","a":"2"}}]}`,
		"not UTF-8":       "{\"version\":1,\"topics\":[{\"name\":\"a\xff\"}]}",
		"nulls":           `{"version":1,"topics":null}`,
		"lone surrogate":  `{"version":1,"topics":[{"name":"\ud800"}]}`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var want, got oldTopics
			if err := stdjson.Unmarshal([]byte(text), &want); err != nil {
				t.Fatal(err)
			}
			if err := json.Unmarshal([]byte(text), &got, asOldBroker); err != nil || !reflect.DeepEqual(got, want) {
				t.Errorf("got %+v, %v; want %+v", got, err, want)
			}
		})
	}
}
