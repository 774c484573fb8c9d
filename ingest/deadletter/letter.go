package deadletter

import (
	"fmt"
	"time"

	"github.com/cespare/xxhash/v2"
)

// Suffix is appended to the log's topic name to form the dead-letter topic's name.
const Suffix = ".dead"

// WholeMessage is the Index of a letter about a whole message.
const WholeMessage = -1

// maxError bounds the bytes of an error's text in a letter.
const maxError = 1000

// Letter is an event that the store refuses, or a message of the log that
// cannot be read.
type Letter struct {
	Topic     string    `json:"topic"`
	Partition int       `json:"partition"`
	Offset    int64     `json:"offset"`
	Index     int       `json:"index"` // index of the event in its message, or WholeMessage
	Site      string    `json:"site,omitempty"`
	Received  time.Time `json:"received,omitzero"`
	Reason    string    `json:"reason"` // a short word, equal to the metric's label
	Error     string    `json:"error"`
	// Message is a message of the log with only this event, or the unreadable bytes. It is nil if the topic does not
	// accept a message of this size.
	Message []byte `json:"message,omitempty"`
	// Sum distinguishes the message from a message of another log at the same position.
	Sum string `json:"sum"`
}

// Key identifies a letter. Letters with equal keys are the same letter.
func (d *Letter) Key() string {
	return fmt.Sprintf("%d/%d/%d/%s", d.Partition, d.Offset, d.Index, d.Sum)
}

// Sum is the Letter.Sum of a message that cannot be read.
func Sum(message []byte) string { return fmt.Sprintf("%016x", xxhash.Sum64(message)) }

// ErrorText is the Letter.Error of an error: its text, or the start of a long
// one.
func ErrorText(err error) string {
	text := err.Error()
	if len(text) > maxError {
		text = text[:maxError] + "…"
	}
	return text
}
