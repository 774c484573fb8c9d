package api

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/store"
)

// spaceMergeRules are the merge rules that a space can have.
type spaceMergeRules struct {
	Type  *string          `json:"type" rules:"required,enum=spaceMergeRules"`
	Rules []mergeRuleInput `json:"rules" rules:"len=..100"`
}

// organizationMergeRules are the merge rules that an organization can have: there is nothing above it to inherit from.
type organizationMergeRules struct {
	Type  *string          `json:"type" rules:"required,enum=mergeRules"`
	Rules []mergeRuleInput `json:"rules" rules:"len=..100"`
}

type mergeRuleInput struct {
	Rule       *string  `json:"rule" rules:"required,enum=mergeRule"`
	Users      []string `json:"users" rules:"len=..100"`
	Expression *string  `json:"expression" rules:"len=..1024"`
}

// OpenAPIKeywords ask for a list where the type is that of a list.
func (spaceMergeRules) OpenAPIKeywords() map[string]any { return listOfMergeRules("spaceMergeRules") }

// OpenAPIKeywords ask for a list where the type is that of a list.
func (organizationMergeRules) OpenAPIKeywords() map[string]any { return listOfMergeRules("mergeRules") }

func listOfMergeRules(types string) dict {
	listless := slices.DeleteFunc(slices.Clone(mergeRulesVocabulary.Enums[types]), func(kind string) bool { return kind == "rules" })
	return dict{"anyOf": []any{dict{"required": []any{"rules"}}, dict{"properties": dict{"type": enumOf(listless)}}}}
}

// OpenAPIKeywords have an alternative for the rules that take users and one for the others. What cannot be evaluated is in none.
func (mergeRuleInput) OpenAPIKeywords() map[string]any {
	var plain, ofUsers []string
	for name, takes := range schema.MergeRuleKinds() {
		switch {
		case takes.Unknowable:
		case takes.Users:
			ofUsers = append(ofUsers, name)
		default:
			plain = append(plain, name)
		}
	}
	slices.Sort(plain)
	slices.Sort(ofUsers)
	return dict{"oneOf": []any{
		dict{"properties": dict{"rule": enumOf(plain)}},
		dict{"properties": dict{"rule": enumOf(ofUsers)}, "required": []any{"users"}},
	}}
}

// mergeRules checks what concerns several members of the rules.
func checkMergeRuleMembers(c *checker, kind string, rules []mergeRuleInput) {
	if kind == "rules" && rules == nil {
		c.add("mergeRules.rules", "is required")
	}
	kinds := schema.MergeRuleKinds()
	for i, rule := range rules {
		field := fmt.Sprintf("mergeRules.rules[%d]", i)
		takes := kinds[*rule.Rule]
		if takes.Unknowable {
			c.add(field+".rule", "cannot be evaluated by this version of the service")
			continue
		}
		if takes.Users && rule.Users == nil {
			c.add(field+".users", "is required")
		}
		if takes.Expression && rule.Expression == nil {
			c.add(field+".expression", "is required")
		}
	}
}

// storedMergeRules gives the rules as they are stored, once everybody whom they name is in the organization.
func storedMergeRules(
	ctx context.Context, st *store.Store, organization, kind string, rules []mergeRuleInput,
) ([]byte, error) {
	stored := schema.MergeRules{Type: kind}
	if kind == "rules" {
		stored.Rules = []schema.MergeRule{}
		var named []string
		for _, rule := range rules {
			named = append(named, rule.Users...)
			stored.Rules = append(stored.Rules, mergeRuleOf(rule))
		}
		members, err := st.MembersAmong(ctx, organization, named)
		if err != nil {
			return nil, err
		}
		for i, rule := range rules {
			for j, user := range rule.Users {
				if !members[user] {
					return nil, schema.Invalid(fmt.Sprintf("mergeRules.rules[%d].users[%d]", i, j), "names no member of the organization")
				}
			}
		}
	}
	return json.Marshal(stored)
}

// mergeRuleOf keeps of a rule what its kind takes.
func mergeRuleOf(rule mergeRuleInput) schema.MergeRule {
	takes := schema.MergeRuleKinds()[*rule.Rule]
	kept := schema.MergeRule{Rule: *rule.Rule}
	if takes.Users {
		kept.Users = rule.Users
	}
	if takes.Expression {
		kept.Expression = *rule.Expression
	}
	return kept
}

// mergeRulesResource reads stored rules back. Nothing but storedMergeRules and the column's default writes them.
func mergeRulesResource(stored []byte) schema.MergeRules {
	var rules schema.MergeRules
	if err := json.Unmarshal(stored, &rules); err != nil {
		panic(fmt.Errorf("merge rules %q: %w", stored, err))
	}
	return rules
}
