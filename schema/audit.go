package schema

import (
	"time"

	"github.com/go-json-experiment/json/jsontext"
)

// AuditActorType is the kind of an actor, such as a user or a job.
type AuditActorType string

// These are the types of actors. A token without a user, such as a site's key, is also an actor. The type of this actor
// is the kind of the token.
const (
	ActorUser AuditActorType = "user"
	// ActorOperator is somebody who runs a command on the server.
	ActorOperator AuditActorType = "operator"
	ActorJob      AuditActorType = "job"
	// ActorAnonymous is a caller without a token.
	ActorAnonymous AuditActorType = "anonymous"
	// ActorSystem is the service itself, for example when it deletes expired data.
	ActorSystem AuditActorType = "system"
)

// AuditActions returns the kinds of changes that the audit log records.
func AuditActions() []string { return []string{"create", "update", "delete"} }

// AuditEntry describes the effect of one committed change on one object.
type AuditEntry struct {
	Object string    `json:"object"`
	ID     string    `json:"id"`
	At     time.Time `json:"at"`
	Action string    `json:"action" rules:"enum=auditAction"`
	// Operation is the operationId of the request, the kind of the job, or the name of the command.
	Operation string      `json:"operation,omitempty"`
	Actor     AuditActor  `json:"actor"`
	Token     *AuditToken `json:"token,omitempty"`
	RequestID string      `json:"requestId,omitempty"`
	// Address is the IP address of the client.
	Address string      `json:"address,omitempty"`
	Target  AuditTarget `json:"target"`
	// Further is the number of objects that a very large statement changed and for which there are no entries. It is
	// set only in the last entry of such a statement.
	Further *int64 `json:"further,omitempty"`
	// Before and After have the changed members of the object. If a member is absent, it had no value. A created object
	// has no Before, and a deleted object has no After.
	Before jsontext.Value `json:"before,omitzero"`
	After  jsontext.Value `json:"after,omitzero"`
}

// AuditActor is the actor of a change, with the actor's name at the time of the change.
type AuditActor struct {
	Type        string `json:"type"`
	ID          string `json:"id,omitempty"`
	DisplayName string `json:"displayName,omitempty"`
}

// AuditToken is the token that made a change.
type AuditToken struct {
	ID   string `json:"id"`
	Kind string `json:"kind"`
}

// AuditTarget is the object that changed. It also names the object's organization, site or space.
type AuditTarget struct {
	Type         string `json:"type"`
	ID           string `json:"id,omitempty"`
	Organization string `json:"organization,omitempty"`
	Site         string `json:"site,omitempty"`
	Space        string `json:"space,omitempty"`
}
