package schema

// MergeRules say what a change request must satisfy before it may be merged: the type `none`, the type `rules` with a list,
// or on a space the type `inherit`.
type MergeRules struct {
	Type  string      `json:"type"`
	Rules []MergeRule `json:"rules,omitzero"`
}

// MergeRule is one rule; Users and Expression belong to the rules that take them.
type MergeRule struct {
	Rule       string   `json:"rule"`
	Users      []string `json:"users,omitzero"`
	Expression string   `json:"expression,omitempty"`
}

// MergeRuleKinds says of every rule what it takes beside its name.
func MergeRuleKinds() map[string]MergeRuleKind {
	return map[string]MergeRuleKind{
		"require_specific_reviewers":         {Users: true},
		"require_one_of_specific_reviewers":  {Users: true},
		"allow_bypass":                       {Users: true},
		"require_at_least_one_review":        {},
		"require_all_reviews_approved":       {},
		"require_agent_review":               {},
		"require_up_to_date_change_request":  {},
		"require_change_request_subject":     {},
		"require_change_request_description": {},
		"custom":                             {Expression: true},
	}
}

// MergeRuleKind says what a rule takes.
type MergeRuleKind struct {
	Users      bool
	Expression bool
}
