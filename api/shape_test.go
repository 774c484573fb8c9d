package api

import (
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/octavo-docs/octavo/store/storetest"
)

// A shape is what the contract says of a resource (facts §1.21 and §7.2): its members, each with a check; a name that ends
// in "?" may be absent. Nothing else may be there, and null only where a check allows it.
type shape map[string]func(value any) error

func checkShape(s shape, value any) error {
	object, ok := value.(map[string]any)
	if !ok {
		return fmt.Errorf("%v is no object", value)
	}
	for name, check := range s {
		bare, optional := strings.CutSuffix(name, "?")
		member, there := object[bare]
		if !there {
			if !optional {
				return fmt.Errorf("%s is missing", bare)
			}
			continue
		}
		if err := check(member); err != nil {
			return fmt.Errorf("%s: %w", bare, err)
		}
	}
	for name := range object {
		if s[name] == nil && s[name+"?"] == nil {
			return fmt.Errorf("%s is in no contract", name)
		}
	}
	return nil
}

func object(s shape) func(any) error { return func(v any) error { return checkShape(s, v) } }

func list(item func(any) error) func(any) error {
	return func(v any) error {
		items, ok := v.([]any)
		if !ok {
			return fmt.Errorf("%v is no array", v)
		}
		for i, v := range items {
			if err := item(v); err != nil {
				return fmt.Errorf("[%d]: %w", i, err)
			}
		}
		return nil
	}
}

func text(shortest, longest int) func(any) error {
	return func(v any) error {
		s, ok := v.(string)
		if n := utf8.RuneCountInString(s); !ok || n < shortest || n > longest {
			return fmt.Errorf("%#v is no string of %d to %d characters", v, shortest, longest)
		}
		return nil
	}
}

func one(values ...any) func(any) error {
	return func(v any) error {
		if !slices.Contains(values, v) {
			return fmt.Errorf("%#v is none of %v", v, values)
		}
		return nil
	}
}

func id(v any) error {
	if s, ok := v.(string); !ok || s == "" || strings.Trim(s, "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_-") != "" {
		return fmt.Errorf("%#v is no id", v)
	}
	return nil
}

func timestamp(v any) error {
	s, _ := v.(string)
	at, err := time.Parse(time.RFC3339Nano, s)
	if err != nil || at.Location() != time.UTC || time.Since(at).Abs() > time.Minute {
		return fmt.Errorf("%#v is no UTC time of now", v)
	}
	return nil
}

// inviteEnd is the end of an invite that was made now.
func inviteEnd(v any) error {
	s, _ := v.(string)
	at, err := time.Parse(time.RFC3339Nano, s)
	if err != nil {
		return err
	}
	return timestamp(at.Add(-storetest.InviteLifetime).Format(time.RFC3339Nano))
}

func uri(v any) error {
	s, _ := v.(string)
	u, err := url.Parse(s)
	if err != nil || !u.IsAbs() || !strings.HasPrefix(s, "https://docs.example.com/base/") {
		return fmt.Errorf("%#v is no absolute url of ours", v)
	}
	return nil
}

func count(v any) error {
	if n, ok := v.(float64); !ok || n < 0 || n != float64(int(n)) {
		return fmt.Errorf("%#v is no count", v)
	}
	return nil
}

func boolean(v any) error {
	if _, ok := v.(bool); !ok {
		return fmt.Errorf("%#v is no boolean", v)
	}
	return nil
}

func booleans(names string) func(any) error {
	s := shape{}
	for name := range strings.FieldsSeq(names) {
		s[name] = boolean
	}
	return object(s)
}

var (
	role       = []any{"admin", "create", "review", "edit", "comment", "read"}
	visibility = one("public", "unlisted", "share-link", "visitor-auth", "in-collection", "private")
	siteType   = one("basic", "premium", "ultimate", "sponsored", "legacy-basic", "legacy-premium")

	mergeRuleShape = shape{"rule": text(1, 100), "users?": list(id), "expression?": text(0, 1024)}

	userShape = shape{
		"object": one("user"), "id": id, "displayName": text(1, 1000), "email?": text(3, 300), "photoURL?": uri,
		"urls": object(shape{"location": uri}),
	}
	organizationShape = shape{
		"object": one("organization"), "id": id, "title": text(2, 255), "createdAt": timestamp, "emailDomains": list(text(1, 253)),
		"type": one("business", "community"), "inviteLinks": boolean,
		"plan":        one("free_2024", "plus_2024", "pro_2024", "enterprise_2024", "community_2024", "free", "plus", "pro", "internal"),
		"mergeRules":  object(shape{"type": one("rules", "none"), "rules?": list(object(mergeRuleShape))}),
		"defaultRole": one(append(role, nil)...),
		"trial": object(shape{
			"status": one("notapplicable", "none", "active", "ended", "expired"), "count": count, "endDate?": timestamp,
			"decision?": one("downgrade"),
		}),
		"urls": object(shape{"location": uri, "app": uri, "logo?": text(1, 2048)}),
		"permissions": booleans("view access admin ownTeam createContent createOpenAPISpec ingestConversations viewBilling listMembers " +
			"listTeams listIntegrations listInstallations installIntegration"),
		"hostname?": text(3, 32), "sso": boolean, "ai": boolean,
		"defaultContent?": object(shape{"type": one("site"), "site": id}),
	}
	siteShape = shape{
		"object": one("site"), "id": id, "type": siteType, "title": text(2, 128),
		"visibility": one("public", "unlisted", "share-link", "visitor-auth"), "published": boolean, "siteSpaces": count,
		"createdAt": timestamp, "agentsContext": one("excluded", "included"),
		"features":  list(object(shape{"id": id, "plan": siteType, "frozen": boolean})),
		"basename?": text(1, 100), "adaptiveContent?": booleans("enabled"),
		"proxy?": object(shape{"origin": text(1, 512), "target": uri}),
		"urls":   object(shape{"location": uri, "app": uri, "published?": uri}),
	}
	spaceShape = shape{
		"object": one("space"), "id": id, "title": text(0, 50), "emoji": text(1, 50), "visibility": visibility,
		"createdAt": timestamp, "updatedAt": timestamp, "deletedAt?": timestamp, "editMode?": one("live", "locked"),
		"mergeRules":   object(shape{"type": one("inherit", "rules", "none"), "rules?": list(object(mergeRuleShape))}),
		"urls":         object(shape{"location": uri, "app": uri, "published?": uri, "public?": uri, "icon?": text(1, 2048)}),
		"organization": id, "parent?": id, "language?": text(2, 5), "gitSync?": object(gitSyncShape), "revision": id,
		"defaultLevel": one(append(role, nil, "inherit")...),
		"comments":     count, "changeRequests": count, "changeRequestsOpen": count, "changeRequestsDraft": count,
		"permissions": booleans("view access admin viewInviteLinks edit triggerGitSync comment merge review installIntegration"),
	}
)

// listShape is the envelope of every list.
func listShape(item shape) shape {
	return shape{"items": list(object(item)), "count": count, "next?": object(shape{"page": text(1, 1000)})}
}

// wantShape decodes a body and checks it.
func wantShape(t testing.TB, s shape, body []byte) map[string]any {
	t.Helper()
	var value map[string]any
	if err := json.Unmarshal(body, &value); err != nil {
		t.Fatalf("%s: %v", body, err)
	}
	if err := checkShape(s, value); err != nil {
		t.Errorf("%v, in %s", err, body)
	}
	return value
}

// aString is any text of a sane size.
var aString = text(0, 100_000)
