package brokertest

import (
	"maps"
	"slices"
	"sync"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// cluster makes the broker look like several brokers. It claims that topics have the replicas and settings with which
// they were created. The broker creates the topics with one replica, and without the settings that need several
// brokers.
type cluster struct {
	nodes int

	mu     sync.Mutex
	topics map[string]*claim
}

type claim struct {
	replicas int
	configs  map[string]string
}

// pretended has the settings that a single broker refuses or cannot store.
var pretended = []string{"min.insync.replicas", "unclean.leader.election.enable", "cleanup.policy"}

// note records the replicas and settings that a request gives to topics. It changes a request that creates topics, so
// that a single broker accepts the request.
func (c *cluster) note(request kmsg.Request) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch q := request.(type) {
	case *kmsg.CreateTopicsRequest:
		for i := range q.Topics {
			t := &q.Topics[i]
			told := &claim{replicas: int(t.ReplicationFactor), configs: map[string]string{}}
			for _, given := range t.Configs {
				told.configs[given.Name] = *given.Value
			}
			if c.topics[t.Topic] == nil {
				c.topics[t.Topic] = told
			}
			t.ReplicationFactor = 1
			t.Configs = slices.DeleteFunc(t.Configs, func(given kmsg.CreateTopicsRequestTopicConfig) bool {
				return slices.Contains(pretended, given.Name)
			})
		}
	case *kmsg.IncrementalAlterConfigsRequest:
		for _, r := range q.Resources {
			for _, given := range r.Configs {
				if told := c.topics[r.ResourceName]; told != nil && given.Value != nil {
					told.configs[given.Name] = *given.Value
				}
			}
		}
	}
}

// tell puts the cluster's brokers, replicas and settings into a response.
func (c *cluster) tell(response kmsg.Response) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch r := response.(type) {
	case *kmsg.MetadataResponse:
		var ids []int32
		for first := r.Brokers[0]; len(r.Brokers) < c.nodes; {
			next := first
			next.NodeID = first.NodeID + int32(len(r.Brokers))
			r.Brokers = append(r.Brokers, next)
		}
		for _, node := range r.Brokers {
			ids = append(ids, node.NodeID)
		}
		for i := range r.Topics {
			told := c.topics[*r.Topics[i].Topic]
			for p := range r.Topics[i].Partitions {
				if told != nil {
					r.Topics[i].Partitions[p].Replicas = ids[:told.replicas]
					r.Topics[i].Partitions[p].ISR = ids[:told.replicas]
				}
			}
		}
	case *kmsg.DescribeConfigsResponse:
		for i := range r.Resources {
			if told := c.topics[r.Resources[i].ResourceName]; told != nil {
				r.Resources[i].Configs = told.over(r.Resources[i].Configs)
			}
		}
	}
}

// over returns the broker's settings `had`, in which each claimed setting replaces the broker's setting of the same
// name.
func (c *claim) over(had []kmsg.DescribeConfigsResponseResourceConfig) []kmsg.DescribeConfigsResponseResourceConfig {
	list := slices.DeleteFunc(had, func(e kmsg.DescribeConfigsResponseResourceConfig) bool {
		return c.configs[e.Name] != ""
	})
	for _, name := range slices.Sorted(maps.Keys(c.configs)) {
		e := kmsg.NewDescribeConfigsResponseResourceConfig()
		e.Name, e.Value = name, kmsg.StringPtr(c.configs[name])
		list = append(list, e)
	}
	return list
}
