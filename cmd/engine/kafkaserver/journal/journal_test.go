package journal_test

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"syscall"
	"testing"

	"pgregory.net/rapid"

	"github.com/octavo-docs/octavo/cmd/engine/kafkaserver/disk"
	"github.com/octavo-docs/octavo/cmd/engine/kafkaserver/disk/crashdisk"
	"github.com/octavo-docs/octavo/cmd/engine/kafkaserver/journal"
)

func open(t testing.TB, f *crashdisk.Disk, ballast int64) *journal.Journal {
	t.Helper()
	j, err := journal.Open(journal.Config{FS: f, Dir: "/", Ballast: ballast})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(j.Close)
	return j
}

// TestWhatWasPutIsKept runs random operations on a disk that fails and loses power. Every change for which Put returned
// nil must survive. Other changes may survive.
func TestWhatWasPutIsKept(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(r *rapid.T) {
		f := crashdisk.New()
		want := map[string]string{}
		doubtful := map[string]map[string]bool{} // by key, values that a failed Put may have left
		j, err := journal.Open(journal.Config{FS: f, Dir: "/", MinRewrite: 20_000})
		if err != nil {
			r.Fatal(err)
		}
		reopen := func() {
			f.SetFail(nil)
			if j, err = journal.Open(journal.Config{FS: f, Dir: "/", MinRewrite: 20_000}); err != nil {
				r.Fatal(err)
			}
			got := map[string]string{}
			j.Each("", func(key string, value []byte) { got[key] = string(value) })
			for _, key := range []string{"a", "b", "c"} {
				if got[key] != want[key] && !doubtful[key][got[key]] {
					r.Fatalf("%s is %.20q, not %.20q", key, got[key], want[key])
				}
			}
			want, doubtful = got, map[string]map[string]bool{}
		}
		put := func(r *rapid.T) {
			key := rapid.SampledFrom([]string{"a", "b", "c"}).Draw(r, "key")
			value := fmt.Sprint(rapid.IntRange(0, 1e6).Draw(r, "value"), strings.Repeat("x", rapid.SampledFrom([]int{0, 900, 9000}).Draw(r, "size")))
			if err := j.Put(journal.Entry{Key: key, Value: []byte(value)}, journal.Entry{Key: "both " + key, Value: []byte(value)}); err == nil {
				want[key], want["both "+key] = value, value
				delete(doubtful, key)
				return
			}
			if doubtful[key] == nil {
				doubtful[key] = map[string]bool{}
			}
			doubtful[key][value] = true
		}
		r.Repeat(map[string]func(*rapid.T){
			"": func(r *rapid.T) {
				for _, key := range []string{"a", "b", "c"} {
					one, _ := j.Get(key)
					both, _ := j.Get("both " + key)
					if string(one) != want[key] || string(both) != want[key] {
						r.Fatalf("%s is %.20q and %.20q, not %.20q", key, one, both, want[key])
					}
				}
			},
			"put": put, "put again": put, "put more": put,
			"fail": func(r *rapid.T) {
				op := rapid.SampledFrom([]crashdisk.Op{crashdisk.OpWrite, crashdisk.OpSync, crashdisk.OpSyncDir, crashdisk.OpRename, crashdisk.OpCreate, crashdisk.OpTruncate}).Draw(r, "op")
				left := rapid.IntRange(1, 3).Draw(r, "times")
				f.SetFail(func(o crashdisk.Op, _ string) error {
					if o == op && left > 0 {
						left--
						return syscall.EIO
					}
					return nil
				})
			},
			"restart": func(*rapid.T) { j.Close(); reopen() },
			"power cut": func(r *rapid.T) {
				after := f.Crash(func(n int) int { return rapid.IntRange(0, n).Draw(r, "chance") })
				j.Close()
				f = after
				reopen()
			},
		})
		j.Close()
	})
}

func TestTheBallastLetsCommitsContinueOnAFullDisk(t *testing.T) {
	t.Parallel()
	f := crashdisk.New()
	j := open(t, f, 1<<20)
	given := false
	f.SetFail(func(op crashdisk.Op, name string) error {
		if op == crashdisk.OpRemove && strings.HasSuffix(name, "ballast") {
			given = true
		}
		if op == crashdisk.OpWrite && !given {
			return syscall.ENOSPC
		}
		return nil
	})
	if err := j.Put(journal.Entry{Key: "offset", Value: []byte("1")}); err != nil {
		t.Fatal(err)
	}
	if !given {
		t.Error("the ballast is still there")
	}
	f.SetFail(nil)
	j.RestoreBallast(true)
	entries, _ := f.List("/")
	if text := fmt.Sprint(entries); !strings.Contains(text, "ballast") {
		t.Error(text)
	}
}

func TestPutsAreInOrder(t *testing.T) {
	t.Parallel()
	f := crashdisk.New()
	j := open(t, f, 0)
	var wait sync.WaitGroup
	var last *journal.Ticket
	for i := range 500 {
		ticket := j.Begin(journal.Entry{Key: "k", Value: []byte(fmt.Sprint(i))})
		wait.Go(func() { _ = ticket.Wait() })
		last = ticket
	}
	j.Barrier()
	if value, _ := j.Get("k"); string(value) != "499" || last.Wait() != nil {
		t.Errorf("it is %s", value)
	}
	wait.Wait()
}

// TestADamagedJournalIsRefused damages an entry before a good entry, so the damage cannot be an incomplete last entry.
// Open refuses the journal, changes no file, and says how to start again.
func TestADamagedJournalIsRefused(t *testing.T) {
	t.Parallel()
	write := func() (*crashdisk.Disk, string, []byte) {
		f := crashdisk.New()
		j := open(t, f, 0)
		for i := range 8 {
			if err := j.Put(journal.Entry{Key: fmt.Sprint("topic/", i), Value: []byte("some value")}); err != nil {
				t.Fatal(err)
			}
		}
		j.Close()
		entries, err := f.List("/")
		if err != nil || len(entries) != 1 {
			t.Fatal(entries, err)
		}
		content, err := disk.ReadFile(f, "/"+entries[0].Name, 1<<20)
		if err != nil {
			t.Fatal(err)
		}
		return f, "/" + entries[0].Name, content
	}
	_, _, whole := write()
	frame := len(whole) / 8 // at least the length of a frame: the file has eight equal frames and a shorter frame
	for at := range len(whole) {
		for kind, change := range map[string]func(b []byte) []byte{
			"byte":  func(b []byte) []byte { b[at] ^= 0x41; return b },
			"zeros": func(b []byte) []byte { clear(b[at:min(len(b), at+12)]); return b },
			"cut":   func(b []byte) []byte { return b[:at] },
			"hole":  func(b []byte) []byte { return append(b[:at], b[min(len(b), at+3):]...) },
		} {
			t.Run(fmt.Sprint(kind, " at ", at), func(t *testing.T) {
				f, name, _ := write()
				if err := f.Change(name, change); err != nil {
					t.Fatal(err)
				}
				damaged, _ := disk.ReadFile(f, name, 1<<20)
				j, err := journal.Open(journal.Config{FS: f, Dir: "/"})
				if kind == "cut" || at+12 >= len(whole)-frame { // the damaged bytes may include the last frame
					// Open may fail or succeed, because a good frame may or may not follow. But no entry may be wrong.
					if err == nil {
						defer j.Close()
						j.Each("", func(key string, value []byte) {
							if string(value) != "some value" || !strings.HasPrefix(key, "topic/") {
								t.Errorf("%s is %q", key, value)
							}
						})
					}
					if kind == "cut" && err != nil {
						t.Error(err)
					}
					return
				}
				if !errors.Is(err, journal.ErrDamaged) || !strings.Contains(err.Error(), "put back") ||
					!strings.Contains(err.Error(), "move that directory away") {
					t.Fatalf("the damaged journal: %v", err)
				}
				after, err := disk.ReadFile(f, name, 1<<20)
				if err != nil || string(after) != string(damaged) {
					t.Errorf("the refused journal was changed: %v", err)
				}
			})
		}
	}
}

// TestAPowerCutInAGroup cuts the power while several changes wait for the same sync. The system has written all pages
// of these changes except one. The journal then opens with all acknowledged changes. Each other change is there
// completely or not at all.
func TestAPowerCutInAGroup(t *testing.T) {
	t.Parallel()
	const changes = 8
	value := strings.Repeat("x", 1500)
	for from := 0; from < 13_000; from += 500 {
		t.Run(fmt.Sprint("from byte ", from), func(t *testing.T) {
			t.Parallel()
			f := crashdisk.New()
			j := open(t, f, 0)
			group := make(chan struct{})
			cut := sync.OnceFunc(func() { close(group) })
			t.Cleanup(cut) // this cleanup runs before the journal's cleanup, which waits for the sync
			first, queued, written := make(chan struct{}), make(chan struct{}), make(chan struct{})
			syncs := 0
			f.SetFail(func(op crashdisk.Op, _ string) error {
				if op == crashdisk.OpSync {
					switch syncs++; syncs {
					case 1:
						close(first)
						<-queued
					case 2:
						close(written)
						<-group
					}
				}
				return nil
			})
			j.Begin(journal.Entry{Key: "acknowledged", Value: []byte(value)})
			<-first
			for i := range changes {
				j.Begin(journal.Entry{Key: fmt.Sprint("waiting ", i), Value: []byte(value)})
			}
			close(queued)
			<-written
			choices := 0
			after := f.Crash(func(n int) int {
				if n > 2 {
					if choices++; choices == 2 {
						return min(from, n)
					}
				}
				return n
			})
			cut()
			j, err := journal.Open(journal.Config{FS: after, Dir: "/"})
			if err != nil {
				t.Fatal(err)
			}
			defer j.Close()
			count := 0
			j.Each("", func(key string, got []byte) {
				if count++; string(got) != value {
					t.Errorf("%s is %.20q", key, got)
				}
			})
			if got, _ := j.Get("acknowledged"); string(got) != value || count == changes+1 {
				t.Errorf("the journal has %d changes, and the acknowledged one is %.20q", count, got)
			}
		})
	}
}
