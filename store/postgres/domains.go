package postgres

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
)

// DomainKey is the name of a key (see Key). DomainToken derives the records that prove domains from this key. If the
// name changes, domains that are not proved yet need a different record.
const DomainKey = "domain-verification"

// Each constant names who has proved that a domain belongs to an organization or a site: a DNS record, or the operator.
const (
	ProvedByDNS      = "dns"
	ProvedByOperator = "operator"
)

// DomainToken returns the text that a TXT record of a domain must have. The text also depends on the owner, so that an
// owner cannot use the record of another owner.
func DomainToken(key []byte, owner, domain string) string {
	mac := hmac.New(sha256.New, key)
	_, _ = mac.Write([]byte(owner + "\x00" + domain)) // writing to a hash never fails
	return hex.EncodeToString(mac.Sum(nil)[:16])
}
