package customization

// Default returns the look of a site without settings. It has every member that responses must have. So if settings are
// merged into it, the result also has these members.
func Default() Customization {
	both := func(color string) Opt[ThemedColor] {
		return some(ThemedColor{Light: &color, Dark: &color})
	}
	font, monospaceFont := "Inter", "IBMPlexMono"
	code := func(light, dark string) Opt[ThemedCode] {
		return some(ThemedCode{Light: &light, Dark: &dark})
	}
	on, off := some(Toggle{Enabled: some(true)}), some(Toggle{Enabled: some(false)})
	return Customization{
		Styling: some(Styling{
			Theme: some("clean"), PrimaryColor: both("#346DDB"), InfoColor: both("#787878"),
			SuccessColor: both("#00C950"),
			WarningColor: both("#FE9A00"), DangerColor: both("#FB2C36"), Corners: some("rounded"),
			Depth: some("subtle"),
			Links: some("default"), Font: some(Font{Name: &font}), MonospaceFont: some(MonoFont{Name: &monospaceFont}),
			Background: some("plain"), Icons: some("regular"), Search: some("prominent"),
			CodeTheme: some(CodeThemes{
				Default: code("default-light", "default-dark"), OpenAPI: code("default-light", "default-dark"),
			}),
			Sidebar: some(Sidebar{Background: some("default"), List: some("default")}),
		}),
		Internationalization: some(Internationalization{Locale: some("en")}),
		Favicon:              some(Favicon{}),
		Header:               some(Header{Preset: some("default"), Links: some([]HeaderItem{})}),
		Footer:               some(Footer{Groups: some([]FooterGroup{})}),
		Themes:               some(Themes{Default: some("light"), Toggeable: some(true)}),
		PDF:                  on, Feedback: off, Advanced: off, Pagination: on, Trademark: on,
		AI:  some(AISettings{Mode: some("none")}),
		Git: some(GitSettings{ShowEditLink: some(false)}),
		PageActions: some(PageActions{
			ExternalAI: some(true), Markdown: some(true), MCP: some(true), Items: some(defaultPageActions),
		}),
		ExternalLinks: some(ExternalLinkSettings{Target: some("self")}),
		PrivacyPolicy: some(Link{}), SocialPreview: some(Link{}),
		SocialAccounts: some([]SocialAccount{}),
		Insights:       some(InsightsSettings{TrackingCookie: some(true)}),
	}
}

// Normalize sets the members of leaves that a request may omit and a response must have. Call Normalize after the
// settings are checked.
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
