package insights

import (
	"maps"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/octavo-docs/octavo/schema/sqltree"
)

// Claims are stored as a map from a path to a text. So every version of the sink can write them, and reading a claim is
// one look-up:
//
//   - A path is the names from the outside in, joined by dots: org.id. Names may contain dots. If two claims of an
//     event have equal paths, each is stored under its exact path. In an exact path, a dot within a name is written
//     `\.` and a backslash `\\`. For example, {"a.b": 1, "a": {"b": 2}} is stored as `a\.b` and a.b. A name with a
//     backslash is always stored under its exact path.
//   - A text is a string, a number as sent, true or false, or an array as JSON.
//     ClaimTypes has the types, which the texts do not show.

// ClaimTypes is the path of the notes about an event's other claims. No claim can have this path, because in an exact
// path a dot or another backslash follows a backslash. Answers do not show it.
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
// claim's type, followed by the exact path if this differs from the path.

// AppendClaimNote adds a claim's note to the value of ClaimTypes, if the claim needs a note. The first note begins the
// object, and EndClaimNotes ends it.
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
		dst = append(dst[:quoted], dst[quoted+1:]...) // these claims continue the same string
	} else {
		dst = append(dst, '"')
	}
	return dst, true
}

// EndClaimNotes ends the value of ClaimTypes.
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

// ClaimsObject returns the object from which claims were flattened, without nulls and empty objects. notes is the value
// of ClaimTypes. Old events have no notes. Their claims are read as strings with plain names. A path below the path of
// another claim stays a single name.
func ClaimsObject(claims map[string]string, notes string) map[string]any {
	noted := map[string]string{}
	if notes != "" {
		// Unreadable notes are ignored, because the claims are still valid texts.
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

// typedClaim is a claim's value in its JSON type.
func typedClaim(value, note string) any {
	if note == "" {
		return value
	}
	switch t := ClaimType(note[0]); {
	case t == ClaimBool && (value == "true" || value == "false"):
		return value == "true"
	case (t == ClaimNumber || t == ClaimArray) && jsontext.Value(value).IsValid(): // so that it can be encoded again
		return jsontext.Value(value)
	}
	return value
}

// put sets a member deep in an object. If a name on the path already has a value, it uses the whole path as a name.
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

// claimNames reads the paths of an event's claims.
func claimNames() sqltree.Expr {
	return sqltree.Call("arrayFilter",
		sqltree.Lambda([]string{"name"}, sqltree.Bin(sqltree.Ne, sqltree.Col("name"), sqltree.Str(ClaimTypes))),
		sqltree.Call("mapKeys", sqltree.Col("claims")))
}

// ClaimOf reads the claim whose path another expression reads.
func ClaimOf(path sqltree.Expr) sqltree.Expr {
	return sqltree.Call("arrayElement", sqltree.Col("claims"), path)
}

// matchClaim selects events whose claim is one of the values, or is an array that contains one of them.
func matchClaim(a Arguments, values []any) sqltree.Expr {
	list := func() sqltree.Expr { return sqltree.Param(sqltree.ArrayOf(typeString), values) }
	return claimOrMembers(a,
		func(text sqltree.Expr) sqltree.Expr { return sqltree.Bin(sqltree.In, text, list()) },
		func(members sqltree.Expr) sqltree.Expr { return sqltree.Call("hasAny", members, list()) })
}

// claimTexts selects events whose claim meets a test, or whose claim is an array with a member that meets the test.
func claimTexts(a Arguments, meets func(text sqltree.Expr) sqltree.Expr) sqltree.Expr {
	return claimOrMembers(a, meets, func(members sqltree.Expr) sqltree.Expr { return anyText(members, meets) })
}

// claimOrMembers is a condition on a claim's text or on the members of an array. A text that begins with a bracket is
// an array, except if its note is that it is a string.
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

// claimNameTexts selects events with a claim whose path meets a test.
func claimNameTexts(_ Arguments, meets func(text sqltree.Expr) sqltree.Expr) sqltree.Expr {
	return anyText(claimNames(), meets)
}

func anyText(list sqltree.Expr, meets func(text sqltree.Expr) sqltree.Expr) sqltree.Expr {
	return sqltree.Call("arrayExists", sqltree.Lambda([]string{"text"}, meets(sqltree.Col("text"))), list)
}

// ClaimNames reads the paths of an event's claims, one row for each.
func ClaimNames() sqltree.Expr { return sqltree.Call("arrayJoin", claimNames()) }

// HasClaims is the condition "the event has claims".
func HasClaims() sqltree.Expr { return sqltree.Call("notEmpty", sqltree.Col("claims")) }

// ClaimSet reads the claims with the given paths, sorted so that equal sets are
// equal values. It scans into a map[string]string.
func ClaimSet(paths []string) sqltree.Expr {
	return sqltree.Call("mapSort", sqltree.Call("mapFilter",
		sqltree.Lambda([]string{"path", "value"}, sqltree.Call("has", sqltree.Param(sqltree.ArrayOf(typeString), paths), sqltree.Col("path"))),
		sqltree.Col("claims")))
}

// ClaimNotes reads the value of ClaimTypes.
func ClaimNotes() sqltree.Expr { return ClaimOf(sqltree.Str(ClaimTypes)) }
