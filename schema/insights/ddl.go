package insights

import (
	"fmt"
	"hash/fnv"
	"slices"
	"strconv"
	"strings"

	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/schema/sqltree"
)

// Table is the table that queries read and the sink writes.
const Table = "events"

// StatesTable returns the name of the table for aggregate states of these columns. The query service creates and fills
// the table (query/states.go). The name has a hash of the columns' definitions, because columns of another version may
// have other types.
func StatesTable(columns string) string {
	h := fnv.New64a()
	_, _ = h.Write([]byte(columns)) // Write of a hash never fails
	for _, c := range storedColumns() {
		_, _ = h.Write([]byte(c.Name + c.Type))
	}
	return fmt.Sprintf("octavo_states_%016x", h.Sum64())
}

// StatesTables is a pattern that matches the names that StatesTable returns.
const StatesTables = "^octavo_states_[0-9a-f]{16}$"

// OnDisk is a condition on system.parts that is true for every part. ClickHouse lists parts whose files it is removing
// only in statements that use the column _state. OnDisk makes it list these parts too.
const OnDisk = "_state != ''"

// These are the names of columns whose values come from the log message or the request, and not from the event itself.
// Partition, offset and index identify a row permanently.
const (
	ColumnSite      = "site"
	ColumnTime      = "time"
	ColumnPartition = "log_partition"
	ColumnOffset    = "log_offset"
	ColumnIndex     = "log_index"
	// ColumnReceived is the second of the message's arrival. An erasure deletes rows that arrived before the erasure.
	// The table is partitioned by the month of arrival. So an insert makes at most two parts, even if its events have
	// times in many months.
	ColumnReceived = "received"
	// ColumnEventKey has the publishable key with which an event was posted, and the key's generation.
	ColumnEventKey = "event_key"
)

// Topology says whether the events table is on one server or on a cluster, and whether the server supports Statistics.
type Topology struct {
	// Cluster is the cluster's name in the servers' configuration. It is "" for a single node.
	Cluster string
	// Statistics is true if the server makes statistics of every column by default. StatisticsSetting then turns them
	// off. Older servers do not know this setting, and would refuse it.
	Statistics bool
}

// StatisticsSetting is a setting of the table. Only servers with Statistics know it.
const StatisticsSetting = "auto_statistics_types"

// storedColumn is a column of the events table in the server's terms. Default is an expression. If it is "", the column
// has the type's default.
type storedColumn struct {
	Name, Type, Codec, Default string
}

// columnDefault returns the value for rows older than the column. The events of these rows have no place. The type's
// default 0 would mean the place at 0°, 0°.
func (wireDegrees) columnDefault() string { return "nan" }

// columnDefault returns the value for rows older than the column, which have no measured number.
func (wireMeasured) columnDefault() string { return strconv.Itoa(notMeasured) }

// columnDefault returns the value for rows older than the column, and for rows that an operator inserts by hand.
func (wireDoor) columnDefault() string { return sqltree.Quote(EventDoors.Word(doorAPI)) }

// storedColumns returns all columns of the events table.
func storedColumns() []storedColumn {
	list := []storedColumn{
		{Name: ColumnSite, Type: repeatedType, Codec: textCodec},
		{Name: ColumnPartition, Type: "UInt16", Codec: hashCodec},
		{Name: ColumnOffset, Type: "UInt64", Codec: "Delta, " + hashCodec},
		{Name: ColumnIndex, Type: "UInt16", Codec: "Delta, " + hashCodec},
		// Rows that an operator inserts by hand get the default.
		{Name: ColumnReceived, Type: "DateTime('UTC')", Codec: hashCodec, Default: "toStartOfDay(now('UTC'))"},
	}
	for _, f := range fields {
		c := storedColumn{Name: f.Name, Type: f.Type, Codec: f.Codec}
		if d, ok := f.wire.(interface{ columnDefault() string }); ok {
			c.Default = d.columnDefault()
		}
		list = append(list, c)
	}
	return list
}

// tableSetting is a setting of the table that contains the rows.
type tableSetting struct{ name, value string }

// tableSettings are set on the table, because ClickHouse's defaults changed between releases (field notes, §0.3). A
// window is the number of insert tokens that the server remembers, so that it can drop repeated inserts
// (ingest/DELIVERY.md). By default a single node remembers no tokens, and a cluster remembers the tokens of the last
// hour.
//
// With the four settings about fsync, an acknowledged insert survives a power cut. The files of the insert, its folder
// and their names are synced before the server answers. A merged part is synced too, because the replaced parts are
// deleted soon afterwards. The embedded engine deletes the replaced parts immediately.
//
// A past month gets no more rows, because rows are partitioned by arrival. A day after the end of a month, the engine
// merges the month's parts into one part. Fewer parts make queries cheaper: of each part, a query reads at least a
// granule of events, and opens the projection of visits.
var tableSettings = []tableSetting{
	{"index_granularity", "8192"},
	{"non_replicated_deduplication_window", "100000"},
	{"fsync_after_insert", "1"},
	{"fsync_part_directory", "1"},
	{"min_rows_to_fsync_after_merge", "1"},
	{"min_compressed_bytes_to_fsync_after_merge", "1"},
	{"min_age_to_force_merge_seconds", "86400"},
	{"min_age_to_force_merge_on_partition_only", "1"},
}

// clusterSettings are added on a cluster. On a cluster, Keeper stores the tokens for as long as the log stores its
// messages. Parts that a replica fetches are also synced.
var clusterSettings = []tableSetting{
	{"replicated_deduplication_window", "100000"},
	{"replicated_deduplication_window_seconds", "604800"},
	{"min_compressed_bytes_to_fsync_after_fetch", "1"},
}

// noStatistics turns statistics off. A query reads the statistics of each part before planning. For a small query over
// 14 parts of 300,000 events, this took more than half of the time. No plan became better because of the statistics.
var noStatistics = []tableSetting{{StatisticsSetting, "''"}}

func (t Topology) settings() []tableSetting {
	list := slices.Clip(tableSettings)
	if t.Cluster != "" {
		list = append(list, clusterSettings...)
	}
	if t.Statistics {
		list = append(list, noStatistics...)
	}
	return list
}

func settingsText(list []tableSetting) string {
	text := make([]string, len(list))
	for i, s := range list {
		text[i] = s.name + " = " + s.value
	}
	return strings.Join(text, ", ")
}

// These constants define the layout of the table that contains the rows, as the server writes them.
//
// Rows are partitioned by arrival. With partitions by event time, an import of many years would split every insert into
// one part for each month. The events of other sites in the same insert would be split too. Within a part, the primary
// key finds the hours of a site.
const (
	PartitionKey = "toYYYYMM(" + ColumnReceived + ")"
	PrimaryKey   = "(site, toStartOfHour(time))"
)

// SortKey sorts by hour, because queries select hours. Within an hour, the rows of a visit are neighbours, so that they
// compress best.
const SortKey = "(site, toStartOfHour(time), visitor, session, time)"

// A sink that takes over a log partition reads the newest positions of the partition's rows. With positionIndex,
// ClickHouse skips most old rows.
const positionIndex = "INDEX log_offset " + ColumnOffset + " TYPE minmax GRANULARITY 16"

// timeIndex lets a query about a few days skip the parts of other months.
const timeIndex = "INDEX time time TYPE minmax GRANULARITY 16"

// BaselineMark precedes the baseline's number in the comments of the events table and of LocalTable.
const BaselineMark = "octavo baseline "

var comment = "\nCOMMENT " + sqltree.Quote(BaselineMark+strconv.Itoa(schema.Baseline))

// CreateStatements returns the statements that create the events table, in order. It is safe to execute a statement
// again.
func CreateStatements(t Topology) []string {
	const create = "CREATE TABLE IF NOT EXISTS "
	body, layout := t.body(), t.layout()+comment
	if t.Cluster == "" {
		return []string{create + Table + " " + body + "\nENGINE = MergeTree\n" + layout}
	}
	cluster, local := sqltree.Ident(t.Cluster), t.LocalTable()
	on := " ON CLUSTER " + cluster
	path := "/clickhouse/tables/{shard}/{database}/" + local
	return []string{
		create + local + on + " " + body + "\nENGINE = ReplicatedMergeTree('" + path + "', '{replica}')\n" + layout,
		// All rows of a log partition are on the same shard. An insert has rows of only one partition, so a repeated
		// insert reaches the shard that remembers the insert's token, and this shard drops the repeat.
		create + Table + on + " AS " + local + "\nENGINE = Distributed(" + cluster +
			", currentDatabase(), " + local + ", " + ColumnPartition + ")" + comment,
	}
}

func (t Topology) body() string {
	columns := make([]string, 0, len(fields)+7)
	for _, c := range storedColumns() {
		columns = append(columns, "    "+c.definition())
	}
	columns = append(columns, "    "+positionIndex, "    "+timeIndex)
	if t.Cluster == "" {
		columns = append(columns, "    "+projected.definition())
	}
	return "(\n" + strings.Join(columns, ",\n") + "\n)"
}

func (t Topology) layout() string {
	return "PARTITION BY " + PartitionKey + "\nPRIMARY KEY " + PrimaryKey + "\nORDER BY " + SortKey + "\nSETTINGS " + settingsText(t.settings())
}

// LocalTable returns the name of the table that has the rows on each node.
func (t Topology) LocalTable() string {
	if t.Cluster == "" {
		return Table
	}
	return Table + "_local"
}

// UpgradeStatements returns the statements that give a table of an older version all storedColumns. `have` maps each
// column of the table to its type. `visits` has the names of the table's projections of visits. The statements add or
// widen columns and drop no column.
func UpgradeStatements(t Topology, have map[string]string, visits []string) []string {
	var changes, before []string
	after := ""
	for _, c := range storedColumns() {
		old, ok := have[c.Name]
		switch {
		case !ok:
			change := "ADD COLUMN IF NOT EXISTS " + c.definition()
			if after != "" {
				change += " AFTER " + sqltree.Ident(after)
			}
			changes = append(changes, change)
		case normalType(old) != normalType(c.Type):
			changes = append(changes, "MODIFY COLUMN "+c.definition())
			if projected.reads(c.Name) {
				before = DropVisits(visits...)
			}
		}
		after = c.Name
	}
	return append(before, t.alter(changes)...)
}

// alter returns the statements that apply changes to the columns.
func (t Topology) alter(changes []string) []string {
	if len(changes) == 0 {
		return nil
	}
	alter := " " + strings.Join(changes, ", ")
	if t.Cluster == "" {
		return []string{"ALTER TABLE " + Table + alter}
	}
	on := " ON CLUSTER " + sqltree.Ident(t.Cluster)
	// The columns of a distributed table have no codecs.
	plain := codecs.Replace(alter)
	return []string{"ALTER TABLE " + t.LocalTable() + on + alter, "ALTER TABLE " + Table + on + plain}
}

// SettingStatements returns the statements that bring an older table's settings up to date. `engine` is the value of
// engine_full of LocalTable in system.tables. The statements run on every replica, because servers do not replicate
// settings.
func SettingStatements(t Topology, engine string) []string {
	_, have, _ := strings.Cut(engine, " SETTINGS ")
	is := map[string]string{}
	for _, s := range strings.Split(have, ",") {
		name, value, _ := strings.Cut(s, "=")
		is[strings.TrimSpace(name)] = strings.Trim(strings.TrimSpace(value), "'")
	}
	var change []tableSetting
	for _, s := range t.settings() {
		// The granularity of an existing table cannot change.
		if value, ok := is[s.name]; (!ok || value != strings.Trim(s.value, "'")) && s.name != "index_granularity" {
			change = append(change, s)
		}
	}
	if len(change) == 0 {
		return nil
	}
	on := ""
	if t.Cluster != "" {
		on = " ON CLUSTER " + sqltree.Ident(t.Cluster)
	}
	return []string{"ALTER TABLE " + t.LocalTable() + on + " MODIFY SETTING " + settingsText(change)}
}

var codecs = strings.NewReplacer(" CODEC("+textCodec+")", "", " CODEC("+hashCodec+")", "", " CODEC(Delta, "+hashCodec+")", "")

func (c storedColumn) definition() string {
	text := sqltree.Ident(c.Name) + " " + c.Type
	if c.Default != "" {
		text += " DEFAULT " + c.Default
	}
	return text + " CODEC(" + c.Codec + ")"
}

// normalType returns a type without the spaces that the server adds.
func normalType(t string) string { return strings.ReplaceAll(t, " ", "") }

// clickHouseType returns the enumeration's column type: the words with their codes, and the empty text with the code 0
// for an absent value.
func (e *Enum) clickHouseType() string {
	var b strings.Builder
	b.WriteString("Enum8('' = 0")
	for i, w := range e.words {
		fmt.Fprintf(&b, ", %s = %s", sqltree.Quote(w), strconv.Itoa(i+1))
	}
	b.WriteString(")")
	return b.String()
}
