package main

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

// TestDeadLetters checks that events that the store refuses can be listed and shown while a server runs. They must not
// block other events. A replay must store them once.
func TestDeadLetters(t *testing.T) {
	t.Parallel()
	i := newAttached(t)
	conn := i.clickHouse()
	if err := conn.Exec(t.Context(), "ALTER TABLE events ADD CONSTRAINT poison CHECK url != 'https://docs.example.com/poison'"); err != nil {
		t.Fatal(err)
	}
	if list, err := i.octavo("deadletter", "list", "--json"); err != nil || list != "[]" {
		t.Fatalf("before there are any: %q, %v", list, err)
	}
	bad := `{"type":"page_view","session":{"visitorId":"b","sessionId":"b"},"location":{"url":"https://docs.example.com/poison"}}`
	if status, answer := i.post(i.token, pageView("a"), bad, pageView("c")); status != 204 {
		t.Fatalf("%d %s", status, answer)
	}
	i.wantCounts(2, 2)
	var listed [1]struct{ Key, Site, Reason string }
	i.until("a dead letter", func() error {
		list, err := i.octavo("deadletter", "list", "--json", "--site", i.site)
		if err != nil {
			return err
		}
		return json.Unmarshal([]byte(list), &listed)
	})
	letter := listed[0]
	if letter.Site != i.site || letter.Reason != "constraint" {
		t.Errorf("%+v", letter)
	}
	table, err := i.octavo("deadletter", "list")
	if err != nil || !strings.Contains(table, letter.Key) || !strings.Contains(table, "waiting") {
		t.Errorf("the list: %v\n%s", err, table)
	}
	if shown, err := i.octavo("deadletter", "show", letter.Key); err != nil || !strings.Contains(shown, `"message": "`) {
		t.Errorf("the letter: %v\n%s", err, shown)
	}
	for _, arguments := range [][]string{{"show", "0/0/0/none"}, {"replay", "0/0/0/none"}, {"replay"}, {"replay", "--all", letter.Key}} {
		if _, err := i.octavo(append([]string{"deadletter"}, arguments...)...); err == nil {
			t.Errorf("deadletter %v should fail", arguments)
		}
	}
	if err := conn.Exec(t.Context(), "ALTER TABLE events DROP CONSTRAINT poison"); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if _, err := i.octavo("deadletter", "replay", "--all"); err != nil {
			t.Fatal(err)
		}
		if _, err := i.octavo("deadletter", "replay", letter.Key); err != nil {
			t.Fatal(err)
		}
	}
	i.wantCounts(3, 3)
	i.until("the letter to be gone from the list", func() error {
		if list, err := i.octavo("deadletter", "list", "--json"); err != nil || list != "[]" {
			return fmt.Errorf("%q, %w", list, err)
		}
		return nil
	})
	if all, err := i.octavo("deadletter", "list", "--all"); err != nil || !strings.Contains(all, "replayed") {
		t.Errorf("the whole list: %v\n%s", err, all)
	}
}
