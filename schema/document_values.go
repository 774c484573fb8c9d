package schema

import (
	"fmt"
	"maps"
	"math"
	"regexp"
	"slices"
	"unicode/utf8"
)

// check checks one value that was decoded from JSON, and adds its problems to p. The tables of document_grammar.go
// define the allowed values with the functions below, which return checks.
type check func(p *problems, field string, value any)

// member is one named member of an object.
type member struct {
	name     string
	required bool
	check    check
	unless   string // the name of another member; if it is present, this member is optional
}

func req(name string, c check) member { return member{name: name, required: true, check: c} }
func opt(name string, c check) member { return member{name: name, check: c} }

func reqUnless(other, name string, c check) member {
	return member{name: name, required: true, check: c, unless: other}
}

// objectRule defines an object's members. If the object is closed, it may have only these members.
type objectRule struct {
	members []member
	closed  bool
}

func open(members ...member) *objectRule   { return &objectRule{members: members} }
func closed(members ...member) *objectRule { return &objectRule{members: members, closed: true} }

// normalize removes members of the rule that are null, because null means that a member is absent. If the object is
// closed, it also removes members that the rule does not have.
func (r *objectRule) normalize(data Data) {
	if r == nil {
		return
	}
	for _, m := range r.members {
		if value, given := data[m.name]; given && value == nil {
			delete(data, m.name)
		}
	}
	if r.closed {
		maps.DeleteFunc(data, func(name string, _ any) bool {
			return !slices.ContainsFunc(r.members, func(m member) bool { return m.name == name })
		})
	}
}

func str(p *problems, field string, value any) {
	if _, ok := value.(string); !ok {
		p.add(field, "must be a string")
	}
}

// link checks a text that is shown as a link.
func link(p *problems, field string, value any) {
	str(p, field, value)
	if s, _ := value.(string); !LinkAllowed(s) {
		p.add(field, ProblemLink)
	}
}

func boolean(p *problems, field string, value any) {
	if _, ok := value.(bool); !ok {
		p.add(field, "must be a boolean")
	}
}

func number(p *problems, field string, value any) {
	if _, ok := value.(float64); !ok {
		p.add(field, "must be a number")
	}
}

func strAtMost(longest int) check {
	return func(p *problems, field string, value any) {
		str(p, field, value)
		if s, _ := value.(string); utf8.RuneCountInString(s) > longest {
			p.add(field, fmt.Sprintf("must have at most %d characters", longest))
		}
	}
}

func integer(least float64) check {
	return func(p *problems, field string, value any) {
		n, ok := value.(float64)
		if !ok || n != math.Trunc(n) {
			p.add(field, "must be an integer")
		} else if n < least {
			p.add(field, fmt.Sprintf("must be at least %.0f", least))
		}
	}
}

func enum(allowed ...string) check {
	return func(p *problems, field string, value any) {
		if s, ok := value.(string); !ok || !slices.Contains(allowed, s) {
			p.add(field, problemEnum, allowed...)
		}
	}
}

func pattern(expression, problem string) check {
	re := regexp.MustCompile(expression)
	return func(p *problems, field string, value any) {
		if s, ok := value.(string); !ok || !re.MatchString(s) {
			p.add(field, problem)
		}
	}
}

func listOf(item check) check {
	return func(p *problems, field string, value any) {
		list, ok := value.([]any)
		if !ok {
			p.add(field, "must be an array")
			return
		}
		for i, v := range list {
			if p.full() {
				return
			}
			item(p, index(field, i), v)
		}
	}
}

func mapOf(item check) check {
	return func(p *problems, field string, value any) {
		members, ok := value.(map[string]any)
		if !ok {
			p.add(field, problemObject)
			return
		}
		for _, name := range slices.Sorted(maps.Keys(members)) {
			if p.full() {
				return
			}
			item(p, joinKey(field, name), members[name])
		}
	}
}

const problemObject = "must be an object"

func object(rule *objectRule) check {
	return func(p *problems, field string, value any) {
		members, ok := value.(map[string]any)
		if !ok {
			p.add(field, problemObject)
			return
		}
		for _, m := range rule.members {
			v, given := members[m.name]
			switch {
			case given:
				m.check(p, join(field, m.name), v)
			case m.required && (m.unless == "" || members[m.unless] == nil):
				p.add(join(field, m.name), "is required")
			}
		}
	}
}

// tagged returns a check that accepts objects of several kinds. The member `tag` has the name of the object's kind.
func tagged(tag string, rules map[string]*objectRule) check {
	allowed := slices.Sorted(maps.Keys(rules))
	return func(p *problems, field string, value any) {
		members, ok := value.(map[string]any)
		if !ok {
			p.add(field, problemObject)
			return
		}
		name, _ := members[tag].(string)
		rule, ok := rules[name]
		if !ok {
			p.add(join(field, tag), problemEnum, allowed...)
			return
		}
		object(rule)(p, field, value)
	}
}

// anyOf returns a check that accepts a value if at least one of the checks accepts it. If no check accepts it, the
// error is `problem`.
func anyOf(problem string, checks ...check) check {
	return func(p *problems, field string, value any) {
		for _, c := range checks {
			attempt := &problems{}
			c(attempt, field, value)
			if len(attempt.details) == 0 {
				return
			}
		}
		p.add(field, problem)
	}
}

// nullable returns a check that accepts null, and all values that the check c accepts.
func nullable(c check) check {
	return func(p *problems, field string, value any) {
		if value != nil {
			c(p, field, value)
		}
	}
}

// plainObject checks that a value is an object whose members are texts, booleans, numbers, lists of such values, or
// objects of the same form.
func plainObject(p *problems, field string, value any) {
	members, ok := value.(map[string]any)
	if !ok {
		p.add(field, problemObject)
		return
	}
	for _, name := range slices.Sorted(maps.Keys(members)) {
		plainValue(p, joinKey(field, name), members[name], true)
	}
}

func plainValue(p *problems, field string, value any, lists bool) {
	switch value := value.(type) {
	case string, bool, float64:
	case map[string]any:
		plainObject(p, field, value)
	case []any:
		if !lists {
			p.add(field, "must not be an array in an array")
			return
		}
		for i, item := range value {
			plainValue(p, index(field, i), item, false)
		}
	default:
		p.add(field, "must not be null")
	}
}
