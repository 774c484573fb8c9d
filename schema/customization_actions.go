package schema

import "slices"

// pageActions are the values of pageActions.items.
var pageActions = []string{"assistant", "external-ai", "markdown", "mcp", "git", "pdf"}

// defaultPageActions are those of a site that sets nothing: git and pdf follow their own switches.
var defaultPageActions = []string{"assistant", "external-ai", "markdown", "mcp", "pdf"}

// actionSwitches has a row for each page action that older clients know as a switch of its own: its name in the list of
// actions, the switch's name, and the switch in the settings; nil if nothing sets it. make makes it.
var actionSwitches = []struct {
	action, member string
	of             func(c *Customization) *Opt[bool]
	make           func(c *Customization) *Opt[bool]
}{
	actionSwitch("external-ai", "pageActions.externalAI", func(c *Customization) *Opt[PageActions] { return &c.PageActions }, func(g *PageActions) *Opt[bool] { return &g.ExternalAI }),
	actionSwitch("markdown", "pageActions.markdown", func(c *Customization) *Opt[PageActions] { return &c.PageActions }, func(g *PageActions) *Opt[bool] { return &g.Markdown }),
	actionSwitch("mcp", "pageActions.mcp", func(c *Customization) *Opt[PageActions] { return &c.PageActions }, func(g *PageActions) *Opt[bool] { return &g.MCP }),
	actionSwitch("git", "git.showEditLink", func(c *Customization) *Opt[GitSettings] { return &c.Git }, func(g *GitSettings) *Opt[bool] { return &g.ShowEditLink }),
	actionSwitch("pdf", "pdf.enabled", func(c *Customization) *Opt[Toggle] { return &c.PDF }, func(g *Toggle) *Opt[bool] { return &g.Enabled }),
}

func actionSwitch[G any](action, member string, group func(*Customization) *Opt[G], in func(*G) *Opt[bool]) (row struct {
	action, member string
	of             func(c *Customization) *Opt[bool]
	make           func(c *Customization) *Opt[bool]
}) {
	row.action, row.member = action, member
	row.of = func(c *Customization) *Opt[bool] {
		if g := group(c).Value; g != nil && in(g).Value != nil {
			return in(g)
		}
		return nil
	}
	row.make = func(c *Customization) *Opt[bool] {
		// Copy the group, because others share the pointer.
		var own G
		if g := group(c); g.Value != nil {
			own = *g.Value
		}
		*group(c) = Some(own)
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

// Overlay gives the effective settings of something that sets these members over the effective settings of what is above it.
// What readers may do with a page has two forms, and the answer has both: a list that is set decides the switches, and a
// switch that is set adds its action to the list or takes it from there.
func Overlay(base, set Customization) Customization {
	all := Merge(base, set)
	items := actionsOf(&set)
	if items == nil {
		items = slices.Clone(actionsOf(&base))
		for _, s := range actionSwitches {
			switch on := s.of(&set); {
			case on == nil:
			case !*on.Value:
				items = slices.DeleteFunc(items, func(item string) bool { return item == s.action })
			case !slices.Contains(items, s.action):
				items = append(items, s.action)
			}
		}
	}
	for _, s := range actionSwitches {
		*s.make(&all) = Some(slices.Contains(items, s.action))
	}
	actions := *all.PageActions.Value
	actions.Items = Some(items)
	all.PageActions = Some(actions)
	return all
}

// ActionProblems finds the switches that contradict the list of page actions beside them.
func (c Customization) ActionProblems() []Detail {
	items := actionsOf(&c)
	if items == nil {
		return nil
	}
	var problems []Detail
	for _, s := range actionSwitches {
		if on := s.of(&c); on != nil && *on.Value != slices.Contains(items, s.action) {
			problems = append(problems, Detail{Field: s.member, Problem: "contradicts pageActions.items: " + s.action + " must be there if this is true, and only then"})
		}
	}
	for i, item := range items {
		if slices.Contains(items[:i], item) {
			problems = append(problems, Detail{Field: "pageActions.items", Problem: "names " + item + " twice"})
		}
	}
	return problems
}
