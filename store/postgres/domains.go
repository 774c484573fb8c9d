package postgres

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
)

// DomainKey is the name of the key (see Key) for the records that prove domains. If the name changes, domains that are
// not proved yet need a different record.
const DomainKey = "domain-verification"

// These are the claims that a record proves: that a domain belongs to an organization or a site.
const (
	ProvedByDNS      = "dns"
	ProvedByOperator = "operator"
)

// DomainToken returns the text that a TXT record of a domain must have. It also depends on the owner of the domain. So
// an owner cannot use the record of another owner.
func DomainToken(key []byte, owner, domain string) string {
	mac := hmac.New(sha256.New, key)
	_, _ = mac.Write([]byte(owner + "\x00" + domain)) // Writing to a hash never fails.
	return hex.EncodeToString(mac.Sum(nil)[:16])
}
