package rules

import (
	"bytes"
	"reflect"
	"slices"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/octavo-docs/octavo/schema"
)

// In a PATCH, null means that a member is removed. Members that can be removed have the type schema.Opt. Null for any
// other member would have no effect, but the answer would be a success. So this package refuses null for such a member.
// In other requests null is accepted, because many clients send null for absent members.

// Lasting returns the members of a body that cannot be removed. It omits required members, because the rule "required"
// already refuses null.
func (v Vocabulary) Lasting(body reflect.Type) []string {
	if body.Kind() != reflect.Struct {
		return nil
	}
	names := []string{}
	for _, f := range reflect.VisibleFields(body) {
		r, err := v.Parse(f.Tag.Get("rules"))
		if err != nil || r.Required || IsOpt(f.Type) || (f.Anonymous && f.Tag.Get("json") == "") {
			continue
		}
		names = append(names, MemberName(f))
	}
	return names
}

// RefuseNulls returns an error if a member that cannot be removed is null. The body must already have been decoded
// without error.
func RefuseNulls(body []byte, lasting []string) error {
	if !bytes.Contains(body, []byte("null")) {
		return nil
	}
	var c Checker
	err := EachMember(body, func(name string, kind jsontext.Kind) error {
		if kind == jsontext.KindNull && slices.Contains(lasting, name) {
			c.Add(name, "must not be null: it can be changed, but not removed")
		}
		return nil
	})
	if err == nil && len(c.Details) > 0 {
		err = schema.InvalidAll(c.Details)
	}
	return err
}

// EachMember calls `see` with the name of each member of a body and the kind of its value. It stops when `see` returns
// an error. The body must already have been decoded without error. EachMember returns an error if the body is null,
// because null can be decoded into any type.
func EachMember(body []byte, see func(name string, kind jsontext.Kind) error) error {
	d := jsontext.NewDecoder(bytes.NewReader(body))
	if start, err := d.ReadToken(); err != nil || start.Kind() != jsontext.KindBeginObject {
		return schema.Invalid("", "must be an object, got null")
	}
	for d.PeekKind() == jsontext.KindString {
		name, err := d.ReadToken()
		if err != nil {
			return schema.Internal(err)
		}
		// The token is valid only until the next read, so the name is copied now.
		member := name.String()
		if err := see(member, d.PeekKind()); err != nil {
			return err
		}
		if err := d.SkipValue(); err != nil {
			return schema.Internal(err)
		}
	}
	return nil
}
