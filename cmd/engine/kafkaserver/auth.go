package kafkaserver

import (
	"crypto/rand"
	"fmt"

	"github.com/twmb/franz-go/pkg/kmsg"
	"github.com/xdg-go/scram"
)

const (
	mechanism = "SCRAM-SHA-256"
	// iterations is Kafka's minimum, which is sufficient for a random password.
	iterations = 4096
)

// authenticator has the SCRAM credentials of the only user.
type authenticator struct {
	server *scram.Server
}

func newAuthenticator(user, password string) (*authenticator, error) {
	client, err := scram.SHA256.NewClient(user, password, "")
	if err != nil {
		return nil, fmt.Errorf("cannot use the user or password: %w", err)
	}
	salt := make([]byte, 16)
	_, _ = rand.Read(salt) // crypto/rand does not fail
	stored := client.GetStoredCredentials(scram.KeyFactors{Salt: string(salt), Iters: iterations})
	server, err := scram.SHA256.NewServer(func(name string) (scram.StoredCredentials, error) {
		if name != user {
			return scram.StoredCredentials{}, fmt.Errorf("there is no user %q", name)
		}
		return stored, nil
	})
	if err != nil {
		return nil, fmt.Errorf("cannot use the user or password: %w", err)
	}
	return &authenticator{server}, nil
}

// login is the state of one connection's login.
type login struct {
	auth         *authenticator
	conversation *scram.ServerConversation
}

func (a *authenticator) begin() *login { return &login{auth: a} }

func (c *conn) saslHandshake(r *request, q *kmsg.SASLHandshakeRequest) *kmsg.SASLHandshakeResponse {
	resp := kmsg.NewPtrSASLHandshakeResponse()
	resp.SupportedMechanisms = []string{mechanism}
	switch {
	case c.login == nil || c.login.conversation != nil:
		resp.ErrorCode, r.closeAfter = errIllegalSASL, true
	case q.Mechanism != mechanism:
		resp.ErrorCode, r.closeAfter = errSASLMechanism, true
	default:
		c.login.conversation = c.login.auth.server.NewConversation()
	}
	return resp
}

func (c *conn) saslAuthenticate(r *request, q *kmsg.SASLAuthenticateRequest) *kmsg.SASLAuthenticateResponse {
	resp := kmsg.NewPtrSASLAuthenticateResponse()
	resp.SASLAuthBytes = []byte{}
	if c.login == nil || c.login.conversation == nil {
		resp.ErrorCode, r.closeAfter = errIllegalSASL, true
		return resp
	}
	talk := c.login.conversation
	answer, err := talk.Step(string(q.SASLAuthBytes))
	if err != nil || talk.Done() && !talk.Valid() {
		// Do not reveal whether the user or the password is wrong.
		message := "the user or the password is wrong"
		resp.ErrorCode, resp.ErrorMessage, r.closeAfter = errSASLAuthentication, &message, true
		c.server.broker.cfg.Logger.Warn("A login was refused.", "from", c.net.RemoteAddr().String())
		return resp
	}
	resp.SASLAuthBytes = []byte(answer)
	if talk.Done() {
		c.login = nil
		c.server.forgetStranger(c)
	}
	return resp
}
