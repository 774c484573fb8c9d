package sink

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/segmentio/kafka-go"

	"github.com/octavo-docs/octavo/ingest/eventlog"
	"github.com/octavo-docs/octavo/schema/insights"
)

// sinkVersion is the version that a sink announces to its group. Increase it in each change that is incompatible with
// older sinks in the same group.
const sinkVersion = 1

// announcingBalancer announces this sink's version to the group. It assigns partitions by the same rule as all earlier
// versions, because all sinks of a group must use the same rule.
type announcingBalancer struct{ kafka.RangeGroupBalancer }

// UserData implements [kafka.GroupBalancer].
func (announcingBalancer) UserData() ([]byte, error) {
	return fmt.Appendf(nil, "octavo/%d reads=%d", sinkVersion, insights.Reads), nil
}

// isOlder reports whether a member's user data came from an older sink.
func isOlder(data []byte) bool {
	rest, _ := strings.CutPrefix(string(data), "octavo/")
	version, members, _ := strings.Cut(rest, " ")
	reads, _, _ := strings.Cut(strings.TrimPrefix(members, "reads="), " ")
	v, _ := strconv.Atoi(version)
	r, _ := strconv.Atoi(reads)
	return v < sinkVersion || r < insights.Reads
}

// ErrRebalancing is wrapped by OlderMembers' error while members join or leave.
var ErrRebalancing = errors.New("members are joining or leaving: ask again")

// OlderMembers counts the sinks in a group that are older than this program. Such sinks cannot read newer messages, and
// cannot insert into newer tables. Call it before writing the first newer message or changing the table. A sink that is
// not running is not a member, so OlderMembers does not count an older sink that is started again later.
func OlderMembers(ctx context.Context, brokers []string, access eventlog.Access, topic, group string) (int, error) {
	if err := eventlog.CheckBrokers(brokers); err != nil {
		return 0, err
	}
	log := eventlog.NewTopic(brokers, access, "octavo-members", 10*time.Second, topic)
	defer log.Close()
	res, err := log.Client.DescribeGroups(ctx, &kafka.DescribeGroupsRequest{Addr: nil, GroupIDs: []string{group}})
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
	default: // during a rebalance, Kafka does not report the members' user data
		return 0, fmt.Errorf("cannot tell who is in the group %s: %w", group, ErrRebalancing)
	}
	return older, nil
}
