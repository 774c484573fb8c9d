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

// Settings are the settings of every command that uses the engines. Each is a
// flag, an environment variable and a member of the configuration file, in this
// order of precedence. Those tagged secret can be read from a file of their
// own; see secretFiles.
type Settings struct {
	Listen    string   `env:"OCTAVO_LISTEN" default:"127.0.0.1:8080" help:"Address to serve HTTP on."`
	Admin     string   `name:"admin-listen" env:"OCTAVO_ADMIN_LISTEN" default:"127.0.0.1:8081" help:"Address of the operators' listener, for metrics, pprof, version and health, or off. It asks for no token: do not expose it to the public."`
	PublicURL string   `env:"OCTAVO_PUBLIC_URL" help:"URL under which clients reach this server, used in responses. Default: http:// and the listen address."`
	DataDir   string   `env:"OCTAVO_DATA_DIR" default:"data" type:"path" help:"Directory for the embedded engines' data."`
	Roles     []string `env:"OCTAVO_ROLES" default:"api,sink,jobs" help:"Roles of this node: api, sink, jobs."`

	PostgresURL       string   `env:"OCTAVO_POSTGRES_URL" secret:"" help:"URL of a Postgres server, version 15 or later. Default: the embedded Postgres."`
	KafkaBrokers      []string `env:"OCTAVO_KAFKA_BROKERS" help:"Addresses of Kafka brokers, host:port. Default: the embedded broker."`
	ClickHouseURL     string   `name:"clickhouse-url" env:"OCTAVO_CLICKHOUSE_URL" secret:"" help:"URL of ClickHouse's native protocol (clickhouse://). Default: the embedded ClickHouse."`
	ClickHouseCluster string   `name:"clickhouse-cluster" env:"OCTAVO_CLICKHOUSE_CLUSTER" help:"Name of the ClickHouse cluster. With it, tables are replicated and distributed."`
	EnginesDir        string   `env:"OCTAVO_ENGINES_DIR" type:"path" help:"Directory in which npm installed the embedded engines. Default: deploy/engines next to the program or in the working directory."`

	GitCache  int64  `env:"OCTAVO_GIT_CACHE" default:"2147483648" help:"Disk in bytes for what imports and exports with a repoCacheID fetched, on each node with the role jobs. What was not used for a week is deleted. 0: nothing is kept."`
	PDFMemory uint64 `name:"pdf-memory" env:"OCTAVO_PDF_MEMORY" default:"2147483648" help:"Memory in bytes that the renderer of one PDF may use. A document that needs more fails with that reason."`

	KafkaTopic      string `env:"OCTAVO_KAFKA_TOPIC" default:"octavo.events" help:"Topic of the event log."`
	KafkaPartitions int    `env:"OCTAVO_KAFKA_PARTITIONS" default:"4" help:"Partitions of the topic. Used only to create it."`
	KafkaReplicas   int    `env:"OCTAVO_KAFKA_REPLICAS" default:"1" help:"Replicas of the topic. Used only to create it; use 3 on a cluster."`

	KafkaMinInSync int           `name:"kafka-min-insync" env:"OCTAVO_KAFKA_MIN_INSYNC" default:"0" help:"Replicas that must have an event before it is acknowledged: min.insync.replicas of the topic. Used only to create it. 0: all but one, at least one."`
	KafkaRetention time.Duration `env:"OCTAVO_KAFKA_RETENTION" default:"168h" help:"How long the topic keeps events, stored or not. Used only to create it. If sinks are down for longer, events are lost."`

	ClickHouseInsertQuorum string `name:"clickhouse-insert-quorum" env:"OCTAVO_CLICKHOUSE_INSERT_QUORUM" default:"auto" help:"On a ClickHouse cluster, how many replicas must have an insert before it succeeds: auto (a majority), a number, or off."`

	KafkaMaxBytes     int64 `env:"OCTAVO_KAFKA_MAX_BYTES" default:"17179869184" help:"Maximum size of the embedded broker's log in bytes. When events that are not stored yet fill it, event posts are answered 503."`
	KafkaRetainBytes  int64 `env:"OCTAVO_KAFKA_RETAIN_BYTES" default:"2147483648" help:"Bytes of already stored events that the embedded broker's log keeps."`
	KafkaMinFreeBytes int64 `env:"OCTAVO_KAFKA_MIN_FREE_BYTES" default:"0" help:"Disk space in bytes that the embedded broker leaves free: with less, event posts are answered 503. 0: 512 MiB, or 5 % of the disk if that is less."`

	SinkSessionTimeout time.Duration `env:"OCTAVO_SINK_SESSION_TIMEOUT" default:"10s" help:"How long a sink may be silent before its partitions go to other sinks. Brokers refuse less than their group.min.session.timeout.ms, 6 s by default."`

	KafkaTLS      string `name:"kafka-tls" env:"OCTAVO_KAFKA_TLS" enum:"off,on" default:"off" help:"Whether to connect to Kafka with TLS: off or on."`
	KafkaTLSCA    string `name:"kafka-tls-ca" env:"OCTAVO_KAFKA_TLS_CA" type:"path" help:"PEM file of the certificate authorities to trust for Kafka. Default: the system's."`
	KafkaTLSCert  string `name:"kafka-tls-cert" env:"OCTAVO_KAFKA_TLS_CERT" type:"path" help:"PEM file of the client certificate for Kafka."`
	KafkaTLSKey   string `name:"kafka-tls-key" env:"OCTAVO_KAFKA_TLS_KEY" type:"path" help:"PEM file of the client certificate's private key."`
	KafkaSASL     string `name:"kafka-sasl" env:"OCTAVO_KAFKA_SASL" enum:",plain,scram-sha-256,scram-sha-512" default:"" help:"SASL mechanism for Kafka: plain, scram-sha-256 or scram-sha-512. Default: no login."`
	KafkaUsername string `env:"OCTAVO_KAFKA_USERNAME" help:"User name for Kafka."`
	KafkaPassword string `env:"OCTAVO_KAFKA_PASSWORD" secret:"" help:"Password for Kafka."`

	ClickHouseTLSCA string `name:"clickhouse-tls-ca" env:"OCTAVO_CLICKHOUSE_TLS_CA" type:"path" help:"PEM file of the certificate authorities to trust for ClickHouse, if its URL has secure=true. Default: the system's."`

	GeoIPMMDB      string        `name:"geoip-mmdb" env:"OCTAVO_GEOIP_MMDB" type:"path" help:"MaxMind database (.mmdb) that gives the country of an IP address. Default: none, events have no country."`
	EventMaxFuture time.Duration `env:"OCTAVO_EVENT_MAX_FUTURE" default:"1h" help:"How far in the future an event's timestamp may be."`
	SiteKeyMaxPast time.Duration `env:"OCTAVO_SITE_KEY_MAX_PAST" default:"720h" help:"How old an event posted with a site key may be. A user's token may post events of any age, for imports."`
	BootstrapToken string        `env:"OCTAVO_BOOTSTRAP_TOKEN" secret:"" help:"Token of the first user, who is created on the first start with an empty database."`
	BootstrapEmail string        `env:"OCTAVO_BOOTSTRAP_EMAIL" default:"admin@localhost" help:"E-mail address of the first user. The default is in no domain that an organization can prove."`
	TrustedProxies []string      `env:"OCTAVO_TRUSTED_PROXIES" help:"Networks (CIDR) of proxies whose X-Forwarded-For header is trusted."`

	OutboundAllow []string `env:"OCTAVO_OUTBOUND_ALLOW" help:"Hosts, IP addresses and networks (CIDR) that users' addresses, such as those of Git repositories, may lead to although they are not on the public network. Link-local addresses and the metadata services of clouds stay closed."`

	OpenAPIVersions int32         `name:"openapi-versions" env:"OCTAVO_OPENAPI_VERSIONS" default:"100" help:"Versions of an OpenAPI specification that are kept; the oldest are deleted when one is added. 0: all are kept."`
	OpenAPIPoll     time.Duration `name:"openapi-poll" env:"OCTAVO_OPENAPI_POLL" default:"1h" help:"How often OpenAPI specifications are fetched again from their URLs. 0: only when a URL is set."`

	FrontEnds      []string `env:"OCTAVO_FRONT_ENDS" help:"Addresses of front ends that show sites to readers, such as https://docs.example.com. They hear of what has changed within seconds, and their pages get one id for each visitor. Their hosts may be on a private network."`
	FrontEndSecret string   `env:"OCTAVO_FRONT_END_SECRET" secret:"" help:"Secret that the front ends know (their GITBOOK_SECRET), with which they are told of changes. Without one, they are told without a signature."`

	Translator      string `env:"OCTAVO_TRANSLATOR" enum:",libretranslate,chat" default:"" help:"What translates spaces: libretranslate, or chat for a server of chat completions (a language model). Default: nothing; runs of translations fail with that reason."`
	TranslatorURL   string `env:"OCTAVO_TRANSLATOR_URL" help:"Address of the translator: of LibreTranslate such as http://translate.example.com:5000, or the one that chat/completions is below, such as https://models.example.com/v1. Its host may be on a private network."`
	TranslatorKey   string `env:"OCTAVO_TRANSLATOR_KEY" secret:"" help:"Key of the translator. Default: none."`
	TranslatorModel string `env:"OCTAVO_TRANSLATOR_MODEL" help:"Model that a server of chat completions is asked for."`

	ConversationsURL   string `env:"OCTAVO_CONVERSATIONS_URL" help:"Address of a language model that names and sums up clusters of conversations: the one that chat/completions is below, such as https://models.example.com/v1. It is told the titles of issues. Its host may be on a private network. Default: none, and clusters keep the titles that Octavo gives them."`
	ConversationsKey   string `env:"OCTAVO_CONVERSATIONS_KEY" secret:"" help:"Its key. Default: none."`
	ConversationsModel string `env:"OCTAVO_CONVERSATIONS_MODEL" help:"Model that is asked for."`

	RateLimit      int `env:"OCTAVO_RATE_LIMIT" default:"1000" help:"Requests per second of one token on this node, with bursts of twice as many. 0: no limit."`
	EventRateLimit int `env:"OCTAVO_EVENT_RATE_LIMIT" default:"0" help:"The same for requests that post events. 0: no limit."`

	PublicRateLimit     int `env:"OCTAVO_PUBLIC_RATE_LIMIT" default:"100" help:"Requests per second of one IP address (IPv6: /64 network) to what needs no token, such as files and PDFs, with bursts of twice as many. 0: no limit. Trusted proxies have no limit."`
	WrongTokenRateLimit int `env:"OCTAVO_WRONG_TOKEN_RATE_LIMIT" default:"50" help:"The same for requests without a valid token. 0: no limit."`
	MaxConns            int `env:"OCTAVO_MAX_CONNS" default:"16384" help:"Maximum number of open connections on the listener, further limited by the process's file descriptors. At the limit, the connections that have been idle longest are closed."`
	MaxConnsPerIP       int `name:"max-conns-per-ip" env:"OCTAVO_MAX_CONNS_PER_IP" default:"512" help:"Maximum number of open connections of one IP address (IPv6: /64 network). 0: no limit. Trusted proxies have no limit."`
	AnswerMemory        int `env:"OCTAVO_ANSWER_MEMORY" default:"33554432" help:"Memory in bytes for the answers that clients have not read yet. Those to one IP address (IPv6: /64 network) may use a quarter of it; trusted proxies may use all. Beyond it, answers of more than 4 KiB are refused, with 429 if the address has used its share and with 503 otherwise. Files, PDFs and published specifications count little: they are not copied."`
	BodyMemory          int `env:"OCTAVO_BODY_MEMORY" default:"67108864" help:"Memory in bytes for the bodies of all requests in flight, beyond the first 16 KiB of each. One token may use a quarter of it, or 32 MiB if that is more. A request waits up to 2 s for memory; then it is refused, with 429 if its token has used its share and with 503 otherwise."`

	SSOSession  time.Duration `name:"sso-session" env:"OCTAVO_SSO_SESSION" default:"12h" help:"How long a session of single sign-on lasts, unless the identity provider ends it earlier."`
	SSOReturnTo []string      `name:"sso-return-to" env:"OCTAVO_SSO_RETURN_TO" help:"Origins, such as https://app.example.com, besides that of OCTAVO_PUBLIC_URL, to which a browser may return after a login, with a code for its session."`

	InviteLifetime time.Duration `env:"OCTAVO_INVITE_LIFETIME" default:"720h" help:"How long new invites, by e-mail and by link, are valid. 0: forever."`
	AuditRetention time.Duration `env:"OCTAVO_AUDIT_RETENTION" default:"9600h" help:"How long the audit log keeps its entries, with the names and addresses of those who changed something. 0: forever."`

	SMTPURL   string `name:"smtp-url" env:"OCTAVO_SMTP_URL" secret:"" help:"Mail server that sends invites: smtp://user:password@host:port, which wants STARTTLS unless the host is this machine or the URL ends with ?tls=off, or smtps://… Its host may be on a private network. Default: no mails are sent."`
	SMTPTLSCA string `name:"smtp-tls-ca" env:"OCTAVO_SMTP_TLS_CA" type:"path" help:"PEM file of the certificate authorities to trust for the mail server. Default: the system's."`
	MailFrom  string `env:"OCTAVO_MAIL_FROM" help:"Sender of mails, such as \"Docs <docs@example.com>\". Required with OCTAVO_SMTP_URL."`

	QueryConcurrency  int           `env:"OCTAVO_QUERY_CONCURRENCY" default:"8" help:"Queries that this node runs on the insights store at once; more wait. The store needs this number times OCTAVO_QUERY_MAX_MEMORY of memory."`
	QueryPerOrg       int           `env:"OCTAVO_QUERY_PER_ORG" default:"4" help:"How many of them one organization may run."`
	QueryPerToken     int           `env:"OCTAVO_QUERY_PER_TOKEN" default:"2" help:"How many of them one token may run."`
	QueryRows         int64         `env:"OCTAVO_QUERY_ROWS" default:"12000000" help:"Rows that the queries of this node read at once, as far as is known before; more wait, but for light queries. Suits a store on 2 cores: raise it with the number of cores. 0: no limit, nor one of an organization or token."`
	QueryRowsPerOrg   int64         `env:"OCTAVO_QUERY_ROWS_PER_ORG" default:"8000000" help:"How many of them one organization may read. 0: no limit."`
	QueryRowsPerToken int64         `env:"OCTAVO_QUERY_ROWS_PER_TOKEN" default:"4000000" help:"How many of them one token may read; a query of more counts as so many. 0: no limit."`
	QueryQueueWait    time.Duration `env:"OCTAVO_QUERY_QUEUE_WAIT" default:"10s" help:"How long a query waits for its turn. Then it is answered 429 if its own organization or token is at its limit, and 503 if others fill the node."`
	QueryCache        time.Duration `env:"OCTAVO_QUERY_CACHE" default:"5s" help:"How old an answer may be that is given to the next who asks the same; one that was made quickly is kept for less, ten times as long as its asker waited. 0: every query is run. Requests with Cache-Control: no-cache always are."`
	QueryStates       int64         `env:"OCTAVO_QUERY_STATES" default:"2048" help:"Disk of the insights store, in MiB, for aggregate states of what is stored for some time, which make long ranges quick that are asked for again within a day. They need a single server, and its login the right to create tables. 0: none are kept."`
	QueryMaxTime      time.Duration `env:"OCTAVO_QUERY_MAX_TIME" default:"20s" help:"How long a query may run; a slower one is answered 400."`
	QueryMaxMemory    int64         `env:"OCTAVO_QUERY_MAX_MEMORY" default:"512" help:"Memory that one query may use in the insights store, in MiB."`
	QueryMaxRows      uint64        `env:"OCTAVO_QUERY_MAX_ROWS" default:"2000000000" help:"Rows that one query may read."`
	QueryMaxThreads   int           `env:"OCTAVO_QUERY_MAX_THREADS" default:"0" help:"Threads that one query may use in the insights store. 0: the store's own setting."`

	Quotas store.Quotas `embed:"" prefix:"quota-" envprefix:"OCTAVO_QUOTA_"`

	DrainWait   time.Duration `env:"OCTAVO_DRAIN_WAIT" default:"1s" help:"How long a stopping node keeps serving while /readyz fails, unless all connections close earlier. Make it longer than the load balancer takes to notice."`
	StopTimeout time.Duration `env:"OCTAVO_STOP_TIMEOUT" default:"30s" help:"How long a stopping node may take to finish requests and flush."`
	LogLevel    slog.Level    `env:"OCTAVO_LOG_LEVEL" default:"info" help:"Minimum level of log lines: debug, info, warn or error."`
}

// leastSinkSession leaves room for a late heartbeat.
const leastSinkSession = 3 * time.Second

// leastOpenAPIPoll spares the servers of specifications.
const leastOpenAPIPoll = time.Minute

// leastAnswerMemory has room for an answer of usual size to each of several
// addresses.
const leastAnswerMemory = 4 << 20

// leastBodyMemory has room for one body of the largest size, both as sent and
// inflated.
const leastBodyMemory = 32 << 20

var allRoles = []string{"api", "sink", "jobs"}

// Validate is called by kong before Run. It checks what can be checked without
// starting anything, and its errors name the setting.
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
	if s.AnswerMemory < leastAnswerMemory {
		return fmt.Errorf(
			"OCTAVO_ANSWER_MEMORY: must be at least %d, for answers of 1 MiB to four addresses",
			leastAnswerMemory,
		)
	}
	if s.BodyMemory < leastBodyMemory {
		return fmt.Errorf("OCTAVO_BODY_MEMORY: must be at least %d, to hold one body of the largest size both as sent and inflated", leastBodyMemory)
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
		return fmt.Errorf("OCTAVO_KAFKA_RETAIN_BYTES: must be from 1 MiB to half of OCTAVO_KAFKA_MAX_BYTES")
	}
	if s.KafkaMinFreeBytes < 0 {
		return fmt.Errorf("OCTAVO_KAFKA_MIN_FREE_BYTES: must not be negative")
	}
	if s.SinkSessionTimeout < leastSinkSession {
		return fmt.Errorf("OCTAVO_SINK_SESSION_TIMEOUT: must be at least %s", leastSinkSession)
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
	if s.RateLimit < 0 || s.EventRateLimit < 0 {
		return fmt.Errorf("OCTAVO_RATE_LIMIT and OCTAVO_EVENT_RATE_LIMIT: must not be negative")
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
	if s.QueryRows < 0 || s.QueryRowsPerOrg < 0 || s.QueryRowsPerToken < 0 {
		return fmt.Errorf("OCTAVO_QUERY_ROWS, OCTAVO_QUERY_ROWS_PER_ORG and OCTAVO_QUERY_ROWS_PER_TOKEN: must not be negative")
	}
	if s.QueryCache < 0 || s.QueryCache > maxQueryCache {
		return fmt.Errorf("OCTAVO_QUERY_CACHE: must be from 0 to %s", maxQueryCache)
	}
	if s.QueryStates < 0 || s.QueryStates > maxQueryStates {
		return fmt.Errorf("OCTAVO_QUERY_STATES: must be from 0 to %d", maxQueryStates)
	}
	if s.QueryMaxThreads < 0 {
		return fmt.Errorf("OCTAVO_QUERY_MAX_THREADS: must not be negative")
	}
	return nil
}

// Bounds that only a mistake exceeds.
const (
	maxQueryConcurrency = 10_000
	maxQueryMemory      = 1 << 30 // MiB
	maxQueryStates      = 1 << 30 // MiB
	// maxQueryCache is not for mistakes only: until then an erased visitor is counted.
	maxQueryCache = time.Minute
)

// queryCacheBytes bounds the kept answers: a small part of memoryLimit.
const queryCacheBytes = 8 << 20

// queryConfig has the limits of queries on the insights store.
func (s *Settings) queryConfig() query.Config {
	states := uint64(s.QueryStates) << 20
	if s.ClickHouseCluster != "" {
		states = 0 // its parts are on several servers
	}
	return query.Config{
		Concurrency: s.QueryConcurrency, PerOrganization: s.QueryPerOrg, PerToken: s.QueryPerToken, QueueWait: s.QueryQueueWait,
		Rows: s.QueryRows, RowsPerOrganization: s.QueryRowsPerOrg, RowsPerToken: s.QueryRowsPerToken,
		Keep: s.QueryCache, KeepBytes: queryCacheBytes, StateBytes: states,
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

// kafkaLogin is the login to the brokers that the settings name.
func (s *Settings) kafkaLogin() eventlog.Login {
	return eventlog.Login{
		TLS: s.KafkaTLS == "on", CA: s.KafkaTLSCA, Cert: s.KafkaTLSCert, Key: s.KafkaTLSKey,
		Mechanism: s.KafkaSASL, Username: s.KafkaUsername, Password: s.KafkaPassword,
	}
}

func (s *Settings) store(url string) store.Config {
	return store.Config{
		URL: url, InviteLifetime: s.InviteLifetime, InvitesByMail: s.SMTPURL != "", Quotas: s.Quotas, OpenAPIVersions: s.OpenAPIVersions,
	}
}

func (s *Settings) has(role string) bool { return slices.Contains(s.Roles, role) }

// publicURL is the base of the URLs in responses.
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

// logger writes JSON lines to stderr: stdout is for a command's output.
func (s *Settings) logger() *slog.Logger {
	return slog.New(slog.NewJSONHandler(os.Stderr, &slog.HandlerOptions{
		Level: s.LogLevel,
		ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
			if a.Value.Kind() == slog.KindDuration { // as a number it would lack a unit
				a.Value = slog.StringValue(a.Value.Duration().String())
			}
			return a
		},
	}))
}
