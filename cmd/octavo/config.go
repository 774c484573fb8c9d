package main

import (
	"fmt"
	"log/slog"
	"math"
	"net"
	"net/netip"
	"os"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/octavo-docs/octavo/cmd/engine/embedded"
	"github.com/octavo-docs/octavo/ingest/eventlog"
	"github.com/octavo-docs/octavo/ingest/eventstore"
	"github.com/octavo-docs/octavo/query"
	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/store"
	"github.com/octavo-docs/octavo/store/orgs"
	"github.com/octavo-docs/octavo/store/postgres"
)

// leastSinkSession is the shortest session timeout of a sink. With a shorter timeout, a late heartbeat would end the
// session.
const leastSinkSession = 3 * time.Second

// mostSinkPause is the longest pause of a sink. People who look at their newest events still accept a wait of this
// length.
const mostSinkPause = 10 * time.Second

// leastOpenAPIPoll is the shortest interval at which a specification is fetched. It limits the load on the
// specification's server.
const leastOpenAPIPoll = time.Minute

// leastAnswerMemory is the least memory for answers. It is enough for one answer of 1 MiB to each of four client
// addresses.
const leastAnswerMemory schema.ByteSize = 4 << 20

// leastBodyMemory is the least memory for request bodies. It is enough for one body of the largest size: for the bytes
// as sent, and for the inflated bytes.
const leastBodyMemory schema.ByteSize = 32 << 20

var allRoles = []string{"api", "sink", "jobs"}

// Validate is called by kong before Run. It makes all checks of settings that need no running engine. Its errors name
// the setting.
func (s *Settings) Validate() error {
	for _, role := range s.Roles {
		if !slices.Contains(allRoles, role) {
			return fmt.Errorf("OCTAVO_ROLES: unknown role %q, must be one of %s", role, strings.Join(allRoles, ", "))
		}
	}
	if _, _, err := net.SplitHostPort(s.Listen); err != nil {
		return fmt.Errorf("OCTAVO_LISTEN: %q is not host:port", s.Listen)
	}
	if _, _, err := net.SplitHostPort(s.Admin); err != nil && s.Admin != adminOff {
		return fmt.Errorf("OCTAVO_ADMIN_LISTEN: %q is neither host:port nor %s", s.Admin, adminOff)
	}
	if s.PublicRateLimit < 0 || s.WrongTokenRateLimit < 0 || s.MaxConnsPerIP < 0 {
		return fmt.Errorf("OCTAVO_PUBLIC_RATE_LIMIT, OCTAVO_WRONG_TOKEN_RATE_LIMIT and OCTAVO_MAX_CONNS_PER_IP: must not be negative")
	}
	if s.MaxConns < 1 {
		return fmt.Errorf("OCTAVO_MAX_CONNS: must be at least 1")
	}
	if s.Memory < 0 || s.ClickHouseMemory < 0 || s.PostgresMemory < 0 || s.PDFMemory < 0 {
		return fmt.Errorf("OCTAVO_MEMORY_BYTES, OCTAVO_CLICKHOUSE_MEMORY_BYTES, OCTAVO_POSTGRES_MEMORY_BYTES and " +
			"OCTAVO_PDF_MEMORY_BYTES: must not be negative")
	}
	if s.AnswerMemory != 0 && s.AnswerMemory < leastAnswerMemory {
		return fmt.Errorf(
			"OCTAVO_ANSWER_MEMORY_BYTES: must be at least %s, for answers of 1 MiB to four addresses",
			leastAnswerMemory,
		)
	}
	if s.BodyMemory != 0 && s.BodyMemory < leastBodyMemory {
		return fmt.Errorf("OCTAVO_BODY_MEMORY_BYTES: must be at least %s, for the largest body, sent and inflated",
			leastBodyMemory)
	}
	if s.KafkaPartitions < 1 || s.KafkaPartitions > 1<<16 {
		return fmt.Errorf("OCTAVO_KAFKA_PARTITIONS: must be from 1 to %d", 1<<16)
	}
	if s.KafkaReplicas < 1 {
		return fmt.Errorf("OCTAVO_KAFKA_REPLICAS: must be at least 1")
	}
	if s.KafkaMinInSync < 0 || s.KafkaMinInSync > s.KafkaReplicas {
		return fmt.Errorf("OCTAVO_KAFKA_MIN_INSYNC: must be from 0 to OCTAVO_KAFKA_REPLICAS, which is %d", s.KafkaReplicas)
	}
	if s.KafkaRetention < time.Minute {
		return fmt.Errorf("OCTAVO_KAFKA_RETENTION: must be at least a minute")
	}
	if err := eventstore.CheckInsertQuorum(s.ClickHouseInsertQuorum); err != nil {
		return fmt.Errorf("OCTAVO_CLICKHOUSE_INSERT_QUORUM: %w", err)
	}
	if s.KafkaMaxBytes < embedded.LeastLogBytes {
		return fmt.Errorf("OCTAVO_KAFKA_MAX_BYTES: must be at least %s", schema.ByteSize(embedded.LeastLogBytes))
	}
	if s.KafkaRetainBytes < 1<<20 || s.KafkaRetainBytes > s.KafkaMaxBytes/2 {
		return fmt.Errorf("OCTAVO_KAFKA_RETAIN_BYTES: must be from 1 MiB to half of OCTAVO_KAFKA_MAX_BYTES")
	}
	if s.KafkaMinFreeBytes < 0 {
		return fmt.Errorf("OCTAVO_KAFKA_MIN_FREE_BYTES: must not be negative")
	}
	if s.SinkSessionTimeout < leastSinkSession {
		return fmt.Errorf("OCTAVO_SINK_SESSION_TIMEOUT: must be at least %s", leastSinkSession)
	}
	if s.SinkPause < eventlog.LeastTurn || s.SinkPause > mostSinkPause {
		return fmt.Errorf("OCTAVO_SINK_PAUSE: must be from %s to %s", eventlog.LeastTurn, mostSinkPause)
	}
	if len(s.KafkaBrokers) == 0 && (s.KafkaTLS == "on" || s.KafkaSASL != "") {
		return fmt.Errorf("OCTAVO_KAFKA_TLS and OCTAVO_KAFKA_SASL: only with OCTAVO_KAFKA_BROKERS; the embedded broker has its own login and no TLS")
	}
	if len(s.KafkaBrokers) > 0 {
		if err := eventlog.CheckBrokers(s.KafkaBrokers); err != nil {
			return fmt.Errorf("OCTAVO_KAFKA_BROKERS: %w", err)
		}
	}
	if _, err := (&backends{kafkaLogin: s.kafkaLogin()}).kafkaAccess(); err != nil {
		return err
	}
	if s.EventMaxFuture < 0 {
		return fmt.Errorf("OCTAVO_EVENT_MAX_FUTURE: must not be negative")
	}
	if s.SiteKeyMaxPast <= 0 {
		return fmt.Errorf("OCTAVO_SITE_KEY_MAX_PAST: must be above 0")
	}
	if s.AuditRetention < 0 {
		return fmt.Errorf("OCTAVO_AUDIT_RETENTION: must not be negative")
	}
	if s.InviteLifetime < 0 {
		return fmt.Errorf("OCTAVO_INVITE_LIFETIME: must not be negative")
	}
	quotas := reflect.ValueOf(s.Quotas)
	for i := range quotas.NumField() {
		if quotas.Field(i).Int() < 0 {
			return fmt.Errorf("OCTAVO_QUOTA_%s: must not be negative", quotas.Type().Field(i).Tag.Get("env"))
		}
	}
	if s.DrainWait < 0 || s.DrainWait >= s.StopTimeout {
		return fmt.Errorf("OCTAVO_DRAIN_WAIT: must be at least 0 and less than OCTAVO_STOP_TIMEOUT")
	}
	if s.RateLimit < 0 || s.EventRateLimit < 0 || s.PublishableKeyRateLimit < 0 {
		return fmt.Errorf("OCTAVO_RATE_LIMIT, OCTAVO_EVENT_RATE_LIMIT and OCTAVO_PUBLISHABLE_KEY_RATE_LIMIT: must " +
			"not be negative")
	}
	if err := s.validateQueries(); err != nil {
		return err
	}
	if s.OpenAPIVersions < 0 {
		return fmt.Errorf("OCTAVO_OPENAPI_VERSIONS: must not be negative")
	}
	if s.OpenAPIPoll != 0 && s.OpenAPIPoll < leastOpenAPIPoll {
		return fmt.Errorf("OCTAVO_OPENAPI_POLL: must be 0 or at least %s", leastOpenAPIPoll)
	}
	if err := s.validateOthers(); err != nil {
		return err
	}
	_, err := s.proxies()
	return err
}

func (s *Settings) validateQueries() error {
	for _, limit := range []struct {
		name  string
		value int64
	}{
		{"PER_ORG", int64(s.QueryPerOrg)}, {"PER_TOKEN", int64(s.QueryPerToken)},
		{"QUEUE_WAIT", int64(s.QueryQueueWait)}, {"MAX_TIME", int64(s.QueryMaxTime)},
		{"MAX_ROWS", int64(min(s.QueryMaxRows, math.MaxInt64))},
	} {
		if limit.value <= 0 {
			return fmt.Errorf("OCTAVO_QUERY_%s: must be above 0", limit.name)
		}
	}
	if s.QueryConcurrency < 0 || s.QueryMaxMemory < 0 {
		return fmt.Errorf("OCTAVO_QUERY_CONCURRENCY and OCTAVO_QUERY_MAX_MEMORY_BYTES: must not be negative")
	}
	if s.QueryConcurrency > maxQueryConcurrency || s.QueryMaxMemory > maxQueryMemory {
		return fmt.Errorf("OCTAVO_QUERY_CONCURRENCY and OCTAVO_QUERY_MAX_MEMORY_BYTES: must be at most %d and %s",
			maxQueryConcurrency, maxQueryMemory)
	}
	if s.QueryRows < 0 || s.QueryRowsPerOrg < 0 || s.QueryRowsPerToken < 0 {
		return fmt.Errorf("OCTAVO_QUERY_ROWS, OCTAVO_QUERY_ROWS_PER_ORG and OCTAVO_QUERY_ROWS_PER_TOKEN: must not be negative")
	}
	if s.QueryCache < 0 || s.QueryCache > maxQueryCache {
		return fmt.Errorf("OCTAVO_QUERY_CACHE: must be from 0 to %s", maxQueryCache)
	}
	if s.QueryStates < 0 || s.QueryStates > maxQueryStates {
		return fmt.Errorf("OCTAVO_QUERY_STATES_BYTES: must be from 0 to %s", maxQueryStates)
	}
	if s.QueryMaxThreads < 0 {
		return fmt.Errorf("OCTAVO_QUERY_MAX_THREADS: must not be negative")
	}
	return nil
}

// These constants are the largest values of settings. Only a value that is set by mistake is larger.
const (
	maxQueryConcurrency                 = 10_000
	maxQueryMemory      schema.ByteSize = 1 << 50
	maxQueryStates      schema.ByteSize = 1 << 50
	// maxQueryCache also limits the time for which cached answers still include an erased visitor.
	maxQueryCache = time.Minute
)

// queryConfig returns the limits of queries on the insights store.
func (s *Settings) queryConfig(z *sizes) query.Config {
	states := uint64(s.QueryStates)
	if s.ClickHouseCluster != "" {
		// No aggregate states are cached on a cluster. A state belongs to a part of a table, and the parts of a
		// cluster's table are on several servers.
		states = 0
	}
	return query.Config{
		Concurrency: z.queries, PerOrganization: s.QueryPerOrg, PerToken: s.QueryPerToken, QueueWait: s.QueryQueueWait,
		Rows: s.QueryRows, RowsPerOrganization: s.QueryRowsPerOrg, RowsPerToken: s.QueryRowsPerToken,
		Keep: s.QueryCache, KeepBytes: z.cached, StateBytes: states,
		MaxTime: s.QueryMaxTime, MaxMemory: uint64(z.queryMemory), MaxAnswer: z.queryAnswer,
		MaxRowsRead: s.QueryMaxRows, MaxThreads: z.queryThreads,
	}
}

func (s *Settings) proxies() ([]netip.Prefix, error) {
	var list []netip.Prefix
	for _, text := range s.TrustedProxies {
		p, err := netip.ParsePrefix(text)
		if err != nil {
			return nil, fmt.Errorf("OCTAVO_TRUSTED_PROXIES: %q is not a network such as 10.0.0.0/8", text)
		}
		list = append(list, p)
	}
	return list, nil
}

// kafkaLogin returns the login to the brokers that the settings name.
func (s *Settings) kafkaLogin() eventlog.Login {
	return eventlog.Login{
		TLS: s.KafkaTLS == "on", CA: s.KafkaTLSCA, Cert: s.KafkaTLSCert, Key: s.KafkaTLSKey,
		Mechanism: s.KafkaSASL, Username: s.KafkaUsername, Password: s.KafkaPassword,
	}
}

func (s *Settings) postgres(url string) postgres.Config {
	return postgres.Config{URL: url, Quotas: s.Quotas}
}

func (s *Settings) store() store.Config {
	return store.Config{
		Invites:         orgs.Config{InviteLifetime: s.InviteLifetime, InvitesByMail: s.SMTPURL != ""},
		OpenAPIVersions: s.OpenAPIVersions,
	}
}

func (s *Settings) has(role string) bool { return slices.Contains(s.Roles, role) }

// publicURL returns the base of the URLs in responses.
func (s *Settings) publicURL() string {
	if s.PublicURL != "" {
		return strings.TrimRight(s.PublicURL, "/")
	}
	host, port, _ := net.SplitHostPort(s.Listen) // checked by Validate
	if ip, err := netip.ParseAddr(host); host == "" || err == nil && ip.IsUnspecified() {
		host = "127.0.0.1"
	}
	return "http://" + net.JoinHostPort(host, port)
}

// logger returns a logger that writes JSON lines to stderr, because stdout is for a command's output.
func (s *Settings) logger() *slog.Logger {
	return slog.New(slog.NewJSONHandler(os.Stderr, &slog.HandlerOptions{
		Level: s.LogLevel,
		ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
			if a.Value.Kind() == slog.KindDuration { // as a plain number, the duration would have no unit
				a.Value = slog.StringValue(a.Value.Duration().String())
			}
			return a
		},
	}))
}
