package postgres

import (
	"context"
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/store/db"
)

// sealingKeyName must never change: what was sealed with another key cannot be opened.
const sealingKeyName = "sealing"

// keyLength is how long every secret of the installation is, in bytes.
const keyLength = 32

// Key gives a secret of the installation. It is made once; every node gets the same one, also when several ask for the
// first time together.
func (d *DB) Key(ctx context.Context, name string) ([]byte, error) {
	key, err := d.Queries.Secret(ctx, name)
	if errors.Is(err, pgx.ErrNoRows) {
		fresh := make([]byte, keyLength)
		_, _ = rand.Read(fresh) // crypto/rand.Read never fails: it ends the process instead.
		err = d.Queries.InsertSecretOnce(ctx, db.InsertSecretOnceParams{Name: name, Value: fresh})
		if err == nil {
			// A statement of its own: the one above may have waited for another node, whose row its own snapshot cannot
			// see.
			key, err = d.Queries.Secret(ctx, name)
		}
	}
	if err != nil {
		return nil, Interpret(err, "secret")
	}
	if len(key) != keyLength {
		return nil, schema.Internal(fmt.Errorf("secret %s has %d bytes", name, len(key)))
	}
	return key, nil
}

// Seal encrypts what others entrusted to us, such as the password of a repository, for the one place that it is stored
// in: moved to another row it does not open. It keeps secrets out of logs, exports and single tables that leak; whoever
// reads the whole database has the key as well.
func (d *DB) Seal(ctx context.Context, place string, secret []byte) ([]byte, error) {
	box, err := d.sealer(ctx)
	if err != nil {
		return nil, err
	}
	nonce := make([]byte, box.NonceSize())
	_, _ = rand.Read(nonce)
	return box.Seal(nonce, nonce, secret, []byte(place)), nil
}

// Unseal gives back what was sealed for a place.
func (d *DB) Unseal(ctx context.Context, place string, sealed []byte) ([]byte, error) {
	box, err := d.sealer(ctx)
	if err != nil {
		return nil, err
	}
	if len(sealed) < box.NonceSize() {
		return nil, schema.Internal(fmt.Errorf("secret of %s is cut off", place))
	}
	secret, err := box.Open(nil, sealed[:box.NonceSize()], sealed[box.NonceSize():], []byte(place))
	if err != nil {
		return nil, schema.Internal(fmt.Errorf("secret of %s does not open: %w", place, err))
	}
	return secret, nil
}

func (d *DB) sealer(ctx context.Context) (cipher.AEAD, error) {
	key, err := d.Key(ctx, sealingKeyName)
	if err != nil {
		return nil, err
	}
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, schema.Internal(err)
	}
	box, err := cipher.NewGCM(block)
	if err != nil {
		return nil, schema.Internal(err)
	}
	return box, nil
}

// InsertToken stores a token. The row has the token's hash only, so nobody can read the token again.
func InsertToken(ctx context.Context, q *db.Queries, secret string, params db.InsertTokenParams) (db.Token, error) {
	hash := schema.HashToken([]byte(secret))
	params.Hash = hash[:]
	row, err := q.InsertToken(ctx, params)
	return row, Interpret(err, "token")
}
