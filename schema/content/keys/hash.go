package keys

import (
	"crypto/sha256"
	"encoding/base32"
	"maps"

	"github.com/go-json-experiment/json"

	"github.com/octavo-docs/octavo/schema"
)

// Hash identifies the content of a node.
type Hash [sha256.Size]byte

// encoding encodes hashes as keys. It uses the characters that ids may have.
var encoding = base32.NewEncoding("0123456789abcdefghijklmnopqrstuv").WithPadding(base32.NoPadding)

// HashOf hashes a node without its keys, its anchors, and the ids and names inside of a table.
func HashOf(n *schema.Node) Hash {
	own := *n
	own.Key, own.Nodes, own.Fragments = "", nil, nil
	if n.Type == typeTable {
		canonical := canonicalTable(n)
		own.Data, own.Fragments = canonical.Data, canonical.Fragments
	} else {
		own.Fragments = n.Fragments
	}
	if _, ok := own.Meta[metaID]; ok && schema.Anchored(n.Type) {
		own.Meta = maps.Clone(own.Meta)
		delete(own.Meta, metaID)
		if len(own.Meta) == 0 {
			own.Meta = nil
		}
	}
	children := own.Fragments
	own.Fragments = nil
	sum := sha256.New()
	sum.Write(canonicalJSON(own))
	for _, list := range [][]schema.Node{n.Nodes, children} {
		sum.Write([]byte{0})
		for i := range list {
			hash := HashOf(&list[i])
			sum.Write(hash[:])
		}
	}
	return Hash(sum.Sum(nil))
}

func hashValue(value any) Hash { return sha256.Sum256(canonicalJSON(value)) }

// canonicalJSON encodes a value of a document. The encodings of equal values have equal bytes.
func canonicalJSON(value any) []byte {
	encoded, err := json.Marshal(value, json.Deterministic(true))
	if err != nil {
		panic("keys: a part of a document has no JSON: " + err.Error()) // cannot happen: the part came from JSON
	}
	return encoded
}
