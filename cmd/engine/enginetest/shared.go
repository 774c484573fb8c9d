package enginetest

import (
	"context"
	"os"
	"strings"
	"sync"
)

// Each engine is started separately at its first use. So a test of one engine does not wait for the other engines. The
// shared broker requires no login, so that an Apache Kafka without a login can replace it.
var (
	ownClickHouse = sync.OnceValues(func() (*Running, error) { return launch("clickhouse") })
	ownKafka      = sync.OnceValues(func() (*Running, error) { return launch("kafka") })
	ownPostgres   = sync.OnceValues(func() (*Running, error) { return launch("postgres") })
)

func launch(engine string) (*Running, error) {
	binary, err := built()
	if err != nil {
		return nil, err
	}
	return Launch{Binary: binary, Engines: []string{engine}, OpenKafka: true}.Start(context.Background())
}

func clickHouseURL() (string, error) {
	if url := os.Getenv(EnvClickHouse); url != "" {
		return url, nil
	}
	r, err := ownClickHouse()
	if err != nil {
		return "", err
	}
	return r.ClickHouseURL, nil
}

func kafkaBrokers() ([]string, error) {
	if brokers := os.Getenv(EnvKafka); brokers != "" {
		return strings.Split(brokers, ","), nil
	}
	r, err := ownKafka()
	if err != nil {
		return nil, err
	}
	return r.KafkaBrokers, nil
}

func postgresURL() (string, error) {
	if url := os.Getenv(EnvPostgres); url != "" {
		return url, nil
	}
	r, err := ownPostgres()
	if err != nil {
		return "", err
	}
	return r.PostgresURL, nil
}
