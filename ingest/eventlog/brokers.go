package eventlog

import (
	"errors"
	"fmt"
	"net"
	"slices"
	"strconv"

	"github.com/segmentio/kafka-go"
)

// CheckBrokers refuses addresses that no broker can have. It does not resolve names, because resolving a name may fail
// while the broker is unavailable.
func CheckBrokers(list []string) error {
	if len(list) == 0 {
		return errors.New("there is no address of a Kafka broker")
	}
	for _, address := range list {
		host, port, err := net.SplitHostPort(address)
		if n, bad := strconv.ParseUint(port, 10, 16); err != nil || bad != nil || host == "" || n == 0 {
			return fmt.Errorf("%q is not the host:port of a Kafka broker", address)
		}
	}
	return nil
}

// permanentCodes are the error codes after which a retry cannot succeed, because the broker refuses the client or its
// request. A cluster that is starting or partly unavailable may give any other code. An example is
// InvalidReplicationFactor while fewer brokers are up than a topic has replicas. If a broker closes the connection
// during a login, it may be shutting down, so a retry may help.
var permanentCodes = []kafka.Error{
	kafka.SASLAuthenticationFailed, kafka.UnsupportedSASLMechanism, kafka.IllegalSASLState,
	kafka.TopicAuthorizationFailed, kafka.ClusterAuthorizationFailed,
	kafka.InvalidTopic, kafka.InvalidPartitionNumber, kafka.InvalidConfiguration, kafka.PolicyViolation,
	kafka.UnsupportedVersion,
}

// isPermanent reports whether an error shows that the configuration can never work. All other errors may come from an
// unavailable broker.
func isPermanent(err error) bool {
	if code, ok := errors.AsType[kafka.Error](err); ok {
		return slices.Contains(permanentCodes, code)
	}
	unusable := errors.Is(err, errPartitions) || errors.Is(err, errCompacted) || errors.Is(err, ErrBaseline)
	return unusable || isDistrust(err)
}
