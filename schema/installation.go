package schema

import (
	"maps"
	"slices"
	"time"
)

// SelectionAll and SelectionSelected say whether an installation is for all spaces or sites, or only for selected ones.
const (
	SelectionAll      = "all"
	SelectionSelected = "selected"
)

// IntegrationSpaceInstallation is an installation on a space, with a separate configuration.
type IntegrationSpaceInstallation struct {
	IntegrationContentInstallation
	Space string `json:"space"`
}

// IntegrationSiteInstallation is an installation on a site, with a separate configuration.
type IntegrationSiteInstallation struct {
	IntegrationContentInstallation
	Site string `json:"site"`
}

// IntegrationContentInstallation has the members that installations on spaces and on sites share.
type IntegrationContentInstallation struct {
	Integration   string                  `json:"integration"`
	Installation  string                  `json:"installation"`
	Status        string                  `json:"status"`
	Configuration map[string]any          `json:"configuration"`
	ExternalIDs   []string                `json:"externalIds"`
	URLs          ContentInstallationURLs `json:"urls"`
}

// Location returns the Location header of the response that creates the installation.
func (i IntegrationContentInstallation) Location() string { return i.URLs.Location }

// ContentInstallationURLs are the addresses of an installation on a space or a site.
type ContentInstallationURLs struct {
	Location       string `json:"location"`
	PublicEndpoint string `json:"publicEndpoint"`
}

// InstalledIntegration is an installation together with its integration.
type InstalledIntegration struct {
	Installation IntegrationInstallation `json:"installation"`
	Integration  Integration             `json:"integration"`
}

// IntegrationInstallationState is the state of an integration in an organization.
type IntegrationInstallationState struct {
	Status string `json:"status"`
}

// TemporaryToken is a token that is valid for a short time.
type TemporaryToken struct {
	Token     string    `json:"token"`
	ExpiresAt time.Time `json:"expiresAt"`
}

// IntegrationVersion is one version of an integration, without its script.
type IntegrationVersion struct {
	Version     int32     `json:"version"`
	Title       string    `json:"title"`
	Runtime     string    `json:"runtime"`
	Scopes      []string  `json:"scopes"`
	ScriptHash  string    `json:"scriptHash"`
	ScriptBytes int32     `json:"scriptBytes"`
	PublishedBy string    `json:"publishedBy,omitempty"`
	CreatedAt   time.Time `json:"createdAt"`
}

// IntegrationScriptVersion is a version of an integration, with its script. If the script was deleted, it is absent.
type IntegrationScriptVersion struct {
	IntegrationVersion
	Script string `json:"script,omitempty"`
}

// IntegrationPublicEndpoint is the response of an integration's public endpoint. It says whether Octavo runs the
// integration's script.
type IntegrationPublicEndpoint struct {
	Runs    bool   `json:"runs"`
	Message string `json:"message"`
}

// IntegrationAssets are the pictures of an integration.
type IntegrationAssets struct {
	Assets []IntegrationAsset `json:"assets"`
}

// IntegrationAsset is a picture of an integration.
type IntegrationAsset struct {
	ID          string `json:"id"`
	ContentType string `json:"contentType"`
	URL         string `json:"url"`
}

// These are the types of events for integrations. Published clients know further types, which Octavo does not send.
const (
	EventInstallationSetup        = "installation_setup"
	EventInstallationDeleted      = "installation_deleted"
	EventSpaceInstallationSetup   = "space_installation_setup"
	EventSpaceInstallationDeleted = "space_installation_deleted"
	EventSiteInstallationSetup    = "site_installation_setup"
	EventSiteInstallationDeleted  = "site_installation_deleted"
)

// IntegrationEventPayload is an event in the form in which an integration's script receives it.
type IntegrationEventPayload struct {
	EventID        string             `json:"eventId"`
	Type           string             `json:"type"`
	InstallationID string             `json:"installationId"`
	SpaceID        string             `json:"spaceId,omitempty"`
	SiteID         string             `json:"siteId,omitempty"`
	Status         string             `json:"status,omitempty"`
	Previous       *InstallationState `json:"previous,omitempty"`
}

// InstallationState is the state that an installation had before an event.
type InstallationState struct {
	Status        string         `json:"status,omitempty"`
	Configuration map[string]any `json:"configuration,omitzero"`
}

// These are the states of events. Events of an integration that is not in development mode get the state `success` when
// they are recorded.
const (
	EventSuccess = "success"
	EventFailed  = "failed"
)

// IntegrationEvent is something that happened to an installation.
type IntegrationEvent struct {
	ID             string                  `json:"id"`
	IntegrationID  string                  `json:"integrationId"`
	InstallationID string                  `json:"installationId"`
	CreatedAt      time.Time               `json:"createdAt"`
	Payload        IntegrationEventPayload `json:"payload"`
	Status         string                  `json:"status"`
}

// TracedIntegrationEvent is an event with its outcome.
type TracedIntegrationEvent struct {
	Event IntegrationEvent      `json:"event"`
	Trace IntegrationEventTrace `json:"trace"`
}

// IntegrationEventTrace is the log of an event.
type IntegrationEventTrace struct {
	Logs []IntegrationEventLog `json:"logs"`
}

// IntegrationEventLog is a line of the log of an event.
type IntegrationEventLog struct {
	Message   string    `json:"message"`
	Timestamp time.Time `json:"timestamp"`
	Level     string    `json:"level"`
}

// IntegrationEnvironment is the environment that an integration's script gets with an event.
type IntegrationEnvironment struct {
	APIEndpoint string `json:"apiEndpoint"`
	APITokens   struct {
		Integration  string `json:"integration"`
		Installation string `json:"installation,omitempty"`
	} `json:"apiTokens"`
	Integration    Integration              `json:"integration"`
	Installation   *IntegrationInstallation `json:"installation,omitempty"`
	Secrets        map[string]string        `json:"secrets"`
	SigningSecrets struct {
		Integration string `json:"integration"`
	} `json:"signingSecrets"`
}

// MaxConfigurationBytes bounds the configuration of an installation as JSON.
const MaxConfigurationBytes = 64 << 10

// Check lists the problems of a user's configuration. It checks only the properties that the integration defines. If
// the configuration is a component, the integration checks it. Required properties may be missing: Complete checks
// whether they are present.
func (c *IntegrationConfiguration) Check(field string, values map[string]any) []Detail {
	p := &problems{}
	if encoded, err := EncodeJSON(values); err != nil || len(encoded) > MaxConfigurationBytes {
		p.add(field, "must have at most 64 KiB as JSON")
		return p.details
	}
	for _, name := range slices.Sorted(maps.Keys(values)) {
		at := joinKey(field, name)
		p.text(at, name)
		p.clean(at, values[name], 0)
		if c == nil || c.ComponentID != nil || values[name] == nil {
			continue
		}
		property, known := c.Properties[name]
		switch check, takes := propertyDefaults[property.kind()]; {
		case !known:
			p.add(at, "is no property of the integration", slices.Sorted(maps.Keys(c.Properties))...)
		case !takes:
			p.add(at, "must not be given: it is a button")
		default:
			check(p, at, values[name])
			if text, ok := values[name].(string); ok && len(property.Enum) > 0 && !slices.Contains(property.Enum, text) {
				p.add(at, problemEnum, property.Enum...)
			}
		}
	}
	return p.details
}

func (i IntegrationProperty) kind() string { return Or(i.Type, "") }

// Complete reports whether a configuration has all required values. If a property has a default, its value is never
// missing.
func (c *IntegrationConfiguration) Complete(values map[string]any) bool {
	if c == nil {
		return true
	}
	for _, name := range c.Required {
		// a button never has a value, because users only press it
		if property := c.Properties[name]; values[name] == nil && property.Default == nil && property.kind() != "button" {
			return false
		}
	}
	return true
}

// Of returns the configuration for a level, which is `account`, `space` or `site`. It returns nil if the integration
// has no configuration for this level.
func (c *IntegrationConfigurations) Of(level string) *IntegrationConfiguration {
	if c == nil {
		return nil
	}
	return map[string]*IntegrationConfiguration{"account": c.Account, "space": c.Space, "site": c.Site}[level]
}
