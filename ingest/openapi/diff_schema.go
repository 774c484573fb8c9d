package openapi

import (
	"math/big"
	"slices"
	"strconv"
	"strings"

	"github.com/octavo-docs/octavo/schema"
)

// compare has two schemas compared, soon: references may lead far. One that is missing allows everything.
func (d *differ) compare(before, after *node, sent bool, at *path) {
	if before == nil && after == nil {
		return
	}
	d.queue = append(d.queue, pair{before: before, after: after, sent: sent, at: at, path: d.path, method: d.method})
}

// schema compares a pair, once for each of the two ways in which it is used.
func (d *differ) schema(p pair) {
	d.path, d.method, d.direction = p.path, p.method, schema.SpecResponse
	if p.sent {
		d.direction = schema.SpecRequest
	}
	before, _ := d.resolve(d.before, p.before, nil)
	after, at := d.resolve(d.after, p.after, p.at)
	key := compared{before, after, p.sent}
	// Of what a reference to nowhere allows nothing is known.
	if d.seen[key] || p.before != nil && before == nil || p.after != nil && after == nil {
		return
	}
	d.seen[key] = true
	what := subject(at)
	d.types(before, after, p.sent, at, what)
	d.values(before, after, p.sent, at, what)
	d.limits(before, after, p.sent, at, what)
	for _, text := range textRules {
		keyword, r := text.keyword, text.rule
		one, two := before.get(keyword).str(), after.get(keyword).str()
		// What clients send may be freer than it was, what they receive narrower.
		if freer, narrower := two == "", one == ""; one != two && !(freer && p.sent) && !(narrower && !p.sent) {
			d.tell(r, p.sent, at.to(keyword), "%s", what)
		}
	}
	d.properties(before, after, p.sent, at)
	if one, two := before.get("items"), after.get("items"); one != nil || two != nil {
		d.compare(one, two, p.sent, at.to("items"))
	}
	for _, keyword := range []string{"oneOf", "anyOf"} {
		d.parts(before.get(keyword), after.get(keyword), p.sent, at.to(keyword), alternativeRemoved, alternativeAdded)
	}
	d.parts(before.get("allOf"), after.get("allOf"), p.sent, at.to("allOf"), partRemoved, partAdded)
}

var textRules = []struct {
	keyword string
	rule    *rule
}{{"format", formatChanged}, {"pattern", patternChanged}}

// subject is what the end of a path is called in texts.
func subject(at *path) string {
	if at == nil {
		return "the document"
	}
	name := shorten(at.name, 100)
	if at.parent != nil {
		switch at.parent.name {
		case "properties":
			return "the property " + name
		case "schemas", "definitions", "$defs":
			return "the schema " + name
		case "parameters":
			return "the value"
		}
	}
	switch name {
	case "items":
		return "an item"
	case "schema":
		return "the value"
	}
	return strconv.Quote(name)
}

// typesOf gives the types that a schema allows; none means all.
func typesOf(n *node) []string {
	var types []string
	switch t := n.get("type"); {
	case t == nil:
	case t.kind == '[':
		for _, item := range t.items[:min(len(t.items), 10)] {
			types = append(types, item.str())
		}
	case t.kind == '"':
		types = []string{t.str()}
	}
	if len(types) > 0 && (isTrue(n.get("nullable")) || isTrue(n.get("x-nullable"))) && !slices.Contains(types, "null") {
		types = append(types, "null")
	}
	return types
}

// within is whether all values of some types have one of others.
func within(inner, outer []string) bool {
	if len(outer) == 0 {
		return true
	}
	return len(inner) > 0 && !slices.ContainsFunc(inner, func(t string) bool {
		return !slices.Contains(outer, t) && !(t == "integer" && slices.Contains(outer, "number"))
	})
}

func (d *differ) types(before, after *node, sent bool, at *path, what string) {
	old, now := typesOf(before), typesOf(after)
	narrower, wider := within(now, old), within(old, now)
	r := typeChanged
	switch {
	case narrower && wider:
		return
	case narrower:
		r = typeNarrowed
	case wider:
		r = typeWidened
	}
	d.tell(r, sent, at, "%s, which was %s and is %s,", what, orAnything(old), orAnything(now))
}

func orAnything(types []string) string {
	if len(types) == 0 {
		return "anything"
	}
	return shorten(strings.Join(types, " or "), 100)
}

// values compares enumerations. Without one, every value is allowed.
func (d *differ) values(before, after *node, sent bool, at *path, what string) {
	old, now := before.get("enum"), after.get("enum")
	switch {
	case old == nil && now == nil:
		return
	case old == nil:
		d.tell(limitNarrowed, sent, at.to("enum"), "%s has an enumeration now: it", what)
		return
	case now == nil:
		d.tell(limitWidened, sent, at, "%s has no enumeration any more: it", what)
		return
	}
	was, is := map[string]bool{}, map[string]bool{}
	for _, item := range old.items {
		was[string(item.raw)] = true
	}
	for _, item := range now.items {
		is[string(item.raw)] = true
	}
	for _, item := range old.items {
		if !is[string(item.raw)] && !d.done() {
			d.tell(valueRemoved, sent, at.to("enum"), "%s of %s", item.raw, what)
		}
	}
	for _, item := range now.items {
		if !was[string(item.raw)] && !d.done() {
			d.tell(valueAdded, sent, at.to("enum"), "%s of %s", item.raw, what)
		}
	}
}

func (d *differ) limits(before, after *node, sent bool, at *path, what string) {
	for _, limit := range schemaLimits {
		old, hadOld := amount(before.get(limit.keyword))
		now, hasNow := amount(after.get(limit.keyword))
		if !hadOld && !hasNow {
			continue
		}
		wider := !hasNow
		if hadOld && hasNow {
			order := now.Cmp(old)
			if order == 0 {
				continue
			}
			wider = order > 0 == limit.upper
		}
		r := limitNarrowed
		if wider {
			r = limitWidened
		}
		d.tell(r, sent, at.to(limit.keyword), "%s of %s", limit.keyword, what)
	}
}

// longestAmount bounds numbers that are computed with: 1e999999999 is a short text.
const longestAmount = 40

func amount(n *node) (*big.Rat, bool) {
	if n == nil || n.kind != '0' || len(n.raw) > longestAmount {
		return nil, false
	}
	if _, exponent, ok := strings.Cut(strings.ToLower(string(n.raw)), "e"); ok && len(strings.TrimLeft(exponent, "+-0")) > 3 {
		return nil, false
	}
	return new(big.Rat).SetString(string(n.raw))
}

func (d *differ) properties(before, after *node, sent bool, at *path) {
	old, now := before.get("properties"), after.get("properties")
	needed, needs := requiredOf(before), requiredOf(after)
	if old != nil && old.kind == '{' {
		for _, name := range old.names {
			if now.get(name) == nil && after != nil && !d.done() {
				d.tell(propertyRemoved, sent, at.to("properties").to(name), "the property %s", name)
			}
		}
	}
	if now != nil && now.kind == '{' {
		for i, name := range now.names {
			if d.done() {
				return
			}
			place := at.to("properties").to(name)
			was := old.get(name)
			switch {
			case was == nil && needs[name]:
				d.tell(requiredPropertyAdded, sent, place, "the property %s", name)
			case was == nil:
				d.tell(propertyAdded, sent, place, "the property %s", name)
			case needs[name] && !needed[name]:
				d.tell(propertyBecameRequired, sent, place, "the property %s", name)
			case !needs[name] && needed[name]:
				d.tell(propertyBecameOptional, sent, place, "the property %s", name)
			}
			if was != nil {
				d.compare(was, now.items[i], sent, place)
			}
		}
	}
	open, opens := before.get("additionalProperties"), after.get("additionalProperties")
	switch closed, closes := isFalse(open), isFalse(opens); {
	case closes && !closed:
		d.tell(otherPropertiesForbidden, sent, at, "%s", subject(at))
	case closed && !closes:
		d.tell(otherPropertiesAllowed, sent, at, "%s", subject(at))
	case open != nil && opens != nil && open.kind == '{' && opens.kind == '{':
		d.compare(open, opens, sent, at.to("additionalProperties"))
	}
}

func isFalse(n *node) bool { return n != nil && n.kind == 'f' }

func requiredOf(n *node) map[string]bool {
	names := map[string]bool{}
	if list := n.get("required"); list != nil && list.kind == '[' {
		for _, item := range list.items {
			names[item.str()] = true
		}
	}
	return names
}

// parts compares lists of schemas. Those that are references are the same if they have the same text, the others if they have the same
// place among them.
func (d *differ) parts(before, after *node, sent bool, at *path, removed, added *rule) {
	old, now := partsOf(before), partsOf(after)
	for _, name := range old.names {
		if now.get(name) == nil && !d.done() {
			d.tell(removed, sent, at, "%s", name)
		}
	}
	for i, name := range now.names {
		if d.done() {
			return
		}
		if was := old.get(name); was != nil {
			d.compare(was, now.items[i], sent, at.item(i))
		} else {
			d.tell(added, sent, at.item(i), "%s", name)
		}
	}
}

// partsOf gives the schemas of a list names.
func partsOf(list *node) *node {
	named := &node{kind: '{'}
	if list == nil || list.kind != '[' {
		return named
	}
	for i, item := range list.items {
		name, ok := item.get("$ref").text()
		if !ok {
			name = "the schema " + strconv.Itoa(i+1)
		}
		named.set(name, item)
	}
	return named
}
