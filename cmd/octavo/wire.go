package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/netip"
	"os"
	"path/filepath"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"github.com/go-json-experiment/json"

	"github.com/octavo-docs/octavo/cmd/engine/embedded"
	"github.com/octavo-docs/octavo/ingest/eventlog"
	"github.com/octavo-docs/octavo/ingest/eventstore"
	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/store"
	"github.com/octavo-docs/octavo/store/postgres"
)

// backends has the addresses of the three engines, and the embedded engines that this process started. Only this file
// distinguishes embedded engines from engines that a setting names. All other files get addresses.
type backends struct {
	postgresURL   string
	kafkaBrokers  []string
	kafkaLogin    eventlog.Login
	clickHouseURL string

	engines *embedded.Engines // engines is nil if settings name every engine
	notes   string            // file with the addresses, for other commands
}

// openBackends starts the engines in cfg.Want that no setting names, with the folders and log limits of the settings.
// The caller stops them.
func openBackends(ctx context.Context, s *Settings, cfg embedded.Config) (*backends, error) {
	b := &backends{postgresURL: s.PostgresURL, kafkaBrokers: s.KafkaBrokers, kafkaLogin: s.kafkaLogin(), clickHouseURL: s.ClickHouseURL}
	want := s.embedded(cfg.Want)
	if want == (embedded.Set{}) {
		return b, nil
	}
	cfg.Want, cfg.DataDir, cfg.EnginesDir = want, s.DataDir, s.EnginesDir
	cfg.Baseline, cfg.ClockFile = schema.Baseline, clockFile(s)
	cfg.Log = embedded.LogLimits{
		MaxBytes: int64(s.KafkaMaxBytes), RetainBytes: int64(s.KafkaRetainBytes),
		MinFreeBytes: int64(s.KafkaMinFreeBytes),
	}
	engines, err := embedded.Start(ctx, cfg)
	if err != nil {
		return nil, err
	}
	b.engines = engines
	if want.Postgres {
		b.postgresURL = engines.PostgresURL
	}
	if want.Kafka {
		b.kafkaBrokers, b.kafkaLogin = engines.KafkaBrokers, embeddedLogin(engines.KafkaLogin)
	}
	if want.ClickHouse {
		b.clickHouseURL = engines.ClickHouseURL
	}
	b.notes = notesFile(s)
	n := notes{Postgres: b.postgresURL, ClickHouse: b.clickHouseURL, Kafka: b.kafkaBrokers}
	if want.Kafka {
		n.KafkaLogin = engines.KafkaLogin
	}
	if err := writeNotes(b.notes, n); err != nil {
		return nil, errors.Join(err, b.stop(context.WithoutCancel(ctx)))
	}
	return b, nil
}

// embedded returns the engines in `want` that no setting names.
func (s *Settings) embedded(want embedded.Set) embedded.Set {
	return embedded.Set{
		Postgres:   want.Postgres && s.PostgresURL == "",
		Kafka:      want.Kafka && len(s.KafkaBrokers) == 0,
		ClickHouse: want.ClickHouse && s.ClickHouseURL == "",
	}
}

func embeddedLogin(l embedded.Login) eventlog.Login {
	return eventlog.Login{Mechanism: "scram-sha-256", Username: l.User, Password: l.Password}
}

// kafkaAccess returns the TLS configuration and login of every connection to Kafka.
func (b *backends) kafkaAccess() (eventlog.Access, error) {
	access, err := eventlog.NewAccess(b.kafkaLogin)
	if err != nil {
		return access, fmt.Errorf("OCTAVO_KAFKA_TLS…, OCTAVO_KAFKA_SASL, _USERNAME, _PASSWORD: %w", err)
	}
	return access, nil
}

// stop stops the embedded engines, if there are any.
func (b *backends) stop(ctx context.Context) error {
	if b.engines == nil {
		return nil
	}
	// The file with the addresses is removed first, so that other commands read no address of a stopped engine.
	return errors.Join(os.Remove(b.notes), b.engines.Stop(ctx))
}

// failed returns a channel for the error of an embedded engine that cannot be restarted. The channel is nil if no
// engine is embedded.
func (b *backends) failed() <-chan error {
	if b.engines == nil {
		return nil
	}
	return b.engines.Err()
}

// notes has the addresses of a running node's embedded engines. Commands that an operator runs at the same time read
// them. Only the file's owner can read it, because the addresses contain passwords.
type notes struct {
	Postgres   string   `json:"postgres"`
	ClickHouse string   `json:"clickhouse"`
	Kafka      []string `json:"kafka"`
	// KafkaLogin is zero if settings name the brokers, because the settings then also have the login.
	KafkaLogin embedded.Login `json:"kafkaLogin"`
}

func notesFile(s *Settings) string { return filepath.Join(s.DataDir, "engines.json") }

func writeNotes(path string, n notes) error {
	text, err := json.Marshal(n)
	if err == nil {
		err = writePrivate(path, append(text, '\n'))
	}
	if err != nil {
		return fmt.Errorf("cannot write down the engines' addresses: %w", err)
	}
	return nil
}

// attach opens the engines for a short command. It uses the engines of a node that runs on the data directory, or
// starts embedded engines for the command. If `create` is false and an engine has no data, it returns an error.
func attach(ctx context.Context, s *Settings, want embedded.Set, create bool) (*backends, error) {
	var running notes
	text, err := os.ReadFile(notesFile(s))
	there := err == nil && json.Unmarshal(text, &running) == nil
	if there || s.embedded(want) != (embedded.Set{}) {
		if err := embedded.CheckBaseline(s.DataDir, schema.Baseline); err != nil {
			return nil, err
		}
	}
	if there && running.answers(ctx) {
		b := &backends{postgresURL: running.Postgres, clickHouseURL: running.ClickHouse, kafkaBrokers: running.Kafka, kafkaLogin: s.kafkaLogin()}
		if running.KafkaLogin != (embedded.Login{}) && len(s.KafkaBrokers) == 0 {
			b.kafkaLogin = embeddedLogin(running.KafkaLogin)
		}
		if s.PostgresURL != "" {
			b.postgresURL = s.PostgresURL
		}
		if s.ClickHouseURL != "" {
			b.clickHouseURL = s.ClickHouseURL
		}
		if len(s.KafkaBrokers) > 0 {
			b.kafkaBrokers = s.KafkaBrokers
		}
		return b, nil
	}
	if !create {
		if err := embedded.CheckData(s.DataDir, s.embedded(want)); err != nil {
			return nil, err
		}
	}
	quiet := slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn}))
	z, err := s.sizes(os.DirFS("/"))
	if z == nil {
		return nil, err
	}
	return openBackends(ctx, s, embedded.Config{Want: want, Logger: quiet, Memory: z.engines()})
}

// withInsights runs a short command's work on the engines that `attach` opens, with a connection to the insights store.
func withInsights(
	ctx context.Context, s *Settings, want embedded.Set, work func(*backends, driver.Conn) error,
) (err error) {
	want.ClickHouse = true
	b, err := attach(ctx, s, want, false)
	if err != nil {
		return err
	}
	defer func() { err = firstError(err, b.stop(context.WithoutCancel(ctx))) }()
	return b.withInsights(ctx, s, work)
}

// withInsights runs `work` with a connection to the insights store.
func (b *backends) withInsights(ctx context.Context, s *Settings, work func(*backends, driver.Conn) error) (err error) {
	conn, err := openClickHouse(b.clickHouseURL, s.ClickHouseTLSCA, 1)
	if err != nil {
		return err
	}
	defer func() { err = firstError(err, conn.Close()) }()
	if err := eventstore.CheckBaseline(ctx, conn); err != nil {
		return err
	}
	return work(b, conn)
}

// answers reports whether the node that wrote the notes is still running. A killed node does not remove its notes.
func (n notes) answers(ctx context.Context) bool {
	st, err := openStore(ctx, postgres.Config{URL: n.Postgres}, store.Config{})
	if err != nil {
		return false
	}
	st.Stop()
	return true
}

func openStore(ctx context.Context, database postgres.Config, cfg store.Config) (*store.Store, error) {
	st, err := store.New(database, cfg)
	if err != nil {
		return nil, err
	}
	if err := st.Start(ctx); err != nil {
		return nil, err
	}
	return st, nil
}

// connectionWait bounds the time that a statement waits for a connection of the pool or for a new connection. It is
// shorter than a query may run. So if all connections are busy, the caller gets an error that advises a retry, instead
// of an error about a slow query.
const connectionWait = 10 * time.Second

// sendBuffer is the number of bytes after which a connection sends a part of an insert. The connection keeps a buffer
// of this size, or of its largest column if that is larger. With the client's default, each connection that has
// inserted would use 10 MiB.
const sendBuffer = 1 << 20

// openClickHouse makes a pool of connections to the insights store. The pool connects when it is first used.
// authoritiesFile is a PEM file with the trusted certificate authorities, for a URL with TLS. "" means the system's
// authorities.
func openClickHouse(url, authoritiesFile string, connections int) (driver.Conn, error) {
	options, err := clickhouse.ParseDSN(url)
	if err != nil {
		return nil, fmt.Errorf("cannot read OCTAVO_CLICKHOUSE_URL: %w", err)
	}
	if authoritiesFile != "" {
		if options.TLS == nil {
			return nil, errors.New("OCTAVO_CLICKHOUSE_TLS_CA: needs secure=true in OCTAVO_CLICKHOUSE_URL")
		}
		if options.TLS.RootCAs, err = authorities("OCTAVO_CLICKHOUSE_TLS_CA", authoritiesFile); err != nil {
			return nil, err
		}
	}
	if options.DialTimeout == 0 { // the URL has no dial_timeout
		options.DialTimeout = connectionWait
	}
	options.MaxOpenConns, options.MaxIdleConns = connections, connections
	if options.MaxCompressionBuffer == 0 { // the URL has no max_compression_buffer
		options.MaxCompressionBuffer = sendBuffer
	}
	if options.Compression == nil {
		options.Compression = &clickhouse.Compression{Method: clickhouse.CompressionLZ4}
		if onLoopback(options.Addr) {
			// on loopback, compression costs more time than it saves
			options.Compression.Method = clickhouse.CompressionNone
		}
	}
	conn, err := clickhouse.Open(options)
	if err != nil {
		return nil, fmt.Errorf("cannot use OCTAVO_CLICKHOUSE_URL: %w", err)
	}
	return conn, nil
}

// onLoopback reports whether all addresses, host:port, are loopback addresses.
func onLoopback(addresses []string) bool {
	for _, address := range addresses {
		at, err := netip.ParseAddrPort(address)
		if err != nil || !at.Addr().IsLoopback() {
			return false
		}
	}
	return true
}
