package seglog_test

import (
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/octavo-docs/octavo/cmd/engine/kafkaserver/disk/crashdisk"
	"github.com/octavo-docs/octavo/cmd/engine/kafkaserver/seglog"
)

// filled returns a log of one segment with at least `size` bytes, and the position of each batch. A value has up to
// about `most` bytes.
func filled(t *testing.T, size int64, most int) (p *patient, at []int64) {
	p = &patient{t: t, disk: crashdisk.New(), want: map[int64]string{}, bases: []int64{0}, damaged: true}
	p.open()
	t.Cleanup(func() { p.log.Close() })
	random := rand.New(rand.NewPCG(1, 2))
	for end := int64(0); end < size; {
		at = append(at, end)
		p.append(fmt.Sprint(len(at), strings.Repeat("x", random.IntN(most))))
		end = int64(len(p.content(0)))
	}
	return p, append(at, int64(len(p.content(0))))
}

// TestAnUnreadableSector makes a sector unreadable whose borders lie inside batches. A read from each offset must
// return. Only batches with a byte in the sector may be lost.
func TestAnUnreadableSector(t *testing.T) {
	t.Parallel()
	const sector = 4096
	for _, most := range []int{1, 300, 1 << 20} {
		for _, fault := range []error{syscall.EIO, syscall.EUCLEAN, syscall.EBADMSG} {
			p, at := filled(t, 3*sector+100, 90)
			p.disk.SetUnreadable(p.file(0), sector, 2*sector, fault)
			for i := range at[1:] {
				b, err := p.log.Read(nil, int64(2*i), most, true)
				p.must(err)
				inside := at[i] < 2*sector && at[i+1] > sector
				if _, got := valuesOf(t, b)[int64(2*i)]; got == inside {
					t.Fatalf("%v, %d: the batch at %d ≤ byte < %d is read: %v", fault, most, at[i], at[i+1], got)
				}
			}
			p.must(p.disk.Damage(p.file(0), at[3]+30))
			missing := p.read(most)
			if lost, _ := p.said(); lost != len(missing) || !strings.HasPrefix(fmt.Sprint(missing), "[6 7 ") {
				t.Errorf("%v, %d: %d are said to be lost, missing are %v", fault, most, lost, missing)
			}
		}
	}
}

// TestAReadThatFails makes a read fail with ENOMEM, which shows no damage, while the log searches for the end of
// damaged bytes. The log reports no loss, and a later read succeeds.
func TestAReadThatFails(t *testing.T) {
	t.Parallel()
	const from, to = 100_000, 600_000 // the scanner needs several reads for this range
	p, at := filled(t, to+200_000, 9000)
	p.must(p.disk.Change(p.file(0), func(b []byte) []byte { clear(b[from:to]); return b }))
	p.disk.SetUnreadable(p.file(0), to, 2*to, syscall.ENOMEM)
	first, _ := slices.BinarySearch(at, from)
	if b, err := p.log.Read(nil, int64(2*first-2), 1, true); !errors.Is(err, syscall.ENOMEM) {
		t.Errorf("read: %v, %v", valuesOf(t, b), err)
	}
	if lost, _ := p.said(); lost != 0 {
		t.Errorf("%d messages are said to be lost", lost)
	}
	p.disk.SetUnreadable(p.file(0), 0, 0, nil)
	missing := p.read(1 << 20)
	for _, offset := range missing {
		if i := offset / 2; at[i] >= to || at[i+1] <= from {
			t.Errorf("the good record at %d is missing", offset)
		}
	}
	if lost, _ := p.said(); lost == 0 || lost != len(missing) {
		t.Errorf("%d messages are said to be lost, missing are %v", lost, missing)
	}
}

// TestOffsetsThatWereLost truncates a stopped log. The name of a .damaged file has the lost offsets. So the log does
// not use these offsets again, even without the summary.
func TestOffsetsThatWereLost(t *testing.T) {
	t.Parallel()
	p := newPatient(t, stopped)
	p.must(p.disk.Change(p.file(2), func(b []byte) []byte { return b[:len(b)-int(p.size)] }))
	end := int64(len(p.want))
	p.open()
	p.log.Close()
	p.dropSummaries()
	p.open()
	p.damaged = true
	if base := p.append("next"); base != end {
		t.Errorf("the next batch is at %d, not at %d", base, end)
	}
	p.log.Close()
}

// TestATopicThatIsDeleted removes a log's files during a read. The read fails with ErrClosed, and the log reports no
// loss.
func TestATopicThatIsDeleted(t *testing.T) {
	t.Parallel()
	p := newPatient(t, running)
	p.log.Close()
	p.open() // open the log again, so that it has no open files
	p.disk.SetFail(func(op crashdisk.Op, name string) error {
		if op == crashdisk.OpOpen && name == p.file(0) {
			p.log.Close()
			return &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
		}
		return nil
	})
	if _, err := p.log.Read(nil, 0, 1, true); !errors.Is(err, seglog.ErrClosed) {
		t.Errorf("read: %v", err)
	}
	if lost, _ := p.said(); lost != 0 {
		t.Errorf("%d messages are said to be lost", lost)
	}
}

// TestOffsetsByTimeBehindALostSegment checks that OffsetAt skips a lost segment and searches the next segment.
func TestOffsetsByTimeBehindALostSegment(t *testing.T) {
	t.Parallel()
	p := newPatient(t, running)
	p.log.Close()
	p.open() // open the log again, so that it has no open files
	p.must(p.disk.Lose(p.file(0), ""))
	if offset, _, err := p.log.OffsetAt(0); err != nil || offset != p.bases[1] {
		t.Errorf("the first offset of the time is %d, %v", offset, err)
	}
	p.log.Close()
}
