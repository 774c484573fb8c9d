package chserver

import (
	"encoding/binary"
	"regexp"
	"strings"
)

// query is a Query packet.
type query struct {
	id         string
	settings   []assignment // values as SQL literals
	compressed bool         // data in both directions is in compressed frames
	text       string
	params     []param
}

const customSetting = 0x02

func readQuery(r wireReader) (*query, error) {
	q := &query{}
	var err error
	if q.id, err = r.text(maxShortText); err != nil {
		return nil, err
	}
	if err := skipClientInfo(r); err != nil {
		return nil, err
	}
	if q.settings, err = readSettings(r); err != nil {
		return nil, err
	}
	if _, err := r.text(maxShortText); err != nil { // the hash of the interserver secret
		return nil, err
	}
	if _, err := r.uvarint(); err != nil { // the stage: the server always runs the whole query
		return nil, err
	}
	compressed, err := r.uvarint()
	if err != nil {
		return nil, err
	}
	q.compressed = compressed != 0
	if q.text, err = r.text(maxQueryText); err != nil {
		return nil, err
	}
	q.params, err = readParams(r)
	return q, err
}

func skipClientInfo(r wireReader) error {
	kind, err := r.ReadByte()
	if err != nil || kind == 0 { // there is no client info
		return err
	}
	text := func() error { _, err := r.text(maxShortText); return err }
	number := func() error { _, err := r.uvarint(); return err }
	skip := func(n int, one func() error) error {
		for range n {
			if err := one(); err != nil {
				return err
			}
		}
		return nil
	}
	if err := skip(3, text); err != nil { // initial user, query id, address
		return err
	}
	if err := r.skip(8); err != nil { // start time
		return err
	}
	transport, err := r.ReadByte()
	if err != nil {
		return err
	}
	if transport != 1 {
		return refuse(codeBadData, "the client info names transport %d, only TCP is supported", transport)
	}
	if err := skip(3, text); err != nil { // OS user, host, client name
		return err
	}
	if err := skip(3, number); err != nil { // version, revision
		return err
	}
	if err := skip(1, text); err != nil { // quota key
		return err
	}
	if err := skip(2, number); err != nil { // distributed depth, patch
		return err
	}
	traced, err := r.ReadByte()
	if err != nil {
		return err
	}
	if traced != 0 {
		if err := r.skip(24); err != nil { // trace and span id
			return err
		}
		if err := skip(1, text); err != nil { // trace state
			return err
		}
		if err := r.skip(1); err != nil { // trace flags
			return err
		}
	}
	return skip(3, number) // parallel replicas
}

// settingName is the regular expression for valid names of settings, so that a name cannot inject SQL into a SET.
var settingName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_.]*$`)

// readSettings reads pairs of a name and a value, up to an empty name. Values are plain text, but values of custom
// settings are literals.
func readSettings(r wireReader) ([]assignment, error) {
	var out []assignment
	for {
		name, flags, value, err := readPair(r, len(out))
		if err != nil || name == "" {
			return out, err
		}
		if !settingName.MatchString(name) {
			return nil, refuse(codeBadArguments, "%q is not the name of a setting", name)
		}
		if flags&customSetting != 0 {
			plain, err := unquoteDump(value)
			if err != nil {
				return nil, err
			}
			value = plain
		}
		out = append(out, assignment{name, quoteText(value)})
	}
}

// readParams reads typed parameters, which are sent like custom settings.
func readParams(r wireReader) ([]param, error) {
	var out []param
	for {
		name, _, value, err := readPair(r, len(out))
		if err != nil || name == "" {
			return out, err
		}
		plain, err := unquoteDump(value)
		if err != nil {
			return nil, err
		}
		out = append(out, param{name, plain})
	}
}

func readPair(r wireReader, before int) (name string, flags uint64, value string, err error) {
	if name, err = r.text(maxShortText); err != nil || name == "" {
		return "", 0, "", err
	}
	if before == maxListItems {
		return "", 0, "", refuse(codeBadArguments, "a query has more than %d settings or parameters", maxListItems)
	}
	if flags, err = r.uvarint(); err != nil {
		return "", 0, "", err
	}
	value, err = r.text(maxQueryText)
	return name, flags, value, err
}

var dumpEscapes = map[byte]byte{'n': '\n', 'r': '\r', 't': '\t', '0': 0, 'b': '\b', 'f': '\f', 'a': '\a', 'v': '\v'}

// unquoteDump decodes a custom value: a text in single quotes with backslash
// escapes.
func unquoteDump(dump string) (string, error) {
	if len(dump) < 2 || dump[0] != '\'' || dump[len(dump)-1] != '\'' {
		return "", refuse(codeBadArguments, "a parameter or custom setting must be sent as a quoted text")
	}
	body := dump[1 : len(dump)-1]
	if strings.IndexByte(body, '\\') < 0 {
		return body, nil
	}
	out := make([]byte, 0, len(body))
	for i := 0; i < len(body); i++ {
		c := body[i]
		if c == '\\' && i+1 < len(body) {
			i++
			c = body[i]
			if plain, ok := dumpEscapes[c]; ok {
				c = plain
			}
		}
		out = append(out, c)
	}
	return string(out), nil
}

// readDataName reads the name between a Data packet's code and its block. It is the name of an external table, or empty
// for the query's own data.
func readDataName(r wireReader) (string, error) { return r.text(maxShortText) }

// appendDataHead starts a Data packet.
func appendDataHead(buf []byte) []byte {
	return binary.AppendUvarint(append(buf, serverData), 0) // an empty name
}
