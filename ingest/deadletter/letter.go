package deadletter

import (
	"fmt"
	"time"

	"github.com/cespare/xxhash/v2"
)

// Suffix is appended to the log's topic name to form the dead-letter topic's name.
const Suffix = ".dead"

// WholeMessage is the Index of a letter that has a whole message and not one event.
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
	Reason    string    `json:"reason"` // a short word, the same as the label of the metric
	Error     string    `json:"error"`
	// Message is a message of the log with only this event, or the unreadable bytes. It is nil if the topic does not
	// accept a message of this size.
	Message []byte `json:"message,omitempty"`
	// Sum is a checksum. It distinguishes the message from a message at the same position of another log.
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
