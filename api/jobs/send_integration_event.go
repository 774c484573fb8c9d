package jobs

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/store"
)

// Tunnels sends events of integrations in development mode to the tunnels of their developers. Users see the texts of
// its errors.
type Tunnels interface {
	Send(ctx context.Context, address string, event, environment []byte) (status int, err error)
}

// sendIntegrationEvent sends an event to its integration's tunnel. If the process ends before it has recorded the
// answer, the tunnel gets the event again, with the same id.
func sendIntegrationEvent(ctx context.Context, d Deps, args schema.SendIntegrationEvent) error {
	dispatch, err := d.Store.DispatchOf(ctx, args.Event)
	switch {
	case schema.IsCode(err, schema.CodeNotFound):
		return nil // The integration was deleted, or the event is too old to be listed.
	case err != nil:
		return err
	case schema.Or(dispatch.Event.Status, "") == schema.EventSuccess:
		return nil
	}
	note := func(status, level, message string) error {
		return d.Store.FinishIntegrationEvent(ctx, args.Event, status, schema.IntegrationEventLog{
			Message: message, Timestamp: time.Now().UTC(), Level: level,
		})
	}
	if dispatch.Tunnel == "" {
		return note(schema.EventFailed, "warn", "Not sent: development mode has ended.")
	}
	if d.Tunnels == nil {
		return GiveUp(&schema.Error{Code: schema.CodeUnavailable, Message: "the node that ran the job sends no events"})
	}
	environment, err := environmentOf(ctx, d, dispatch)
	if err != nil {
		return err
	}
	status, err := d.Tunnels.Send(ctx, dispatch.Tunnel, dispatch.Event.Payload, environment)
	switch {
	case err != nil:
	case status >= 200 && status <= 299:
		return note(schema.EventSuccess, "info", fmt.Sprintf("Sent to the tunnel, which answered %d.", status))
	case status == http.StatusNotAcceptable:
		return note(schema.EventSuccess, "info", "Sent to the tunnel. The integration does not handle this event.")
	default:
		err = fmt.Errorf("the tunnel answered %d", status)
	}
	failure := &schema.Error{Code: schema.CodeUnavailable, Message: err.Error(), Cause: err}
	if err := note(schema.EventFailed, "error", "Not sent: "+err.Error()+"."); err != nil {
		return errors.Join(failure, err)
	}
	switch {
	case status == http.StatusRequestTimeout || status == http.StatusTooManyRequests:
		return failure // The tunnel allows another attempt.
	case status >= 400 && status <= 499:
		return GiveUp(failure) // A retry would get the same answer.
	}
	return failure
}

// environmentOf builds the environment that the integration's script gets with the event. Its Secrets is empty, because
// the server never returns the secrets of an integration.
func environmentOf(ctx context.Context, d Deps, dispatch store.Dispatch) ([]byte, error) {
	name := dispatch.Integration.Name
	integration, err := d.View.Integration(dispatch.Integration)
	if err != nil {
		return nil, err
	}
	environment := schema.IntegrationEnvironment{
		APIEndpoint: d.View.Base(), Integration: integration, Secrets: map[string]string{},
	}
	if environment.APITokens.Integration, _, err = d.Store.CreateIntegrationToken(ctx, name, ""); err != nil {
		return nil, err
	}
	owner := dispatch.Integration.Owner.Organization.ID
	if environment.SigningSecrets.Integration, err = d.Store.IntegrationSigningSecret(ctx, name, owner); err != nil {
		return nil, err
	}
	if dispatch.Installation != nil {
		installation := *dispatch.Installation
		// The environment is for the integration itself, which may see its configuration.
		installation.Role = schema.RoleAdmin
		shown := d.View.Installation(installation)
		environment.Installation = &shown
		if environment.APITokens.Installation, _, err = d.Store.CreateIntegrationToken(ctx, name, installation.Row.ID); err != nil {
			return nil, err
		}
	}
	return schema.EncodeJSON(environment)
}
