package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/store/orgs"
	"github.com/octavo-docs/octavo/store/postgres"
	"github.com/octavo-docs/octavo/store/storetest"
)

// TestAuditList checks that the command lists only entries that belong to no organization. The entries fill more than a
// page, and a limit ends the list.
func TestAuditList(t *testing.T) {
	t.Parallel()
	st := storetest.New(t)
	kept, removed := storetest.NewTenant(t, st, "kept"), storetest.NewTenant(t, st, "removed")
	ctx := postgres.By(t.Context(), postgres.Actor{
		Type: schema.ActorOperator, ID: "op", Name: "Olga Operator", Operation: "octavo test",
	})
	if err := st.Orgs.Delete(ctx, removed.Organization.ID); err != nil {
		t.Fatal(err)
	}
	const many = 600 // more than a page
	for i := range many {
		if _, err := st.Orgs.CreateUser(t.Context(), orgs.NewUser{
			DisplayName: "U", Email: fmt.Sprintf("u%d@example.com", i),
		}); err != nil {
			t.Fatal(err)
		}
	}
	listed := func(flags listFlags) string {
		t.Helper()
		var out bytes.Buffer
		if err := (&AuditListCmd{listFlags: flags}).print(t.Context(), st, &out); err != nil {
			t.Fatal(err)
		}
		return out.String()
	}
	// Entries contain their own times, and times of the changed rows such as deletedAt.
	moment := regexp.MustCompile(`"at":"[-0-9]{10}T[:0-9]{8}\.[0-9]{3}Z"`)
	otherMoment := regexp.MustCompile(`"[-0-9]{10}[T ][:0-9]{8}(\.[0-9]{0,2}|\.[0-9]{4,})?([+-][:0-9]+|Z)?"`)
	var all []json.RawMessage
	if err := json.Unmarshal([]byte(listed(listFlags{JSON: true})), &all); err != nil {
		t.Fatal(err)
	}
	actions := map[string]int{}
	for _, entry := range all {
		line := string(entry)
		var e struct {
			Action, Operation string
			Target            struct{ Type, ID, Organization string }
			Actor             struct{ Type, DisplayName string }
		}
		if err := json.Unmarshal(entry, &e); err != nil || e.Target.Organization != "" {
			t.Fatalf("%s: %v", line, err)
		}
		if !moment.MatchString(line) || otherMoment.MatchString(line) {
			t.Errorf("a moment has not three fraction digits: %s", line)
		}
		actions[e.Action+" "+e.Target.Type]++
		if e.Target.Type == "organization" && (e.Target.ID != removed.Organization.ID || e.Actor.DisplayName != "Olga Operator" || e.Operation != "octavo test") {
			t.Error(line)
		}
	}
	// The removal only marks the organization. Its rows are deleted later.
	if users := len(kept.Users) + len(removed.Users) + many; actions["create user"] != users || actions["update organization"] != 1 {
		t.Errorf("%v, want %d users", actions, users)
	}
	if !strings.Contains(string(all[0]), `"u599@example.com"`) {
		t.Errorf("the first is %s", all[0])
	}
	table := strings.Split(strings.TrimSpace(listed(listFlags{Limit: 610})), "\n")
	if len(table) != 611 || !strings.HasPrefix(table[0], "AT ") || !strings.Contains(table[1], "create  user") {
		t.Errorf("%d lines: %s", len(table), table[:2])
	}
}
