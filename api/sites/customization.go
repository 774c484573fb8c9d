package sites

import (
	"context"
	"net/http"

	"github.com/octavo-docs/octavo/api/access"
	"github.com/octavo-docs/octavo/api/frame"
	"github.com/octavo-docs/octavo/api/frame/rules"
	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/schema/customization"
	"github.com/octavo-docs/octavo/store"
)

// customizations has the operations on the look of sites and site spaces. An answer always has all settings: a site
// space's override replaces the site's setting, and this replaces the default.
type customizations struct {
	store *store.Store
}

func customizationOperations(h *customizations) []frame.Operation {
	const (
		ofSite      = "/orgs/{organizationId}/sites/{siteId}/customization"
		ofSiteSpace = "/orgs/{organizationId}/sites/{siteId}/site-spaces/{siteSpaceId}/customization"
	)
	return []frame.Operation{
		{
			Method: http.MethodGet, Path: ofSite, ID: "getSiteCustomizationById", Tag: "site-customization",
			Doc:   "Read a site's customization settings.",
			Scope: access.Having(access.RightAccess, access.OnSite).OrReaders().OrInstallation(schema.ScopeSiteMetadataRead), Status: http.StatusOK, Handler: frame.Handle(h.get),
		},
		{
			Method: http.MethodPut, Path: ofSite, ID: "updateSiteCustomizationById", Tag: "site-customization",
			Doc:   "Replace a site's customization settings; absent settings get their defaults.",
			Scope: access.Having(access.RightCreate, access.OnSite), Status: http.StatusOK,
			BodyLimit: frame.ResourceBodyLimit, Accepts: frame.MediaJSON, Handler: frame.Handle(h.set),
		},
		{
			Method: http.MethodGet, Path: ofSiteSpace, ID: "getSiteSpaceCustomizationById", Tag: "site-customization",
			Doc:   "Read a site space's customization settings: the site's, with the site space's overrides.",
			Scope: access.Having(access.RightAccess, access.OnSite).OrReaders().OrInstallation(schema.ScopeSiteMetadataRead), Status: http.StatusOK, Handler: frame.Handle(h.getOfSiteSpace),
		},
		{
			Method: http.MethodPatch, Path: ofSiteSpace, ID: "overrideSiteSpaceCustomizationById", Tag: "site-customization",
			Doc:   "Override settings for a site space. null removes an override, except an announcement's; absent settings stay as they are.",
			Scope: access.Having(access.RightCreate, access.OnSite), Status: http.StatusOK,
			BodyLimit: frame.ResourceBodyLimit, Accepts: frame.MediaJSON, Handler: frame.Handle(h.override),
		},
		{
			Method: http.MethodDelete, Path: ofSiteSpace, ID: "deleteSiteSpaceCustomizationById", Tag: "site-customization",
			Doc:   "Drop all overrides of a site space.",
			Scope: access.Having(access.RightCreate, access.OnSite), Status: http.StatusNoContent, Handler: frame.Handle(h.reset),
		},
	}
}

// readCustomizationRequest accepts the deprecated `unmasked`. In the contract, it requests the settings that the site's
// plan does not include. Octavo has no plans, so all settings are always shown.
type readCustomizationRequest struct {
	Unmasked *bool `query:"unmasked" rules:"default=false"`
}

func (h *customizations) get(
	ctx context.Context, c *access.Caller, _ *readCustomizationRequest,
) (customization.Customization, error) {
	settings, err := h.store.Sites.Customization(ctx, c.Site.Site.ID)
	return customization.Overlay(customization.Default(), settings), err
}

type setCustomizationRequest struct {
	Body struct {
		customization.Customization
		// Favicon is the only member that the contract requires. It takes the place of the embedded struct's Favicon.
		Favicon *customization.Favicon `json:"favicon" rules:"required"`
	} `body:"json"`
}

func (r *setCustomizationRequest) Validate() []schema.Detail {
	return customizationProblems(r.settings())
}

func (r *setCustomizationRequest) settings() customization.Customization {
	settings := r.Body.Customization
	settings.Favicon = schema.Some(*r.Body.Favicon)
	// In this request, null means the same as an absent member.
	return customization.Merge(customization.Customization{}, settings)
}

func (h *customizations) set(
	ctx context.Context, c *access.Caller, r *setCustomizationRequest,
) (customization.Customization, error) {
	settings := r.settings()
	settings.Normalize()
	settings, err := h.store.Sites.SetCustomization(ctx, c.Site.Site.ID, settings)
	return customization.Overlay(customization.Default(), settings), err
}

type readSiteSpaceCustomizationRequest struct {
	SiteSpaceID string `path:"siteSpaceId"`
	Unmasked    *bool  `query:"unmasked" rules:"default=false"`
}

func (h *customizations) getOfSiteSpace(
	ctx context.Context, c *access.Caller, r *readSiteSpaceCustomizationRequest,
) (customization.Customization, error) {
	settings, overrides, err := h.store.Sites.SiteSpaceCustomization(ctx, c.Site.Site.ID, r.SiteSpaceID)
	return overridden(settings, overrides), err
}

type overrideCustomizationRequest struct {
	SiteSpaceID string                      `path:"siteSpaceId"`
	Body        customization.Customization `body:"json"`
}

func (r *overrideCustomizationRequest) Validate() []schema.Detail {
	c := rules.Checker{Details: customizationProblems(r.Body)}
	checkOverrides(&c, r.Body)
	return c.Details
}

func (h *customizations) override(
	ctx context.Context, c *access.Caller, r *overrideCustomizationRequest,
) (customization.Customization, error) {
	r.Body.Normalize()
	settings, overrides, err := h.store.Sites.OverrideSiteSpaceCustomization(ctx, c.Site.Site.ID, r.SiteSpaceID, r.Body)
	return overridden(settings, overrides), err
}

type resetCustomizationRequest struct {
	SiteSpaceID string `path:"siteSpaceId"`
}

func (h *customizations) reset(
	ctx context.Context, c *access.Caller, r *resetCustomizationRequest,
) (frame.NoContent, error) {
	return frame.NoContent{}, h.store.Sites.DeleteSiteSpaceCustomization(ctx, c.Site.Site.ID, r.SiteSpaceID)
}

func overridden(settings, overrides customization.Customization) customization.Customization {
	return customization.Overlay(customization.Overlay(customization.Default(), settings), overrides)
}

// customizationProblems checks the rules that concern several members of a setting together.
func customizationProblems(settings customization.Customization) []schema.Detail {
	var c rules.Checker
	if f := settings.Favicon.Value; f != nil && f.Icon != nil && f.Emoji != nil {
		c.Add("favicon", "must have icon or emoji, not both")
	}
	if f := settings.Favicon.Value; f != nil && f.Unknown() != "" {
		c.Add("favicon."+frame.Clip(f.Unknown(), frame.LongestName), "is no member of a favicon")
	}
	return append(c.Details, settings.ActionProblems()...)
}

// checkOverrides checks the contract's rules for overrides. If a request contains a group with a single setting, the
// group must contain this setting, which may be null. An announcement cannot be removed alone.
func checkOverrides(c *rules.Checker, o customization.Customization) {
	if o.Announcement.Null() {
		c.Add("announcement", "must not be null: it goes with the other overrides of the site space")
	}
	for _, member := range []struct {
		name         string
		group, given bool
	}{
		{
			"internationalization.locale", o.Internationalization.Value != nil,
			schema.Or(o.Internationalization.Value, customization.Internationalization{}).Locale.Set,
		},
		{"pdf.enabled", o.PDF.Value != nil, schema.Or(o.PDF.Value, customization.Toggle{}).Enabled.Set},
		{"feedback.enabled", o.Feedback.Value != nil, schema.Or(o.Feedback.Value, customization.Toggle{}).Enabled.Set},
		{"git.showEditLink", o.Git.Value != nil, schema.Or(o.Git.Value, customization.GitSettings{}).ShowEditLink.Set},
		{
			"externalLinks.target", o.ExternalLinks.Value != nil,
			schema.Or(o.ExternalLinks.Value, customization.ExternalLinkSettings{}).Target.Set,
		},
		{
			"pagination.enabled", o.Pagination.Value != nil,
			schema.Or(o.Pagination.Value, customization.Toggle{}).Enabled.Set,
		},
		{
			"trademark.enabled", o.Trademark.Value != nil,
			schema.Or(o.Trademark.Value, customization.Toggle{}).Enabled.Set,
		},
	} {
		if member.group && !member.given {
			c.Add(member.name, "is required")
		}
	}
}
