package embedded

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"
)

// wrongLogin is the code of ClickHouse's error AUTHENTICATION_FAILED. A server that returns this error is not this
// process's child, because the child has the password.
const wrongLogin = 516

// pingClickHouse opens a new connection, like a new client, and runs a statement. The protocol's ping is not enough,
// because a server with a hanging engine still answers it.
func pingClickHouse(ctx context.Context, address string, login Login) error {
	conn, err := clickhouse.Open(&clickhouse.Options{
		Addr: []string{address}, Auth: clickhouse.Auth{Username: login.User, Password: login.Password}, MaxOpenConns: 1, MaxIdleConns: 1, DialTimeout: 5 * time.Second, ReadTimeout: 5 * time.Second,
	})
	if err != nil {
		return fmt.Errorf("cannot reach ClickHouse: %w", err)
	}
	defer func() { _ = conn.Close() }()
	var one uint8
	if err := conn.QueryRow(ctx, "SELECT 1").Scan(&one); err != nil {
		if answer := (*clickhouse.Exception)(nil); errors.As(err, &answer) && answer.Code != wrongLogin {
			return nil // busy or full, but alive: a restart would disconnect every client
		}
		return fmt.Errorf("cannot get an answer from ClickHouse: %w", err)
	}
	return nil
}
