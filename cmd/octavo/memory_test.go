package main

import (
	"fmt"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/alecthomas/kong"

	"github.com/octavo-docs/octavo/cmd/engine/memory"
)

// sizesOf returns the sizes of a node with the given flags, on a machine with the given memory.
func sizesOf(t *testing.T, mib int64, flags ...string) (*sizes, error) {
	t.Helper()
	var cli commands
	parser, err := kong.New(&cli, options(strings.NewReader(""))...)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := parser.Parse(append([]string{"serve"}, flags...)); err != nil {
		t.Fatal(err)
	}
	text := fmt.Sprintf("MemTotal: %d kB\n", mib<<10)
	return cli.Serve.sizes(fstest.MapFS{"proc/meminfo": {Data: []byte(text)}})
}

// TestSizes checks the sizes that depend on the memory: the store's queries and inserts, this process, PDFs, and jobs'
// workers.
func TestSizes(t *testing.T) {
	t.Parallel()
	type figures struct {
		node, bodies, answers, queryMemory, pdf, pushes int64 // MiB
		connections, queries, batchRows, pdfs, webhooks int
	}
	for name, c := range map[string]struct {
		mib   int64
		flags []string
		want  figures
	}{
		"512 MiB": {512, nil, figures{64, 32, 10, 120, 0, 16, 5461, 2, 7680, 1, 1}},
		"768 MiB": {768, nil, figures{84, 32, 13, 192, 0, 23, 7208, 4, 12288, 1, 1}},
		"1 GiB":   {1024, nil, figures{104, 34, 17, 192, 192, 31, 8956, 4, 12349, 1, 1}},
		"4 GiB":   {4096, nil, figures{196, 64, 32, 512, 447, 123, 16384, 8, 32768, 2, 8}},
		"24 GiB":  {24_105, nil, figures{196, 64, 32, 1004, 2048, 128, 16384, 8, 32768, 2, 8}},
		"64 GiB":  {64_000, nil, figures{196, 64, 32, 2048, 2048, 128, 16384, 8, 32768, 2, 8}},
		"external": {
			384, strings.Fields("--clickhouse-url=clickhouse://c --postgres-url=postgres://p --kafka-brokers=k:9092"),
			figures{80, 32, 13, 512, 0, 22, 6881, 8, 13481, 1, 8},
		},
		"given": {1024, strings.Fields("--pdf-memory-bytes=256MiB --body-memory-bytes=40MiB " +
			"--query-max-memory-bytes=100MiB --query-concurrency=5"),
			figures{84, 40, 13, 100, 256, 23, 7208, 5, 13086, 1, 1}},
	} {
		z, err := sizesOf(t, c.mib, c.flags...)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		got := figures{
			z.node >> 20, z.bodies >> 20, z.answers >> 20, z.queryMemory >> 20, z.pdf >> 20, z.git.PushBytes >> 20,
			z.connections, z.queries, z.batchRows, z.pdfs, 0,
		}
		for _, k := range z.kinds {
			if k.Name == "deliver_webhooks" {
				got.webhooks = k.Workers
			}
		}
		if got != c.want {
			t.Errorf("%s: got %+v, want %+v", name, got, c.want)
		}
		if z.plan.Sum() > c.mib<<20 {
			t.Errorf("%s: the parts are %d", name, z.plan.Sum())
		}
	}
}

// TestTooLittleMemory checks that a node refuses to run with too little memory. The error must name the sizes and the
// settings.
func TestTooLittleMemory(t *testing.T) {
	t.Parallel()
	for want, flags := range map[string][]string{
		"": {"--memory-bytes=512MiB"},
		"cannot run with the memory that OCTAVO_MEMORY_BYTES allows: 511 MiB of memory are too little: the parts of this " +
			"node need at least 512 MiB: ": {"--memory-bytes=511MiB"},
		"cannot run with the memory that /proc/meminfo allows: 400 MiB of memory are too little: the parts of this node " +
			"need at least 512 MiB: ": nil,
		"at least 784 MiB: ": {"--pdf-memory-bytes=272MiB"},
	} {
		_, err := sizesOf(t, 400, flags...)
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want) ||
			!strings.Contains(err.Error(), "OCTAVO_MEMORY_BYTES") || strings.Contains(err.Error(), "\n")) {
			t.Errorf("%v: got %v, want %q", flags, err, want)
		}
	}
}

// TestMemoryLimitFollowsUse checks that the limit rises in steps, and by less than the memory of the connections. The
// limit must include Git's part only while a Git job runs.
func TestMemoryLimitFollowsUse(t *testing.T) {
	t.Parallel()
	z, err := sizesOf(t, 24_105)
	if err != nil {
		t.Fatal(err)
	}
	for connections, want := range map[int]int64{
		0: z.node, connectionStep - 1: z.node, connectionStep: z.node + 6<<20, 10_000: z.node + 54<<20,
	} {
		for git, want := range map[bool]int64{false: want, true: want + z.plan.Of(memory.Git)} {
			if got := z.limitFor(use{connections, git}); got != want {
				t.Errorf("%d connections, Git %v: %d, want %d", connections, git, got, want)
			}
		}
	}
	if most := z.limitFor(use{z.connections, true}); most > z.plan.Of(memory.Node)+z.plan.Of(memory.Git) {
		t.Errorf("with all connections the limit is %d, which is more than the parts", most)
	}
}
