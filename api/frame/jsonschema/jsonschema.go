package jsonschema

// Dict is a JSON object: a schema, or a part of a schema.
type Dict = map[string]any

func AnyOf(values []string) []any {
	out := make([]any, len(values))
	for i, v := range values {
		out[i] = v
	}
	return out
}

func Text() Dict { return Dict{"type": "string"} }

func Enum(words []string) Dict { return Dict{"type": "string", "enum": AnyOf(words)} }

func Array(entry Dict) Dict { return Dict{"type": "array", "items": entry} }

func Closed(d Dict) Dict { d["additionalProperties"] = false; return d }

func Nullable(of Dict) Dict { return Dict{"anyOf": []any{of, Dict{"type": "null"}}} }

func Documented(d Dict, s string) Dict { d["description"] = s; return d }

func Object(properties Dict, required ...string) Dict {
	d := Dict{"type": "object", "properties": properties}
	if len(required) > 0 {
		d["required"] = AnyOf(required)
	}
	return d
}

// NULPattern matches U+0000.
const NULPattern = `\x00`

// NUL matches U+0000. No text may contain it, because the database cannot store it.
var NUL = Dict{"pattern": NULPattern}
