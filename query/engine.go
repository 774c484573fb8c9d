package query

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"

	"github.com/octavo-docs/octavo/schema/sqltree"
)

// cause adds the reason why the context ended to `err`.
func cause(ctx context.Context, err error) error {
	if c := context.Cause(ctx); c != nil {
		return fmt.Errorf("%w (%w)", err, c)
	}
	return err
}

// noDeadline hides a context's deadline. Otherwise clickhouse-go would set max_execution_time to five seconds more than
// this deadline.
type noDeadline struct{ context.Context }

func (noDeadline) Deadline() (time.Time, bool) { return time.Time{}, false }

// arguments returns a statement's parameters in the form that clickhouse-go takes.
func arguments(params []sqltree.Named) []any {
	list := make([]any, len(params))
	for i, p := range params {
		list[i] = clickhouse.Named(p.Name, argument(p.Value))
	}
	return list
}

func argument(value any) any {
	switch v := value.(type) {
	case sqltree.Tuple:
		return clickhouse.GroupSet{Value: v}
	case []any:
		list := make([]any, len(v))
		for i := range v {
			list[i] = argument(v[i])
		}
		return list
	}
	return value
}

// These are exception codes of the engine, from ClickHouse's ErrorCodes.cpp.
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
	codeSetSize            = 191
)

// ownMemory reports whether the query's own limit was exceeded. If the whole server's memory was full, a retry of the
// query may succeed.
func ownMemory(e *clickhouse.Exception) bool {
	return !strings.Contains(e.Message, "(total)") && !strings.Contains(e.Message, "(for user)")
}

// noTable reports whether the error says that a table is missing.
func noTable(err error) bool {
	e, ok := errors.AsType[*clickhouse.Exception](err)
	return ok && e.Code == codeNoTable
}

// outOfMemory reports whether a query exceeded its own memory limit.
func outOfMemory(err error) bool {
	e, ok := errors.AsType[*clickhouse.Exception](err)
	return ok && e.Code == codeMemory && ownMemory(e)
}

// tooManyInSet reports whether the result of a subquery after IN exceeded query.mostInSet.
func tooManyInSet(err error) bool {
	e, ok := errors.AsType[*clickhouse.Exception](err)
	return ok && e.Code == codeSetSize
}
