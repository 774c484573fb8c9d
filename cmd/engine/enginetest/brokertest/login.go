package brokertest

import (
	"errors"
	"fmt"
	"strings"

	"github.com/twmb/franz-go/pkg/kmsg"
	"github.com/xdg-go/scram"
)

// Login is the login that clients must use.
type Login struct {
	Mechanism      string // PLAIN, SCRAM-SHA-256 or SCRAM-SHA-512
	User, Password string
}

// These are the protocol's error codes for a login.
const (
	unsupportedMechanism = 33
	illegalState         = 34
	loginFailed          = 58
)

const iterations = 4096

var hashes = map[string]scram.HashGeneratorFcn{"SCRAM-SHA-256": scram.SHA256, "SCRAM-SHA-512": scram.SHA512}

type authenticator struct {
	Login
	server *scram.Server // server is nil for PLAIN
}

func newAuthenticator(l *Login) (*authenticator, error) {
	a := &authenticator{Login: *l}
	hash := hashes[l.Mechanism]
	if hash == nil {
		if l.Mechanism != "PLAIN" {
			return nil, fmt.Errorf("cannot require a login by the mechanism %q", l.Mechanism)
		}
		return a, nil
	}
	client, err := hash.NewClient(l.User, l.Password, "")
	if err != nil {
		return nil, err
	}
	stored := client.GetStoredCredentials(scram.KeyFactors{Salt: "salt of a test", Iters: iterations})
	a.server, err = hash.NewServer(func(name string) (scram.StoredCredentials, error) {
		if name != l.User {
			return scram.StoredCredentials{}, errors.New("there is no such user")
		}
		return stored, nil
	})
	return a, err
}

// conversation is the login of one connection.
type conversation struct {
	auth  *authenticator
	begun bool
	scram *scram.ServerConversation
}

func (a *authenticator) begin() *conversation { return &conversation{auth: a} }

var errNoLogin = errors.New("cannot answer a request before the login")

// step answers a request of a client that has not logged in. It answers a wrong login as Apache Kafka does.
func (c *conversation) step(request kmsg.Request) (response kmsg.Response, done bool, err error) {
	switch q := request.(type) {
	case *kmsg.SASLHandshakeRequest:
		r := kmsg.NewPtrSASLHandshakeResponse()
		r.SupportedMechanisms = []string{c.auth.Mechanism}
		if q.Mechanism != c.auth.Mechanism {
			r.ErrorCode = unsupportedMechanism
			return r, false, nil
		}
		if c.begun = true; c.auth.server != nil {
			c.scram = c.auth.server.NewConversation()
		}
		return r, false, nil
	case *kmsg.SASLAuthenticateRequest:
		r := kmsg.NewPtrSASLAuthenticateResponse()
		r.SASLAuthBytes = []byte{}
		if !c.begun {
			r.ErrorCode = illegalState
			return r, false, nil
		}
		answer, done, ok := c.authenticate(string(q.SASLAuthBytes))
		if !ok {
			r.ErrorCode, r.ErrorMessage = loginFailed, kmsg.StringPtr("Authentication failed")
			return r, false, nil
		}
		r.SASLAuthBytes = []byte(answer)
		return r, done, nil
	}
	return nil, false, errNoLogin
}

func (c *conversation) authenticate(sent string) (answer string, done, ok bool) {
	if c.scram == nil {
		parts := strings.Split(sent, "\x00")
		return "", true, len(parts) == 3 && parts[1] == c.auth.User && parts[2] == c.auth.Password
	}
	answer, err := c.scram.Step(sent)
	if err != nil || c.scram.Done() && !c.scram.Valid() {
		return "", false, false
	}
	return answer, c.scram.Done(), true
}
