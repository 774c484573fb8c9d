package insights

import (
	"encoding/json"
	"testing"

	"pgregory.net/rapid"
)

func TestCountEvents(t *testing.T) {
	t.Parallel()
	for body, want := range map[string]int{
		`{"id":"a","events":[]}`: 0, `{"events":[ ]}`: 0, `{"events":[{}]}`: 1, " {\n\"events\" : [ {} , {} ] } ": 2,
		`{"events":[{"a":[1,2,3],"events":[1,2]},{"b":{"events":[1,2,3,4]}}]}`: 2,
		`{"id":"events","x":[1,2,3],"events":[{}]}`:                            1,
		`{"id":"],[\"","events":[{"url":"a,b]}\\"},{"url":"\",\""}]}`:          2,
		`{"x":{"events":[1,2,3]},"events":[{}],"y":[1,2]}`:                     1,
		`{"\u0065vents":[{}]}`: maxDoorEvents, `{"x":1}`: maxDoorEvents,
		`{"events":[{}],"events":[{},{}]}`: 3,
		`{"events":[{"a":"`:                1, `{"events":["\`: 1, `"`: maxDoorEvents, `{`: maxDoorEvents, ``: maxDoorEvents, `]]`: maxDoorEvents,
	} {
		if got := countEvents([]byte(body)); got != want {
			t.Errorf("%s has %d events, want %d", body, got, want)
		}
	}
}

// TestCountEventsOfAnyBatch compares countEvents, for random batches, with a JSON decoder.
func TestCountEventsOfAnyBatch(t *testing.T) {
	t.Parallel()
	text := rapid.StringOf(rapid.SampledFrom([]rune(`ab",:[]{}\ é` + "\n")))
	var value *rapid.Generator[any]
	value = rapid.Deferred(func() *rapid.Generator[any] {
		return rapid.OneOf(
			rapid.Map(text, func(s string) any { return s }), rapid.Just[any](1.5), rapid.Just[any](nil),
			rapid.Map(rapid.SliceOfN(value, 0, 3), func(s []any) any { return s }),
			rapid.Map(rapid.MapOfN(rapid.OneOf(text, rapid.Just("events")), value, 0, 3),
				func(m map[string]any) any { return m }),
		)
	})
	rapid.Check(t, func(t *rapid.T) {
		events := rapid.SliceOfN(value, 0, 5).Draw(t, "events")
		members := rapid.MapOfN(text, value, 0, 3).Draw(t, "members")
		members["events"] = events
		body, err := json.Marshal(members)
		if err != nil {
			t.Fatal(err)
		}
		if rapid.Bool().Draw(t, "spaces") {
			indented, err := json.MarshalIndent(members, "\t", "  ")
			if err != nil {
				t.Fatal(err)
			}
			body = indented
		}
		if got := countEvents(body); got != len(events) {
			t.Fatalf("%s has %d events", body, got)
		}
	})
}
