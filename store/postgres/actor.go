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

// Actor is the user or other actor of a change, for the audit log. Its fields become text of an SQL statement. So all
// characters except printable ASCII, and also quotes and backslashes, are removed from the fields.
type Actor struct {
	Type schema.AuditActorType `json:"type"`
	ID   string                `json:"id,omitempty"`
	// Name is the name of an actor who is not a user. The audit log reads the names of users from the table users.
	Name      string `json:"name,omitempty"`
	TokenID   string `json:"tokenId,omitempty"`
	TokenKind string `json:"tokenKind,omitempty"`
	Operation string `json:"operation,omitempty"`
	RequestID string `json:"requestId,omitempty"`
	Address   string `json:"address,omitempty"`
}

// Acting computes the actor only when a change needs it, because most calls change nothing.
type Acting interface{ Actor() Actor }

// Actor implements Acting by returning `a` itself.
func (a Actor) Actor() Actor { return a }

type actingKey struct{}

// By returns a context whose changes the audit log attributes to an actor.
func By(ctx context.Context, who Acting) context.Context {
	return context.WithValue(ctx, actingKey{}, who)
}

// setting returns the actor in the form that the Postgres function audit_actor reads. It returns "" if the context has
// no actor.
func setting(ctx context.Context) string {
	who, ok := ctx.Value(actingKey{}).(Acting)
	if !ok {
		return ""
	}
	return who.Actor().setting()
}

// ActingUser returns the id of the user who makes a change. It returns "" if the actor is not a user.
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

// ActAs makes a user the actor of the later statements of a transaction. Logins use it, because they know the user
// only after some statements.
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

// plain removes the characters that JSON or SQL would have to escape.
func plain(text string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r > '~' || strings.ContainsRune(`'"\<>&`, r) {
			return -1
		}
		return r
	}, text)
}

// begin returns options for a transaction. With these options, the statement that begins the transaction also sets
// the actor and the time limit.
func begin(ctx context.Context) pgx.TxOptions {
	query := "begin"
	if said := setting(ctx); said != "" {
		query += "; set local octavo.actor = '" + said + "'"
	}
	if limit := limitOf(ctx); limit != "" {
		query += "; set local statement_timeout = " + limit
	}
	return pgx.TxOptions{BeginQuery: query}
}

// acting runs single statements for the actor of the context. If a statement may write, acting sends it together with
// the actor, in one round trip and one transaction. If the context has a time limit, it sends the limit with every
// statement. A statement that needs neither an actor nor a limit goes directly to the pool.
type acting struct{ *pgxpool.Pool }

// Exec runs a statement for the actor. It has the parameters of pgxpool.Pool.Exec.
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

// Query runs a statement that returns rows, for the actor. It has the parameters of pgxpool.Pool.Query.
func (a acting) Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error) {
	results := a.send(ctx, sql, args)
	if results == nil {
		return a.Pool.Query(ctx, sql, args...)
	}
	rows, err := results.Query()
	if err != nil {
		_ = results.Close() // the caller gets the first error
		return rows, err
	}
	return &actingRows{Rows: rows, results: results}, nil
}

// QueryRow runs a statement that returns one row, for the actor. It has the parameters of pgxpool.Pool.QueryRow.
func (a acting) QueryRow(ctx context.Context, sql string, args ...any) pgx.Row {
	results := a.send(ctx, sql, args)
	if results == nil {
		return a.Pool.QueryRow(ctx, sql, args...)
	}
	return actingRow{results}
}

// SendBatch sends a batch, preceded by statements that set the actor and the time limit.
func (a acting) SendBatch(ctx context.Context, b *pgx.Batch) pgx.BatchResults {
	said, limit := setting(ctx), limitOf(ctx)
	if said == "" && limit == "" {
		return a.Pool.SendBatch(ctx, b)
	}
	return a.sendAfter(ctx, said, limit, b.QueuedQueries...)
}

// send sends a statement, preceded by statements that set the actor and the time limit. It returns nil if the statement
// needs neither an actor nor a limit.
func (a acting) send(ctx context.Context, sql string, args []any) pgx.BatchResults {
	limit := limitOf(ctx)
	if limit == "" && reads(sql) {
		return nil
	}
	said := setting(ctx)
	if said == "" && limit == "" {
		return nil
	}
	return a.sendAfter(ctx, said, limit, &pgx.QueuedQuery{SQL: sql, Arguments: args})
}

func (a acting) sendAfter(ctx context.Context, said, limit string, queries ...*pgx.QueuedQuery) pgx.BatchResults {
	var all pgx.Batch
	if limit == "" {
		all.Queue("select set_config('octavo.actor', $1, true)", said)
	} else {
		all.Queue(
			"select set_config('octavo.actor', $1, true), set_config('statement_timeout', $2, true)", said, limit)
	}
	all.QueuedQueries = append(all.QueuedQueries, queries...)
	results := a.Pool.SendBatch(ctx, &all)
	_, _ = results.Exec() // If this fails, the following statements fail with the same error.
	return results
}

// reads reports whether a statement is a select. A select writes nothing, so it needs no actor.
func reads(sql string) bool {
	for strings.HasPrefix(sql, "--") {
		_, sql, _ = strings.Cut(sql, "\n")
	}
	return strings.HasPrefix(sql, "select") || strings.HasPrefix(sql, "SELECT")
}

// actingRows are rows that release their connection after the last row.
type actingRows struct {
	pgx.Rows
	results pgx.BatchResults
	err     error
}

// Next reads the next row. After the last row it calls Close, as the rows of a pgx pool do.
func (r *actingRows) Next() bool {
	if r.Rows.Next() {
		return true
	}
	r.Close()
	return false
}

// Close ends the transaction. If the transaction cannot end, Err then returns the error.
func (r *actingRows) Close() {
	if r.results != nil {
		r.Rows.Close()
		r.err = r.results.Close()
		r.results = nil
	}
}

// Err returns the error from reading the rows. If there is none, it returns the error from ending the transaction.
func (r *actingRows) Err() error {
	if err := r.Rows.Err(); err != nil {
		return err
	}
	return r.err
}

type actingRow struct{ results pgx.BatchResults }

// Scan reads the row and ends the transaction. If the transaction cannot end, Scan returns this error, because the row
// was not written.
func (r actingRow) Scan(dest ...any) error {
	err := r.results.QueryRow().Scan(dest...)
	if closeErr := r.results.Close(); err == nil {
		err = closeErr
	}
	return err
}
