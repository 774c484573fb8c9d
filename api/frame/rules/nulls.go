package rules

import (
	"bytes"
	"reflect"
	"slices"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/octavo-docs/octavo/schema"
)

// In a PATCH, null means removal. Members that can be removed are schema.Opts. For other members, null would have the
// effect of an absent member. The answer would then claim a change that was not made. So a null for such a member is
// refused. Outside of PATCH, many clients send null for "absent".

// Lasting returns the members of a body that cannot be removed. It leaves out required members, because their rule
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

// RefuseNulls refuses members that are null but cannot be removed, in a body that has already been decoded without
// error.
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

// EachMember calls see with each member of a decoded body and the kind of its value, until see fails. It refuses a null
// body, because null decodes into any type.
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
		// The token is valid until the next read.
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
