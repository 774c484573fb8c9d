package ingest

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/segmentio/kafka-go"
)

// progress is what the group keeps for a partition: everything before offset
// is stored. The rest is in the commit's metadata.
type progress struct {
	offset int64
	// known: a sink of this scheme wrote it. One of an earlier version may
	// have stored more than it says.
	known bool
	// intent is the end of the cut that begins at offset and may be stored in
	// part or whole; 0 is none.
	intent int64
	// tail is the sum of the message before offset, to tell this log from one
	// made anew; hasTail is false if there was none.
	tail    uint64
	hasTail bool
}

// progressVersion begins the metadata. Whoever changes its meaning changes it:
// an unknown one is as none.
const progressVersion = "octavo1"

func (p progress) metadata() string {
	text := fmt.Sprintf("%s to=%d", progressVersion, p.intent)
	if p.hasTail {
		text += fmt.Sprintf(" after=%016x", p.tail)
	}
	return text
}

func parseProgress(offset int64, metadata string) progress {
	p := progress{offset: offset}
	rest, ok := strings.CutPrefix(metadata, progressVersion+" ")
	if !ok || offset < 0 {
		return p
	}
	if n, _ := fmt.Sscanf(rest, "to=%d after=%x", &p.intent, &p.tail); n < 1 {
		return progress{offset: offset}
	} else if n == 2 {
		p.hasTail = true
	}
	p.known = true
	if p.intent <= p.offset {
		p.intent = 0
	}
	return p
}

// member is who commits: a commit of a generation that is over is refused.
type member struct {
	generation int32
	id         string
}

// errNotOurs: the partitions are another's now.
var errNotOurs = errors.New("the partitions are another sink's now")

// commit tells the group how far partitions are.
func (s *Sink) commit(ctx context.Context, who member, list map[int]progress) error {
	commits := make([]kafka.OffsetCommit, 0, len(list))
	for id, p := range list {
		commits = append(commits, kafka.OffsetCommit{Partition: id, Offset: p.offset, Metadata: p.metadata()})
	}
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	res, err := s.client.OffsetCommit(ctx, &kafka.OffsetCommitRequest{
		Addr: nil, GroupID: s.cfg.Group, GenerationID: int(who.generation), MemberID: who.id, InstanceID: "",
		Topics: map[string][]kafka.OffsetCommit{s.cfg.Topic: commits},
	})
	if err != nil {
		return err
	}
	if len(res.Topics[s.cfg.Topic]) != len(list) {
		return errors.New("the broker did not answer for each partition")
	}
	for _, p := range res.Topics[s.cfg.Topic] {
		switch {
		case p.Error == nil:
		case errors.Is(p.Error, kafka.IllegalGeneration), errors.Is(p.Error, kafka.UnknownMemberId),
			errors.Is(p.Error, kafka.RebalanceInProgress), errors.Is(p.Error, kafka.FencedInstanceID):
			return fmt.Errorf("%w: %w", errNotOurs, p.Error)
		default:
			return p.Error
		}
	}
	return nil
}

// progressOf asks the group how far partitions are.
func (s *Sink) progressOf(ctx context.Context, ids []int) (map[int]progress, error) {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	res, err := s.client.OffsetFetch(ctx, &kafka.OffsetFetchRequest{Addr: nil, GroupID: s.cfg.Group, Topics: map[string][]int{s.cfg.Topic: ids}})
	if err != nil {
		return nil, err
	}
	if res.Error != nil {
		return nil, res.Error
	}
	list := map[int]progress{}
	for _, p := range res.Topics[s.cfg.Topic] {
		if p.Error != nil {
			return nil, p.Error
		}
		list[p.Partition] = parseProgress(p.CommittedOffset, p.Metadata)
	}
	if len(list) != len(ids) {
		return nil, errors.New("the broker did not answer for each partition")
	}
	return list, nil
}
