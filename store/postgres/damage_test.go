package postgres

import (
	"fmt"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/octavo-docs/octavo/schema"
)

// TestDamageIsTold checks which of Postgres's error codes mean that data is damaged.
func TestDamageIsTold(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		code    string
		status  schema.Code
		damaged bool
	}{
		{"XX001", schema.CodeUnavailable, true}, // invalid page in block 2 of relation base/5/16384
		{"XX002", schema.CodeUnavailable, true}, // index "users_pkey" contains unexpected zero page
		{"58P01", schema.CodeUnavailable, true}, // could not open file "base/5/16384": No such file or directory
		{"58030", schema.CodeUnavailable, true}, // could not read block 2 in file "base/5/16384": Input/output error
		{"58000", schema.CodeUnavailable, false},
		{"53100", schema.CodeUnavailable, false}, // disk full
		{"57P03", schema.CodeUnavailable, false}, // the database system is starting up
		{"XX000", schema.CodeInternal, false},
		{"42703", schema.CodeInternal, false},
	} {
		err := Interpret(fmt.Errorf("cannot read: %w", &pgconn.PgError{Code: c.code, Message: "secret"}), "page")
		e := schema.AsError(err)
		if e.Code != c.status || (schema.DamageOf(err) != nil) != c.damaged || strings.Contains(e.Message, "secret") {
			t.Errorf("%s: %v", c.code, err)
		}
		if c.damaged != strings.HasPrefix(e.Message, "stored data is damaged: ") {
			t.Errorf("%s is answered %q", c.code, e.Message)
		}
	}
}
