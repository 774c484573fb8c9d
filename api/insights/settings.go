package insights

import (
	"context"
	"net/http"

	"github.com/octavo-docs/octavo/api/access"
	"github.com/octavo-docs/octavo/api/frame"
	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/schema/insights"
	"github.com/octavo-docs/octavo/store"
	"github.com/octavo-docs/octavo/store/sites"
)

// siteSettings has the operations on the settings of a site's insights.
type siteSettings struct {
	store    *store.Store
	insights Insights
}

func settingsOperations(h *siteSettings) []frame.Operation {
	const settings = insightsBase + "/settings"
	return []frame.Operation{
		{
			Method: http.MethodGet, Path: settings, ID: "getSiteInsightsSettings", Tag: "insights",
			Doc: "Read the settings of a site's insights: the time zone and the first day of weeks of queries that " +
				"name none, the site's own hosts, respectGPC of new publishable keys, and retentionDays, for how " +
				"many " +
				"days the site keeps events; without it, for ever.",
			Scope: readScope(), Status: http.StatusOK, Handler: frame.Handle(h.get),
		},
		{
			Method: http.MethodPatch, Path: settings, ID: "updateSiteInsightsSettings", Tag: "insights", Strict: true,
			Doc: "Change the settings of a site's insights. Queries that name a time zone or a weekStart keep " +
				"theirs. " +
				"The answering node applies a change at once, others within seconds. " +
				"hosts are hosts of the site in addition to its own name and the hosts of its publishable keys: " +
				"visits from there have no source. " +
				"retentionDays is for how many days the site keeps events, by their own time; null is for ever. " +
				"Older ones are deleted within the hour, and then once a day; " +
				"queries show them until then. Events that are imported later and are older are deleted at the " +
				"next day.",
			Scope: access.Having(access.RightAdmin, access.OnInsights), Status: http.StatusOK,
			BodyLimit: frame.ResourceBodyLimit, Accepts: frame.MediaJSON, Handler: frame.Handle(h.set),
		},
	}
}

func (h *siteSettings) get(ctx context.Context, c *access.Caller, _ *struct{}) (schema.EventSettings, error) {
	days, err := h.store.Sites.Retention(ctx, c.EventSite.SiteID)
	if err != nil {
		return schema.EventSettings{}, err
	}
	row, err := h.store.Sites.InsightsSettings(ctx, c.EventSite.SiteID)
	return schema.EventSettings{
		Object: "insights-settings", RetentionDays: days, Timezone: row.Timezone, WeekStart: row.WeekStart,
		Hosts: row.Hosts, RespectGPC: row.RespectGpc,
	}, err
}

type settingsRequest struct {
	Body struct {
		RetentionDays schema.Opt[int] `json:"retentionDays,omitzero" rules:"range=1..3650"`
		Timezone      *string         `json:"timezone" rules:"len=1..64"`
		WeekStart     *string         `json:"weekStart" rules:"enum=weekStart"`
		Hosts         []string        `json:"hosts" rules:"len=..50" each:"len=..253,pattern=ownHost"`
		RespectGPC    *bool           `json:"respectGPC"`
	} `body:"json"`
}

// Validate returns a problem if the time zone is unknown.
func (r *settingsRequest) Validate() []schema.Detail {
	if name := r.Body.Timezone; name != nil {
		if _, err := insights.Location(*name); err != nil {
			return []schema.Detail{{Field: "timezone", Problem: err.Error()}}
		}
	}
	return nil
}

func (h *siteSettings) set(ctx context.Context, c *access.Caller, r *settingsRequest) (schema.EventSettings, error) {
	change := sites.InsightsSettingsChange{
		Timezone: r.Body.Timezone, WeekStart: r.Body.WeekStart, RespectGPC: r.Body.RespectGPC,
		Retention: r.Body.RetentionDays,
	}
	if r.Body.Hosts != nil {
		change.Hosts = append([]string{}, canonicalHosts(r.Body.Hosts)...)
	}
	if err := h.store.Sites.SetInsightsSettings(ctx, c.EventSite.SiteID, change); err != nil {
		return schema.EventSettings{}, err
	}
	h.insights.SettingsChanged(c.EventSite.SiteID)
	return h.get(ctx, c, nil)
}
