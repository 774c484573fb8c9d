package main

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/alecthomas/kong"
)

// TestSettingsAreNamed: bad settings are found before anything is started, and
// the error names the setting.
func TestSettingsAreNamed(t *testing.T) {
	t.Parallel()
	for flag, setting := range map[string]string{
		"--kafka-brokers=kafka":              "OCTAVO_KAFKA_BROKERS",
		"--kafka-brokers=kafka:9092,b":       "OCTAVO_KAFKA_BROKERS",
		"--kafka-brokers=http://kafka:9092":  "OCTAVO_KAFKA_BROKERS",
		"--kafka-partitions=65537":           "OCTAVO_KAFKA_PARTITIONS",
		"--site-key-max-past=0s":             "OCTAVO_SITE_KEY_MAX_PAST",
		"--kafka-min-insync=2":               "OCTAVO_KAFKA_MIN_INSYNC",
		"--kafka-min-insync=-1":              "OCTAVO_KAFKA_MIN_INSYNC",
		"--kafka-min-insync=1":               "",
		"--kafka-retention=59s":              "OCTAVO_KAFKA_RETENTION",
		"--clickhouse-insert-quorum=most":    "OCTAVO_CLICKHOUSE_INSERT_QUORUM",
		"--clickhouse-insert-quorum=2":       "",
		"--kafka-max-bytes=1000":             "OCTAVO_KAFKA_MAX_BYTES",
		"--kafka-retain-bytes=17179869184":   "OCTAVO_KAFKA_RETAIN_BYTES",
		"--kafka-min-free-bytes=-1":          "OCTAVO_KAFKA_MIN_FREE_BYTES",
		"--roles=api,sing":                   "OCTAVO_ROLES",
		"--invite-lifetime=-1h":              "OCTAVO_INVITE_LIFETIME",
		"--quota-openapi-specs=-1":           "OCTAVO_QUOTA_OPENAPI_SPECS",
		"--quota-spaces=0":                   "",
		"--kafka-brokers=a:9092,[::1]:09092": "",
		"--admin-listen=8081":                "OCTAVO_ADMIN_LISTEN",
		"--admin-listen=off":                 "",
		"--max-conns=0":                      "OCTAVO_MAX_CONNS",
		"--max-conns-per-ip=-1":              "OCTAVO_MAX_CONNS_PER_IP",
		"--body-memory=1000":                 "OCTAVO_BODY_MEMORY",
		"--public-rate-limit=-1":             "OCTAVO_PUBLIC_RATE_LIMIT",
		"--wrong-token-rate-limit=-1":        "OCTAVO_WRONG_TOKEN_RATE_LIMIT",
		"--query-concurrency=0":              "OCTAVO_QUERY_CONCURRENCY",
		"--query-per-org=0":                  "OCTAVO_QUERY_PER_ORG",
		"--query-per-token=-1":               "OCTAVO_QUERY_PER_TOKEN",
		"--query-queue-wait=0s":              "OCTAVO_QUERY_QUEUE_WAIT",
		"--query-max-time=-1s":               "OCTAVO_QUERY_MAX_TIME",
		"--query-max-memory=0":               "OCTAVO_QUERY_MAX_MEMORY",
		"--query-max-rows=0":                 "OCTAVO_QUERY_MAX_ROWS",
		"--query-max-threads=-1":             "OCTAVO_QUERY_MAX_THREADS",
		"--query-max-threads=2":              "",
		"--query-rows=-1":                    "OCTAVO_QUERY_ROWS",
		"--query-rows-per-token=-1":          "OCTAVO_QUERY_ROWS_PER_TOKEN",
		"--query-rows=0":                     "",
		"--query-cache=-1s":                  "OCTAVO_QUERY_CACHE",
		"--query-cache=61s":                  "OCTAVO_QUERY_CACHE",
		"--query-states=-1":                  "OCTAVO_QUERY_STATES",
		"--query-cache=0":                    "",
		"--outbound-allow=10.0.0.0/33":       "OCTAVO_OUTBOUND_ALLOW: \"10.0.0.0/33\"",
		"--outbound-allow=a,169.254.169.254": "OCTAVO_OUTBOUND_ALLOW: \"169.254.169.254\"",
		"--outbound-allow=a.lan,10.0.0.0/8":  "",
	} {
		parser, err := kong.New(&commands{}, options(strings.NewReader(""))...)
		if err != nil {
			t.Fatal(err)
		}
		_, err = parser.Parse([]string{"serve", flag})
		if setting == "" && err != nil || setting != "" && (err == nil || !strings.Contains(err.Error(), setting)) {
			t.Errorf("%s: got %v, want an error that names %q", flag, err, setting)
		}
	}
}

// TestQuotaSettings: quotas are read from the environment, and each has a
// default above the sizes that the service is made for.
func TestQuotaSettings(t *testing.T) {
	t.Setenv("OCTAVO_QUOTA_SITES", "7")
	var cli commands
	parser, err := kong.New(&cli, options(strings.NewReader(""))...)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := parser.Parse([]string{"serve"}); err != nil {
		t.Fatal(err)
	}
	cfg := cli.Serve.store("")
	if cfg.Quotas.Sites != 7 || cfg.Quotas.Comments <= 100_000 || cfg.Quotas.Conversations <= 100_000 || cfg.InviteLifetime != 720*time.Hour {
		t.Errorf("%+v", cfg)
	}
	quotas := reflect.ValueOf(cfg.Quotas)
	for i := range quotas.NumField() {
		if quotas.Field(i).Int() <= 0 {
			t.Errorf("%s has no default quota", quotas.Type().Field(i).Name)
		}
	}
}
