package gitsync

import "time"

// Limits bound one fetch or push.
type Limits struct {
	Time      time.Duration // longest time of the fetch or push, from its first connection on
	RefsBytes int64         // largest size of the list of branches and tags
	PackBytes int64         // largest size of the pack as it is sent
	// Objects and InflatedBytes bound all objects of the pack together. ObjectBytes bounds each object. BaseBytes
	// bounds the bytes that deltas read. It is the sum of the sizes of their bases, and a base counts once for each
	// delta.
	Objects                               uint32
	InflatedBytes, ObjectBytes, BaseBytes int64
	// Entries, Depth and PathBytes bound the tree of the commit.
	Entries, Depth, PathBytes int
	// FileBytes is the largest size of a file that is read. Larger files are left out.
	FileBytes int64
	// PushBytes bounds the changes of a push.
	PushBytes int64
}

// DefaultLimits are large enough for repositories of documentation with about 100,000 files. A fetch receives only the
// objects of one commit.
var DefaultLimits = Limits{
	Time: 10 * time.Minute, RefsBytes: 32 << 20, PackBytes: 512 << 20,
	Objects: 500_000, InflatedBytes: 2 << 30, ObjectBytes: 64 << 20, BaseBytes: 8 << 30,
	Entries: 200_000, Depth: 64, PathBytes: 1024, FileBytes: 8 << 20, PushBytes: 128 << 20,
}
