package query

import (
	"context"
	"errors"
	"io"
	"net"
	"strconv"
	"strings"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"

	"github.com/octavo-docs/octavo/schema"
)

// at is the path of a member below a path; the root's path is empty.
func at(path, member string) string {
	if path == "" {
		return member
	}
	return path + "." + member
}

// nth is the path of an entry of the list at path.
func nth(path string, i int) string { return path + "[" + strconv.Itoa(i) + "]" }

// class says why a query failed, for metrics: a closed set.
type class string

// The classes of failed queries.
const (
	classInvalid     class = "invalid"     // the request is wrong
	classTooHeavy    class = "too_heavy"   // one of the query's own limits ended it
	classOverShare   class = "over_share"  // too many at once for its token or organization
	classFull        class = "full"        // too many at once on the node
	classUnavailable class = "unavailable" // the engine does not answer, or is full
	classCanceled    class = "canceled"    // the client has gone, or the node is stopping
	classInternal    class = "internal"    // a bug or an unknown error
)

// classes lists the closed set.
func classes() []class {
	return []class{classInvalid, classTooHeavy, classOverShare, classFull, classUnavailable, classCanceled, classInternal}
}

// Exception codes of the engine, from ClickHouse's ErrorCodes.cpp.
const (
	codeNoTable            = 60
	codeTooManyRows        = 158
	codeTimeout            = 159
	codeTooDeep            = 167
	codeTooBig             = 168
	codeTooSlow            = 160
	codeTooManySimult      = 202
	codeSocketTimeout      = 209
	codeNetwork            = 210
	codeMemory             = 241
	codeNoConnection       = 279
	codeTooManyBytes       = 307
	codeUnknownPacket      = 99
	codeResultRows         = 396
	codeCanceled           = 394
	codeKeeper             = 999
	codeNoSpace            = 243
	codeUnfinished         = 341
	codeAllReplicasAreLost = 415
	codeStaleReplicas      = 369
	codeNoReplica          = 225
	codeRegexp             = 427
)

var (
	// errExact ends a query that must be answered exactly and cannot be.
	errExact = errors.New("counting exactly takes too much memory")
	// errPage ends one that must be counted exactly because the page before was: counted
	// in another way, its rows would be in another order.
	errPage = errors.New("counting exactly, as for the page before, takes too much memory")
)

const (
	tooHeavy   = "the query reads too much" // too_heavy.go says what to change
	tooLong    = "the query becomes too long a statement: use fewer filters, values or groups"
	tooWide    = "the query reads more sessions than fit into its memory: narrow the range, or leave out the columns of sessions"
	tooExact   = "counting visitors or sessions exactly needs more memory than a query has: narrow the range, add filters, or leave out accuracy"
	tooLate    = "counting exactly, as for the page before, needs more memory than a query has: narrow the range or add filters, and begin with the first page"
	badPattern = "has a pattern that cannot be compiled: it repeats too much, or names a script that the engine does not know"
	retryAfter = 2 * time.Second
)

// ownLimits are the limits that end a query before the engine's do, with what its
// caller can do. Of several the first is told.
var ownLimits = []struct {
	err    error
	advice string
}{
	{errSessions, tooWide}, // errExact's advice does not make the join lighter
	{errExact, tooExact},
	{errPage, tooLate},
	{errTooLong, tooLong},
	{errQueryTime, tooHeavy},
}

// engineError turns an error of the engine or the connection into one that a
// client may see. The engine's own text stays in the cause.
func engineError(ctx context.Context, err error) (*schema.Error, class) {
	if errors.Is(err, errSegments) {
		return schema.Unavailable(err, retryAfter), classTooHeavy
	}
	for _, limit := range ownLimits {
		if errors.Is(err, limit.err) {
			return &schema.Error{Code: schema.CodeBadRequest, Message: limit.advice, Cause: err}, classTooHeavy
		}
	}
	if ctx.Err() != nil {
		// Nobody waits for the answer, or the node is stopping.
		return schema.Unavailable(err, retryAfter), classCanceled
	}
	if e, class := shed(err); e != nil {
		return e, class
	}
	if e, ok := errors.AsType[*clickhouse.Exception](err); ok {
		switch e.Code {
		case codeTooDeep, codeTooBig:
			return &schema.Error{Code: schema.CodeBadRequest, Message: tooLong, Cause: err}, classTooHeavy
		case codeTooManyRows, codeTimeout, codeTooSlow, codeTooManyBytes, codeResultRows:
			return &schema.Error{Code: schema.CodeBadRequest, Message: tooHeavy, Cause: err}, classTooHeavy
		case codeRegexp:
			return schema.Invalid("where", badPattern), classInvalid
		case codeMemory:
			if ownMemory(e) {
				return &schema.Error{Code: schema.CodeBadRequest, Message: tooHeavy, Cause: err}, classTooHeavy
			}
			return schema.Unavailable(err, retryAfter), classUnavailable
		case codeTooManySimult, codeSocketTimeout, codeNetwork, codeNoConnection, codeUnknownPacket, codeCanceled,
			codeKeeper, codeNoSpace, codeUnfinished, codeAllReplicasAreLost, codeStaleReplicas, codeNoReplica:
			return schema.Unavailable(err, retryAfter), classUnavailable
		}
		return schema.Internal(err), classInternal
	}
	var network net.Error
	if errors.As(err, &network) || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) ||
		errors.Is(err, net.ErrClosed) || errors.Is(err, clickhouse.ErrAcquireConnTimeout) || errors.Is(err, clickhouse.ErrAcquireConnNoAddress) ||
		errors.Is(err, clickhouse.ErrConnectionClosed) {
		return schema.Unavailable(err, retryAfter), classUnavailable
	}
	return schema.Internal(err), classInternal
}

// ownMemory reports whether the query's own limit was exceeded. A query that
// failed because the whole server is full may succeed when it is sent again.
func ownMemory(e *clickhouse.Exception) bool {
	return !strings.Contains(e.Message, "(total)") && !strings.Contains(e.Message, "(for user)")
}

// noTable reports whether a table is not there.
func noTable(err error) bool {
	e, ok := errors.AsType[*clickhouse.Exception](err)
	return ok && e.Code == codeNoTable
}

// outOfMemory reports whether a query exceeded its own memory limit.
func outOfMemory(err error) bool {
	e, ok := errors.AsType[*clickhouse.Exception](err)
	return ok && e.Code == codeMemory && ownMemory(e)
}
