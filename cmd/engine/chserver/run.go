package chserver

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// answer receives a statement's blocks and figures. The type `conn` implements it.
type answer interface {
	block(b *block) error // b's bytes belong to the engine and are valid until block returns
	progress(total figures) error
	cancelled() bool
}

// codeCancelled is the engine's code for a statement that was killed.
const codeCancelled = 394

var errCancelled = refuse(codeCancelled, "Query was cancelled")

// run runs a statement that needs no rows from the client.
func (s *session) run(st *statement, q *query, to answer) (figures, error) {
	var total figures
	err := s.with(q.settings, func() error {
		err := s.runWith(st, q.params, to, &total)
		if err == nil {
			s.ran(st)
		}
		return err
	})
	return total, err
}

func (s *session) runWith(st *statement, params []param, to answer, total *figures) error {
	if st.kind == selection {
		err := s.runStreamed(st, params, to, total)
		if !errors.Is(err, errNotStreamable) {
			return err
		}
	}
	return s.runWhole(st, params, to, total)
}

// errNotStreamable means that the library cannot stream this statement, because it streams only plain SELECTs. The
// library reports this before it runs any part of the statement.
var errNotStreamable = errors.New("the statement cannot be streamed")

// runStreamed forwards a result block by block as the engine produces it.
func (s *session) runStreamed(st *statement, params []param, to answer, total *figures) error {
	lib, started := s.conn.lib, time.Now()
	stream, err := s.conn.call(lib.stream, st.text, "Native", params)
	if err != nil {
		if e := (*exception)(nil); errors.As(err, &e) && e.code == codeBadArguments && strings.HasPrefix(e.message, "Streaming query is not supported") {
			return errNotStreamable
		}
		return err
	}
	defer stream.close()
	for {
		chunk, err := s.conn.wrap(lib.streamFetch(s.conn.conn(), stream.handle))
		if err != nil {
			return err // the library has already closed the stream
		}
		last := len(chunk.bytes()) == 0
		if !last {
			total.add(chunk, started)
			err = forward(chunk.bytes(), to, total)
		}
		chunk.close()
		if last {
			break
		}
		if err == nil && to.cancelled() {
			err = errCancelled
		}
		if err != nil {
			lib.streamCancel(s.conn.conn(), stream.handle)
			return err
		}
	}
	total.settle(s.conn, started)
	if total.resultBlocks == 0 {
		return s.passHeader(st, params, to)
	}
	return nil
}

// runWhole runs a statement and gets its result in one piece.
func (s *session) runWhole(st *statement, params []param, to answer, total *figures) error {
	started := time.Now()
	res, err := s.conn.call(s.conn.lib.query, st.text, "Native", params)
	if err != nil {
		return err
	}
	defer res.close()
	total.add(res, started)
	if st.verb == "INSERT" {
		total.countReadAsWritten()
	}
	if len(res.bytes()) == 0 {
		return s.passHeader(st, params, to)
	}
	return forward(res.bytes(), to, total)
}

// forward passes all blocks of `data` to an answer.
func forward(data []byte, to answer, total *figures) error {
	for src := (&source{buf: data, limit: len(data)}); src.pos < len(data); {
		b, err := readBlock(src, native)
		if err != nil {
			return fmt.Errorf("cannot read a block from the engine: %w", err)
		}
		if total.resultBlocks == 0 {
			if err := to.block(b.header()); err != nil {
				return err
			}
		}
		total.resultBlocks++
		total.resultRows += uint64(b.rows)
		for _, c := range b.columns {
			total.resultBytes += uint64(len(c.data))
		}
		if err := to.block(b); err != nil {
			return err
		}
	}
	return to.progress(*total)
}

// passHeader sends the columns of a result without rows. Clients wait for the columns, but the library returns no block
// for an empty result.
func (s *session) passHeader(st *statement, params []param, to answer) error {
	if to.cancelled() {
		return errCancelled
	}
	var columns []column
	switch st.verb {
	case "SELECT", "WITH", "FROM", "(":
		rows, err := s.describe("("+st.text+")", params)
		if err != nil {
			return nil //nolint:nilerr // the statement has run and has no columns, for example WITH … INSERT
		}
		for _, row := range rows {
			columns = append(columns, column{name: row.name, typ: row.typ})
		}
	case "SHOW", "DESCRIBE", "DESC", "EXISTS", "EXPLAIN", "CHECK":
		var err error
		if columns, err = s.columnsOfEmpty(st.text, params); err != nil {
			return err
		}
	default:
		return nil
	}
	return to.block(&block{columns: columns})
}

// columnsOfEmpty runs a read-only statement a second time, in a format that
// includes the columns of an empty result.
func (s *session) columnsOfEmpty(text string, params []param) ([]column, error) {
	res, err := s.conn.call(s.conn.lib.query, text, "JSONCompact", params)
	if err != nil {
		return nil, err
	}
	defer res.close()
	var answer struct {
		Meta []struct {
			Name string `json:"name"`
			Type string `json:"type"`
		} `json:"meta"`
	}
	if err := json.Unmarshal(res.bytes(), &answer, jsontext.AllowInvalidUTF8(true)); err != nil {
		return nil, nil // the statement has no result
	}
	columns := make([]column, len(answer.Meta))
	for i, m := range answer.Meta {
		columns[i] = column{name: m.Name, typ: m.Type}
	}
	return columns, nil
}

// add adds the rows and bytes that a result reports.
func (f *figures) add(res *result, started time.Time) {
	f.rowsRead += res.conn.lib.storageRows(res.handle)
	f.bytesRead += res.conn.lib.storageBytes(res.handle)
	f.elapsedNanos = uint64(time.Since(started))
}

// settle corrects the figures of a streamed statement. A chunk's figures include only the rows that were read during
// its fetch. They do not include rows that the engine read ahead between fetches. So `settle` runs an empty statement,
// whose result has the sums of the connection's previous statement.
func (f *figures) settle(conn *engineConn, started time.Time) {
	res, err := conn.call(conn.lib.query, "", "Native", nil)
	if err != nil {
		return // The figures remain the sums over the chunks, which may be too low.
	}
	defer res.close()
	f.rowsRead = max(f.rowsRead, conn.lib.storageRows(res.handle))
	f.bytesRead = max(f.bytesRead, conn.lib.storageBytes(res.handle))
	f.elapsedNanos = uint64(time.Since(started))
}

// countReadAsWritten reports the read rows and bytes of an INSERT as written. The library does not report the rows that
// materialized views wrote.
func (f *figures) countReadAsWritten() {
	f.rowsWritten, f.bytesWritten = f.rowsRead, f.bytesRead
}
