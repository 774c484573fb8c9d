package schema

import (
	"encoding/base64"
	"encoding/binary"
	"hash/fnv"
)

// These are the default and the largest value of the parameter `limit` of lists. The published contract allows zero.
// With zero, a client requests only the number of objects.
const (
	DefaultLimit = 50
	MaxLimit     = 1000
)

// pageVersion is the first byte of a token. A token with another version is refused, because its bytes could have
// another meaning.
const pageVersion = 1

// List is the envelope of every list. Next is absent on the last page. Count is the number of objects on all pages of
// the list.
type List[T any] struct {
	Items []T   `json:"items"`
	Count int64 `json:"count"`
	Next  *Next `json:"next,omitempty"`
}

// Next is the token of the next page.
type Next struct {
	Page string `json:"page"`
}

// PageRequest has the query parameters that all lists share. The request of a list operation embeds PageRequest, or has
// this type.
type PageRequest struct {
	Page  string `query:"page"`
	Limit *int   `query:"limit" rules:"range=0..1000,default=50"`
}

// Size returns the largest number of objects on a page.
func (p PageRequest) Size() int {
	if p.Limit == nil {
		return DefaultLimit
	}
	return *p.Limit
}

// PageToken identifies a position in a list: the sort keys of the last object in the response. The argument `list`
// identifies the list and its filters. Any other list refuses the token, because its keys have other meanings. A token
// contains no secret and grants no access. Its keys only become parameters of the list's database query, and each
// request is authorized separately.
func PageToken(list string, keys ...string) string {
	raw := append([]byte{pageVersion}, listMark(list)...)
	for _, key := range keys {
		raw = binary.AppendUvarint(raw, uint64(len(key)))
		raw = append(raw, key...)
	}
	return base64.RawURLEncoding.EncodeToString(raw)
}

// PageKeys reads a token of the list. The list has n sort keys. If n is 0, the token may have any number of keys. An
// empty token means the first page. For an empty token, PageKeys returns nil.
func PageKeys(list, token string, n int) ([]string, error) {
	if token == "" {
		return nil, nil
	}
	bad := BadPage()
	raw, err := base64.RawURLEncoding.Strict().DecodeString(token)
	mark := listMark(list)
	if err != nil || len(raw) < 1+len(mark) || raw[0] != pageVersion || string(raw[1:1+len(mark)]) != string(mark) {
		return nil, bad
	}
	raw = raw[1+len(mark):]
	keys := make([]string, 0, n)
	for len(raw) > 0 {
		size, used := binary.Uvarint(raw)
		if used <= 0 || size > uint64(len(raw)-used) {
			return nil, bad
		}
		keys = append(keys, string(raw[used:used+int(size)]))
		raw = raw[used+int(size):]
	}
	if n > 0 && len(keys) != n {
		return nil, bad
	}
	return keys, nil
}

// BadPage returns the error for an invalid page token.
func BadPage() *Error { return Invalid("page", "is not a page of this list") }

func listMark(list string) []byte {
	h := fnv.New32a()
	_, _ = h.Write([]byte(list)) // Write of a hash never returns an error
	return h.Sum(nil)
}
