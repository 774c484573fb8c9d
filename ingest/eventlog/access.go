package eventlog

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"os"
	"strings"
	"time"

	"github.com/segmentio/kafka-go"
	"github.com/segmentio/kafka-go/sasl"
	saslplain "github.com/segmentio/kafka-go/sasl/plain"
	"github.com/segmentio/kafka-go/sasl/scram"
)

// Login is an operator's configuration of the connections to the brokers.
type Login struct {
	TLS bool
	CA  string // PEM file of trusted certificate authorities; "" for the system's file
	// Cert and Key are the PEM files of a client certificate, for brokers that require it. Either both are set, or both
	// are empty.
	Cert, Key string
	// Mechanism is plain, scram-sha-256 or scram-sha-512, or "" for no login.
	Mechanism          string
	Username, Password string
}

// saslMechanisms has a constructor for each value of Login.Mechanism.
var saslMechanisms = map[string]func(user, password string) (sasl.Mechanism, error){
	"plain": func(user, password string) (sasl.Mechanism, error) {
		return saslplain.Mechanism{Username: user, Password: password}, nil
	},
	"scram-sha-256": func(user, password string) (sasl.Mechanism, error) {
		return scram.Mechanism(scram.SHA256, user, password)
	},
	"scram-sha-512": func(user, password string) (sasl.Mechanism, error) {
		return scram.Mechanism(scram.SHA512, user, password)
	},
}

// Access configures every connection to a broker. The zero value means plain text without a login.
type Access struct {
	tls  *tls.Config
	sasl sasl.Mechanism
}

// NewAccess builds the access for a login. It reads the certificate files and checks the other settings. It does not
// connect.
func NewAccess(l Login) (Access, error) {
	var a Access
	var err error
	switch {
	case !l.TLS && (l.CA != "" || l.Cert != "" || l.Key != ""):
		return a, errors.New("cannot use certificates without TLS")
	case (l.Cert == "") != (l.Key == ""):
		return a, errors.New("cannot use a certificate without its key, or a key without its certificate")
	case (l.Mechanism == "") != (l.Username == "") || l.Password != "" && l.Username == "":
		return a, errors.New("cannot log in with only a part of mechanism, username and password")
	}
	if l.TLS {
		if a.tls, err = clientTLS(l); err != nil {
			return a, err
		}
	}
	if l.Mechanism == "" {
		return a, nil
	}
	build, ok := saslMechanisms[strings.ToLower(l.Mechanism)]
	if !ok {
		return a, fmt.Errorf("cannot log in by %q: choose plain, scram-sha-256 or scram-sha-512", l.Mechanism)
	}
	if a.sasl, err = build(l.Username, l.Password); err != nil {
		return a, fmt.Errorf("cannot use the username or password for %s: %w", l.Mechanism, err)
	}
	return a, nil
}

func clientTLS(l Login) (*tls.Config, error) {
	cfg := &tls.Config{MinVersion: tls.VersionTLS12}
	if l.CA != "" {
		pem, err := os.ReadFile(l.CA)
		if err != nil {
			return nil, fmt.Errorf("cannot read the trusted authorities: %w", err)
		}
		cfg.RootCAs = x509.NewCertPool()
		if !cfg.RootCAs.AppendCertsFromPEM(pem) {
			return nil, fmt.Errorf("cannot find a PEM certificate in %s", l.CA)
		}
	}
	if l.Cert != "" {
		pair, err := tls.LoadX509KeyPair(l.Cert, l.Key)
		if err != nil {
			return nil, fmt.Errorf("cannot use the certificate and its key: %w", err)
		}
		cfg.Certificates = []tls.Certificate{pair}
	}
	return cfg, nil
}

// newTransport makes a kafka.Client's transport, which caches only the metadata of these topics. It sets every field
// explicitly, so no default of kafka-go applies unnoticed.
func newTransport(client string, access Access, topics ...string) *kafka.Transport {
	return &kafka.Transport{
		Dial:        (&net.Dialer{Timeout: 3 * time.Second}).DialContext,
		DialTimeout: 5 * time.Second,
		IdleTimeout: 5 * time.Minute,
		// If a partition's leader changes, the client finds the new leader within this time.
		MetadataTTL:    time.Second,
		MetadataTopics: topics,
		ClientID:       client,
		TLS:            access.tls,
		SASL:           access.sasl,
		Resolver:       nil,
		Context:        context.Background(),
	}
}

// NewDialer makes a consumer group's dialer.
func NewDialer(client string, access Access) *kafka.Dialer {
	return &kafka.Dialer{
		ClientID: client, Timeout: 5 * time.Second, DualStack: true, KeepAlive: 30 * time.Second,
		Resolver: nil, TLS: access.tls, SASLMechanism: access.sasl, TransactionalID: "",
		DialFunc: (&net.Dialer{Timeout: 5 * time.Second}).DialContext,
	}
}

// isDistrust reports whether an error is about an untrusted certificate, which a retry cannot fix.
func isDistrust(err error) bool {
	_, ok := errors.AsType[*tls.CertificateVerificationError](err)
	return ok
}
