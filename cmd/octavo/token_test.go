package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/octavo-docs/octavo/cmd/engine/enginetest"
)

// octavo runs a command while the instance runs, and returns its output.
func (i *instance) octavo(arguments ...string) (string, error) {
	cmd := exec.Command(enginetest.Octavo(i.t), arguments...)
	cmd.Env = append(append(os.Environ(), "OCTAVO_DATA_DIR="+i.dir, "OCTAVO_ENGINES_DIR="+enginesDir(i.t)), i.env...)
	output, err := cmd.Output()
	return strings.TrimSpace(string(output)), err
}

// TestTokens creates, lists and revokes tokens while a server runs, and checks the rights of each kind.
func TestTokens(t *testing.T) {
	t.Parallel()
	i := newAttached(t)
	made, err := i.octavo("token", "create", "--site", i.site, "--name", "the site", "--json")
	if err != nil {
		t.Fatal(err)
	}
	var key struct{ ID, Token string }
	if err := json.Unmarshal([]byte(made), &key); err != nil || !strings.HasPrefix(key.Token, "oct_") {
		t.Fatalf("token create printed %q: %v", made, err)
	}
	// The token's entry in the audit log names the command.
	var log struct {
		Items []struct {
			Actor  struct{ Type string }
			Target struct{ Type, ID string }
		}
	}
	status, entries := i.request("GET", "/v1/orgs/"+i.org+"/audit-log?operation=octavo%20token%20create", i.token, nil)
	if err := json.Unmarshal(entries, &log); status != 200 || err != nil || len(log.Items) != 1 ||
		log.Items[0].Actor.Type != "operator" || log.Items[0].Target.ID != key.ID || strings.Contains(string(entries), key.Token) {
		t.Errorf("audit log: %d %s", status, entries)
	}
	if status, answer := i.post(key.Token, pageView("a")); status != 204 {
		t.Fatalf("a site key should post its site's events: %d %s", status, answer)
	}
	if status, _ := i.request("POST", i.insights()+"/events/aggregate", key.Token, []byte(`{"range":"last7Days"}`)); status != 403 {
		t.Errorf("a site key should not query: %d", status)
	}
	// The key is not valid for another site of the same organization.
	status, answer := i.request("POST", "/v1/orgs/"+i.org+"/sites", i.token, []byte(`{"title":"Another"}`))
	var other struct{ ID string }
	if err := json.Unmarshal(answer, &other); status != 201 || err != nil {
		t.Fatalf("create site: %d %s", status, answer)
	}
	path := "/v1/orgs/" + i.org + "/sites/" + other.ID + "/insights/events"
	if status, _ := i.request("POST", path, key.Token, []byte(`{"events":[]}`)); status != 404 && status != 403 {
		t.Errorf("a site key on another site: %d, want 403 or 404", status)
	}

	made, err = i.octavo("token", "create", "--front-end", "--name", "renderer", "--expires", "1h", "--json")
	var frontEnd struct{ ID, Token string }
	if err != nil || json.Unmarshal([]byte(made), &frontEnd) != nil {
		t.Fatalf("%v %s", err, made)
	}
	if status, _ := i.post(frontEnd.Token, pageView("c")); status != 404 {
		t.Errorf("a front end posts events of a site that is not published: %d", status)
	}
	if status, answer := i.request("POST", "/v1/orgs/"+i.org+"/sites/"+i.site+"/publish", i.token, nil); status != 200 {
		t.Fatalf("publish: %d %s", status, answer)
	}
	i.until("a front end posts events of a published site", func() error {
		if status, answer := i.post(frontEnd.Token, pageView("c")); status != 204 {
			return fmt.Errorf("%d %s", status, answer)
		}
		return nil
	})
	if list, err := i.octavo("token", "list"); err != nil || !strings.Contains(list, "every published site") || !strings.Contains(list, frontEnd.ID) {
		t.Errorf("token list: %v\n%s", err, list)
	}
	if _, err := i.octavo("token", "rotate"); err != nil {
		t.Error(err)
	}
	if _, err := i.octavo("token", "create", "--front-end", "--site", i.site); err == nil {
		t.Error("a token of two kinds should be refused")
	}

	list, err := i.octavo("token", "list", "--site", i.site)
	if err != nil || !strings.Contains(list, key.ID) || strings.Contains(list, key.Token) {
		t.Fatalf("token list: %v\n%s", err, list)
	}
	if _, err := i.octavo("token", "revoke", key.ID); err != nil {
		t.Fatal(err)
	}
	i.until("refusal of the revoked token", func() error {
		if status, _ := i.post(key.Token, pageView("b")); status != 401 {
			return fmt.Errorf("it still answers %d", status)
		}
		return nil
	})
	if _, err := i.octavo("token", "revoke", "nothing"); err == nil {
		t.Error("revoking an unknown token should fail")
	}
	if _, err := i.octavo("token", "create"); err == nil {
		t.Error("a token for nobody should be refused")
	}
}

// TestOperatorLetsPeopleIn creates a token for an invited address, accepts the
// invite with it, and confirms an e-mail domain.
func TestOperatorLetsPeopleIn(t *testing.T) {
	t.Parallel()
	i := newAttached(t)

	org := "/v1/orgs/" + i.org
	if status, answer := i.request("POST", org+"/invites", i.token, []byte(`{"emails":["new@example.com"],"role":"read"}`)); status != 200 {
		t.Fatalf("%d %s", status, answer)
	}
	made, err := i.octavo("token", "create", "--user", "new@example.com", "--json")
	var token struct{ Token string }
	if err != nil || json.Unmarshal([]byte(made), &token) != nil {
		t.Fatalf("%v %s", err, made)
	}
	status, answer := i.request("GET", "/v1/user/invites", token.Token, nil)
	var invites struct{ Items []struct{ ID string } }
	if err := json.Unmarshal(answer, &invites); status != 200 || err != nil || len(invites.Items) != 1 {
		t.Fatalf("%d %s", status, answer)
	}
	if status, _ := i.request("GET", org, token.Token, nil); status != 404 {
		t.Errorf("before accepting: %d", status)
	}
	if status, answer := i.request("POST", org+"/invites/"+invites.Items[0].ID, token.Token, nil); status != 200 {
		t.Errorf("%d %s", status, answer)
	}
	if status, _ := i.request("GET", org, token.Token, nil); status != 200 {
		t.Errorf("after accepting: %d", status)
	}
	if status, answer := i.request("PATCH", org, i.token, []byte(`{"emailDomains":["example.com"]}`)); status != 200 {
		t.Fatalf("%d %s", status, answer)
	}
	if _, err := i.octavo("org", "prove-domain", i.org, "other.example"); err == nil {
		t.Error("a domain that the organization does not name was proved")
	}
	if _, err := i.octavo("org", "prove-domain", i.org, "example.com"); err != nil {
		t.Fatal(err)
	}
	if status, answer := i.request("GET", org+"/email-domains", i.token, nil); status != 200 || !strings.Contains(string(answer), `"provedBy":"operator"`) {
		t.Errorf("%d %s", status, answer)
	}
}
