package chserver

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/go-faster/city"
	"golang.org/x/sys/unix"
)

// insert is an INSERT whose rows arrive as blocks. All its blocks are written to a file in memory, and one statement
// inserts the rows of this file. The blocks cannot go into the statement's text, because the engine ends the data at
// the first blank line.
type insert struct {
	session *session
	target  *insertTarget
	columns []described // in the statement's order

	share share // reserved from Server.inserts
	file  *os.File
	limit int64
	size  int64
	rows  uint64
	hash  city.U128
	head  []byte // buffer for the bytes before a column's data
}

// beginInsert looks up the columns and creates the file.
func (s *session) beginInsert(target *insertTarget, q *query, limit int64, inserts *budget) (*insert, error) {
	var all []described
	err := s.with(q.settings, func() (err error) {
		all, err = s.describe("TABLE "+target.table, nil)
		return err
	})
	if err != nil {
		return nil, err
	}
	columns, err := insertColumns(all, target)
	if err != nil {
		return nil, err
	}
	in := &insert{session: s, target: target, columns: columns, limit: limit, share: share{budget: inserts}}
	if in.off(q, "low_cardinality_allow_in_native_format") {
		for i := range columns {
			columns[i].typ = withoutLowCardinality(columns[i].typ)
		}
	}
	fd, err := unix.MemfdCreate("octavo-insert", unix.MFD_CLOEXEC)
	if err != nil {
		return nil, fmt.Errorf("cannot create a file for the rows: %w", err)
	}
	in.file = os.NewFile(uintptr(fd), "octavo-insert")
	return in, nil
}

// insertColumns selects the columns that the statement names. If the statement names no columns, it selects all columns
// except columns that the engine computes.
func insertColumns(all []described, target *insertTarget) ([]described, error) {
	if target.columns == nil {
		var out []described
		for _, c := range all {
			if c.defaultKind != "MATERIALIZED" && c.defaultKind != "ALIAS" && c.defaultKind != "EPHEMERAL" {
				out = append(out, c)
			}
		}
		return out, nil
	}
	byName := make(map[string]described, len(all))
	for _, c := range all {
		byName[c.name] = c
	}
	out := make([]described, len(target.columns))
	for i, name := range target.columns {
		c, ok := byName[name]
		if !ok {
			return nil, refuse(codeNoSuchColumn, "No such column %s in table %s", name, target.table)
		}
		out[i] = c
	}
	return out, nil
}

// header returns an empty block that tells the client which columns to send.
func (in *insert) header() *block {
	b := &block{}
	for _, c := range in.columns {
		b.columns = append(b.columns, column{name: c.name, typ: c.typ})
	}
	return b
}

// add appends one block to the file. It does not retain b.
func (in *insert) add(b *block) error {
	in.rows += uint64(b.rows)
	coming := int64(0)
	for _, c := range b.columns {
		coming += int64(len(c.name) + len(c.typ) + len(c.data))
	}
	if err := in.share.cover(min(in.size+coming, in.limit)); err != nil {
		return err
	}
	in.head = appendBlockHead(in.head[:0], b, native)
	for _, c := range b.columns {
		in.head = appendColumnHead(in.head, c, native)
		for _, piece := range [][]byte{in.head, c.data} {
			if in.size += int64(len(piece)); in.size > in.limit {
				return refuse(codeMemoryLimit, "the blocks of an INSERT exceed the limit of %d bytes", in.limit)
			}
			in.hash = city.CH128Seed(piece, in.hash)
			if _, err := in.file.Write(piece); err != nil {
				return fmt.Errorf("cannot store the rows of an INSERT: %w", err)
			}
		}
		in.head = in.head[:0]
	}
	return nil
}

func (in *insert) close() error {
	in.share.release()
	return in.file.Close()
}

// run inserts all rows with the query's settings.
func (in *insert) run(q *query) (figures, error) {
	var total figures
	if in.rows == 0 {
		return total, nil
	}
	err := in.session.with(q.settings, func() error {
		started := time.Now()
		return in.session.readingRows(func() error {
			res, err := in.session.conn.call(in.session.conn.lib.query, in.text(q), "Native", q.params)
			if err != nil {
				return in.explain(err)
			}
			defer res.close()
			total.add(res, started)
			total.countReadAsWritten()
			return nil
		})
	})
	return total, err
}

const deduplicationToken = "insert_deduplication_token"

// text returns the INSERT statement that reads the rows from the file in memory.
func (in *insert) text(q *query) string {
	names, structure := make([]string, len(in.columns)), make([]string, len(in.columns))
	for i, c := range in.columns {
		names[i] = quoteIdentifier(c.name)
		structure[i] = names[i] + " " + c.typ
	}
	var settings []string
	if in.target.settings != "" {
		settings = append(settings, in.target.settings)
	}
	settings = append(settings, in.deduplication(q)...)
	clause := ""
	if len(settings) > 0 {
		clause = " SETTINGS " + strings.Join(settings, ", ")
	}
	return fmt.Sprintf("INSERT INTO %s (%s)%s SELECT %s FROM file('/proc/self/fd/%d', 'Native', %s)",
		in.target.table, strings.Join(names, ", "), clause, strings.Join(names, ", "), in.file.Fd(), quoteText(strings.Join(structure, ", ")))
}

// deduplication returns the settings with which the engine drops a repeated INSERT, as a server does. A server
// recognizes a repeated INSERT by a hash of its rows. For INSERT … SELECT the engine deduplicates only with a token. So
// the hash of the rows becomes the token. The settings that turn deduplication off do not apply to INSERT … SELECT
// either. So `deduplication` replaces them by the setting for INSERT … SELECT.
func (in *insert) deduplication(q *query) []string {
	if in.off(q, "insert_deduplicate") || in.setting(q, "deduplicate_insert") == "disable" {
		return []string{"deduplicate_insert_select = 'disable'"}
	}
	if in.setting(q, deduplicationToken) != "" {
		return nil
	}
	return []string{deduplicationToken + " = " + quoteText(in.token())}
}

// setting returns a setting's effective value without quotes. The statement's value has precedence, then the query's
// value, and then the session's value.
func (in *insert) setting(q *query, name string) string {
	value := in.session.own[name]
	for _, list := range [][]assignment{q.settings, outlineSet(&lexer{text: in.target.settings})} {
		for _, a := range list {
			if a.name == name {
				value = a.value
			}
		}
	}
	return strings.Trim(value, "'")
}

// off reports whether the query or the client has turned a setting off.
func (in *insert) off(q *query, name string) bool {
	value := strings.ToLower(in.setting(q, name))
	return value == "0" || value == "false"
}

func (in *insert) token() string {
	var sum [16]byte
	binary.LittleEndian.PutUint64(sum[:8], in.hash.Low)
	binary.LittleEndian.PutUint64(sum[8:], in.hash.High)
	return fmt.Sprintf("rows-%x", sum)
}

// explain removes the file's name from an error, because the file does not exist for the client.
func (in *insert) explain(err error) error {
	if e := (*exception)(nil); errors.As(err, &e) {
		clean := *e
		clean.message = strings.ReplaceAll(e.message, fmt.Sprintf("/proc/self/fd/%d", in.file.Fd()), "(blocks of the client)")
		return &clean
	}
	return err
}
