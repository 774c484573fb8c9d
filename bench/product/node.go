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
	Admin                string // the operators' listener; "" for none
	Token                string
	Postgres, ClickHouse string
	Brokers              []string
	// These are the login of an embedded broker. They are empty for a broker without a login.
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
		// A load comes from one address and with one token, so the node has no limits for them.
		"OCTAVO_RATE_LIMIT=0", "OCTAVO_MAX_CONNS_PER_IP=0",
	}, more...)...)
}

// KafkaLogin returns the settings for a broker with a login like the login of the embedded broker. If there is no user,
// it returns no settings.
func KafkaLogin(user, password string) []string {
	if user == "" {
		return nil
	}
	return []string{"OCTAVO_KAFKA_SASL=scram-sha-256", "OCTAVO_KAFKA_USERNAME=" + user, "OCTAVO_KAFKA_PASSWORD=" + password}
}

// KafkaMechanism returns the same login for a client in this process, or nil
// without a user.
func KafkaMechanism(user, password string) (sasl.Mechanism, error) {
	if user == "" {
		return nil, nil
	}
	return scram.Mechanism(scram.SHA256, user, password)
}

// Environment returns this process's environment with the given settings. All other OCTAVO_ variables are removed.
func Environment(settings ...string) []string {
	var list []string
	for _, entry := range os.Environ() {
		if !strings.HasPrefix(entry, "OCTAVO_") {
			list = append(list, entry)
		}
	}
	return append(list, settings...)
}
