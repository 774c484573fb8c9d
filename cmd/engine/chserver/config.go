package chserver

import (
	"fmt"
	"log/slog"
	"net"
	"net/netip"
	"runtime"
	"strconv"
	"time"
)

// Config configures a Server. Zero values of the limits mean the defaults.
type Config struct {
	Listen  string // host:port on loopback; port 0 means a free port
	DataDir string // the engine's directory; created if missing
	Library string // path of libchdb.so

	// User and Password are required of every connection, because other users of the machine can connect to loopback
	// too.
	User, Password string

	MaxConnections int   // default 64
	MaxMemory      int64 // bytes that the engine may use, default half of the machine's memory
	// bytes of one INSERT's blocks, default 1 GiB, or MaxMemory/8 if that is less, but at least 64 MiB
	MaxInsert    int64
	MaxInserts   int64         // bytes of the blocks of all INSERTs in progress, default MaxInsert
	DrainTimeout time.Duration // how long running statements may continue after Run's context ends, default 5 s

	Logger  *slog.Logger        // default slog.Default()
	OnReady func(addr net.Addr) // OnReady is called once, when the server listens
}

const (
	defaultMaxConnections = 64
	defaultMaxInsert      = 1 << 30
	leastMaxInsert        = 64 << 20 // least default of MaxInsert: several times the largest insert of a sink
	defaultDrainTimeout   = 5 * time.Second

	helloTimeout = 5 * time.Second // the time from accept to the end of the greeting
	killEvery    = 20 * time.Millisecond
)

// timezone is the time zone that the server announces and that sessions use. It does not depend on the machine's time
// zone.
const timezone = "UTC"

func (c Config) withDefaults() (Config, error) {
	if c.DataDir == "" {
		return c, fmt.Errorf("cannot serve: no data directory given")
	}
	if c.Library == "" {
		return c, fmt.Errorf("cannot serve: no engine library given")
	}
	if err := checkLoopback(c.Listen); err != nil {
		return c, err
	}
	if c.User == "" || c.Password == "" {
		return c, fmt.Errorf("cannot serve: no user and password given for clients to log in with")
	}
	if c.MaxConnections <= 0 {
		c.MaxConnections = defaultMaxConnections
	}
	if c.MaxInsert <= 0 {
		c.MaxInsert = defaultMaxInsert
		if c.MaxMemory > 0 {
			c.MaxInsert = min(c.MaxInsert, max(c.MaxMemory/8, leastMaxInsert))
		}
	}
	if c.MaxInserts <= 0 {
		c.MaxInserts = c.MaxInsert
	}
	if c.DrainTimeout <= 0 {
		c.DrainTimeout = defaultDrainTimeout
	}
	if c.Logger == nil {
		c.Logger = slog.Default()
	}
	return c, nil
}

// checkLoopback refuses addresses that other machines can reach, because connections are not encrypted.
func checkLoopback(listen string) error {
	host, _, err := net.SplitHostPort(listen)
	if err != nil {
		return fmt.Errorf("cannot listen on %q: %w", listen, err)
	}
	if host == "localhost" {
		return nil
	}
	if addr, err := netip.ParseAddr(host); err != nil || !addr.IsLoopback() {
		return fmt.Errorf("cannot listen on %q: the embedded engine has no TLS, so it serves loopback addresses only", listen)
	}
	return nil
}

// fullMemory is the least memory with which the engine's caches have their full sizes.
const fullMemory = 4 << 30

// cache returns the size of a cache. With fullMemory or more, the size is `most`. With less memory, the size is
// proportionally smaller.
func (c Config) cache(most int) int {
	if c.MaxMemory <= 0 || c.MaxMemory >= fullMemory {
		return most
	}
	return int(c.MaxMemory) / (fullMemory / most)
}

// mergeThread is the memory that a merge of large parts needs.
const mergeThread = 128 << 20

// merges returns the number of concurrent merges. The engine needs at least two. Unlike NumCPU, GOMAXPROCS includes the
// processor limit of a container.
func (c Config) merges() int {
	merges := runtime.GOMAXPROCS(0)
	if c.MaxMemory > 0 {
		merges = min(merges, int(c.MaxMemory/mergeThread))
	}
	return max(2, merges)
}

// engineArgs returns the arguments that start the engine. The default cache sizes assume a machine with hundreds of
// gigabytes. All sizes are upper limits: the engine allocates no memory in advance.
func (c Config) engineArgs(configFile string) []string {
	const mib = 1 << 20
	args := []string{"clickhouse", "--path=" + c.DataDir,
		"--config-file=" + configFile}
	if c.MaxMemory > 0 {
		args = append(args, "--max_server_memory_usage="+strconv.FormatInt(c.MaxMemory, 10),
			"--merges_mutations_memory_usage_soft_limit="+strconv.FormatInt(c.MaxMemory/2, 10))
	} else {
		args = append(args, "--max_server_memory_usage_to_ram_ratio=0.5")
	}
	for _, setting := range []struct {
		name  string
		value int
	}{
		{"background_pool_size", c.merges()},
		{"os_threads_nice_value_merge_mutate", 10}, // queries get the processor before merges: see query.Config
		{"background_schedule_pool_size", 8},
		{"background_common_pool_size", 2},
		{"background_move_pool_size", 1},
		{"background_fetches_pool_size", 1},
		{"background_message_broker_schedule_pool_size", 1},
		{"background_distributed_schedule_pool_size", 1},
		{"max_thread_pool_size", 1000},
		{"max_thread_pool_free_size", 64},
		{"mark_cache_size", c.cache(256 * mib)},
		{"primary_index_cache_size", c.cache(128 * mib)},
		{"index_mark_cache_size", c.cache(64 * mib)},
		{"index_uncompressed_cache_size", 0},
		{"uncompressed_cache_size", 0},
		{"vector_similarity_index_cache_size", mib},
		{"text_index_tokens_cache_size", c.cache(16 * mib)},
		{"text_index_header_cache_size", c.cache(16 * mib)},
		{"text_index_postings_cache_size", c.cache(32 * mib)},
		{"iceberg_metadata_files_cache_size", mib},
		{"parquet_metadata_cache_size", mib},
		{"compiled_expression_cache_size", c.cache(64 * mib)},
	} {
		args = append(args, "--"+setting.name+"="+strconv.Itoa(setting.value))
	}
	return args
}
