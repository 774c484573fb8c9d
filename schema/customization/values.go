package customization

import "github.com/octavo-docs/octavo/schema"

// Enums returns the enumerations that the rules of the settings use. The keys are the names of the enumerations.
func Enums() map[string][]string {
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
		"localizedLanguage": append(schema.Languages(), "zh-tw"),
		"pageAction":        pageActions,
		"socialPlatform": {
			"twitter", "instagram", "facebook", "linkedin", "github", "discord", "slack", "youtube", "tiktok", "reddit",
			"bluesky", "mastodon", "threads", "medium",
		},
		"codeTheme": {
			"default-light", "default-dark", "monochrome-light", "monochrome-dark", "andromeeda", "aurora-x", "ayu-dark",
			"catppuccin-frappe", "catppuccin-latte", "catppuccin-macchiato", "catppuccin-mocha", "dark-plus", "dracula",
			"dracula-soft", "everforest-dark", "everforest-light", "github-dark", "github-dark-default", "github-dark-dimmed",
			"github-dark-high-contrast", "github-light", "github-light-default", "github-light-high-contrast",
			"gruvbox-dark-hard", "gruvbox-dark-medium", "gruvbox-dark-soft", "gruvbox-light-hard", "gruvbox-light-medium",
			"gruvbox-light-soft", "houston", "kanagawa-dragon", "kanagawa-lotus", "kanagawa-wave", "laserwave", "light-plus",
			"material-theme", "material-theme-darker", "material-theme-lighter", "material-theme-ocean",
			"material-theme-palenight", "min-dark", "min-light", "monokai", "night-owl", "nord", "one-dark-pro", "one-light",
			"plastic", "poimandres", "red", "rose-pine", "rose-pine-dawn", "rose-pine-moon", "slack-dark", "slack-ochin",
			"snazzy-light", "solarized-dark", "solarized-light", "synthwave-84", "tokyo-night", "vesper", "vitesse-black",
			"vitesse-dark", "vitesse-light",
		},
		"fontFormat":          {"woff2", "woff"},
		"headerItemStyle":     {"link", "button-primary", "button-secondary"},
		"announcementStyle":   {"info", "warning", "danger", "success"},
		"themeMode":           {"light", "dark"},
		"aiMode":              {"none", "search", "assistant"},
		"externalLinksTarget": {"self", "blank"},
	}
}
