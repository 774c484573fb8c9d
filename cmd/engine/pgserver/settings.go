package pgserver

import (
	"fmt"
	"path/filepath"
)

// access is the text of pg_hba.conf. It allows only loopback connections with a password. Octavo uses replication to
// make Postgres check its pages (store/postgres/verify.go).
const access = `# Written by octavo at every start.
host all all 127.0.0.1/32 scram-sha-256
host replication %s 127.0.0.1/32 scram-sha-256
`

// settings is the text of postgresql.conf, for a small machine that Postgres shares with the other engines. ALTER
// SYSTEM overrides these settings.
const settings = `# Written by octavo at every start. To change a setting, use ALTER SYSTEM, which overrides this file.
max_connections = 200
shared_buffers = %[3]dkB
work_mem = %[4]dkB
maintenance_work_mem = %[5]dkB
effective_cache_size = %[6]dkB
autovacuum_max_workers = %[7]d
random_page_cost = 1.1
max_wal_size = 1GB
# Parallel queries need /dev/shm (64 MB in a container) and cores, which the insights engine makes better use of.
max_parallel_workers_per_gather = 0
max_parallel_maintenance_workers = 0
jit = off
fsync = %[1]s
full_page_writes = %[1]s
synchronous_commit = on
password_encryption = scram-sha-256
scram_iterations = %[2]d
timezone = UTC
log_timezone = UTC
log_line_prefix = ''
log_checkpoints = off
log_min_messages = warning
# Do not log statements: one may contain a visitor's data or a password.
log_min_error_statement = panic
log_parameter_max_length_on_error = 0
`

// fullMemory is the memory with which all sizes in the settings have their largest values.
const fullMemory = 512 << 20

// shared returns the settings that depend on the memory, in the order of the file. It returns three sizes of the server
// in kB, the size of the system's cache in kB, and the number of vacuum workers. Connections use the rest of the
// memory.
func shared(memory int64) (list []int64) {
	if memory <= 0 || memory > fullMemory {
		memory = fullMemory
	}
	for _, part := range []int64{4, 64, 8} {
		list = append(list, memory/part>>10)
	}
	return append(list, 2*memory>>10, max(1, 3*memory/fullMemory))
}

func (s *Server) writeSettings(dir string) error {
	// 4096 iterations are Postgres' default. A server for tests (NoSync) uses one iteration, because tests connect
	// thousands of times.
	durable, iterations := "on", 4096
	if s.cfg.NoSync {
		durable, iterations = "off", 1
	}
	shares := []any{durable, iterations}
	for _, share := range shared(s.cfg.Memory) {
		shares = append(shares, share)
	}
	files := map[string]string{
		"postgresql.conf": fmt.Sprintf(settings, shares...), "pg_hba.conf": fmt.Sprintf(access, appUser),
	}
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := writeFile(path, []byte(text), 0o600); err != nil {
			return fmt.Errorf("cannot write the Postgres settings: %w", err)
		}
		if err := s.identity.own(path); err != nil {
			return err
		}
	}
	return nil
}
