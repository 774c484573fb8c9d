package schema

import (
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"
)

// Integration is the newest version of a published integration. Owner is the organization that owns the integration's
// name.
type Integration struct {
	Object        string                 `json:"object"`
	Name          string                 `json:"name"`
	Version       int32                  `json:"version"`
	PreviewImages []string               `json:"previewImages"`
	Verified      bool                   `json:"verified"`
	Owner         Organization           `json:"owner"`
	URLs          IntegrationURLs        `json:"urls"`
	Permissions   IntegrationPermissions `json:"permissions"`
	IntegrationManifest
}

// IntegrationManifest is the publisher's description of an integration. Octavo stores the manifest of a request
// unchanged, and responses have the same members. So if a member is absent in the request, it is absent in responses.
type IntegrationManifest struct {
	Title                 *string                    `json:"title" rules:"required,len=2..30"`
	Description           *string                    `json:"description" rules:"required,len=..100"`
	Summary               *string                    `json:"summary,omitempty" rules:"len=..2048"`
	Runtime               *string                    `json:"runtime,omitempty" rules:"enum=integrationRuntime,default=v1"`
	Visibility            *string                    `json:"visibility" rules:"enum=integrationVisibility,default=private"`
	Target                *string                    `json:"target" rules:"enum=integrationTarget,default=all"`
	Scopes                []string                   `json:"scopes" each:"enum=integrationScope"`
	Categories            []string                   `json:"categories" each:"enum=integrationCategory"`
	Blocks                []IntegrationBlock         `json:"blocks,omitempty" rules:"len=..100"`
	ContentSources        []IntegrationContentSource `json:"contentSources,omitempty" rules:"len=..100"`
	ExternalLinks         []IntegrationLink          `json:"externalLinks" rules:"len=..5"`
	Configurations        *IntegrationConfigurations `json:"configurations,omitempty"`
	ContentSecurityPolicy *ContentSecurityPolicy     `json:"contentSecurityPolicy,omitzero"`
}

// IntegrationURLs are the addresses of an integration.
type IntegrationURLs struct {
	Location       string `json:"location"`
	App            string `json:"app"`
	Assets         string `json:"assets"`
	PublicEndpoint string `json:"publicEndpoint"`
	Icon           string `json:"icon,omitempty"`
}

// IntegrationPermissions says which rights the caller has on an integration.
type IntegrationPermissions struct {
	Admin bool `json:"admin"`
}

// IntegrationBlock is a kind of block that an integration adds to documents.
type IntegrationBlock struct {
	ID          *string                   `json:"id" rules:"required,len=1..100"`
	Title       *string                   `json:"title" rules:"required,len=2..40"`
	Description *string                   `json:"description,omitempty" rules:"len=..150"`
	Icon        *string                   `json:"icon,omitempty"`
	URLUnfurl   []string                  `json:"urlUnfurl,omitempty" rules:"len=..100" each:"len=1..2048"`
	Markdown    *IntegrationBlockMarkdown `json:"markdown,omitempty"`
}

// IntegrationBlockMarkdown is the form of an integration's block in Markdown.
type IntegrationBlockMarkdown struct {
	Codeblock *string `json:"codeblock" rules:"required"`
	Body      *string `json:"body" rules:"required"`
}

// IntegrationContentSource is a source from which an integration adds content to spaces.
type IntegrationContentSource struct {
	ID            *string               `json:"id" rules:"required,len=1..100"`
	Title         *string               `json:"title" rules:"required,len=2..40"`
	Description   *string               `json:"description,omitempty" rules:"len=..150"`
	Icon          *string               `json:"icon,omitempty"`
	Configuration *IntegrationComponent `json:"configuration" rules:"required"`
}

// IntegrationComponent names a component of the integration's script.
type IntegrationComponent struct {
	ComponentID *string `json:"componentId" rules:"required"`
}

// IntegrationLink is a link that the description of an integration shows.
type IntegrationLink struct {
	URL   *string `json:"url" rules:"required,len=..2048,pattern=uri"`
	Label *string `json:"label" rules:"required"`
}

// IntegrationConfigurations describes the configurations that an integration needs for an account, a space and a site.
type IntegrationConfigurations struct {
	Account *IntegrationConfiguration `json:"account,omitempty"`
	Space   *IntegrationConfiguration `json:"space,omitempty"`
	Site    *IntegrationConfiguration `json:"site,omitempty"`
}

// IntegrationConfiguration is a list of properties that users set. Instead of properties, it may name a component that
// shows its own form.
type IntegrationConfiguration struct {
	ComponentID *string                        `json:"componentId,omitempty"`
	Properties  map[string]IntegrationProperty `json:"properties,omitzero" rules:"len=..100" keys:"len=1..100"`
	Required    []string                       `json:"required,omitempty" rules:"len=..100"`
}

// IntegrationProperty is a property of a configuration. Its type determines which members it has.
type IntegrationProperty struct {
	Type          *string  `json:"type" rules:"required,enum=integrationProperty"`
	Title         *string  `json:"title,omitempty" rules:"len=..30"`
	Description   *string  `json:"description,omitempty" rules:"len=..100"`
	Default       any      `json:"default,omitzero"`
	CompletionURL *string  `json:"completion_url,omitempty"`
	Enum          []string `json:"enum,omitempty" rules:"len=..1000"`
	CallbackURL   *string  `json:"callback_url,omitempty"`
	ButtonText    *string  `json:"button_text,omitempty"`
}

// ContentSecurityPolicy is a policy. It is the text of the policy's header, or a text for each directive. In manifests,
// these texts have several lines, and responses have the same texts. Octavo itself does not send an integration's
// policy as a header. Code that sends the policy must replace the line breaks by spaces.
type ContentSecurityPolicy struct {
	Header     *string           `rules:"len=..10000,pattern=cspText"`
	Directives map[string]string `rules:"len=..50" keys:"pattern=cspDirective" each:"len=..10000,pattern=cspText"`
}

// UnmarshalJSONFrom reads a text as the header, and an object as directives.
func (p *ContentSecurityPolicy) UnmarshalJSONFrom(d *jsontext.Decoder) error {
	return ReadEither(d, &p.Header, &p.Directives)
}

// MarshalJSONTo writes the header or the directives.
func (p ContentSecurityPolicy) MarshalJSONTo(e *jsontext.Encoder) error {
	return WriteEither(e, p.Header, p.Directives)
}

// These are the states of an installation. The state is `pending` until the configuration has everything that the
// integration requires.
const (
	InstallationActive  = "active"
	InstallationPending = "pending"
	InstallationPaused  = "paused"
)

// IntegrationInstallation is an integration that an organization has installed. Scopes has the scopes that the
// integration requests and that the organization has allowed.
type IntegrationInstallation struct {
	ID             string                      `json:"id"`
	Integration    string                      `json:"integration"`
	Status         string                      `json:"status"`
	SpaceSelection string                      `json:"space_selection"`
	SiteSelection  string                      `json:"site_selection"`
	Spaces         int64                       `json:"spaces"`
	Scopes         []string                    `json:"scopes"`
	Configuration  map[string]any              `json:"configuration"`
	CreatedAt      time.Time                   `json:"createdAt"`
	UpdatedAt      time.Time                   `json:"updatedAt"`
	URLs           IntegrationInstallationURLs `json:"urls"`
	ExternalIDs    []string                    `json:"externalIds"`
	Target         IntegrationTarget           `json:"target"`
}

// IntegrationInstallationURLs are the addresses of an installation.
type IntegrationInstallationURLs struct {
	Location       string `json:"location"`
	App            string `json:"app"`
	PublicEndpoint string `json:"publicEndpoint"`
}

// IntegrationTarget is the place where an integration is installed.
type IntegrationTarget struct {
	Organization string `json:"organization"`
}

// Location returns the Location header of the response that creates the installation.
func (i IntegrationInstallation) Location() string { return i.URLs.Location }

// IntegrationEnums returns the enumerations of integrations. The keys are the names that rules use.
func IntegrationEnums() map[string][]string {
	return map[string][]string{
		"integrationRuntime":    {"v1", "v2"},
		"integrationVisibility": {"public", "private", "unlisted"},
		"integrationTarget":     {"all", "site", "space", "organization"},
		"integrationCategory":   {"analytics", "collaboration", "content", "gitsync", "marketing", "visitor-auth", "other"},
		"integrationScope":      IntegrationScopeNames(),
		"integrationProperty":   {"string", "number", "boolean", "button"},
		"selection":             {SelectionAll, SelectionSelected},
		"installationState":     {InstallationActive, InstallationPaused},
	}
}

// Normalize sets the members that a publisher may omit and a response must have.
func (m *IntegrationManifest) Normalize() {
	runtime, private, all := "v1", "private", "all"
	if m.Runtime == nil {
		m.Runtime = &runtime
	}
	if m.Visibility == nil {
		m.Visibility = &private
	}
	if m.Target == nil {
		m.Target = &all
	}
	if m.Configurations == nil {
		return
	}
	for _, c := range []*IntegrationConfiguration{m.Configurations.Account, m.Configurations.Space, m.Configurations.Site} {
		if c != nil && c.ComponentID == nil && c.Properties == nil {
			c.Properties = map[string]IntegrationProperty{}
		}
	}
}

// Contradictions lists problems between members of a manifest that are valid individually.
func (m *IntegrationManifest) Contradictions() []Detail {
	p := &problems{}
	if m.Configurations != nil {
		m.Configurations.Account.contradictions(p, "configurations.account")
		m.Configurations.Space.contradictions(p, "configurations.space")
		m.Configurations.Site.contradictions(p, "configurations.site")
	}
	return p.details
}

func (c *IntegrationConfiguration) contradictions(p *problems, field string) {
	if c == nil {
		return
	}
	if c.ComponentID != nil && c.Properties != nil {
		p.add(field, "must have componentId or properties, not both")
	}
	for i, name := range c.Required {
		at := index(join(field, "required"), i)
		if _, known := c.Properties[name]; !known {
			p.add(at, "names no property")
		} else if slices.Contains(c.Required[:i], name) {
			p.add(at, "names a property twice")
		}
	}
	for _, name := range slices.Sorted(maps.Keys(c.Properties)) {
		property := c.Properties[name]
		property.contradictions(p, joinKey(join(field, "properties"), name))
	}
}

// propertyDefaults has the types of properties that may have a default, each with the check for the default.
var propertyDefaults = map[string]check{"string": str, "number": number, "boolean": boolean}

func (i *IntegrationProperty) contradictions(p *problems, field string) {
	if *i.Type == "button" {
		if i.CallbackURL == nil {
			p.add(join(field, "callback_url"), "is required")
		}
		if i.ButtonText == nil {
			p.add(join(field, "button_text"), "is required")
		}
	}
	switch allowed, takes := propertyDefaults[*i.Type]; {
	case i.Default == nil:
	case !takes:
		p.add(join(field, "default"), "must not be given for this type")
	default:
		allowed(p, join(field, "default"), i.Default)
		p.clean(join(field, "default"), i.Default, 0)
	}
}

// unfurled matches the beginning of an address with wildcards. The match ends at the end of the host. An example of an
// address is https://*.example.com/**.
var unfurled = regexp.MustCompile(`^[a-zA-Z*]+://([a-zA-Z0-9_.*-]+)`)

// BlockDomains lists, in order, the domains of the addresses that the integration's blocks show. If a domain begins
// with "*.", it stands for its subdomains.
func (m *IntegrationManifest) BlockDomains() []string {
	domains := map[string]bool{}
	for _, block := range m.Blocks {
		for _, address := range block.URLUnfurl {
			if found := unfurled.FindStringSubmatch(address); found != nil {
				domains[strings.ToLower(found[1])] = true
			}
		}
	}
	return slices.AppendSeq([]string{}, slices.Values(slices.Sorted(maps.Keys(domains))))
}
