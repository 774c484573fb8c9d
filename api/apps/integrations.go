package apps

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/http"

	"github.com/octavo-docs/octavo/api/access"
	"github.com/octavo-docs/octavo/api/frame"
	"github.com/octavo-docs/octavo/api/view"
	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/store"
)

// integrations has the operations on integrations, both public ones and an organization's own.
type integrations struct {
	store *store.Store
	view  view.Presenter
}

// publishBodyLimit leaves room for a script and four images.
const publishBodyLimit = 4 << 20

func integrationOperations(h *integrations) []frame.Operation {
	const one = "/integrations/{integrationName}"
	return []frame.Operation{
		{
			Method: http.MethodGet, Path: "/integrations", ID: "listIntegrations", Tag: "integrations",
			Doc:   "List the public integrations by name.",
			Scope: access.AnyUser(), Status: http.StatusOK, Handler: frame.Handle(h.list),
		},
		{
			Method: http.MethodGet, Path: one, ID: "getIntegrationByName", Tag: "integrations",
			Doc:   "Read an integration; a private one only as a member of its organization.",
			Scope: access.AnyUser(), Status: http.StatusOK, Handler: frame.Handle(h.get),
		},
		{
			Method: http.MethodPost, Path: one, ID: "publishIntegration", Tag: "integrations",
			Doc:   "Publish the first or next version of an integration, as an admin of the organization that owns the name. It replaces the whole previous version: members that are not sent again, such as icon, previewImages, blocks and secrets, are removed.",
			Scope: access.HavingNamed(access.RightAdmin, access.OrganizationInBody), Status: http.StatusOK,
			BodyLimit: publishBodyLimit, Accepts: frame.MediaJSON, Handler: frame.Handle(h.publish),
		},
		{
			Method: http.MethodGet, Path: one + "/assets/{assetId}", ID: "getIntegrationAsset", Tag: "integrations",
			Doc:   "Read a picture of an integration, by an address that its resource shows.",
			Scope: access.Public(), Status: http.StatusOK, Produces: imageTypes, Handler: frame.Handle(h.asset),
		},
		{
			Method: http.MethodPost, Path: one + "/installations", ID: "installIntegration", Tag: "integrations",
			Doc:   "Install an integration in an organization, as its admin.",
			Scope: access.HavingNamed(access.RightAdmin, access.OrganizationInBody), Status: http.StatusCreated,
			BodyLimit: frame.ResourceBodyLimit, Accepts: frame.MediaJSON, Handler: frame.Handle(h.install),
		},
		{
			Method: http.MethodGet, Path: one + "/installations/{installationId}", ID: "getIntegrationInstallationById", Tag: "integrations",
			Doc:   "Read an installation, as a member of its organization.",
			Scope: access.AnyUser(), Status: http.StatusOK, Handler: frame.Handle(h.installation),
		},
	}
}

type listIntegrationsRequest struct {
	schema.PageRequest
	Search         *string `query:"search"`
	Category       *string `query:"category" rules:"enum=integrationCategory"`
	BlockDomain    *string `query:"blockDomain" rules:"len=..100,pattern=integrationName"`
	Blocks         *bool   `query:"blocks"`
	ContentSources *bool   `query:"contentSources"`
	Owner          *string `query:"owner"`
	Scope          *string `query:"scope" rules:"enum=integrationScope"`
	Target         *string `query:"target" rules:"enum=integrationTarget"`
}

func (h *integrations) list(
	ctx context.Context, c *access.Caller, r *listIntegrationsRequest,
) (schema.List[schema.Integration], error) {
	flag := func(b *bool) string {
		if b == nil {
			return "any"
		}
		return fmt.Sprint(*b)
	}
	name := fmt.Sprintf("integrations %q %q %q %s %s %q %q %q", schema.Or(r.Search, ""), schema.Or(r.Category, ""), schema.Or(r.BlockDomain, ""),
		flag(r.Blocks), flag(r.ContentSources), schema.Or(r.Owner, ""), schema.Or(r.Scope, ""), schema.Or(r.Target, ""))
	filter := store.IntegrationFilter{
		Search: r.Search, Category: r.Category, BlockDomain: r.BlockDomain, Owner: r.Owner, Scope: r.Scope, Target: r.Target,
		Blocks: r.Blocks, ContentSources: r.ContentSources,
	}
	return frame.ListMadePage(ctx, name, r.PageRequest,
		func(after string, size int) (store.Page[store.Integration], error) {
			return h.store.ListIntegrations(ctx, c.Principal.UserID, filter, after, size)
		},
		h.view.Integration, func(row store.Integration) string { return row.Name })
}

type getIntegrationRequest struct {
	Name string `path:"integrationName"`
}

func (h *integrations) get(ctx context.Context, c *access.Caller, r *getIntegrationRequest) (schema.Integration, error) {
	row, err := h.store.Integration(ctx, c.Principal.UserID, r.Name)
	if err != nil {
		return schema.Integration{}, err
	}
	return h.view.Integration(row)
}

type publishIntegrationRequest struct {
	Name string `path:"integrationName" rules:"len=..100,pattern=integrationName"`
	Body struct {
		schema.IntegrationManifest
		Icon          *string           `json:"icon" rules:"len=..1000000,pattern=image"`
		PreviewImages []string          `json:"previewImages" rules:"len=..3" each:"len=..1000000,pattern=image"`
		Script        *string           `json:"script" rules:"required,len=1.."`
		Organization  *string           `json:"organization" rules:"required,len=1.."`
		Secrets       map[string]string `json:"secrets" rules:"len=..20" keys:"len=1..255" each:"len=..10000"`
	} `body:"json"`
}

func (r *publishIntegrationRequest) Validate() []schema.Detail { return r.Body.Contradictions() }

func (h *integrations) publish(ctx context.Context, c *access.Caller, r *publishIntegrationRequest) (schema.Integration, error) {
	r.Body.Normalize()
	n := store.NewIntegration{
		Name: r.Name, Manifest: r.Body.IntegrationManifest, Script: *r.Body.Script, Secrets: r.Body.Secrets,
	}
	if r.Body.Icon != nil {
		icon := assetOf(*r.Body.Icon)
		n.Icon = &icon
	}
	for _, image := range r.Body.PreviewImages {
		n.PreviewImages = append(n.PreviewImages, assetOf(image))
	}
	row, err := h.store.PublishIntegration(ctx, c.Principal.UserID, *c.Organization, n)
	if err != nil {
		return schema.Integration{}, err
	}
	return h.view.Integration(row)
}

// assetOf makes an asset from an image that has already been validated.
func assetOf(encoded string) store.IntegrationAsset {
	image, mediaType, _ := readImage(encoded)
	sum := sha256.Sum256(image)
	return store.IntegrationAsset{ID: hex.EncodeToString(sum[:16]), ContentType: mediaType, Content: image}
}

type getIntegrationAssetRequest struct {
	Name  string `path:"integrationName"`
	Asset string `path:"assetId"`
}

func (h *integrations) asset(ctx context.Context, _ *access.Caller, r *getIntegrationAssetRequest) (frame.Encoded, error) {
	asset, err := h.store.IntegrationAsset(ctx, r.Name, r.Asset)
	if err != nil {
		return frame.Encoded{}, err
	}
	return frame.Encoded{Body: asset.Content, ContentType: asset.ContentType, Header: map[string]string{
		// The image at a URL never changes, and browsers must not interpret it as anything but an image.
		"Cache-Control": "public, max-age=31536000, immutable", "X-Content-Type-Options": "nosniff",
		"Content-Security-Policy": "default-src 'none'; sandbox",
	}}, nil
}

type installIntegrationRequest struct {
	Name string `path:"integrationName"`
	Body struct {
		Organization *string `json:"organization" rules:"required,len=1.."`
	} `body:"json"`
}

func (h *integrations) install(
	ctx context.Context, c *access.Caller, r *installIntegrationRequest,
) (schema.IntegrationInstallation, error) {
	// A private integration can be installed only in its own organization.
	integration, err := h.store.Integration(ctx, c.Principal.UserID, r.Name)
	if err != nil {
		return schema.IntegrationInstallation{}, err
	}
	target := *c.Organization
	if *integration.Manifest.Visibility == "private" && integration.Owner.Organization.ID != target.Organization.ID {
		return schema.IntegrationInstallation{}, schema.Forbidden("a private integration can be installed in its own organization only")
	}
	row, err := h.store.InstallIntegration(ctx, r.Name, target)
	if err != nil {
		return schema.IntegrationInstallation{}, err
	}
	return h.view.Installation(row), nil
}

type getInstallationRequest struct {
	Name string `path:"integrationName"`
	ID   string `path:"installationId"`
}

func (h *integrations) installation(
	ctx context.Context, c *access.Caller, r *getInstallationRequest,
) (schema.IntegrationInstallation, error) {
	row, err := h.store.Installation(ctx, c.Principal.UserID, r.Name, r.ID)
	if err != nil {
		return schema.IntegrationInstallation{}, err
	}
	c.Rights = access.RightsOf(access.Access{Role: row.Role})
	if err := c.Require(access.RightAccess, "organization"); err != nil {
		return schema.IntegrationInstallation{}, err
	}
	return h.view.Installation(row), nil
}
