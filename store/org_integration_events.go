package store

import (
	"context"
	"time"

	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/store/db"
	"github.com/octavo-docs/octavo/store/postgres"
)

// keptEvents is the largest number of stored events of one integration. Older events are deleted.
const keptEvents = 1000

// IntegrationEvent is a row of the table integration_events.
type IntegrationEvent = db.IntegrationEvent

// recordEvent records an event of an installation, in the transaction of the change. In development mode, a job sends
// the event to the integration's tunnel. Such an event is listed only after the first attempt to send it.
func recordEvent(ctx context.Context, q *db.Queries, i Installation, payload schema.IntegrationEventPayload) error {
	payload.EventID, payload.InstallationID = schema.NewID(), i.Row.ID
	to, err := q.IntegrationTunnel(ctx, i.Row.Integration)
	if err != nil {
		return postgres.Interpret(err, "integration")
	}
	event := db.InsertIntegrationEventParams{ID: payload.EventID, Integration: i.Row.Integration, InstallationID: i.Row.ID}
	var logs []schema.IntegrationEventLog
	sent := to.DevTunnel != nil && (to.DevAll || to.OrganizationID == i.Row.OrganizationID)
	if !sent {
		success := schema.EventSuccess
		event.Status = &success
		logs = append(logs, schema.IntegrationEventLog{
			Message: "Recorded. Scripts of integrations do not run on this server: in development mode, events are sent to the tunnel.", Timestamp: time.Now().UTC(), Level: "info",
		})
	}
	if event.Payload, err = postgres.ToJSON(payload); err != nil {
		return err
	}
	if event.Logs, err = postgres.ToJSON(postgres.NotNil(logs)); err != nil {
		return err
	}
	if err := q.InsertIntegrationEvent(ctx, event); err != nil {
		return postgres.Interpret(err, "event")
	}
	err = q.DeleteOldIntegrationEvents(ctx, db.DeleteOldIntegrationEventsParams{Integration: i.Row.Integration, Kept: keptEvents})
	if err != nil || !sent {
		return postgres.Interpret(err, "event")
	}
	return postgres.Enqueue(ctx, q, schema.SendIntegrationEvent{
		Organization: to.OrganizationID, Integration: i.Row.Integration, Event: event.ID,
	})
}

// ListIntegrationEvents lists the events of an integration, the newest first. `before` is the id of the previous page's
// last event, or "" for the first page.
func (s *Store) ListIntegrationEvents(
	ctx context.Context, name, before string, size int,
) (postgres.Page[IntegrationEvent], error) {
	total, err := s.db.Queries.CountIntegrationEvents(ctx, name)
	if err != nil {
		return postgres.Page[IntegrationEvent]{}, postgres.Interpret(err, "events")
	}
	rows, err := s.db.Queries.ListIntegrationEvents(ctx, db.ListIntegrationEventsParams{
		Integration: name, Before: before, PageSize: postgres.PageSize(size),
	})
	return postgres.PageOf(rows, size, total), postgres.Interpret(err, "events")
}

// IntegrationEvent reads an event. It returns not_found for an event that is not listed yet.
func (s *Store) IntegrationEvent(ctx context.Context, name, id string) (IntegrationEvent, error) {
	row, err := s.db.Queries.IntegrationEvent(ctx, db.IntegrationEventParams{Integration: name, ID: id})
	if err == nil && row.Status == nil {
		return row, schema.NotFound("event")
	}
	return row, postgres.Interpret(err, "event")
}

// Dispatch has the data that a job sends to an integration's tunnel.
type Dispatch struct {
	Event IntegrationEvent
	// Tunnel is the URL of the tunnel. It is "" if development mode has ended.
	Tunnel      string
	Integration Integration
	// Installation is nil if it was deleted.
	Installation *Installation
}

// DispatchOf reads the data that must be sent for an event. It returns not_found if the integration was deleted.
func (s *Store) DispatchOf(ctx context.Context, id string) (Dispatch, error) {
	event, err := s.db.Queries.IntegrationEventByID(ctx, id)
	if err != nil {
		return Dispatch{}, postgres.Interpret(err, "event")
	}
	to, err := s.db.Queries.IntegrationTunnel(ctx, event.Integration)
	if err != nil {
		return Dispatch{}, postgres.Interpret(err, "integration")
	}
	d := Dispatch{Event: event, Tunnel: postgres.Deref(to.DevTunnel)}
	if d.Integration, err = s.IntegrationByName(ctx, event.Integration); err != nil {
		return d, err
	}
	d.Integration.IsMember, d.Integration.Owner.Role = true, schema.RoleRead
	installation, err := s.InstallationOf(ctx, event.Integration, event.InstallationID)
	if schema.IsCode(err, schema.CodeNotFound) {
		return d, nil
	}
	d.Installation = &installation
	return d, err
}

// FinishIntegrationEvent records the result of sending an event.
func (s *Store) FinishIntegrationEvent(ctx context.Context, id, status string, logs ...schema.IntegrationEventLog) error {
	encoded, err := postgres.ToJSON(postgres.NotNil(logs))
	if err != nil {
		return err
	}
	return postgres.Interpret(s.db.Queries.FinishIntegrationEvent(ctx, db.FinishIntegrationEventParams{
		ID: id, Status: &status, Logs: encoded,
	}), "event")
}
