package shape

import (
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/go-json-experiment/json"

	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/store/storetest"
)

// GoodDocument checks that a value is a rich document in the strict grammar.
func GoodDocument(v any) error {
	raw, err := json.Marshal(v)
	if err != nil {
		return err
	}
	var d schema.Document
	if err := json.Unmarshal(raw, &d); err != nil {
		return err
	}
	if problems := d.Problems("document"); len(problems) > 0 {
		return fmt.Errorf("%s: %v", raw, problems)
	}
	return nil
}

// AnyTime checks that a value is a time in the API's format.
func AnyTime(v any) error {
	_, err := moment(v)
	return err
}

// momentForm matches the only time format that responses may have. `written` finds every JSON string that looks like a
// time.
var (
	momentForm = regexp.MustCompile(`^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$`)
	written    = regexp.MustCompile(`"\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d[^"]*"`)
)

// moment parses a time in the API's format.
func moment(v any) (time.Time, error) {
	s, _ := v.(string)
	if !momentForm.MatchString(s) {
		return time.Time{}, fmt.Errorf("%#v is no UTC time with three fraction digits", v)
	}
	return time.Parse(time.RFC3339Nano, s)
}

// OtherMoments returns the times in a body that are not in the API's format.
func OtherMoments(body []byte) (others []string) {
	for _, text := range written.FindAll(body, -1) {
		if s := string(text[1 : len(text)-1]); !momentForm.MatchString(s) {
			others = append(others, s)
		}
	}
	return others
}

// Either returns a check that accepts a value if at least one of the given checks does.
func Either(checks ...func(any) error) func(any) error {
	return func(v any) (err error) {
		for _, check := range checks {
			if err = check(v); err == nil {
				return nil
			}
		}
		return err
	}
}

var (
	GitOperationShape = Of{
		"object": One("git-operation"), "id": ID, "kind": One("import", "export"),
		"state": One("queued", "running", "retrying", "waiting", "done", "failed", "skipped", "superseded",
			"cancelled"),
		"reason?": Text(1, 5000), "url": String, "ref": String, "timestamp": AnyTime, "createdAt": Timestamp, "finishedAt?": Timestamp,
		"commit?": String, "commitURL?": String, "revision?": ID, "notes?": List(Object(Of{"path": String, "text": String})),
		"changeRequest?": ID, "waitsFor?": ID, "allowedBy?": One("bypass", "trusted"), "nextAttemptAt?": Timestamp,
		"progress?": Object(Of{"step": One("fetch", "pages", "files", "push"), "done": Count, "total": Count}),
	}
	GitSync = Of{
		"repoName?": String, "installationProvider?": One("github", "gitlab", "github-legacy"), "integration?": String, "url?": String,
		"updatedAt?": Timestamp,
	}
)

// Of describes a resource as the contract does (facts §1.21 and §7.2): each key names a member, and the value checks
// it. If the key ends in "?", the member may be absent. A member without a key is an error. A member may be null only
// if its check accepts null.
type Of map[string]func(value any) error

func Check(s Of, value any) error {
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

func Object(s Of) func(any) error { return func(v any) error { return Check(s, v) } }

func List(item func(any) error) func(any) error {
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

func Text(shortest, longest int) func(any) error {
	return func(v any) error {
		s, ok := v.(string)
		if n := utf8.RuneCountInString(s); !ok || n < shortest || n > longest {
			return fmt.Errorf("%#v is no string of %d to %d characters", v, shortest, longest)
		}
		return nil
	}
}

func One(values ...any) func(any) error {
	return func(v any) error {
		if !slices.Contains(values, v) {
			return fmt.Errorf("%#v is none of %v", v, values)
		}
		return nil
	}
}

func ID(v any) error {
	if s, ok := v.(string); !ok || s == "" || strings.Trim(s, "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_-") != "" {
		return fmt.Errorf("%#v is no id", v)
	}
	return nil
}

// earliest is the time before which the tests created no object, in nanoseconds since 1970.
var earliest atomic.Int64

func init() { earliest.Store(time.Now().UnixNano()) }

// Since declares that some objects were created as early as this time. A template database can be older than this
// process.
func Since(at time.Time) {
	for known := earliest.Load(); at.UnixNano() < known && !earliest.CompareAndSwap(known, at.UnixNano()); {
		known = earliest.Load()
	}
}

// Timestamp checks that a value is a time in UTC, at most a minute before the earliest object and at most a minute
// after now.
func Timestamp(v any) error {
	at, err := moment(v)
	early := at.Before(time.Unix(0, earliest.Load()).Add(-time.Minute))
	if err == nil && (early || time.Until(at) > time.Minute) {
		return fmt.Errorf("%#v is no time of now", v)
	}
	return err
}

// InviteEnd checks the expiry time of an invite that the test has just created.
func InviteEnd(v any) error {
	at, err := moment(v)
	if err != nil {
		return err
	}
	return Timestamp(schema.FormatMoment(at.Add(-storetest.InviteLifetime)))
}

func URI(v any) error {
	s, _ := v.(string)
	u, err := url.Parse(s)
	if err != nil || !u.IsAbs() || !strings.HasPrefix(s, "https://docs.example.com/base/") {
		return fmt.Errorf("%#v is no absolute url of ours", v)
	}
	return nil
}

func Count(v any) error {
	if n, ok := v.(float64); !ok || n < 0 || n != float64(int(n)) {
		return fmt.Errorf("%#v is no count", v)
	}
	return nil
}

// Score checks that a search match's score is a number of 0 or more. A score has no upper limit.
func Score(v any) error {
	if n, ok := v.(float64); !ok || n < 0 {
		return fmt.Errorf("%#v is no score", v)
	}
	return nil
}

func Boolean(v any) error {
	if _, ok := v.(bool); !ok {
		return fmt.Errorf("%#v is no boolean", v)
	}
	return nil
}

func Booleans(names string) func(any) error {
	s := Of{}
	for name := range strings.FieldsSeq(names) {
		s[name] = Boolean
	}
	return Object(s)
}

var (
	Role       = []any{"admin", "create", "review", "edit", "comment", "read"}
	visibility = One("public", "unlisted", "share-link", "visitor-auth", "in-collection", "private")
	siteType   = One("basic", "premium", "ultimate", "sponsored", "legacy-basic", "legacy-premium")

	mergeRuleShape = Of{"rule": Text(1, 100), "users?": List(ID), "expression?": Text(0, 1024)}

	User = Of{
		"object": One("user"), "id": ID, "displayName": Text(1, 1000), "email?": Text(3, 300), "photoURL?": URI,
		"urls": Object(Of{"location": URI}),
	}
	Organization = Of{
		"object": One("organization"), "id": ID, "title": Text(2, 255), "createdAt": Timestamp, "emailDomains": List(Text(1, 253)),
		"type": One("business", "community"), "inviteLinks": Boolean,
		"plan":        One("free_2024", "plus_2024", "pro_2024", "enterprise_2024", "community_2024", "free", "plus", "pro", "internal"),
		"mergeRules":  Object(Of{"type": One("rules", "none"), "rules?": List(Object(mergeRuleShape))}),
		"defaultRole": One(append(Role, nil)...),
		"trial": Object(Of{
			"status": One("notapplicable", "none", "active", "ended", "expired"), "count": Count, "endDate?": Timestamp,
			"decision?": One("downgrade"),
		}),
		"urls": Object(Of{"location": URI, "app": URI, "logo?": Text(1, 2048)}),
		"permissions": Booleans("view access admin ownTeam createContent createOpenAPISpec ingestConversations viewBilling listMembers " +
			"listTeams listIntegrations listInstallations installIntegration"),
		"hostname?": Text(3, 32), "sso": Boolean, "ai": Boolean,
		"defaultContent?": Object(Of{"type": One("site"), "site": ID}),
	}
	Site = Of{
		"object": One("site"), "id": ID, "type": siteType, "title": Text(2, 128),
		"visibility": One("public", "unlisted", "share-link", "visitor-auth"), "published": Boolean, "siteSpaces": Count,
		"createdAt": Timestamp, "agentsContext": One("excluded", "included"),
		"features":  List(Object(Of{"id": ID, "plan": siteType, "frozen": Boolean})),
		"basename?": Text(1, 100), "adaptiveContent?": Booleans("enabled"),
		"proxy?": Object(Of{"origin": Text(1, 512), "target": URI}),
		"urls":   Object(Of{"location": URI, "app": URI, "published?": URI}),
	}
	Space = Of{
		"object": One("space"), "id": ID, "title": Text(0, 50), "emoji": Text(1, 50), "visibility": visibility,
		"createdAt": Timestamp, "updatedAt": Timestamp, "deletedAt?": Timestamp, "editMode?": One("live", "locked"),
		"mergeRules":   Object(Of{"type": One("inherit", "rules", "none"), "rules?": List(Object(mergeRuleShape))}),
		"urls":         Object(Of{"location": URI, "app": URI, "published?": URI, "public?": URI, "icon?": Text(1, 2048)}),
		"organization": ID, "parent?": ID, "language?": Text(2, 5), "gitSync?": Object(GitSync), "revision": ID,
		"gitTrusted?":  List(Object(Of{"url": String, "ref": String, "repoProjectDirectory?": String})),
		"defaultLevel": One(append(Role, nil, "inherit")...),
		"comments":     Count, "changeRequests": Count, "changeRequestsOpen": Count, "changeRequestsDraft": Count,
		"permissions": Booleans("view access admin viewInviteLinks edit triggerGitSync comment merge review installIntegration"),
	}
)

// ListOf describes a list response whose items have the given shape.
func ListOf(item Of) Of {
	return Of{"items": List(Object(item)), "count": Count, "next?": Object(Of{"page": Text(1, 1000)})}
}

// Want decodes a response body and checks that it has the shape `s`.
func Want(t testing.TB, s Of, body []byte) map[string]any {
	t.Helper()
	var value map[string]any
	if err := json.Unmarshal(body, &value); err != nil {
		t.Fatalf("%s: %v", body, err)
	}
	if err := Check(s, value); err != nil {
		t.Errorf("%v, in %s", err, body)
	}
	return value
}

// String checks that a value is a text of at most 100 000 bytes.
var String = Text(0, 100_000)
