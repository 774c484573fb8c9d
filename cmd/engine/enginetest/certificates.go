package enginetest

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// Authority is a test's own certificate authority. Its files are PEM.
type Authority struct {
	CA string // file of the authority's certificate

	t    testing.TB
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
}

// NewAuthority creates an authority.
func NewAuthority(t testing.TB) *Authority {
	t.Helper()
	a := &Authority{t: t}
	a.key = a.newKey()
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "octavo test authority"}, IsCA: true, BasicConstraintsValid: true,
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(24 * time.Hour), KeyUsage: x509.KeyUsageCertSign,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &a.key.PublicKey, a.key)
	if err == nil {
		a.cert, err = x509.ParseCertificate(der)
	}
	if err != nil {
		t.Fatal(err)
	}
	a.CA = a.write(t.TempDir(), "ca.pem", &pem.Block{Type: "CERTIFICATE", Bytes: der})
	return a
}

// Issue creates a certificate for servers on 127.0.0.1 and for clients. It returns the files of the certificate and its
// key.
func (a *Authority) Issue(name string) (certificate, key string) {
	a.t.Helper()
	private := a.newKey()
	template := &x509.Certificate{
		SerialNumber: big.NewInt(time.Now().UnixNano()), Subject: pkix.Name{CommonName: name},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(24 * time.Hour), KeyUsage: x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, DNSNames: []string{"localhost"},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, a.cert, &private.PublicKey, a.key)
	if err != nil {
		a.t.Fatal(err)
	}
	secret, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		a.t.Fatal(err)
	}
	dir := a.t.TempDir() // a separate directory, because parallel tests may use the same name
	return a.write(dir, name+".pem", &pem.Block{Type: "CERTIFICATE", Bytes: der}), a.write(dir, name+".key", &pem.Block{Type: "PRIVATE KEY", Bytes: secret})
}

// Server returns the TLS configuration of a server with a certificate of this
// authority.
func (a *Authority) Server() *tls.Config {
	a.t.Helper()
	pair, err := tls.LoadX509KeyPair(a.Issue("server"))
	if err != nil {
		a.t.Fatal(err)
	}
	return &tls.Config{Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS12}
}

// Clients returns a copy of a server's TLS configuration. With the copy, the server only accepts clients that have a
// certificate of this authority.
func (a *Authority) Clients(server *tls.Config) *tls.Config {
	server = server.Clone()
	server.ClientAuth, server.ClientCAs = tls.RequireAndVerifyClientCert, x509.NewCertPool()
	server.ClientCAs.AddCert(a.cert)
	return server
}

func (a *Authority) newKey() *ecdsa.PrivateKey {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		a.t.Fatal(err)
	}
	return key
}

func (a *Authority) write(dir, name string, block *pem.Block) string {
	path := filepath.Join(dir, name)
	if err := os.WriteFile(path, pem.EncodeToMemory(block), 0o600); err != nil {
		a.t.Fatal(err)
	}
	return path
}
