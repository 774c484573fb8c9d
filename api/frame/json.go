package frame

import (
	"errors"
	"io"
	"reflect"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/valyala/fasthttp"

	"github.com/octavo-docs/octavo/schema"
)

var contentJSON = []byte("application/json")

// writeJSON encodes a value into the response's own buffer. Invalid UTF-8 causes no error and becomes replacement
// characters. It can only come from a message that quotes a request. The keys of maps are sorted, so equal answers have
// equal bytes.
func writeJSON(ctx *fasthttp.RequestCtx, value any) error {
	jsonHeaders(ctx)
	err := json.MarshalWrite(ctx.Response.BodyWriter(), value, jsontext.AllowInvalidUTF8(true), schema.Outgoing())
	if err != nil {
		return schema.Internal(err)
	}
	return nil
}

// jsonHeaders sets the headers of every JSON answer. The headers forbid sniffing and caching.
func jsonHeaders(ctx *fasthttp.RequestCtx) {
	ctx.SetContentTypeBytes(contentJSON)
	ctx.Response.Header.SetCanonical(headerContentTypeOptions, noSniff)
	ctx.Response.Header.SetCanonical(headerCacheControl, noStore)
}

var (
	headerContentTypeOptions = []byte("X-Content-Type-Options")
	noSniff                  = []byte("nosniff")
	headerCacheControl       = []byte("Cache-Control")
	noStore                  = []byte("no-store")
)

// readJSON decodes `body` strictly: names of members are case-sensitive, duplicate members are errors, text must be
// valid UTF-8, and a string is not accepted as a number. Unknown members are ignored if options do not refuse them.
// `value` does not share memory with `body`.
func readJSON(body []byte, value any, options ...json.Options) error {
	if err := checkAmount(body); err != nil {
		return err
	}
	if err := json.Unmarshal(body, value, options...); err != nil {
		return jsonError(body, err)
	}
	return nil
}

// jsonError returns the error about the member of `body` that cannot be decoded, with the reason.
func jsonError(body []byte, err error) error {
	if semantic, ok := errors.AsType[*json.SemanticError](err); ok {
		if errors.Is(err, json.ErrUnknownName) {
			return schema.Invalid(jsonPath(semantic.JSONPointer), "is not a known member")
		}
		return schema.Invalid(jsonPath(semantic.JSONPointer), wrongType(semantic))
	}
	if syntactic, ok := errors.AsType[*jsontext.SyntacticError](err); ok {
		field := jsonPath(syntactic.JSONPointer)
		switch {
		case errors.Is(err, jsontext.ErrDuplicateName):
			return schema.Invalid(field, "is given twice")
		case errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.EOF):
			return schema.Invalid(field, "ends before the JSON does")
		}
		return schema.Invalid(field, schema.NotJSON(body, syntactic.ByteOffset))
	}
	if errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) {
		return schema.Invalid("", "ends before the JSON does")
	}
	return &schema.Error{Code: schema.CodeBadRequest, Message: "the body cannot be read", Cause: err}
}

// wrongType returns the end of an error message that begins with the name of a member of the body. It says which type
// the member must have.
func wrongType(err *json.SemanticError) string {
	want := "of another type"
	if err.GoType != nil {
		want = typeName(err.GoType)
	}
	switch got := err.JSONKind; {
	case got == 0:
		return "must be " + want
	case kindName(got) == want || (got == '0' && want == "an integer"):
		// The JSON type is right, but the number is a fraction or is out of range.
		return "must be " + want + " in range"
	default:
		return "must be " + want + ", got " + kindName(got)
	}
}

func typeName(t reflect.Type) string {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if name, ok := typeNames[t.Kind()]; ok {
		return name
	}
	return "of another type"
}

// typeNames has, for each Go kind, the JSON type from which it is read.
var typeNames = map[reflect.Kind]string{
	reflect.String: "a string", reflect.Bool: "a boolean",
	reflect.Int: "an integer", reflect.Int8: "an integer", reflect.Int16: "an integer", reflect.Int32: "an integer",
	reflect.Int64: "an integer", reflect.Uint: "an integer", reflect.Uint8: "an integer", reflect.Uint16: "an integer",
	reflect.Uint32: "an integer", reflect.Uint64: "an integer", reflect.Float32: "a number", reflect.Float64: "a number",
	reflect.Slice: "an array", reflect.Array: "an array", reflect.Struct: "an object", reflect.Map: "an object",
}

func kindName(k jsontext.Kind) string {
	if name, ok := kindNames[k]; ok {
		return name
	}
	return "something else"
}

var kindNames = map[jsontext.Kind]string{
	jsontext.KindNull: "null", jsontext.KindTrue: "a boolean", jsontext.KindFalse: "a boolean", jsontext.KindString: "a string",
	jsontext.KindNumber: "a number", jsontext.KindBeginObject: "an object", jsontext.KindEndObject: "an object",
	jsontext.KindBeginArray: "an array", jsontext.KindEndArray: "an array",
}

// jsonPath writes a JSON pointer in the usual path notation: /events/3/location/url is events[3].location.url. Long
// names are cut.
func jsonPath(pointer jsontext.Pointer) string {
	var path strings.Builder
	for token := range pointer.Tokens() {
		token = Clip(token, LongestName)
		switch {
		case token != "" && strings.Trim(token, "0123456789") == "":
			path.WriteString("[" + token + "]")
		case path.Len() > 0:
			path.WriteString("." + token)
		default:
			path.WriteString(token)
		}
		if path.Len() > LongestName {
			break
		}
	}
	return Clip(path.String(), LongestName)
}
