// Package group is the group coordinator. It has each group's members, generation, assignment and committed offsets.
// The journal stores the offsets.
//
// Members do not survive a restart: they get UNKNOWN_MEMBER_ID and join again. The package works with the protocol's
// requests and responses. The only other package of this module that it may import is cmd/engine/kafkaserver/journal.
package group
