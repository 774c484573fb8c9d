package kafkaserver

import (
	"testing"
	"time"
)

// TestATightDiskHasFewSegments cleans often while space is short and a group has committed all of the few records. The
// records stay, because their size is below leastRest. The cleans must not leave a separate segment for each record.
func TestATightDiskHasFewSegments(t *testing.T) {
	t.Parallel()
	p := newPatient(t)
	cfg := Config{DataDir: "/data", MinFreeBytes: 1 << 50, ballast: 1, fs: p.disk}
	if err := cfg.complete(); err != nil {
		t.Fatal(err)
	}
	b, err := open(&cfg)
	if err != nil {
		t.Fatal(err)
	}
	defer b.close()
	topic, refusal := b.create("events", 1, nil, false)
	if refusal != nil {
		t.Fatal(refusal.message)
	}
	l := topic.log(0)
	if b.space.measure(); !b.space.tight() {
		t.Fatal("space is not short")
	}
	const cleans = 100
	for i := range cleans {
		if _, err := l.Append(oneRecord(i), false); err != nil {
			t.Fatal(err)
		}
		all := &committed{map[string]map[int32]int64{"sink": {0: int64(i + 1)}}}
		b.cleanKept(b.cleanPartition(topic, 0, all, time.Unix(0, 0), true)) // no record is old
	}
	if start, end := l.Offsets(); start != 0 || end != cleans {
		t.Errorf("the records from %d to %d are left", start, end)
	}
	if n := len(l.Segments()); n > 8 {
		t.Errorf("there are %d segments", n)
	}
}
