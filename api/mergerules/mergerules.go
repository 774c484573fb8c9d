package mergerules

import (
	"context"
	"fmt"
	"slices"

	"github.com/octavo-docs/octavo/api/frame/jsonschema"
	"github.com/octavo-docs/octavo/api/frame/rules"
	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/schema/mergeexpr"
	"github.com/octavo-docs/octavo/store"
)

// SpaceMergeRules are the merge rules that a space can have.
type SpaceMergeRules struct {
	Type  *string          `json:"type" rules:"required,enum=spaceMergeRules"`
	Rules []MergeRuleInput `json:"rules" rules:"len=..100"`
}

// OrganizationMergeRules are the merge rules that an organization can have. An organization has no parent, so it cannot
// inherit rules.
type OrganizationMergeRules struct {
	Type  *string          `json:"type" rules:"required,enum=mergeRules"`
	Rules []MergeRuleInput `json:"rules" rules:"len=..100"`
}

// MergeRuleInput repeats the package's name because the OpenAPI document uses it as the schema's name.
type MergeRuleInput struct {
	Rule       *string  `json:"rule" rules:"required,enum=mergeRule"`
	Users      []string `json:"users" rules:"len=..100"`
	Expression *string  `json:"expression" rules:"len=..1024"`
}

// OpenAPIKeywords says that the list of rules is required if the type is "rules". The other types have no list.
func (SpaceMergeRules) OpenAPIKeywords() map[string]any { return listOfMergeRules("spaceMergeRules") }

// OpenAPIKeywords says that the list of rules is required if the type is "rules". The other types have no list.
func (OrganizationMergeRules) OpenAPIKeywords() map[string]any { return listOfMergeRules("mergeRules") }

func listOfMergeRules(types string) jsonschema.Dict {
	listless := slices.DeleteFunc(slices.Clone(Vocabulary.Enums[types]), func(kind string) bool { return kind == "rules" })
	return jsonschema.Dict{"anyOf": []any{jsonschema.Dict{"required": []any{"rules"}}, jsonschema.Dict{"properties": jsonschema.Dict{"type": jsonschema.Enum(listless)}}}}
}

// OpenAPIKeywords returns three alternatives: for rules that take users, for rules that take an expression, and for
// other rules. Rules that cannot be evaluated are in no alternative.
func (MergeRuleInput) OpenAPIKeywords() map[string]any {
	var plain, ofUsers, ofExpressions []string
	for name, takes := range schema.MergeRuleKinds() {
		switch {
		case takes.Unknowable:
		case takes.Users:
			ofUsers = append(ofUsers, name)
		case takes.Expression:
			ofExpressions = append(ofExpressions, name)
		default:
			plain = append(plain, name)
		}
	}
	slices.Sort(plain)
	slices.Sort(ofUsers)
	return jsonschema.Dict{"oneOf": []any{
		jsonschema.Dict{"properties": jsonschema.Dict{"rule": jsonschema.Enum(plain)}},
		jsonschema.Dict{"properties": jsonschema.Dict{"rule": jsonschema.Enum(ofUsers)}, "required": []any{"users"}},
		jsonschema.Dict{"properties": jsonschema.Dict{"rule": jsonschema.Enum(ofExpressions)}, "required": []any{"expression"}},
	}}
}

// Check validates constraints that span several members of the rules.
func Check(c *rules.Checker, kind string, rules []MergeRuleInput) {
	if kind == "rules" && rules == nil {
		c.Add("mergeRules.rules", "is required")
	}
	kinds := schema.MergeRuleKinds()
	for i, rule := range rules {
		field := fmt.Sprintf("mergeRules.rules[%d]", i)
		takes := kinds[*rule.Rule]
		if takes.Unknowable {
			c.Add(field+".rule", "cannot be evaluated by this version of the service")
			continue
		}
		if takes.Users && rule.Users == nil {
			c.Add(field+".users", "is required")
		}
		if takes.Expression {
			checkExpression(c, field+".expression", rule.Expression)
		}
	}
}

func checkExpression(c *rules.Checker, field string, expression *string) {
	if expression == nil {
		c.Add(field, "is required")
	} else if _, err := mergeexpr.Parse(*expression); err != nil {
		c.Add(field, err.Error())
	}
}

// Encode returns the stored form of the rules after checking that every user they name is in the organization. `now`
// has the stored rules that they replace. Users whom the stored rules name may have left the organization.
func Encode(
	ctx context.Context, st *store.Store, organization string, now []byte, kind string, rules []MergeRuleInput,
) ([]byte, error) {
	replaced, err := schema.DecodeJSON[schema.MergeRules](now)
	if err != nil {
		return nil, err
	}
	kept := replaced.People()
	stored := schema.MergeRules{Type: kind}
	if kind == "rules" {
		stored.Rules = []schema.MergeRule{}
		var named []string
		for _, rule := range rules {
			named = append(named, rule.Users...)
			stored.Rules = append(stored.Rules, mergeRuleOf(rule))
		}
		members, err := st.Orgs.MembersAmong(ctx, organization, named)
		if err != nil {
			return nil, err
		}
		for i, rule := range rules {
			for j, user := range rule.Users {
				if !members[user] && !slices.Contains(kept, user) {
					return nil, schema.Invalid(fmt.Sprintf("mergeRules.rules[%d].users[%d]", i, j), "names no member of the organization")
				}
			}
		}
	}
	return schema.EncodeJSON(stored)
}

// mergeRuleOf keeps only the members of a rule that its kind takes.
func mergeRuleOf(rule MergeRuleInput) schema.MergeRule {
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
