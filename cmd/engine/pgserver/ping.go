package pgserver

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// ErrStarting is wrapped by Ping while the server replays its log or shuts down.
var ErrStarting = errors.New("postgres is not ready yet")

const (
	cannotConnectNow   = "57P03"
	tooManyConnections = "53300"
)

// Ping connects as the superuser and runs a statement. Postgres reserves connections for the superuser, so Ping works
// even if clients use all others.
func (s *Server) Ping(ctx context.Context) error {
	conn, err := pgx.Connect(ctx, s.url(superuser, s.secrets.Superuser, "postgres"))
	if err != nil {
		return pingError(err)
	}
	defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }()
	if _, err := conn.Exec(ctx, "SELECT 1"); err != nil {
		return pingError(err)
	}
	if !s.inspected.Swap(true) {
		_ = s.inspect(ctx) // a ping only checks that Postgres runs; a verification reports a missing function
	}
	return nil
}

func pingError(err error) error {
	var answer *pgconn.PgError
	if errors.As(err, &answer) {
		switch answer.Code {
		case tooManyConnections:
			return nil // Postgres is full but works: a restart would disconnect every client
		case cannotConnectNow:
			return fmt.Errorf("%w: %w", ErrStarting, err)
		}
	}
	return fmt.Errorf("cannot reach Postgres: %w", err)
}

// Line splits a line of Postgres's log into a log level and the text.
func Line(line string) (slog.Level, string) {
	severity, text, _ := strings.Cut(line, ":")
	text = strings.TrimSpace(text)
	switch severity {
	case "WARNING":
		return slog.LevelWarn, text
	case "ERROR", "FATAL":
		if strings.HasPrefix(text, "the database system is") {
			return slog.LevelDebug, text // the reply to a ping while Postgres starts
		}
		return slog.LevelWarn, text // the error concerns a single client, which receives it too
	case "PANIC":
		return slog.LevelError, text
	case "LOG", "NOTICE", "INFO":
		return slog.LevelInfo, text
	default:
		return slog.LevelDebug, line // the line is a DETAIL, a HINT, a CONTEXT or a continuation
	}
}
