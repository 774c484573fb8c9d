package main

import (
	"encoding/json"
	"testing"
)

// TestOverviewBody checks that the batch has the queries from which the dashboard draws its first figures.
func TestOverviewBody(t *testing.T) {
	t.Parallel()
	body, err := overviewBody(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var batch struct {
		Queries map[string]struct{ Range, Timezone, Compare string }
	}
	if err := json.Unmarshal(body, &batch); err != nil || len(batch.Queries) < 10 {
		t.Fatalf("%v: %s", err, body)
	}
	for _, name := range []string{"people", "peopleSeries", "pages", "countries"} {
		if q := batch.Queries[name]; q.Range != "last24Hours" || q.Timezone != "UTC" || q.Compare != "previousPeriod" {
			t.Errorf("%s: %+v", name, q)
		}
	}
}
