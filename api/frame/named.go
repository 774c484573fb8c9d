package frame

import (
	"bytes"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/octavo-docs/octavo/api/frame/rules"
	"github.com/octavo-docs/octavo/schema"
)

// memberText returns the value of one member of a JSON object. The value must be a non-empty string. memberText stops
// reading after this member.
func memberText(body []byte, member string) (string, error) {
	// Duplicate names are allowed here, because the decoding of the whole body refuses them later.
	decoder := jsontext.NewDecoder(bytes.NewBuffer(body), jsontext.AllowDuplicateNames(true))
	start, err := decoder.ReadToken()
	if err != nil {
		return "", jsonError(body, err)
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
			return "", jsonError(body, err)
		}
		if string(name) != member {
			if err := decoder.SkipValue(); err != nil {
				return "", jsonError(body, err)
			}
			continue
		}
		value, err := decoder.ReadToken()
		switch {
		case err != nil:
			return "", jsonError(body, err)
		case value.Kind() == jsontext.KindNull:
			return "", schema.Invalid(member, "is required")
		case value.Kind() != jsontext.KindString:
			return "", schema.Invalid(member, "must be a string, got "+kindName(value.Kind()))
		case value.String() == "":
			return "", schema.Invalid(member, "must not be empty")
		case strings.ContainsRune(value.String(), 0):
			return "", schema.Invalid(member, rules.NoNUL)
		}
		return value.String(), nil
	}
	if _, err := decoder.ReadToken(); err != nil {
		return "", jsonError(body, err)
	}
	return "", schema.Invalid(member, "is required")
}
