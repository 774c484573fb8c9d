package main

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/octavo-docs/octavo/cmd/engine/enginetest"
	"github.com/octavo-docs/octavo/cmd/engine/enginetest/brokertest"
	"github.com/octavo-docs/octavo/cmd/engine/enginetest/eventually"
)

// TestSecureEngines runs Octavo on three engines with TLS, logins, and certificates of a private certificate authority.
func TestSecureEngines(t *testing.T) {
	t.Parallel()
	authority := enginetest.NewAuthority(t)
	login := &brokertest.Login{Mechanism: "SCRAM-SHA-512", User: "octavo", Password: "secret"}
	kafka := brokertest.Start(t, brokertest.Options{TLS: authority.Server(), Login: login})
	postgres := securePostgres(t, authority)
	clickhouse := secureClickHouse(t, authority)
	env := []string{
		"OCTAVO_POSTGRES_URL=" + postgres, "OCTAVO_CLICKHOUSE_URL=" + clickhouse, "OCTAVO_CLICKHOUSE_TLS_CA=" + authority.CA,
		"OCTAVO_KAFKA_BROKERS=" + strings.Join(kafka.Addresses(), ","),
		"OCTAVO_KAFKA_TLS=on", "OCTAVO_KAFKA_TLS_CA=" + authority.CA,
		"OCTAVO_KAFKA_SASL=scram-sha-512", "OCTAVO_KAFKA_USERNAME=octavo", "OCTAVO_KAFKA_PASSWORD=secret",
	}
	i := newInstance(t, env...)
	if status, answer := i.post(i.token, pageView("a"), pageView("b")); status != 204 {
		t.Fatalf("post: %d %s", status, answer)
	}
	i.wantCounts(2, 2)
	conn, err := pgx.Connect(t.Context(), postgres)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close(context.Background()) }()
	var all, secure int
	err = conn.QueryRow(t.Context(), "select count(*), count(*) filter (where s.ssl) from pg_stat_activity a join pg_stat_ssl s using (pid) where application_name = 'octavo'").Scan(&all, &secure)
	if err != nil || all == 0 || all != secure {
		t.Errorf("%d of %d connections to Postgres are by TLS: %v", secure, all, err)
	}
	i.stop()

	// A server with a certificate of another authority is refused, and the error names the setting.
	stranger := enginetest.NewAuthority(t).CA
	for name, c := range map[string]struct{ env, want string }{
		"Kafka":      {"OCTAVO_KAFKA_TLS_CA=" + stranger, "octavo.events"},
		"a password": {"OCTAVO_KAFKA_PASSWORD=other", "octavo.events"},
		"ClickHouse": {"OCTAVO_CLICKHOUSE_TLS_CA=" + stranger, "certificate"},
		"Postgres":   {"OCTAVO_POSTGRES_URL=" + strings.Replace(postgres, url.QueryEscape(authority.CA), url.QueryEscape(stranger), 1), "Postgres"},
		"no TLS":     {"OCTAVO_KAFKA_TLS=off", "OCTAVO_KAFKA_TLS"},
		"no secure":  {"OCTAVO_CLICKHOUSE_URL=" + strings.Replace(clickhouse, "secure=true", "", 1), "OCTAVO_CLICKHOUSE_TLS_CA"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cmd := exec.Command(enginetest.Octavo(t), "serve")
			cmd.Env = append(append(os.Environ(), "OCTAVO_DATA_DIR="+t.TempDir(), "OCTAVO_LISTEN="+enginetest.Address(t)), append(env, c.env)...)
			cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGTERM}
			timer := time.AfterFunc(eventually.Patience, func() { _ = cmd.Process.Kill() })
			defer timer.Stop()
			output, err := cmd.CombinedOutput()
			if exit := (*exec.ExitError)(nil); !errors.As(err, &exit) || exit.ExitCode() < 0 || !strings.Contains(string(output), c.want) {
				t.Errorf("want an error that names %s, got %v:\n%s", c.want, err, output)
			}
		})
	}
}

// securePostgres starts a Postgres with TLS and returns its URL with
// sslmode=verify-full.
func securePostgres(t *testing.T, authority *enginetest.Authority) string {
	t.Helper()
	enginesDir(t) // skips the test if no engines are installed
	running, err := enginetest.Launch{Binary: enginetest.Binary(t), Engines: []string{"postgres"}}.Start(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := running.Stop(); err != nil {
			t.Error(err)
		}
	})
	certificate, key := authority.Issue("postgres")
	settings, err := filepath.Glob(filepath.Join(running.DataDir, "postgres", "*", "postgresql.conf"))
	if more, _ := filepath.Glob(filepath.Join(running.DataDir, "postgres", "postgresql.conf")); err != nil || len(settings)+len(more) != 1 {
		t.Fatal("cannot find postgresql.conf", settings, more, err)
	} else if len(more) == 1 {
		settings = more
	}
	file, err := os.OpenFile(settings[0], os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	_, err = fmt.Fprintf(file, "\nssl = on\nssl_cert_file = '%s'\nssl_key_file = '%s'\n", certificate, key)
	if err = errors.Join(err, file.Close(), syscall.Kill(running.PIDs["postgres"], syscall.SIGHUP)); err != nil {
		t.Fatal(err)
	}
	u, err := url.Parse(running.PostgresURL)
	if err != nil {
		t.Fatal(err)
	}
	u.RawQuery = url.Values{"sslmode": {"verify-full"}, "sslrootcert": {authority.CA}}.Encode()
	// pg_reload_conf returns before the reload happens.
	eventually.Succeeds(t, "a connection by TLS", func() error {
		secure, err := pgx.Connect(t.Context(), u.String())
		if err != nil {
			return err
		}
		_ = secure.Close(t.Context())
		return nil
	})
	return u.String()
}

// secureClickHouse puts a TLS proxy in front of the engine's port.
func secureClickHouse(t *testing.T, authority *enginetest.Authority) string {
	t.Helper()
	u, err := url.Parse(enginetest.ClickHouse(t))
	if err != nil {
		t.Fatal(err)
	}
	engine := u.Host
	listener, err := tls.Listen("tcp", "127.0.0.1:0", authority.Server())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	go relay(listener, engine)
	u.Host = listener.Addr().String()
	query := u.Query()
	query.Set("secure", "true")
	u.RawQuery = query.Encode()
	return u.String()
}

// relay forwards each connection of a listener to an address, until the
// listener is closed.
func relay(listener net.Listener, to string) {
	for {
		client, err := listener.Accept()
		if err != nil {
			return
		}
		go func() {
			server, err := net.Dial("tcp", to)
			if err == nil {
				go func() { _, _ = io.Copy(server, client); _ = server.Close() }()
				_, _ = io.Copy(client, server)
			}
			_ = client.Close()
		}()
	}
}
