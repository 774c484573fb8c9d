package insights

import (
	"slices"
	"strings"
	"testing"
)

func TestCreateStatementsGolden(t *testing.T) {
	t.Parallel()
	golden(t, "testdata/create_single.sql", strings.Join(CreateStatements(Topology{}), ";\n\n")+";\n")
	golden(t, "testdata/create_cluster.sql", strings.Join(CreateStatements(Topology{Cluster: "octavo"}), ";\n\n")+";\n")
}

func TestUpgradeStatements(t *testing.T) {
	t.Parallel()
	have := map[string]string{}
	for _, c := range storedColumns() {
		// The server adds spaces to types.
		have[c.Name] = strings.ReplaceAll(c.Type, ",", ", ")
	}
	for _, topology := range []Topology{{}, {Cluster: "octavo"}} {
		if got := UpgradeStatements(topology, have, nil); got != nil {
			t.Errorf("%v: a current table needs %q", topology, got)
		}
	}
	delete(have, "utm_content")
	have["type"] = "Enum8('' = 0, 'page_view' = 1)"
	got := UpgradeStatements(Topology{}, have, nil)
	if len(got) != 1 || strings.Count(got[0], "COLUMN") != 2 ||
		!strings.Contains(got[0], "ADD COLUMN IF NOT EXISTS utm_content String CODEC(ZSTD(3)) AFTER utm_term") ||
		!strings.Contains(got[0], "MODIFY COLUMN type Enum8('' = 0, 'page_view' = 1, 'search_open' = 2") {
		t.Errorf("%q", got)
	}
	// A distributed table allows no codecs.
	cluster := UpgradeStatements(Topology{Cluster: "octavo"}, have, nil)
	if len(cluster) != 2 || !strings.HasPrefix(cluster[0], "ALTER TABLE events_local ON CLUSTER octavo MODIFY COLUMN type") ||
		!strings.HasPrefix(cluster[1], "ALTER TABLE events ON CLUSTER octavo MODIFY COLUMN type") || strings.Contains(cluster[1], "CODEC") {
		t.Errorf("%q", cluster)
	}
}

func TestSettingStatements(t *testing.T) {
	t.Parallel()
	const (
		before = "MergeTree PARTITION BY toYYYYMM(time) ORDER BY (site, time) SETTINGS index_granularity = 8192"
		window = ", non_replicated_deduplication_window = 100000"
		always = ", fsync_after_insert = 1, fsync_part_directory = 1, min_rows_to_fsync_after_merge = 1, min_compressed_bytes_to_fsync_after_merge = 1" +
			", min_age_to_force_merge_seconds = 86400, min_age_to_force_merge_on_partition_only = 1"
		alter = "ALTER TABLE events MODIFY SETTING "
		onAll = "ALTER TABLE events_local ON CLUSTER octavo MODIFY SETTING "
	)
	for name, c := range map[string]struct {
		topology     Topology
		engine, want string
	}{
		"none":                 {Topology{}, "MergeTree ORDER BY time", alter + (window + always)[2:]},
		"off":                  {Topology{}, before + ", non_replicated_deduplication_window = 0, fsync_after_insert = 0" + always[len(", fsync_after_insert = 1"):], alter + window[2:] + ", fsync_after_insert = 1"},
		"of the first version": {Topology{}, before + window, alter + always[2:]},
		"today's":              {Topology{}, before + window + always, ""},
		"statistics":           {Topology{Statistics: true}, before + window + always, alter + "auto_statistics_types = ''"},
		"some statistics":      {Topology{Statistics: true}, before + window + always + ", auto_statistics_types = 'minmax, uniq'", alter + "auto_statistics_types = ''"},
		"no statistics":        {Topology{Statistics: true}, before + window + always + ", auto_statistics_types = ''", ""},
		"cluster, one": {Topology{Cluster: "octavo"}, before + window + always + ", replicated_deduplication_window = 100000, replicated_deduplication_window_seconds = 3600, min_compressed_bytes_to_fsync_after_fetch = 1",
			onAll + "replicated_deduplication_window_seconds = 604800"},
		"cluster, all": {Topology{Cluster: "octavo"}, before,
			onAll + (window + always)[2:] + ", replicated_deduplication_window = 100000, replicated_deduplication_window_seconds = 604800, min_compressed_bytes_to_fsync_after_fetch = 1"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := strings.Join(SettingStatements(c.topology, c.engine), "; "); got != c.want {
				t.Errorf("%s: %q, want %q", name, got, c.want)
			}
		})
	}
}

func TestStoredColumns(t *testing.T) {
	t.Parallel()
	var names []string
	for _, c := range storedColumns() {
		names = append(names, c.Name)
	}
	if !slices.Equal(names, InsertColumns()) {
		t.Errorf("the table has %v, inserts write %v", names, InsertColumns())
	}
}
