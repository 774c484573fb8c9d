package chserver

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// session is one engine connection and its current settings. Settings of a query apply only to the query. A SET
// statement of the client applies to all later queries.
//
// A query's settings are reset before the next statement, in one statement together with the new settings. So no extra
// statement is needed for a client that sends equal limits with each query, as Octavo's client does. Every statement of
// a client must run inside session.with. Otherwise, the settings of an earlier query would apply to it.
type session struct {
	engine   *engine
	conn     *engineConn
	marker   string            // identifies this session's statement in system.processes
	own      map[string]string // the values of the client's SET statements, as literals by name
	passing  map[string]string // settings of the last query that are still set
	database string            // named in the greeting or the client's USE, as a quoted identifier
}

// baseline is set in every session, because the embedded library has other defaults for these settings than a server.
var baseline = map[string]string{
	"implicit_select":               "0", // otherwise, a mistyped keyword would be an expression
	"allow_introspection_functions": "0",
	"session_timezone":              quoteText(timezone),
}

// markerSetting is the setting whose value begins with the session's marker. So the marker is visible in
// system.processes, where the server finds the statement to kill. The engine has no
// query log, so it does not use the setting otherwise.
const markerSetting = "log_comment"

// openSession opens a session in the database.
func (e *engine) openSession(database string) (*session, error) {
	s := &session{engine: e, marker: e.nextMarker(), own: map[string]string{}, passing: map[string]string{}, database: quoteIdentifier(database)}
	return s, s.open()
}

func (s *session) open() error {
	conn, err := s.engine.lib.open(s.engine.args)
	if err != nil {
		return err
	}
	s.conn = conn
	clear(s.passing)
	settings := make([]assignment, 0, len(baseline)+len(s.own)+1)
	for name, value := range baseline {
		settings = append(settings, assignment{name, value})
	}
	for name, value := range s.own {
		settings = append(settings, assignment{name, value})
	}
	settings = append(settings, assignment{markerSetting, quoteText(s.marker)})
	if err = s.exec("SET ROLE " + roleWire); err == nil {
		err = s.set(settings)
	}
	if err == nil {
		err = s.exec("USE " + s.database)
	}
	if err != nil {
		s.close()
	}
	return err
}

func (s *session) close() {
	if s.conn != nil {
		s.conn.close()
		s.conn = nil
	}
}

// reopen replaces the engine connection of a session whose settings or role cannot be reset. Temporary tables are lost.
func (s *session) reopen() error {
	s.close()
	return s.open()
}

// readingRows runs f with the right to read files. If the right cannot be
// revoked afterwards, the session is replaced.
func (s *session) readingRows(f func() error) error {
	if err := s.exec("SET ROLE " + roleWire + ", " + roleRows); err != nil {
		return err
	}
	err := f()
	if roleErr := s.exec("SET ROLE " + roleWire); roleErr != nil {
		s.engine.log.Warn("A session was replaced: its right to read files could not be revoked.", "error", roleErr)
		if openErr := s.reopen(); openErr != nil {
			return errors.Join(err, fmt.Errorf("cannot revoke the right to read files: %w", openErr))
		}
	}
	return err
}

// exec runs one of the server's own statements and ignores its result.
func (s *session) exec(text string, params ...param) error {
	res, err := s.conn.call(s.conn.lib.query, text, "Native", params)
	if err != nil {
		return err
	}
	res.close()
	return nil
}

// set applies all assignments or none.
func (s *session) set(settings []assignment) error {
	if len(settings) == 0 {
		return nil
	}
	text := make([]string, len(settings))
	for i, a := range settings {
		text[i] = a.name + " = " + a.value
	}
	return s.exec("SET " + strings.Join(text, ", "))
}

// with runs f with the query's settings, and without the settings of earlier queries.
func (s *session) with(settings []assignment, f func() error) error {
	if err := s.enter(settings); err != nil {
		return err
	}
	return f()
}

// enter replaces the settings of the last query by the settings of the next query.
func (s *session) enter(settings []assignment) error {
	wanted := make(map[string]string, len(settings))
	for _, a := range settings {
		switch a.name {
		case "profile":
			return refuse(codeNotImplemented, "Setting profile cannot be changed by a query of the embedded engine")
		case markerSetting:
			plain, err := unquoteDump(a.value)
			if err != nil {
				return err
			}
			a.value = quoteText(s.marker + " " + plain)
		}
		wanted[a.name] = a.value
	}
	var resets, changes []assignment
	for name := range s.passing {
		if _, ok := wanted[name]; !ok {
			resets = append(resets, assignment{name, s.usual(name)})
		}
	}
	for name, value := range wanted {
		if s.passing[name] != value {
			changes = append(changes, assignment{name, value})
		}
	}
	err := s.set(slices.Concat(resets, changes))
	// Find out which step failed: the reset of the old settings, or the SET of the new settings.
	if err != nil && len(resets) > 0 {
		if resetErr := s.set(resets); resetErr != nil {
			s.engine.log.Warn("A session was replaced: its settings could not be reset.", "error", resetErr)
			if openErr := s.reopen(); openErr != nil {
				return fmt.Errorf("cannot reset the settings of a query: %w", openErr)
			}
			err = s.set(changes)
		}
	}
	for _, a := range resets {
		delete(s.passing, a.name)
	}
	if err != nil {
		return err // none of the query's settings was applied
	}
	for _, a := range changes {
		s.passing[a.name] = a.value
	}
	return nil
}

// usual returns the value that a setting has between queries.
func (s *session) usual(name string) string {
	if name == markerSetting {
		return quoteText(s.marker)
	}
	if value, ok := s.own[name]; ok {
		return value
	}
	if value, ok := baseline[name]; ok {
		return value
	}
	return "DEFAULT"
}

// ran records the permanent effects of a client's statement on the session.
func (s *session) ran(st *statement) {
	switch st.kind { //nolint:exhaustive // other statements have no permanent effect
	case useDatabase:
		l := &lexer{text: st.text}
		l.next()
		s.database = strings.TrimSpace(st.text[l.pos:])
	case setSession:
		for _, a := range st.assignments {
			if a.name == markerSetting { // the client has set the marker's setting: reset it before the next statement
				s.passing[a.name] = a.value
				continue
			}
			delete(s.passing, a.name) // the setting now has the value of the SET statement
			if strings.EqualFold(a.value, "DEFAULT") {
				delete(s.own, a.name)
			} else {
				s.own[a.name] = a.value
			}
		}
	}
}

// described is one row of the result of DESCRIBE, which describes a column.
type described struct{ name, typ, defaultKind string }

// noLimits lifts the limits of the client's query for one of the server's own
// statements.
const noLimits = " SETTINGS max_result_rows = 0, max_result_bytes = 0, max_rows_to_read = 0, max_bytes_to_read = 0"

// describe runs a DESCRIBE statement. The DESCRIBE is part of a client's statement, so callers run `describe` inside
// session.with.
func (s *session) describe(what string, params []param) ([]described, error) {
	res, err := s.conn.call(s.conn.lib.query, "DESCRIBE "+what+noLimits, "Native", params)
	if err != nil {
		return nil, err
	}
	defer res.close()
	data := res.bytes()
	var out []described
	for src := (&source{buf: data, limit: len(data)}); src.pos < len(data); {
		b, err := readBlock(src, native)
		if err != nil {
			return nil, fmt.Errorf("cannot read the columns of %s: %w", what, err)
		}
		if len(b.columns) < 3 {
			return nil, fmt.Errorf("cannot read the columns of %s: DESCRIBE returned %d columns", what, len(b.columns))
		}
		var cells [3][]string // name, type, default_type
		for i := range cells {
			if cells[i], err = texts(b.columns[i].data, b.rows); err != nil {
				return nil, err
			}
		}
		for i := range b.rows {
			out = append(out, described{cells[0][i], cells[1][i], cells[2][i]})
		}
	}
	return out, nil
}

// texts copies the values of a String column.
func texts(data []byte, rows int) ([]string, error) {
	src, out := &source{buf: data, limit: len(data)}, make([]string, rows)
	for i := range out {
		n, err := src.size()
		if err != nil {
			return nil, err
		}
		if err := src.skip(n); err != nil {
			return nil, err
		}
		out[i] = string(data[src.pos-n : src.pos])
	}
	return out, nil
}
