package insights

import (
	"encoding/json"
	"testing"
)

func TestClaimsObject(t *testing.T) {
	t.Parallel()
	type claims = map[string]string
	for _, c := range []struct {
		claims claims
		notes  string
		want   string
	}{
		{nil, "", `{}`},
		{claims{"a": "1", "b.c": "2", "b.d.e": "3"}, "", `{"a":"1","b":{"c":"2","d":{"e":"3"}}}`},
		{claims{"a": "1", "a.b": "2", "a.b.c": "3"}, "", `{"a":"1","a.b":"2","a.b.c":"3"}`},
		{claims{"beta": "true", "n": "3", "big": "12345678901234567890.10", "roles": `["a",{"b":1}]`, "s": "true"},
			`{"beta":"b","n":"n","big":"n","roles":"a"}`, `{"beta":true,"big":12345678901234567890.10,"n":3,"roles":["a",{"b":1}],"s":"true"}`},
		{claims{`a\.b`: "1", "a.b": "2"}, `{"a\\.b":"n","a.b":"n"}`, `{"a":{"b":2},"a.b":1}`},
		{claims{"https://x.example/roles": `["a"]`}, `{"https://x.example/roles":"ahttps://x\\.example/roles"}`, `{"https://x.example/roles":["a"]}`},
		{claims{`a\\b`: "1", "": "2", "x.": "3"}, "", `{"":"2","a\\b":"1","x":{"":"3"}}`},
		{claims{ClaimTypes: "hidden", "a": "x"}, "not JSON", `{"a":"x"}`},
		{claims{"a": "x", "b": "[1"}, `{"a":"n","b":"a"}`, `{"a":"x","b":"[1"}`}, // invalid JSON stays a text
		// The value stays a text, because a JSON library may refuse to write duplicate names.
		{claims{"a": `[{"b":1,"b":2}]`}, `{"a":"a"}`, `{"a":"[{\"b\":1,\"b\":2}]"}`},
	} {
		t.Run(c.want, func(t *testing.T) {
			if got, err := json.Marshal(ClaimsObject(c.claims, c.notes)); err != nil || string(got) != c.want {
				t.Errorf("%v: %s, want %s, %v", c.claims, got, c.want, err)
			}
		})
	}
}
