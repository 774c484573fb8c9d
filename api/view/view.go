package view

import (
	"github.com/octavo-docs/octavo/schema"
)

// links makes the `urls` of resources.
type Presenter struct {
	schema.URLs
}
