package kafkaserver

import (
	"errors"
	"fmt"

	"github.com/octavo-docs/octavo/cmd/engine/kafkaserver/seglog"
)

// These are the protocol's error codes that the broker uses.
const (
	none                   int16 = 0
	errOffsetOutOfRange    int16 = 1
	errCorrupt             int16 = 2
	errUnknownTopic        int16 = 3
	errTooLarge            int16 = 10
	errInvalidTopic        int16 = 17
	errTooFewReplicas      int16 = 19
	errInvalidAcks         int16 = 21
	errSASLMechanism       int16 = 33
	errIllegalSASL         int16 = 34
	errUnsupportedVersion  int16 = 35
	errTopicExists         int16 = 36
	errInvalidPartitions   int16 = 37
	errInvalidReplication  int16 = 38
	errInvalidConfig       int16 = 40
	errInvalidRequest      int16 = 42
	errPolicy              int16 = 44 // POLICY_VIOLATION: the log is full
	errOutOfOrder          int16 = 45
	errDuplicate           int16 = 46
	errEpoch               int16 = 47
	errStorage             int16 = 56
	errSASLAuthentication  int16 = 58
	errInvalidRecord       int16 = 87
	errCoordinatorNotReady int16 = 15
)

// apiError is an error response: the protocol's code and its message.
type apiError struct {
	code    int16
	message string
}

func failed(code int16, format string, args ...any) *apiError {
	return &apiError{code, fmt.Sprintf(format, args...)}
}

// split returns the error code and the message, which are two fields of a response.
func (e *apiError) split() (int16, *string) {
	if e == nil {
		return none, nil
	}
	return e.code, &e.message
}

// logErrors maps the errors of a log to codes. codeOf uses the first row that matches.
var logErrors = []struct {
	err  error
	code int16
}{
	{seglog.ErrInvalid, errInvalidRecord},
	{seglog.ErrCorrupt, errCorrupt},
	{seglog.ErrOutOfOrder, errOutOfOrder},
	{seglog.ErrDuplicate, errDuplicate},
	{seglog.ErrEpoch, errEpoch},
	{seglog.ErrRange, errOffsetOutOfRange},
	{seglog.ErrClosed, errUnknownTopic},
	{seglog.ErrFull, errPolicy},
}

func codeOf(err error) int16 {
	if err == nil {
		return none
	}
	for _, row := range logErrors {
		if errors.Is(err, row.err) {
			return row.code
		}
	}
	return errStorage
}
