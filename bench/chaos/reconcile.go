package main

import (
	"context"
	"path/filepath"
	"strings"

	"github.com/octavo-docs/octavo/bench/product"
	"github.com/octavo-docs/octavo/bench/witness"
)

// reconcile runs `octavo reconcile` on the rig's engines.
func (r *rig) reconcile(ctx context.Context) (witness.Reconciled, error) {
	return witness.Reconcile(ctx, r.binary, append(product.KafkaLogin(r.engines.KafkaLogin.User, r.engines.KafkaLogin.Password),
		"OCTAVO_DATA_DIR="+filepath.Join(r.dir, "reconcile"),
		"OCTAVO_POSTGRES_URL="+r.engines.PostgresURL,
		"OCTAVO_KAFKA_BROKERS="+strings.Join(r.brokers, ","),
		"OCTAVO_CLICKHOUSE_URL="+r.engines.ClickHouseURL,
		"OCTAVO_KAFKA_TOPIC="+r.topic,
	)...)
}
