package view

import (
	"github.com/octavo-docs/octavo/schema"
)

// Presenter builds the JSON form of resources and their `urls`.
type Presenter struct {
	schema.URLs
}
