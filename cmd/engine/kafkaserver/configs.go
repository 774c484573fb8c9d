package kafkaserver

import (
	"slices"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// These are the protocol's sources of a config's value.
const (
	fromTopic    = 1
	fromStandard = 5
)

func (c *conn) describeConfigs(_ *request, q *kmsg.DescribeConfigsRequest) *kmsg.DescribeConfigsResponse {
	resp := kmsg.NewPtrDescribeConfigsResponse()
	for i := range q.Resources {
		asked := &q.Resources[i]
		answer := kmsg.NewDescribeConfigsResponseResource()
		answer.ResourceType, answer.ResourceName = asked.ResourceType, asked.ResourceName
		t, refusal := c.configured(asked.ResourceType, asked.ResourceName)
		answer.ErrorCode, answer.ErrorMessage = refusal.split()
		if t != nil {
			answer.Configs = t.describe(asked.ConfigNames)
		}
		resp.Resources = append(resp.Resources, answer)
	}
	return resp
}

// configured returns the topic to which a resource refers. For the broker, which has no configs, it returns a nil topic
// without a refusal.
func (c *conn) configured(kind kmsg.ConfigResourceType, name string) (*topic, *apiError) {
	switch kind {
	case kmsg.ConfigResourceTypeTopic:
		if t := c.server.broker.topic(name); t != nil {
			return t, nil
		}
		return nil, failed(errUnknownTopic, "there is no topic %s", name)
	case kmsg.ConfigResourceTypeBroker:
		return nil, nil
	default:
		return nil, failed(errInvalidRequest, "only topics have configs")
	}
}

func (t *topic) describe(names []string) []kmsg.DescribeConfigsResponseResourceConfig {
	t.mu.Lock()
	defer t.mu.Unlock()
	var list []kmsg.DescribeConfigsResponseResourceConfig
	for _, row := range topicConfigs {
		if names != nil && !slices.Contains(names, row.name) {
			continue
		}
		value, given := t.configs[row.name]
		answer := kmsg.NewDescribeConfigsResponseResourceConfig()
		answer.Name, answer.ConfigType = row.name, kmsg.ConfigType(row.kind)
		answer.IsDefault, answer.Source = !given, fromTopic
		if !given {
			value, answer.Source = row.standard, fromStandard
		}
		answer.Value = &value
		list = append(list, answer)
	}
	return list
}

// alter changes a topic's configs.
func (c *conn) alter(kind kmsg.ConfigResourceType, name string, validateOnly bool, edit func(map[string]string)) *apiError {
	t, refusal := c.configured(kind, name)
	if refusal != nil {
		return refusal
	}
	if t == nil {
		return failed(errInvalidConfig, "the broker has no configs that can be changed")
	}
	return t.change(edit, validateOnly)
}

func (c *conn) alterConfigs(_ *request, q *kmsg.AlterConfigsRequest) *kmsg.AlterConfigsResponse {
	resp := kmsg.NewPtrAlterConfigsResponse()
	for _, asked := range q.Resources {
		answer := kmsg.NewAlterConfigsResponseResource()
		answer.ResourceType, answer.ResourceName = asked.ResourceType, asked.ResourceName
		answer.ErrorCode, answer.ErrorMessage = c.alter(asked.ResourceType, asked.ResourceName, q.ValidateOnly, func(configs map[string]string) {
			clear(configs) // the request replaces all configs
			for _, given := range asked.Configs {
				if given.Value != nil {
					configs[given.Name] = *given.Value
				}
			}
		}).split()
		resp.Resources = append(resp.Resources, answer)
	}
	return resp
}

func (c *conn) incrementalAlterConfigs(_ *request, q *kmsg.IncrementalAlterConfigsRequest) *kmsg.IncrementalAlterConfigsResponse {
	resp := kmsg.NewPtrIncrementalAlterConfigsResponse()
	for _, asked := range q.Resources {
		answer := kmsg.NewIncrementalAlterConfigsResponseResource()
		answer.ResourceType, answer.ResourceName = asked.ResourceType, asked.ResourceName
		answer.ErrorCode, answer.ErrorMessage = c.alterSome(&asked, q.ValidateOnly).split()
		resp.Resources = append(resp.Resources, answer)
	}
	return resp
}

func (c *conn) alterSome(asked *kmsg.IncrementalAlterConfigsRequestResource, validateOnly bool) *apiError {
	for _, given := range asked.Configs {
		if given.Op != kmsg.IncrementalAlterConfigOpSet && given.Op != kmsg.IncrementalAlterConfigOpDelete {
			return failed(errInvalidConfig, "%s is not a list: it can only be set or deleted", given.Name)
		}
	}
	return c.alter(asked.ResourceType, asked.ResourceName, validateOnly, func(configs map[string]string) {
		for _, given := range asked.Configs {
			if delete(configs, given.Name); given.Op == kmsg.IncrementalAlterConfigOpSet && given.Value != nil {
				configs[given.Name] = *given.Value
			}
		}
	})
}
