package seglog_test

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/octavo-docs/octavo/cmd/engine/enginetest/eventually"
	"github.com/octavo-docs/octavo/cmd/engine/kafkaserver/disk/crashdisk"
	"github.com/octavo-docs/octavo/cmd/engine/kafkaserver/seglog"
)

func TestBatchesAreReadAsTheyWereSent(t *testing.T) {
	t.Parallel()
	l := open(t, crashdisk.New(), seglog.Config{SegmentBytes: 400})
	want := map[int64]string{}
	for i := range 100 {
		s := sent{values: []string{fmt.Sprint("a", i), fmt.Sprint("b", i)}}
		base := appendOne(t, l, s)
		want[base], want[base+1] = s.values[0], s.values[1]
	}
	for _, most := range []int{1, 100, 1 << 20} {
		t.Run(fmt.Sprint("most ", most), func(t *testing.T) {
			got := all(t, l, most)
			if len(got) != 200 || fmt.Sprint(got) != fmt.Sprint(want) {
				t.Errorf("read %d records", len(got))
			}
		})
	}
	if n := len(l.Segments()); n < 10 {
		t.Errorf("%d segments", n)
	}
	for offset := range int64(200) { // also offsets in the middle of a batch
		b, err := l.Read(nil, offset, 1, true)
		if err != nil || values(t, b)[offset] != want[offset] {
			t.Errorf("offset %d: %v, %v", offset, values(t, b), err)
		}
	}
	if _, err := l.Read(nil, 201, 1, true); !errors.Is(err, seglog.ErrRange) {
		t.Errorf("after the end: %v", err)
	}
}

func TestInvalidBatchesAreRefused(t *testing.T) {
	t.Parallel()
	l := open(t, crashdisk.New(), seglog.Config{})
	whole := sent{values: []string{"hello"}}.bytes()
	cases := map[string]struct {
		change func(b []byte) []byte
		want   error
	}{
		"empty":          {func([]byte) []byte { return nil }, seglog.ErrInvalid},
		"cut":            {func(b []byte) []byte { return b[:len(b)-1] }, seglog.ErrInvalid},
		"two":            {func(b []byte) []byte { return append(b, b...) }, seglog.ErrInvalid},
		"checksum":       {func(b []byte) []byte { b[len(b)-2]++; return b }, seglog.ErrCorrupt},
		"version":        {func(b []byte) []byte { b[16] = 1; return b }, seglog.ErrInvalid},
		"control":        {func(b []byte) []byte { b[22] |= 0x20; reseal(b); return b }, seglog.ErrInvalid},
		"transaction":    {func(b []byte) []byte { b[22] |= 0x10; reseal(b); return b }, seglog.ErrInvalid},
		"count":          {func(b []byte) []byte { b[60] = 2; reseal(b); return b }, seglog.ErrInvalid},
		"delta":          {func(b []byte) []byte { b[26] = 1; reseal(b); return b }, seglog.ErrInvalid},
		"record":         {func(b []byte) []byte { b[61] = 126; reseal(b); return b }, seglog.ErrInvalid},
		"record's delta": {func(b []byte) []byte { b[64] = 2; reseal(b); return b }, seglog.ErrInvalid},
		"record's value": {func(b []byte) []byte { b[66] = 12; reseal(b); return b }, seglog.ErrInvalid},
		"headers":        {func(b []byte) []byte { b[len(b)-1] = 1; reseal(b); return b }, seglog.ErrInvalid},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			if _, err := l.Append(c.change(slices.Clone(whole)), false); !errors.Is(err, c.want) {
				t.Errorf("got %v", err)
			}
		})
	}
	if _, end := l.Offsets(); end != 0 {
		t.Errorf("the log has %d records", end)
	}
	appendOne(t, l, sent{values: []string{"hello"}})
}

func TestAppendTime(t *testing.T) {
	t.Parallel()
	l := open(t, crashdisk.New(), seglog.Config{})
	done, err := l.Append(sent{values: []string{"x"}, millis: 5}.bytes(), true)
	if err != nil || done.Time < 1e12 {
		t.Fatal(done, err)
	}
	b, _ := l.Read(nil, 0, 1, true)
	if at := int64(binary.BigEndian.Uint64(b[35:])); at != done.Time || b[22]&8 == 0 {
		t.Errorf("the batch has time %d, attributes %x", at, b[22])
	}
	values(t, b) // checks the batch's checksum
}

func TestOffsetsByTime(t *testing.T) {
	t.Parallel()
	f := crashdisk.New()
	l := open(t, f, seglog.Config{SegmentBytes: 300})
	for i := range 50 {
		appendOne(t, l, sent{values: []string{"v"}, millis: int64(1000 + 10*i)})
	}
	look := func(l *seglog.Log) {
		t.Helper()
		for i := range 50 {
			offset, at, err := l.OffsetAt(int64(1000 + 10*i - 3))
			if err != nil || offset != int64(i) || at != int64(1000+10*i) {
				t.Errorf("%d: %d at %d, %v", i, offset, at, err)
			}
		}
		if offset, _, err := l.OffsetAt(2000); offset != -1 || err != nil {
			t.Errorf("later than all: %d, %v", offset, err)
		}
	}
	look(l)
	l.Close()
	look(open(t, f, seglog.Config{SegmentBytes: 300}))
}

func TestRepeatsAreRecognisedAfterARestart(t *testing.T) {
	t.Parallel()
	f := crashdisk.New()
	cfg := seglog.Config{SegmentBytes: 300}
	l := open(t, f, cfg)
	batch := func(sequence int32) sent {
		return sent{values: []string{"a", "b"}, producer: 7, epoch: 1, sequence: sequence}
	}
	var bases []int64
	for i := range int32(20) {
		bases = append(bases, appendOne(t, l, batch(2*i)))
	}
	look := func(l *seglog.Log) {
		t.Helper()
		for i := int32(15); i < 20; i++ {
			done, err := l.Append(batch(2*i).bytes(), false)
			if err != nil || done.Base != bases[i] {
				t.Errorf("repeat of %d: %+v, %v", i, done, err)
			}
		}
		for name, c := range map[string]struct {
			s    sent
			want error
		}{
			"old repeat":            {batch(10), seglog.ErrDuplicate},
			"gap":                   {batch(42), seglog.ErrOutOfOrder},
			"earlier epoch":         {sent{values: []string{"x"}, producer: 7, epoch: 0, sequence: 40}, seglog.ErrEpoch},
			"gap in the next epoch": {sent{values: []string{"x"}, producer: 7, epoch: 2, sequence: 1}, seglog.ErrOutOfOrder},
		} {
			t.Run(name, func(t *testing.T) {
				if _, err := l.Append(c.s.bytes(), false); !errors.Is(err, c.want) {
					t.Errorf("got %v", err)
				}
			})
		}
		if _, end := l.Offsets(); end != 40 {
			t.Errorf("the end is %d", end)
		}
	}
	look(l)
	l.Close()
	l = open(t, f, cfg)
	look(l)
	l.Close()
	entries, _ := f.List(dir)
	for _, e := range entries { // without summaries, the log reads the producers from the batches' headers
		if len(e.Name) > 8 && e.Name[len(e.Name)-8:] == ".summary" {
			if err := f.Remove(dir + "/" + e.Name); err != nil {
				t.Fatal(err)
			}
		}
	}
	l = open(t, f, cfg)
	look(l)
	if base := appendOne(t, l, batch(40)); base != 40 {
		t.Errorf("the next one is at %d", base)
	}
	if base := appendOne(t, l, sent{values: []string{"x"}, producer: 7, epoch: 2, sequence: 0}); base != 42 {
		t.Errorf("that of a new epoch is at %d", base)
	}
}

func TestATornEndIsCutAtEveryByte(t *testing.T) {
	t.Parallel()
	first, second := sent{values: []string{"one", "two"}}, sent{values: []string{"three"}}
	size := len(second.bytes())
	for cut := range size {
		f := crashdisk.New()
		l := open(t, f, seglog.Config{})
		appendOne(t, l, first)
		appendOne(t, l, second)
		name := dir + "/00000000000000000000.log"
		l.Close()
		// A kill leaves no summary.
		if err := f.Remove(dir + "/00000000000000000000.summary"); err != nil {
			t.Fatal(err)
		}
		file, err := f.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		whole, _ := file.Size()
		if err := file.Truncate(whole - int64(size) + int64(cut)); err != nil {
			t.Fatal(err)
		}
		l = open(t, f, seglog.Config{})
		if _, end := l.Offsets(); end != 2 {
			t.Errorf("cut after %d bytes: the end is %d", cut, end)
		}
		if base := appendOne(t, l, second); base != 2 {
			t.Errorf("cut after %d bytes: the next one is at %d", cut, base)
		}
		if got := all(t, l, 1<<20); got[2] != "three" || len(got) != 3 {
			t.Errorf("cut after %d bytes: %v", cut, got)
		}
	}
}

func TestAppendsShareSyncsAndKeepTheirOrder(t *testing.T) {
	t.Parallel()
	f := crashdisk.New()
	l := open(t, f, seglog.Config{SegmentBytes: 4 << 10})
	var syncs atomic.Int64
	hold := make(chan struct{})
	release := sync.OnceFunc(func() { close(hold) })
	t.Cleanup(release) // runs before the log's cleanup, which waits for the sync
	f.SetFail(func(op crashdisk.Op, _ string) error {
		if op == crashdisk.OpSync && syncs.Add(1) == 1 {
			<-hold
		}
		return nil
	})
	const writers, each = 8, 20
	var wait sync.WaitGroup
	write := func(w int) {
		for i := range each {
			s := sent{values: []string{fmt.Sprint(w, "-", i)}, producer: int64(w + 1), sequence: int32(i)}
			if _, err := l.Append(s.bytes(), false); err != nil {
				t.Error(err)
			}
		}
	}
	// Start a single append first, so that the first round has exactly one append.
	wait.Go(func() { write(0) })
	eventually.True(t, "the first sync", func() bool { return syncs.Load() == 1 })
	for w := 1; w < writers; w++ {
		wait.Go(func() { write(w) })
	}
	eventually.True(t, "the other writers to wait for the first sync", func() bool { return l.Queued() == writers-1 })
	if start, end := l.Offsets(); start != 0 || end != 0 {
		t.Errorf("readers see records up to %d before a sync", end)
	}
	release()
	wait.Wait()
	got := all(t, l, 1<<20)
	next := map[int]int{}
	for offset := range int64(writers * each) {
		var w, i int
		if _, err := fmt.Sscanf(got[offset], "%d-%d", &w, &i); err != nil || i != next[w] {
			t.Fatalf("at %d: %q after %d of it", offset, got[offset], next[w])
		}
		next[w]++
	}
	// The second round syncs the waiting appends of all other writers.
	if n := syncs.Load(); n > writers*each-(writers-2) {
		t.Errorf("%d syncs for %d appends", n, writers*each)
	}
}

func TestTrim(t *testing.T) {
	t.Parallel()
	f := crashdisk.New()
	l := open(t, f, seglog.Config{SegmentBytes: 200})
	for i := range 20 {
		appendOne(t, l, sent{values: []string{fmt.Sprint("v", i)}})
	}
	before := l.Size()
	if err := l.Trim(7); err != nil {
		t.Fatal(err)
	}
	if start, end := l.Offsets(); start != 7 || end != 20 || l.Size() >= before {
		t.Errorf("from %d to %d, %d bytes", start, end, l.Size())
	}
	if _, err := l.Read(nil, 6, 1, true); !errors.Is(err, seglog.ErrRange) {
		t.Errorf("before the start: %v", err)
	}
	l.Close()
	// The removed files have reappeared, as after a power loss.
	l = open(t, f.Crash(func(n int) int { return 0 }), seglog.Config{SegmentBytes: 200, Start: 7})
	if got := all(t, l, 1<<20); len(got) != 13 || got[7] != "v7" {
		t.Errorf("%v", got)
	}
	if base := l.Segments()[0].Base; base > 7 || base < 5 {
		t.Errorf("the first segment begins at %d", base)
	}
}

func TestAFullDiskIsReportedAndRecovers(t *testing.T) {
	t.Parallel()
	f := crashdisk.New()
	l := open(t, f, seglog.Config{})
	appendOne(t, l, sent{values: []string{"before"}})
	f.SetFail(func(op crashdisk.Op, _ string) error {
		if op == crashdisk.OpWrite {
			return syscall.ENOSPC
		}
		return nil
	})
	_, err := l.Append(sent{values: []string{"refused"}}.bytes(), false)
	if !errors.Is(err, seglog.ErrFull) || !errors.Is(err, seglog.ErrStorage) {
		t.Fatal(err)
	}
	f.SetFail(nil)
	appendOne(t, l, sent{values: []string{"after"}})
	l.Close()
	if got := all(t, open(t, f.Crash(func(n int) int { return 0 }), seglog.Config{}), 1<<20); fmt.Sprint(got) != "map[0:before 1:after]" {
		t.Errorf("%v", got)
	}
}

// TestNothingIsAcknowledgedAfterAFailedSync makes syncs fail. After a failed sync, the system may treat unwritten pages
// as written. So a later successful sync of the same file does not prove that the pages are on disk.
func TestNothingIsAcknowledgedAfterAFailedSync(t *testing.T) {
	t.Parallel()
	for _, failures := range []int{1, 2, 5} {
		t.Run(fmt.Sprint(failures, " failures"), func(t *testing.T) {
			t.Parallel()
			f := crashdisk.New()
			l := open(t, f, seglog.Config{})
			appendOne(t, l, sent{values: []string{"before"}})
			left := failures
			f.SetFail(func(op crashdisk.Op, _ string) error {
				if op == crashdisk.OpSync && left > 0 {
					left--
					return syscall.EIO
				}
				return nil
			})
			for range failures {
				if _, err := l.Append(sent{values: []string{"refused"}}.bytes(), false); !errors.Is(err, seglog.ErrStorage) {
					t.Fatal(err)
				}
			}
			if _, end := l.Offsets(); end != 1 {
				t.Errorf("readers see up to %d", end)
			}
			appendOne(t, l, sent{values: []string{"after"}})
			if got := all(t, l, 1<<20); fmt.Sprint(got) != "map[0:before 1:after]" {
				t.Errorf("%v", got)
			}
			l.Close()
			if got := all(t, open(t, f.Crash(func(n int) int { return 0 }), seglog.Config{}), 1<<20); fmt.Sprint(got) != "map[0:before 1:after]" {
				t.Errorf("%d failures, after a power loss: %v", failures, got)
			}
		})
	}
}

// TestAFailedSyncIsRepaired checks that the log verifies the previously synced data and begins a new file after a
// failed sync. Only then does it acknowledge more appends.
func TestAFailedSyncIsRepaired(t *testing.T) {
	t.Parallel()
	for _, damaged := range []bool{false, true} {
		t.Run(fmt.Sprint("damaged ", damaged), func(t *testing.T) {
			t.Parallel()
			f := crashdisk.New()
			l := open(t, f, seglog.Config{})
			appendOne(t, l, sent{values: []string{"before"}})
			f.SetFail(func(op crashdisk.Op, _ string) error {
				if op == crashdisk.OpSync {
					return syscall.EIO
				}
				return nil
			})
			if _, err := l.Append(sent{values: []string{"refused"}}.bytes(), false); !errors.Is(err, seglog.ErrStorage) {
				t.Fatal(err)
			}
			f.SetFail(nil)
			if damaged {
				if err := f.Damage(dir+"/00000000000000000000.log", 65); err != nil {
					t.Fatal(err)
				}
			}
			_, err := l.Append(sent{values: []string{"after"}}.bytes(), false)
			if damaged != errors.Is(err, seglog.ErrStorage) || !damaged && err != nil {
				t.Errorf("damaged %v: %v", damaged, err)
			}
			if n := len(l.Segments()); !damaged && n != 2 {
				t.Errorf("it continues in the file whose sync failed (%d segments)", n)
			}
		})
	}
}
