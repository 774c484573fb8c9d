package api

import (
	"bytes"
	"context"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/octavo-docs/octavo/schema"
)

// namedObject is a kind of object that a scope can be on and that a member of the body names, instead of the path. The frame
// looks for that member alone, and decodes the body for those who have the right only.
type namedObject struct {
	name   string
	member string
	find   func(ctx context.Context, f *frame, c *call, name string) error
}

// organizationInBody is named by its id or its hostname.
var organizationInBody = &namedObject{name: "organization", member: "organization", find: findNamedOrganization}

// havingNamed is the scope of what takes a right on an object that the body names.
func havingNamed(right Rights, object *namedObject) Scope {
	return Scope{set: true, named: object, right: right}
}

func findNamedOrganization(ctx context.Context, f *frame, c *call, name string) error {
	membership, err := f.store.OrganizationByName(ctx, c.Principal.UserID, name)
	if err != nil {
		return err
	}
	c.Organization = &membership
	c.Rights = RightsOf(Access{Role: membership.Role})
	return nil
}

// authorizeNamed admits the caller by what the body names. The function must take the object from the Caller, not from the body.
func (f *frame) authorizeNamed(ctx context.Context, s Scope, c *call, body []byte) error {
	name, err := memberText(body, s.named.member)
	if err != nil {
		return err
	}
	if err := s.named.find(ctx, f, c, name); err != nil {
		return err
	}
	return c.Require(s.right, s.named.name)
}

// memberText reads one member of a body that is an object, a string that must not be empty, and nothing behind it. What is in
// front of it is skipped: nothing of it is decoded or kept.
func memberText(body []byte, member string) (string, error) {
	// Names that come twice are found when the whole is decoded.
	decoder := jsontext.NewDecoder(bytes.NewBuffer(body), jsontext.AllowDuplicateNames(true))
	start, err := decoder.ReadToken()
	if err != nil {
		return "", jsonError(err)
	}
	if start.Kind() != jsontext.KindBeginObject {
		return "", schema.Invalid("", "must be an object, got "+kindName(start.Kind()))
	}
	var name []byte
	for decoder.PeekKind() == jsontext.KindString {
		quoted, err := decoder.ReadValue()
		if err == nil {
			name, err = jsontext.AppendUnquote(name[:0], quoted)
		}
		if err != nil {
			return "", jsonError(err)
		}
		if string(name) != member {
			if err := decoder.SkipValue(); err != nil {
				return "", jsonError(err)
			}
			continue
		}
		value, err := decoder.ReadToken()
		switch {
		case err != nil:
			return "", jsonError(err)
		case value.Kind() == jsontext.KindNull:
			return "", schema.Invalid(member, "is required")
		case value.Kind() != jsontext.KindString:
			return "", schema.Invalid(member, "must be a string, got "+kindName(value.Kind()))
		case value.String() == "":
			return "", schema.Invalid(member, "must not be empty")
		case strings.ContainsRune(value.String(), 0):
			return "", schema.Invalid(member, noNUL)
		}
		return value.String(), nil
	}
	if _, err := decoder.ReadToken(); err != nil {
		return "", jsonError(err)
	}
	return "", schema.Invalid(member, "is required")
}
