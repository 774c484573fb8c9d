package ingest

import (
	"github.com/octavo-docs/octavo/schema/insights"
)

// claims reads session.visitorAuthClaims: nested objects become dotted paths,
// arrays JSON text, booleans and numbers their text; nulls are left out. Of
// claims with one name the last stays.
func (d *decoder) claims() *Error {
	const field = "session.visitorAuthClaims"
	d.event.Claims = d.event.Claims[:0]
	d.path = d.path[:0]
	if c := d.peek(); c == '{' {
		start := d.pos
		size := 0
		if err := d.claimObject(field, 1, &size); err != nil {
			return err
		}
		// `{}` says nothing about the visitor.
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
	return d.wrong(field, "must be an object")
}

// emptyObject looks at what follows an opening brace.
func emptyObject(rest []byte) bool {
	s := scanner{data: rest}
	return s.peek() == '}'
}

// claimObject flattens the object that the scanner stands at, below d.path.
func (d *decoder) claimObject(field string, depth int, size *int) *Error {
	if depth > maxClaimDepth {
		return d.fail(insights.TooLong, field, "must not nest deeper than "+itoa(maxClaimDepth)+" objects")
	}
	d.pos++
	above := len(d.path)
	for first := true; ; first = false {
		more, ok := d.more(first, '}')
		if !ok {
			return d.syntax("")
		}
		if !more {
			return nil
		}
		key, ok := d.key()
		if !ok {
			return d.syntax("")
		}
		if above+len(key) >= maxClaimName {
			return d.fail(insights.TooLong, field, "must not have names of over "+itoa(maxClaimName)+" bytes, with their path")
		}
		c := d.peek()
		if c == '{' {
			if above > 0 {
				d.path = append(d.path, '.')
			}
			d.path = append(d.path, key...)
			if err := d.claimObject(field, depth+1, size); err != nil {
				return err
			}
			d.path = d.path[:above]
			continue
		}
		value, none, ok := d.claimValue(c)
		if !ok {
			return d.syntax("")
		}
		if none {
			continue
		}
		name := key
		if above > 0 {
			from := len(d.scratch)
			d.scratch = append(d.scratch, d.path...)
			d.scratch = append(d.scratch, '.')
			d.scratch = append(d.scratch, key...)
			name = text(d.scratch[from:])
		}
		*size += len(name) + len(value)
		if *size > maxClaimBytes {
			return d.fail(insights.TooLong, field, "must not have over "+itoa(maxClaimBytes)+" bytes")
		}
		if !d.setClaim(name, value) {
			return d.fail(insights.TooLong, field, "must not have over "+itoa(maxClaims)+" claims")
		}
	}
}

// claimValue reads a value that is no object as text.
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

// compact writes valid JSON without white space between its tokens.
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

func (d *decoder) setClaim(name, value string) bool {
	e := &d.event
	for i := range e.Claims {
		if e.Claims[i].Name == name {
			e.Claims[i].Value = value
			return true
		}
	}
	if len(e.Claims) == maxClaims {
		return false
	}
	e.Claims = append(e.Claims, insights.Claim{Name: name, Value: value})
	return true
}
