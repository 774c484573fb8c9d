package query

import (
	"context"
	"errors"
	"io"
	"net"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"

	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/schema/insights"
)

var (
	// errExact ends a query that must count exactly but does not have enough memory.
	errExact = errors.New("counting exactly takes too much memory")
	// errPage ends a query that must count exactly because the previous page did. Another counting method could return
	// the rows in another order.
	errPage = errors.New("counting exactly, as for the page before, takes too much memory")
	// errSessions ends a query whose join of sessions takes too much memory. Filters would not help, because a session
	// includes all of its events.
	errSessions = errors.New("joining sessions takes too much memory")
	// errSegments ends the last attempt to count segments, which reads a single day. The client cannot make this
	// request lighter. So the answer is a 503, not a 400.
	errSegments = errors.New("the visitors of a single day cannot be counted in time")
	// errSite ends a query whose site cannot be read. Without the site's settings, the answer might use a wrong time
	// zone.
	errSite = errors.New("cannot read the settings of the site")
	// errQueryTime ends a query that the engine did not end in time.
	errQueryTime = errors.New("the query ran too long")
	// errLarge ends a query whose answer is too large, and errLargeTogether a query of a batch whose answers are.
	errLarge         = errors.New("the answer is too large")
	errLargeTogether = errors.New("the answers of the batch are too large")
	// errTooLong refuses a statement that is too long to be sent.
	errTooLong = errors.New("the statement is too long")
)

const (
	tooHeavy   = "the query reads too much" // too_heavy.go adds advice
	tooLong    = "the query becomes too long a statement: use fewer filters, values or groups"
	tooWide    = "the query reads more sessions than fit into its memory: narrow the range, or leave out the columns of sessions"
	tooExact   = "counting visitors or sessions exactly needs more memory than a query has: narrow the range, add filters, or leave out accuracy"
	tooLate    = "counting exactly, as for the page before, needs more memory than a query has: narrow the range or add filters, and begin with the first page"
	tooLarge   = "the answer is too large: select fewer columns, lower the limit or add filters"
	tooMuch    = "the answers of the batch are too large together: send fewer queries, or select fewer columns"
	noMemory   = "the insights store has no memory free for this query: try again, or narrow its range"
	badPattern = "has a pattern that cannot be compiled: it repeats too much, or names a script that the engine does not know"
	retryAfter = 2 * time.Second
)

// ownLimits are the limits that end a query before the engine's limits do, with advice for the caller. If several
// apply, the caller gets the first advice.
var ownLimits = []struct {
	err    error
	advice string
}{
	{errSessions, tooWide}, // the advice of errExact would not make the join cheaper
	{errExact, tooExact},
	{errPage, tooLate},
	{errTooLong, tooLong},
	{errLarge, tooLarge},
	{errLargeTogether, tooMuch},
	{errQueryTime, tooHeavy},
}

// ranOut reports whether a query failed because its time ended.
func ranOut(err error) bool {
	e, ok := errors.AsType[*clickhouse.Exception](err)
	return errors.Is(err, errQueryTime) || ok && (e.Code == codeTimeout || e.Code == codeTooSlow)
}

// engineError turns an error of the engine or the connection into an error for the client. The engine's own text
// stays in the cause.
func engineError(ctx context.Context, err error) (*schema.Error, class) {
	if errors.Is(err, errSite) {
		return schema.Unavailable(err, retryAfter), classUnavailable
	}
	if errors.Is(err, errSegments) {
		return schema.Unavailable(err, retryAfter), classTooHeavy
	}
	for _, limit := range ownLimits {
		if errors.Is(err, limit.err) {
			return &schema.Error{Code: schema.CodeBadRequest, Message: limit.advice, Cause: err}, classTooHeavy
		}
	}
	if ctx.Err() != nil {
		// No client waits for the answer, or the node is stopping.
		return schema.Unavailable(err, retryAfter), classCanceled
	}
	if e, class := shed(err); e != nil {
		return e, class
	}
	if e, ok := errors.AsType[*schema.Error](err); ok {
		return e, classOf(e)
	}
	if e, ok := errors.AsType[*clickhouse.Exception](err); ok {
		if insights.IsDamage(e.Code, e.Message) {
			return schema.Damaged(schema.StoreEvents, err), classDamaged
		}
		switch e.Code {
		case codeTooDeep, codeTooBig:
			return &schema.Error{Code: schema.CodeBadRequest, Message: tooLong, Cause: err}, classTooHeavy
		case codeResultRows:
			return &schema.Error{Code: schema.CodeBadRequest, Message: tooLarge, Cause: err}, classTooHeavy
		case codeTooManyRows, codeTimeout, codeTooSlow, codeTooManyBytes:
			return &schema.Error{Code: schema.CodeBadRequest, Message: tooHeavy, Cause: err}, classTooHeavy
		case codeRegexp:
			return schema.Invalid("where", badPattern), classInvalid
		case codeMemory:
			if ownMemory(e) {
				return &schema.Error{Code: schema.CodeBadRequest, Message: tooHeavy, Cause: err}, classTooHeavy
			}
			e := schema.Unavailable(err, retryAfter)
			e.Message = noMemory
			return e, classUnavailable
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

// classOf returns the class of an error whose text clients may see. Such errors concern the site's pages or segments,
// or come from the store of pages and segments.
func classOf(e *schema.Error) class {
	switch {
	case e.Code < schema.CodeInternal:
		return classInvalid
	case schema.DamageOf(e) != nil:
		return classDamaged
	case e.RetryAfter > 0:
		return classUnavailable
	}
	return classInternal
}

// shed returns the error for a query that got no slot in time. For other errors it returns nil.
func shed(err error) (*schema.Error, class) {
	switch {
	case errors.Is(err, errOwnShare):
		e := schema.TooManyRequests("too many queries of this token or organization at once: "+
			"wait for their answers before you send more", retryAfter)
		e.Cause = err
		return e, classOverShare
	case errors.Is(err, errFull):
		return schema.Unavailable(err, retryAfter), classFull
	}
	return nil, ""
}
