package api

import (
	"errors"
	"fmt"
	"strings"
)

// Scope says who may call an operation: anybody, any user, or those who have a right on an object. The path names the
// object, or a member of the body does. The frame looks the object up before it decodes the body, so that a caller without
// access learns nothing from the body's errors.
//
// The zero Scope is refused at the start: a row that names none is a mistake, not a public operation.
type Scope struct {
	set bool
	// public operations need no token.
	public bool
	// object is the kind of object that the path names; nil without one.
	object *scopeObject
	// named is the kind of object that the body names; nil without one.
	named *namedObject
	// right is what the caller needs on the object.
	right Rights
	// siteKey admits the site's own key too.
	siteKey bool
	// orGone answers success for an object that does not exist.
	orGone bool
}

// public is the scope of operations that need no token.
func public() Scope { return Scope{set: true, public: true} }

// anyUser is the scope of operations that every user may call.
func anyUser() Scope { return Scope{set: true} }

// having is the scope of operations that need a right on the object in the path.
func having(right Rights, object *scopeObject) Scope {
	return Scope{set: true, object: object, right: right}
}

// havingNamed is the scope of operations that need a right on an object that the body names.
func havingNamed(right Rights, object *namedObject) Scope {
	return Scope{set: true, named: object, right: right}
}

// orSiteKey admits the site's own key as well.
func (s Scope) orSiteKey() Scope {
	s.siteKey = true
	return s
}

// orAlreadyGone is for operations that delete the object of the scope: deleting what does not exist succeeds.
func (s Scope) orAlreadyGone() Scope {
	s.orGone = true
	return s
}

// String names the scope in documents.
func (s Scope) String() string {
	switch {
	case s.public:
		return "public"
	case s.named != nil:
		return fmt.Sprintf("%s in the body:%s", s.named.name, rightNames[s.right])
	case s.object == nil:
		return "user"
	}
	name := fmt.Sprintf("%s:%s", s.object.name, rightNames[s.right])
	if s.siteKey {
		name += " or site key"
	}
	return name
}

var rightNames = map[Rights]string{
	RightView: "view", RightAccess: "access", RightComment: "comment", RightEdit: "edit", RightReview: "review",
	RightMerge: "merge", RightCreate: "create", RightAdmin: "admin",
}

// check finds what is wrong with the scope of an operation at path.
func (s Scope) check(path string) error {
	switch {
	case !s.set:
		return errors.New("scope is missing")
	case (s.object != nil || s.named != nil) && rightNames[s.right] == "":
		return errors.New("scope names no single right")
	case s.object != nil && !strings.Contains(path, "{"+s.object.param+"}"):
		return fmt.Errorf("scope needs {%s} in the path", s.object.param)
	case s.object != nil && s.named != nil:
		return errors.New("scope names two objects")
	case s.siteKey && s.object != onInsights:
		return errors.New("a site key opens a site's insights only")
	}
	return nil
}
