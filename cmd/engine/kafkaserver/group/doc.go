// Package group is the group coordinator: the members of each group, its generation and assignment, and its committed
// offsets, which the journal keeps.
//
// Members do not survive a restart: they get UNKNOWN_MEMBER_ID and join again. The package works with the protocol's
// requests and responses. Of this module it may import only cmd/engine/kafkaserver/journal.
package group
