package schema

import (
	"context"
	"slices"
	"strings"

	"github.com/octavo-docs/octavo/schema/mergeexpr"
)

// MergeRules are the conditions that a change request must meet before it can be merged. The type is `none`, or `rules`
// with a list of rules. The type of a space's rules may also be `inherit`.
type MergeRules struct {
	Type  string      `json:"type"`
	Rules []MergeRule `json:"rules,omitzero"`
}

// MergeRule is one rule. Users and Expression are set only if the rule needs them.
type MergeRule struct {
	Rule       string   `json:"rule"`
	Users      []string `json:"users,omitzero"`
	Expression string   `json:"expression,omitempty"`
}

// MergeFacts has the facts about a merge that the rules are checked against.
type MergeFacts struct {
	// Actor is the user who wants to merge. Author is the user who created the change request.
	Actor, Author string
	Number        int32
	Status        string
	Subject       string
	// Description is the description of the change request as plain text.
	Description string
	// Outdated is true if the main content has changes that the change request does not have.
	Outdated bool
	// Reviews has the users who were asked to review or have already reviewed. It has only users who may review now.
	Reviews []ReviewState
	// Gone has the users whom rules name but who may no longer review. They have left the organization, or now have a
	// lower role.
	Gone map[string]bool
	// Names has the names of the users whom rules name, by their ids.
	Names map[string]string
}

// ReviewState is a reviewer of a change request. Status is the reviewer's verdict on the current content. It is empty
// if the reviewer has not reviewed the current content, or was asked for another review after that.
type ReviewState struct {
	User      string
	Requested bool
	Status    string
	// Contributor is true if the reviewer created the change request or changed its content. The verdicts of
	// contributors are ignored, because nobody may review their own work.
	Contributor bool
	// Admin is true if the reviewer is an admin of the space.
	Admin bool
}

// These are the values of a review's `status`.
const (
	ReviewChangesRequested = "changes-requested"
	ReviewApproved         = "approved"
)

// ReviewStatuses returns the values of a review's `status`.
func ReviewStatuses() []string { return []string{ReviewChangesRequested, ReviewApproved} }

// counts reports whether the reviewer has a verdict on the current content that the rules use.
func (r ReviewState) counts() bool { return r.Status != "" && !r.Contributor }

func (r ReviewState) approves() bool { return r.counts() && r.Status == ReviewApproved }

// mergeRuleBypass is the rule that exempts its users from all other rules. It adds no condition of its own.
const mergeRuleBypass = "allow_bypass"

// mergeRuleTakes says which parameter a rule has: users, an expression, or no parameter.
type mergeRuleTakes int

const (
	takesNothing mergeRuleTakes = iota
	takesUsers
	takesExpression
)

// mergeRules has a row for each rule that this package can evaluate. The function of a row returns the problem of a
// rule that is not met, or "". Rules with users come first.
var mergeRules = []struct {
	name    string
	takes   mergeRuleTakes
	problem func(rule MergeRule, f MergeFacts) string
}{
	{"require_specific_reviewers", takesUsers, func(r MergeRule, f MergeFacts) string {
		left := f.left(r.Users)
		if left == nil {
			return f.replaced(r.Users)
		}
		if missing := slices.DeleteFunc(left, f.approvedBy); len(missing) > 0 {
			return "not everybody whose approval it takes has approved the current content: " + f.named(
				missing,
				" and ",
			) +
				" must approve it; whoever wrote part of it cannot"
		}
		return ""
	}},
	{"require_one_of_specific_reviewers", takesUsers, func(r MergeRule, f MergeFacts) string {
		left := f.left(r.Users)
		switch {
		case len(r.Users) == 0:
			return "it names nobody who could approve"
		case left == nil:
			return f.replaced(r.Users)
		case slices.ContainsFunc(left, f.approvedBy):
			return ""
		}
		return "none of those whose approval it takes has approved the current content: " + f.named(left, " or ") +
			" must approve it; whoever wrote part of it cannot"
	}},
	{mergeRuleBypass, takesUsers, func(MergeRule, MergeFacts) string { return "" }},
	{"require_at_least_one_review", takesNothing, func(_ MergeRule, f MergeFacts) string {
		if slices.ContainsFunc(f.Reviews, ReviewState.counts) {
			return ""
		}
		return "nobody but those who wrote it has reviewed the current content"
	}},
	{"require_at_least_one_approved_review", takesNothing, func(_ MergeRule, f MergeFacts) string {
		if slices.ContainsFunc(f.Reviews, ReviewState.approves) {
			return ""
		}
		return "nobody but those who wrote it has approved the current content"
	}},
	{"require_all_reviews_approved", takesNothing, func(_ MergeRule, f MergeFacts) string {
		if slices.ContainsFunc(f.Reviews, func(r ReviewState) bool { return r.Status != ReviewApproved }) {
			return "not everybody who was asked or has reviewed has approved the current content"
		}
		return ""
	}},
	{"require_up_to_date_change_request", takesNothing, func(_ MergeRule, f MergeFacts) string {
		if f.Outdated {
			return "the main content has changed since: update the change request"
		}
		return ""
	}},
	{"require_change_request_subject", takesNothing, func(_ MergeRule, f MergeFacts) string {
		if strings.TrimSpace(f.Subject) == "" {
			return "it has no subject"
		}
		return ""
	}},
	{"require_change_request_description", takesNothing, func(_ MergeRule, f MergeFacts) string {
		if strings.TrimSpace(f.Description) == "" {
			return "it has no description"
		}
		return ""
	}},
	{"require_author_to_merge", takesNothing, func(_ MergeRule, f MergeFacts) string {
		if f.Actor != f.Author {
			return "only its author merges it"
		}
		return ""
	}},
	{"custom", takesExpression, nil},
}

// facts returns the facts in the form that the expressions of custom rules use.
func (f MergeFacts) facts() mergeexpr.Facts {
	facts := mergeexpr.Facts{Actor: f.Actor, ChangeRequest: mergeexpr.ChangeRequest{
		Number: int64(f.Number), Status: f.Status, Subject: f.Subject, Description: f.Description, Author: f.Author, Outdated: f.Outdated,
	}}
	for _, r := range f.Reviews {
		facts.Reviews = append(facts.Reviews, mergeexpr.Review{
			User: r.User, Status: r.Status, Requested: r.Requested, Contributor: r.Contributor,
		})
	}
	return facts
}

// MergeRuleKinds returns, for each rule by its name, the parameters of the rule.
func MergeRuleKinds() map[string]MergeRuleKind {
	kinds := map[string]MergeRuleKind{
		// if this rule is stored, Problems refuses every merge
		"require_agent_review": {Unknowable: true},
	}
	for _, row := range mergeRules {
		kinds[row.name] = MergeRuleKind{Users: row.takes == takesUsers, Expression: row.takes == takesExpression}
	}
	return kinds
}

// MergeRuleKind says which members a rule has.
type MergeRuleKind struct {
	Users      bool
	Expression bool
	// Unknowable is true if this package cannot evaluate the rule. Every merge is then refused.
	Unknowable bool
}

func (f MergeFacts) approvedBy(user string) bool {
	return slices.ContainsFunc(f.Reviews, func(r ReviewState) bool { return r.User == user && r.approves() })
}

// left returns the given users who may still review, in a new slice. It returns nil if none of them may review.
func (f MergeFacts) left(users []string) []string {
	var left []string
	for _, user := range users {
		if !f.Gone[user] {
			left = append(left, user)
		}
	}
	return left
}

// replaced returns the problem of a rule whose users may no longer review. It returns "" if an admin of the space has
// approved instead.
func (f MergeFacts) replaced(users []string) string {
	if len(users) == 0 || slices.ContainsFunc(f.Reviews, func(r ReviewState) bool { return r.Admin && r.approves() }) {
		return ""
	}
	return f.named(
		users,
		" and ",
	) + " may not review any more, so an admin of the space must approve the current content; " +
		"whoever wrote part of it cannot"
}

// named returns a list of users for an error message. Users appear with their names and ids.
func (f MergeFacts) named(users []string, last string) string {
	texts := make([]string, len(users))
	for i, user := range users {
		if texts[i] = user; f.Names[user] != "" {
			texts[i] = f.Names[user] + " (" + user + ")"
		}
	}
	if len(texts) < 2 {
		return strings.Join(texts, "")
	}
	return strings.Join(texts[:len(texts)-1], ", ") + last + texts[len(texts)-1]
}

// People returns the users whom the rules name.
func (m MergeRules) People() []string {
	var people []string
	for _, rule := range m.Rules {
		people = append(people, rule.Users...)
	}
	return people
}

// Or returns the rules that apply to a space: the space's own rules, or the organization's rules if the space inherits
// them.
func (m MergeRules) Or(organization MergeRules) MergeRules {
	if m.Type == "inherit" {
		return organization
	}
	return m
}

// Problems lists the rules that prevent the merge of a change request. The field of each detail is the name of a rule.
// If a rule exempts the user, Problems returns no problems. If a rule cannot be evaluated, such as the review of an
// agent, it is not met.
//
// The expressions of custom rules share a limit on their cost. Their evaluation stops if ctx ends. If the evaluation of
// a rule's expression stops, the rule is not met.
func (m MergeRules) Problems(ctx context.Context, f MergeFacts) []Detail {
	if !m.Bind(f.Actor) {
		return nil
	}
	var problems []Detail
	custom := mergeexpr.Evaluation{Facts: f.facts()}
	for _, rule := range m.Rules {
		problem := "it cannot be evaluated here"
		for i := range mergeRules {
			switch row := &mergeRules[i]; {
			case row.name != rule.Rule:
			case row.takes == takesExpression:
				problem = ""
				if allowed, err := custom.Allows(ctx, rule.Expression); err != nil {
					problem = "its expression cannot be evaluated: " + err.Error()
				} else if !allowed {
					problem = "it is not true that " + rule.Expression
				}
			default:
				problem = row.problem(rule, f)
			}
		}
		if problem != "" {
			problems = append(problems, Detail{Field: rule.Rule, Problem: problem})
		}
	}
	return problems
}

// Custom reports whether at least one rule has an expression.
func (m MergeRules) Custom() bool {
	return slices.ContainsFunc(m.Rules, func(r MergeRule) bool { return r.Expression != "" })
}

// Bind reports whether there are rules that the user must meet.
func (m MergeRules) Bind(actor string) bool { return m.Type == "rules" && !m.Bypass(actor) }

// Bypass reports whether a rule exempts a user from all other rules.
func (m MergeRules) Bypass(actor string) bool {
	return m.Type == "rules" && slices.ContainsFunc(m.Rules, func(r MergeRule) bool {
		return r.Rule == mergeRuleBypass && slices.Contains(r.Users, actor)
	})
}

// NotMergeable returns the error for a merge that is refused. The error lists every rule that is not met.
func NotMergeable(problems []Detail) *Error {
	texts := make([]string, len(problems))
	for i, p := range problems {
		texts[i] = p.Field + " (" + p.Problem + ")"
	}
	e := Conflict("the merge rules are not met: " + strings.Join(texts, ", "))
	e.Details = problems
	return e
}
