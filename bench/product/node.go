package product

import (
	"cmp"
	"os"
	"strings"

	"github.com/segmentio/kafka-go/sasl"
	"github.com/segmentio/kafka-go/sasl/scram"
)

// Node is what `octavo serve` is told of itself and of the engines.
type Node struct {
	Address, Roles, Dir  string
	Admin                string // the operators' listener; "" for none
	Token                string
	Postgres, ClickHouse string
	Brokers              []string
	// The login of an embedded broker; empty for one without.
	KafkaUser, KafkaPassword string
	Topic                    string
}

// Environment is a node's, with more settings that only some runs have.
func (n Node) Environment(more ...string) []string {
	more = append(KafkaLogin(n.KafkaUser, n.KafkaPassword), more...)
	return Environment(append([]string{
		"OCTAVO_LISTEN=" + n.Address,
		"OCTAVO_ADMIN_LISTEN=" + cmp.Or(n.Admin, "off"),
		"OCTAVO_ROLES=" + n.Roles,
		"OCTAVO_DATA_DIR=" + n.Dir,
		"OCTAVO_BOOTSTRAP_TOKEN=" + n.Token,
		"OCTAVO_POSTGRES_URL=" + n.Postgres,
		"OCTAVO_KAFKA_BROKERS=" + strings.Join(n.Brokers, ","),
		"OCTAVO_CLICKHOUSE_URL=" + n.ClickHouse,
		"OCTAVO_KAFKA_TOPIC=" + n.Topic,
		// A load comes from one address, with one token.
		"OCTAVO_RATE_LIMIT=0", "OCTAVO_MAX_CONNS_PER_IP=0",
	}, more...)...)
}

// KafkaLogin are the settings for a broker that asks for a login as the
// embedded one does; none if there is no user.
func KafkaLogin(user, password string) []string {
	if user == "" {
		return nil
	}
	return []string{"OCTAVO_KAFKA_SASL=scram-sha-256", "OCTAVO_KAFKA_USERNAME=" + user, "OCTAVO_KAFKA_PASSWORD=" + password}
}

// KafkaMechanism is the same login for a client in this process, nil if there
// is no user.
func KafkaMechanism(user, password string) (sasl.Mechanism, error) {
	if user == "" {
		return nil, nil
	}
	return scram.Mechanism(scram.SHA256, user, password)
}

// Environment is this process's with these of the product's settings and no
// others.
func Environment(settings ...string) []string {
	var list []string
	for _, entry := range os.Environ() {
		if !strings.HasPrefix(entry, "OCTAVO_") {
			list = append(list, entry)
		}
	}
	return append(list, settings...)
}
