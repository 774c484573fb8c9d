package apitest

import (
	"github.com/octavo-docs/octavo/api/access"
	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/store/sites"
	"github.com/octavo-docs/octavo/store/storetest"
)

func customizationExamples() {
	siteSpace := func(h *Harness, tenant *storetest.Tenant) map[string]string {
		return map[string]string{"siteSpaceId": h.SiteSpace(tenant)}
	}
	Examples["updateSiteCustomizationById"] = example{body: `{"favicon":{}}`}
	Examples["getSiteSpaceCustomizationById"] = example{Make: siteSpace}
	Examples["overrideSiteSpaceCustomizationById"] = example{body: `{"title":"Here"}`, Make: siteSpace}
	Examples["deleteSiteSpaceCustomizationById"] = example{Make: siteSpace}
}

func eventsExamples() {
	Examples["trackEventsInSiteById"] = example{body: `{"events":[]}`}
	Examples["aggregateSiteEvents"] = example{body: `{"range":"last7Days"}`}
	Examples["getSiteEventsFunnel"] = example{body: `{"range":"last7Days","steps":[{},{}]}`}
	Examples["getSiteEventsRetention"] = example{body: `{"range":"last7Days"}`}
	Examples["getSiteEventsTransitions"] = example{body: `{"range":"last7Days","page":{"path":"/"}}`}
	Examples["listSiteInsightsPages"] = example{body: `{"range":"last7Days"}`}
	Examples["querySiteInsights"] = example{body: `{"queries":{"a":{"report":"aggregate","range":"last7Days"}}}`}
	Examples["checkSiteInstallation"] = example{body: `{"url":"https://docs.example.invalid/"}`}
	visitor := func(*Harness, *storetest.Tenant) map[string]string {
		return map[string]string{"visitorId": schema.NewID()}
	}
	Examples["eraseSiteVisitor"] = example{Make: visitor}
	Examples["getSiteVisitorErasure"] = example{Make: visitor}
	Examples["updateSiteInsightsSettings"] = example{body: `{"retentionDays":400,"timezone":"Europe/Berlin"}`}
	annotation := func(h *Harness, tenant *storetest.Tenant) map[string]string {
		return map[string]string{"annotationId": h.Annotation(tenant)}
	}
	Examples["createSiteAnnotation"] = example{body: `{"text":"We moved the guide.","date":"2026-11-20"}`}
	Examples["getSiteAnnotation"] = example{Make: annotation}
	Examples["updateSiteAnnotation"] = example{body: `{"text":"We moved the guides."}`, Make: annotation}
	Examples["deleteSiteAnnotation"] = example{Make: annotation}
	generation := func(*Harness, *storetest.Tenant) map[string]string {
		return map[string]string{"keyId": schema.NewID(), "generation": "2"}
	}
	Examples["eraseSiteEventKey"] = example{Make: generation}
	Examples["getSiteEventKeyErasure"] = example{Make: generation}
	key := func(h *Harness, tenant *storetest.Tenant) map[string]string {
		id, text := h.PublishableKey(tenant, "docs.example.com")
		return map[string]string{"keyId": id, "key": text}
	}
	segment := func(h *Harness, tenant *storetest.Tenant) map[string]string {
		return map[string]string{"segmentId": h.SavedSegment(tenant), "name": schema.NewID()}
	}
	Examples["createSiteSavedSegment"] = example{
		body: `{"name":"{name}","where":[{"column":"visitorGeoCountry","values":["DE"]}]}`, Make: segment,
		Needs: access.RightEdit,
	}
	Examples["getSiteSavedSegment"] = example{Make: segment}
	Examples["updateSiteSavedSegment"] = example{body: `{"name":"{name}"}`, Make: segment, Needs: access.RightEdit}
	Examples["deleteSiteSavedSegment"] = example{Make: segment, Needs: access.RightEdit}
	token := func(h *Harness, tenant *storetest.Tenant) map[string]string {
		_, id := h.InsightsToken(tenant)
		return map[string]string{"tokenId": id}
	}
	Examples["createSiteInsightsToken"] = example{body: `{"name":"Board","expiresIn":3600}`}
	Examples["getSiteInsightsToken"] = example{Make: token}
	Examples["deleteSiteInsightsToken"] = example{Make: token}
	link := func(h *Harness, tenant *storetest.Tenant) map[string]string {
		secret, id := h.InsightsShareLink(tenant)
		return map[string]string{"linkId": id, "secret": secret}
	}
	Examples["createSiteInsightsShareLink"] = example{body: `{"name":"Board","ranges":["last7Days"]}`}
	Examples["getSiteInsightsShareLink"] = example{Make: link}
	Examples["updateSiteInsightsShareLink"] = example{body: `{"ranges":["last30Days"]}`, Make: link}
	Examples["deleteSiteInsightsShareLink"] = example{Make: link}
	Examples["openInsightsShareLink"] = example{body: `{"secret":"{secret}"}`, Make: link}
	Examples["createSitePublishableKey"] = example{body: `{"name":"Pages","hosts":["docs.example.com"]}`}
	Examples["getSitePublishableKey"] = example{Make: key}
	Examples["updateSitePublishableKey"] = example{body: `{"dailyCap":5000}`, Make: key}
	Examples["rotateSitePublishableKey"] = example{body: `{"overlap":3600}`, Make: key}
	Examples["deleteSitePublishableKey"] = example{Make: key}
	Examples["postBrowserEvents"] = example{body: `{"id":"a","events":[{"type":"page_view","url":"https://docs.example.com/"}]}`, Make: key}
	Examples["showBrowserPixel"] = example{query: "?url=https://docs.example.com/", Make: key}
}

func addressExamples() {
	publish := func(h *Harness, tenant *storetest.Tenant) map[string]string {
		site, err := h.Store.Sites.Publish(h.T.Context(), tenant.Site.ID, true)
		Created(h.T, site.ID, err)
		return nil
	}
	const address = "https://docs.example.com/base/~/sites/{siteId}"
	Examples["getPublishedContentByUrl"] = example{query: "?url=" + address, Make: publish, Needs: access.RightAccess}
	Examples["resolvePublishedContentByUrl"] = example{body: `{"url":"` + address + `"}`, Make: publish, Needs: access.RightAccess}
}

func hostnameExamples() {
	claim := func(h *Harness, tenant *storetest.Tenant) map[string]string {
		name := "docs-" + tenant.Site.ID + ".example.com"
		_, err := h.Store.Sites.Update(h.T.Context(), tenant.Site.ID, sites.Change{Hostname: schema.Some(name)})
		Created(h.T, name, err)
		token, err := h.Store.Sites.HostnameToken(h.T.Context(), tenant.Site.ID, name)
		h.DNS.Set("_octavo."+name, "octavo-domain-verification="+Created(h.T, token, err))
		return nil
	}
	Examples["updateSitePublishingAuthById"] = example{body: `{"backend":"custom","fallbackURL":"https://login.example.com/"}`}
	Examples["getSiteHostname"] = example{Make: claim}
	Examples["proveSiteHostname"] = example{Make: claim}
}

func sitesExamples() {
	Examples["getVisitorSession"] = example{query: "?proposed=c0ffeeR"}
	Examples["createSite"] = example{body: `{}`}
	type maker = func(h *Harness, tenant *storetest.Tenant) map[string]string
	ids := func(name string, make func(h *Harness, tenant *storetest.Tenant) string) maker {
		return func(h *Harness, tenant *storetest.Tenant) map[string]string {
			return map[string]string{name: make(h, tenant)}
		}
	}
	space := ids("newSpace", func(h *Harness, t *storetest.Tenant) string { return h.FreshSpace(t, "Fresh").ID })
	siteSpace := ids("siteSpaceId", (*Harness).freshSiteSpace)
	section := ids("siteSectionId", (*Harness).freshSection)
	group := ids("siteSectionGroupId", (*Harness).freshGroup)
	groupAndSection := func(h *Harness, t *storetest.Tenant) map[string]string {
		return map[string]string{"siteSectionGroupId": h.freshGroup(t), "siteSectionId": h.freshSection(t)}
	}
	link := ids("shareLinkId", func(h *Harness, t *storetest.Tenant) string {
		row, err := h.Store.Sites.CreateShareLink(h.T.Context(), t.Site.ID, "Partners")
		return Created(h.T, row.ID, err)
	})
	redirect := func(h *Harness, t *storetest.Tenant) map[string]string {
		source := "/" + schema.NewID()
		url := "https://example.com/"
		row, err := h.Store.Sites.CreateRedirect(h.T.Context(), t.Site.ID, sites.NewRedirect{
			Source: source, Destination: schema.SiteRedirectDestination{Kind: schema.RedirectToExternal, URL: &url},
		})
		return map[string]string{"siteRedirectId": Created(h.T, row.ID, err), "source": source}
	}
	source := ids("source", func(*Harness, *storetest.Tenant) string { return "/" + schema.NewID() })
	freshSite := ids("siteId", func(h *Harness, t *storetest.Tenant) string {
		row, err := h.Store.Sites.Create(h.T.Context(), sites.NewSite{
			OrganizationID: t.Organization.ID, Type: "basic", Title: "Fresh", Visibility: "public",
		})
		return Created(h.T, row.Site.ID, err)
	})
	for id, ex := range map[string]example{
		"updateSiteById":          {body: `{"title":"Renamed"}`},
		"deleteSiteById":          {Make: freshSite},
		"addSpaceToSite":          {body: `{"spaceId":"{newSpace}"}`, Make: space},
		"updateSiteSpaceById":     {body: `{"hidden":true}`, Make: siteSpace},
		"deleteSiteSpaceById":     {Make: siteSpace},
		"moveSiteSpace":           {body: `{}`, Make: siteSpace},
		"addSectionToSite":        {body: `{"spaceId":"{newSpace}"}`, Make: space},
		"updateSiteSectionById":   {body: `{"icon":"book"}`, Make: section},
		"deleteSiteSectionById":   {Make: section},
		"moveSiteSection":         {body: `{}`, Make: section},
		"sortSiteStructure":       {body: `{"item":{"type":"site-section","id":"{siteSectionId}"},"position":{}}`, Make: section},
		"addSectionGroupToSite":   {body: `{"title":"Guides"}`},
		"createSiteShareLink":     {body: `{"name":"Partners"}`},
		"updateSiteShareLinkById": {body: `{"active":false}`, Make: link},
		"deleteSiteShareLinkById": {Make: link},
		"createSiteRedirect": {
			body: `{"source":"{source}","destination":{"kind":"external","url":"https://example.com/new"}}`, Make: source,
		},
		"updateSiteRedirectById":     {body: `{}`, Make: redirect},
		"deleteSiteRedirectById":     {Make: redirect},
		"getSiteRedirectBySource":    {query: "?source={source}", Make: redirect},
		"updateSiteSectionGroupById": {body: `{"title":"More"}`, Make: group},
		"deleteSiteSectionGroupById": {Make: group},
		"addSectionToGroup":          {body: `{"sectionId":"{siteSectionId}"}`, Make: groupAndSection},
		"removeSectionFromGroup":     {Make: groupAndSection},
	} {
		Examples[id] = ex
	}
}
