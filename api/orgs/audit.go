package orgs

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"github.com/octavo-docs/octavo/api/access"
	"github.com/octavo-docs/octavo/api/frame"
	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/store"
	"github.com/octavo-docs/octavo/store/audit"
	"github.com/octavo-docs/octavo/store/postgres"
)

// auditLog has the operations that read the audit log of an organization. No operation changes the log.
type auditLog struct{ store *store.Store }

func auditOperations(h *auditLog) []frame.Operation {
	return []frame.Operation{
		{
			Method: http.MethodGet, Path: "/orgs/{organizationId}/audit-log", ID: "listAuditLog", Tag: "audit",
			Doc:   "List who changed what in an organization, the newest first: one entry for each object that a change created, changed or deleted.",
			Scope: access.Having(access.RightAdmin, access.OnOrganization), Status: http.StatusOK, Handler: frame.Handle(h.list),
		},
		{
			Method: http.MethodGet, Path: "/orgs/{organizationId}/audit-log/{entryId}", ID: "getAuditLogEntry", Tag: "audit",
			Doc:   "Read one entry of the audit log.",
			Scope: access.Having(access.RightAdmin, access.OnOrganization), Status: http.StatusOK, Handler: frame.Handle(h.get),
		},
	}
}

type listAuditLogRequest struct {
	schema.PageRequest
	Actor      *string `query:"actor"`
	Operation  *string `query:"operation"`
	ObjectType *string `query:"objectType" rules:"enum=auditedObject"`
	ObjectID   *string `query:"objectId"`
	From       *string `query:"from" rules:"pattern=dateTime"`
	To         *string `query:"to" rules:"pattern=dateTime"`
}

func (h *auditLog) list(ctx context.Context, c *access.Caller, r *listAuditLogRequest) (schema.List[schema.AuditEntry], error) {
	organization := c.Organization.Organization.ID
	f := audit.AuditFilter{
		Actor: r.Actor, Operation: r.Operation, ObjectType: r.ObjectType, ObjectID: r.ObjectID,
		Since: schema.MomentOf(r.From), Until: schema.MomentOf(r.To),
	}
	name := fmt.Sprintf("audit log %s %q %q %q %q %q %q", organization, schema.Or(r.Actor, ""), schema.Or(r.Operation, ""),
		schema.Or(r.ObjectType, ""), schema.Or(r.ObjectID, ""), schema.Or(r.From, ""), schema.Or(r.To, ""))
	return frame.ListKeyed(ctx, name, r.PageRequest, 2,
		func(keys []string, size int) (postgres.Page[schema.AuditEntry], error) {
			after, err := postgres.ParseCursor[time.Time](keys)
			if err != nil {
				return postgres.Page[schema.AuditEntry]{}, err
			}
			return h.store.Audit.ListAuditEntries(ctx, organization, f, after, size)
		},
		func(entry schema.AuditEntry) schema.AuditEntry { return entry },
		func(entry schema.AuditEntry) []string { return audit.AuditEntryCursor(entry).Keys() })
}

type auditEntryRequest struct {
	ID string `path:"entryId"`
}

func (h *auditLog) get(ctx context.Context, c *access.Caller, r *auditEntryRequest) (schema.AuditEntry, error) {
	return h.store.Audit.AuditEntry(ctx, c.Organization.Organization.ID, r.ID)
}
