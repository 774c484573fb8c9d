package deadletter

import (
	"fmt"
	"time"

	"github.com/cespare/xxhash/v2"
)

// Suffix is appended to the log's topic name to form the dead-letter topic's name.
const Suffix = ".dead"

// WholeMessage is the Index of a letter that contains a whole message of the log, and not one event of it.
const WholeMessage = -1

// maxError is the largest number of bytes of an error's text in a letter.
const maxError = 1000

// Letter is an event that the store refuses, or a message of the log that cannot be read.
type Letter struct {
	Topic     string    `json:"topic"`
	Partition int       `json:"partition"`
	Offset    int64     `json:"offset"`
	Index     int       `json:"index"` // index of the event in its message, or WholeMessage
	Site      string    `json:"site,omitempty"`
	Received  time.Time `json:"received,omitzero"`
	Reason    string    `json:"reason"` // a short word, which is also a label of the metrics
	Error     string    `json:"error"`
	// Message is a message of the log with only this event. For a message that cannot be read, it has the message's
	// bytes. It is nil if the dead-letter topic refuses a message of this size.
	Message []byte `json:"message,omitempty"`
	// Sum is a checksum. It distinguishes this message from a message at the same position of another log, for example
	// of a recreated topic.
	Sum string `json:"sum"`
}

// Key identifies a letter. Letters with equal keys are the same letter.
func (d *Letter) Key() string {
	return fmt.Sprintf("%d/%d/%d/%s", d.Partition, d.Offset, d.Index, d.Sum)
}

// Sum returns the Letter.Sum of a message that cannot be read.
func Sum(message []byte) string { return fmt.Sprintf("%016x", xxhash.Sum64(message)) }

// ErrorText returns the text of an error, for Letter.Error. It cuts off a long text.
func ErrorText(err error) string {
	text := err.Error()
	if len(text) > maxError {
		text = text[:maxError] + "…"
	}
	return text
}
