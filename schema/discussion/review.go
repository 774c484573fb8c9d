package discussion

import (
	"time"

	"github.com/octavo-docs/octavo/schema"
)

// RequestedReviewer is a user who was asked to review a change request. Revision is the revision of the content at that
// time.
type RequestedReviewer struct {
	Object      string      `json:"object"`
	Kind        string      `json:"kind"`
	User        schema.User `json:"user"`
	Revision    string      `json:"revision"`
	RequestedBy schema.User `json:"requestedBy"`
	CreatedAt   time.Time   `json:"createdAt"`
}

// RequestedReviewers is the response to a client that requests reviews.
type RequestedReviewers struct {
	Users []RequestedReviewer `json:"users"`
}

// Review is a verdict on a change request. It is outdated if the content has changed since the review. It is also
// outdated if its author has reviewed again or was asked for another review.
type Review struct {
	Object      string       `json:"object"`
	ID          string       `json:"id"`
	Revision    string       `json:"revision"`
	Reviewer    schema.User  `json:"reviewer"`
	RequestedBy *schema.User `json:"requestedBy,omitzero"`
	Status      string       `json:"status" rules:"enum=reviewStatus"`
	Outdated    bool         `json:"outdated"`
	Comment     *Comment     `json:"comment,omitzero"`
	CreatedAt   time.Time    `json:"createdAt"`
	UpdatedAt   time.Time    `json:"updatedAt"`
	URLs        ReviewURLs   `json:"urls"`
}

// ReviewURLs are the addresses of a review.
type ReviewURLs struct {
	Location string `json:"location"`
}

// Location returns the Location header of the response that creates the review.
func (r Review) Location() string { return r.URLs.Location }
