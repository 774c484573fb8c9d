package sites

import (
	"context"
	"net/http"

	"github.com/octavo-docs/octavo/api/access"
	"github.com/octavo-docs/octavo/api/dnsproof"
	"github.com/octavo-docs/octavo/api/frame"
	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/store"
	"github.com/octavo-docs/octavo/store/postgres"
	"github.com/octavo-docs/octavo/store/sites"
)

// hostnames has the operations on host names of sites. The operation updateSiteById sets a site's host name. A proxy in
// front of Octavo must provide TLS for the name, and send its requests to the front end.
type hostnames struct {
	store    *store.Store
	resolver dnsproof.Resolver
}

func hostnameRows(h *hostnames) []frame.Operation {
	const base = "/orgs/{organizationId}/sites/{siteId}/hostname"
	return []frame.Operation{
		{
			Method: http.MethodGet, Path: base, ID: "getSiteHostname", Tag: "sites",
			Doc:   "Read the hostname that a site claims, with the DNS record that proves it. An addition to the published contract.",
			Scope: access.Having(access.RightAdmin, access.OnSite), Status: http.StatusOK, Handler: frame.Handle(h.get),
		},
		{
			Method: http.MethodPost, Path: base + "/prove", ID: "proveSiteHostname", Tag: "sites",
			Doc:   "Look for the DNS record that proves a site's hostname; from then on the name leads to the site. An addition to the published contract.",
			Scope: access.Having(access.RightAdmin, access.OnSite), Status: http.StatusOK, Handler: frame.Handle(h.prove),
		},
	}
}

func (h *hostnames) get(ctx context.Context, c *access.Caller, _ *struct{}) (schema.SiteHostname, error) {
	return h.resource(ctx, c.Site.Site)
}

func (h *hostnames) prove(ctx context.Context, c *access.Caller, _ *struct{}) (schema.SiteHostname, error) {
	claimed, err := h.resource(ctx, c.Site.Site)
	if err != nil || claimed.Proved {
		return claimed, err
	}
	if err := dnsproof.Find(ctx, h.resolver, claimed.Record); err != nil {
		return schema.SiteHostname{}, err
	}
	site, err := h.store.Sites.ProveHostname(ctx, c.Site.Site.ID, claimed.Hostname, postgres.ProvedByDNS)
	if err != nil {
		return schema.SiteHostname{}, err
	}
	return h.resource(ctx, site)
}

// hostnameLabel is the first label in the name of the DNS record that proves a host name. The record cannot have the
// host name itself, because a name with a CNAME record can have no other record.
const hostnameLabel = "_octavo."

func (h *hostnames) resource(ctx context.Context, site sites.Site) (schema.SiteHostname, error) {
	if site.Hostname == nil {
		return schema.SiteHostname{}, schema.NotFound("hostname")
	}
	token, err := h.store.Sites.HostnameToken(ctx, site.ID, *site.Hostname)
	return schema.SiteHostname{
		Object: "site-hostname", Hostname: *site.Hostname, Proved: site.HostnameProvedAt != nil,
		ProvedBy: schema.Or(site.HostnameProvedBy, ""), ProvedAt: schema.UTC(site.HostnameProvedAt),
		Record: schema.DomainRecord{Type: "TXT", Name: hostnameLabel + *site.Hostname, Value: dnsproof.Prefix + token},
	}, err
}
