package schema

import "time"

// Webhook is an address that receives the events of an organization.
type Webhook struct {
	Object      string `json:"object"`
	ID          string `json:"id"`
	URL         string `json:"url"`
	Description string `json:"description"`
	// Events has the types of events that the webhook receives. If the list is empty, the webhook receives all types,
	// including types that later versions add.
	Events []string `json:"events" each:"enum=webhookEvent"`
	// Active is true if the webhook receives events. Events that occur while Active is false are never sent.
	Active bool   `json:"active"`
	Status string `json:"status" rules:"enum=webhookStatus"`
	// DisabledAt and DisabledReason are set if Octavo has disabled the webhook because of failures.
	DisabledAt     *time.Time `json:"disabledAt,omitzero"`
	DisabledReason string     `json:"disabledReason,omitempty"`
	// Failures is the number of failed attempts since the last successful attempt. FailingSince is the time of the
	// first of these attempts. No events are sent before HeldUntil.
	Failures     int32      `json:"failures"`
	FailingSince *time.Time `json:"failingSince,omitzero"`
	HeldUntil    *time.Time `json:"heldUntil,omitzero"`
	// Secret is the key with which deliveries are signed. It is set only in the response to the request that made the
	// key.
	Secret string `json:"secret,omitempty"`
	// FormerSecretUntil is the time at which the previous secret expires.
	FormerSecretUntil *time.Time   `json:"formerSecretUntil,omitzero"`
	CreatedAt         time.Time    `json:"createdAt"`
	UpdatedAt         time.Time    `json:"updatedAt"`
	URLs              LocationURLs `json:"urls"`
}

// Location returns the Location header of the response that creates the webhook.
func (w Webhook) Location() string { return w.URLs.Location }

// These are the statuses of a webhook.
const (
	WebhookActive   = "active"
	WebhookPaused   = "paused"   // an admin has paused the webhook
	WebhookDisabled = "disabled" // Octavo has disabled the webhook
)

// WebhookStatuses returns the values of a webhook's `status`.
func WebhookStatuses() []string { return []string{WebhookActive, WebhookPaused, WebhookDisabled} }

// WebhookDelivery is the delivery of one event to one webhook.
type WebhookDelivery struct {
	Object  string `json:"object"`
	ID      string `json:"id"`
	Webhook string `json:"webhook"`
	// Event is the body of the delivery.
	Event    WebhookPayload `json:"event"`
	State    string         `json:"state" rules:"enum=webhookDeliveryState"`
	Attempts int32          `json:"attempts"`
	// Redelivers is the id of an earlier delivery. It is set if a user has requested that the event of that delivery is
	// sent again.
	Redelivers string `json:"redelivers,omitempty"`
	// NextAttemptAt is the earliest time at which a pending delivery is sent next.
	NextAttemptAt *time.Time `json:"nextAttemptAt,omitzero"`
	// LastAttempt is the outcome of the last attempt.
	LastAttempt *WebhookAttempt `json:"lastAttempt,omitzero"`
	CreatedAt   time.Time       `json:"createdAt"`
	FinishedAt  *time.Time      `json:"finishedAt,omitzero"`
	// Reason says why the delivery, or its last attempt, has failed.
	Reason string       `json:"reason,omitempty"`
	URLs   LocationURLs `json:"urls"`
}

// Location returns the Location header of the response that creates the delivery.
func (d WebhookDelivery) Location() string { return d.URLs.Location }

// WebhookAttempt is the outcome of an attempt to send an event.
type WebhookAttempt struct {
	At time.Time `json:"at"`
	// StatusCode is absent if there was no response.
	StatusCode *int32 `json:"statusCode,omitzero"`
	// Duration is the time that the attempt took, in milliseconds.
	Duration int32 `json:"duration"`
	// Response is the beginning of the response's body.
	Response string `json:"response,omitempty"`
}

// These are the states of a delivery.
const (
	DeliveryPending   = "pending"
	DeliveryDelivered = "delivered"
	DeliveryFailed    = "failed"
)

// WebhookDeliveryStates returns the values of a delivery's `state`.
func WebhookDeliveryStates() []string {
	return []string{DeliveryPending, DeliveryDelivered, DeliveryFailed}
}

// WebhookPayload is the body of a delivery. Every attempt sends the same id and the same bytes. The body identifies the
// event and its object. It does not contain their texts, because the receiver may not have the right to read them. A
// receiver with this right reads the texts from the API.
type WebhookPayload struct {
	ID        string    `json:"id"`
	Type      string    `json:"type"`
	CreatedAt time.Time `json:"createdAt"`
	// Organization is the id of the organization.
	Organization string `json:"organization"`
	// Actor is the user who made the change. It is absent if no user made the change.
	Actor *WebhookActor `json:"actor,omitzero"`
	// Data is the object of the event. It has urls.location, and the members that the event's type lists.
	Data map[string]any `json:"data"`
}

// WebhookActor is the user who made a change.
type WebhookActor struct {
	Object string `json:"object"`
	ID     string `json:"id"`
}
