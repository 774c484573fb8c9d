package insights

import (
	"maps"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/octavo-docs/octavo/schema/sqltree"
)

// Claims are stored as a map from paths to texts. So every version of the sink can write them, and a query reads a
// claim with one look-up:
//
//   - A path has the names from the outermost to the innermost object, joined by dots: org.id. Names may contain dots.
//     If two claims of an event have equal paths, each is stored under its exact path. In an exact path, a dot within a
//     name is written `\.` and a backslash `\\`. For example, {"a.b": 1, "a": {"b": 2}} is stored as `a\.b` and a.b. A
//     name with a backslash is always stored under its exact path.
//   - A text is a string, a number with the digits that were sent, true or false, or an array as JSON. The text does
//     not show the type of the claim, so ClaimTypes has the types.

// ClaimTypes is the path under which the notes about an event's claims are stored. No claim can have this path, because
// in an exact path a backslash always precedes a dot or another backslash. Responses do not show this path.
const ClaimTypes = `\types`

// ClaimType is the JSON type of a claim.
type ClaimType byte

// The types of claims.
const (
	ClaimString ClaimType = 's'
	ClaimNumber ClaimType = 'n'
	ClaimBool   ClaimType = 'b'
	ClaimArray  ClaimType = 'a'
)

// The value of ClaimTypes is a JSON object. It has a member for each path whose claim needs a note. The note is the
// claim's type, followed by the exact path if it differs from the path.

// AppendClaimNote adds a claim's note to the value of ClaimTypes, if the claim needs a note. The first note begins the
// JSON object, and EndClaimNotes ends it.
func AppendClaimNote(dst []byte, begun bool, path, exact, value string, t ClaimType) (notes []byte, noted bool) {
	if t == ClaimString && path == exact && !strings.HasPrefix(value, "[") {
		return dst, false
	}
	if begun {
		dst = append(dst, ',')
	} else {
		dst = append(dst, '{')
	}
	dst = append(AppendText(dst, path), ':', '"', byte(t))
	if exact != path {
		quoted := len(dst)
		dst = AppendText(dst, exact)
		// Remove the opening quote, because the exact path continues the string that the type began.
		dst = append(dst[:quoted], dst[quoted+1:]...)
	} else {
		dst = append(dst, '"')
	}
	return dst, true
}

// EndClaimNotes appends the closing brace of the object that the column ClaimTypes stores.
func EndClaimNotes(dst []byte) []byte { return append(dst, '}') }

// AppendExactName adds a name to an exact path.
func AppendExactName(dst []byte, name string) []byte {
	for i := range len(name) {
		c := name[i]
		if c == '.' || c == '\\' {
			dst = append(dst, '\\')
		}
		dst = append(dst, c)
	}
	return dst
}

// ClaimsObject returns the object from which claims were flattened, without nulls and empty objects. `notes` is the
// value of ClaimTypes. Old events have no notes, so their claims are read as strings, and each dot in a path separates
// two names. If the beginning of a path is the path of another claim, the longer path stays a single name.
func ClaimsObject(claims map[string]string, notes string) map[string]any {
	noted := map[string]string{}
	if notes != "" {
		// Ignore notes that cannot be read, because without notes all claims are shown as strings.
		_ = json.Unmarshal([]byte(notes), &noted, JSONOptions)
	}
	root := map[string]any{}
	for _, path := range slices.Sorted(maps.Keys(claims)) {
		if path == ClaimTypes {
			continue
		}
		note, exact := noted[path], path
		if len(note) > 1 {
			exact = note[1:]
		}
		put(root, splitExact(exact), path, typedClaim(claims[path], note))
	}
	return root
}

// typedClaim returns a claim's value with its JSON type.
func typedClaim(value, note string) any {
	if note == "" {
		return value
	}
	switch t := ClaimType(note[0]); {
	case t == ClaimBool && (value == "true" || value == "false"):
		return value == "true"
	// Check that the value is valid JSON, so that it can be encoded again.
	case (t == ClaimNumber || t == ClaimArray) && jsontext.Value(value).IsValid():
		return jsontext.Value(value)
	}
	return value
}

// put sets a member deep in an object. If the last name already has a value, or an earlier name has a value that is not
// an object, `put` sets a member of `root` with the name `path`.
func put(root map[string]any, names []string, path string, value any) {
	object := root
	for _, name := range names[:len(names)-1] {
		child, exists := object[name]
		if !exists {
			child = map[string]any{}
			object[name] = child
		}
		below, isObject := child.(map[string]any)
		if !isObject {
			root[path] = value
			return
		}
		object = below
	}
	last := names[len(names)-1]
	if _, taken := object[last]; taken {
		root[path] = value
		return
	}
	object[last] = value
}

// splitExact returns the names of an exact path.
func splitExact(path string) []string {
	if !strings.Contains(path, `\`) {
		return strings.Split(path, ".")
	}
	var names []string
	var name []byte
	for i := 0; i < len(path); i++ {
		switch c := path[i]; {
		case c == '\\' && i+1 < len(path):
			i++
			name = append(name, path[i])
		case c == '.':
			names, name = append(names, string(name)), name[:0]
		default:
			name = append(name, c)
		}
	}
	return append(names, string(name))
}

// claimNames returns the expression for the paths of an event's claims.
func claimNames() sqltree.Expr {
	return sqltree.Call("arrayFilter",
		sqltree.Lambda([]string{"name"}, sqltree.Bin(sqltree.Ne, sqltree.Col("name"), sqltree.Str(ClaimTypes))),
		sqltree.Call("mapKeys", sqltree.Col("claims")))
}

// ClaimOf returns the expression for the claim at a path, which is also an expression.
func ClaimOf(path sqltree.Expr) sqltree.Expr {
	return sqltree.Call("arrayElement", sqltree.Col("claims"), path)
}

// matchClaim returns the condition that an event's claim is one of the values, or is an array that contains one of the
// values.
func matchClaim(a Arguments, values []any) sqltree.Expr {
	list := func() sqltree.Expr { return sqltree.Param(sqltree.ArrayOf(typeString), values) }
	return claimOrMembers(a,
		func(text sqltree.Expr) sqltree.Expr { return sqltree.Bin(sqltree.In, text, list()) },
		func(members sqltree.Expr) sqltree.Expr { return sqltree.Call("hasAny", members, list()) })
}

// claimTexts returns the condition that an event's claim meets a test, or is an array with a member that meets the
// test.
func claimTexts(a Arguments, meets func(text sqltree.Expr) sqltree.Expr) sqltree.Expr {
	return claimOrMembers(a, meets, func(members sqltree.Expr) sqltree.Expr { return anyText(members, meets) })
}

// claimOrMembers returns a condition on a claim's text, or on the members of a claim that is an array. A text that
// begins with a bracket is an array, except if the claim's note says that it is a string.
func claimOrMembers(a Arguments, text, members func(sqltree.Expr) sqltree.Expr) sqltree.Expr {
	path := sqltree.Param(typeString, a.Claim)
	isString := sqltree.Call("startsWith", sqltree.Call("JSONExtractString", ClaimOf(sqltree.Str(ClaimTypes)), path), sqltree.Str("s"))
	return sqltree.AnyOf(
		text(ClaimOf(path)),
		sqltree.AllOf(
			sqltree.Call("startsWith", ClaimOf(path), sqltree.Str("[")),
			sqltree.Not(isString),
			members(sqltree.Call("JSONExtract", ClaimOf(path), sqltree.Str("Array(String)")))))
}

// claimNameTexts returns the condition that an event has a claim whose path meets a test.
func claimNameTexts(_ Arguments, meets func(text sqltree.Expr) sqltree.Expr) sqltree.Expr {
	return anyText(claimNames(), meets)
}

func anyText(list sqltree.Expr, meets func(text sqltree.Expr) sqltree.Expr) sqltree.Expr {
	return sqltree.Call("arrayExists", sqltree.Lambda([]string{"text"}, meets(sqltree.Col("text"))), list)
}

// ClaimNames returns the expression for the paths of an event's claims, with one row for each path.
func ClaimNames() sqltree.Expr { return sqltree.Call("arrayJoin", claimNames()) }

// HasClaims returns the condition that an event has claims.
func HasClaims() sqltree.Expr { return sqltree.Call("notEmpty", sqltree.Col("claims")) }

// ClaimSet returns the expression for the claims with the given paths, sorted so that equal sets are equal values. The
// value can be scanned into a map[string]string.
func ClaimSet(paths []string) sqltree.Expr {
	return sqltree.Call("mapSort", sqltree.Call("mapFilter",
		sqltree.Lambda([]string{"path", "value"}, sqltree.Call("has", sqltree.Param(sqltree.ArrayOf(typeString), paths), sqltree.Col("path"))),
		sqltree.Col("claims")))
}

// ClaimNotes returns the expression for the value of ClaimTypes.
func ClaimNotes() sqltree.Expr { return ClaimOf(sqltree.Str(ClaimTypes)) }
