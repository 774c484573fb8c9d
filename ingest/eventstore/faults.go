package eventstore

import (
	"context"
	"errors"
	"io"
	"net"
	"slices"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/column"

	"github.com/octavo-docs/octavo/schema/insights"
)

// Fault is the cause of a failed insert. If the inserted rows are at fault, every retry fails. If the state of the
// store is at fault, for example a full disk, a retry succeeds after this state has ended.
type Fault struct {
	Reason string // label of a metric and of a dead letter
	Rows   bool   // whether the inserted rows caused the error
}

// codeFaults maps error codes of the server to faults. Any other code counts as a fault of the store's state, so the
// events stay in the log and do not become dead letters by mistake. With some codes, the server would refuse every row,
// for example because a column has another type. The cause is a table that differs from the table that this version
// expects. So these codes also count as a fault of the store's state.
var codeFaults = []struct {
	code   int32
	reason string
	rows   bool
}{
	{469, "constraint", true},  // VIOLATED_CONSTRAINT
	{6, "value", true},         // CANNOT_PARSE_TEXT
	{26, "value", true},        // CANNOT_PARSE_QUOTED_STRING
	{27, "value", true},        // CANNOT_PARSE_INPUT_ASSERTION_FAILED
	{38, "value", true},        // CANNOT_PARSE_DATE
	{41, "value", true},        // CANNOT_PARSE_DATETIME
	{69, "value", true},        // ARGUMENT_OUT_OF_BOUND
	{70, "value", true},        // CANNOT_CONVERT_TYPE
	{72, "value", true},        // CANNOT_PARSE_NUMBER
	{128, "value", true},       // TOO_LARGE_ARRAY_SIZE
	{131, "value", true},       // TOO_LARGE_STRING_SIZE
	{321, "value", true},       // VALUE_IS_OUT_OF_RANGE_OF_DATA_TYPE
	{349, "value", true},       // CANNOT_INSERT_NULL_IN_ORDINARY_COLUMN
	{395, "value", true},       // FUNCTION_THROW_IF_VALUE_IS_NON_ZERO
	{407, "value", true},       // DECIMAL_OVERFLOW
	{691, "value", true},       // UNKNOWN_ELEMENT_OF_ENUM
	{252, "parts", false},      // TOO_MANY_PARTS
	{241, MemoryReason, false}, // MEMORY_LIMIT_EXCEEDED
	{242, "read_only", false},  // TABLE_IS_READ_ONLY
	{164, "read_only", false},  // READONLY
	{243, "disk", false},       // NOT_ENOUGH_SPACE
	{75, "disk", false},        // CANNOT_WRITE_TO_FILE_DESCRIPTOR
	{76, "disk", false},        // CANNOT_OPEN_FILE
	{999, "keeper", false},     // KEEPER_EXCEPTION
	{225, "keeper", false},     // NO_ZOOKEEPER
	{319, "keeper", false},     // UNKNOWN_STATUS_OF_INSERT
	{285, "replicas", false},   // TOO_FEW_LIVE_REPLICAS
	{286, "replicas", false},   // UNSATISFIED_QUORUM_FOR_PREVIOUS_WRITE
	{279, "replicas", false},   // ALL_CONNECTION_TRIES_FAILED
	{159, "timeout", false},    // TIMEOUT_EXCEEDED
	{209, "timeout", false},    // SOCKET_TIMEOUT
	{394, "cancelled", false},  // QUERY_WAS_CANCELLED
	{202, "busy", false},       // TOO_MANY_SIMULTANEOUS_QUERIES
	{16, "schema", false},      // NO_SUCH_COLUMN_IN_TABLE
	{20, "schema", false},      // NUMBER_OF_COLUMNS_DOESNT_MATCH
	{53, "schema", false},      // TYPE_MISMATCH
	{60, "schema", false},      // UNKNOWN_TABLE
	{81, "schema", false},      // UNKNOWN_DATABASE
	{192, "access", false},     // UNKNOWN_USER
	{497, "access", false},     // ACCESS_DENIED
	{516, "access", false},     // AUTHENTICATION_FAILED
	{unknownSetting, "settings", false},
}

const unknownSetting = 115

// MemoryReason is the reason of a fault if the server has too little memory.
const MemoryReason = "memory"

// DamageReason is the reason of a fault if files of the server are damaged.
const DamageReason = "damaged"

var (
	otherFault       = Fault{Reason: "other"}
	timeoutFault     = Fault{Reason: "timeout"}
	unreachableFault = Fault{Reason: "unreachable"}
	// valueFault means that the driver could not encode a value.
	valueFault = Fault{Reason: "value", Rows: true}
	// damageFault means that the server's files are damaged.
	damageFault = Fault{Reason: DamageReason}
	// columnFault means that a column of the events table has a type that accepts no value of this version.
	columnFault = Fault{Reason: "schema"}
)

// Reasons returns the reasons of all faults that rows cause. If `rows` is false, it returns the reasons of all faults
// of the store's state.
func Reasons(rows bool) (list []string) {
	all := []Fault{otherFault, timeoutFault, unreachableFault, damageFault, valueFault, columnFault}
	for _, f := range codeFaults {
		all = append(all, Fault{f.reason, f.rows})
	}
	for _, f := range all {
		if f.Rows == rows && !slices.Contains(list, f.Reason) {
			list = append(list, f.Reason)
		}
	}
	return list
}

// badValue wraps the driver's error about a value that it cannot add to a column.
type badValue struct{ error }

func (e badValue) Unwrap() error { return e.error }

// FaultOf returns the fault of a Store's error.
func FaultOf(err error) Fault {
	if _, ok := errors.AsType[badValue](err); ok {
		// The column has another type. An upgrade can cause this if the sink is older than the events table.
		if _, ok := errors.AsType[*column.ColumnConverterError](err); ok {
			return columnFault
		}
		return valueFault
	}
	if e, ok := errors.AsType[*clickhouse.Exception](err); ok {
		if insights.IsDamage(e.Code, e.Message) {
			return damageFault
		}
		for _, f := range codeFaults {
			if f.code == e.Code {
				return Fault{f.reason, f.rows}
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
