package postgres

import (
	"context"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/octavo-docs/octavo/schema"
)

// Actor is whom a change is made for, as the audit log has it. Members with other characters than printable ASCII, and quotes and
// backslashes, lose them: the text goes into a statement.
type Actor struct {
	Type schema.AuditActorType `json:"type"`
	ID   string                `json:"id,omitempty"`
	// Name is that of an actor who is no user: the log finds the names of users.
	Name      string `json:"name,omitempty"`
	TokenID   string `json:"tokenId,omitempty"`
	TokenKind string `json:"tokenKind,omitempty"`
	Operation string `json:"operation,omitempty"`
	RequestID string `json:"requestId,omitempty"`
	Address   string `json:"address,omitempty"`
}

// Acting tells the actor when a change needs it: most calls change nothing.
type Acting interface{ Actor() Actor }

// Actor makes an Actor its own Acting.
func (a Actor) Actor() Actor { return a }

type actingKey struct{}

// By returns a context whose changes the audit log attributes to an actor.
func By(ctx context.Context, who Acting) context.Context {
	return context.WithValue(ctx, actingKey{}, who)
}

// setting is the text that audit_actor reads. It is "" without an actor.
func setting(ctx context.Context) string {
	who, ok := ctx.Value(actingKey{}).(Acting)
	if !ok {
		return ""
	}
	return who.Actor().setting()
}

// ActingUser is the user for whom a change is made; "" if it is not a user.
func ActingUser(ctx context.Context) string {
	who, ok := ctx.Value(actingKey{}).(Acting)
	if !ok {
		return ""
	}
	if a := who.Actor(); a.Type == schema.ActorUser {
		return a.ID
	}
	return ""
}

func (a Actor) setting() string {
	for _, member := range []*string{(*string)(&a.Type), &a.ID, &a.Name, &a.TokenID, &a.TokenKind, &a.Operation, &a.RequestID, &a.Address} {
		*member = plain(*member)
	}
	text, err := json.Marshal(a)
	if err != nil {
		return ""
	}
	return string(text)
}

// ActAs attributes the rest of a transaction to a user whom only the transaction has found out.
func ActAs(ctx context.Context, tx pgx.Tx, userID string) error {
	who, ok := ctx.Value(actingKey{}).(Acting)
	if !ok {
		return nil
	}
	a := who.Actor()
	a.Type, a.ID, a.Name = schema.ActorUser, userID, ""
	_, err := tx.Exec(ctx, "select set_config('octavo.actor', $1, true)", a.setting())
	return err
}

// plain drops what would need an escape in JSON or SQL.
func plain(text string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r > '~' || strings.ContainsRune(`'"\<>&`, r) {
			return -1
		}
		return r
	}, text)
}

// begin says how a transaction begins: with the actor, in the same round trip.
func begin(ctx context.Context) pgx.TxOptions {
	if said := setting(ctx); said != "" {
		return pgx.TxOptions{BeginQuery: "begin; set local octavo.actor = '" + said + "'"}
	}
	return pgx.TxOptions{}
}

// acting runs single statements for the actor of the context. One that may write is sent together with the actor, in one round trip
// and one transaction. Without an actor, and for selects, it is the pool.
type acting struct{ *pgxpool.Pool }

// Exec has the pool's parameters.
func (a acting) Exec(ctx context.Context, sql string, args ...any) (pgconn.CommandTag, error) {
	results := a.send(ctx, sql, args)
	if results == nil {
		return a.Pool.Exec(ctx, sql, args...)
	}
	tag, err := results.Exec()
	if closeErr := results.Close(); err == nil {
		err = closeErr
	}
	return tag, err
}

// Query has the pool's parameters.
func (a acting) Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error) {
	results := a.send(ctx, sql, args)
	if results == nil {
		return a.Pool.Query(ctx, sql, args...)
	}
	rows, err := results.Query()
	if err != nil {
		_ = results.Close() // The first error is the one to report.
		return rows, err
	}
	return &actingRows{Rows: rows, results: results}, nil
}

// QueryRow has the pool's parameters.
func (a acting) QueryRow(ctx context.Context, sql string, args ...any) pgx.Row {
	results := a.send(ctx, sql, args)
	if results == nil {
		return a.Pool.QueryRow(ctx, sql, args...)
	}
	return actingRow{results}
}

// SendBatch sends a batch with the actor before it.
func (a acting) SendBatch(ctx context.Context, b *pgx.Batch) pgx.BatchResults {
	said := setting(ctx)
	if said == "" {
		return a.Pool.SendBatch(ctx, b)
	}
	return a.sendAfter(ctx, said, b.QueuedQueries...)
}

// send sends a statement with the actor before it; nil says that it goes alone.
func (a acting) send(ctx context.Context, sql string, args []any) pgx.BatchResults {
	if reads(sql) {
		return nil
	}
	said := setting(ctx)
	if said == "" {
		return nil
	}
	return a.sendAfter(ctx, said, &pgx.QueuedQuery{SQL: sql, Arguments: args})
}

func (a acting) sendAfter(ctx context.Context, said string, queries ...*pgx.QueuedQuery) pgx.BatchResults {
	var all pgx.Batch
	all.Queue("select set_config('octavo.actor', $1, true)", said)
	all.QueuedQueries = append(all.QueuedQueries, queries...)
	results := a.Pool.SendBatch(ctx, &all)
	_, _ = results.Exec() // If this fails, all that follow fail with the same error.
	return results
}

// reads says whether a statement is a select, which writes nothing.
func reads(sql string) bool {
	for strings.HasPrefix(sql, "--") {
		_, sql, _ = strings.Cut(sql, "\n")
	}
	return strings.HasPrefix(sql, "select") || strings.HasPrefix(sql, "SELECT")
}

// actingRows gives the connection back at the end of the rows.
type actingRows struct {
	pgx.Rows
	results pgx.BatchResults
	err     error
}

// Next closes the rows after the last one, as those of the pool do.
func (r *actingRows) Next() bool {
	if r.Rows.Next() {
		return true
	}
	r.Close()
	return false
}

// Close ends the transaction: its error is that of the rows.
func (r *actingRows) Close() {
	if r.results != nil {
		r.Rows.Close()
		r.err = r.results.Close()
		r.results = nil
	}
}

// Err has the error of the end, too.
func (r *actingRows) Err() error {
	if err := r.Rows.Err(); err != nil {
		return err
	}
	return r.err
}

type actingRow struct{ results pgx.BatchResults }

// Scan reads the row and ends the transaction: a row of one that fails in the end was not written.
func (r actingRow) Scan(dest ...any) error {
	err := r.results.QueryRow().Scan(dest...)
	if closeErr := r.results.Close(); err == nil {
		err = closeErr
	}
	return err
}
