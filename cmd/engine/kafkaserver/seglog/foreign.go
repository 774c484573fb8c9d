package seglog

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/octavo-docs/octavo/cmd/engine/kafkaserver/disk"
)

// ErrForeign is wrapped by the error about a segment that belongs to another partition.
var ErrForeign = errors.New("a segment of the log belongs to another partition")

// foreignBatches is the least number of batches with another partition's seal with which a foreign segment begins. A
// single such batch may be a batch of this partition with a damaged header.
const foreignBatches = 2

// checkForeign returns an error if a segment begins with good batches of another partition. These messages are intact
// and belong to another partition, so Open fails instead of reporting them as lost.
func (l *Log) checkForeign(s segment) error {
	file, err := l.cfg.FS.Open(l.segmentName(s.base))
	if err != nil {
		return fmt.Errorf("cannot open a segment of %s: %w", l.cfg.Name, err)
	}
	defer func() { _ = file.Close() }()
	foreign, err := l.isForeign(file, s)
	if err != nil {
		return fmt.Errorf("cannot read the log of %s: %w", l.cfg.Name, err)
	}
	if foreign {
		return fmt.Errorf("%w: %s was not written for %s: put back each segment into the folder that it is from, or "+
			"restore the whole data directory from one backup", ErrForeign, l.segmentName(s.base), l.cfg.Name)
	}
	return nil
}

func (l *Log) isForeign(file disk.File, s segment) (bool, error) {
	if l.identity == 0 {
		return false, nil
	}
	c := l.newScanner(file, position{0, 0, s.size}, s.base+maxSpan)
	defer c.free()
	for range foreignBatches {
		if c.end-c.pos < headerSize {
			return false, nil
		}
		b, err := c.bytes(c.pos, headerSize)
		if err != nil {
			return false, err
		}
		h, ok := parseHeader(b)
		if !ok || h.size > c.end-c.pos || isSealed(b, l.identity) {
			return false, nil
		}
		good, err := c.sum(c.pos+atAttributes, c.pos+h.size, binary.BigEndian.Uint32(b[atCRC:]))
		if err != nil || !good {
			return false, err
		}
		c.pos += h.size
	}
	return true, nil
}
