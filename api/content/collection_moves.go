package content

import (
	"context"

	"github.com/octavo-docs/octavo/api/access"
	"github.com/octavo-docs/octavo/api/frame/rules"
	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/store"
)

type moveCollectionRequest struct {
	Body struct {
		Parent   schema.Opt[string] `json:"parent"`
		Position *struct {
			Before *contentPointer `json:"before"`
			After  *contentPointer `json:"after"`
		} `json:"position"`
	} `body:"json" rules:"some"`
}

// contentPointer names a space or a collection. Type is the name of the member that has the id.
type contentPointer struct {
	Type       *string `json:"type" rules:"required,enum=pointerType"`
	Space      *string `json:"space"`
	Collection *string `json:"collection"`
}

func (p *contentPointer) id() *string {
	if *p.Type == "space" {
		return p.Space
	}
	return p.Collection
}

func (p *contentPointer) neighbor(field string) *store.Neighbor {
	if p == nil {
		return nil
	}
	return &store.Neighbor{Type: *p.Type, ID: *p.id(), Field: field + "." + *p.Type}
}

func (r *moveCollectionRequest) Validate() []schema.Detail {
	var c rules.Checker
	if position := r.Body.Position; position != nil {
		checkPointer(&c, "position.before", position.Before)
		checkPointer(&c, "position.after", position.After)
	}
	return c.Details
}

func checkPointer(c *rules.Checker, field string, p *contentPointer) {
	if p != nil && p.id() == nil {
		c.Add(field+"."+*p.Type, "is required")
	}
}

// move requires the admin right on the collection. If the parent changes, it also requires the right to create in the
// new parent.
func (h *collections) move(ctx context.Context, c *access.Caller, r *moveCollectionRequest) (schema.Collection, error) {
	own := c.Collection.Collection
	move := store.Move{SetParent: r.Body.Parent.Set, ParentID: r.Body.Parent.Value}
	if position := r.Body.Position; position != nil {
		move.Before = position.Before.neighbor("position.before")
		move.After = position.After.neighbor("position.after")
	}
	if move.SetParent && schema.Or(move.ParentID, "") != schema.Or(own.ParentID, "") {
		if err := h.requireTarget(ctx, c, move.ParentID); err != nil {
			return schema.Collection{}, err
		}
	}
	if _, err := h.store.MoveCollection(ctx, own.OrganizationID, own.ID, move); err != nil {
		return schema.Collection{}, err
	}
	return h.read(ctx, c)
}

// requireTarget requires the right to create something in the new parent of the collection.
func (h *collections) requireTarget(ctx context.Context, c *access.Caller, parent *string) error {
	if parent == nil {
		return access.RightsOf(access.Access{Role: c.Collection.Role}).Require(access.RightCreate, "organization")
	}
	if !schema.ValidID(*parent) {
		return schema.NotFound("collection")
	}
	in, err := h.store.Collection(ctx, c.Principal.UserID, *parent)
	if err != nil {
		return err
	}
	if in.Collection.OrganizationID != c.Collection.Collection.OrganizationID {
		return schema.NotFound("collection")
	}
	return access.ContentRights(in.ContentAccess).Require(access.RightCreate, "collection")
}

type transferCollectionRequest struct {
	Body struct {
		Organization *string `json:"organization" rules:"required"`
	} `body:"json"`
}

func (h *collections) transfer(ctx context.Context, c *access.Caller, r *transferCollectionRequest) (schema.Collection, error) {
	if !schema.ValidID(*r.Body.Organization) {
		return schema.Collection{}, schema.NotFound("organization")
	}
	target, err := h.store.Orgs.Organization(ctx, c.Principal.UserID, *r.Body.Organization)
	if err == nil {
		err = c.KeepTo(target.Organization.ID, "organization")
	}
	if err != nil {
		return schema.Collection{}, err
	}
	if err := access.RightsOf(access.Access{Role: target.Role}).Require(access.RightCreate, "organization"); err != nil {
		return schema.Collection{}, err
	}
	own := c.Collection.Collection
	if _, err := h.store.TransferCollection(ctx, own.ID, own.OrganizationID, target.Organization.ID, c.Principal.UserID); err != nil {
		return schema.Collection{}, err
	}
	return h.read(ctx, c)
}
