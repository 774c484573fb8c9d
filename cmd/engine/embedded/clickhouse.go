package embedded

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"
)

// wrongLogin is ClickHouse's AUTHENTICATION_FAILED: whoever answers so is not the child that was told the password.
const wrongLogin = 516

// pingClickHouse opens a connection of its own, as a new client would, and runs a statement: the protocol's ping alone would be
// answered by a server whose engine hangs.
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
			return nil // busy or full, but alive: a restart would throw every client out
		}
		return fmt.Errorf("cannot get an answer from ClickHouse: %w", err)
	}
	return nil
}
