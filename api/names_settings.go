package api

import (
	"maps"

	"github.com/octavo-docs/octavo/schema"
)

func init() {
	maps.Copy(enums, schema.CustomizationEnums())
}
