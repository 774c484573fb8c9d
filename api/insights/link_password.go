package insights

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"encoding/base64"
	"errors"
	"fmt"
	"strings"
	"time"

	"golang.org/x/crypto/argon2"

	"github.com/octavo-docs/octavo/schema"
)

// These are the parameters of Argon2id that OWASP recommends. A hash takes about 30 ms of one core.
// https://cheatsheetseries.owasp.org/cheatsheets/Password_Storage_Cheat_Sheet.html
const (
	argonTime    = 2
	argonMemory  = 19 << 10 // argonMemory is in KiB.
	argonThreads = 1
	argonKey     = 32
	argonSalt    = 16
)

// hashTurns is the number of hashes that a node computes at the same time. hashWait is the longest time for which a
// further hash waits for its turn.
const (
	hashTurns = 2
	hashWait  = 3 * time.Second
)

// passwords hashes passwords with Argon2id, which needs much memory and time. `turns` limits how many hashes are
// computed at the same time.
type passwords struct{ turns chan struct{} }

func newPasswords() *passwords { return &passwords{turns: make(chan struct{}, hashTurns)} }

var passwordEncoding = base64.RawStdEncoding

// hash returns the form in which a password is stored: the parameters of Argon2id, the salt and the hash.
func (p *passwords) hash(ctx context.Context, password string) (string, error) {
	salt := make([]byte, argonSalt)
	_, _ = rand.Read(salt) // crypto/rand.Read never fails: it ends the process instead.
	sum, err := p.sum(ctx, password, salt, argonTime, argonMemory, argonThreads)
	return fmt.Sprintf("$argon2id$v=%d$m=%d,t=%d,p=%d$%s$%s", argon2.Version, argonMemory, argonTime, argonThreads,
		passwordEncoding.EncodeToString(salt), passwordEncoding.EncodeToString(sum)), err
}

// matches reports whether a password is equal to the stored password. The time that it takes does not depend on how
// much of the password is right.
func (p *passwords) matches(ctx context.Context, stored, password string) (bool, error) {
	parts := strings.Split(stored, "$")
	if len(parts) != 6 || parts[1] != "argon2id" || parts[2] != fmt.Sprintf("v=%d", argon2.Version) {
		return false, schema.Internal(errors.New("a stored password has an unknown form"))
	}
	var memory, rounds uint32
	var threads uint8
	_, err1 := fmt.Sscanf(parts[3], "m=%d,t=%d,p=%d", &memory, &rounds, &threads)
	salt, err2 := passwordEncoding.DecodeString(parts[4])
	want, err3 := passwordEncoding.DecodeString(parts[5])
	if err := errors.Join(err1, err2, err3); err != nil {
		return false, schema.Internal(fmt.Errorf("cannot read a stored password: %w", err))
	}
	got, err := p.sum(ctx, password, salt, rounds, memory, threads)
	return err == nil && subtle.ConstantTimeCompare(got, want) == 1, err
}

// sum waits for its turn and computes a hash.
func (p *passwords) sum(
	ctx context.Context, password string, salt []byte, rounds, memory uint32, threads uint8,
) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, hashWait)
	defer cancel()
	select {
	case p.turns <- struct{}{}:
		defer func() { <-p.turns }()
	case <-ctx.Done():
		return nil, schema.Unavailable(errors.New("too many passwords are being checked"), time.Second)
	}
	return argon2.IDKey([]byte(password), salt, rounds, memory, threads, argonKey), nil
}
