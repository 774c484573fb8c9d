package sink

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/segmentio/kafka-go"

	"github.com/octavo-docs/octavo/ingest/eventlog"
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
	// plain is the offset after the last message before offset without a
	// producer id, or unknownPlain; end is where the log ended then.
	plain, end int64
	lost       losses // before offset
}

// unknownPlain: there may be messages without a producer id anywhere.
const unknownPlain = -1

// progressVersion begins the metadata. Whoever changes its meaning changes it:
// an unknown one is as none. What is added after the members that it began with
// (to, after) is passed over by sinks that do not know it.
const progressVersion = "octavo1"

func (p progress) metadata() string {
	text := fmt.Sprintf("%s to=%d", progressVersion, p.intent)
	if p.hasTail {
		text += fmt.Sprintf(" after=%016x", p.tail)
	}
	if p.plain != unknownPlain {
		text += fmt.Sprintf(" plain=%d", p.plain)
	}
	text += fmt.Sprintf(" end=%d", p.end)
	for i, n := range p.lost {
		if n > 0 {
			text += fmt.Sprintf(" %s=%d", lossReasons[i], n)
		}
	}
	return text
}

func parseProgress(offset int64, metadata string) progress {
	none := progress{offset: offset, plain: unknownPlain}
	rest, ok := strings.CutPrefix(metadata, progressVersion+" ")
	if !ok || offset < 0 {
		return none
	}
	p := none
	for _, member := range strings.Fields(rest) {
		name, value, _ := strings.Cut(member, "=")
		n, err := strconv.ParseInt(value, 10, 64)
		switch name {
		case "to":
			p.intent, p.known = n, err == nil
		case "after":
			p.tail, err = strconv.ParseUint(value, 16, 64)
			p.hasTail = err == nil
		case "plain":
			p.plain = n
		case "end":
			p.end = n
		default:
			if i := slices.Index(lossReasons[:], name); i >= 0 {
				p.lost[i] = n
			} else {
				err = nil // a later version's
			}
		}
		if err != nil {
			return none
		}
	}
	if !p.known {
		return none
	}
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
	res, err := s.log.Client.OffsetCommit(ctx, &kafka.OffsetCommitRequest{
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

// groupProgress asks a group how far partitions are.
func groupProgress(ctx context.Context, log *eventlog.Topic, group string, ids []int) (map[int]progress, error) {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	res, err := log.Client.OffsetFetch(ctx, &kafka.OffsetFetchRequest{Addr: nil, GroupID: group, Topics: map[string][]int{log.Name: ids}})
	if err != nil {
		return nil, err
	}
	if res.Error != nil {
		return nil, res.Error
	}
	list := map[int]progress{}
	for _, p := range res.Topics[log.Name] {
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

// partitionRange are the numbers of a topic's partitions.
func partitionRange(count int) []int {
	ids := make([]int, count)
	for id := range ids {
		ids[id] = id
	}
	return ids
}
