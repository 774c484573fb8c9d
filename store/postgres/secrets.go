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

// sealingKeyName is the name of the key that encrypts users' secrets. It must never change, because secrets that were
// encrypted with another key cannot be decrypted.
const sealingKeyName = "sealing"

// keyLength is the length of every key of the installation, in bytes.
const keyLength = 32

// Key returns the installation's key with a name. The first call generates the key. Every node gets the same key, even
// if several nodes make the first call concurrently.
func (d *DB) Key(ctx context.Context, name string) ([]byte, error) {
	key, err := d.Queries.Secret(ctx, name)
	if errors.Is(err, pgx.ErrNoRows) {
		fresh := make([]byte, keyLength)
		_, _ = rand.Read(fresh) // crypto/rand.Read never returns an error
		err = d.Queries.InsertSecretOnce(ctx, db.InsertSecretOnceParams{Name: name, Value: fresh})
		if err == nil {
			// A separate statement reads the key of the first insert. If the insert has waited for another node's
			// insert, the snapshot of the insert would not have the other node's row.
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

// Seal encrypts a user's secret, such as a repository's password, for one place in the database. Unseal fails if the
// encrypted secret is moved to another row. Seal protects secrets in logs, exports and single leaked tables. It does
// not protect them from a person who can read the whole database, including the key.
func (d *DB) Seal(ctx context.Context, place string, secret []byte) ([]byte, error) {
	box, err := d.sealer(ctx)
	if err != nil {
		return nil, err
	}
	nonce := make([]byte, box.NonceSize())
	_, _ = rand.Read(nonce)
	return box.Seal(nonce, nonce, secret, []byte(place)), nil
}

// Unseal decrypts a secret that Seal has encrypted for the same place.
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

// InsertToken stores a token. The row has only the token's hash, so nobody can read the token later.
func InsertToken(ctx context.Context, q *db.Queries, secret string, params db.InsertTokenParams) (db.Token, error) {
	hash := schema.HashToken([]byte(secret))
	params.Hash = hash[:]
	row, err := q.InsertToken(ctx, params)
	return row, Interpret(err, "token")
}
