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
	"github.com/octavo-docs/octavo/store/postgres"
)

// integrations has the operations on public integrations and on an organization's private ones.
type integrations struct {
	store *store.Store
	view  view.Presenter
}

// publishBodyLimit has room for a script of 4 MiB, an icon, and three previews of 1 MiB each, which base64 makes a
// third longer.
const publishBodyLimit = 10 << 20

func integrationOperations(h *integrations) []frame.Operation {
	const one = "/integrations/{integrationName}"
	return []frame.Operation{
		{
			Method: http.MethodGet, Path: "/integrations", ID: "listIntegrations", Tag: "integrations",
			Doc:   "List the public integrations by name. With owner, members of that organization get its private and unlisted ones too.",
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
			Method: http.MethodGet, Path: one + "/assets", ID: "listIntegrationAssets", Tag: "integrations",
			Doc:   "List the pictures of an integration.",
			Scope: access.Having(access.RightView, access.OnIntegration), Status: http.StatusOK, Handler: frame.Handle(h.assets),
		},
		{
			Method: http.MethodGet, Path: one + "/public", ID: "getIntegrationPublicEndpoint", Tag: "integrations",
			Doc:   "Say that no script of an integration answers here.",
			Scope: access.Public(), Status: http.StatusOK, Handler: frame.Handle(public),
		},
		{
			Method: http.MethodGet, Path: one + "/installations/{installationId}/public", ID: "getInstallationPublicEndpoint", Tag: "integrations",
			Doc:   "Say that no script of an integration answers here.",
			Scope: access.Public(), Status: http.StatusOK, Handler: frame.Handle(public),
		},
		{
			Method: http.MethodDelete, Path: one, ID: "unpublishIntegration", Tag: "integrations",
			Doc:   "Unpublish an integration, as an admin of the organization that owns the name, which is free again. Its installations and their tokens end.",
			Scope: access.Having(access.RightAdmin, access.OnIntegration).OrAlreadyGone(), Status: http.StatusNoContent, Handler: frame.Handle(h.unpublish),
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
		func(after string, size int) (postgres.Page[store.Integration], error) {
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
		Icon *string `json:"icon" rules:"len=..1000000,pattern=image"`
		// Each preview has at most 1 MiB; its base64 text is longer.
		PreviewImages []string          `json:"previewImages" rules:"len=..3" each:"len=..1398104,pattern=image"`
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
		icon, err := assetOf("icon", *r.Body.Icon)
		if err != nil {
			return schema.Integration{}, err
		}
		n.Icon = &icon
	}
	for i, image := range r.Body.PreviewImages {
		asset, err := assetOf(fmt.Sprintf("previewImages[%d]", i), image)
		if err != nil {
			return schema.Integration{}, err
		}
		n.PreviewImages = append(n.PreviewImages, asset)
	}
	row, err := h.store.PublishIntegration(ctx, c.Principal.UserID, *c.Organization, n)
	if err != nil {
		return schema.Integration{}, err
	}
	return h.view.Integration(row)
}

// assetOf returns the asset for an image in base64. It returns an error that names `field` if the image cannot be
// decoded.
func assetOf(field, encoded string) (store.IntegrationAsset, error) {
	image, mediaType, ok := encodeAgain(encoded)
	if !ok {
		return store.IntegrationAsset{}, schema.Invalid(field, "is not a whole image")
	}
	sum := sha256.Sum256(image)
	return store.IntegrationAsset{ID: hex.EncodeToString(sum[:16]), ContentType: mediaType, Content: image}, nil
}

type getIntegrationAssetRequest struct {
	Name  string `path:"integrationName"`
	Asset string `path:"assetId"`
}

func (h *integrations) asset(ctx context.Context, _ *access.Caller, r *getIntegrationAssetRequest) (frame.Encoded, error) {
	name, id := r.Name, r.Asset
	return frame.Encoded{
		Shared: &frame.Shared{Name: "asset " + name + " " + id, Load: func(ctx context.Context) (frame.Encoded, error) {
			asset, err := h.store.IntegrationAsset(ctx, name, id)
			return frame.Encoded{Body: asset.Content, ContentType: asset.ContentType, Header: map[string]string{
				// The URL contains a hash of the image, so its image never changes. Browsers must not treat the file as
				// anything other than an image.
				"Cache-Control": "public, max-age=31536000, immutable", "X-Content-Type-Options": "nosniff",
				"Content-Security-Policy": "default-src 'none'; sandbox",
			}}, err
		}},
	}, nil
}

// public answers at the addresses of integrations' scripts. The answer is the same for every name, so callers cannot
// learn which integrations exist. Only GET is answered. Requests with other methods, such as POST requests of webhooks,
// get 405.
func public(context.Context, *access.Caller, *struct{}) (schema.IntegrationPublicEndpoint, error) {
	return schema.IntegrationPublicEndpoint{Message: "This server does not run the scripts of integrations: none answers here."}, nil
}

func (h *integrations) assets(ctx context.Context, c *access.Caller, _ *struct{}) (schema.IntegrationAssets, error) {
	rows, err := h.store.IntegrationAssets(ctx, c.Integration.Name)
	if err != nil {
		return schema.IntegrationAssets{}, err
	}
	return h.view.IntegrationAssets(c.Integration.Name, rows), nil
}

func (h *integrations) unpublish(ctx context.Context, c *access.Caller, _ *struct{}) (frame.NoContent, error) {
	return frame.NoContent{}, h.store.UnpublishIntegration(ctx, c.Integration.Name)
}
