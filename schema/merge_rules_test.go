package schema_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/octavo-docs/octavo/schema"
)

// TestMergeRules has, for each rule, cases in which the rule is met, and cases in which it is not met.
func TestMergeRules(t *testing.T) {
	t.Parallel()
	approved := func(users ...string) []schema.ReviewState {
		var states []schema.ReviewState
		for _, user := range users {
			states = append(states, schema.ReviewState{User: user, Status: schema.ReviewApproved})
		}
		return states
	}
	// Bob has approved content of which he wrote a part.
	own := func(states ...schema.ReviewState) []schema.ReviewState {
		return append(states, schema.ReviewState{User: "bob", Status: schema.ReviewApproved, Contributor: true})
	}
	refused := schema.ReviewState{User: "cem", Requested: true, Status: schema.ReviewChangesRequested}
	pending := schema.ReviewState{User: "dan", Requested: true}
	rule := func(name string, users ...string) schema.MergeRule { return schema.MergeRule{Rule: name, Users: users} }
	for _, test := range []struct {
		rules []schema.MergeRule
		facts schema.MergeFacts
		want  []string // the rules that the request does not meet
	}{
		{nil, schema.MergeFacts{}, nil},
		{[]schema.MergeRule{rule("require_specific_reviewers", "ann", "bob")}, schema.MergeFacts{Reviews: approved("ann", "bob", "cem")}, nil},
		{[]schema.MergeRule{rule("require_specific_reviewers", "ann", "bob")}, schema.MergeFacts{Reviews: approved("bob", "cem")}, []string{"require_specific_reviewers"}},
		{[]schema.MergeRule{rule("require_specific_reviewers", "cem")}, schema.MergeFacts{Reviews: []schema.ReviewState{refused}}, []string{"require_specific_reviewers"}},
		{[]schema.MergeRule{rule("require_specific_reviewers", "bob")}, schema.MergeFacts{Reviews: own()}, []string{"require_specific_reviewers"}},
		{[]schema.MergeRule{rule("require_one_of_specific_reviewers", "bob", "cem")}, schema.MergeFacts{Reviews: own(refused)}, []string{"require_one_of_specific_reviewers"}},
		{[]schema.MergeRule{rule("require_one_of_specific_reviewers", "bob", "ann")}, schema.MergeFacts{Reviews: own(approved("ann")...)}, nil},
		{[]schema.MergeRule{rule("require_at_least_one_approved_review")}, schema.MergeFacts{Reviews: own(refused)}, []string{"require_at_least_one_approved_review"}},
		{[]schema.MergeRule{rule("require_at_least_one_approved_review")}, schema.MergeFacts{Reviews: own(approved("ann")...)}, nil},
		{[]schema.MergeRule{rule("require_all_reviews_approved")}, schema.MergeFacts{Reviews: own()}, nil},
		{[]schema.MergeRule{rule("require_specific_reviewers")}, schema.MergeFacts{}, nil},
		{[]schema.MergeRule{rule("require_one_of_specific_reviewers", "ann", "bob")}, schema.MergeFacts{Reviews: approved("bob")}, nil},
		{[]schema.MergeRule{rule("require_one_of_specific_reviewers", "ann", "dan")}, schema.MergeFacts{Reviews: append(approved("bob"), pending)}, []string{"require_one_of_specific_reviewers"}},
		{[]schema.MergeRule{rule("require_at_least_one_review")}, schema.MergeFacts{Reviews: []schema.ReviewState{refused}}, nil},
		{[]schema.MergeRule{rule("require_at_least_one_review")}, schema.MergeFacts{Reviews: []schema.ReviewState{pending}}, []string{"require_at_least_one_review"}},
		{[]schema.MergeRule{rule("require_at_least_one_review")}, schema.MergeFacts{Author: "bob", Reviews: own()}, []string{"require_at_least_one_review"}},
		{[]schema.MergeRule{rule("require_at_least_one_approved_review")}, schema.MergeFacts{Reviews: []schema.ReviewState{refused}}, []string{"require_at_least_one_approved_review"}},
		{[]schema.MergeRule{rule("require_at_least_one_approved_review")}, schema.MergeFacts{Reviews: append(approved("bob"), refused)}, nil},
		{[]schema.MergeRule{rule("require_all_reviews_approved")}, schema.MergeFacts{}, nil},
		{[]schema.MergeRule{rule("require_all_reviews_approved")}, schema.MergeFacts{Reviews: approved("ann", "bob")}, nil},
		{[]schema.MergeRule{rule("require_all_reviews_approved")}, schema.MergeFacts{Reviews: append(approved("bob"), refused)}, []string{"require_all_reviews_approved"}},
		{[]schema.MergeRule{rule("require_all_reviews_approved")}, schema.MergeFacts{Reviews: append(approved("bob"), pending)}, []string{"require_all_reviews_approved"}},
		{[]schema.MergeRule{rule("require_up_to_date_change_request")}, schema.MergeFacts{}, nil},
		{[]schema.MergeRule{rule("require_up_to_date_change_request")}, schema.MergeFacts{Outdated: true}, []string{"require_up_to_date_change_request"}},
		{[]schema.MergeRule{rule("require_change_request_subject")}, schema.MergeFacts{Subject: "x"}, nil},
		{[]schema.MergeRule{rule("require_change_request_subject")}, schema.MergeFacts{Subject: " "}, []string{"require_change_request_subject"}},
		{[]schema.MergeRule{rule("require_change_request_description")}, schema.MergeFacts{Description: "Why"}, nil},
		{[]schema.MergeRule{rule("require_change_request_description")}, schema.MergeFacts{}, []string{"require_change_request_description"}},
		{[]schema.MergeRule{rule("require_author_to_merge")}, schema.MergeFacts{Actor: "ann", Author: "ann"}, nil},
		{[]schema.MergeRule{rule("require_author_to_merge")}, schema.MergeFacts{Actor: "bob", Author: "ann"}, []string{"require_author_to_merge"}},
		{[]schema.MergeRule{rule("require_agent_review")}, schema.MergeFacts{Reviews: approved("ann")}, []string{"require_agent_review"}},
		{[]schema.MergeRule{{Rule: "custom", Expression: "true"}}, schema.MergeFacts{}, nil},
		{[]schema.MergeRule{{Rule: "custom", Expression: "((("}}, schema.MergeFacts{}, []string{"custom"}},
		{[]schema.MergeRule{{Rule: "custom", Expression: "reviews[0].requested"}}, schema.MergeFacts{}, []string{"custom"}},
		{[]schema.MergeRule{{Rule: "custom", Expression: `actor == changeRequest.author && reviews.exists(r, r.user == "ann" && r.status == "approved")`}},
			schema.MergeFacts{Actor: "bob", Author: "bob", Reviews: []schema.ReviewState{{User: "ann", Status: schema.ReviewApproved}}}, nil},
		{[]schema.MergeRule{{Rule: "custom", Expression: `changeRequest.number == 3 && changeRequest.status == "draft" && changeRequest.outdated`}},
			schema.MergeFacts{Number: 3, Status: "draft"}, []string{"custom"}},
		{[]schema.MergeRule{rule("of another version")}, schema.MergeFacts{}, []string{"of another version"}},
		{[]schema.MergeRule{rule("allow_bypass", "ann")}, schema.MergeFacts{Actor: "bob"}, nil},
		{[]schema.MergeRule{rule("custom"), rule("allow_bypass", "ann", "bob")}, schema.MergeFacts{Actor: "bob"}, nil},
		{[]schema.MergeRule{rule("custom"), rule("require_change_request_subject"), rule("allow_bypass", "ann")}, schema.MergeFacts{Actor: "bob"},
			[]string{"custom", "require_change_request_subject"}},
	} {
		rules := schema.MergeRules{Type: "rules", Rules: test.rules}
		var got []string
		problems := rules.Problems(t.Context(), test.facts)
		for _, p := range problems {
			got = append(got, p.Field)
		}
		if !slices.Equal(got, test.want) {
			t.Errorf("%+v with %+v: %q, want %q", test.rules, test.facts, got, test.want)
		}
		for _, name := range got {
			if e := schema.NotMergeable(problems); e.Code != schema.CodeConflict || !strings.Contains(e.Message, name) {
				t.Errorf("%v does not name %s", e, name)
			}
		}
		for _, kind := range []string{"none", "inherit"} {
			rules.Type = kind
			if problems := rules.Problems(t.Context(), test.facts); problems != nil {
				t.Errorf("%s: %v", kind, problems)
			}
		}
	}
	mine, theirs := schema.MergeRules{Type: "none"}, schema.MergeRules{Type: "rules"}
	if mine.Or(theirs).Type != "none" || (schema.MergeRules{Type: "inherit"}).Or(theirs).Type != "rules" {
		t.Error("a space's own rules do not come first")
	}
}
