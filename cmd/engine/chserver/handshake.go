package chserver

import (
	"crypto/sha256"
	"crypto/subtle"
	"encoding/binary"
	"fmt"
	"strconv"
	"strings"
)

// clientGreeting is the Hello packet without its code.
type clientGreeting struct {
	clientName     string
	revision       uint64
	database       string
	user, password string
}

func readGreeting(r wireReader) (*clientGreeting, error) {
	code, err := r.uvarint()
	if err != nil {
		return nil, err
	}
	if code != clientHello {
		return nil, refuse(codeUnexpectedPacket, "Unexpected packet %d from client: a connection starts with hello", code)
	}
	g := &clientGreeting{}
	if g.clientName, err = r.text(maxLoginText); err != nil {
		return nil, err
	}
	for _, number := range []*uint64{new(uint64), new(uint64), &g.revision} { // major, minor, revision
		if *number, err = r.uvarint(); err != nil {
			return nil, err
		}
	}
	for _, field := range []*string{&g.database, &g.user, &g.password} {
		if *field, err = r.text(maxLoginText); err != nil {
			return nil, err
		}
	}
	if g.database == "" {
		g.database = "default"
	}
	return g, nil
}

// check refuses clients with a wrong user or password, and clients that are too old for the server's revision.
func (g *clientGreeting) check(user, password string) error {
	// Compare both values in constant time. The time of a refusal must not reveal how many characters were right.
	if equal(g.user, user)&equal(g.password, password) != 1 {
		return refuse(codeAuthentication, "Authentication failed: password is incorrect, or there is no user with such name. (AUTHENTICATION_FAILED)")
	}
	if g.revision < revision {
		return refuse(codeNotImplemented, "the client speaks protocol revision %d, at least %d is required", g.revision, revision)
	}
	return nil
}

// equal returns 1 if the texts are equal. Hashing hides their lengths.
func equal(a, b string) int {
	x, y := sha256.Sum256([]byte(a)), sha256.Sum256([]byte(b))
	return subtle.ConstantTimeCompare(x[:], y[:])
}

// version is the engine's version.
type version struct{ major, minor, patch uint64 }

func (v version) String() string { return fmt.Sprintf("%d.%d.%d", v.major, v.minor, v.patch) }

func parseVersion(text string) version {
	var parts [3]uint64
	for i, part := range strings.SplitN(text, ".", 4) {
		if i == len(parts) {
			break
		}
		parts[i], _ = strconv.ParseUint(part, 10, 32) // a part that is not a number stays 0
	}
	return version{parts[0], parts[1], parts[2]}
}

func appendGreeting(buf []byte, v version) []byte {
	buf = append(buf, serverHello)
	buf = appendText(buf, "ClickHouse")
	for _, number := range []uint64{v.major, v.minor, revision} {
		buf = binary.AppendUvarint(buf, number)
	}
	buf = appendText(buf, timezone)
	buf = appendText(buf, "octavo-engine") // the display name
	return binary.AppendUvarint(buf, v.patch)
}
