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

// progress is the state of a partition in the consumer group. Every message before `offset` is stored. The other fields
// are in the commit's metadata.
type progress struct {
	offset int64
	// known means that a sink of this metadata version committed the progress. Otherwise an operator or a sink with
	// other metadata set the offset, and rows after the offset may be stored.
	known bool
	// `intent` is the end of an announced cut: a cut that begins at `offset` and may be stored, completely or in part.
	// 0 means that there is no announced cut.
	intent int64
	// `tail` is the checksum of the message before `offset`. With it, a sink notices that the topic was recreated.
	// `hasTail` is false if there was no message before `offset`.
	tail    uint64
	hasTail bool
	// `plain` is the offset after the last message before `offset` that has no producer id, or unknownPlain. `end` is
	// the log's end at the time of the commit.
	plain, end int64
	lost       losses // losses before offset
	// `erased` is the version of the tombstones that the owner honours for messages at or after `offset`. If there is
	// an announced cut, `erased` is the version that this cut honours. It never decreases.
	erased int64
}

// unknownPlain means that any message before `offset` may lack a producer id.
const unknownPlain = -1

// progressVersion is the first field of the metadata. Change it if the meaning of a member of the metadata changes.
// Sinks ignore metadata with another version. Do not change it for a new member, because sinks skip unknown members.
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
	if p.erased > 0 {
		text += fmt.Sprintf(" erased=%d", p.erased)
	}
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
		case "erased":
			p.erased = n
		default:
			if i := slices.Index(lossReasons[:], name); i >= 0 {
				p.lost[i] = n
			} else {
				err = nil // the member belongs to a later version
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

// member identifies the sink that commits, and its generation. If the generation has ended, the broker refuses the
// commit.
type member struct {
	generation int32
	id         string
}

// errPartitionsLost means that another sink owns the partitions.
var errPartitionsLost = errors.New("another sink owns the partitions now")

// commit commits the progress of partitions.
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
			return fmt.Errorf("%w: %w", errPartitionsLost, p.Error)
		default:
			return p.Error
		}
	}
	return nil
}

// groupProgress reads the progress of partitions from a group.
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

// partitionRange returns the numbers of a topic's partitions.
func partitionRange(count int) []int {
	ids := make([]int, count)
	for id := range ids {
		ids[id] = id
	}
	return ids
}
