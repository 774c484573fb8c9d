package schema

// CustomizationEnums has the closed sets of the customization by the names that its rules use.
func CustomizationEnums() map[string][]string {
	return map[string][]string{
		"customizationTheme":             {"clean", "muted", "bold", "gradient"},
		"customizationCorners":           {"straight", "rounded", "circular"},
		"customizationDepth":             {"subtle", "flat"},
		"customizationLinks":             {"default", "accent"},
		"customizationIcons":             {"regular", "solid", "duotone", "light", "thin"},
		"customizationSidebarBackground": {"default", "filled"},
		"customizationSidebarList":       {"default", "pill", "line"},
		"customizationSearch":            {"prominent", "subtle"},
		"customizationBackground":        {"plain", "match"},
		"customizationHeaderPreset":      {"default", "bold", "contrast", "custom", "none"},
		"customizationLocale":            {"en", "fr", "es", "zh", "ja", "de", "nl", "no", "pt-br", "ru"},
		"customizationFont": {
			"ABCFavorit", "Inter", "Roboto", "RobotoSlab", "OpenSans", "SourceSansPro", "Lato", "Ubuntu", "Raleway",
			"Merriweather", "Overpass", "NotoSans", "IBMPlexSerif", "Poppins", "FiraSans",
		},
		"customizationMonospaceFont": {
			"FiraCode", "IBMPlexMono", "JetBrainsMono", "SourceCodePro", "RobotoMono", "SpaceMono", "DMMono", "Inconsolata",
		},
		"fontFormat":          {"woff2", "woff"},
		"headerItemStyle":     {"link", "button-primary", "button-secondary"},
		"announcementStyle":   {"info", "warning", "danger", "success"},
		"themeMode":           {"light", "dark"},
		"aiMode":              {"none", "search", "assistant"},
		"externalLinksTarget": {"self", "blank"},
	}
}
