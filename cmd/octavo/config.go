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
	"github.com/octavo-docs/octavo/store"
)

// Settings are what `serve`, `migrate` and `token` need to know. Each is a
// flag, an environment variable and a member of the configuration file, in
// this order of precedence. What is tagged secret can stand in a file of its
// own as well; see secretFiles.
type Settings struct {
	Listen    string   `env:"OCTAVO_LISTEN" default:"127.0.0.1:8080" help:"Address to serve HTTP on."`
	Admin     string   `name:"admin-listen" env:"OCTAVO_ADMIN_LISTEN" default:"127.0.0.1:8081" help:"Address of the operators' listener: metrics, pprof, version, health. It asks for no token, so keep it from the public; off: none."`
	PublicURL string   `env:"OCTAVO_PUBLIC_URL" help:"Address under which clients reach this server, for the URLs in answers. Default: http:// and the listen address."`
	DataDir   string   `env:"OCTAVO_DATA_DIR" default:"data" type:"path" help:"Directory of the embedded engines' data."`
	Roles     []string `env:"OCTAVO_ROLES" default:"api,sink,jobs" help:"What this node does: api, sink, jobs."`

	PostgresURL       string   `env:"OCTAVO_POSTGRES_URL" secret:"" help:"Postgres 15 or later. Default: the embedded one."`
	KafkaBrokers      []string `env:"OCTAVO_KAFKA_BROKERS" help:"Kafka brokers, host:port. Default: the embedded one."`
	ClickHouseURL     string   `name:"clickhouse-url" env:"OCTAVO_CLICKHOUSE_URL" secret:"" help:"ClickHouse over its native protocol (clickhouse://). Default: the embedded one."`
	ClickHouseCluster string   `name:"clickhouse-cluster" env:"OCTAVO_CLICKHOUSE_CLUSTER" help:"Name of the ClickHouse cluster, for replicated and distributed tables."`
	EnginesDir        string   `env:"OCTAVO_ENGINES_DIR" type:"path" help:"Folder in which npm installed the embedded engines. Default: deploy/engines beside the program or the working directory."`

	KafkaTopic      string `env:"OCTAVO_KAFKA_TOPIC" default:"octavo.events" help:"Topic of the event log."`
	KafkaPartitions int    `env:"OCTAVO_KAFKA_PARTITIONS" default:"4" help:"Partitions of the topic when it is created."`
	KafkaReplicas   int    `env:"OCTAVO_KAFKA_REPLICAS" default:"1" help:"Replicas of the topic when it is created: 3 on a cluster."`

	KafkaMinInSync int           `name:"kafka-min-insync" env:"OCTAVO_KAFKA_MIN_INSYNC" default:"0" help:"How many replicas must have an event before it is acknowledged (min.insync.replicas of the topic when it is created). 0: all but one, at least one."`
	KafkaRetention time.Duration `env:"OCTAVO_KAFKA_RETENTION" default:"168h" help:"How long the topic keeps events, stored or not, when it is created. Sinks that are away for longer lose events."`

	ClickHouseInsertQuorum string `name:"clickhouse-insert-quorum" env:"OCTAVO_CLICKHOUSE_INSERT_QUORUM" default:"auto" help:"On a ClickHouse cluster, how many replicas must have an insert before it counts: auto (most of them), a number, or off."`

	KafkaMaxBytes     int64 `env:"OCTAVO_KAFKA_MAX_BYTES" default:"17179869184" help:"Bytes of the embedded broker's log at most. When what is not stored yet reaches it, event posts are answered 503."`
	KafkaRetainBytes  int64 `env:"OCTAVO_KAFKA_RETAIN_BYTES" default:"1073741824" help:"Bytes of the embedded broker's log that are kept although they are stored."`
	KafkaMinFreeBytes int64 `env:"OCTAVO_KAFKA_MIN_FREE_BYTES" default:"0" help:"Bytes of the disk that the embedded broker leaves free, by answering event posts 503. 0: 512 MiB, or 5 % of the disk if that is less."`

	SinkSessionTimeout time.Duration `env:"OCTAVO_SINK_SESSION_TIMEOUT" default:"10s" help:"After how long a silent sink loses its partitions to the others. Brokers take no less than their group.min.session.timeout.ms, as a rule 6 s."`

	KafkaTLS      string `name:"kafka-tls" env:"OCTAVO_KAFKA_TLS" enum:"off,on" default:"off" help:"Whether Kafka is spoken to by TLS: off or on."`
	KafkaTLSCA    string `name:"kafka-tls-ca" env:"OCTAVO_KAFKA_TLS_CA" type:"path" help:"PEM file of the authorities that the brokers' certificates are from. Default: the system's."`
	KafkaTLSCert  string `name:"kafka-tls-cert" env:"OCTAVO_KAFKA_TLS_CERT" type:"path" help:"PEM file of a certificate to show to the brokers."`
	KafkaTLSKey   string `name:"kafka-tls-key" env:"OCTAVO_KAFKA_TLS_KEY" type:"path" help:"PEM file of that certificate's key."`
	KafkaSASL     string `name:"kafka-sasl" env:"OCTAVO_KAFKA_SASL" enum:",plain,scram-sha-256,scram-sha-512" default:"" help:"How to log in to Kafka: plain, scram-sha-256 or scram-sha-512. Default: no login."`
	KafkaUsername string `env:"OCTAVO_KAFKA_USERNAME" help:"Who logs in to Kafka."`
	KafkaPassword string `env:"OCTAVO_KAFKA_PASSWORD" secret:"" help:"With which password."`

	ClickHouseTLSCA string `name:"clickhouse-tls-ca" env:"OCTAVO_CLICKHOUSE_TLS_CA" type:"path" help:"PEM file of the authorities that ClickHouse's certificate is from, for a URL with secure=true. Default: the system's."`

	GeoIPMMDB      string        `name:"geoip-mmdb" env:"OCTAVO_GEOIP_MMDB" type:"path" help:"Database of places by IP address, in MaxMind's format. Default: no country."`
	EventMaxFuture time.Duration `env:"OCTAVO_EVENT_MAX_FUTURE" default:"1h" help:"How far in the future an event's timestamp may lie."`
	SiteKeyMaxPast time.Duration `env:"OCTAVO_SITE_KEY_MAX_PAST" default:"720h" help:"How old an event may be that a site's key posts. A user's token posts events of any age: that is an import."`
	BootstrapToken string        `env:"OCTAVO_BOOTSTRAP_TOKEN" secret:"" help:"On the first start with an empty database, the first user's token."`
	TrustedProxies []string      `env:"OCTAVO_TRUSTED_PROXIES" help:"Networks (CIDR) whose X-Forwarded-For is believed."`

	RateLimit      int `env:"OCTAVO_RATE_LIMIT" default:"1000" help:"Requests per second of one token on this node, twice as many at once; 0: no bound."`
	EventRateLimit int `env:"OCTAVO_EVENT_RATE_LIMIT" default:"0" help:"The same for requests that post events; 0: no bound."`

	PublicRateLimit     int `env:"OCTAVO_PUBLIC_RATE_LIMIT" default:"100" help:"Requests per second of one address (IPv6: network of /64) to what needs no token, such as files and PDFs, twice as many at once; 0: no bound. Trusted proxies have none."`
	WrongTokenRateLimit int `env:"OCTAVO_WRONG_TOKEN_RATE_LIMIT" default:"50" help:"The same for requests without a good token; 0: no bound."`
	MaxConns            int `env:"OCTAVO_MAX_CONNS" default:"16384" help:"Open connections on the listener; no more than the process has file descriptors for. At the bound, those that have been idle for the longest time make room."`
	MaxConnsPerIP       int `name:"max-conns-per-ip" env:"OCTAVO_MAX_CONNS_PER_IP" default:"512" help:"Open connections of one address (IPv6: network of /64); 0: no bound. Trusted proxies have none."`
	BodyMemory          int `env:"OCTAVO_BODY_MEMORY" default:"67108864" help:"Bytes that the bodies of all requests in flight may take beyond the first 16 KiB of each. Those of one token may take a quarter, or 16 MiB if that is more. A body that finds no room waits for 2 s; then its request is refused, with 429 if the token has its share and else 503."`

	InviteLifetime time.Duration `env:"OCTAVO_INVITE_LIFETIME" default:"720h" help:"How long new invites, by e-mail and by link, are good for; 0: without end."`

	QueryConcurrency int           `env:"OCTAVO_QUERY_CONCURRENCY" default:"8" help:"Queries that this node lets the insights store work on at once; more wait. Times OCTAVO_QUERY_MAX_MEMORY, it is the memory that the store needs for them."`
	QueryPerOrg      int           `env:"OCTAVO_QUERY_PER_ORG" default:"4" help:"How many of them may be of one organization."`
	QueryPerToken    int           `env:"OCTAVO_QUERY_PER_TOKEN" default:"2" help:"How many of them may be of one token."`
	QueryQueueWait   time.Duration `env:"OCTAVO_QUERY_QUEUE_WAIT" default:"10s" help:"How long a query waits for its turn before it is answered with 429, or with 503 if it is others that fill the node."`
	QueryMaxTime     time.Duration `env:"OCTAVO_QUERY_MAX_TIME" default:"20s" help:"How long a query may run; a slower one is answered with 400."`
	QueryMaxMemory   int64         `env:"OCTAVO_QUERY_MAX_MEMORY" default:"512" help:"Memory of one query in the insights store, in MiB."`
	QueryMaxRows     uint64        `env:"OCTAVO_QUERY_MAX_ROWS" default:"2000000000" help:"Rows that one query may read."`
	QueryMaxThreads  int           `env:"OCTAVO_QUERY_MAX_THREADS" default:"0" help:"Threads of one query in the insights store; 0: as the store is set up."`

	Quotas store.Quotas `embed:"" prefix:"quota-" envprefix:"OCTAVO_QUOTA_"`

	DrainWait   time.Duration `env:"OCTAVO_DRAIN_WAIT" default:"1s" help:"How long a stop goes on serving while /readyz says no, until no connection is left: longer than the load balancer takes to notice."`
	StopTimeout time.Duration `env:"OCTAVO_STOP_TIMEOUT" default:"30s" help:"How long a stop may take to finish what was begun."`
	LogLevel    slog.Level    `env:"OCTAVO_LOG_LEVEL" default:"info" help:"Least level that is logged: debug, info, warn or error."`
}

// leastSinkSession leaves a sink room for a heartbeat that comes late.
const leastSinkSession = 3 * time.Second

// leastBodyMemory is room for one body of the largest size, once as sent and once inflated.
const leastBodyMemory = 16 << 20

var allRoles = []string{"api", "sink", "jobs"}

// Validate is called by kong. It finds what can be known to be wrong before
// anything is started, and names the setting.
func (s *Settings) Validate() error {
	for _, role := range s.Roles {
		if !slices.Contains(allRoles, role) {
			return fmt.Errorf("OCTAVO_ROLES: unknown role %q, known are %s", role, strings.Join(allRoles, ", "))
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
	if s.BodyMemory < leastBodyMemory {
		return fmt.Errorf("OCTAVO_BODY_MEMORY: must be at least %d, room for one of the largest bodies, sent and inflated", leastBodyMemory)
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
		return fmt.Errorf("OCTAVO_KAFKA_MAX_BYTES: must be at least %d", embedded.LeastLogBytes)
	}
	if s.KafkaRetainBytes < 1<<20 || s.KafkaRetainBytes > s.KafkaMaxBytes/2 {
		return fmt.Errorf("OCTAVO_KAFKA_RETAIN_BYTES: must be from 1 MiB to a half of OCTAVO_KAFKA_MAX_BYTES")
	}
	if s.KafkaMinFreeBytes < 0 {
		return fmt.Errorf("OCTAVO_KAFKA_MIN_FREE_BYTES: must not be negative")
	}
	if s.SinkSessionTimeout < leastSinkSession {
		return fmt.Errorf("OCTAVO_SINK_SESSION_TIMEOUT: must be at least %s", leastSinkSession)
	}
	if len(s.KafkaBrokers) == 0 && (s.KafkaTLS == "on" || s.KafkaSASL != "") {
		return fmt.Errorf("OCTAVO_KAFKA_TLS and OCTAVO_KAFKA_SASL: need OCTAVO_KAFKA_BROKERS, the embedded broker has a login of its own and no TLS")
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
		return fmt.Errorf("OCTAVO_SITE_KEY_MAX_PAST: must be above zero")
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
		return fmt.Errorf("OCTAVO_DRAIN_WAIT: must be shorter than OCTAVO_STOP_TIMEOUT, and not negative")
	}
	if s.RateLimit < 0 || s.EventRateLimit < 0 {
		return fmt.Errorf("OCTAVO_RATE_LIMIT and OCTAVO_EVENT_RATE_LIMIT: must not be negative")
	}
	if err := s.validateQueries(); err != nil {
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
		{"CONCURRENCY", int64(s.QueryConcurrency)}, {"PER_ORG", int64(s.QueryPerOrg)}, {"PER_TOKEN", int64(s.QueryPerToken)},
		{"QUEUE_WAIT", int64(s.QueryQueueWait)}, {"MAX_TIME", int64(s.QueryMaxTime)}, {"MAX_MEMORY", s.QueryMaxMemory},
		{"MAX_ROWS", int64(min(s.QueryMaxRows, math.MaxInt64))},
	} {
		if limit.value <= 0 {
			return fmt.Errorf("OCTAVO_QUERY_%s: must be above 0", limit.name)
		}
	}
	if s.QueryConcurrency > maxQueryConcurrency || s.QueryMaxMemory > maxQueryMemory {
		return fmt.Errorf("OCTAVO_QUERY_CONCURRENCY and OCTAVO_QUERY_MAX_MEMORY: must be at most %d and %d", maxQueryConcurrency, maxQueryMemory)
	}
	if s.QueryMaxThreads < 0 {
		return fmt.Errorf("OCTAVO_QUERY_MAX_THREADS: must not be negative")
	}
	return nil
}

// What no machine has.
const (
	maxQueryConcurrency = 10_000
	maxQueryMemory      = 1 << 30 // MiB
)

// queryConfig is what queries may take of the insights store.
func (s *Settings) queryConfig() query.Config {
	return query.Config{
		Concurrency: s.QueryConcurrency, PerOrganization: s.QueryPerOrg, PerToken: s.QueryPerToken, QueueWait: s.QueryQueueWait,
		MaxTime: s.QueryMaxTime, MaxMemory: uint64(s.QueryMaxMemory) << 20, MaxRowsRead: s.QueryMaxRows, MaxThreads: s.QueryMaxThreads,
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

// kafkaLogin is how brokers that the settings name want to be spoken to.
func (s *Settings) kafkaLogin() eventlog.Login {
	return eventlog.Login{
		TLS: s.KafkaTLS == "on", CA: s.KafkaTLSCA, Cert: s.KafkaTLSCert, Key: s.KafkaTLSKey,
		Mechanism: s.KafkaSASL, Username: s.KafkaUsername, Password: s.KafkaPassword,
	}
}

// store is what a server does with Postgres.
func (s *Settings) store(url string) store.Config {
	return store.Config{URL: url, InviteLifetime: s.InviteLifetime, Quotas: s.Quotas}
}

func (s *Settings) has(role string) bool { return slices.Contains(s.Roles, role) }

// publicURL is the address in the URLs of answers.
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

// logger writes JSON lines to stderr: stdout is for what a person asked for.
func (s *Settings) logger() *slog.Logger {
	return slog.New(slog.NewJSONHandler(os.Stderr, &slog.HandlerOptions{
		Level: s.LogLevel,
		ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
			if a.Value.Kind() == slog.KindDuration { // a number would not say its unit
				a.Value = slog.StringValue(a.Value.Duration().String())
			}
			return a
		},
	}))
}
