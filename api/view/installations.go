package view

import (
	"encoding/hex"

	"github.com/octavo-docs/octavo/api/access"
	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/store"
)

// Installation returns the API form of an installation. Configurations may contain keys of other services, so only
// admins of the organization see configurations.
func (v Presenter) Installation(i store.Installation) schema.IntegrationInstallation {
	row := i.Row
	return schema.IntegrationInstallation{
		ID: row.ID, Integration: row.Integration, Status: i.Status(), SpaceSelection: row.SpaceSelection, SiteSelection: row.SiteSelection,
		Spaces: i.Spaces, Scopes: row.Scopes, Configuration: shownConfiguration(i, i.Configuration), CreatedAt: row.CreatedAt.UTC(),
		UpdatedAt: row.UpdatedAt.UTC(), ExternalIDs: row.ExternalIds, Target: schema.IntegrationTarget{Organization: row.OrganizationID},
		URLs: schema.IntegrationInstallationURLs{
			Location:       v.API("integrations", row.Integration, "installations", row.ID),
			App:            v.App("orgs", row.OrganizationID, "integrations", row.Integration),
			PublicEndpoint: v.API("integrations", row.Integration, "installations", row.ID, "public"),
		},
	}
}

func shownConfiguration(i store.Installation, configuration map[string]any) map[string]any {
	if configuration == nil || !access.RightsOf(access.Access{Role: i.Role}).Has(access.RightAdmin) {
		return map[string]any{}
	}
	return configuration
}

func (v Presenter) contentInstallation(c store.ContentInstallation, path ...string) schema.IntegrationContentInstallation {
	i := c.Installation.Row
	at := []string{"integrations", i.Integration, "installations", i.ID}
	return schema.IntegrationContentInstallation{
		Integration: i.Integration, Installation: i.ID, Status: c.Status(), Configuration: shownConfiguration(c.Installation, c.Configuration),
		ExternalIDs: c.Row.ExternalIds, URLs: schema.ContentInstallationURLs{
			PublicEndpoint: v.API(append(at, "public")...), Location: v.API(append(at, path...)...),
		},
	}
}

// SpaceInstallation returns the API form of an installation on a space.
func (v Presenter) SpaceInstallation(c store.ContentInstallation) schema.IntegrationSpaceInstallation {
	space := schema.Or(c.Row.SpaceID, "")
	return schema.IntegrationSpaceInstallation{IntegrationContentInstallation: v.contentInstallation(c, "spaces", space), Space: space}
}

// SiteInstallation returns the API form of an installation on a site.
func (v Presenter) SiteInstallation(c store.ContentInstallation) schema.IntegrationSiteInstallation {
	site := schema.Or(c.Row.SiteID, "")
	return schema.IntegrationSiteInstallation{IntegrationContentInstallation: v.contentInstallation(c, "sites", site), Site: site}
}

// IntegrationVersion returns the API form of a published version of an integration.
func IntegrationVersion(row store.IntegrationVersion) schema.IntegrationVersion {
	return schema.IntegrationVersion{
		Version: row.Version, Title: row.Title, Runtime: row.Runtime, Scopes: row.Scopes, ScriptHash: "sha256:" + hex.EncodeToString(row.ScriptHash),
		ScriptBytes: row.ScriptBytes, PublishedBy: schema.Or(row.PublishedBy, ""), CreatedAt: row.CreatedAt.UTC(),
	}
}

// IntegrationScriptVersion returns the API form of a published version of an integration, with the script.
func IntegrationScriptVersion(row store.ScriptVersion) schema.IntegrationScriptVersion {
	return schema.IntegrationScriptVersion{IntegrationVersion: IntegrationVersion(row.IntegrationVersion), Script: row.Script}
}

// IntegrationEvent returns the API form of an event that was sent to an integration.
func IntegrationEvent(row store.IntegrationEvent) (schema.IntegrationEvent, error) {
	payload, err := schema.DecodeJSON[schema.IntegrationEventPayload](row.Payload)
	return schema.IntegrationEvent{
		ID: row.ID, IntegrationID: row.Integration, InstallationID: row.InstallationID, CreatedAt: row.CreatedAt.UTC(), Payload: payload,
		Status: schema.Or(row.Status, ""),
	}, err
}

// TracedIntegrationEvent returns the API form of an event that was sent to an integration, with the log of the
// integration's run for this event.
func TracedIntegrationEvent(row store.IntegrationEvent) (schema.TracedIntegrationEvent, error) {
	event, err := IntegrationEvent(row)
	if err != nil {
		return schema.TracedIntegrationEvent{}, err
	}
	logs, err := schema.DecodeJSON[[]schema.IntegrationEventLog](row.Logs)
	return schema.TracedIntegrationEvent{Event: event, Trace: schema.IntegrationEventTrace{Logs: logs}}, err
}
