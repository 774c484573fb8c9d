package api

// dict is a JSON object: a schema, or a part of one.
type dict = map[string]any

func anyOf(values []string) []any {
	out := make([]any, len(values))
	for i, v := range values {
		out[i] = v
	}
	return out
}

func textType() dict                   { return dict{"type": "string"} }
func enumOf(words []string) dict       { return dict{"type": "string", "enum": anyOf(words)} }
func arrayOf(entry dict) dict          { return dict{"type": "array", "items": entry} }
func closed(d dict) dict               { d["additionalProperties"] = false; return d }
func nullable(of dict) dict            { return dict{"anyOf": []any{of, dict{"type": "null"}}} }
func documented(d dict, s string) dict { d["description"] = s; return d }

func objectOf(properties dict, required ...string) dict {
	d := dict{"type": "object", "properties": properties}
	if len(required) > 0 {
		d["required"] = anyOf(required)
	}
	return d
}

// nulPattern is what no text may hold: the database cannot store it.
var nulPattern = dict{"pattern": `\x00`}
