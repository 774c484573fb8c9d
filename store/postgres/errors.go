package postgres

import (
	"context"
	"errors"
	"io"
	"net"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/puddle/v2"

	"github.com/octavo-docs/octavo/schema"
)

// retryAfter is the time after which clients should retry while Postgres is unavailable. In this time, a restart or a
// failover can make progress.
const retryAfter = 2 * time.Second

// Interpret converts a driver's error to a schema.Error. No other function converts such errors. `what` is the object's
// name in the public message. The driver's error becomes the private cause, whose text is never part of a response.
func Interpret(err error, what string) error {
	if err == nil {
		return nil
	}
	if e, ok := errors.AsType[*schema.Error](err); ok {
		return e
	}
	if errors.Is(err, pgx.ErrNoRows) {
		return schema.NotFound(what)
	}
	if pgErr, ok := errors.AsType[*pgconn.PgError](err); ok {
		return interpretState(pgErr, what)
	}
	if isConnectionTrouble(err) {
		return schema.Unavailable(err, retryAfter)
	}
	return schema.Internal(err)
}

// interpretState converts an error by its SQLSTATE. It knows the SQLSTATEs that are caused by the request or by the
// current situation. Errors with other SQLSTATEs become internal errors:
// https://www.postgresql.org/docs/current/errcodes-appendix.html
func interpretState(err *pgconn.PgError, what string) error {
	switch err.Code {
	case "23505": // unique_violation
		e := schema.Conflict(what + " already exists")
		e.Cause = err
		return e
	case "23503": // foreign_key_violation: the object to which the request refers was deleted after the check
		e := schema.NotFound("object that the " + what + " refers to")
		e.Cause = err
		return e
	case "22021", "22P05": // a text that Postgres cannot store: U+0000, or invalid UTF-8
		e := schema.BadRequest("the request holds text that cannot be stored")
		e.Cause = err
		return e
	case "40001", "40P01", "55P03": // serialization failure, deadlock, lock not available: a retry can succeed
		return schema.Unavailable(err, time.Second)
	case "XX001", "XX002", "58030", "58P01": // data or an index is corrupted, a read failed, a file is missing
		return schema.Damaged(schema.StorePostgres, err)
	case "57014": // query_canceled: the statement timeout
		return schema.Unavailable(err, retryAfter)
	}
	switch class := err.Code[:min(2, len(err.Code))]; class {
	case "08", "53", "57", "58": // connection, resources, operator intervention (shutdown), system
		return schema.Unavailable(err, retryAfter)
	}
	return schema.Internal(err)
}

func isConnectionTrouble(err error) bool {
	if _, ok := errors.AsType[*pgconn.ConnectError](err); ok {
		return true
	}
	if _, ok := errors.AsType[net.Error](err); ok {
		return true
	}
	return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, net.ErrClosed) ||
		errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled) ||
		errors.Is(err, puddle.ErrClosedPool) || strings.Contains(err.Error(), "conn closed")
}
