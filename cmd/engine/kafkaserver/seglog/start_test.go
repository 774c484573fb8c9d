package seglog_test

import (
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"testing"
	"time"

	"github.com/octavo-docs/octavo/cmd/engine/kafkaserver/disk"
	"github.com/octavo-docs/octavo/cmd/engine/kafkaserver/disk/crashdisk"
	"github.com/octavo-docs/octavo/cmd/engine/kafkaserver/seglog"
)

// unsynced is a file system that syncs no file, so that a test writes a large log quickly.
type unsynced struct{ disk.OS }

func (unsynced) Create(name string) (disk.File, error) {
	f, err := disk.OS{}.Create(name)
	return unsyncedFile{f}, err
}

func (unsynced) Open(name string) (disk.File, error) {
	f, err := disk.OS{}.Open(name)
	return unsyncedFile{f}, err
}

type unsyncedFile struct{ disk.File }

func (unsyncedFile) Sync() error { return nil }

// logOf writes a log of about `size` bytes, in batches of about `batch` bytes. The last segment has no summary, as
// after a kill.
func logOf(t testing.TB, dir string, size int64, batch int) (end int64) {
	t.Helper()
	l, err := seglog.Open(seglog.Config{FS: unsynced{}, Dir: dir, Name: "large/0"})
	if err != nil {
		t.Fatal(err)
	}
	b := sent{values: []string{string(make([]byte, batch-80))}}.bytes()
	for written := int64(0); written < size; written += int64(len(b)) {
		if _, err := l.Append(b, false); err != nil {
			t.Fatal(err)
		}
		end++
	}
	segments := l.Segments()
	l.Close()
	if err := os.Remove(filepath.Join(dir, fmt.Sprintf("%020d.summary", segments[len(segments)-1].Base))); err != nil {
		t.Fatal(err)
	}
	return end
}

// started opens a log after a kill. It returns the duration, and the number of allocated bytes.
func started(t testing.TB, dir string, end int64) (took time.Duration, allocated uint64) {
	t.Helper()
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	began := time.Now()
	l, err := seglog.Open(seglog.Config{FS: disk.OS{}, Dir: dir, Name: "large/0"})
	took = time.Since(began)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	runtime.ReadMemStats(&after)
	if _, got := l.Offsets(); got != end {
		t.Errorf("the end is %d, not %d", got, end)
	}
	if b, err := l.Read(nil, end/2, 1, true); err != nil || len(b) == 0 || binary.BigEndian.Uint64(b) != uint64(end/2) {
		t.Errorf("in the middle: %d bytes, %v", len(b), err)
	}
	return took, after.TotalAlloc - before.TotalAlloc
}

// mostAllocated is the largest number of bytes that a start may allocate. It is far less than the log's size.
const mostAllocated = 48 << 20

// TestALargeLogStartsInLittleMemory writes a log of 1 GB, or of 64 MiB with -short. OCTAVO_TEST_LOG_BYTES sets another
// size.
func TestALargeLogStartsInLittleMemory(t *testing.T) {
	size := int64(1_000_000_000)
	if testing.Short() {
		size = 64 << 20
	}
	if text := os.Getenv("OCTAVO_TEST_LOG_BYTES"); text != "" {
		var err error
		if size, err = strconv.ParseInt(text, 10, 64); err != nil {
			t.Fatalf("OCTAVO_TEST_LOG_BYTES: %v", err)
		}
	}
	for _, batch := range []int{1000, 60_000} {
		t.Run(fmt.Sprint("batches of ", batch), func(t *testing.T) {
			dir := t.TempDir()
			end := logOf(t, dir, size, batch)
			took, allocated := started(t, dir, end)
			t.Logf("%d bytes in batches of %d: started in %s, allocating %d bytes", size, batch, took, allocated)
			if allocated > mostAllocated {
				t.Errorf("batches of %d: %d bytes were allocated", batch, allocated)
			}
			// Without summaries, as after a power loss, the start reads the batches' headers.
			names, err := filepath.Glob(filepath.Join(dir, "*.summary"))
			if err != nil {
				t.Fatal(err)
			}
			for _, name := range names {
				if err := os.Remove(name); err != nil {
					t.Fatal(err)
				}
			}
			took, allocated = started(t, dir, end)
			t.Logf("without summaries: started in %s, allocating %d bytes", took, allocated)
			if allocated > mostAllocated {
				t.Errorf("batches of %d without summaries: %d bytes were allocated", batch, allocated)
			}
		})
	}
}

// TestMemoryDoesNotGrowWithProduces checks that a partition's memory does not grow with the number of appends.
func TestMemoryDoesNotGrowWithProduces(t *testing.T) {
	dir := t.TempDir()
	l, err := seglog.Open(seglog.Config{FS: unsynced{}, Dir: dir, Name: "many/0"})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	b := sent{values: []string{"v"}}.bytes()
	held := func() uint64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	before := held()
	for range 300_000 {
		if _, err := l.Append(b, false); err != nil {
			t.Fatal(err)
		}
	}
	if grown := int64(held()) - int64(before); grown > 1<<20 {
		t.Errorf("300,000 produces hold %d bytes", grown)
	}
}

// TestProducersGoOnAfterATrim trims every record. A power loss then brings back the oldest segment, which lacks the
// producer's later batches. The producer's next batch must be accepted.
func TestProducersGoOnAfterATrim(t *testing.T) {
	t.Parallel()
	f := crashdisk.New()
	l := open(t, f, seglog.Config{})
	produce := func(l *seglog.Log, sequence int32) int64 {
		return appendOne(t, l, sent{values: []string{fmt.Sprint("v", sequence)}, producer: 9, sequence: sequence})
	}
	var oldest []byte
	for sequence := range int32(2) {
		produce(l, sequence)
		if err := l.Roll(); err != nil {
			t.Fatal(err)
		}
		if sequence == 0 {
			var err error
			if oldest, err = disk.ReadFile(f, fmt.Sprintf("%s/%020d.log", dir, 0), 1<<20); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := l.Trim(2); err != nil {
		t.Fatal(err)
	}
	l.Close()
	file, err := f.Create(fmt.Sprintf("%s/%020d.log", dir, 0))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := file.WriteAt(oldest, 0); err != nil {
		t.Fatal(err)
	}
	l = open(t, f, seglog.Config{Start: 2})
	if offset := produce(l, 2); offset != 2 {
		t.Errorf("the batch is at %d, not at 2", offset)
	}
}
