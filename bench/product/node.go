package product

import (
	"os"
	"strings"
)

// Node is what `octavo serve` is told of itself and of the engines.
type Node struct {
	Address, Roles, Dir  string
	Token                string
	Postgres, ClickHouse string
	Brokers              []string
	Topic                string
}

// Environment is a node's, with more settings that only some runs have.
func (n Node) Environment(more ...string) []string {
	return Environment(append([]string{
		"OCTAVO_LISTEN=" + n.Address,
		"OCTAVO_ROLES=" + n.Roles,
		"OCTAVO_DATA_DIR=" + n.Dir,
		"OCTAVO_BOOTSTRAP_TOKEN=" + n.Token,
		"OCTAVO_POSTGRES_URL=" + n.Postgres,
		"OCTAVO_KAFKA_BROKERS=" + strings.Join(n.Brokers, ","),
		"OCTAVO_CLICKHOUSE_URL=" + n.ClickHouse,
		"OCTAVO_KAFKA_TOPIC=" + n.Topic,
		// A load comes from one address.
		"OCTAVO_RATE_LIMIT=0",
	}, more...)...)
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
