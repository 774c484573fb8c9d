package embedded

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"
)

// wrongLogin is ClickHouse's AUTHENTICATION_FAILED. A server that answers it is not our child, which knows the
// password.
const wrongLogin = 516

// pingClickHouse opens a new connection, as a new client would, and runs a statement: a server whose engine hangs would
// still answer the protocol's ping.
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
