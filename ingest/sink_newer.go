package ingest

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/segmentio/kafka-go"

	"github.com/octavo-docs/octavo/schema/insights"
)

// newerReason is the reason of a store error that is none of the store's: the
// next message is a later version's.
const newerReason = "newer"

// hold keeps a partition whose next message is a later version's until the
// partition is another's: to wait with events in the log is safe, and an
// upgraded sink stores them.
func (s *Sink) hold(ctx context.Context, p *partition) {
	var again pace
	for ctx.Err() == nil {
		s.metrics.storeErrors.WithLabelValues(newerReason).Inc()
		if again.due() {
			s.cfg.Logger.Error("A later version wrote the partition's next message. The sink holds the partition: upgrade this node.", "partition", p.id)
		}
		if _, end, err := offsetsOf(ctx, s.client, s.cfg.Topic, p.id); err == nil {
			p.end.Store(end)
			s.lag(p)
		}
		sleep(ctx, maxBackoff)
	}
}

// generationOfSinks is what a sink announces to its group. It grows with what
// older sinks cannot work beside, such as a table of another layout. Sinks of
// commit 722db72 and before announce nothing and are 1.
const generationOfSinks = 2

// announcingBalancer shares the partitions out as it was always done, so that
// sinks of all versions agree, and tells the group what this sink is.
type announcingBalancer struct{ kafka.RangeGroupBalancer }

// UserData implements [kafka.GroupBalancer].
func (announcingBalancer) UserData() ([]byte, error) {
	return fmt.Appendf(nil, "octavo/%d reads=%d", generationOfSinks, insights.Reads), nil
}

// isOlder tells whether a member's user data are those of a sink that knows less
// than this one.
func isOlder(data []byte) bool {
	rest, _ := strings.CutPrefix(string(data), "octavo/")
	generation, members, _ := strings.Cut(rest, " ")
	reads, _, _ := strings.Cut(strings.TrimPrefix(members, "reads="), " ")
	g, _ := strconv.Atoi(generation)
	r, _ := strconv.Atoi(reads)
	return g < generationOfSinks || r < insights.Reads
}

// ErrGroupMoves is wrapped by OlderMembers' error while members join or leave.
var ErrGroupMoves = errors.New("members join or leave just now: ask again")

// OlderMembers is how many sinks in a group know less than this program: they
// read only messages of before, and insert only into tables of before. Ask
// before the first such message is written, or such a table is made. A sink that
// is down is no member: one of an older version may still come back.
func OlderMembers(ctx context.Context, brokers []string, access KafkaAccess, group string) (int, error) {
	if err := CheckBrokers(brokers); err != nil {
		return 0, err
	}
	transport := newTransport("octavo-members", access)
	defer transport.CloseIdleConnections()
	client := &kafka.Client{Addr: kafka.TCP(brokers...), Transport: transport}
	res, err := client.DescribeGroups(ctx, &kafka.DescribeGroupsRequest{Addr: nil, GroupIDs: []string{group}})
	if err == nil && len(res.Groups) != 1 {
		err = errors.New("the broker did not answer for it")
	}
	if err == nil && !errors.Is(res.Groups[0].Error, kafka.GroupIdNotFound) {
		err = res.Groups[0].Error
	}
	if err != nil {
		return 0, fmt.Errorf("cannot ask who is in the group %s: %w", group, err)
	}
	older := 0
	switch res.Groups[0].GroupState {
	case "Stable":
		for _, m := range res.Groups[0].Members {
			if isOlder(m.MemberMetadata.UserData) {
				older++
			}
		}
	case "Empty", "Dead", "":
	default: // Kafka does not tell the members' user data now
		return 0, fmt.Errorf("cannot tell who is in the group %s: %w", group, ErrGroupMoves)
	}
	return older, nil
}
