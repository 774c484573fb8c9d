package customization

import (
	"maps"
	"slices"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/octavo-docs/octavo/schema"
)

// Customization defines how a site looks and behaves. The type is used for three kinds of settings. In the settings of
// a site, an absent member has its default value. In the overrides of a site space, an absent member has the value of
// the site's settings. Merge makes the effective settings from the settings of the site and the overrides. The
// effective settings have every required member (see [Default]).
//
// A struct that contains only Opts is a group. The members of a group are set and overridden individually. Every other
// member is a leaf, which is always set as one value: for example a pair of colors, a favicon or a list of links.
type Customization struct {
	Title                Opt[string]               `json:"title,omitzero" rules:"len=2..128"`
	LocalizedTitle       Opt[Localized]            `json:"localizedTitle,omitzero" each:"len=..128" keys:"enum=localizedLanguage"`
	Styling              Opt[Styling]              `json:"styling,omitzero"`
	Internationalization Opt[Internationalization] `json:"internationalization,omitzero"`
	Favicon              Opt[Favicon]              `json:"favicon,omitzero"`
	Header               Opt[Header]               `json:"header,omitzero"`
	Footer               Opt[Footer]               `json:"footer,omitzero"`
	Announcement         Opt[Announcement]         `json:"announcement,omitzero"`
	Themes               Opt[Themes]               `json:"themes,omitzero"`
	PDF                  Opt[Toggle]               `json:"pdf,omitzero"`
	Feedback             Opt[Toggle]               `json:"feedback,omitzero"`
	AI                   Opt[AISettings]           `json:"ai,omitzero"`
	Advanced             Opt[Toggle]               `json:"advancedCustomization,omitzero"`
	Git                  Opt[GitSettings]          `json:"git,omitzero"`
	PageActions          Opt[PageActions]          `json:"pageActions,omitzero"`
	ExternalLinks        Opt[ExternalLinkSettings] `json:"externalLinks,omitzero"`
	Pagination           Opt[Toggle]               `json:"pagination,omitzero"`
	Trademark            Opt[Toggle]               `json:"trademark,omitzero"`
	PrivacyPolicy        Opt[Link]                 `json:"privacyPolicy,omitzero"`
	SocialPreview        Opt[Link]                 `json:"socialPreview,omitzero"`
	SocialAccounts       Opt[[]SocialAccount]      `json:"socialAccounts,omitzero" rules:"len=..10"`
	Insights             Opt[InsightsSettings]     `json:"insights,omitzero"`
}

// Opt is a member that is absent, or null, or has a value.
type Opt[T any] = schema.Opt[T]

// some returns a member with a value.
func some[T any](value T) Opt[T] { return schema.Some(value) }

// Styling is the group of colors, fonts and shapes. Background is deprecated in the contract, but responses must still
// have it.
type Styling struct {
	Theme         Opt[string]      `json:"theme,omitzero" rules:"enum=customizationTheme"`
	PrimaryColor  Opt[ThemedColor] `json:"primaryColor,omitzero"`
	Tint          Opt[Tint]        `json:"tint,omitzero"`
	InfoColor     Opt[ThemedColor] `json:"infoColor,omitzero"`
	SuccessColor  Opt[ThemedColor] `json:"successColor,omitzero"`
	WarningColor  Opt[ThemedColor] `json:"warningColor,omitzero"`
	DangerColor   Opt[ThemedColor] `json:"dangerColor,omitzero"`
	Corners       Opt[string]      `json:"corners,omitzero" rules:"enum=customizationCorners"`
	Depth         Opt[string]      `json:"depth,omitzero" rules:"enum=customizationDepth"`
	Links         Opt[string]      `json:"links,omitzero" rules:"enum=customizationLinks"`
	Font          Opt[Font]        `json:"font,omitzero"`
	HeadingFont   Opt[Font]        `json:"headingFont,omitzero"`
	MonospaceFont Opt[MonoFont]    `json:"monospaceFont,omitzero"`
	CodeTheme     Opt[CodeThemes]  `json:"codeTheme,omitzero"`
	Background    Opt[string]      `json:"background,omitzero" rules:"enum=customizationBackground"`
	Icons         Opt[string]      `json:"icons,omitzero" rules:"enum=customizationIcons"`
	Sidebar       Opt[Sidebar]     `json:"sidebar,omitzero"`
	Search        Opt[string]      `json:"search,omitzero" rules:"enum=customizationSearch"`
}

// Sidebar is the group of the navigation's styles.
type Sidebar struct {
	Background Opt[string] `json:"background,omitzero" rules:"enum=customizationSidebarBackground"`
	List       Opt[string] `json:"list,omitzero" rules:"enum=customizationSidebarList"`
}

// CodeThemes is the group of color themes for code blocks, and for blocks of OpenAPI operations.
type CodeThemes struct {
	Default Opt[ThemedCode] `json:"default,omitzero"`
	OpenAPI Opt[ThemedCode] `json:"openapi,omitzero"`
}

// ThemedCode is a pair of names of color themes, for light and dark mode.
type ThemedCode struct {
	Light *string `json:"light" rules:"required,enum=codeTheme"`
	Dark  *string `json:"dark" rules:"required,enum=codeTheme"`
}

// Localized has a text in several languages, by language. The default language is not one of them.
type Localized map[string]string

// SocialAccount is an account of the site's owner at another service, and says where pages show the account.
type SocialAccount struct {
	Platform *string        `json:"platform" rules:"required,enum=socialPlatform"`
	Handle   *string        `json:"handle" rules:"required,len=1..128"`
	Display  *SocialDisplay `json:"display"`
}

// SocialDisplay says where pages show a social account.
type SocialDisplay struct {
	Footer *bool `json:"footer" rules:"default=true"`
	Header *bool `json:"header" rules:"default=false"`
}

// ThemedColor is a pair of colors, for light and dark mode.
type ThemedColor struct {
	Light *string `json:"light" rules:"required,pattern=color"`
	Dark  *string `json:"dark" rules:"required,pattern=color"`
}

// ThemedURL is a pair of addresses of images, for light and dark mode.
type ThemedURL struct {
	Light *string `json:"light" rules:"required,len=..2048,pattern=uri"`
	Dark  *string `json:"dark" rules:"required,len=..2048,pattern=uri"`
}

// Tint colors the background.
type Tint struct {
	Color *ThemedColor `json:"color" rules:"required"`
}

// Font is the name of a built-in font, or a font of the site.
type Font struct {
	Name *string `rules:"enum=customizationFont"`
	Own  *FontDefinition
}

// MonoFont is the font for code.
type MonoFont struct {
	Name *string `rules:"enum=customizationMonospaceFont"`
	Own  *FontDefinition
}

// FontDefinition is a font that the site supplies.
type FontDefinition struct {
	ID         *string    `json:"id" rules:"required"`
	Custom     *bool      `json:"custom" rules:"default=true"`
	FontFamily *string    `json:"fontFamily" rules:"required,len=1..50"`
	FontFaces  []FontFace `json:"fontFaces" rules:"required,len=1.."`
}

// FontFace is one weight of a font.
type FontFace struct {
	Weight  *int         `json:"weight" rules:"required,range=1..1000"`
	Sources []FontSource `json:"sources" rules:"required,len=1.."`
}

// FontSource is a file of a font face.
type FontSource struct {
	URL    *string `json:"url" rules:"required,len=..2048,pattern=uri"`
	Format *string `json:"format,omitempty" rules:"enum=fontFormat"`
}

// Internationalization is deprecated in the contract, but responses must still have it.
type Internationalization struct {
	Locale Opt[string] `json:"locale,omitzero" rules:"enum=customizationLocale"`
}

// Favicon is an icon or an emoji. If both are absent, the front end chooses an icon. The contract allows no other
// members, and only one of these two at a time.
type Favicon struct {
	Icon    *ThemedURL `json:"icon,omitempty"`
	Emoji   *string    `json:"emoji,omitempty" rules:"len=1..50"`
	unknown string
}

// Unknown returns the name of a member in the request that the contract does not have, or "".
func (f Favicon) Unknown() string { return f.unknown }

// OpenAPIKeywords returns constraints on the object that no single member expresses.
func (Favicon) OpenAPIKeywords() map[string]any {
	return map[string]any{"additionalProperties": false, "maxProperties": 1}
}

// Header is the group of settings for the top of every page. Preset is deprecated in the contract, but responses must
// still have it.
type Header struct {
	Preset          Opt[string]            `json:"preset,omitzero" rules:"enum=customizationHeaderPreset"`
	Logo            Opt[ThemedURL]         `json:"logo,omitzero"`
	BackgroundColor Opt[ThemedColor]       `json:"backgroundColor,omitzero"`
	LinkColor       Opt[ThemedColor]       `json:"linkColor,omitzero"`
	PrimaryLink     Opt[schema.ContentRef] `json:"primaryLink,omitzero"`
	Links           Opt[[]HeaderItem]      `json:"links,omitzero"`
}

// HeaderItem is a link in the header. If its target is null, it is a menu of links.
type HeaderItem struct {
	Title     *string            `json:"title" rules:"required"`
	Localized Localized          `json:"localizedTitle,omitempty" keys:"enum=localizedLanguage"`
	Style     *string            `json:"style,omitempty" rules:"enum=headerItemStyle"`
	To        *schema.ContentRef `json:"to"`
	Links     []ContentLink      `json:"links"`
	Condition *string            `json:"condition,omitempty" rules:"len=..1024,pattern=condition"`
}

// ContentLink is a title and a target.
type ContentLink struct {
	Title     *string            `json:"title" rules:"required,len=..64"`
	Localized Localized          `json:"localizedTitle,omitempty" each:"len=..64" keys:"enum=localizedLanguage"`
	To        *schema.ContentRef `json:"to" rules:"required"`
}

// Footer is the group of settings for the bottom of every page.
type Footer struct {
	Logo      Opt[ThemedURL]     `json:"logo,omitzero"`
	Groups    Opt[[]FooterGroup] `json:"groups,omitzero"`
	Copyright Opt[string]        `json:"copyright,omitzero" rules:"len=..300"`
}

// FooterGroup is a column of links.
type FooterGroup struct {
	Title     *string       `json:"title" rules:"required"`
	Localized Localized     `json:"localizedTitle,omitempty" keys:"enum=localizedLanguage"`
	Links     []ContentLink `json:"links"`
}

// Announcement is a banner. It is a leaf, so a message and its style are always set together.
type Announcement struct {
	Enabled   *bool        `json:"enabled" rules:"default=true"`
	Message   *string      `json:"message" rules:"required,len=2..128"`
	Localized Localized    `json:"localizedMessage,omitempty" each:"len=..128" keys:"enum=localizedLanguage"`
	Link      *ContentLink `json:"link,omitempty"`
	Style     *string      `json:"style" rules:"enum=announcementStyle,default=info"`
}

// Themes is the group of settings for light and dark mode. The contract spells "toggleable" as "toggeable".
type Themes struct {
	Default   Opt[string] `json:"default,omitzero" rules:"enum=themeMode"`
	Toggeable Opt[bool]   `json:"toggeable,omitzero"`
}

// Toggle is a group that contains only a switch.
type Toggle struct {
	Enabled Opt[bool] `json:"enabled,omitzero"`
}

// AISettings is the group of settings for search and the assistant. Suggestions are questions that the site suggests to
// visitors.
type AISettings struct {
	Mode              Opt[string]    `json:"mode,omitzero" rules:"enum=aiMode"`
	Greeting          Opt[string]    `json:"greeting,omitzero" rules:"len=..256"`
	LocalizedGreeting Opt[Localized] `json:"localizedGreeting,omitzero" each:"len=..128" keys:"enum=localizedLanguage"`
	Suggestions       Opt[[]string]  `json:"suggestions,omitzero" rules:"len=..5" each:"len=3..64"`
	Instructions      Opt[string]    `json:"instructions,omitzero" rules:"len=..10000"`
}

// GitSettings is the group of settings for the parts of the repository that readers see.
type GitSettings struct {
	ShowEditLink Opt[bool] `json:"showEditLink,omitzero"`
}

// PageActions is the group of settings for the actions that pages offer to readers. Older versions of the contract have
// a switch for each action, and newer versions have a list of actions: see Overlay.
type PageActions struct {
	ExternalAI Opt[bool]     `json:"externalAI,omitzero"`
	Markdown   Opt[bool]     `json:"markdown,omitzero"`
	MCP        Opt[bool]     `json:"mcp,omitzero"`
	Items      Opt[[]string] `json:"items,omitzero" rules:"len=..20" each:"enum=pageAction"`
}

// ExternalLinkSettings is the group of settings for how external links open.
type ExternalLinkSettings struct {
	Target Opt[string] `json:"target,omitzero" rules:"enum=externalLinksTarget"`
}

// Link is a group that contains only an address.
type Link struct {
	URL Opt[string] `json:"url,omitzero" rules:"len=..2048,pattern=uri"`
}

// InsightsSettings is the group of settings for how visits are measured.
type InsightsSettings struct {
	TrackingCookie Opt[bool] `json:"trackingCookie,omitzero"`
}

// UnmarshalJSONFrom reads the members. It also records the name of an unknown member.
func (f *Favicon) UnmarshalJSONFrom(d *jsontext.Decoder) error {
	var read struct {
		Icon  *ThemedURL                `json:"icon"`
		Emoji *string                   `json:"emoji"`
		Other map[string]jsontext.Value `json:",embed"`
	}
	if err := json.UnmarshalDecode(d, &read); err != nil {
		return err
	}
	*f = Favicon{Icon: read.Icon, Emoji: read.Emoji}
	if len(read.Other) > 0 {
		f.unknown = slices.Min(slices.Collect(maps.Keys(read.Other)))
	}
	return nil
}

// UnmarshalJSONFrom reads a text as a name, and an object as a definition.
func (f *Font) UnmarshalJSONFrom(d *jsontext.Decoder) error {
	return schema.ReadEither(d, &f.Name, &f.Own)
}

// MarshalJSONTo writes the name or the definition.
func (f Font) MarshalJSONTo(e *jsontext.Encoder) error { return schema.WriteEither(e, f.Name, f.Own) }

// UnmarshalJSONFrom reads a text as a name, and an object as a definition.
func (f *MonoFont) UnmarshalJSONFrom(d *jsontext.Decoder) error {
	return schema.ReadEither(d, &f.Name, &f.Own)
}

// MarshalJSONTo writes the name or the definition.
func (f MonoFont) MarshalJSONTo(e *jsontext.Encoder) error {
	return schema.WriteEither(e, f.Name, f.Own)
}
