package audit

import (
	"context"
	"time"

	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/store/db"
	"github.com/octavo-docs/octavo/store/postgres"
)

// AuditFilter narrows a list of audit entries. A nil field does not filter.
type AuditFilter struct {
	// Actor is the id of a user or of another actor.
	Actor, Operation, ObjectType, ObjectID *string
	// Since is the first time of the range. Until is the first time after the range.
	Since, Until *time.Time
}

// AuditEntryCursor returns the cursor of an entry. The next page of a list begins after the cursor.
func AuditEntryCursor(entry schema.AuditEntry) postgres.Cursor[time.Time] {
	return postgres.Cursor[time.Time]{Key: entry.At, ID: entry.ID}
}

// ListAuditEntries lists the changes in an organization. The newest change is first. If `after` is set, the list
// continues after this cursor.
func (s *Log) ListAuditEntries(
	ctx context.Context, organizationID string, f AuditFilter, after *postgres.Cursor[time.Time], size int,
) (postgres.Page[schema.AuditEntry], error) {
	from, fromID, err := auditPlaceOf(after)
	if err != nil {
		return postgres.Page[schema.AuditEntry]{}, err
	}
	total, err := s.db.Planned.CountAuditEntries(ctx, db.CountAuditEntriesParams{
		OrganizationID: organizationID, Since: f.Since, Until: f.Until, Actor: f.Actor, Operation: f.Operation,
		ObjectType: f.ObjectType, ObjectID: f.ObjectID,
	})
	if err != nil {
		return postgres.Page[schema.AuditEntry]{}, postgres.Interpret(err, "audit log")
	}
	rows, err := s.db.Planned.ListAuditEntries(ctx, db.ListAuditEntriesParams{
		OrganizationID: organizationID, Since: f.Since, Until: f.Until, Actor: f.Actor, Operation: f.Operation,
		ObjectType: f.ObjectType, ObjectID: f.ObjectID, Before: from.Key, BeforeID: fromID,
		PageSize: postgres.PageSize(size),
	})
	if err != nil {
		return postgres.Page[schema.AuditEntry]{}, postgres.Interpret(err, "audit log")
	}
	return postgres.PageOf(auditEntries(rows), size, total), nil
}

// ListInstallationAuditEntries lists changes outside of all organizations, such as changes of users. The newest change
// is first. The result has no total number of entries.
func (s *Log) ListInstallationAuditEntries(
	ctx context.Context, after *postgres.Cursor[time.Time], size int,
) (postgres.Page[schema.AuditEntry], error) {
	from, fromID, err := auditPlaceOf(after)
	if err != nil {
		return postgres.Page[schema.AuditEntry]{}, err
	}
	rows, err := s.db.Queries.ListInstallationAuditEntries(ctx, db.ListInstallationAuditEntriesParams{
		Before: from.Key, BeforeID: fromID, PageSize: postgres.PageSize(size),
	})
	return postgres.PageOf(auditEntries(rows), size, 0), postgres.Interpret(err, "audit log")
}

// auditPlaceOf returns the time and the entry's id after which a list continues.
func auditPlaceOf(after *postgres.Cursor[time.Time]) (from postgres.Cursor[time.Time], id int64, err error) {
	if after == nil {
		return after.OrFirst(postgres.EndOfTime), 0, nil
	}
	id, ok := postgres.JobID(after.ID)
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
func (s *Log) AuditEntry(ctx context.Context, organizationID, id string) (schema.AuditEntry, error) {
	number, ok := postgres.JobID(id)
	if !ok {
		return schema.AuditEntry{}, schema.NotFound("audit entry")
	}
	row, err := s.db.Queries.AuditEntry(ctx, db.AuditEntryParams{ID: number, OrganizationID: organizationID})
	if err != nil {
		return schema.AuditEntry{}, postgres.Interpret(err, "audit entry")
	}
	return auditEntry(row), nil
}

// DeleteOldAuditEntries deletes entries that are older than the duration `kept`, up to a limited number. `more` is true
// if more such entries may exist.
func (s *Log) DeleteOldAuditEntries(ctx context.Context, kept time.Duration) (more bool, err error) {
	n, err := s.db.Queries.ForgetAuditEntries(ctx, db.ForgetAuditEntriesParams{
		Kept: postgres.Interval(kept), Most: postgres.PurgeRows,
	})
	return n == postgres.PurgeRows, postgres.Interpret(err, "audit log")
}

func auditEntry(row db.AuditLog) schema.AuditEntry {
	entry := schema.AuditEntry{
		Object: "audit-entry", ID: postgres.JobText(row.ID), At: row.At.UTC(), Action: row.Action,
		Operation: postgres.Deref(row.Operation),
		Actor: schema.AuditActor{
			Type: row.ActorType, ID: postgres.Deref(row.ActorID), DisplayName: postgres.Deref(row.ActorName),
		},
		RequestID: postgres.Deref(row.RequestID), Address: postgres.Deref(row.Address), Further: row.Further,
		Before: row.Before, After: row.After,
		Target: schema.AuditTarget{
			Type: row.ObjectType, ID: postgres.Deref(row.ObjectID), Organization: postgres.Deref(row.OrganizationID),
			Site: postgres.Deref(row.SiteID), Space: postgres.Deref(row.SpaceID),
		},
	}
	if row.TokenID != nil {
		entry.Token = &schema.AuditToken{ID: *row.TokenID, Kind: postgres.Deref(row.TokenKind)}
	}
	return entry
}
