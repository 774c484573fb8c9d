package intake

import (
	"strings"

	"github.com/octavo-docs/octavo/schema/insights"
)

// claimPath is the path of a claim. decoder.claimPaths has the paths in the order of Event.Claims.
type claimPath struct {
	plain, exact string
	sent         insights.ClaimType
}

// claims reads session.visitorAuthClaims. A claim in a nested object gets a path of names. An array becomes JSON text.
// A boolean or a number becomes text, and the claim insights.ClaimTypes has its type. A null is left out. If several
// claims have the same path, the last claim is stored.
func (d *decoder) claims() *insights.Refusal {
	const field = "session.visitorAuthClaims"
	d.event.Claims = d.event.Claims[:0]
	d.path, d.exact, d.claimPaths = d.path[:0], d.exact[:0], d.claimPaths[:0]
	if c := d.peek(); c == '{' {
		start := d.pos
		size := 0
		if err := d.claimObject(field, 1, false, &size); err != nil {
			return err
		}
		d.noteClaims()
		// `{}` has no claim about the visitor.
		if !emptyObject(d.data[start+1 : d.pos]) {
			d.event.Authenticated = true
		}
		return nil
	} else if c == 'n' {
		if !d.word("null") {
			return d.syntax("")
		}
		return nil
	}
	return d.wrongType(field, "must be an object")
}

// emptyObject reports whether an object is empty, from the bytes after its opening brace.
func emptyObject(rest []byte) bool {
	s := scanner{data: rest}
	return s.peek() == '}'
}

// claimObject reads the claims of the object at the scanner's position. The path of each of these claims begins with
// d.path. `escaped` means that d.exact differs from d.path.
func (d *decoder) claimObject(field string, depth int, escaped bool, size *int) *insights.Refusal {
	if depth > maxClaimDepth {
		return d.fail(insights.TooLong, field, "must not nest deeper than "+itoa(maxClaimDepth)+" objects")
	}
	d.pos++
	above, aboveExact := len(d.path), len(d.exact)
	for first := true; ; first = false {
		d.path, d.exact = d.path[:above], d.exact[:aboveExact]
		key, more, err := d.member(first)
		if !more {
			return err
		}
		if above+len(key) >= maxClaimName {
			return d.fail(insights.TooLong, field, "must not have names of over "+itoa(maxClaimName)+" bytes, with their path")
		}
		if depth > 1 {
			d.path, d.exact = append(d.path, '.'), append(d.exact, '.')
		}
		d.path, d.exact = append(d.path, key...), insights.AppendExactName(d.exact, key)
		escapedKey := escaped || strings.ContainsAny(key, `.\`)
		c := d.peek()
		if c == '{' {
			if err := d.claimObject(field, depth+1, escapedKey, size); err != nil {
				return err
			}
			continue
		}
		value, none, ok := d.claimValue(c)
		if !ok {
			return d.syntax("")
		}
		if none {
			continue
		}
		path := claimPath{plain: key, sent: claimType(c)}
		if depth > 1 {
			path.plain = d.keep(d.path)
		}
		path.exact = path.plain
		if escapedKey {
			path.exact = d.keep(d.exact)
		}
		*size += len(path.plain) + len(value)
		if *size > maxClaimBytes {
			return d.fail(insights.TooLong, field, "must not have over "+itoa(maxClaimBytes)+" bytes")
		}
		if !d.setClaim(path, value) {
			return d.fail(insights.TooLong, field, "must not have over "+itoa(maxClaims)+" claims")
		}
	}
}

// keep returns a copy of b in `scratch`, because the next claim overwrites b.
func (d *decoder) keep(b []byte) string {
	from := len(d.scratch)
	d.scratch = append(d.scratch, b...)
	return text(d.scratch[from:])
}

// claimType returns a value's type by its first byte.
func claimType(first byte) insights.ClaimType {
	switch first {
	case '"':
		return insights.ClaimString
	case 't', 'f':
		return insights.ClaimBool
	case '[':
		return insights.ClaimArray
	}
	return insights.ClaimNumber
}

// claimValue reads a value other than an object as text. `none` is true for null.
func (d *decoder) claimValue(c byte) (value string, none, ok bool) {
	switch c {
	case '"':
		value, ok = d.scanner.str()
		return value, false, ok
	case 't':
		return "true", false, d.word("true")
	case 'f':
		return "false", false, d.word("false")
	case 'n':
		return "", true, d.word("null")
	case '[':
		start := d.pos
		if !d.skip(4) {
			return "", false, false
		}
		return d.compact(d.data[start:d.pos]), false, true
	}
	value, ok = d.number()
	return value, false, ok
}

// compact returns valid JSON without the white space between its tokens.
func (d *decoder) compact(raw []byte) string {
	from := len(d.scratch)
	for i := 0; i < len(raw); {
		c := raw[i]
		end := i + 1
		switch c {
		case ' ', '\t', '\n', '\r':
			i = end
			continue
		case '"':
			for raw[end] != '"' {
				if raw[end] == '\\' {
					end++
				}
				end++
			}
			end++
		}
		d.scratch = append(d.scratch, raw[i:end]...)
		i = end
	}
	return validText(text(d.scratch[from:]))
}

// setClaim stores a claim under its plain path. It uses the exact path instead if the plain path contains a backslash,
// or if another claim has the same plain path. So the stored names do not depend on the order of the claims. It returns
// false if the event has too many claims.
func (d *decoder) setClaim(path claimPath, value string) bool {
	e := &d.event
	name := path.plain
	if strings.IndexByte(name, '\\') >= 0 {
		name = path.exact
	}
	for i := range d.claimPaths {
		other := &d.claimPaths[i]
		if other.exact == path.exact {
			e.Claims[i].Value, other.sent = value, path.sent
			return true
		}
		if other.plain == path.plain {
			e.Claims[i].Name, name = other.exact, path.exact
		}
	}
	if len(e.Claims) == maxClaims {
		return false
	}
	e.Claims = append(e.Claims, insights.Claim{Name: name, Value: value})
	d.claimPaths = append(d.claimPaths, path)
	return true
}

// noteClaims adds the claim insights.ClaimTypes. It has the types and the exact paths that the other claims' names and
// texts do not show.
func (d *decoder) noteClaims() {
	from, any := len(d.scratch), false
	for i, path := range d.claimPaths {
		c := d.event.Claims[i]
		var noted bool
		d.scratch, noted = insights.AppendClaimNote(d.scratch, any, c.Name, path.exact, c.Value, path.sent)
		any = any || noted
	}
	if any {
		d.scratch = insights.EndClaimNotes(d.scratch)
		d.event.Claims = append(d.event.Claims, insights.Claim{Name: insights.ClaimTypes, Value: text(d.scratch[from:])})
	}
}
