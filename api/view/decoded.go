package view

import (
	"fmt"

	"github.com/go-json-experiment/json"
)

// decoded reads what encoded wrote. That it cannot be read is a fault of ours, and the frame answers it as one.
func Decoded[T any](raw []byte) T {
	var value T
	if err := json.Unmarshal(raw, &value); err != nil {
		panic(fmt.Sprintf("BUG: stored JSON is no %T: %v", value, err))
	}
	return value
}
