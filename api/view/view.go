package view

import (
	"github.com/octavo-docs/octavo/schema"
)

// Presenter makes resources, as JSON shows them, and their `urls`.
type Presenter struct {
	schema.URLs
}
