package eventlog

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/segmentio/kafka-go"

	"github.com/octavo-docs/octavo/cmd/engine/enginetest"
	"github.com/octavo-docs/octavo/cmd/engine/enginetest/brokertest"
	"github.com/octavo-docs/octavo/cmd/engine/enginetest/eventually"
)

// The script .ci/apache-kafka sets these environment variables: the address of an Apache Kafka listener with TLS and
// logins, and the CA of its certificate. The other constants are the login.
const (
	envSecureBroker = "OCTAVO_TEST_KAFKA_SECURE"
	envSecureCA     = "OCTAVO_TEST_KAFKA_SECURE_CA"
	secureUser      = "octavo"
	securePassword  = "correct horse"
)

// TestKafkaAccess appends to the log, reads the log and joins a group, over TLS and with every login mechanism.
func TestKafkaAccess(t *testing.T) {
	t.Parallel()
	authority := enginetest.NewAuthority(t)
	for _, mechanism := range []string{"plain", "scram-sha-256", "scram-sha-512", ""} {
		t.Run("mechanism "+mechanism, func(t *testing.T) {
			t.Parallel()
			login := Login{TLS: true, CA: authority.CA, Mechanism: mechanism}
			server := authority.Server()
			var required *brokertest.Login
			if mechanism != "" {
				login.Username, login.Password = secureUser, securePassword
				required = &brokertest.Login{User: secureUser, Password: securePassword}
				required.Mechanism = strings.ToUpper(mechanism)
			} else { // log in with a client certificate instead
				server = authority.Clients(server)
				login.Cert, login.Key = authority.Issue("client")
			}
			broker := brokertest.Start(t, brokertest.Options{TLS: server, Login: required})
			throughAccess(t, broker.Addresses(), "events", login)
		})
	}
}

// TestKafkaAccessOnApache does the same as TestKafkaAccess with Apache Kafka.
func TestKafkaAccessOnApache(t *testing.T) {
	t.Parallel()
	broker := os.Getenv(envSecureBroker)
	if broker == "" {
		t.Skip("needs Apache Kafka with logins: make test-all starts it and covers this, in .ci/apache-kafka")
	}
	for mechanism := range saslMechanisms {
		t.Run(mechanism, func(t *testing.T) {
			t.Parallel()
			throughAccess(t, []string{broker}, fmt.Sprintf("secure-%s-%d", mechanism, time.Now().UnixNano()), Login{
				TLS: true, CA: os.Getenv(envSecureCA), Mechanism: mechanism, Username: secureUser, Password: securePassword,
			})
		})
	}
}

// throughAccess uses a broker with the correct login, and checks that wrong logins are refused.
func throughAccess(t *testing.T, brokers []string, topic string, login Login) {
	access, err := NewAccess(login)
	if err != nil {
		t.Fatal(err)
	}
	l := newTestLog(t, brokers, func(c *Config) { c.Access, c.Topic = access, topic })
	if err := l.Append(t.Context(), "site", AnyPartition, []byte("message")); err != nil {
		t.Fatal(err)
	}
	messages := 0
	for partition := range l.partitions {
		end, err := l.End(t.Context(), partition)
		if err != nil {
			t.Fatal(err)
		}
		messages += int(end)
	}
	if messages != 1 {
		t.Errorf("the log has %d messages, want 1", messages)
	}
	group, err := kafka.NewConsumerGroup(kafka.ConsumerGroupConfig{
		ID: topic + ".group", Brokers: brokers, Topics: []string{topic}, Dialer: NewDialer("test", access), StartOffset: kafka.FirstOffset,
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), eventually.Patience)
	defer cancel()
	var generation *kafka.Generation
	eventually.Succeeds(t, "a generation", func() (err error) { // a new broker first creates its topic for offsets
		generation, err = group.Next(ctx)
		return err
	})
	if n := len(generation.Assignments[topic]); n != len(l.partitions) {
		t.Errorf("%d partitions assigned", n)
	}
	if err := group.Close(); err != nil {
		t.Error(err)
	}

	// With a wrong authority or a wrong password, Start must fail soon.
	wrong := map[string]Login{"an authority of somebody else": {TLS: true, CA: enginetest.NewAuthority(t).CA, Mechanism: login.Mechanism, Username: login.Username, Password: login.Password}}
	if login.Mechanism != "" {
		other := login
		other.Password = "battery staple"
		wrong["another password"] = other
	}
	for name, login := range wrong {
		t.Run(name, func(t *testing.T) {
			access, err := NewAccess(login)
			if err != nil {
				t.Fatal(err)
			}
			l, err := New(Config{Brokers: brokers, Topic: topic, Access: access, StartWait: time.Millisecond}, NewMetrics(prometheus.NewRegistry()))
			if err != nil {
				t.Fatal(err)
			}
			if err := l.Start(ctx); err == nil || ctx.Err() != nil {
				t.Errorf("%s: %v", name, err)
			}
		})
	}
}

func TestKafkaLoginIsChecked(t *testing.T) {
	t.Parallel()
	authority := enginetest.NewAuthority(t)
	certificate, key := authority.Issue("client")
	text := filepath.Join(t.TempDir(), "text")
	if err := os.WriteFile(text, []byte("no PEM"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, l := range map[string]Login{
		"authority without TLS":   {CA: authority.CA},
		"certificate without key": {TLS: true, Cert: certificate},
		"key without certificate": {TLS: true, Key: key},
		"no such file":            {TLS: true, CA: text + "x"},
		"no PEM":                  {TLS: true, CA: text},
		"key of another":          {TLS: true, Cert: certificate, Key: certificate},
		"unknown mechanism":       {Mechanism: "gssapi", Username: "u", Password: "p"},
		"mechanism without user":  {Mechanism: "plain"},
		"user without mechanism":  {Username: "u", Password: "p"},
		"password alone":          {Password: "p"},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := NewAccess(l); err == nil {
				t.Errorf("%s: accepted, want an error", name)
			}
		})
	}
	if a, err := NewAccess(Login{}); err != nil || a != (Access{}) {
		t.Errorf("the zero login gives %+v, %v", a, err)
	}
}
