package product

import (
	"cmp"
	"os"
	"strings"

	"github.com/segmentio/kafka-go/sasl"
	"github.com/segmentio/kafka-go/sasl/scram"
)

// Node has the settings of an `octavo serve`.
type Node struct {
	Address, Roles, Dir  string
	Admin                string // address of the operators' listener; "" means that there is no such listener
	Token                string
	Postgres, ClickHouse string
	Brokers              []string
	// KafkaUser and KafkaPassword are the login of an embedded broker. They are empty for a broker without a login.
	KafkaUser, KafkaPassword string
	Topic                    string
}

// Environment returns the node's environment, with additional settings.
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
		// A load comes from one address and has one token, so the node must not limit requests by address or token.
		"OCTAVO_RATE_LIMIT=0", "OCTAVO_MAX_CONNS_PER_IP=0",
	}, more...)...)
}

// KafkaLogin returns the settings for a broker that requires SCRAM-SHA-256, like the embedded broker. If `user` is "",
// it returns no settings.
func KafkaLogin(user, password string) []string {
	if user == "" {
		return nil
	}
	return []string{"OCTAVO_KAFKA_SASL=scram-sha-256", "OCTAVO_KAFKA_USERNAME=" + user, "OCTAVO_KAFKA_PASSWORD=" + password}
}

// KafkaMechanism returns the SCRAM-SHA-256 login for a Kafka client in this process, or nil if `user` is "".
func KafkaMechanism(user, password string) (sasl.Mechanism, error) {
	if user == "" {
		return nil, nil
	}
	return scram.Mechanism(scram.SHA256, user, password)
}

// Environment returns this process's environment variables and the given settings. It leaves out this process's own
// OCTAVO_ variables.
func Environment(settings ...string) []string {
	var list []string
	for _, entry := range os.Environ() {
		if !strings.HasPrefix(entry, "OCTAVO_") {
			list = append(list, entry)
		}
	}
	return append(list, settings...)
}
