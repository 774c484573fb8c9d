package schema

// DefaultCustomization is the look of a site that sets nothing. It has every member that the contract requires in answers,
// so that the result of merging anything over it has them as well.
func DefaultCustomization() Customization {
	both := func(color string) Opt[ThemedColor] { return Some(ThemedColor{Light: &color, Dark: &color}) }
	font, monospaceFont := "Inter", "IBMPlexMono"
	code := func(light, dark string) Opt[ThemedCode] { return Some(ThemedCode{Light: &light, Dark: &dark}) }
	on, off := Some(Toggle{Enabled: Some(true)}), Some(Toggle{Enabled: Some(false)})
	return Customization{
		Styling: Some(Styling{
			Theme: Some("clean"), PrimaryColor: both("#346DDB"), InfoColor: both("#787878"), SuccessColor: both("#00C950"),
			WarningColor: both("#FE9A00"), DangerColor: both("#FB2C36"), Corners: Some("rounded"), Depth: Some("subtle"),
			Links: Some("default"), Font: Some(Font{Name: &font}), MonospaceFont: Some(MonoFont{Name: &monospaceFont}),
			Background: Some("plain"), Icons: Some("regular"), Search: Some("prominent"),
			CodeTheme: Some(CodeThemes{Default: code("default-light", "default-dark"), OpenAPI: code("default-light", "default-dark")}),
			Sidebar:   Some(Sidebar{Background: Some("default"), List: Some("default")}),
		}),
		Internationalization: Some(Internationalization{Locale: Some("en")}),
		Favicon:              Some(Favicon{}),
		Header:               Some(Header{Preset: Some("default"), Links: Some([]HeaderItem{})}),
		Footer:               Some(Footer{Groups: Some([]FooterGroup{})}),
		Themes:               Some(Themes{Default: Some("light"), Toggeable: Some(true)}),
		PDF:                  on, Feedback: off, Advanced: off, Pagination: on, Trademark: on,
		AI:            Some(AISettings{Mode: Some("none")}),
		Git:           Some(GitSettings{ShowEditLink: Some(false)}),
		PageActions:   Some(PageActions{ExternalAI: Some(true), Markdown: Some(true), MCP: Some(true), Items: Some(defaultPageActions)}),
		ExternalLinks: Some(ExternalLinkSettings{Target: Some("self")}),
		PrivacyPolicy: Some(Link{}), SocialPreview: Some(Link{}),
		SocialAccounts: Some([]SocialAccount{}),
		Insights:       Some(InsightsSettings{TrackingCookie: Some(true)}),
	}
}

// Normalize fills in the members of leaves that senders may leave out and answers must have. Call it after the check.
func (c *Customization) Normalize() {
	yes, style := true, "info"
	if a := c.Announcement.Value; a != nil {
		if a.Enabled == nil {
			a.Enabled = &yes
		}
		if a.Style == nil {
			a.Style = &style
		}
	}
	if accounts := c.SocialAccounts.Value; accounts != nil {
		for i := range *accounts {
			(*accounts)[i].normalize()
		}
	}
	if s := c.Styling.Value; s != nil {
		var own []*FontDefinition
		if s.Font.Value != nil {
			own = append(own, s.Font.Value.Own)
		}
		if s.HeadingFont.Value != nil {
			own = append(own, s.HeadingFont.Value.Own)
		}
		if s.MonospaceFont.Value != nil {
			own = append(own, s.MonospaceFont.Value.Own)
		}
		for _, f := range own {
			if f != nil && f.Custom == nil {
				f.Custom = &yes
			}
		}
	}
}

func (a *SocialAccount) normalize() {
	yes, no := true, false
	if a.Display == nil {
		a.Display = &SocialDisplay{}
	}
	if a.Display.Footer == nil {
		a.Display.Footer = &yes
	}
	if a.Display.Header == nil {
		a.Display.Header = &no
	}
}
