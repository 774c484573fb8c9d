package chserver

import (
	"bytes"
	"testing"
)

// TestSettingsOfAFailedQueryDoNotLeak uses the protocol directly. A leak is visible only on the same connection, but
// the client library closes a connection after a failed statement.
func TestSettingsOfAFailedQueryDoNotLeak(t *testing.T) {
	t.Parallel()
	p := sharedServer(t)
	for name, c := range map[string]struct {
		text     string
		settings [][2]string
	}{
		"failed":          {"SELECT nosuch", [][2]string{{"max_threads", "7"}}},
		"unknown setting": {"SELECT 1", [][2]string{{"max_threads", "7"}, {"no_such_setting", "1"}}},
		"bad value":       {"SELECT 1", [][2]string{{"max_threads", "7"}, {"max_block_size", "many"}}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			socket := dial(t, p)
			packets := append(malformed()["hello only"], 0)
			packets = appendQuery(packets, c.text, c.settings...)
			packets = appendQuery(packets, "SELECT throwIf(getSetting('max_threads') = 7, 'has leaked') AS fine")
			_, err := socket.Write(packets)
			must(t, err)
			var got []byte
			for part := make([]byte, 4096); !bytes.Contains(got, []byte("fine")) && !bytes.Contains(got, []byte("has leaked")); {
				n, err := socket.Read(part)
				if err != nil {
					t.Fatalf("%v after %q", err, got)
				}
				got = append(got, part[:n]...)
			}
			if !bytes.Contains(got, []byte("DB::Exception")) || bytes.Contains(got, []byte("has leaked")) {
				t.Errorf("got %q", got)
			}
		})
	}
}

// appendQuery appends a Query packet and the empty block after it.
func appendQuery(buf []byte, text string, settings ...[2]string) []byte {
	buf = append(buf, clientQuery, 0, 0) // no id, no client info
	for _, s := range settings {
		buf = appendText(append(appendText(buf, s[0]), 0), s[1])
	}
	buf = append(appendText(append(buf, 0, 0, 2, 0), text), 0) // no secret, stage complete, no compression; no parameters
	return appendBlock(append(buf, clientData, 0), &block{}, onWire)
}

// TestSetLogCommentDoesNotLeak checks that a client's SET does not change log_comment. The server uses this setting to
// find the statement to cancel.
func TestSetLogCommentDoesNotLeak(t *testing.T) {
	t.Parallel()
	db := fresh(t, single)
	const ask = "SELECT getSetting('log_comment')"
	usual := one[string](t, db, t.Context(), ask)
	must(t, db.Exec(t.Context(), "SET log_comment = 'mine'"))
	if got := one[string](t, db, t.Context(), ask); got != usual {
		t.Errorf("it is %q, was %q", got, usual)
	}
}
