package store

import (
	"context"
	"time"

	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/store/db"
)

// AuditFilter narrows a list of audit entries; nil members let everything through.
type AuditFilter struct {
	// Actor is the id of a user or of another actor.
	Actor, Operation, ObjectType, ObjectID *string
	// Since is the first time of the range, Until the one after the last.
	Since, Until *time.Time
}

// AuditEntryCursor is the place of an entry in a list.
func AuditEntryCursor(entry schema.AuditEntry) Cursor[time.Time] {
	return Cursor[time.Time]{entry.At, entry.ID}
}

// ListAuditEntries lists what changed in an organization, the newest first, after a cursor if there is one.
func (s *Store) ListAuditEntries(
	ctx context.Context, organizationID string, f AuditFilter, after *Cursor[time.Time], size int,
) (Page[schema.AuditEntry], error) {
	from, fromID, err := auditPlaceOf(after)
	if err != nil {
		return Page[schema.AuditEntry]{}, err
	}
	total, err := s.planned.CountAuditEntries(ctx, db.CountAuditEntriesParams{
		OrganizationID: organizationID, Since: f.Since, Until: f.Until, Actor: f.Actor, Operation: f.Operation,
		ObjectType: f.ObjectType, ObjectID: f.ObjectID,
	})
	if err != nil {
		return Page[schema.AuditEntry]{}, interpret(err, "audit log")
	}
	rows, err := s.planned.ListAuditEntries(ctx, db.ListAuditEntriesParams{
		OrganizationID: organizationID, Since: f.Since, Until: f.Until, Actor: f.Actor, Operation: f.Operation,
		ObjectType: f.ObjectType, ObjectID: f.ObjectID, Before: from.Key, BeforeID: fromID, PageSize: pageSize(size),
	})
	if err != nil {
		return Page[schema.AuditEntry]{}, interpret(err, "audit log")
	}
	return pageOf(auditEntries(rows), size, total), nil
}

// ListInstallationAuditEntries lists what changed in no organization, such as users, like ListAuditEntries, without their number.
func (s *Store) ListInstallationAuditEntries(ctx context.Context, after *Cursor[time.Time], size int) (Page[schema.AuditEntry], error) {
	from, fromID, err := auditPlaceOf(after)
	if err != nil {
		return Page[schema.AuditEntry]{}, err
	}
	rows, err := s.queries.ListInstallationAuditEntries(ctx, db.ListInstallationAuditEntriesParams{
		Before: from.Key, BeforeID: fromID, PageSize: pageSize(size),
	})
	return pageOf(auditEntries(rows), size, 0), interpret(err, "audit log")
}

// auditPlaceOf gives the place that a list goes on after.
func auditPlaceOf(after *Cursor[time.Time]) (from Cursor[time.Time], id int64, err error) {
	if after == nil {
		return after.orFirst(endOfTime), 0, nil
	}
	id, ok := jobID(after.ID)
	if !ok {
		return from, 0, schema.BadPage()
	}
	return *after, id, nil
}

func auditEntries(rows []db.AuditLog) []schema.AuditEntry {
	entries := make([]schema.AuditEntry, len(rows))
	for i, row := range rows {
		entries[i] = auditEntry(row)
	}
	return entries
}

// AuditEntry reads one entry of an organization.
func (s *Store) AuditEntry(ctx context.Context, organizationID, id string) (schema.AuditEntry, error) {
	number, ok := jobID(id)
	if !ok {
		return schema.AuditEntry{}, schema.NotFound("audit entry")
	}
	row, err := s.queries.AuditEntry(ctx, db.AuditEntryParams{ID: number, OrganizationID: organizationID})
	if err != nil {
		return schema.AuditEntry{}, interpret(err, "audit entry")
	}
	return auditEntry(row), nil
}

// DeleteOldAuditEntries deletes a bounded number of entries that are older than a time; more says that there may be others.
func (s *Store) DeleteOldAuditEntries(ctx context.Context, olderThan time.Time) (more bool, err error) {
	n, err := s.queries.ForgetAuditEntries(ctx, db.ForgetAuditEntriesParams{OlderThan: olderThan, Most: purgeRows})
	return n == purgeRows, interpret(err, "audit log")
}

func auditEntry(row db.AuditLog) schema.AuditEntry {
	entry := schema.AuditEntry{
		Object: "audit-entry", ID: jobText(row.ID), At: row.At.UTC(), Action: row.Action, Operation: deref(row.Operation),
		Actor:     schema.AuditActor{Type: row.ActorType, ID: deref(row.ActorID), DisplayName: deref(row.ActorName)},
		RequestID: deref(row.RequestID), Address: deref(row.Address), Further: row.Further, Before: row.Before, After: row.After,
		Target: schema.AuditTarget{
			Type: row.ObjectType, ID: deref(row.ObjectID), Organization: deref(row.OrganizationID), Site: deref(row.SiteID), Space: deref(row.SpaceID),
		},
	}
	if row.TokenID != nil {
		entry.Token = &schema.AuditToken{ID: *row.TokenID, Kind: deref(row.TokenKind)}
	}
	return entry
}
