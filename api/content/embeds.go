package content

import (
	"context"
	"net/http"
	"net/url"

	"github.com/octavo-docs/octavo/api/access"
	"github.com/octavo-docs/octavo/api/frame"
	"github.com/octavo-docs/octavo/api/remote/embed"
	"github.com/octavo-docs/octavo/api/remote/outbound"
	"github.com/octavo-docs/octavo/schema"
)

// embeds has the operations that return previews of addresses.
type embeds struct {
	// users loads pages from hosts of the public network, and from hosts that the operator has allowed. `readers` loads
	// pages only from hosts of the public network, because anybody can be a reader.
	users, readers *embed.Client
}

func newEmbeds(policy outbound.Policy) *embeds {
	return &embeds{
		users:   embed.New(outbound.New(outbound.Config{Policy: policy})),
		readers: embed.New(outbound.New(outbound.Config{})),
	}
}

func embedOperations(h *embeds) []frame.Operation {
	const doc = "Find how an address is shown in a page: as a link with the title of the page that is there, or, if that cannot be read, its host."
	return []frame.Operation{
		{
			Method: http.MethodGet, Path: "/spaces/{spaceId}/embed", ID: "getEmbedByUrlInSpace", Tag: "content", Doc: doc,
			Scope: access.Having(access.RightAccess, access.OnSpace).OrReaders(), Status: http.StatusOK, Handler: frame.Handle(h.find),
		},
		{
			Method: http.MethodGet, Path: "/urls/embed", ID: "getEmbedByUrl", Tag: "urls", Doc: doc,
			Scope: access.AnyUser(), Status: http.StatusOK, Handler: frame.Handle(h.find),
		},
	}
}

type embedRequest struct {
	URL *string `query:"url" rules:"required,len=1..2048,pattern=uri"`
}

func (h *embeds) find(ctx context.Context, c *access.Caller, r *embedRequest) (schema.Embed, error) {
	address, err := url.Parse(*r.URL)
	if err != nil {
		return schema.Embed{}, schema.Invalid("url", "must be an absolute http or https URL")
	}
	client := h.users
	if c.Reader != nil {
		client = h.readers
	}
	page := client.Find(ctx, address)
	return schema.Embed{Type: schema.EmbedLink, Title: page.Title, Site: page.Site, Icon: page.Icon}, nil
}
