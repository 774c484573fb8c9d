package customization

import (
	"slices"

	"github.com/octavo-docs/octavo/schema"
)

// pageActions are the allowed values of pageActions.items.
var pageActions = []string{"assistant", "external-ai", "markdown", "mcp", "git", "pdf"}

// defaultPageActions are the page actions that a site without settings has. They must agree with the default values of
// the actions' switches.
var defaultPageActions = []string{"assistant", "external-ai", "markdown", "mcp", "pdf"}

// actionSwitches has a row for each page action that older clients turn on and off with a separate switch.
var actionSwitches = []actionSwitch{
	switchOf("external-ai", "pageActions.externalAI", pageActionsIn,
		func(g *PageActions) *Opt[bool] { return &g.ExternalAI }),
	switchOf("markdown", "pageActions.markdown", pageActionsIn, func(g *PageActions) *Opt[bool] { return &g.Markdown }),
	switchOf("mcp", "pageActions.mcp", pageActionsIn, func(g *PageActions) *Opt[bool] { return &g.MCP }),
	switchOf("git", "git.showEditLink", func(c *Customization) *Opt[GitSettings] { return &c.Git },
		func(g *GitSettings) *Opt[bool] { return &g.ShowEditLink }),
	switchOf("pdf", "pdf.enabled", func(c *Customization) *Opt[Toggle] { return &c.PDF },
		func(g *Toggle) *Opt[bool] { return &g.Enabled }),
}

// actionSwitch has the name of a page action in the list of actions, and the name of the action's switch. `of` returns
// the switch in the settings, or nil if the switch is not set. `make` returns the switch, and creates the switch if it
// does not exist.
type actionSwitch struct {
	action, member string
	of             func(c *Customization) *Opt[bool]
	make           func(c *Customization) *Opt[bool]
}

func pageActionsIn(c *Customization) *Opt[PageActions] { return &c.PageActions }

// switchOf makes a row. `group` returns the group of settings that contains the switch, and `in` returns the switch in
// this group.
func switchOf[G any](
	action, member string, group func(*Customization) *Opt[G], in func(*G) *Opt[bool],
) (row actionSwitch) {
	row.action, row.member = action, member
	row.of = func(c *Customization) *Opt[bool] {
		if g := group(c).Value; g != nil && in(g).Value != nil {
			return in(g)
		}
		return nil
	}
	row.make = func(c *Customization) *Opt[bool] {
		// The group is copied, because other settings share the pointer to it.
		var own G
		if g := group(c); g.Value != nil {
			own = *g.Value
		}
		*group(c) = some(own)
		return in(group(c).Value)
	}
	return row
}

func actionsOf(c *Customization) []string {
	if g := c.PageActions.Value; g != nil && g.Items.Value != nil {
		return *g.Items.Value
	}
	return nil
}

// Overlay returns the effective settings of a level. A member that the level does not set has the effective value of
// the level above. Page actions have two forms, a list and switches. The result has both forms. If the level sets the
// list, the list determines the switches. Otherwise each switch that the level sets adds its action to the list, or
// removes it.
func Overlay(base, set Customization) Customization {
	all := Merge(base, set)
	items := actionsOf(&set)
	if items == nil {
		items = slices.Clone(actionsOf(&base))
		for _, s := range actionSwitches {
			if on := s.of(&set); on != nil {
				items = withAction(items, s.action, *on.Value)
			}
		}
	}
	for _, s := range actionSwitches {
		*s.make(&all) = some(slices.Contains(items, s.action))
	}
	actions := *all.PageActions.Value
	actions.Items = some(items)
	all.PageActions = some(actions)
	return all
}

// SettleActions makes both forms of page actions agree in c. c has the settings `old`, changed by the members of the
// request `sent`. `above` has the effective settings of the level above. The form that the request changed replaces the
// other form. So a client that uses only one form may read all settings, change the list or a switch, and send all
// settings back. If the request removes a switch, the action gets its value from `above` again.
func (c *Customization) SettleActions(above, old, sent Customization) {
	before := Overlay(above, old)
	was, listed, items := actionsOf(&before), actionsOf(&sent), slices.Clone(actionsOf(c))
	for _, s := range actionSwitches {
		on, has := s.of(&sent), slices.Contains(was, s.action)
		if listed == nil && s.of(&old) != nil && s.of(c) == nil {
			inherited := some(slices.Contains(actionsOf(&above), s.action))
			on = &inherited
		}
		if on == nil && listed == nil {
			continue
		}
		changed := on != nil && *on.Value != has || listed != nil && slices.Contains(listed, s.action) != has
		want := has != changed
		if items != nil {
			items = withAction(items, s.action, want)
		}
		if s.of(c) != nil {
			*s.make(c) = some(want)
		}
	}
	if items != nil {
		actions := *c.PageActions.Value
		actions.Items = some(items)
		c.PageActions = some(actions)
	}
}

// withAction adds an action to a list if `want` is true, and otherwise removes the action. It changes the list in
// place.
func withAction(items []string, action string, want bool) []string {
	switch there := slices.Contains(items, action); {
	case want && !there:
		return append(items, action)
	case !want && there:
		return slices.DeleteFunc(items, func(item string) bool { return item == action })
	}
	return items
}

// ActionProblems returns a problem for each page action that is listed twice.
func (c Customization) ActionProblems() []schema.Detail {
	var problems []schema.Detail
	items := actionsOf(&c)
	for i, item := range items {
		if slices.Contains(items[:i], item) {
			problems = append(problems, schema.Detail{Field: "pageActions.items", Problem: "names " + item + " twice"})
		}
	}
	return problems
}
