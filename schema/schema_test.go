package schema

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

func TestIDsSortByTheirTime(t *testing.T) {
	t.Parallel()
	ids := make([]string, 5000)
	for i := range ids {
		ids[i] = NewID()
	}
	if !slices.IsSorted(ids) || len(slices.Compact(slices.Clone(ids))) != len(ids) {
		t.Error("ids of one process are out of order or equal")
	}
	for _, id := range ids {
		if !ValidID(id) || len(id) != 26 {
			t.Fatalf("id %q", id)
		}
	}
}

func TestValidID(t *testing.T) {
	t.Parallel()
	for id, want := range map[string]bool{
		"a": true, "A_b-9": true, strings.Repeat("x", 64): true,
		"": false, "a b": false, "a/b": false, "ä": false, "a\x00": false, "a.b": false, strings.Repeat("x", 65): false,
	} {
		if ValidID(id) != want {
			t.Errorf("%q: %v", id, !want)
		}
	}
}

func TestPageTokens(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		list := rapid.String().Draw(t, "list")
		keys := rapid.SliceOfN(rapid.String(), 1, 4).Draw(t, "keys")
		token := PageToken(list, keys...)
		got, err := PageKeys(list, token, len(keys))
		if err != nil || !slices.Equal(got, keys) {
			t.Fatalf("%q %v", got, err)
		}
		if _, err := PageKeys(list, token, len(keys)+1); !IsCode(err, CodeBadRequest) {
			t.Fatalf("with another number of keys: %v", err)
		}
		if _, err := PageKeys(list+"x", token, len(keys)); !IsCode(err, CodeBadRequest) {
			t.Fatalf("for another list: %v", err)
		}
	})
	if keys, err := PageKeys("list", "", 1); keys != nil || err != nil {
		t.Errorf("the first page: %q %v", keys, err)
	}
}

// FuzzPageKeys reads any text as a token. The text must be refused with the status 400, or the token with the resulting
// keys must be the same text.
func FuzzPageKeys(f *testing.F) {
	f.Add("list", PageToken("list", "a", "b"))
	f.Add("list", "AQ")
	f.Add("", "!!")
	f.Fuzz(func(t *testing.T, list, token string) {
		keys, err := PageKeys(list, token, 2)
		switch {
		case err != nil:
			if !IsCode(err, CodeBadRequest) {
				t.Errorf("%v", err)
			}
		case keys != nil:
			if again, err := PageKeys(list, PageToken(list, keys...), 2); err != nil || !slices.Equal(again, keys) {
				t.Errorf("%q %v", again, err)
			}
		}
	})
}

func TestErrorBody(t *testing.T) {
	t.Parallel()
	cause := errors.New("private")
	for _, test := range []struct {
		err  *Error
		want string
	}{
		{Internal(cause), `{"error":{"code":500,"message":"internal error"}}`},
		{NotFound("site"), `{"error":{"code":404,"message":"site not found"}}`},
		{Invalid("limit", "must be small"), `{"error":{"code":400,"message":"limit must be small","details":[{"field":"limit","problem":"must be small"}]}}`},
		{
			InvalidAll([]Detail{{Field: "a", Problem: "is odd", Allowed: []string{"x", "y"}}, {Field: "b", Problem: "is required"}}),
			`{"error":{"code":400,"message":"a is odd (allowed: x, y), and 1 more","details":[` +
				`{"field":"a","problem":"is odd","allowed":["x","y"]},{"field":"b","problem":"is required"}]}}`,
		},
	} {
		got, err := json.Marshal(test.err.Body())
		if err != nil || string(got) != test.want {
			t.Errorf("%s, want %s", got, test.want)
		}
	}
	if text := Internal(cause).Error(); !strings.Contains(text, "private") {
		t.Errorf("the log's text is %q", text)
	}
}

func TestAsError(t *testing.T) {
	t.Parallel()
	own := Conflict("taken")
	for _, test := range []struct {
		err  error
		want Code
	}{
		{own, CodeConflict}, {fmt.Errorf("cannot do: %w", own), CodeConflict}, {context.DeadlineExceeded, CodeUnavailable},
		{context.Canceled, CodeUnavailable}, {errors.New("x"), CodeInternal},
	} {
		if got := AsError(test.err); got.Code != test.want {
			t.Errorf("%v: %d", test.err, got.Code)
		}
	}
	if AsError(nil) != nil {
		t.Error("AsError(nil) is not nil")
	}
	for after, want := range map[time.Duration]int{0: 0, -1: 0, time.Millisecond: 1, time.Second: 1, 1500 * time.Millisecond: 2} {
		if got := (&Error{RetryAfter: after}).RetryAfterSeconds(); got != want {
			t.Errorf("%s: %d", after, got)
		}
	}
}

func TestRoles(t *testing.T) {
	t.Parallel()
	want := []Role{RoleRead, RoleComment, RoleEdit, RoleReview, RoleCreate, RoleAdmin}
	if !slices.Equal(Roles(), want) {
		t.Errorf("%q", Roles())
	}
	for i, role := range want {
		if !role.Valid() || !role.AtLeast(RoleGuest) || RoleGuest.AtLeast(role) || role.AtLeast(want[min(i+1, len(want)-1)]) != (i == len(want)-1) {
			t.Errorf("%s is out of order", role)
		}
		if RoleFromNullable(role.Nullable()) != role {
			t.Errorf("%s does not survive its column", role)
		}
	}
	if Role("king").Valid() || Role("king").AtLeast(RoleGuest) {
		t.Error("an unknown role has a rank")
	}
	for value, text := range map[any]string{RoleGuest: "null", RoleRead: `"read"`, Level(""): "null", LevelInherit: `"inherit"`} {
		if got, err := json.Marshal(value); err != nil || string(got) != text {
			t.Errorf("%#v: %s %v", value, got, err)
		}
	}
	if RoleGuest.Nullable() != nil || RoleFromNullable(nil) != RoleGuest {
		t.Error("the guest's column is null")
	}
}

func TestURLs(t *testing.T) {
	t.Parallel()
	urls, err := NewURLs("https://docs.example.com/base/")
	if err != nil {
		t.Fatal(err)
	}
	if got := urls.API("orgs", "a/b", "ä"); got != "https://docs.example.com/base/v1/orgs/a%2Fb/%C3%A4" {
		t.Error(got)
	}
	for _, bad := range []string{"", "docs.example.com", "/v1", "ftp://x", "http://", "http://x?y", "http://u:p@x", "http://x#y", "http://%zz"} {
		if _, err := NewURLs(bad); err == nil {
			t.Errorf("%q is accepted", bad)
		}
	}
}

func TestTokenForms(t *testing.T) {
	t.Parallel()
	a, b := NewToken(), NewToken()
	if a == b || !ValidToken(a) || HashToken([]byte(a)) == HashToken([]byte(b)) {
		t.Errorf("%q %q", a, b)
	}
}

func TestLineAndColumn(t *testing.T) {
	t.Parallel()
	const text = "a\nbé\r\n\nd"
	for offset, want := range map[int64][2]int{
		-1: {1, 1}, 0: {1, 1}, 1: {1, 2}, 2: {2, 1}, 3: {2, 2}, 5: {2, 3}, 7: {3, 1}, 8: {4, 1}, 9: {4, 2}, 99: {4, 2},
	} {
		if line, column := LineAndColumn([]byte(text), offset); line != want[0] || column != want[1] {
			t.Errorf("byte %d: line %d, column %d, want %v", offset, line, column, want)
		}
	}
}
