package main

import (
	"log/slog"
	"time"

	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/store/postgres"
)

// Settings are the settings of every command that uses the engines. Each setting is a flag, an environment variable and
// a member of the configuration file, in this order of precedence. A setting tagged secret can be read from a separate
// file; see secretFiles. octavo settings lists all settings, and deploy/SETTINGS.md has this list.
type Settings struct {
	Listen    string   `env:"OCTAVO_LISTEN" default:"127.0.0.1:8080" help:"Address to serve HTTP on."`
	Admin     string   `name:"admin-listen" env:"OCTAVO_ADMIN_LISTEN" default:"127.0.0.1:8081" help:"Address of the operators' listener, or off. It serves metrics, pprof, version and health without a token: do not expose it to the public."`
	PublicURL string   `env:"OCTAVO_PUBLIC_URL" help:"Base of the URLs in responses, and of the published addresses of sites without a hostname. Behind a proxy, set the URL that the proxy serves. Front ends do not open addresses with a port. Default: http:// and the listen address."`
	DataDir   string   `env:"OCTAVO_DATA_DIR" default:"data" type:"path" help:"Directory for the data of the embedded engines."`
	Roles     []string `env:"OCTAVO_ROLES" default:"api,sink,jobs" help:"Roles of this node. api serves requests, sink stores events, jobs runs background jobs. Without a node for jobs, jobs wait in Postgres."`

	PostgresURL       string   `env:"OCTAVO_POSTGRES_URL" secret:"" help:"URL of a Postgres server, version 15 or later. TLS is set in the URL: sslmode, sslrootcert, sslcert, sslkey. Default: the embedded Postgres."`
	KafkaBrokers      []string `env:"OCTAVO_KAFKA_BROKERS" help:"Addresses of Kafka brokers, host:port. Default: the embedded broker."`
	ClickHouseURL     string   `name:"clickhouse-url" env:"OCTAVO_CLICKHOUSE_URL" secret:"" help:"URL of ClickHouse's native protocol (clickhouse://). TLS needs secure=true. Default: the embedded ClickHouse."`
	ClickHouseCluster string   `name:"clickhouse-cluster" env:"OCTAVO_CLICKHOUSE_CLUSTER" help:"Name of the ClickHouse cluster. With a cluster, tables are replicated and distributed."`
	EnginesDir        string   `env:"OCTAVO_ENGINES_DIR" type:"path" help:"Directory of the embedded engines (make engines). Default: deploy/engines next to the program or in the working directory."`

	Memory           schema.ByteSize `name:"memory-bytes" env:"OCTAVO_MEMORY_BYTES" default:"0" help:"Memory of this node with its embedded engines. At the start it is divided between them, and the log has the parts. A node with all engines and roles needs 512 MiB, and 1 GiB to render PDFs. 0: the limit of the container, or the memory of the machine if that is less."`
	ClickHouseMemory schema.ByteSize `name:"clickhouse-memory-bytes" env:"OCTAVO_CLICKHOUSE_MEMORY_BYTES" default:"0" help:"Part of the memory for the embedded ClickHouse. 0: what the other parts leave, at most half."`
	PostgresMemory   schema.ByteSize `name:"postgres-memory-bytes" env:"OCTAVO_POSTGRES_MEMORY_BYTES" default:"0" help:"Part of the memory for the embedded Postgres. 0: from 64 MiB to 512 MiB."`

	GitCache  schema.ByteSize `name:"git-cache-bytes" env:"OCTAVO_GIT_CACHE_BYTES" default:"2GiB" help:"Disk for the repositories that imports and exports with a repoCacheID fetched, on each node with the role jobs. A repository that is unused for a week is deleted. 0: no cache."`
	PDFMemory schema.ByteSize `name:"pdf-memory-bytes" env:"OCTAVO_PDF_MEMORY_BYTES" default:"0" help:"Memory that the renderer of one PDF may use. A node renders up to two PDFs at a time, as memory allows. 0: up to 2 GiB, as memory allows; no PDFs are rendered if that is less than 192 MiB. A book that would need more than half of it is rendered in parts, which are joined: 1,000 sheets of text take 0.8 GiB, and large tables take most, about 2 MiB for 60 cells. A document fails with that reason if one of its blocks, or its contents, needs more."`

	KafkaTopic      string `env:"OCTAVO_KAFKA_TOPIC" default:"octavo.events" help:"Topic of the event log."`
	KafkaPartitions int    `env:"OCTAVO_KAFKA_PARTITIONS" default:"4" help:"Partitions of the topic. Used only to create it."`
	KafkaReplicas   int    `env:"OCTAVO_KAFKA_REPLICAS" default:"1" help:"Replicas of the topic. Used only to create it. Set 3 on a cluster."`

	KafkaMinInSync int           `name:"kafka-min-insync" env:"OCTAVO_KAFKA_MIN_INSYNC" default:"0" help:"Replicas that must have an event before it is acknowledged: min.insync.replicas of the topic. Used only to create it. 0: all except one, at least one."`
	KafkaRetention time.Duration `env:"OCTAVO_KAFKA_RETENTION" default:"168h" help:"How long the topic keeps events, stored or not. Used only to create it. If sinks are down for longer, events are lost."`

	ClickHouseInsertQuorum string `name:"clickhouse-insert-quorum" env:"OCTAVO_CLICKHOUSE_INSERT_QUORUM" default:"auto" help:"Replicas of a ClickHouse cluster that must have an insert before it succeeds: auto (a majority), a number, or off."`

	KafkaMaxBytes     schema.ByteSize `env:"OCTAVO_KAFKA_MAX_BYTES" default:"16GiB" help:"Largest size of the embedded broker's log. When events that are not stored yet fill it, event posts are answered 503 (log_full)."`
	KafkaRetainBytes  schema.ByteSize `env:"OCTAVO_KAFKA_RETAIN_BYTES" default:"2GiB" help:"Size of the stored events that the embedded broker's log keeps."`
	KafkaMinFreeBytes schema.ByteSize `env:"OCTAVO_KAFKA_MIN_FREE_BYTES" default:"0" help:"Disk space that the embedded broker leaves free. With less, event posts are answered 503. 0: 512 MiB, or 5 % of the disk if that is less."`

	SinkSessionTimeout time.Duration `env:"OCTAVO_SINK_SESSION_TIMEOUT" default:"10s" help:"How long a sink may be silent before other sinks take over its partitions. Brokers refuse less than their group.min.session.timeout.ms, 6 s by default."`
	// SinkPause is also the length of the event log's turns: see Turn in eventlog.Config.
	SinkPause time.Duration `env:"OCTAVO_SINK_PAUSE" default:"1s" help:"How long a sink gathers events for one insert, and half as long from 16,384 events. With a longer pause, an event costs the store less processor time, and is visible later: mostly within the pause and the time of its insert. From 50ms to 10s, the same on all nodes."`

	KafkaTLS      string `name:"kafka-tls" env:"OCTAVO_KAFKA_TLS" enum:"off,on" default:"off" help:"Whether to connect to Kafka with TLS: off or on."`
	KafkaTLSCA    string `name:"kafka-tls-ca" env:"OCTAVO_KAFKA_TLS_CA" type:"path" help:"PEM file of the certificate authorities to trust for Kafka. Default: the system's."`
	KafkaTLSCert  string `name:"kafka-tls-cert" env:"OCTAVO_KAFKA_TLS_CERT" type:"path" help:"PEM file of the client certificate for Kafka."`
	KafkaTLSKey   string `name:"kafka-tls-key" env:"OCTAVO_KAFKA_TLS_KEY" type:"path" help:"PEM file of the client certificate's private key."`
	KafkaSASL     string `name:"kafka-sasl" env:"OCTAVO_KAFKA_SASL" enum:",plain,scram-sha-256,scram-sha-512" default:"" help:"SASL mechanism for Kafka: plain (needs TLS, because it sends the password), scram-sha-256 or scram-sha-512. Default: no login."`
	KafkaUsername string `env:"OCTAVO_KAFKA_USERNAME" help:"User name for Kafka."`
	KafkaPassword string `env:"OCTAVO_KAFKA_PASSWORD" secret:"" help:"Password for Kafka."`

	ClickHouseTLSCA string `name:"clickhouse-tls-ca" env:"OCTAVO_CLICKHOUSE_TLS_CA" type:"path" help:"PEM file of the certificate authorities to trust for ClickHouse, if its URL has secure=true. Default: the system's."`

	GeoIPMMDB      string        `name:"geoip-mmdb" env:"OCTAVO_GEOIP_MMDB" type:"path" help:"MaxMind database (.mmdb) that maps IP addresses to places. Without it, an event has a country only if a front end or a trusted proxy names the country."`
	EventMaxFuture time.Duration `env:"OCTAVO_EVENT_MAX_FUTURE" default:"1h" help:"How far in the future an event's timestamp may be."`
	SiteKeyMaxPast time.Duration `env:"OCTAVO_SITE_KEY_MAX_PAST" default:"720h" help:"How old an event posted with a site key may be. A user's token may post events of any age, for imports."`
	BootstrapToken string        `env:"OCTAVO_BOOTSTRAP_TOKEN" secret:"" help:"Token of the first user. The first start on an empty database creates that user."`
	BootstrapEmail string        `env:"OCTAVO_BOOTSTRAP_EMAIL" default:"admin@localhost" help:"E-mail address of the first user. No organization can prove the domain of the default."`
	TrustedProxies []string      `env:"OCTAVO_TRUSTED_PROXIES" help:"Networks (CIDR) whose X-Forwarded-For and X-Location headers are trusted and whose connections are unlimited. A trusted proxy must drop these headers of its own clients."`

	TrustedOrigins []string `env:"OCTAVO_TRUSTED_ORIGINS" help:"Origins of web applications, such as https://app.example.com, whose pages may call every operation with a token (CORS). Pages of other origins may post events and read published specifications."`

	OutboundAllow []string `env:"OCTAVO_OUTBOUND_ALLOW" help:"Hosts, IP addresses and networks (CIDR) outside of the public network that users' addresses, such as of Git repositories, may lead to. Link-local addresses and the metadata services of clouds stay closed."`

	OpenAPIVersions int32         `name:"openapi-versions" env:"OCTAVO_OPENAPI_VERSIONS" default:"100" help:"Versions of an OpenAPI specification that are kept. A new version deletes the oldest. 0: all are kept."`
	OpenAPIPoll     time.Duration `name:"openapi-poll" env:"OCTAVO_OPENAPI_POLL" default:"1h" help:"How often OpenAPI specifications are fetched again from their URLs. 0: only when a URL is set."`

	FrontEnds      []string `env:"OCTAVO_FRONT_ENDS" help:"Addresses of front ends that show sites to readers, such as https://docs.example.com. Octavo tells them within seconds what to read again, and gives their readers one visitor id each. Their hosts may be on a private network."`
	FrontEndSecret string   `env:"OCTAVO_FRONT_END_SECRET" secret:"" help:"Secret that the front ends know (their GITBOOK_SECRET). It signs the calls that tell them of changes. Without a secret, the calls have no signature."`

	Translator      string `env:"OCTAVO_TRANSLATOR" enum:",libretranslate,chat" default:"" help:"Service that translates spaces: libretranslate, or chat for a server of chat completions (a language model). Without a service, translation runs fail with that reason."`
	TranslatorURL   string `env:"OCTAVO_TRANSLATOR_URL" help:"Address of the translator: LibreTranslate, such as http://translate.example.com:5000, or the base URL of an OpenAI-compatible API, such as https://models.example.com/v1. Its host may be on a private network."`
	TranslatorKey   string `env:"OCTAVO_TRANSLATOR_KEY" secret:"" help:"Key of the translator. Default: no key."`
	TranslatorModel string `env:"OCTAVO_TRANSLATOR_MODEL" help:"Name of the translator's language model."`

	ConversationsURL   string `env:"OCTAVO_CONVERSATIONS_URL" help:"Base URL of an OpenAI-compatible API, such as https://models.example.com/v1. It names and summarizes each cluster of four or more issues, and again whenever the cluster has quadrupled. It receives the titles of twelve issues. Its host may be on a private network. Default: clusters keep the titles that Octavo gives them."`
	ConversationsKey   string `env:"OCTAVO_CONVERSATIONS_KEY" secret:"" help:"Key of that API. Default: no key."`
	ConversationsModel string `env:"OCTAVO_CONVERSATIONS_MODEL" help:"Name of that API's language model."`

	RateLimit      int `env:"OCTAVO_RATE_LIMIT" unit:"requests/s" default:"1000" help:"Requests of one token on this node, with bursts of twice as many. The headers X-RateLimit-… show the remaining requests. 0: no limit."`
	EventRateLimit int `env:"OCTAVO_EVENT_RATE_LIMIT" unit:"requests/s" default:"0" help:"Requests of one token on this node that post events, with bursts of twice as many. 0: no limit."`

	PublishableKeyRateLimit int `env:"OCTAVO_PUBLISHABLE_KEY_RATE_LIMIT" unit:"requests/s" default:"1000" help:"Requests of one publishable key on this node, with bursts of twice as many. All keys of a site together have twice that. 0: no limit."`

	PublicRateLimit     int             `env:"OCTAVO_PUBLIC_RATE_LIMIT" unit:"requests/s" default:"100" help:"Requests of one IP address (IPv6: /64 network) to operations without a token, such as files and PDFs, with bursts of twice as many. 0: no limit. Trusted proxies have no limit."`
	WrongTokenRateLimit int             `env:"OCTAVO_WRONG_TOKEN_RATE_LIMIT" unit:"requests/s" default:"50" help:"Requests of one IP address (IPv6: /64 network) without a valid token, with bursts of twice as many. 0: no limit."`
	MaxConns            int             `env:"OCTAVO_MAX_CONNS" default:"16384" help:"Largest number of open connections on the listener, further limited by the process's file descriptors and by its memory. At the limit, the connections that have been idle longest are closed."`
	MaxConnsPerIP       int             `name:"max-conns-per-ip" env:"OCTAVO_MAX_CONNS_PER_IP" default:"512" help:"Largest number of open connections of one IP address (IPv6: /64 network). 0: no limit. Trusted proxies have no limit."`
	AnswerMemory        schema.ByteSize `name:"answer-memory-bytes" env:"OCTAVO_ANSWER_MEMORY_BYTES" default:"0" help:"Memory for the answers that clients have not read yet. 0: up to 32 MiB, as memory allows. One IP address (IPv6: /64 network) may use a quarter of it; trusted proxies may use all. Beyond it, answers of more than 4 KiB are refused: with 429 if the address has used its share, otherwise with 503. Files, PDFs and published specifications are streamed or shared and count little. An analytics query is refused with 400 if its answer, or the rows from which the answer is written, have more bytes than half of this memory (at least 4 MiB, at most 16 MiB). The rows of a list of pages may have four times as many. The answers of a batch have the same limit together."`
	BodyMemory          schema.ByteSize `name:"body-memory-bytes" env:"OCTAVO_BODY_MEMORY_BYTES" default:"0" help:"Memory for the bodies of all requests in flight, beyond the first 16 KiB of each. 0: up to 64 MiB, as memory allows. One token may use a quarter of it, or 32 MiB if that is more. A request waits up to 2 s for memory. Then it is refused: with 429 if its token has used its share, otherwise with 503."`

	SSOSession  time.Duration `name:"sso-session" env:"OCTAVO_SSO_SESSION" default:"12h" help:"How long a session of single sign-on lasts, unless the identity provider ends it earlier."`
	SSOReturnTo []string      `name:"sso-return-to" env:"OCTAVO_SSO_RETURN_TO" help:"Origins, such as https://app.example.com, in addition to the origin of OCTAVO_PUBLIC_URL, to which a browser may return after a login with a code for its session."`

	InviteLifetime time.Duration `env:"OCTAVO_INVITE_LIFETIME" default:"720h" help:"How long new invites, by e-mail and by link, are valid. 0: forever."`
	AuditRetention time.Duration `env:"OCTAVO_AUDIT_RETENTION" default:"9600h" help:"How long the audit log keeps its entries, with names and addresses. 0: forever."`

	SMTPURL   string `name:"smtp-url" env:"OCTAVO_SMTP_URL" secret:"" help:"Mail server that sends invites: smtp://user:password@host:port or smtps://…. smtp needs STARTTLS, unless the host is this machine or the URL ends with ?tls=off. Its host may be on a private network. Default: no mails are sent."`
	SMTPTLSCA string `name:"smtp-tls-ca" env:"OCTAVO_SMTP_TLS_CA" type:"path" help:"PEM file of the certificate authorities to trust for the mail server. Default: the system's."`
	MailFrom  string `env:"OCTAVO_MAIL_FROM" help:"Sender of mails, such as \"Docs <docs@example.com>\". Required with OCTAVO_SMTP_URL."`

	QueryConcurrency  int             `env:"OCTAVO_QUERY_CONCURRENCY" default:"0" help:"Queries that this node runs on the insights store at once. An external store needs this number times OCTAVO_QUERY_MAX_MEMORY_BYTES of memory. 0: 8, or fewer if the embedded store has less than 768 MiB."`
	QueryPerOrg       int             `env:"OCTAVO_QUERY_PER_ORG" default:"4" help:"Queries that one organization may run at once on this node."`
	QueryPerToken     int             `env:"OCTAVO_QUERY_PER_TOKEN" default:"2" help:"Queries that one token may run at once on this node."`
	QueryRows         int64           `env:"OCTAVO_QUERY_ROWS" unit:"rows" default:"12000000" help:"Rows that the queries of this node read at once, as estimated before they run. Light queries do not wait for them. The default suits a store on 2 cores: raise it with the number of cores. 0: no limit, also for organizations and tokens."`
	QueryRowsPerOrg   int64           `env:"OCTAVO_QUERY_ROWS_PER_ORG" unit:"rows" default:"8000000" help:"Rows that one organization's queries read at once. 0: no limit."`
	QueryRowsPerToken int64           `env:"OCTAVO_QUERY_ROWS_PER_TOKEN" unit:"rows" default:"4000000" help:"Rows that one token's queries read at once. A larger query counts as this number. 0: no limit."`
	QueryQueueWait    time.Duration   `env:"OCTAVO_QUERY_QUEUE_WAIT" default:"10s" help:"How long a query waits for its turn. Then it is answered 429 if its own organization or token is at its limit, otherwise 503."`
	QueryCache        time.Duration   `env:"OCTAVO_QUERY_CACHE" default:"5s" help:"How long an answer stays cached while events of its site arrive. A quick answer stays ten times as long as it took. An answer that took longer than this stays as long as it took, at most a minute. Without new events an answer stays for a day, or for a minute if its range ends now. 0: no cache. Requests with Cache-Control: no-cache pass the cache."`
	QueryStates       schema.ByteSize `name:"query-states-bytes" env:"OCTAVO_QUERY_STATES_BYTES" default:"2GiB" help:"Disk of the insights store for cached aggregate states, which speed up repeated queries of long ranges for a day. They need a single server, and the right to create tables. 0: no states."`
	QueryMaxTime      time.Duration   `env:"OCTAVO_QUERY_MAX_TIME" default:"20s" help:"How long a query may run. A slower query is answered 400."`
	QueryMaxMemory    schema.ByteSize `name:"query-max-memory-bytes" env:"OCTAVO_QUERY_MAX_MEMORY_BYTES" default:"0" help:"Memory that one query may use in the insights store. 0: 512 MiB, or half of the embedded store's memory if that is less. If the store has more than 6 GiB: a twelfth of it, up to 2 GiB."`
	QueryMaxRows      uint64          `env:"OCTAVO_QUERY_MAX_ROWS" unit:"rows" default:"2000000000" help:"Rows that one query may read."`
	QueryMaxThreads   int             `env:"OCTAVO_QUERY_MAX_THREADS" unit:"threads" default:"0" help:"Threads that one query may use in the insights store. 0: the store's own setting, or one for each 128 MiB of the embedded store if that is less."`

	Quotas postgres.Quotas `embed:"" prefix:"quota-" envprefix:"OCTAVO_QUOTA_"`

	DrainWait   time.Duration `env:"OCTAVO_DRAIN_WAIT" default:"1s" help:"How long a stopping node keeps serving while /readyz fails, unless all connections close earlier. Make it longer than the load balancer takes to notice."`
	StopTimeout time.Duration `env:"OCTAVO_STOP_TIMEOUT" default:"30s" help:"How long a stopping node may take to finish requests and flush."`
	LogLevel    slog.Level    `env:"OCTAVO_LOG_LEVEL" default:"info" help:"Lowest level of log lines: debug, info, warn or error."`
}
