package schema

import (
	"encoding/base64"
	"encoding/binary"
	"hash/fnv"
)

// These bound the `limit` parameter of lists. The published contract allows zero, which requests only the count.
const (
	DefaultLimit = 50
	MaxLimit     = 1000
)

// pageVersion is the first byte of a token, so that a token of another version is refused and not misread.
const pageVersion = 1

// List is the envelope of every list. Next is absent on the last page; Count is the total number of objects in the list.
type List[T any] struct {
	Items []T   `json:"items"`
	Count int64 `json:"count"`
	Next  *Next `json:"next,omitempty"`
}

// Next is the token of the next page.
type Next struct {
	Page string `json:"page"`
}

// PageRequest has the common query parameters of lists. Requests of list operations embed PageRequest, or are a
// PageRequest.
type PageRequest struct {
	Page  string `query:"page"`
	Limit *int   `query:"limit" rules:"range=0..1000,default=50"`
}

// Size returns the number of objects on a page.
func (p PageRequest) Size() int {
	if p.Limit == nil {
		return DefaultLimit
	}
	return *p.Limit
}

// PageToken identifies a position in a list: the sort keys of the last object in the answer. The argument list
// identifies the list and its filters. So a token is refused by other lists, whose keys have other meanings. Tokens
// contain no secret and grant no access. The keys only become parameters of the list's query, which is authorized
// separately.
func PageToken(list string, keys ...string) string {
	raw := append([]byte{pageVersion}, listMark(list)...)
	for _, key := range keys {
		raw = binary.AppendUvarint(raw, uint64(len(key)))
		raw = append(raw, key...)
	}
	return base64.RawURLEncoding.EncodeToString(raw)
}

// PageKeys reads a token of the list. The list has n sort keys, or any number if n is 0. An empty token means the first
// page and returns nil.
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

// BadPage refuses a page token.
func BadPage() *Error { return Invalid("page", "is not a page of this list") }

func listMark(list string) []byte {
	h := fnv.New32a()
	_, _ = h.Write([]byte(list)) // A hash never fails to write.
	return h.Sum(nil)
}
