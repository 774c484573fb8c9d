package kafkaserver

import (
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/octavo-docs/octavo/cmd/engine/kafkaserver/group"
)

const (
	keyProduce     = 0
	keyAPIVersions = 18
)

// api is one kind of request.
type api struct {
	key         int16
	least, most int16 // lowest and highest supported version
	stranger    bool  // allowed before the login
	handle      func(c *conn, r *request) (kmsg.Response, error)
}

// on makes a handler from a method that takes the decoded request.
func on[Q kmsg.Request, R kmsg.Response](f func(c *conn, r *request, q Q) R) func(*conn, *request) (kmsg.Response, error) {
	return func(c *conn, r *request) (kmsg.Response, error) { return f(c, r, r.kmsg.(Q)), nil }
}

// grouped makes a handler from a method of the group coordinator.
func grouped[Q kmsg.Request, R kmsg.Response](f func(m *group.Manager, q Q) R) func(*conn, *request) (kmsg.Response, error) {
	return func(c *conn, r *request) (kmsg.Response, error) { return f(c.server.broker.groups, r.kmsg.(Q)), nil }
}

// apis has all supported kinds of requests, with their versions. It has no flexible versions of the protocol. Requests
// of these versions have a count of tags. kmsg loops over this count, even if the request has no tags. So a few bytes
// would cost seconds of CPU time, even before the login.
var apis []api

func init() { // set here, because the handler apiVersions itself reads apis
	apis = []api{
		{keyProduce, 3, 8, false, (*conn).produceRequest},
		{1, 4, 11, false, on((*conn).fetch)},
		{2, 1, 5, false, on((*conn).listOffsets)},
		{3, 0, 8, false, on((*conn).metadata)},
		{8, 2, 7, false, grouped((*group.Manager).Commit)},
		{9, 1, 5, false, grouped((*group.Manager).Fetch)},
		{10, 0, 2, false, on((*conn).findCoordinator)},
		{11, 0, 5, false, on((*conn).joinGroup)},
		{12, 0, 3, false, grouped((*group.Manager).Heartbeat)},
		{13, 0, 3, false, grouped((*group.Manager).Leave)},
		{14, 0, 3, false, grouped((*group.Manager).Sync)},
		{15, 0, 4, false, grouped((*group.Manager).Describe)},
		{16, 0, 2, false, on((*conn).listGroups)},
		{17, 1, 1, true, on((*conn).saslHandshake)},
		{keyAPIVersions, 0, 2, true, on((*conn).apiVersions)},
		{19, 0, 4, false, on((*conn).createTopics)},
		{20, 0, 3, false, on((*conn).deleteTopics)},
		{21, 0, 1, false, on((*conn).deleteRecords)},
		{22, 0, 1, false, on((*conn).initProducerID)},
		{32, 0, 3, false, on((*conn).describeConfigs)},
		{33, 0, 1, false, on((*conn).alterConfigs)},
		{36, 0, 1, true, on((*conn).saslAuthenticate)},
		{37, 0, 1, false, on((*conn).createPartitions)},
		{42, 0, 1, false, grouped((*group.Manager).Delete)},
		{44, 0, 0, false, on((*conn).incrementalAlterConfigs)},
	}
}

func apiByKey(key int16) *api {
	for i := range apis {
		if apis[i].key == key {
			return &apis[i]
		}
	}
	return nil
}

func apiVersions() *kmsg.ApiVersionsResponse {
	resp := kmsg.NewPtrApiVersionsResponse()
	for _, a := range apis {
		k := kmsg.NewApiVersionsResponseApiKey()
		k.ApiKey, k.MinVersion, k.MaxVersion = a.key, a.least, a.most
		resp.ApiKeys = append(resp.ApiKeys, k)
	}
	return resp
}

func (c *conn) apiVersions(_ *request, _ *kmsg.ApiVersionsRequest) *kmsg.ApiVersionsResponse {
	return apiVersions()
}

func (c *conn) joinGroup(r *request, q *kmsg.JoinGroupRequest) *kmsg.JoinGroupResponse {
	return c.server.broker.groups.Join(q, group.Client{ID: r.client, Host: c.net.RemoteAddr().String()})
}

func (c *conn) listGroups(_ *request, _ *kmsg.ListGroupsRequest) *kmsg.ListGroupsResponse {
	return c.server.broker.groups.List()
}

func (c *conn) findCoordinator(_ *request, q *kmsg.FindCoordinatorRequest) *kmsg.FindCoordinatorResponse {
	resp := kmsg.NewPtrFindCoordinatorResponse()
	resp.NodeID, resp.Host, resp.Port = nodeID, c.server.host, c.server.port
	if q.CoordinatorType != 0 { // the client looks for a transaction coordinator
		resp.ErrorCode, resp.NodeID = errCoordinatorNotReady, -1
	}
	return resp
}

func (c *conn) initProducerID(_ *request, q *kmsg.InitProducerIDRequest) *kmsg.InitProducerIDResponse {
	resp := kmsg.NewPtrInitProducerIDResponse()
	if q.TransactionalID != nil {
		resp.ErrorCode = errInvalidRequest // this broker has no transactions
		return resp
	}
	id, err := c.server.broker.producers.take()
	if err != nil {
		resp.ErrorCode = errCoordinatorNotReady
		return resp
	}
	resp.ProducerID, resp.ProducerEpoch = id, 0
	return resp
}
