package main

import (
	"fmt"
	"regexp"
	"strings"
)

// kind is a kind of file or folder. The fields `stored`, `waiting` and `running` each have a list of words. Each word
// is a way of damage (ways.go).
type kind struct {
	name string
	// files is a pattern of paths below the data directory. The largest matching file or folder is damaged. The pattern
	// relation:NAME means the file of a Postgres table or index. For such a file, the way `swapped` exchanges it with
	// the file of another table.
	files   string
	stored  string // ways of damage while the node is stopped and all events are stored
	waiting string // ways of damage while the node is stopped and the log has events that are not stored
	running string // ways of damage while the node runs; afterwards the node restarts
}

const (
	all      = "flip zeros cut gone twice older swapped"
	segments = "kafka/broker/topics/*/*/*.log"
	journals = "kafka/broker/journal-*"
	gitCache = "git-cache"
	relation = "relation:"
	parts    = "clickhouse/store/store/*/*/[0-9]*_[0-9]*_[0-9]*_[0-9]*"
)

// kinds has a row for each kind of file of each engine.
var kinds = []kind{
	{"segment of the log", segments, all, all, "flip zeros cut gone"},
	{"summary of a segment", "kafka/broker/topics/*/*/*.summary", "flip gone swapped", "flip older", ""},
	{"journal of the log", journals, "flip zeros cut twice older", "flip cut gone older", "flip gone"},
	{"reserve of the log", "kafka/broker/ballast", "flip gone", "", ""},
	{"folder of a partition", "kafka/broker/topics/*/*", "gone twice older swapped", "gone older", "gone"},
	{"folder of a topic", "kafka/broker/topics/*", "gone twice", "gone", ""},
	{"folder of the log", "kafka", "gone older", "gone older", ""},

	{"data of a part", parts + "/data.bin", "flip zeros cut gone twice swapped", "", "flip gone"},
	{"marks of a part", parts + "/data.cmrk*", "flip cut gone", "", ""},
	{"checksums of a part", parts + "/checksums.txt", "flip cut gone swapped", "", ""},
	{"columns of a part", parts + "/columns.txt", "flip gone", "", ""},
	{"count of a part", parts + "/count.txt", "flip gone swapped", "", ""},
	{"primary key of a part", parts + "/primary.*idx", "flip cut gone swapped", "", ""},
	{"months of a part", parts + "/minmax_*.idx", "flip gone swapped", "", ""},
	{"visits of a part", parts + "/*.proj/data.bin", "flip gone", "", ""},
	{"folder of a part", parts, "gone twice swapped", "gone", "gone"},
	{"statement of a table", "clickhouse/store/store/*/*/events.sql", "flip cut gone", "", ""},
	{"folder of the insights store", "clickhouse", "gone older", "gone older", ""},

	{"table of pages", "relation:documents", all, "", "flip zeros"},
	{"table of tokens", "relation:tokens", "flip zeros cut gone older", "", "zeros"},
	{"index of pages", "relation:documents_pkey", "flip zeros cut gone swapped", "", ""},
	{"table of files", "relation:files", "flip zeros gone swapped", "", ""},
	{"bytes of files", "relation:files.toast", "flip zeros cut gone", "", ""},
	{"counts of rows", "relation:event_rows", "zeros older", "", ""},
	{"catalogue of Postgres", "relation:pg_class", "flip zeros gone", "", ""},
	{"control file of Postgres", "postgres/data/global/pg_control", "flip cut gone older", "", ""},
	{"names of Postgres's files", "postgres/data/base/*/pg_filenode.map", "flip gone", "", ""},
	{"commits of Postgres", "postgres/data/pg_xact/0000", "zeros gone older", "", ""},
	{"write-ahead log of Postgres", "postgres/data/pg_wal/0*", "zeros gone", "", ""},
	{"version of Postgres", "postgres/data/PG_VERSION", "flip gone", "", ""},
	{"settings of Postgres", "postgres/data/postgresql.conf", "zeros gone", "", ""},
	{"passwords of Postgres", "postgres/secrets.json", "flip gone", "", ""},
	{"folder of Postgres", "postgres", "gone older", "gone older", ""},

	{"baseline", "baseline", "flip gone", "", ""},
	{"passwords of engines", "logins.json", "flip cut gone", "", ""},
	{"ports of engines", "ports.json", "flip gone", "", ""},
	{"furthest time seen", "clock", "flip gone older", "", ""},
	{"counts of starts", "installation.json", "flip gone older", "", ""},
	{"inventory of Postgres", "postgres.inventory.json", "cut gone older", "", ""},
	{"cached Git repository", gitCache + "/*.pack", "flip zeros cut gone twice", "", "flip"},
}

// copies has the kinds of files that are damaged in a copy of the data directory. A node that has lost its events and
// its log is then repaired from this copy. The way `whole` leaves the copy undamaged.
var copies = []kind{
	{"copy of the insights store", "clickhouse", "whole older", "", ""},
	{"copy of a part's data", parts + "/data.bin", "flip", "", ""},
	{"copy of a part", parts, "gone", "", ""},
}

// Each constant is a state in which files are damaged.
const (
	stored   = "stored"
	waiting  = "waiting"
	running  = "running"
	repaired = "repaired" // a copy of the data directory is damaged, and then a node is repaired from it
)

// damageCase is a kind of file with a way of damage, and the state in which the file is damaged.
type damageCase struct {
	kind
	way, when string
}

func (c damageCase) String() string { return fmt.Sprintf("%s, %s, %s", c.name, c.way, c.when) }

// allCases lists the cases whose name matches a pattern.
func allCases(match *regexp.Regexp) (list []damageCase) {
	add := func(k kind, when, ways string) {
		for _, way := range strings.Fields(ways) {
			if c := (damageCase{k, way, when}); match.MatchString(c.String()) {
				list = append(list, c)
			}
		}
	}
	for _, k := range kinds {
		add(k, stored, k.stored)
		add(k, waiting, k.waiting)
		add(k, running, k.running)
	}
	for _, k := range copies {
		add(k, repaired, k.stored)
	}
	return list
}
