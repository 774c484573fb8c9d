package kafkaserver

import (
	"strconv"
	"sync"

	"github.com/octavo-docs/octavo/cmd/engine/kafkaserver/journal"
)

const (
	producerKey = "producer"
	// producerBlock is the number of ids that the journal reserves in one entry. After a restart, the unused ids of the
	// entry are skipped.
	producerBlock = 1000
)

// producerIDs gives each producer an id that was never used before.
type producerIDs struct {
	journal *journal.Journal

	mu         sync.Mutex
	next, most int64
	// least is above all ids in the logs. Without `least`, an id could be used again after damage has removed the
	// journal's entry. A log would then treat the new producer's batches as repeats.
	least int64
}

func (p *producerIDs) take() (int64, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.next == p.most {
		from := int64(1)
		if value, ok := p.journal.Get(producerKey); ok {
			from, _ = strconv.ParseInt(string(value), 10, 64) // the broker wrote a valid number
		}
		from = max(from, p.least)
		if err := p.journal.Put(journal.Entry{Key: producerKey, Value: strconv.AppendInt(nil, from+producerBlock, 10)}); err != nil {
			return 0, err
		}
		p.next, p.most = from, from+producerBlock
	}
	p.next++
	return p.next - 1, nil
}
