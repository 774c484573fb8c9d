package sink

import (
	"testing"
	"time"
)

// TestMarks checks that pass returns the time of the last mark that the commits of all partitions have passed. The
// number of marks must be limited, even if the sinks lag behind for days.
func TestMarks(t *testing.T) {
	t.Parallel()
	moment := func(n int) time.Time { return time.Unix(int64(n), 0) }
	var m marks
	m.add(mark{moment(1), []int64{10, 0}})
	m.add(mark{moment(2), []int64{10, 5}})
	m.add(mark{moment(3), []int64{20, 5}})
	for _, c := range []struct {
		committed []int64
		at        int // number of the returned mark; 0 means none
	}{{[]int64{9, 5}, 0}, {[]int64{10, 0}, 1}, {[]int64{10, 4}, 0}, {[]int64{25, 4}, 0}, {[]int64{20, 5}, 3}, {[]int64{20, 5}, 0}} {
		at, ok := m.pass(c.committed)
		if ok != (c.at > 0) || ok && !at.Equal(moment(c.at)) {
			t.Errorf("%v: %v, %v", c.committed, at, ok)
		}
	}
	for n := range 100 * maxMarks {
		m.add(mark{moment(n), []int64{int64(n), 0}})
		if len(m.list) > maxMarks {
			t.Fatalf("%d marks", len(m.list))
		}
	}
	if at, ok := m.pass([]int64{0, 0}); !ok || !at.Equal(moment(0)) {
		t.Errorf("the oldest mark was dropped: %v, %v", at, ok)
	}
	if at, ok := m.pass([]int64{50 * maxMarks, 0}); !ok || at.After(moment(50*maxMarks)) || at.Before(moment(49*maxMarks)) {
		t.Errorf("%v, %v", at, ok)
	}
	if _, ok := m.pass([]int64{1 << 40}); ok {
		t.Error("an unknown partition passed")
	}
}
