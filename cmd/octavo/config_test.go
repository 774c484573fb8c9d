package main

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/alecthomas/kong"
)

// TestSettingsAreNamed checks that an invalid setting is found before any part starts. The error must name the setting.
func TestSettingsAreNamed(t *testing.T) {
	t.Parallel()
	// A parser takes some 60 ms to build. Each Parse sets all flags to their defaults again, so one parser is enough.
	parser, err := kong.New(&commands{}, options(strings.NewReader(""))...)
	if err != nil {
		t.Fatal(err)
	}
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
		"--body-memory-bytes=1000":           "OCTAVO_BODY_MEMORY_BYTES",
		"--memory-bytes=-1":                  "OCTAVO_MEMORY_BYTES",
		"--body-memory-bytes=-1":             "OCTAVO_BODY_MEMORY_BYTES",
		"--answer-memory-bytes=-1":           "OCTAVO_ANSWER_MEMORY_BYTES",
		"--answer-memory-bytes=1MiB":         "OCTAVO_ANSWER_MEMORY_BYTES: must be at least 4.0 MiB",
		"--public-rate-limit=-1":             "OCTAVO_PUBLIC_RATE_LIMIT",
		"--wrong-token-rate-limit=-1":        "OCTAVO_WRONG_TOKEN_RATE_LIMIT",
		"--query-concurrency=-1":             "OCTAVO_QUERY_CONCURRENCY",
		"--query-per-org=0":                  "OCTAVO_QUERY_PER_ORG",
		"--query-per-token=-1":               "OCTAVO_QUERY_PER_TOKEN",
		"--query-queue-wait=0s":              "OCTAVO_QUERY_QUEUE_WAIT",
		"--query-max-time=-1s":               "OCTAVO_QUERY_MAX_TIME",
		"--query-max-memory-bytes=-1":        "OCTAVO_QUERY_MAX_MEMORY_BYTES",
		"--query-max-rows=0":                 "OCTAVO_QUERY_MAX_ROWS",
		"--query-max-threads=-1":             "OCTAVO_QUERY_MAX_THREADS",
		"--query-max-threads=2":              "",
		"--query-rows=-1":                    "OCTAVO_QUERY_ROWS",
		"--query-rows-per-token=-1":          "OCTAVO_QUERY_ROWS_PER_TOKEN",
		"--query-rows=0":                     "",
		"--query-cache=-1s":                  "OCTAVO_QUERY_CACHE",
		"--query-cache=61s":                  "OCTAVO_QUERY_CACHE",
		"--query-states-bytes=-1":            "OCTAVO_QUERY_STATES_BYTES",
		"--query-states-bytes=2GX":           "query-states-bytes: must be a number of bytes, such as 2147483648",
		"--query-states-bytes=512MiB":        "",
		"--query-cache=0":                    "",
		"--outbound-allow=10.0.0.0/33":       "OCTAVO_OUTBOUND_ALLOW: \"10.0.0.0/33\"",
		"--outbound-allow=a,169.254.169.254": "OCTAVO_OUTBOUND_ALLOW: \"169.254.169.254\"",
		"--outbound-allow=a.lan,10.0.0.0/8":  "",

		"--audit-retention=-1h":                                "OCTAVO_AUDIT_RETENTION",
		"--openapi-versions=-1":                                "OCTAVO_OPENAPI_VERSIONS",
		"--openapi-poll=59s":                                   "OCTAVO_OPENAPI_POLL",
		"--openapi-poll=0":                                     "",
		"--sso-session=0":                                      "OCTAVO_SSO_SESSION",
		"--sso-return-to=a.b":                                  "OCTAVO_SSO_RETURN_TO: \"a.b\"",
		"--conversations-key=k":                                "OCTAVO_CONVERSATIONS_URL",
		"--conversations-url=http://10.0.0.1/v1":               "OCTAVO_CONVERSATIONS_MODEL",
		"--conversations-url=10.0.0.1 --conversations-model=m": "OCTAVO_CONVERSATIONS_URL",
		"--conversations-url=http://10.0.0.1/v1 --conversations-model=m": "",
		"--translator-key=k":      "OCTAVO_TRANSLATOR:",
		"--translator=dictionary": "translator",
		"--translator=chat":       "OCTAVO_TRANSLATOR_URL",
		"--translator=chat --translator-url=http://10.0.0.1/v1":                      "OCTAVO_TRANSLATOR_MODEL",
		"--translator=chat --translator-url=ftp://10.0.0.1/v1":                       "OCTAVO_TRANSLATOR_URL",
		"--translator=chat --translator-url=http://10.0.0.1/v1 --translator-model=m": "",
		"--translator=libretranslate --translator-url=http://10.0.0.1:5000":          "",
		"--sso-return-to=https://a.b,https://a.c:8443":                               "",
		"--trusted-origins=https://a.b/x":                                            "OCTAVO_TRUSTED_ORIGINS",
		"--trusted-origins=*":                                                        "OCTAVO_TRUSTED_ORIGINS",
		"--sso-return-to=https://a.b/":                                               "OCTAVO_SSO_RETURN_TO",
		"--sso-return-to=https://u@a.b":                                              "OCTAVO_SSO_RETURN_TO",
		"--mail-from=a@b.c":                                                          "OCTAVO_MAIL_FROM",
		"--smtp-url=http://a.b":                                                      "OCTAVO_SMTP_URL",
		"--smtp-url=smtp://a.b":                                                      "OCTAVO_MAIL_FROM",
		"--smtp-url=smtp://a.b --mail-from=nobody":                                   "OCTAVO_MAIL_FROM",
		"--smtp-url=smtp://a.b --mail-from=a@b.c --smtp-tls-ca=/nosuch.pem":          "OCTAVO_SMTP_TLS_CA",
		"--smtp-url=smtp://u:p@10.0.0.1:2525 --mail-from=a@b.c":                      "",
	} {
		_, err := parser.Parse(append([]string{"serve"}, strings.Fields(flag)...))
		if setting == "" && err != nil || setting != "" && (err == nil || !strings.Contains(err.Error(), setting)) {
			t.Errorf("%s: got %v, want an error that names %q", flag, err, setting)
		}
	}
}

// TestQuotaSettings checks that quotas are read from the environment, and that each quota has a default. The default
// must be above the sizes for which Octavo is designed.
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
	bounds, lifetime := cli.Serve.postgres("").Quotas, cli.Serve.store().Invites.InviteLifetime
	if bounds.Sites != 7 || bounds.Comments <= 100_000 || bounds.Conversations <= 100_000 || lifetime != 720*time.Hour {
		t.Errorf("%+v, %s", bounds, lifetime)
	}
	quotas := reflect.ValueOf(bounds)
	for i := range quotas.NumField() {
		if quotas.Field(i).Int() <= 0 {
			t.Errorf("%s has no default quota", quotas.Type().Field(i).Name)
		}
	}
}
