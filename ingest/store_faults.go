package ingest

import (
	"context"
	"errors"
	"io"
	"net"
	"slices"
	"strings"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/column"
)

// storeFault is what a code of the server's error means for an insert: either
// it comes of what is in the rows, and will come again, or of the state that
// the store is in, which passes or is mended.
type storeFault struct {
	code   int32
	reason string // label of a metric, and of a dead letter
	rows   bool
}

// storeFaults are the codes with a meaning of their own. A code that is not
// here is one of state: to wait with events in the log is safe, to put them
// aside by mistake is not. So are those that would refuse every row alike (a
// column of another type): then the table is not what this version expects.
var storeFaults = []storeFault{
	{violatedConstraint, "constraint", true},
	{6, "value", true},        // CANNOT_PARSE_TEXT
	{26, "value", true},       // CANNOT_PARSE_QUOTED_STRING
	{27, "value", true},       // CANNOT_PARSE_INPUT_ASSERTION_FAILED
	{38, "value", true},       // CANNOT_PARSE_DATE
	{41, "value", true},       // CANNOT_PARSE_DATETIME
	{69, "value", true},       // ARGUMENT_OUT_OF_BOUND
	{70, "value", true},       // CANNOT_CONVERT_TYPE
	{72, "value", true},       // CANNOT_PARSE_NUMBER
	{128, "value", true},      // TOO_LARGE_ARRAY_SIZE
	{131, "value", true},      // TOO_LARGE_STRING_SIZE
	{321, "value", true},      // VALUE_IS_OUT_OF_RANGE_OF_DATA_TYPE
	{349, "value", true},      // CANNOT_INSERT_NULL_IN_ORDINARY_COLUMN
	{395, "value", true},      // FUNCTION_THROW_IF_VALUE_IS_NON_ZERO
	{407, "value", true},      // DECIMAL_OVERFLOW
	{691, "value", true},      // UNKNOWN_ELEMENT_OF_ENUM
	{252, "parts", false},     // TOO_MANY_PARTS
	{241, "memory", false},    // MEMORY_LIMIT_EXCEEDED
	{242, "read_only", false}, // TABLE_IS_READ_ONLY
	{164, "read_only", false}, // READONLY
	{243, "disk", false},      // NOT_ENOUGH_SPACE
	{75, "disk", false},       // CANNOT_WRITE_TO_FILE_DESCRIPTOR
	{76, "disk", false},       // CANNOT_OPEN_FILE
	{999, "keeper", false},    // KEEPER_EXCEPTION
	{225, "keeper", false},    // NO_ZOOKEEPER
	{319, "keeper", false},    // UNKNOWN_STATUS_OF_INSERT
	{285, "replicas", false},  // TOO_FEW_LIVE_REPLICAS
	{286, "replicas", false},  // UNSATISFIED_QUORUM_FOR_PREVIOUS_WRITE
	{279, "replicas", false},  // ALL_CONNECTION_TRIES_FAILED
	{159, "timeout", false},   // TIMEOUT_EXCEEDED
	{209, "timeout", false},   // SOCKET_TIMEOUT
	{394, "cancelled", false}, // QUERY_WAS_CANCELLED
	{202, "busy", false},      // TOO_MANY_SIMULTANEOUS_QUERIES
	{16, "schema", false},     // NO_SUCH_COLUMN_IN_TABLE
	{20, "schema", false},     // NUMBER_OF_COLUMNS_DOESNT_MATCH
	{53, "schema", false},     // TYPE_MISMATCH
	{60, "schema", false},     // UNKNOWN_TABLE
	{81, "schema", false},     // UNKNOWN_DATABASE
	{192, "access", false},    // UNKNOWN_USER
	{497, "access", false},    // ACCESS_DENIED
	{516, "access", false},    // AUTHENTICATION_FAILED
	{unknownSetting, "settings", false},
}

const (
	unknownSetting     = 115
	violatedConstraint = 469
)

var (
	otherFault       = storeFault{reason: "other"}
	timeoutFault     = storeFault{reason: "timeout"}
	unreachableFault = storeFault{reason: "unreachable"}
	// clientFault: the client could not put a value into a block.
	clientFault = storeFault{reason: "value", rows: true}
	// columnFault: it could put no value of ours there, whatever it is.
	columnFault = storeFault{reason: "schema"}
	// heldFault: the table is held for a moment, and no row is at fault.
	heldFault = storeFault{reason: "held"}
)

// heldBack tells the refusal of every row by heldConstraint from that of a row.
func heldBack(err error) bool {
	e, ok := errors.AsType[*clickhouse.Exception](err)
	return ok && e.Code == violatedConstraint && strings.Contains(e.Message, "`"+heldConstraint+"`")
}

// faultReasons are all that faultOf gives, of rows or of the store's state.
func faultReasons(rows bool) (list []string) {
	for _, f := range append([]storeFault{otherFault, timeoutFault, unreachableFault, clientFault, columnFault, heldFault}, storeFaults...) {
		if f.rows == rows && !slices.Contains(list, f.reason) {
			list = append(list, f.reason)
		}
	}
	return list
}

// badValue is an error of the client about a value of a row.
type badValue struct{ error }

func (e badValue) Unwrap() error { return e.error }

// faultOf tells what an error of a store means.
func faultOf(err error) storeFault {
	if _, ok := errors.AsType[badValue](err); ok {
		// A sink that is older than its table meets this while nodes are upgraded.
		if _, ok := errors.AsType[*column.ColumnConverterError](err); ok {
			return columnFault
		}
		return clientFault
	}
	if heldBack(err) {
		return heldFault
	}
	if e, ok := errors.AsType[*clickhouse.Exception](err); ok {
		for _, f := range storeFaults {
			if f.code == e.Code {
				return f
			}
		}
		return otherFault
	}
	if errors.Is(err, context.DeadlineExceeded) {
		return timeoutFault
	}
	if _, ok := errors.AsType[net.Error](err); ok || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return unreachableFault
	}
	return otherFault
}

// refusedRows reports whether an error of Insert comes of what is in the rows.
func refusedRows(err error) bool { return faultOf(err).rows }
